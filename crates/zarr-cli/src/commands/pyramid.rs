//! `zarr pyramid`: writes coarser levels of an array.

use super::bar::Bar;
use super::consolidated::keeping;
use super::convert::{InterruptionMessages, part, refuse_overlap};
use super::read::select;
use crate::args::NodeArgs;
use crate::codecs;
use crate::context::{Context, node_path};
use crate::failure::{Failure, Result};
use crate::file_names::check_target;
use crate::number::{self, ChunkLengths, tuple};
use crate::object::{object, or_null};
use crate::{escape, interrupted};
use clap::Args;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use zarr::convert::{Level, Method, Migration, Part, Pyramid, PyramidOptions, Shards};
use zarr::grid::Region;
use zarr::meta::NodePath;
use zarr::meta::json::Map;
use zarr::{Array, Store};

/// Heading in the help of the options that choose levels.
const LEVELS: &str = "Levels";
const RESULT: &str = "The result";
const AGAIN: &str = "Interruptions and changes";

/// Write coarser levels of an array, each computed of the one before it; chunks are read once if memory allows.
///
/// The levels of `0` are `1`, `2`.. beside it, and are added to the OME-Zarr image that it belongs to. With --to they lie in another group,
/// with a copy of the array as `0`.
#[derive(Debug, Args)]
pub(crate) struct MakePyramid {
    #[command(flatten)]
    node: NodeArgs,
    /// The group of the levels, in any store: URL::/GROUP.
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    /// Factors to the next level along dimensions, by name or number; by default 2 along the last two.
    #[arg(long, value_name = "DIM=N,..", value_parser = number::lengths, help_heading = LEVELS)]
    factor: Option<ChunkLengths>,
    /// How many; `auto`: until one fits a chunk.
    #[arg(long, value_name = "N", default_value = "auto", hide_default_value = true, value_parser = levels, help_heading = LEVELS)]
    levels: LevelCount,
    /// How a block becomes an element: mean, median, min, max, mode (of labels) or nearest.
    #[arg(long, value_name = "METHOD", default_value = "mean", value_parser = method, help_heading = LEVELS)]
    method: Method,
    /// Leave out missing elements: NaN, and `_FillValue`, `missing_value` or the fill value.
    #[arg(long, help_heading = LEVELS)]
    skip_missing: bool,
    /// The shape of chunks, or lengths along dimensions, y=512; by default as in the array.
    #[arg(long, value_name = "SHAPE", value_parser = number::lengths, help_heading = RESULT)]
    chunks: Option<ChunkLengths>,
    /// The shape of shards, `auto` or `none`; by default as in the array.
    #[arg(long, value_name = "SHAPE", value_parser = number::shard_lengths, help_heading = RESULT)]
    shards: Option<ChunkLengths>,
    /// The codecs of chunks, as `convert` takes them; by default those of the array.
    #[arg(long, value_name = "CODECS", help_heading = RESULT, hide_short_help = true)]
    codecs: Option<String>,
    /// How much memory may be used for data.
    #[arg(long, value_name = "SIZE", value_parser = number::parse_size, default_value = "256MiB")]
    memory: u64,
    /// Replace existing levels; they are erased first.
    #[arg(long, help_heading = AGAIN)]
    overwrite: bool,
    /// Go on where a run with the same options was interrupted.
    #[arg(long, help_heading = AGAIN)]
    resume: bool,
    /// Compute only the chunks of levels above this changed part: "0:10, 512:1024", or y=0:10.
    #[arg(long, value_name = "SEL", conflicts_with_all = ["overwrite", "resume", "level"], help_heading = AGAIN)]
    region: Option<String>,
    /// Compute level N alone, of the existing one before it; one that exists is written in place.
    #[arg(long, value_name = "N", help_heading = AGAIN, hide_short_help = true)]
    level: Option<usize>,
    /// Compute only part I of N. Parts can be computed at the same time, by any processes on any machines; an interrupted part continues
    /// when it is run again. The levels exist after --finish.
    #[arg(
        long,
        value_name = "I/N",
        value_parser = part,
        conflicts_with_all = ["overwrite", "resume", "region", "level", "dry_run"],
        help_heading = AGAIN,
        hide_short_help = true
    )]
    part: Option<Part>,
    /// Check that all parts are done, compute the chunks that depend on several parts, and write the documents. All other options must be
    /// those of the parts. The fewer parts there are, the less is left to compute.
    #[arg(
        long,
        conflicts_with_all = ["part", "overwrite", "resume", "region", "level", "dry_run"],
        help_heading = AGAIN,
        hide_short_help = true
    )]
    finish: bool,
    /// Discard parts that were begun: erase their journals and the chunks that they wrote, so that the parts can begin again. All other
    /// options must be those of the parts.
    #[arg(
        long,
        conflicts_with_all = ["part", "finish", "overwrite", "resume", "region", "level", "dry_run"],
        help_heading = AGAIN,
        hide_short_help = true
    )]
    abandon: bool,
    /// Write nothing: show the levels.
    #[arg(long)]
    dry_run: bool,
}

