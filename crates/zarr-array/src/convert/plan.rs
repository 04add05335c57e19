//! Which nodes are converted, and into what.

use super::place::Documents;
use super::{ConvertOptions, How, Planned, Shards, recode, target};
use crate::{Array, Error, ErrorKind, Registry, Result, Walk, open_node, walk};
use std::sync::Arc;
use zarr_dtype::DataTypes;
use zarr_meta::{ArrayMetadata, Dialect, Found, Node, NodePath, consolidated};
use zarr_store::{Key, Store, StoreExt};

/// What is to be converted.
pub(super) struct Plan {
    /// The nodes in the order of their paths, each or why it cannot be converted.
    pub(super) nodes: Vec<Result<Planned>>,
    /// The groups of the target that are to have consolidated metadata, as in the source.
    pub(super) consolidate: Vec<NodePath>,
    /// Nodes of the source that are not converted.
    pub(super) left_out: Vec<String>,
}

/// Plans from metadata alone.
pub(super) fn plan(source: &Arc<dyn Store>, registry: &Arc<Registry>, options: &ConvertOptions) -> Result<Plan> {
    let (found, left_out) = find(source, options)?;
    let is_v2 = found.iter().all(|found| found.dialect == Dialect::V2);
    let options = &ConvertOptions {
        dialect: options.dialect.or(Some(if is_v2 { Dialect::V2 } else { Dialect::V3 })),
        ..options.clone()
    };
    let arrays = || found.iter().filter_map(|found| found.node.as_array());
    check_ranks(arrays(), options)?;
    let named = arrays().any(|array| array.dimension_names.is_some());
    let (mut nodes, mut consolidate) = (Vec::new(), Vec::new());
    for found in found {
        let found = options.options.as_read(found);
        let place = (source.to_string(), found.path.to_string());
        let consolidated = is_consolidated(source, &found)?;
        let planned = planned(source, found, named, registry, options)
            .map_err(|error| error.at(|location| (location.store, location.path) = (Some(place.0), Some(place.1))));
        if let Ok(planned) = &planned
            && consolidated
            && has_consolidated(planned.dialect, &planned.path)
        {
            consolidate.push(planned.path.clone());
        }
        nodes.push(planned);
    }
    // A group above has copies of what those below it say.
    consolidate.reverse();
    Ok(Plan { nodes, consolidate, left_out })
}

