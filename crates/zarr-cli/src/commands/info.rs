//! `zarr info`: everything about one node.

use super::describe;
use crate::args::NodeArgs;
use crate::context::{Context, NodeLocation};
use crate::failure::Result;
use crate::object::{object, or_null};
use clap::Args;
use zarr::hierarchy::{ArraySizes, Summary};
use zarr::meta::json::Map;
use zarr::meta::{Node, StoredNode};
use zarr::{Array, Error};

/// Show everything about one node, and how much of it is stored.
#[derive(Debug, Args)]
pub(crate) struct Info {
    #[command(flatten)]
    node: NodeArgs,
}

pub(crate) fn run(context: &Context, args: &Info) -> Result<()> {
    let location = context.locate(&args.node)?;
    let found = context.node(&location)?;
    let attributes = found.attributes().map(drop).map_err(|error| Error::from(error.clone()));
    // All known facts are printed first; unreadable data is an error all the same.
    match &found.node {
        Node::Array(_) => array(context, &location, &found)?,
        Node::Group(_) => group(context, &location, &found)?,
    }
    attributes.map_err(|error| located(&location, error))
}

/// An error with its location in front.
fn located(location: &NodeLocation, error: Error) -> crate::failure::Failure {
    let mut failure = crate::failure::Failure::from(error);
    failure.line = format!("{location}: {}", failure.line);
    failure.store = Some(location.store.to_string());
    failure.path = Some(location.path.to_string());
    failure
}

/// Prints a node: `facts` with --json.
fn print(context: &Context, facts: Map, warnings: &[zarr::hierarchy::Warning], summary: Summary<'_>) -> Result<()> {
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    context.print(|| object! { ..facts, "warnings": warnings }, || format!("{summary}\n"))
}

fn group(context: &Context, location: &NodeLocation, found: &StoredNode) -> Result<()> {
    if !location.store.capabilities().list {
        return print(context, describe::facts(found), &found.warnings, Summary::of(found));
    }
    let walk = context.walk(location)?;
    context.hidden(&walk);
    let below = || walk.nodes.iter().filter(|node| node.path != found.path);
    let count = |kind: &str| below().filter(|node| describe::kind(node) == kind).count();
    let children = below().filter(|node| node.path.parent().as_ref() == Some(&found.path));
    let facts = object! {
        ..describe::facts(found),
        "arrays": count("array"),
        "groups": count("group"),
        "children": children.filter_map(|node| node.path.name()).collect::<Vec<_>>(),
    };
    print(context, facts, &found.warnings, Summary::of(found).below(&walk))?;
    walk.broken.into_iter().chain(walk.bad_copies).next().map_or(Ok(()), |error| Err(error.into()))
}

fn array(context: &Context, location: &NodeLocation, found: &StoredNode) -> Result<()> {
    context.hint_of_hidden([found]);
    let mut facts = describe::facts(found);
    let instead = context.global.fallback_type.as_ref().filter(|_| found.fallback.is_some());
    if let Some(data_type) = instead {
        facts.insert("data_type", data_type.short_value());
    }
    facts.insert("metadata", found.node.to_value());
    match Array::from_found(&location.store, found.clone(), &context.registry, context.options()) {
        Ok(array) => {
            let sizes = array.sizes()?;
            print(context, with_sizes(facts, &sizes), array.warnings(), array.summary().sizes(&sizes))
        }
        Err(error) => {
            let summary = Summary::of(found);
            let summary = instead.map_or(summary, |data_type| summary.data_type(data_type));
            print(context, facts, &found.warnings, summary)?;
            Err(error.into())
        }
    }
}

fn with_sizes(facts: Map, sizes: &ArraySizes) -> Map {
    let stored = sizes.stored.as_ref();
    let bytes = stored.map(|stored| stored.bytes());
    let ratio = |logical: u128| bytes.filter(|&bytes| bytes > 0).map(|bytes| logical as f64 / bytes as f64);
    object! {
        ..facts,
        "chunks": sizes.chunks,
        "chunks_stored": or_null(stored.map(|stored| stored.chunks.len())),
        "logical_bytes": or_null(sizes.elements),
        "padded_bytes": or_null(sizes.padded),
        "stored_bytes": or_null(bytes),
        "ratio": or_null(sizes.elements.and_then(ratio)),
    }
}
