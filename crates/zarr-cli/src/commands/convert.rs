//! `zarr convert`: writes a hierarchy or an array in another form.

use super::bar::Bar;
use super::consolidated::keeping;
use super::conversion_lines::{facts, ome_line, other_files, tell_other_ranks, tell_unread};
use super::dry_run;
use super::geozarr::Place;
use super::image_args::ImageArgs;
use super::read::select::ByDimension;
use super::region;
use super::rounding::Rounding;
use super::skipped_items::SkippedItems;
use crate::args::{Loss, dialect};
use crate::codecs;
use crate::context::{Context, NodeLocation, node_path};
use crate::failure::{Failure, Result};
use crate::file_names::check_target;
use crate::number::ChunkLengths;
use crate::object::{object, or_null};
use crate::{escape, interrupted, number, output, report};
use clap::Args;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use zarr::convert::{Action, Conversion, ConvertOptions, Migration, Part, PlannedNode, Progress, Shards};
use zarr::dataset::{Dataset, DatasetOptions};
use zarr::meta::NodePath;
use zarr::meta::json::Map;
use zarr::store::StoreAddress;
use zarr::virtualize::{JoinOptions, Joined};
use zarr::{Dialect, Group, Store};

/// Maximum number of warnings that are printed, since in large hierarchies every array may have the same warnings.
const MAX_WARNINGS: usize = 6;

/// Heading in the help for the options that choose nodes.
const WHICH: &str = "Which nodes";
pub(super) const RESULT: &str = "The result";
const INTERRUPTED: &str = "Interruptions, faults and parts";

/// Copy a hierarchy or an array, or a region of a data set, into another format, chunk shape or compression.
///
/// --sel and --isel choose a region: coordinates and variables that have the dimension are cut along it, and other variables are copied whole. A
/// dimension of which one element is chosen stays, with length 1. Chunks are as long as in SRC, or as the region if it is shorter.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The store to read, which is not changed; several stores with --concat.
    #[arg(value_name = "SRC", required = true)]
    sources: Vec<String>,
    /// The store to write, which is created if it does not exist.
    #[arg(value_name = "DST")]
    target: String,
    /// The dialect to write: v3, v2, d2022, p2020, p2019, v1 or v0; by default v2 if SRC is v2, else v3.
    #[arg(long, value_name = "DIALECT", aliases = ["format", "zarr-format"], value_parser = dialect, help_heading = RESULT)]
    dialect: Option<Dialect>,
    /// The shape of chunks (with --shards: of inner chunks), for arrays with the same number of dimensions; or lengths along named
    /// dimensions, such as time=10,lat=45, for arrays that have one of the dimensions.
    #[arg(long, value_name = "SHAPE", value_parser = number::lengths, help_heading = RESULT)]
    chunks: Option<ChunkLengths>,
    /// The shape of shards, for arrays with the same number of dimensions; or lengths along named dimensions, such as time=100,lat=180;
    /// `auto` for shards of about 64 MiB at most; `none` for no shards.
    #[arg(long, value_name = "SHAPE", value_parser = number::shard_lengths, help_heading = RESULT)]
    shards: Option<ChunkLengths>,
    /// The codecs of chunks: gzip, zstd(3), `transpose(1,0),blosc(lz4,5,shuffle)`, zfp(mode=reversible), `none`, or JSON of a Zarr v3
    /// document.
    #[arg(long, value_name = "CODECS", help_heading = RESULT)]
    codecs: Option<String>,
    /// Join several SRC along this dimension, in their order: variables with the dimension are joined, all other variables must be the same
    /// in each SRC. If chunks cannot be copied, elements are decoded, and encoded as in the first SRC.
    #[arg(long, value_name = "DIM", conflicts_with = "keep_going", help_heading = WHICH)]
    concat: Option<String>,
    /// Convert only this node, with all nodes below it and the groups above it.
    #[arg(long, value_name = "PATH", help_heading = WHICH)]
    node: Option<String>,
    /// Convert only these variables of the data set in SRC (or in --node), with their coordinates, bounds and grid mappings, as `ds[["a",
    /// "b"]]` of xarray does.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', num_args = 1, help_heading = WHICH)]
    variables: Vec<String>,
    #[command(flatten)]
    region: ByDimension,
    /// Leave out this node, with all nodes below it, even if it cannot be read; may be given several times.
    #[arg(long, value_name = "PATH", help_heading = WHICH)]
    exclude: Vec<String>,
    /// Leave out files beside nodes that belong to no node: tables in Parquet, XML, text. By default they are copied unchanged with their
    /// groups, unless --variables is given.
    #[arg(long, help_heading = WHICH)]
    no_other_files: bool,
    /// The maximum number of bytes of memory for data.
    #[arg(long, value_name = "SIZE", value_parser = number::parse_size, default_value = "1GiB")]
    memory: u64,
    /// The store for temporary elements, uncompressed, which are needed if --memory is so small that each chunk of SRC would be decoded
    /// three times or more; by default DST. The elements are erased at the end.
    #[arg(long, value_name = "URL", hide_short_help = true)]
    scratch: Option<String>,
    /// Replace existing nodes in DST. A node below the root of a directory or a database is replaced in one step after the new node is
    /// written; elsewhere the existing node is erased first.
    #[arg(long)]
    overwrite: bool,
    /// Continue an interrupted run with the same options; begin if there was no such run. Fails if the run is still active; for a run on
    /// another machine this check takes up to 30 s.
    #[arg(long, help_heading = INTERRUPTED)]
    resume: bool,
    /// Continue after errors: elements of a chunk of SRC that cannot be read or decoded get the fill value; a node that cannot be read or
    /// converted is left out, with all nodes below it; a file that belongs to no node and cannot be read is left out. All are listed at the
    /// end, with exit code 1. If only metadata changes, chunks are copied as bytes, also chunks that cannot be decoded.
    #[arg(long, help_heading = INTERRUPTED)]
    keep_going: bool,
    /// Write only part I of N. Parts can be written at the same time, by any processes on any machines; an interrupted part continues when
    /// it is run again. The nodes exist after --finish.
    #[arg(long, value_name = "I/N", value_parser = part, conflicts_with_all = ["overwrite", "resume", "dry_run"], help_heading = INTERRUPTED, hide_short_help = true)]
    part: Option<Part>,
    /// Check that all parts are written, and write the documents. All other options must be those of the parts.
    #[arg(long, conflicts_with_all = ["part", "overwrite", "resume", "dry_run"], help_heading = INTERRUPTED, hide_short_help = true)]
    finish: bool,
    /// Discard parts that were begun: erase their journals and the chunks that they wrote, so that the parts can begin again. All other
    /// options must be those of the parts.
    #[arg(long, conflicts_with_all = ["part", "finish", "overwrite", "resume", "keep_going", "dry_run"], help_heading = INTERRUPTED, hide_short_help = true)]
    abandon: bool,
    /// Write nothing: show the result and the cost of each node, and metadata that DST cannot express.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    rounding: Rounding,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    image: ImageArgs,
    #[command(flatten)]
    loss: Loss,
}

