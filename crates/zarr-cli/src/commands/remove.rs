//! `zarr rm`: erases a node.

use crate::args::{self, Remove};
use crate::context::{Context, Place, address};
use crate::failure::{Failure, Result};
use std::collections::BTreeSet;
use zarr::Found;
use zarr::meta::{Dialect, Documents, Node, consolidated, document_keys};
use zarr::store::Prefix;

pub(crate) fn run(context: &Context, args: &Remove) -> Result<()> {
    let (url, path) = match (&args.path, address(&args.url)) {
        (Some(path), _) => (args.url.as_str(), path.as_str()),
        (None, (url, Some(path))) => (url, path),
        (None, _) => {
            let failure = Failure::usage("no path of a node to be erased");
            return Err(failure.with_hint("the root of a store is /"));
        }
    };
    let place = context.place(&args::Node { url: url.to_owned(), path: path.to_owned(), dialect: None })?;
    let found = context.found(&place)?;
    if let (Node::Group(_), false) = (&found.node, args.recursive) {
        let below = zarr::children(&*place.store, &place.path.to_string(), None)?;
        let count = below.nodes.len() + below.broken.len();
        if count > 0 {
            let nodes = if count == 1 { "node" } else { "nodes" };
            let failure = Failure::usage(format!("{}: {}: a group with {count} {nodes}", place.store, place.path));
            return Err(failure.with_hint("--recursive erases them, too"));
        }
        if let Some(key) = stranger(&place, &found)? {
            let message = format!("{}: {}: below the group lies {key}, which is of no node", place.store, place.path);
            return Err(Failure::usage(message).with_hint("--recursive erases all below it"));
        }
    }
    zarr::Migration::check_settled(&place.store)?;
    // Found before anything is erased.
    let others = if args.recursive { other_roots(&place, &found)? } else { Vec::new() };
    for root in others.iter().chain([&found]) {
        zarr::erase_node(&*place.store, root)?;
    }
    Ok(())
}

/// The root groups of the other dialects that have nodes beside those of `root`, if that is the root of the store: it has no prefix
/// of its own, with which all below it would go.
fn other_roots(place: &Place, root: &Found) -> Result<Vec<Found>> {
    if !root.path.is_root() || root.node.as_array().is_some() {
        return Ok(Vec::new());
    }
    let below = zarr::children(&*place.store, "/", None)?.nodes;
    let dialects: BTreeSet<Dialect> = below.iter().map(|node| node.dialect).filter(|it| *it != root.dialect).collect();
    let open = |dialect| zarr::open_node(&*place.store, "/", Some(dialect)).map_err(Failure::from);
    dialects.into_iter().map(open).collect()
}

/// A key that would be erased with a group without nodes, and is not of a document of it. Below the root none is.
fn stranger(place: &Place, group: &Found) -> Result<Option<String>> {
    if group.path.is_root() || !place.store.capabilities().list {
        return Ok(None);
    }
    let mut own: BTreeSet<String> = group.own_documents().map(str::to_owned).collect();
    for dialect in [group.dialect, Dialect::V2, Dialect::V3] {
        own.extend(consolidated::document_key(&Found::implicit(dialect, group.path.clone())));
        own.extend(document_keys(dialect, &group.path, &Documents::new()));
    }
    for prefix in group.own_prefixes() {
        let keys =
            Prefix::new(&prefix).and_then(|prefix| place.store.list_prefix(&prefix)).map_err(zarr::Error::from)?;
        if let Some(other) = keys.iter().find(|key| !own.contains(key.as_str())) {
            return Ok(Some(other.to_string()));
        }
    }
    Ok(None)
}
