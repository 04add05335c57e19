//! `zarr digest --manifest` and `--check`: checksums of stored values.

use super::super::bar::Bar;
use crate::args::NodeArgs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::object::{object, or_null};
use crate::output::Output;
use crate::{escape, interrupted, number};
use std::path::Path;
use zarr::compare::{Manifest, ManifestDifference, ManifestForm, ManifestOptions};

fn options(context: &Context, form: ManifestForm) -> ManifestOptions {
    ManifestOptions::default().form(form).threads(context.options().threads)
}

/// Writes the manifest of a node to a file, or prints it.
pub(super) fn write(context: &Context, node: &NodeArgs, form: ManifestForm, output: Option<&Path>) -> Result<()> {
    let file = output.filter(|file| *file != Path::new("-"));
    if let Some(file) = file {
        interrupted::watch(&format!("{} is not written", file.display()), context.global.json);
    }
    let location = context.locate(node)?;
    context.node_with_warnings(&location)?;
    // A file that cannot be written is an error before the work.
    let out = file.map(|file| Output::open(Some(file), false)).transpose()?;
    let bar = Bar::of_elements(context.global.quiet);
    let path = location.path.to_string();
    let made = Manifest::of(&location.store, &path, &options(context, form), |event| bar.show_elements(event));
    bar.finish();
    let manifest = made?;
    let facts = || {
        let entry = |(name, entry): (&str, &zarr::compare::ManifestEntry)| {
            object! { "name": name, "checksum": entry.checksum.as_str(), "size": or_null(entry.size) }
        };
        object! {
            ..location.facts(),
            "form": form.to_string(),
            "keys": manifest.entries().len() as u64,
            "bytes": manifest.size().unwrap_or_default(),
            "dandi_checksum": or_null(manifest.dandi_checksum()),
            "output": or_null(file.map(|file| file.display().to_string())),
            "entries": or_null(file.is_none().then(|| manifest.entries().map(entry).collect::<Vec<_>>())),
        }
    };
    let Some(mut out) = out else { return context.print(facts, || manifest.to_string()) };
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

/// Compares the values of a node with the manifest in a file.
pub(super) fn check(context: &Context, node: &NodeArgs, file: &Path) -> Result<()> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| Failure::input(&name, &error))?;
    let manifest: Manifest =
        text.parse().map_err(|error| Failure::data("invalid-manifest", format!("{name}: {error}")))?;
    let location = context.locate(node)?;
    context.node_with_warnings(&location)?;
    let bar = Bar::of_elements(context.global.quiet);
    let path = location.path.to_string();
    let options = options(context, manifest.form());
    let found = manifest.check(&location.store, &path, &options, |event| bar.show_elements(event));
    bar.finish();
    let differences = found?;
    let fact = |difference: &ManifestDifference| object! { "name": difference.name(), "kind": difference.kind() };
    context.print(
        || {
            object! {
                "equal": differences.is_empty(),
                "keys": manifest.entries().len() as u64,
                "differences": differences.iter().map(fact).collect::<Vec<_>>(),
            }
        },
        || match differences.is_empty() {
            true => format!("equal: {}\n", number::counted(manifest.entries().len() as u64, "value")),
            false => differences.iter().map(|it| format!("{}\n", escape::line(&it.to_string()))).collect(),
        },
    )?;
    match differences.is_empty() {
        true => Ok(()),
        false => Err(Failure::different(format!("{location}: differs from {name}"))),
    }
}
