//! `zarr digest --manifest` and `--check`: checksums of stored values.

use super::super::bar::Bar;
use crate::args::NodeArgs;
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use crate::object::{object, or_null};
use crate::output::{self, Output};
use crate::{escape, interrupted, number};
use std::fs::{self, File};
use std::io::{self, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use zarr::compare::{Manifest, ManifestDifference, ManifestForm, ManifestOptions};

/// Name of standard input in messages.
const STDIN: &str = "standard input";

/// Form of a manifest, and memory for values in bytes.
pub(super) struct Settings {
    pub(super) form: ManifestForm,
    pub(super) memory: u64,
}

fn options(context: &Context, location: &NodeLocation, settings: &Settings) -> ManifestOptions {
    let Settings { form, memory } = *settings;
    let options = ManifestOptions::default().form(form).memory(memory).dialect(location.dialect);
    options.threads(context.options().threads)
}

/// Returns an error for an output that would be a value of the node, or replace the file that the store is.
fn check_is_outside(location: &NodeLocation, output: &Path) -> Result<()> {
    let Some(file) = place(output) else { return Ok(()) };
    for address in std::iter::successors(Some(&location.address), |address| address.inner()) {
        // What does not exist has an error of its own.
        let Some(store) = address.path().and_then(|path| path.canonicalize().ok()) else { continue };
        if store == file {
            let message = format!("{}: found the file of the store, expected another one", output.display());
            return Err(Failure::usage(message));
        }
        let node = store.join(location.path.as_relative());
        // Below the directory of a store of another kind there are no keys.
        let is_directory = address.scheme().is_none() && location.address.inner().is_none();
        if is_directory && node.canonicalize().is_ok_and(|node| file.starts_with(node)) {
            let message = format!("{}: found a file below the node, expected one elsewhere", output.display());
            let hint = "the manifest has all values of the node, which the file would be";
            return Err(Failure::usage(message).with_hint(hint));
        }
    }
    Ok(())
}

/// Returns where an output is written: behind a link, the target of the link. `None` for a device or a pipe, and for a directory that does not
/// exist.
fn place(output: &Path) -> Option<PathBuf> {
    match fs::metadata(output) {
        Ok(known) if known.is_file() => output.canonicalize().ok(),
        Ok(_) => None,
        Err(_) => {
            let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(folder.canonicalize().ok()?.join(output.file_name()?))
        }
    }
}

/// Returns the text of a manifest for a terminal, without characters that control it. Elsewhere names are as they are, so that `sha256sum -c`
/// reads them.
fn shown(manifest: &str) -> String {
    manifest.lines().map(|line| format!("{}\n", escape::line(line))).collect()
}

/// Writes the lines of a manifest one by one: their text may be large.
fn write_lines(manifest: &Manifest, mut out: Output) -> Result<()> {
    let name = out.name().to_owned();
    write!(out, "{manifest}").map_err(|error| output::lost(&name, &error))?;
    out.finish().map(drop)
}

/// Writes the manifest of a node to a file, or prints it.
pub(super) fn write(context: &Context, node: &NodeArgs, settings: &Settings, output: Option<&Path>) -> Result<()> {
    let file = output.filter(|file| *file != Path::new("-"));
    if let Some(file) = file {
        interrupted::watch(&format!("{} is not written", file.display()), context.global.json);
    }
    let location = context.locate(node)?;
    context.node_with_warnings(&location)?;
    file.map_or(Ok(()), |file| check_is_outside(&location, file))?;
    // A file that cannot be written is an error before the work.
    let out = file.map(|file| Output::open(Some(file), false)).transpose()?;
    let bar = Bar::of_elements(context.global.quiet);
    let path = location.path.to_string();
    let options = options(context, &location, settings);
    let made = Manifest::of(&location.store, &path, &options, |event| bar.show_elements(event));
    bar.finish();
    let manifest = made?;
    let facts = || {
        let entry = |(name, entry): (&str, &zarr::compare::ManifestEntry)| {
            object! { "name": name, "checksum": entry.checksum.as_str(), "size": or_null(entry.size) }
        };
        object! {
            ..location.facts(),
            "form": settings.form.to_string(),
            "keys": manifest.entries().len() as u64,
            "bytes": manifest.size().unwrap_or_default(),
            "dandi_checksum": or_null(manifest.dandi_checksum().map(str::to_owned)),
            "output": or_null(file.map(|file| file.display().to_string())),
            "entries": or_null(file.is_none().then(|| manifest.entries().map(entry).collect::<Vec<_>>())),
        }
    };
    let Some(out) = out else {
        return match context.global.json {
            true => output::json(facts()),
            false if io::stdout().is_terminal() => output::print(&shown(&manifest.to_string())),
            false => write_lines(&manifest, Output::open(None, false)?),
        };
    };
    write_lines(&manifest, out)?;
    let file = file.unwrap_or(Path::new("-"));
    interrupted::leaves(format!("{} is written", file.display()));
    context.summary(facts, || {
        let keys = number::counted(manifest.entries().len() as u64, "value");
        let size = number::size(manifest.size().unwrap_or_default());
        let whole = manifest.dandi_checksum().map(|checksum| format!(", {checksum}")).unwrap_or_default();
        format!("{}: {keys}, {size}{whole}\n", escape::line(&file.display().to_string()))
    })
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// Returns the name of the file of a manifest for messages.
fn input_name(file: &Path) -> String {
    if is_stdin(file) { STDIN.to_owned() } else { file.display().to_string() }
}

/// Reads a manifest from a file, or from standard input for `-`.
fn read(file: &Path) -> Result<Manifest> {
    let name = input_name(file);
    let read = match is_stdin(file) {
        true => Manifest::read(io::stdin().lock()),
        false => File::open(file).and_then(|file| Manifest::read(BufReader::new(file))),
    };
    read.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Failure::data("invalid-manifest", format!("{name}: {error}")),
        _ => Failure::input(&name, &error),
    })
}