pub(crate) fn run(context: &Context, args: &Convert) -> Result<()> {
    let started = Instant::now();
    let is_geozarr = args.loss.meaning.is_geozarr();
    if args.place.is_given() && !is_geozarr {
        return Err(Failure::usage("--crs and --transform go with --convention geozarr"));
    }
    refuse_several(&args.sources, args.concat.as_deref())?;
    let sources = args.sources.iter().map(|source| context.store_address(source)).collect::<Result<Vec<_>>>()?;
    let to = context.store_address(&args.target)?;
    context.share_options(&sources.iter().chain([&to]).collect::<Vec<_>>())?;
    sources.iter().try_for_each(|from| refuse_overlap(from, &to))?;
    check_target(&args.target, &to)?;
    let Some(from) = sources.first().cloned() else {
        return Err(Failure::usage("expected a store to read".to_owned()));
    };
    let shards = args.shards.clone().map(|shards| match shards {
        ChunkLengths::Shape(shape) => Shards::Of(shape),
        ChunkLengths::ByName(lengths) => Shards::ByName(lengths),
        ChunkLengths::Auto => Shards::Auto,
        ChunkLengths::None => Shards::None,
    });
    let (chunks, chunk_lengths) = match args.chunks.clone() {
        Some(ChunkLengths::Shape(shape)) => (Some(shape), BTreeMap::new()),
        Some(ChunkLengths::ByName(lengths)) => (None, lengths),
        _ => (None, BTreeMap::new()),
    };
    let options = context
        .convert_options(args.loss, args.memory)
        .dialect(args.dialect)
        .chunks(chunks)
        .chunk_lengths(chunk_lengths)
        .shards(shards)
        .codecs(args.codecs.as_deref().map(|text| codecs::parse(text, &context.registry)).transpose()?)
        .node(args.node.as_deref().map(node_path).transpose()?)
        .exclude(args.exclude.iter().map(|path| node_path(path)).collect::<Result<_>>()?)
        .other_keys(!args.no_other_files)
        .overwrite(args.overwrite)
        .resume(args.resume)
        .keep_going(args.keep_going)
        .part(args.part);
    let options = match args.scratch.as_deref().filter(|_| !args.dry_run) {
        Some(scratch) => options.scratch(context.create_store(&context.store_address(scratch)?)?),
        None => options,
    };
    let source: Arc<dyn Store> = match &args.concat {
        None => context.open_store(&from)?,
        Some(_) => {
            let join = JoinOptions::default().concat(args.concat.clone()).values(u64::MAX).arrays(context.options());
            Arc::new(joined(context, &sources, &join)?.store)
        }
    };
    let path = args.node.as_deref().map_or(Ok(NodePath::root()), node_path)?;
    let location = NodeLocation { store: Arc::clone(&source), address: from, path, dialect: None };
    let options = match args.variables.is_empty() {
        true => options,
        false => of_variables(context, args, &location, options)?,
    };
    let options = region::taken(context, &location, &args.region, options)?;
    let options = match is_geozarr {
        true => args.place.taken(context, &location, options)?,
        false => options,
    };
    let options = args.image.taken(context, &location, &args.target, args.loss.meaning, options)?;
    let options = args.rounding.taken(context, &location, (args.codecs.as_deref(), args.memory), options)?;
    if args.dry_run {
        let examined = Conversion::examine(&source, &context.registry, options);
        let examined = examined.map_err(|error| location.with_near(error))?;
        return dry_run::print(context, &examined.conversion, examined.refused);
    }
    let conversion = Conversion::plan(&source, &context.registry, options);
    let conversion = conversion.map_err(|error| location.with_near(error))?;
    // Nothing is created at the target before the plan is complete.
    let target = context.create_store(&to)?;
    Migration::check_settled(&target)?;
    if args.abandon {
        interrupted::leaves("some parts may be given up; the same command gives up the rest");
        conversion.abandon(&target)?;
        let facts = || object! { "source": name_of(args), "target": args.target.as_str(), "abandoned": true };
        return context.summary(facts, || format!("{}: the parts are given up\n", escape::line(&args.target)));
    }
    args.rounding.check_places(&conversion, &target)?;
    let above = args.node.as_deref().map(node_path).transpose()?.and_then(|path| path.parent());
    let skipped = keeping(context, &[(&target, above)], || {
        let skipped = carry_out(context, &conversion, &left(args, &target), |progress| match args.finish {
            true => conversion.finish(&target, progress),
            false => conversion.run(&target, progress),
        })?;
        args.rounding.describe(context, &conversion, &target).map(|()| skipped)
    })?;
    // The stores are flushed even if items were left out, which is an error below.
    context.flush_stores()?;
    if target.capabilities().appears_at_flush {
        interrupted::leaves(format!("{} is written", args.target));
    }
    summarize(context, args, &conversion, &skipped, started)?;
    skipped.check()
}

