//! Which nodes are converted, and into what.

use super::place::Documents;
use super::{ConvertOptions, How, Planned, Shards, recode, target};
use crate::{Array, Error, ErrorKind, Registry, Result, Walk, open_node, walk};
use std::sync::Arc;
use zarr_meta::{ArrayMetadata, Dialect, Found, Node, NodePath, consolidated};
use zarr_store::{Key, Store, StoreExt};

/// The nodes in the order of their paths, and the group that has consolidated metadata.
pub(super) fn plan(
    source: &Arc<dyn Store>,
    registry: &Arc<Registry>,
    options: &ConvertOptions,
) -> Result<(Vec<Planned>, Option<NodePath>)> {
    let found = find(source, options.array.as_ref())?;
    let arrays = || found.iter().filter_map(|found| found.node.as_array());
    check_ranks(arrays(), options)?;
    let named = arrays().any(|array| array.dimension_names.is_some());
    let consolidate = match found.first() {
        Some(root) if root.path.is_root() && is_consolidated(source, root)? => Some(root.path.clone()),
        _ => None,
    };
    let node = |found: Found| {
        let place = (source.to_string(), found.path.to_string());
        planned(source, found, named, registry, options)
            .map_err(|error| error.at(|location| (location.store, location.path) = (Some(place.0), Some(place.1))))
    };
    Ok((found.into_iter().map(node).collect::<Result<_>>()?, consolidate))
}

/// The nodes to be converted: all, or an array and the groups above it.
fn find(source: &Arc<dyn Store>, array: Option<&NodePath>) -> Result<Vec<Found>> {
    let Some(path) = array else {
        let Walk { nodes, broken } = walk(&**source, "/", None)?;
        return match broken.into_iter().next() {
            None => Ok(nodes),
            Some(error) => Err(error.with_hint("nothing was written; a single array can be converted alone")),
        };
    };
    let found = open_node(&**source, &path.to_string(), None)?;
    if found.node.as_array().is_none() {
        let error = Error::new(ErrorKind::NotFound, "found a group, expected an array");
        return Err(error.at(|place| {
            (place.store, place.path) = (Some(source.to_string()), Some(path.to_string()));
        }));
    }
    let mut nodes = Vec::new();
    for above in path.ancestors() {
        match open_node(&**source, &above.to_string(), Some(found.dialect)) {
            Ok(group) => nodes.push(group),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    nodes.push(found);
    Ok(nodes)
}

/// Chunks and shards are for arrays of as many dimensions; if there are none, something else was meant.
fn check_ranks<'a>(arrays: impl Iterator<Item = &'a ArrayMetadata>, options: &ConvertOptions) -> Result<()> {
    let ranks: Vec<usize> = arrays.map(|array| array.shape.len()).collect();
    let shards = match &options.shards {
        Some(Shards::Of(shape)) => Some(shape),
        _ => None,
    };
    for (what, shape) in [("chunks", options.chunks.as_ref()), ("shards", shards)] {
        if let Some(shape) = shape.filter(|shape| !ranks.contains(&shape.len())) {
            let message = format!("{what} {shape:?}, but no array has {} dimensions", shape.len());
            return Err(Error::argument(message));
        }
    }
    match (options.chunks.as_deref(), shards) {
        (Some(chunks), Some(shards)) if chunks.len() != shards.len() => {
            Err(Error::argument(format!("chunks {chunks:?} and shards {shards:?} of different numbers of dimensions")))
        }
        _ => Ok(()),
    }
}

fn is_consolidated(source: &Arc<dyn Store>, root: &Found) -> Result<bool> {
    let Node::Group(group) = &root.node else { return Ok(false) };
    if root.dialect != Dialect::V2 {
        return Ok(group.consolidated.is_some());
    }
    Ok(source.exists(&Key::new(consolidated::V2_KEY)?)?)
}

fn planned(
    source: &Arc<dyn Store>,
    found: Found,
    named: bool,
    registry: &Arc<Registry>,
    options: &ConvertOptions,
) -> Result<Planned> {
    // Attributes that cannot be read would be lost.
    found.attributes().map_err(|error| Error::from(error.clone()))?;
    let dialect = options.dialect.unwrap_or(match found.dialect {
        Dialect::V2 => Dialect::V2,
        _ => Dialect::V3,
    });
    dialect.check_path(&found.path)?;
    let (target, notes, warning) = target::target(&found, dialect, named, options, registry).map_err(with_way_out)?;
    let (how, size) = match (&found.node, &target) {
        (Node::Array(from), Node::Array(to)) => {
            let opened = Array::from_found(source, found.clone(), registry, options.options.clone());
            let copied = target::same_chunks(from, to);
            match opened {
                Ok(array) if copied => (How::Copy, size(&array)),
                Ok(array) => {
                    let size = size(&array);
                    let planned = Planned { source: found, target, dialect, how: How::Recode, notes, warning, size };
                    return recoded(array, planned, options);
                }
                // What is not known need not be, where chunks stay as they are.
                Err(error) if copied && error.kind() == ErrorKind::UnknownExtension => (How::Copy, 0),
                Err(error) => return Err(error),
            }
        }
        _ => (How::Group, 0),
    };
    Ok(Planned { source: found, target, dialect, how, notes, warning, size })
}

/// An array that is decoded and encoded again, if it can be.
fn recoded(array: Array, planned: Planned, options: &ConvertOptions) -> Result<Planned> {
    // Opened on the source, which it does not touch: whether codecs are known, and memory suffices, is to be seen now.
    let found = Documents::new(&planned)?.found().clone();
    let sink = Array::from_found(array.store(), found, array.registry(), options.options.clone())?;
    recode::check(&array, &sink, options)?;
    Ok(planned)
}

/// Says what can be done about an array that a dialect cannot express.
fn with_way_out(error: Error) -> Error {
    let pointer = error.location().pointer.clone().unwrap_or_default();
    match error.kind() {
        ErrorKind::NotExpressible if pointer.starts_with("/codecs") => error.with_hint("choose other codecs for it"),
        ErrorKind::NotExpressible if pointer.starts_with("/chunk_grid") => {
            error.with_hint("choose chunks of one shape")
        }
        _ => error,
    }
}

fn size(array: &Array) -> u64 {
    let count = zarr_grid::element_count(array.shape()).unwrap_or(u64::MAX);
    count.saturating_mul(array.data_type().item_size() as u64)
}
