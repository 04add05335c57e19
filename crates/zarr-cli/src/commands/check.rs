//! `zarr check`: searches for broken, stale or stray documents and chunks.

use super::bar::Bar;
use crate::args::NodeArgs;
use crate::context::{Context, NodeLocation};
use crate::escape;
use crate::failure::{Failure, Result};
use crate::interrupted;
use crate::number;
use crate::object::{object, or_null};
use crate::output::Output;
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant;
use zarr::check::{
    CheckCounts, CheckOptions, Code, Convention, Event, FailedRepair, Finding, Level, Repair, RepairAction,
    RepairReport, Report, Severity,
};
use zarr::meta::json::{Map, Value};

/// Look for broken, stale or stray documents, keys, shard indexes and chunks. Writes nothing without --repair and --drop-torn.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    node: NodeArgs,
    /// The depth of the check; each level includes all levels before it. The first three levels read little; `chunks` reads and decodes
    /// everything.
    #[arg(long, value_name = "LEVEL", default_value = "chunks")]
    level: Depth,
    /// Check only this share of the chunks, such as 0.1 or 10%. Each run chooses the same chunks.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "1")]
    sample: f64,
    /// Check only these conventions (ome, geozarr, cf; separated by commas), including their recommendations. By default the requirements of
    /// each convention that the store uses are checked.
    #[arg(long, value_name = "NAME", value_delimiter = ',', num_args = 1, value_parser = convention, conflicts_with = "no_conventions")]
    convention: Vec<Convention>,
    /// Do not check the conventions of CF, xarray, OME-Zarr and GeoZarr: dimensions, coordinates, units of times, levels of images.
    #[arg(long)]
    no_conventions: bool,
    /// Print at most N findings of each code, and the number of further findings; 0 for all findings. --json prints all findings.
    #[arg(long, value_name = "N", default_value = "20")]
    max_findings: u64,
    /// Make repairs that lose no value: remove temporary files that no process uses, and empty directories; rewrite stale consolidated
    /// metadata, unless it has documents that exist nowhere else.
    #[arg(long)]
    repair: bool,
    /// Erase chunks that cannot be decoded, so that their elements get the fill value. Shards with readable inner chunks, and chunks that
    /// are not compressed, stay.
    #[arg(long)]
    drop_torn: bool,
    /// Print what --repair and --drop-torn would do, and write nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Codes of the findings whose chunks --drop-torn may erase.
const TORN: [Code; 3] = [Code::BrokenChunk, Code::ChecksumMismatch, Code::ShardIndex];

/// Levels of a check, as values of --level.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Depth {
    /// Check the documents of nodes.
    Documents,
    /// Check also the list of all keys.
    Keys,
    /// Check also what is unusual or costly about the layout of arrays.
    Advice,
    /// Check also the indexes of shards.
    Indexes,
    /// Check also all chunks, which are decoded.
    Chunks,
}

impl From<Depth> for Level {
    fn from(depth: Depth) -> Self {
        match depth {
            Depth::Documents => Self::Documents,
            Depth::Keys => Self::Keys,
            Depth::Advice => Self::Advice,
            Depth::Indexes => Self::Indexes,
            Depth::Chunks => Self::Chunks,
        }
    }
}