/// Returns the sources for messages: the address of the first source, and the number of further sources.
fn name_of(args: &Convert) -> String {
    match args.sources.as_slice() {
        [source] => source.clone(),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
        [] => String::new(),
    }
}

/// Fails if there are several `sources`, but no dimension `concat` to join them along.
pub(crate) fn refuse_several(sources: &[String], concat: Option<&str>) -> Result<()> {
    if sources.len() < 2 || concat.is_some() {
        return Ok(());
    }
    let failure = Failure::usage(format!("found {} sources, expected one without --concat", sources.len()));
    Err(failure.with_hint("--concat DIM names the dimension along which they are joined"))
}

/// Opens the stores at `addresses` and joins them into one store, whose chunks stay in these stores. Prints warnings about attributes that
/// differ.
pub(crate) fn joined(context: &Context, addresses: &[StoreAddress], options: &JoinOptions) -> Result<Joined> {
    let inputs = addresses.iter().map(|address| context.open_input(address)).collect::<zarr::Result<Vec<_>>>()?;
    let joined = zarr::virtualize::join(&inputs, &context.registry, options)?;
    context.some_warnings(&joined.notes);
    Ok(joined)
}

/// Messages for an interruption: the state that it leaves, and how to continue.
pub(crate) struct InterruptionMessages {
    /// Message for an interruption before all data is written.
    pub(crate) before: String,
    /// Message for an interruption after all data is written.
    pub(crate) after: String,
}