/// Number of levels; `None` to let it follow from the array.
#[derive(Clone, Copy, Debug)]
struct LevelCount(Option<usize>);

fn levels(text: &str) -> Result<LevelCount, String> {
    match text.trim() {
        "auto" => Ok(LevelCount(None)),
        text => text.parse().map(|count| LevelCount(Some(count))).map_err(|_| "expected a number, or auto".to_owned()),
    }
}

fn method(text: &str) -> Result<Method, String> {
    text.parse::<Method>().map_err(|error| error.to_string())
}

pub(crate) fn run(context: &Context, args: &MakePyramid) -> Result<()> {
    let started = Instant::now();
    if let Some(to) = &args.to {
        let (from, to) = (context.node_address(&args.node.url)?.0, context.node_address(to)?.0);
        context.share_options(&[&from, &to])?;
    }
    let location = context.locate(&args.node)?;
    let source = context.array(&location)?;
    let target: Option<(Arc<dyn Store>, NodePath)> = match &args.to {
        None => None,
        Some(to) => {
            let (address, path) = context.node_address(to)?;
            let path = path.as_deref().map_or(Ok(NodePath::root()), node_path)?;
            if real(&address) == real(&location.address) {
                Some((Arc::clone(&location.store), path))
            } else {
                refuse_overlap(&location.address, &address)?;
                if args.level.is_some() || args.region.is_some() {
                    // Levels that exist are changed.
                    Some((context.open_store(&address)?, path))
                } else {
                    check_target(to, &address)?;
                    // Nothing is created before the plan is complete.
                    Pyramid::plan(&source, Some((&elsewhere(), path.clone())), options(context, args, &source)?)?;
                    Some((if args.dry_run { elsewhere() } else { context.create_store(&address)? }, path))
                }
            }
        }
    };
    let planned = target.as_ref().map(|(store, path)| (store, path.clone()));
    let pyramid = Pyramid::plan(&source, planned, options(context, args, &source)?)?;
    if let Some(warning) = pyramid.warning() {
        context.warnings(&[warning.to_owned()]);
    }
    let name = args.to.clone().unwrap_or_else(|| location.to_string());
    if !args.dry_run {
        Migration::check_settled(pyramid.source_store())?;
        Migration::check_settled(pyramid.target())?;
    }
    if args.abandon {
        interrupted::leaves("some parts may be given up; the same command gives up the rest");
        pyramid.abandon()?;
        let facts = || object! { ..location.facts(), "target": or_null(args.to.clone()), "abandoned": true };
        return context.summary(facts, || format!("{}: the parts are given up\n", escape::line(&name)));
    }
    if !args.dry_run {
        carry_out(context, args, &pyramid, &name)?;
    }
    let facts = || {
        object! {
            ..location.facts(),
            "target": or_null(args.to.clone()),
            "group": pyramid.group().to_string(),
            "method": args.method.to_string(),
            "levels": pyramid.levels().iter().map(facts).collect::<Vec<_>>(),
            "bytes": if args.finish { 0 } else { pyramid.size() },
            "part": or_null(args.part.map(|part| part.to_string())),
            "dry_run": args.dry_run,
        }
    };
    context.summary(facts, || text(&pyramid, args, started))
}

/// Store that is written nowhere, for a plan.
fn elsewhere() -> Arc<dyn Store> {
    Arc::new(zarr::store::MemoryStore::new())
}

/// Returns the place of a store, so that one store that is named twice is opened once.
fn real(address: &zarr::store::StoreAddress) -> String {
    super::convert::real(address).map_or_else(|| address.to_string(), |path| path.display().to_string())
}

fn carry_out(context: &Context, args: &MakePyramid, pyramid: &Pyramid, name: &str) -> Result<()> {
    let left = left(args, pyramid, name);
    let bar = Bar::new(pyramid.size(), context.global.quiet);
    interrupted::leaves(left.before);
    let target = (pyramid.target(), Some(pyramid.group().clone()));
    keeping(context, &[target], || {
        let progress = |bytes| bar.add(u64::try_from(bytes).unwrap_or(u64::MAX));
        let done = if args.finish { pyramid.finish(progress) } else { pyramid.run(progress) };
        bar.finish();
        Ok(done?)
    })?;
    interrupted::leaves(left.after);
    Ok(())
}

