//! `zarr cp` and `zarr mv`: copies or moves nodes to another path or another store.

use super::consolidated::keeping;
use super::conversion_lines::{ome_line, other_files};
use super::convert::{InterruptionMessages, carry_out, complete, left_of, outcome, real, refuse_overlap};
use super::read::select::ByDimension;
use super::region;
use super::skipped_items::SkippedItems;
use super::whole_directory;
use crate::args::ByConvention;
use crate::context::{Context, NodeLocation, node_path};
use crate::failure::Result;
use crate::file_names::check_target;
use crate::object::object;
use crate::{escape, interrupted, number};
use clap::Args;
use std::sync::Arc;
use std::time::Instant;
use zarr::Store;
use zarr::convert::{Action, Conversion, ConvertOptions, Migration};
use zarr::store::MemoryStore;

/// Copy a node with everything below it, within a store or to another; with --sel and --isel a region of it, as `zarr convert` does.
#[derive(Debug, Args)]
pub(crate) struct Copy {
    #[command(flatten)]
    nodes: Nodes,
    /// Go on where a chunk of SRC cannot be read: its elements get the fill value; where a node cannot be: it is left out, with
    /// everything below it; and where a file of no node cannot be. All are listed at the end, with exit code 1.
    #[arg(long)]
    keep_going: bool,
    /// Leave out the files that lie beside nodes and belong to none: tables in Parquet, XML, text. By default they are copied with their
    /// groups.
    #[arg(long)]
    no_other_files: bool,
    #[command(flatten)]
    region: ByDimension,
}

/// Move a node with everything below it, within a store or to another.
#[derive(Debug, Args)]
pub(crate) struct Move {
    #[command(flatten)]
    nodes: Nodes,
}

#[derive(Debug, Args)]
struct Nodes {
    /// The node, as URL::PATH; URL alone is the root.
    #[arg(value_name = "SRC")]
    source: String,
    /// The new node, as URL::PATH; missing groups above it are created. The node is converted to the format of the
    /// hierarchy there.
    #[arg(value_name = "DST")]
    target: String,
    /// Replace an existing node, with everything below it. Of cp, below the root of a directory or a database: in one step, when the
    /// copy is complete; else it is erased first.
    #[arg(long)]
    overwrite: bool,
    /// Go on where a run with the same options was interrupted; begin if there was none. A run that is still at work is an error; whether one
    /// on another machine is, takes up to 30 s to see.
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    meaning: ByConvention,
}

pub(crate) fn run(context: &Context, args: &Copy) -> Result<()> {
    let options = ConvertOptions::default().keep_going(args.keep_going).other_keys(!args.no_other_files);
    carry_over(context, &args.nodes, options, Some(&args.region))
}

pub(crate) fn run_move(context: &Context, args: &Move) -> Result<()> {
    carry_over(context, &args.nodes, ConvertOptions::default(), None)
}