/// Returns the messages for an interruption of the conversion.
fn left(args: &Convert, target: &Arc<dyn Store>) -> InterruptionMessages {
    match &args.part {
        Some(part) => InterruptionMessages {
            before: format!("part {part} is not done; the same command goes on, --abandon gives all parts up"),
            after: format!("part {part} is done; the other parts and --finish are outstanding"),
        },
        None if args.finish => InterruptionMessages {
            before: "the same command goes on".to_owned(),
            after: complete(&args.target, target),
        },
        None => left_of(&args.target, target, args.resume),
    }
}

/// Returns the messages for an interruption of a conversion or a copy into the store `target`. `name` is the address of the store, and
/// `is_resumed` says whether the same command continues the work.
pub(crate) fn left_of(name: &str, target: &Arc<dyn Store>, is_resumed: bool) -> InterruptionMessages {
    let begins = "with --overwrite it begins anew";
    let before = match is_resumed {
        _ if target.capabilities().appears_at_flush => complete(name, target),
        true => format!("{name} is not complete; the same command goes on, {begins}"),
        false => format!("{name} is not complete; the same command with --resume goes on, {begins}"),
    };
    InterruptionMessages { before, after: complete(name, target) }
}

/// Returns the message for an interruption after all data is written to the store `name`, but perhaps not flushed.
pub(crate) fn complete(name: &str, target: &Arc<dyn Store>) -> String {
    match target.capabilities().appears_at_flush {
        true => format!("nothing is written to {name}, which takes all at the end"),
        false => {
            "all nodes are complete; `zarr consolidate` writes consolidated metadata, if it is to be there".to_owned()
        }
    }
}

/// Parses the argument of --part, such as `2/8`.
pub(super) fn part(text: &str) -> Result<Part, String> {
    text.parse().map_err(|error: zarr::Error| error.message().to_owned())
}

/// Limits the conversion to the variables of --variables and their coordinates.
fn of_variables(
    context: &Context,
    args: &Convert,
    source: &NodeLocation,
    options: ConvertOptions,
) -> Result<ConvertOptions> {
    let group = Group::open(&source.store, &source.path.to_string(), &context.registry);
    let group = group.map_err(|error| source.with_near(error))?;
    let ignore = source.store.capabilities().list;
    let dataset_options = DatasetOptions::default().arrays(context.options()).ignore_consolidated(ignore);
    let dataset = Dataset::open_with(&group, &dataset_options)?;
    // A broken variable may be a coordinate of the chosen variables.
    let broken = dataset.broken().iter().map(|error| format!("left out, for it cannot be opened: {error}"));
    context.warnings(&broken.collect::<Vec<_>>());
    let names: Vec<&str> = args.variables.iter().map(String::as_str).collect();
    let kept = dataset.with_coordinates(&names)?;
    let arrays = kept.into_iter().map(|variable| variable.stored().path().clone());
    Ok(options.arrays(arrays.collect::<Vec<_>>()))
}