/// Compares the values of a node with the manifest in a file.
pub(super) fn check(context: &Context, node: &NodeArgs, memory: u64, file: &Path) -> Result<()> {
    let manifest = read(file)?;
    let location = context.locate(node)?;
    if context.global.strict {
        context.node_with_warnings(&location)?;
    }
    let bar = Bar::of_elements(context.global.quiet);
    let path = location.path.to_string();
    let options = options(context, &location, &Settings { form: manifest.form(), memory });
    let found = manifest.check(&location.store, &path, &options, |event| bar.show_elements(event));
    bar.finish();
    let check = found.map_err(|error| match error.is_not_found() {
        true => location.with_near(zarr::hierarchy::with_hierarchy_hint(error, &*location.store, &path)),
        false => error.into(),
    })?;
    // A node that does not open is compared as well: its documents may be what differs.
    if check.fault.is_none() && !context.global.strict {
        context.node_with_warnings(&location)?;
    }
    if let Some(error) = check.unlisted.as_ref().filter(|error| error.store_error().is_some()) {
        context.warnings(&[format!("other keys cannot be listed: {}", error.with_causes())]);
    }
    let (differences, lists) = (&check.differences, check.unlisted.is_none());
    let fact = |difference: &ManifestDifference| {
        object! { "name": difference.name(), "kind": difference.kind(), "cause": or_null(difference.cause()) }
    };
    context.print(
        || {
            object! {
                "equal": differences.is_empty(),
                "keys": manifest.entries().len() as u64,
                "other_keys_listed": lists,
                "differences": differences.iter().map(fact).collect::<Vec<_>>(),
            }
        },
        || match differences.is_empty() {
            true => {
                let others = if lists { "" } else { ", other keys cannot be listed" };
                format!("equal: {}{others}\n", number::counted(manifest.entries().len() as u64, "value"))
            }
            false => differences.iter().map(|it| format!("{}\n", escape::line(&it.to_string()))).collect(),
        },
    )?;
    match differences.is_empty() {
        true => Ok(()),
        false => Err(Failure::different(format!("{location}: differs from {}", input_name(file)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_characters_that_control_it() {
        let text = "00  a\u{1b}]0;x\u{7}\n\\00  b\\nc\n";
        let shown = shown(text);
        assert_eq!(shown.lines().count(), 2);
        assert!(!shown.contains(['\u{1b}', '\u{7}']) && shown.ends_with("\\00  b\\nc\n"), "{shown}");
    }
}