/// The nodes to be converted: all, or one and those below it, and the groups above if it stays below them. And those that are
/// left out, since others hide them.
fn find(source: &Arc<dyn Store>, options: &ConvertOptions) -> Result<(Vec<Found>, Vec<String>)> {
    let path = options.node.clone().unwrap_or_else(NodePath::root);
    let Walk { nodes: below, broken, below_arrays, .. } = walk(&**source, &path.to_string(), None)?;
    if let Some(error) = broken.into_iter().next() {
        return Err(error.with_hint("nothing was written; a single node can be converted alone"));
    }
    let dialect = below.first().map(|found| found.dialect);
    let mut nodes = Vec::new();
    for above in path.ancestors().filter(|_| options.to.is_none()) {
        match open_node(&**source, &above.to_string(), dialect) {
            Ok(group) => nodes.push(group),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    nodes.sort_by(|a, b| a.path.cmp(&b.path));
    nodes.extend(below);
    let hidden = nodes.iter().flat_map(|node| {
        let warnings = node.warnings.iter().filter(|warning| warning.hides.is_some());
        warnings.map(|warning| format!("{}: {warning}", node.path))
    });
    let below = below_arrays.iter().map(|node| format!("{}: left out, since it lies below an array", node.path));
    let left_out = hidden.chain(below).collect();
    Ok((nodes, left_out))
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

pub(super) fn is_consolidated(source: &Arc<dyn Store>, found: &Found) -> Result<bool> {
    let Node::Group(group) = &found.node else { return Ok(false) };
    match consolidated::document_key(found) {
        Some(key) => Ok(source.exists(&Key::new(&key)?)?),
        None => Ok(group.consolidated.is_some()),
    }
}

/// Whether a group may have consolidated metadata in a dialect.
pub(super) fn has_consolidated(dialect: Dialect, path: &NodePath) -> bool {
    match dialect {
        Dialect::V2 | Dialect::V3 | Dialect::V3Of2023 => true,
        Dialect::P2020 => path.is_root(),
        _ => false,
    }
}

/// Where a node goes.
fn moved(path: &NodePath, options: &ConvertOptions) -> Result<NodePath> {
    let Some(to) = &options.to else { return Ok(path.clone()) };
    let from = options.node.as_ref().map_or(0, |node| node.names().count());
    path.names().skip(from).try_fold(to.clone(), |to, name| Ok(to.join(name)?))
}

/// How a node is converted.
pub(super) fn planned(
    source: &Arc<dyn Store>,
    found: Found,
    named: bool,
    registry: &Arc<Registry>,
    options: &ConvertOptions,
) -> Result<Planned> {
    // Attributes that cannot be read would be lost.
    found.attributes().map_err(|error| Error::from(error.clone()))?;
    options.options.check(&found)?;
    let dialect = options.dialect.unwrap_or(match found.dialect {
        Dialect::V2 => Dialect::V2,
        _ => Dialect::V3,
    });
    let path = moved(&found.path, options)?;
    dialect.check_path(&path)?;
    let (target, notes, warning) = target::target(&found, dialect, named, options, registry).map_err(|error| {
        let error = with_way_out(error);
        // Where the codecs are the stored ones, they are named by the document that is there.
        match options.codecs.is_some() || options.chunks.is_some() || options.shards.is_some() {
            true => error,
            false => error.map_pointer(|pointer| found.document_pointer(pointer)),
        }
    })?;
    let (how, size) = match (&found.node, &target) {
        (Node::Array(from), Node::Array(to)) => {
            let opened = Array::from_found(source, found.clone(), registry, options.options.clone());
            let copied = target::encodes_alike(from, to) && missing_stay(&found, &path, &target, dialect)?;
            match opened {
                Ok(array) if copied => (How::Copy, size(&array)),
                Ok(array) => {
                    let size = size(&array);
                    let how = How::Recode;
                    let planned = Planned { source: found, path, target, dialect, how, notes, warning, size };
                    return recoded(array, planned, options);
                }
                // What is not known need not be, where chunks stay as they are.
                Err(error) if copied && error.kind() == ErrorKind::UnknownExtension => (How::Copy, 0),
                // What cannot be encoded here had no chunk left out for being nothing but the fill value.
                Err(error)
                    if error.kind() == ErrorKind::UnknownExtension
                        && to.fill_value.is_none()
                        && target::same_form(from, to) =>
                {
                    (How::Copy, 0)
                }
                Err(error) => return Err(error),
            }
        }
        _ => (How::Group, 0),
    };
    Ok(Planned { source: found, path, target, dialect, how, notes, warning, size })
}

/// Whether chunks of an array may be missing in what it becomes, where both have the same fill value.
pub(super) fn missing_stay(found: &Found, path: &NodePath, target: &Node, dialect: Dialect) -> Result<bool> {
    if found.dialect == dialect {
        return Ok(true);
    }
    let (source, target, path) = (found.clone(), target.clone(), path.clone());
    let planned = Planned { source, path, target, dialect, how: How::Copy, notes: Vec::new(), warning: None, size: 0 };
    Ok(target::missing_stay(found, Documents::new(&planned, &zarr_meta::Documents::new())?.found(), true))
}

/// An array that is decoded and encoded again, if it can be.
fn recoded(array: Array, planned: Planned, options: &ConvertOptions) -> Result<Planned> {
    // Opened on the source, which it does not touch: whether codecs are known, and memory suffices, is to be seen now.
    let found = Documents::new(&planned, &zarr_meta::Documents::new())?.found().clone();
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

/// Bytes of the elements of an array that need not be opened; 0 if its data type is not known.
pub(super) fn size_of(array: &ArrayMetadata, dialect: Dialect, types: &DataTypes) -> u128 {
    let item = crate::core::element(array, dialect, types).map_or(0, |element| element.item_size() as u64);
    zarr_grid::total_size(&array.shape, item)
}

fn size(array: &Array) -> u128 {
    zarr_grid::total_size(array.shape(), array.data_type().item_size() as u64)
}
