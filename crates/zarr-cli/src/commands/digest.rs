//! `zarr digest`: computes a hash of data that depends only on shapes, data types and values.

mod manifest;

use super::bar::Bar;
use super::read::select::ByDimension;
use super::region;
use crate::args::NodeArgs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::interrupted;
use crate::object::object;
use crate::output::Output;
use crate::{escape, number};
use clap::Args;
use std::path::{Path, PathBuf};
use zarr::compare::{ArrayDifference, Digest as DataDigest, DigestDifference, DigestOptions, ManifestForm};
use zarr::meta::json::Value;

/// Greatest number of differing regions of an array that are printed.
const MOST_REGIONS: usize = 20;

/// Print a hash of data that depends on shapes, data types and values alone.
///
/// It is the same for all copies of the same data, whatever their format, chunks, compression and byte order, and whether chunks of fill
/// values are stored. Of a group, the hash of each array comes first, and then that of all. With --sel and --isel it is that of the region:
/// the one of a copy of it, as `zarr cp` and `zarr convert` make with the same options.
#[derive(Debug, Args)]
pub(crate) struct Digest {
    #[command(flatten)]
    node: NodeArgs,
    #[command(flatten)]
    region: ByDimension,
    /// Take all NaNs for the same, and both zeros. By default values are their bits.
    #[arg(long, conflicts_with = "compare")]
    ieee: bool,
    /// Count attributes and names of dimensions as well.
    #[arg(long, conflicts_with = "compare")]
    attributes: bool,
    /// Write the hashes of all parts of the arrays to this file, as JSON, by which --compare finds parts that differ.
    #[arg(long, value_name = "FILE")]
    parts: Option<PathBuf>,
    /// Compare with a file that --parts wrote, as its options were: list what differs. The exit code is 1 if something does.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Print a checksum of each stored value instead, with its key below the node, as sha256sum does: `sha256sum -c` checks it in a
    /// directory, and --check in any store. Left out are records of unfinished changes by zarr (.zconversion, .zreplacement, .zmigration).
    /// Nothing may write to the node meanwhile.
    #[arg(long, conflicts_with_all = ["ieee", "attributes", "parts", "compare", "sel", "isel"], help_heading = STORED)]
    manifest: bool,
    /// The form of a manifest: sha256sum (SHA-256), or dandi (MD5, as md5sum writes it, and in comments the checksums of directories that
    /// zarr-checksum computes, without .git, .datalad, .gitattributes, .gitmodules and .dandi).
    #[arg(long, value_name = "FORM", value_parser = form, requires = "manifest", help_heading = STORED)]
    form: Option<ManifestForm>,
    /// Write the manifest to this file, which is neither below the node nor the file of the store.
    #[arg(short, long, value_name = "FILE", requires = "manifest", help_heading = STORED)]
    output: Option<PathBuf>,
    /// Compare the stored values with a manifest, also one that sha256sum or md5sum wrote, and list what differs; - is standard input. The
    /// exit code is 1 if something differs or cannot be read.
    #[arg(
        long, value_name = "FILE", help_heading = STORED,
        conflicts_with_all = ["manifest", "ieee", "attributes", "parts", "compare", "sel", "isel"],
    )]
    check: Option<PathBuf>,
    /// How much memory may be used for data.
    #[arg(long, value_name = "SIZE", value_parser = number::parse_size, default_value = "1GiB")]
    memory: u64,
}

/// Heading in the help of the options of manifests.
const STORED: &str = "Checksums of stored values";

fn form(text: &str) -> Result<ManifestForm, String> {
    text.parse().map_err(|error: zarr::Error| error.message().to_owned())
}