/// Returns the messages for an interruption.
fn left(args: &MakePyramid, pyramid: &Pyramid, name: &str) -> InterruptionMessages {
    let appears_at_flush = pyramid.target().capabilities().appears_at_flush;
    if let Some(part) = args.part {
        return InterruptionMessages {
            before: format!("part {part} is not done; the same command goes on, --abandon gives all parts up"),
            after: format!("part {part} is done; the other parts and --finish are outstanding"),
        };
    }
    let before = match () {
        () if appears_at_flush => format!("nothing is written to {name}, which takes all at the end"),
        () if pyramid.is_update() => {
            "each chunk of a level has its old elements or its new ones; the same command writes all".to_owned()
        }
        () if args.resume || args.finish => "the levels are not complete; the same command goes on".to_owned(),
        () => "the levels are not complete; the same command with --resume goes on, with --overwrite it begins anew"
            .to_owned(),
    };
    InterruptionMessages { before, after: "all levels are complete".to_owned() }
}

fn options(context: &Context, args: &MakePyramid, source: &Array) -> Result<PyramidOptions> {
    let (chunks, chunk_lengths) = match args.chunks.clone() {
        Some(ChunkLengths::Shape(shape)) => (Some(shape), BTreeMap::new()),
        Some(ChunkLengths::ByName(lengths)) => (None, lengths),
        _ => (None, BTreeMap::new()),
    };
    let shards = args.shards.clone().map(|shards| match shards {
        ChunkLengths::Shape(shape) => Shards::Of(shape),
        ChunkLengths::ByName(lengths) => Shards::ByName(lengths),
        ChunkLengths::Auto => Shards::Auto,
        ChunkLengths::None => Shards::None,
    });
    let codecs = args.codecs.as_deref().map(|text| codecs::parse(text, &context.registry)).transpose()?;
    let mut options = PyramidOptions::default()
        .method(args.method)
        .skip_missing(args.skip_missing)
        .chunks(chunks)
        .chunk_lengths(chunk_lengths)
        .shards(shards)
        .codecs(codecs)
        .memory(args.memory)
        .overwrite(args.overwrite)
        .resume(args.resume)
        .region(region(args, source)?)
        .part(args.part)
        .options(context.options());
    (options.levels, options.level) = (args.levels.0, args.level);
    match args.factor.clone() {
        Some(ChunkLengths::ByName(factors)) => options.factors = factors,
        Some(ChunkLengths::Shape(factors)) if factors.len() == source.shape().len() => {
            options.factors = factors.iter().enumerate().map(|(axis, factor)| (axis.to_string(), *factor)).collect();
        }
        Some(_) => {
            let rank = source.shape().len();
            let message = format!("--factor: expected factors of dimensions, as y=2,x=2, or {rank} of all dimensions");
            return Err(Failure::usage(message));
        }
        None => {}
    }
    Ok(options)
}

/// Returns the region that has changed.
fn region(args: &MakePyramid, source: &Array) -> Result<Option<Region>> {
    let Some(text) = &args.region else { return Ok(None) };
    let selection = select::parse(text, source.dimension_names().unwrap_or_default())?;
    let resolved = selection.resolve(source.shape())?;
    match resolved.as_region() {
        Some(region) => Ok(Some(region.clone())),
        None => Err(Failure::usage(format!("--region: found {text:?}, expected ranges of indices"))),
    }
}

fn facts(level: &Level) -> Map {
    object! {
        "number": level.number as u64,
        "path": level.path.to_string(),
        "factors": level.factors.clone(),
        "shape": level.shape.clone(),
        "chunk_shape": level.chunks.clone(),
        "shard_shape": or_null(level.shards.clone()),
    }
}

fn text(pyramid: &Pyramid, args: &MakePyramid, started: Instant) -> String {
    let mut text = String::new();
    for level in pyramid.levels() {
        let shards = level.shards.as_ref().map(|shards| format!(", shards {}", tuple(shards))).unwrap_or_default();
        let path = level.path.to_string();
        text.push_str(&format!(
            "{}  {}, chunks {}{shards}\n",
            escape::line(&path),
            tuple(&level.shape),
            tuple(&level.chunks)
        ));
    }
    let count = number::counted(pyramid.levels().len() as u64, "level");
    let (size, seconds) = (number::size(pyramid.size()), started.elapsed().as_secs_f64());
    text.push_str(&match (args.dry_run, args.part) {
        // The parts have read the array.
        (false, None) if args.finish => format!("{count} by {} ended in {seconds:.1} s\n", args.method),
        (true, _) => format!("{count} by {}; nothing was written\n", args.method),
        (false, Some(part)) => format!("part {part} of {count} by {}, of {size} in {seconds:.1} s\n", args.method),
        (false, None) => format!("{count} by {}, of {size} in {seconds:.1} s\n", args.method),
    });
    text
}
