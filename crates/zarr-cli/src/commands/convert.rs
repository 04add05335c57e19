//! `zarr convert`: a hierarchy or an array in another form.

mod bar;

use super::outlook;
use crate::args::Convert;
use crate::codecs;
use crate::context::{Context, node_path};
use crate::failure::{Failure, Result};
use crate::{escape, number, output, report};
use bar::Bar;
use std::path::{Path, PathBuf};
use std::time::Instant;
use zarr::meta::json::{Map, Value};
use zarr::{Conversion, ConvertOptions, How, Migration, Planned, Progress, Shards};

/// Large hierarchies have the same in every array.
const MAX_WARNINGS: usize = 6;

pub(crate) fn run(context: &Context, args: &Convert) -> Result<()> {
    let started = Instant::now();
    refuse_overlap(&args.source, &args.target)?;
    let shards = args.shards.as_ref().map(|shards| shards.0.clone().map_or(Shards::None, Shards::Of));
    let options = ConvertOptions {
        dialect: args.dialect,
        chunks: args.chunks.as_ref().map(|chunks| chunks.0.clone()),
        shards,
        codecs: args.codecs.as_deref().map(|text| codecs::expand(text, &context.registry)).transpose()?,
        node: args.node.as_deref().map(node_path).transpose()?,
        memory: args.memory,
        overwrite: args.overwrite,
        carry: args.loss.carry,
        fill_value_attribute: args.loss.fill_value_attribute,
        options: context.options(),
        to: None,
    };
    let source = context.open_store(&args.source)?;
    if args.dry_run {
        let examined = Conversion::examine(&source, &context.registry, options)?;
        return outlook::print(context, &examined.conversion, examined.refused);
    }
    let conversion = Conversion::plan(&source, &context.registry, options)?;
    // Nothing is made at the target before the plan stands.
    let target = context.create_store(&args.target)?;
    Migration::check_settled(&target)?;
    carry_out(context, &conversion, |progress| conversion.run(&target, progress))?;
    summarize(context, args, &conversion, started)
}

/// Does what is planned by `run`, and tells of it.
pub(crate) fn carry_out(
    context: &Context,
    conversion: &Conversion,
    run: impl FnOnce(&(dyn Fn(Progress<'_>) + Sync)) -> zarr::Result<()>,
) -> Result<()> {
    context.some_warnings(conversion.left_out());
    if !context.global.quiet {
        warn(conversion.nodes());
    }
    let bar = Bar::new(conversion.size(), context.global.quiet);
    let done = run(&|progress| bar.show(progress));
    bar.finish();
    Ok(done?)
}

/// Tells what is lost. What merely stands in another place now is no loss.
fn warn(nodes: &[Planned]) {
    let of_node = |node: &Planned| {
        let lost = node.notes.iter().filter(|note| note.is_loss).map(ToString::to_string);
        lost.chain(node.warning.clone()).map(|note| format!("{}: {note}", node.source.path)).collect::<Vec<_>>()
    };
    let losses: Vec<String> = nodes.iter().flat_map(of_node).collect();
    losses.iter().take(MAX_WARNINGS).for_each(|loss| report::warning(loss));
    if losses.len() > MAX_WARNINGS {
        report::warning(&format!("{} more like these; --json lists them", losses.len() - MAX_WARNINGS));
    }
}

/// A node that is converted, as JSON.
pub(crate) fn facts(node: &Planned) -> Map {
    let how = match node.how {
        How::Group => "group",
        How::Keep => "kept",
        How::Copy => "copied",
        How::Recode => "recoded",
    };
    let mut object = Map::new();
    object.insert("path", node.source.path.to_string());
    object.insert("to", node.path.to_string());
    object.insert("dialect", node.dialect.name());
    object.insert("how", how);
    object.insert("bytes", node.size);
    object.insert("notes", node.notes.iter().map(ToString::to_string).collect::<Vec<_>>());
    object.insert("warning", node.warning.as_deref().map_or(Value::Null, Value::from));
    object
}

fn summarize(context: &Context, args: &Convert, conversion: &Conversion, started: Instant) -> Result<()> {
    let count = |how: How| conversion.nodes().iter().filter(|node| node.how == how).count() as u64;
    let (groups, copied, recoded) = (count(How::Group), count(How::Copy), count(How::Recode));
    if context.global.json {
        let mut summary = Map::new();
        summary.insert("source", args.source.as_str());
        summary.insert("target", args.target.as_str());
        summary.insert("groups", groups);
        summary.insert("arrays", copied + recoded);
        summary.insert("bytes", conversion.size());
        summary.insert("nodes", conversion.nodes().iter().map(facts).map(Value::Object).collect::<Vec<_>>());
        return output::json(&Value::Object(summary));
    }
    if context.global.quiet {
        return Ok(());
    }
    let plural =
        |number: u64, what: &str| format!("{} {what}{}", number::grouped(number), if number == 1 { "" } else { "s" });
    let text = format!(
        "{}: {}, {} ({} as they are stored, {} anew), {} in {:.1} s\n",
        escape::line(&args.target),
        plural(groups, "group"),
        plural(copied + recoded, "array"),
        number::grouped(copied),
        number::grouped(recoded),
        number::size(conversion.size()),
        started.elapsed().as_secs_f64(),
    );
    output::print(&text)
}

/// Refuses to write into the source, or around it.
pub(crate) fn refuse_overlap(source: &str, target: &str) -> Result<()> {
    let (Some(from), Some(to)) = (real(source), real(target)) else { return Ok(()) };
    let how = if from == to {
        "are the same"
    } else if to.starts_with(&from) {
        "overlap: DST lies in SRC"
    } else if from.starts_with(&to) {
        "overlap: SRC lies in DST"
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!("{source} and {target} {how}"))
        .with_hint("the source is never changed; name another DST"))
}

/// Where a local address leads; what does not exist yet, by the folder that it would be in.
pub(crate) fn real(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("zip:").unwrap_or(url);
    let path = Path::new(path.strip_prefix("file://").unwrap_or(path));
    let absolute = std::path::absolute(path).ok()?;
    let mut missing = Vec::new();
    for above in absolute.ancestors() {
        if let Ok(real) = std::fs::canonicalize(above) {
            return Some(missing.into_iter().rev().fold(real, |path, name| path.join(name)));
        }
        missing.push(above.file_name()?);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        let check = |from: &str, to: &str| refuse_overlap(&at(from), &at(to)).is_ok();
        assert!(check("a", "b"));
        assert!(check("a", "ab"));
        assert!(!check("a", "a/"));
        assert!(!check("a", "a/../a"));
        assert!(!check("a", "a/b/c"));
        assert!(!check("a", "."));
        assert!(refuse_overlap(&at("a"), &format!("file://{}", at("a"))).is_err());
    }
}