pub(crate) fn run(context: &Context, args: &Digest) -> Result<()> {
    if args.manifest {
        let settings = manifest::Settings { form: args.form.unwrap_or_default(), memory: args.memory };
        return manifest::write(context, &args.node, &settings, args.output.as_deref());
    }
    if let Some(file) = &args.check {
        return manifest::check(context, &args.node, args.memory, file);
    }
    if let Some(file) = args.parts.as_deref().filter(|file| *file != Path::new("-")) {
        interrupted::watch(&format!("{} is not written", file.display()), context.global.json);
    }
    let expected = args.compare.as_deref().map(read).transpose()?;
    let location = context.locate(&args.node)?;
    // Report the same warnings and errors about the node as other verbs.
    context.node_with_warnings(&location)?;
    let regions = region::of_node(context, &location, &args.region)?;
    // A file that cannot be written is an error before the work.
    let file = args.parts.as_deref().map(|file| Output::open(Some(file), false)).transpose()?;
    let (ieee, attributes) =
        expected.as_ref().map_or((args.ieee, args.attributes), |digest| (digest.ieee, digest.attributes));
    let options = DigestOptions::default()
        .ieee(ieee)
        .attributes(attributes)
        .memory(args.memory)
        .dialect(location.dialect)
        .regions(regions)
        .options(context.options());
    let (bar, path) = (Bar::of_elements(context.global.quiet), location.path.to_string());
    let digest = DataDigest::of(&location.store, &path, &context.registry, &options, |event| bar.show_elements(event));
    bar.finish();
    let digest = digest?;
    if let Some(mut out) = file {
        out.text(&format!("{:#}\n", digest.to_json(true)))?;
        out.finish()?;
        let file = args.parts.as_deref().unwrap_or(Path::new("-"));
        interrupted::leaves(format!("{} is written", file.display()));
    }
    let Some(expected) = expected else {
        return context.print(|| digest.to_json(false), || text(&digest, &path));
    };
    let differences = digest.differences(&expected)?;
    let facts = || differences.iter().map(DigestDifference::to_json).collect::<Vec<_>>();
    context.print(
        || object! { "equal": differences.is_empty(), "digest": digest.hash.to_string(), "differences": facts() },
        || match differences.is_empty() {
            true => "equal\n".to_owned(),
            false => differences.iter().map(lines).collect(),
        },
    )?;
    match (differences.is_empty(), &args.compare) {
        (false, Some(file)) => Err(Failure::different(format!("{location}: differs from {}", file.display()))),
        _ => Ok(()),
    }
}

/// Reads a digest from a file.
fn read(file: &Path) -> Result<DataDigest> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| Failure::input(&name, &error))?;
    let value = Value::from_json(&text).map_err(|error| Failure::data("invalid-json", format!("{name}: {error}")))?;
    DataDigest::from_json(&value).map_err(|error| {
        let failure = Failure::data(error.kind().name(), format!("{name}: {error}"));
        match error.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    })
}

/// Returns a line with the hash of each array, and one with the hash of all, in the format of `sha256sum`.
fn text(digest: &DataDigest, path: &str) -> String {
    let mut text = String::new();
    let mut line = |hash: String, path: &str| text.push_str(&format!("{hash}  {}\n", escape::line(path)));
    let prefix = path.trim_end_matches('/');
    for node in &digest.nodes {
        // If the digest is that of a single array, the array is in the last line.
        if let Some(array) = node.array.as_ref().filter(|_| node.path != "/") {
            line(array.hash.to_string(), &format!("{prefix}{}", node.path));
        }
    }
    line(digest.hash.to_string(), path);
    text
}

/// Describes a difference in lines. The first digest is that of the store, the second that of the file.
fn lines(difference: &DigestDifference) -> String {
    let line = |content: String| format!("{}\n", escape::line(&content));
    match difference {
        DigestDifference::OnlyInFirst(path) => line(format!("{path}  not in the file")),
        DigestDifference::OnlyInSecond(path) => line(format!("{path}  in the file alone")),
        DigestDifference::Kind(path) => line(format!("{path}  a group in one, an array in the other")),
        DigestDifference::Attributes(path) => line(format!("{path}  attributes differ")),
        DigestDifference::Array(path, how) => match how {
            ArrayDifference::DataType(here, there) => line(format!("{path}  data type {here}, in the file {there}")),
            ArrayDifference::Shape(here, there) => line(format!("{path}  shape {here:?}, in the file {there:?}")),
            ArrayDifference::Boxes(regions) => {
                let shown = regions.iter().take(MOST_REGIONS);
                let mut text: String = shown.map(|region| line(format!("{path}  elements {region} differ"))).collect();
                if regions.len() > MOST_REGIONS {
                    let more = number::grouped((regions.len() - MOST_REGIONS) as u64);
                    text.push_str(&line(format!("{path}  {more} more regions differ")));
                }
                text
            }
            _ => line(format!("{path}  elements differ")),
        },
        other => line(format!("{other:?}")),
    }
}
