//! `zarr digest --manifest` and `--check`: checksums of stored values.

use super::super::bar::Bar;
use crate::args::NodeArgs;
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use crate::object::{object, or_null};
use crate::output::Output;
use crate::{escape, interrupted, number};
use std::fs::File;
use std::io::{self, BufReader, IsTerminal};
use std::path::Path;
use zarr::compare::{Manifest, ManifestDifference, ManifestForm, ManifestOptions};

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

/// Returns an error for a file among the keys of the node: the manifest would have the file's own temporary name, or the last manifest.
fn check_is_outside(location: &NodeLocation, file: &Path) -> Result<()> {
    let (Some(store), None) = (location.address.path(), location.address.inner()) else { return Ok(()) };
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // What does not exist has an error of its own.
    let (Ok(folder), Ok(node)) = (folder.canonicalize(), store.join(location.path.as_relative()).canonicalize()) else {
        return Ok(());
    };
    match folder.starts_with(&node) {
        true => {
            let message = format!("{}: found a file below the node, expected one elsewhere", file.display());
            Err(Failure::usage(message).with_hint("the manifest has all values of the node, which the file would be"))
        }
        false => Ok(()),
    }
}

/// Returns the text of a manifest for standard output. A terminal gets no characters that control it; elsewhere names are as they are, so that
/// `sha256sum -c` reads them.
fn shown(manifest: &str, is_terminal: bool) -> String {
    match is_terminal {
        true => manifest.lines().map(|line| format!("{}\n", escape::line(line))).collect(),
        false => manifest.to_owned(),
    }
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
            "dandi_checksum": or_null(manifest.dandi_checksum()),
            "output": or_null(file.map(|file| file.display().to_string())),
            "entries": or_null(file.is_none().then(|| manifest.entries().map(entry).collect::<Vec<_>>())),
        }
    };
    let Some(mut out) = out else {
        return context.print(facts, || shown(&manifest.to_string(), io::stdout().is_terminal()));
    };
    out.text(&manifest.to_string())?;
    out.finish()?;
    let file = file.unwrap_or(Path::new("-"));
    interrupted::leaves(format!("{} is written", file.display()));
    context.summary(facts, || {
        let keys = number::counted(manifest.entries().len() as u64, "value");
        let size = number::size(manifest.size().unwrap_or_default());
        let whole = manifest.dandi_checksum().map(|checksum| format!(", {checksum}")).unwrap_or_default();
        format!("{}: {keys}, {size}{whole}\n", escape::line(&file.display().to_string()))
    })
}

/// Reads a manifest from a file.
fn read(file: &Path) -> Result<Manifest> {
    let name = file.display();
    File::open(file).and_then(|file| Manifest::read(BufReader::new(file))).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Failure::data("invalid-manifest", format!("{name}: {error}")),
        _ => Failure::input(&name, &error),
    })
}

/// Compares the values of a node with the manifest in a file.
pub(super) fn check(context: &Context, node: &NodeArgs, memory: u64, file: &Path) -> Result<()> {
    let manifest = read(file)?;
    let location = context.locate(node)?;
    // A node that does not open is compared as well: its documents may be what differs.
    drop(context.node_with_warnings(&location));
    let bar = Bar::of_elements(context.global.quiet);
    let path = location.path.to_string();
    let options = options(context, &location, &Settings { form: manifest.form(), memory });
    let found = manifest.check(&location.store, &path, &options, |event| bar.show_elements(event));
    bar.finish();
    let differences = found?;
    let lists = location.store.capabilities().list;
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
        false => Err(Failure::different(format!("{location}: differs from {}", file.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_characters_that_control_it() {
        let text = "00  a\u{1b}]0;x\u{7}\n\\00  b\\nc\n";
        assert_eq!(shown(text, false), text);
        let shown = shown(text, true);
        assert_eq!(shown.lines().count(), 2);
        assert!(!shown.contains(['\u{1b}', '\u{7}']) && shown.ends_with("\\00  b\\nc\n"), "{shown}");
    }
}