/// Parses the argument of --sample, such as `0.1` or `10%`.
fn share(text: &str) -> Result<f64, String> {
    let (number, divisor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share = number.trim().parse::<f64>().map(|number| number / divisor).ok();
    share.filter(|share| *share > 0.0 && *share <= 1.0).ok_or_else(|| "expected a share such as 0.1 or 10%".to_owned())
}

/// Parses the name of a convention.
fn convention(text: &str) -> Result<Convention, String> {
    let known = Convention::ALL.iter().find(|convention| convention.name() == text).copied();
    known.ok_or_else(|| "expected ome, geozarr or cf".to_owned())
}

pub(crate) fn run(context: &Context, args: &Check) -> Result<()> {
    let changes = args.repair || args.drop_torn;
    if changes && !args.dry_run {
        interrupted::watch("nothing is repaired", context.global.json);
    }
    let location = context.locate(&args.node)?;
    if args.dry_run && !changes {
        return Err(Failure::usage("--dry-run goes with --repair or --drop-torn"));
    }
    if changes && !args.dry_run {
        check_writable(context, &location)?;
    }
    let options = CheckOptions::default()
        .level(args.level.into())
        .sample(args.sample)
        .conventions(!args.no_conventions)
        .named(args.convention.clone())
        .dialect(location.dialect)
        .arrays(context.options().strict(false));
    let mut printer = Printer::new(context, args)?;
    let path = location.path.to_string();
    let checked = zarr::check::check(&location.store, &path, &context.registry, &options, |event| printer.take(event));
    std::mem::replace(&mut printer.bar, Bar::hidden()).finish();
    if let Some(failure) = printer.lost.take() {
        return Err(failure);
    }
    let report = match checked {
        Ok(report) => report,
        Err(error) => return Err(printer.give_up(location.with_near(error))),
    };
    let repair = std::mem::take(&mut printer.repair);
    if changes && !args.dry_run {
        interrupted::leaves("what is repaired stays so; the same command repairs the rest");
    }
    let repaired = match changes {
        true => repair.run(&location.store, &context.registry, &options, args.dry_run),
        false => RepairReport::default(),
    };
    let has_torn = TORN.iter().any(|code| printer.counts.contains_key(code));
    printer.finish(&report, &repaired)?;
    result(&location, &report, &repaired, args.dry_run).map_err(|failure| {
        match args.repair && !args.drop_torn && has_torn {
            true => failure.with_hint(
                "chunks that cannot be decoded stay; --drop-torn erases them: they read as the fill value then",
            ),
            false => failure,
        }
    })
}

fn check_writable(context: &Context, location: &NodeLocation) -> Result<()> {
    if !location.store.capabilities().write {
        return Err(Failure::usage(format!("{}: the store takes no writes, and cannot be repaired", location.store)));
    }
    context.check_writers(location, "a repair")?;
    Ok(zarr::convert::Migration::check_settled(&location.store)?)
}

/// Fails if errors or warnings are left that were not repaired, or a repair failed.
fn result(location: &NodeLocation, report: &Report, repaired: &RepairReport, dry_run: bool) -> Result<()> {
    // Empty directories are only notes, and skipped repairs change nothing.
    let is_mended = |it: &&RepairAction| !matches!(it, RepairAction::Folder(_)) && it.reason().is_none();
    let done = if dry_run { &[][..] } else { repaired.done.as_slice() };
    let found = report.errors.saturating_add(report.warnings);
    let left = found.saturating_sub(done.iter().filter(is_mended).count() as u64);
    if left == 0 && repaired.failed.is_empty() {
        return Ok(());
    }
    let mut message = match done.is_empty() {
        true => format!("{location}: {} and {}", counted(report.errors, "error"), counted(report.warnings, "warning")),
        false => format!("{location}: {} left", counted(left, "finding")),
    };
    if !repaired.failed.is_empty() {
        message.push_str(&format!(", {} failed", counted(repaired.failed.len() as u64, "repair")));
    }
    Err(Failure::findings(message))
}

/// Returns the action of a repair in a dry run, such as `would erase` for `erased`.
fn would(action: &str) -> String {
    let plain = match action {
        "removed" => "remove",
        "consolidated" => "consolidate",
        "erased" => "erase",
        "kept" => "keep",
        other => return format!("would be {other}"),
    };
    format!("would {plain}")
}

/// Returns a number with a noun in the singular or plural, such as `1 error` or `2 errors`.
fn counted(count: u64, what: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{} {what}{end}", number::grouped(count))
}

/// Printer of findings, which prints each finding as soon as it is found.
struct Printer {
    out: Output,
    json: bool,
    quiet: bool,
    most: u64,
    /// Whether this is a dry run: repairs are printed but not made.
    is_dry: bool,
    repair: Repair,
    /// Number of findings of each code.
    counts: BTreeMap<Code, u64>,
    /// Numbers of checked keys and chunks at the last progress event.
    checked: CheckCounts,
    begun: Instant,
    bar: Bar,
    /// First error of writing output; `None` while writing works.
    lost: Option<Failure>,
}

impl Printer {
    fn new(context: &Context, args: &Check) -> Result<Self> {
        let (json, quiet) = (context.global.json, context.global.quiet);
        let most = if args.max_findings == 0 { u64::MAX } else { args.max_findings };
        let out = Output::open(None, false)?;
        let (counts, checked, begun) = (BTreeMap::new(), CheckCounts::default(), Instant::now());
        let bar = Bar::of_check(quiet);
        let repair =
            if args.repair || args.drop_torn { Repair::new().drop_torn(args.drop_torn) } else { Repair::new() };
        let repair = if args.repair { repair } else { repair.torn_only() };
        Ok(Self { out, json, quiet, most, is_dry: args.dry_run, repair, counts, checked, begun, bar, lost: None })
    }

    fn take(&mut self, event: Event) -> ControlFlow<()> {
        let printed = match &event {
            Event::Finding(finding) => {
                self.repair.add(finding);
                self.finding(finding)
            }
            Event::Progress(checked) => {
                self.bar.show_check(checked);
                self.checked = *checked;
                Ok(())
            }
            _ => Ok(()),
        };
        match printed {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.lost = Some(failure);
                ControlFlow::Break(())
            }
        }
    }

    fn finding(&mut self, finding: &Finding) -> Result<()> {
        let is_first = self.counts.is_empty();
        let count = self.counts.entry(finding.code).or_default();
        *count += 1;
        if self.json {
            let separator = if is_first { "{\"findings\": [\n  " } else { ",\n  " };
            let value = Value::from(facts(finding)).without_nan_literals().to_string();
            return self.out.text(&format!("{separator}{}", escape::json(&value)));
        }
        if *count > self.most {
            return Ok(());
        }
        self.out.text(&format!("{}\n", escape::line(&finding.to_string())))
    }

    fn finish(mut self, report: &Report, repaired: &RepairReport) -> Result<()> {
        let text = if self.json { self.json_end(report, repaired, true) } else { self.text_end(report, repaired) };
        self.out.text(&text)?;
        self.out.finish().map(drop)
    }

    /// Closes the JSON document if a part of it was printed, and returns `failure`.
    fn give_up(mut self, failure: Failure) -> Failure {
        if !self.json || self.counts.is_empty() {
            return failure;
        }
        let of =
            |severity| self.counts.iter().filter(|(code, _)| code.severity() == severity).map(|(_, count)| count).sum();
        let (errors, warnings, notes) = (of(Severity::Error), of(Severity::Warning), of(Severity::Note));
        let mut report = Report::default();
        (report.checked, report.errors, report.warnings, report.notes) = (self.checked, errors, warnings, notes);
        let end = self.json_end(&report, &RepairReport::default(), false);
        // Report the first of two failures.
        match self.out.text(&end).and_then(|()| self.out.finish().map(drop)) {
            Ok(()) | Err(_) => failure,
        }
    }

    fn text_end(&self, report: &Report, repaired: &RepairReport) -> String {
        let mut text = String::new();
        for (code, &count) in self.counts.iter().filter(|(_, count)| **count > self.most) {
            text.push_str(&format!("{:<7}  {} more [{code}]\n", code.severity(), number::grouped(count - self.most)));
        }
        for repaired in &repaired.done {
            let why = repaired.reason().map(|why| format!(": {why}")).unwrap_or_default();
            let (action, place) = (repaired.action(), escape::line(repaired.place()));
            text.push_str(&match self.is_dry {
                true => format!("{:<17}  {place}{why}\n", would(action)),
                false => format!("{action:<12}  {place}{why}\n"),
            });
        }
        for failed in &repaired.failed {
            let place = format!("{}: {}", failed.repair.place(), failed.message);
            text.push_str(&format!("{:<12}  {}\n", "failed", escape::line(&place)));
        }
        if self.quiet {
            return text;
        }
        let checked = &report.checked;
        let read = number::size(checked.bytes);
        text.push_str(&format!(
            "{}, {}, {} ({read}) in {:.1} s: {}, {}, {}\n",
            counted(checked.nodes, "node"),
            counted(checked.keys, "key"),
            counted(checked.chunks, "chunk"),
            self.begun.elapsed().as_secs_f64(),
            counted(report.errors, "error"),
            counted(report.warnings, "warning"),
            counted(report.notes, "note"),
        ));
        let unchecked = checked.unprotected.saturating_add(checked.by_form);
        if unchecked > 0 {
            let chunks = counted(unchecked, "chunk");
            let shown = match (checked.unprotected, checked.by_form) {
                (_, 0) => "nothing shows a changed byte".to_owned(),
                (0, _) => "a changed byte shows only if it breaks the format of a codec".to_owned(),
                (none, by_form) => format!(
                    "nothing shows a changed byte in {}, and in {} only one that breaks the format of a codec",
                    number::grouped(none),
                    number::grouped(by_form)
                ),
            };
            text.push_str(&format!("{chunks} with no checksum: {shown}\n"));
        }
        if checked.left_out > 0 {
            text.push_str(&format!("{} left out\n", counted(checked.left_out, "chunk")));
        }
        text
    }

    /// Returns the end of the JSON document, or the whole document if nothing was found.
    fn json_end(&self, report: &Report, repaired: &RepairReport, is_complete: bool) -> String {
        let checked = &report.checked;
        let done = |it: &RepairAction| Value::from(object! { "action": it.action(), "place": it.place() });
        let failed = |it: &FailedRepair| {
            let (action, place) = (it.repair.action(), it.repair.place());
            Value::from(object! { "action": action, "place": place, "message": it.message.as_str() })
        };
        let mut codes = Map::new();
        for (code, &count) in &self.counts {
            codes.insert(code.name(), count);
        }
        let rest = object! {
            "codes": codes,
            "complete": is_complete,
            "repaired": repaired.done.iter().map(done).collect::<Vec<_>>(),
            "failed": repaired.failed.iter().map(failed).collect::<Vec<_>>(),
            "errors": report.errors,
            "warnings": report.warnings,
            "notes": report.notes,
            "nodes": checked.nodes,
            "keys": checked.keys,
            "chunks": checked.chunks,
            "bytes": checked.bytes,
            "unprotected": checked.unprotected,
            "by_form": checked.by_form,
            "by_checksum": checked.by_checksum,
            "left_out": checked.left_out,
            "seconds": self.begun.elapsed().as_secs_f64(),
        };
        let rest = escape::json(&format!("{:#}", Value::from(rest))).into_owned();
        let end = if self.counts.is_empty() { "{\"findings\": []" } else { "\n]" };
        format!("{end},{}\n", rest.trim_start().trim_start_matches('{'))
    }
}

fn list(index: &[u64]) -> Value {
    Value::from(index.to_vec())
}

fn facts(finding: &Finding) -> Map {
    object! {
        "severity": finding.severity().name(),
        "code": finding.code.name(),
        "path": or_null(finding.path.as_deref()),
        "key": or_null(finding.key.as_deref()),
        "pointer": or_null(finding.pointer.as_deref()),
        "chunk": or_null(finding.chunk.as_ref().map(|chunk| list(chunk))),
        "inner": finding.inner.iter().map(|inner| list(inner)).collect::<Vec<_>>(),
        "bytes": or_null(finding.bytes.as_ref().map(|bytes| list(&[bytes.start, bytes.end]))),
        "section": or_null(finding.section),
        "message": finding.message.as_str(),
        "advice": finding.advice.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_parsed() {
        for (text, found) in [("1", 1.0), ("0.25", 0.25), ("10%", 0.1), ("100 %", 1.0)] {
            assert_eq!(share(text), Ok(found), "{text}");
        }
        for text in ["0", "-1", "1.5", "101%", "x", "NaN", ""] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