/// Runs the conversion by `run`, and prints losses of metadata and the progress. `left` has the messages for an interruption. Returns the
/// nodes, chunks and files that were left out.
pub(crate) fn carry_out(
    context: &Context,
    conversion: &Conversion,
    left: &InterruptionMessages,
    run: impl FnOnce(&(dyn Fn(Progress<'_>) + Sync)) -> zarr::Result<()>,
) -> Result<SkippedItems> {
    context.some_warnings(conversion.left_out());
    tell_other_ranks(context, conversion);
    tell_unread(context, conversion);
    if !context.global.quiet {
        warn(conversion.nodes());
    }
    let bar = Bar::new(conversion.size(), context.global.quiet);
    let skipped = SkippedItems::of(conversion);
    interrupted::leaves(left.before.as_str());
    let done = run(&|progress| {
        skipped.add(&progress);
        bar.show(progress);
    });
    bar.finish();
    match done {
        Ok(()) => {
            interrupted::leaves(left.after.as_str());
            Ok(skipped)
        }
        Err(error) => {
            skipped.print();
            Err(error.into())
        }
    }
}

/// Prints warnings about lost metadata. Metadata that was only moved is not lost.
fn warn(nodes: &[PlannedNode]) {
    let of_node = |node: &PlannedNode| {
        let lost = node.notes.iter().filter(|note| note.is_loss).map(ToString::to_string);
        lost.chain(node.warning.clone()).map(|note| format!("{}: {note}", node.source.path)).collect::<Vec<_>>()
    };
    let losses: Vec<String> = nodes.iter().flat_map(of_node).collect();
    losses.iter().take(MAX_WARNINGS).for_each(|loss| report::warning(loss));
    if losses.len() > MAX_WARNINGS {
        report::warning(&format!("{} more like these; --json lists them", losses.len() - MAX_WARNINGS));
    }
}

/// Returns a report of a finished conversion as JSON. `ends` are the addresses of the source and the target.
pub(crate) fn outcome(ends: (&str, &str), conversion: &Conversion, skipped: &SkippedItems, part: Option<Part>) -> Map {
    let count = |is_array: bool| {
        let is_meant = |node: &&PlannedNode| (node.how != Action::Group) == is_array;
        conversion.nodes().iter().filter(is_meant).count()
    };
    object! {
        "source": ends.0,
        "target": ends.1,
        "groups": count(false),
        "arrays": count(true),
        "bytes": conversion.size(),
        "other_files": conversion.other_keys().len(),
        "part": or_null(part.map(|part| part.to_string())),
        "nodes": conversion.nodes().iter().map(facts).collect::<Vec<_>>(),
        "skipped_nodes": skipped.nodes_to_json(),
        "skipped": skipped.to_json(),
        "more_skipped": skipped.more(),
        "skipped_files": skipped.files_to_json(),
    }
}

fn summarize(
    context: &Context,
    args: &Convert,
    conversion: &Conversion,
    skipped: &SkippedItems,
    started: Instant,
) -> Result<()> {
    let count = |how: Action| conversion.nodes().iter().filter(|node| node.how == how).count() as u64;
    let (groups, copied, recoded) = (count(Action::Group), count(Action::CopyChunks), count(Action::Reencode));
    if context.global.json {
        let source = name_of(args);
        return output::json(outcome((&source, &args.target), conversion, skipped, args.part));
    }
    skipped.print();
    if context.global.quiet {
        return Ok(());
    }
    let plural =
        |number: u64, noun: &str| format!("{} {noun}{}", number::grouped(number), if number == 1 { "" } else { "s" });
    if let Some(part) = args.part {
        let seconds = started.elapsed().as_secs_f64();
        let region = escape::line(&region::told(&args.region)).into_owned();
        return output::print(&format!("{}: part {part}{region} in {seconds:.1} s\n", escape::line(&args.target)));
    }
    let text = format!(
        "{}: {}, {} ({} copied, {} encoded again){}{}, {} in {:.1} s\n{}",
        escape::line(&args.target),
        plural(groups, "group"),
        plural(copied + recoded, "array"),
        number::grouped(copied),
        number::grouped(recoded),
        other_files(conversion),
        escape::line(&region::told(&args.region)),
        number::size(conversion.size()),
        started.elapsed().as_secs_f64(),
        ome_line(conversion.nodes(), conversion.options().ome_version.is_some()),
    );
    output::print(&text)
}

/// Fails if the stores `source` and `target` are the same, or one lies inside of the other.
pub(crate) fn refuse_overlap(source: &StoreAddress, target: &StoreAddress) -> Result<()> {
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

/// Returns the absolute path of the store at `address`, with symbolic links resolved; the URL for a URL. A path that does not exist yet is
/// resolved as far as it exists. `None` for a store without a location, such as a store in memory.
pub(crate) fn real(address: &StoreAddress) -> Option<PathBuf> {
    if let Some(inner) = address.inner() {
        return real(inner);
    }
    if let Some(url) = address.url() {
        return Some(PathBuf::from(url));
    }
    let absolute = std::path::absolute(address.path()?).ok()?;
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
        let refuse = |from: &str, to: &str| {
            let schemes = zarr::store::schemes();
            refuse_overlap(&schemes.address(from).unwrap(), &schemes.address(to).unwrap())
        };
        let check = |from: &str, to: &str| refuse(&at(from), &at(to)).is_ok();
        assert!(check("a", "b"));
        assert!(check("a", "ab"));
        assert!(!check("a", "a/"));
        assert!(!check("a", "a/../a"));
        assert!(!check("a", "a/b/c"));
        assert!(!check("a", "."));
        assert!(refuse(&at("a"), &format!("file://{}", at("a"))).is_err());
        assert!(refuse(&format!("zip:{}", at("a")), &at("a")).is_err());
        assert!(refuse(&at("a"), &format!("sqlite:{}", at("a/b"))).is_err());
        assert!(refuse("memory:", "memory:").is_ok());
    }
}
