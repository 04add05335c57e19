//! `zarr rm`: erases a node.

use super::bar::Bar;
use super::consolidated::keeping;
use super::describe;
use crate::args::NodeArgs;
use crate::context::{Context, NodeLocation};
use crate::escape;
use crate::failure::{Failure, Result};
use crate::number;
use crate::object::object;
use clap::Args;
use std::collections::BTreeSet;
use std::time::Instant;
use zarr::hierarchy::{Erasure, StoredNode};
use zarr::meta::{Dialect, Node};

/// Erase a node.
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The store; the node may stand behind it: URL::/PATH, or x.zarr/PATH.
    #[arg(value_name = "URL")]
    url: String,
    /// The node, with everything below it; / is the root, where only keys of nodes are erased, of every dialect.
    #[arg(value_name = "PATH")]
    path: Option<String>,
    /// Erase a node with all nodes and other keys below it.
    #[arg(short, long)]
    recursive: bool,
}

pub(crate) fn run(context: &Context, args: &Remove) -> Result<()> {
    if args.path.is_none() && context.node_address(&args.url)?.1.is_none() {
        let failure = Failure::usage("expected the path of the node to erase");
        return Err(failure.with_hint("the root of a store is /"));
    }
    let path = args.path.clone().unwrap_or_else(|| "/".to_owned());
    let location = context.locate(&NodeArgs { url: args.url.clone(), path, dialect: None })?;
    let found = context.node_with_warnings(&location)?;
    if !args.recursive {
        check_alone(&location, &found)?;
    }
    zarr::convert::Migration::check_settled(&location.store)?;
    // Find these groups before anything is erased.
    let others = if args.recursive { other_roots(&location, &found)? } else { Vec::new() };
    let (bar, started) = (Bar::of_keys(context.global.quiet), Instant::now());
    let erase = |root: &StoredNode| {
        let path = root.path.to_string();
        Erasure::of(root).progress(|progress| bar.show_erase(&path, progress)).erase(&*location.store)
    };
    let erased = keeping(context, &[(&location.store, location.path.parent())], || {
        Ok(others.iter().chain([&found]).try_for_each(erase)?)
    });
    bar.finish();
    erased?;
    let seconds = started.elapsed().as_secs_f64();
    let line =
        || format!("{}: {} erased in {seconds:.1} s\n", escape::line(&location.to_string()), describe::kind(&found));
    context.summary(|| object! { ..location.facts(), "kind": describe::kind(&found), "seconds": seconds }, line)
}

/// Returns an error if the erase of a node would also erase other nodes.
fn check_alone(location: &NodeLocation, found: &StoredNode) -> Result<()> {
    if let Node::Group(_) = found.node {
        let below = zarr::hierarchy::children(&*location.store, &location.path.to_string(), None)?;
        let count = below.nodes.len() + below.broken.len();
        if count > 0 {
            let nodes = number::counted(count as u64, "node");
            let failure = Failure::usage(format!("{location}: the group has {nodes}"));
            return Err(failure.with_hint("--recursive erases them, too"));
        }
    }
    let Some(key) = zarr::hierarchy::stray_key(&*location.store, found)? else { return Ok(()) };
    let message = match found.node {
        Node::Group(_) => format!("{location}: the key {key} below the group belongs to no node"),
        Node::Array(_) => format!("{location}: the key {key} below the array is neither a document nor a chunk of it"),
    };
    Err(Failure::usage(message).with_hint("--recursive erases everything below it"))
}

/// Returns the root groups of the other dialects that have nodes directly below the root, if `root` is the root group of the store. The
/// root has no prefix of its own, so that its erase leaves the nodes of other dialects.
fn other_roots(location: &NodeLocation, root: &StoredNode) -> Result<Vec<StoredNode>> {
    if !root.path.is_root() || root.node.as_array().is_some() {
        return Ok(Vec::new());
    }
    let below = zarr::hierarchy::children(&*location.store, "/", None)?.nodes;
    let dialects: BTreeSet<Dialect> = below.iter().map(|node| node.dialect).filter(|it| *it != root.dialect).collect();
    let open = |dialect| zarr::hierarchy::open_node(&*location.store, "/", Some(dialect)).map_err(Failure::from);
    dialects.into_iter().map(open).collect()
}