/// Copies the region `copied` of a node, or moves the node if `copied` is `None`.
fn carry_over(context: &Context, args: &Nodes, options: ConvertOptions, copied: Option<&ByDimension>) -> Result<()> {
    let is_move = copied.is_none();
    let started = Instant::now();
    let ((from_address, from), (to_address, to)) =
        (context.node_address(&args.source)?, context.node_address(&args.target)?);
    context.share_options(&[&from_address, &to_address])?;
    let (from, to) = (from.as_deref().unwrap_or("/"), to.as_deref().unwrap_or("/"));
    let (from_path, to_path) = (node_path(from)?, node_path(to)?);
    let source = context.open_store(&from_address)?;
    let mut is_new = false;
    check_target(&args.target, &to_address)?;
    let target = if real(&from_address).is_some() && real(&from_address) == real(&to_address) {
        Arc::clone(&source)
    } else {
        refuse_overlap(&from_address, &to_address)?;
        match context.open_store(&to_address) {
            Err(error) if error.is_not_found() => {
                is_new = true;
                Arc::new(MemoryStore::new())
            }
            opened => opened?,
        }
    };
    Migration::check_settled(&target)?;
    if is_move {
        Migration::check_settled(&source)?;
    }
    let options = args
        .meaning
        .followed()?
        .apply(options)
        .overwrite(args.overwrite)
        .resume(args.resume)
        .options(context.options());
    let options = match copied {
        Some(chosen) => {
            let address = from_address.clone();
            let location = NodeLocation { store: Arc::clone(&source), address, path: from_path.clone(), dialect: None };
            region::taken(context, &location, chosen, options)?
        }
        None => options,
    };
    let planned = Conversion::plan_copy(&source, from, &target, to, &context.registry, options);
    if is_move
        && is_new
        && let Ok(conversion) = &planned
        && conversion.nodes().iter().all(|node| matches!(node.how, Action::Group | Action::CopyChunks))
    {
        let ends = ((&from_address, &from_path), (&to_address, &to_path));
        if whole_directory::renamed(ends.0, ends.1)? {
            return summary(context, args, conversion, &SkippedItems::of(conversion), started, None);
        }
    }
    // A store is created only if the copy is possible.
    let target = if is_new && planned.is_ok() { context.create_store(&to_address)? } else { target };
    let planned = planned.map_err(|error| {
        let source = NodeLocation {
            store: Arc::clone(&source),
            address: from_address.clone(),
            path: from_path.clone(),
            dialect: None,
        };
        let failure = source.with_near(error);
        if is_new { failure.in_store(&source.address.to_string()) } else { failure }
    });
    let done = planned.and_then(|conversion| {
        let changed = [(&target, to_path.parent()), (&source, from_path.parent())];
        let skipped = keeping(context, &changed[..1 + usize::from(is_move)], || {
            let left = match is_move {
                true => left_of_move(args, &target),
                false => left_of(&args.target, &target, args.resume),
            };
            carry_out(context, &conversion, &left, |progress| match is_move {
                true => conversion.run_move(&target, progress),
                false => conversion.run(&target, progress),
            })
        })?;
        // The stores are flushed even if items were left out, which is an error below.
        context.flush_stores()?;
        if !is_move && target.capabilities().appears_at_flush {
            interrupted::leaves(format!("{} is written", args.target));
        }
        Ok((conversion, skipped))
    });
    match done {
        // An interrupted move may have left these nodes.
        Err(error)
            if is_move
                && matches!(error.kind, "not-found" | "exists")
                && zarr::convert::finish_move(&source, from, &target, to)? =>
        {
            let facts = || object! { "source": args.source.as_str(), "target": args.target.as_str(), "moved": true };
            context.summary(facts, || format!("{}: an interrupted move was completed\n", escape::line(&args.target)))
        }
        Err(error) => Err(error),
        Ok((conversion, skipped)) => {
            if is_move {
                whole_directory::remove_empty(&from_address, &from_path);
            }
            if !context.global.json {
                skipped.print();
            }
            summary(context, args, &conversion, &skipped, started, copied)?;
            skipped.check()
        }
    }
}

/// Returns the messages for an interruption of a move.
fn left_of_move(args: &Nodes, target: &Arc<dyn Store>) -> InterruptionMessages {
    let (source, name) = (&args.source, &args.target);
    if target.capabilities().appears_at_flush {
        // The target is flushed before the source is erased.
        let until = "which takes all at the end; if nothing is there, the same command moves all";
        return InterruptionMessages {
            before: format!("{source} is whole until {name} is written, {until}"),
            after: format!("all is moved to {name}"),
        };
    }
    let before = format!("{source} is whole until all is copied; the same command with --resume goes on");
    InterruptionMessages { before, after: complete(name, target) }
}

/// Prints the summary of a copy or a move.
fn summary(
    context: &Context,
    args: &Nodes,
    conversion: &Conversion,
    skipped: &SkippedItems,
    started: Instant,
    copied: Option<&ByDimension>,
) -> Result<()> {
    let ends = (args.source.as_str(), args.target.as_str());
    let (size, seconds) = (number::size(conversion.size()), started.elapsed().as_secs_f64());
    context.summary(
        || outcome(ends, conversion, skipped, None),
        || {
            let nodes = number::counted(conversion.nodes().len() as u64, "node");
            let how = if copied.is_none() { "moved" } else { "copied" };
            let (others, ome) = (other_files(conversion), ome_line(conversion.nodes(), false));
            let region = copied.map(region::told).unwrap_or_default();
            let others = format!("{others}{}", escape::line(&region));
            format!("{}: {nodes}{others}, {size} {how} in {seconds:.1} s\n{ome}", escape::line(&args.target))
        },
    )
}
