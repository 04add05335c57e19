//! Plans which nodes are converted, and to which nodes.

use super::destination::NodeDocuments;
use super::hierarchy::Hierarchy;
use super::strings::Strings;
use super::target::TargetNode;
use super::walked::walk_together;
use super::{
    Action, ConvertOptions, CopiedKey, PlannedNode, Shards, lengths, new_image, others, place, rechunk, reencode,
    region, strings, target, unknown_grid,
};
use std::sync::Arc;
use zarr_array::{Array, Registry};
use zarr_dtype::DataTypes;
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::{Error, ErrorKind, OtherKey, Result, Walk, open_node, other_keys};
use zarr_json::Value;
use zarr_meta::{ArrayMetadata, Dialect, Node, NodePath, StoredNode, consolidated, conventions};
use zarr_scan::Selected;
use zarr_store::{Key, Store, StoreExt};

/// Planned nodes, and nodes that are left out.
pub(super) struct ConversionPlan {
    /// Planned nodes in the order of their paths; an error for each node that cannot be converted.
    pub(super) nodes: Vec<Result<PlannedNode>>,
    /// Groups of the target that get consolidated metadata, as in the source.
    pub(super) consolidate: Vec<NodePath>,
    /// Nodes of the source that are not converted, each with the reason.
    pub(super) left_out: Vec<String>,
    /// Keys that belong to no node and are copied.
    pub(super) others: Vec<CopiedKey>,
    /// Errors of nodes that cannot be read, if the conversion keeps going.
    pub(super) unread: Vec<Error>,
}

/// Plans a conversion from metadata alone.
pub(super) fn plan(
    source: &Arc<dyn Store>,
    registry: &Arc<Registry>,
    options: &ConvertOptions,
) -> Result<ConversionPlan> {
    let SourceContents { nodes: mut found, left_out, others, unread } = find(source, options)?;
    let all = found.iter().map(|found| found.dialect.to_write()).max().unwrap_or(Dialect::NEWEST);
    let options = &ConvertOptions { dialect: options.dialect.or(Some(all)), ..options.clone() };
    let others = others::planned(others, options.dialect.unwrap_or(all), options)?;
    new_image::check(&found, options)?;
    let arrays = || found.iter().filter_map(|found| found.node.as_array());
    check_ranks(arrays(), options)?;
    lengths::check("chunks", &options.chunk_lengths, arrays())?;
    if let Some(Shards::ByName(lengths)) = &options.shards {
        lengths::check("shards", lengths, arrays())?;
    }
    let mut hierarchy = Hierarchy::of(&found);
    hierarchy.places = Arc::new(place::GroupPlaces::of(&found, options));
    region::check(&found, options, |path| hierarchy.images.has_level(path))?;
    region::resize_dimensions(&mut found, options);
    let (mut nodes, mut consolidate) = (Vec::new(), Vec::new());
    for found in found {
        let found = options.options.as_read(found);
        let (store, path) = (source.to_string(), found.path.to_string());
        let consolidated = is_consolidated(source, &found)?;
        let planned = strings::are_all_texts(source, &found, registry, options)
            .and_then(|are_texts| planned(source, found, &hierarchy, registry, options, are_texts))
            .map_err(|error| error.at(|location| (location.store, location.path) = (Some(store), Some(path))));
        if let Ok(planned) = &planned
            && consolidated
            && planned.dialect.may_consolidate(&planned.path)
        {
            consolidate.push(planned.path.clone());
        }
        nodes.push(planned);
    }
    // A group above has copies of the documents of the groups below it.
    consolidate.reverse();
    Ok(ConversionPlan { nodes, consolidate, left_out, others, unread })
}

/// Nodes and keys that were found in the source.
struct SourceContents {
    /// Nodes to convert.
    nodes: Vec<StoredNode>,
    /// Nodes that are left out, since others hide them.
    left_out: Vec<String>,
    /// Keys that belong to no node.
    others: Vec<OtherKey>,
    /// Errors of nodes that cannot be read, if the conversion keeps going.
    unread: Vec<Error>,
}

/// Finds the nodes to convert: the whole hierarchy, or the chosen node with the nodes below it, and with the groups above it unless it gets
/// another path. Keeps only chosen arrays, and no excluded nodes.
fn find(source: &Arc<dyn Store>, options: &ConvertOptions) -> Result<SourceContents> {
    let path = options.node.clone().unwrap_or_else(NodePath::root);
    let mut walk = walk_together(source, &path)?;
    let mut others = match options.other_keys && options.arrays.is_none() {
        true => other_keys(&**source, &walk)?,
        false => Vec::new(),
    };
    exclude(&mut walk, &options.exclude)?;
    others.retain(|other| !options.exclude.iter().any(|path| other.key.as_str().starts_with(&path.key_prefix())));
    let Walk { nodes: below, broken, mut below_arrays, .. } = walk;
    let is_chosen = |error: &Error| match (&options.arrays, &error.location().path) {
        (Some(chosen), Some(path)) => NodePath::parse(path).is_ok_and(|path| has_below(&path, chosen)),
        _ => true,
    };
    let mut unread: Vec<Error> = broken.into_iter().filter(is_chosen).collect();
    if !options.keep_going && !unread.is_empty() {
        let hint = "nothing was written; keep_going and exclude leave it out";
        return Err(unread.swap_remove(0).with_hint(hint));
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
    if let Some(chosen) = &options.arrays {
        nodes = choose(nodes, chosen)?;
        below_arrays.clear();
    }
    let hidden = nodes.iter().flat_map(|node| {
        let warnings = node.warnings.iter().filter(|warning| warning.hides.is_some());
        warnings.map(|warning| format!("{}: {warning}", node.path))
    });
    let below = below_arrays.iter().map(|node| format!("{}: left out, since it lies below an array", node.path));
    let left_out = hidden.chain(below).collect();
    Ok(SourceContents { nodes, left_out, others, unread })
}

/// Removes excluded nodes, with all nodes below them, from a walk and from the lists of children in group metadata.
fn exclude(walk: &mut Walk, excluded: &[NodePath]) -> Result<()> {
    let is_within = |path: &NodePath| excluded.iter().any(|above| path.is_within(above));
    let path_of = |error: &Error| error.location().path.as_deref().and_then(|path| NodePath::parse(path).ok());
    for path in excluded {
        let is_there = walk.nodes.iter().chain(&walk.below_arrays).any(|node| node.path == *path);
        if !is_there && !walk.broken.iter().any(|error| path_of(error).as_ref() == Some(path)) {
            let error = Error::new(ErrorKind::NotFound, "found no node that could be left out").at_path(path);
            let paths: Vec<String> = walk.nodes.iter().map(|node| node.path.to_string()).collect();
            let near = zarr_json::nearest_name(&path.to_string(), paths.iter().map(String::as_str));
            return Err(match near {
                Some(near) => error.with_hint(format!("is {near:?} meant?")),
                None => error,
            });
        }
    }
    walk.broken.retain(|error| path_of(error).is_none_or(|path| !is_within(&path)));
    walk.below_arrays.retain(|node| !is_within(&node.path));
    let (left, mut kept): (Vec<_>, Vec<_>) =
        std::mem::take(&mut walk.nodes).into_iter().partition(|node| is_within(&node.path));
    unlist(&mut kept, &left);
    walk.nodes = kept;
    match walk.nodes.is_empty() && !excluded.is_empty() {
        true => Err(Error::argument("nothing is left of the source: all of it is excluded")),
        false => Ok(()),
    }
}

/// Returns whether `path` is, or lies above, one of the paths in `chosen`.
fn has_below(path: &NodePath, chosen: &[NodePath]) -> bool {
    chosen.iter().any(|array| array.is_within(path))
}

/// Keeps the chosen arrays and the groups above them. Removes other arrays from the lists of children in group metadata.
fn choose(nodes: Vec<StoredNode>, chosen: &[NodePath]) -> Result<Vec<StoredNode>> {
    let is_there = |path: &&NodePath| nodes.iter().any(|found| found.path == **path && found.node.as_array().is_some());
    if let Some(path) = chosen.iter().find(|path| !is_there(path)) {
        return Err(Error::new(ErrorKind::NotFound, "found no array").at_path(path));
    }
    let (mut kept, left): (Vec<_>, Vec<_>) = nodes.into_iter().partition(|found| match &found.node {
        Node::Array(_) => chosen.contains(&found.path),
        Node::Group(_) => has_below(&found.path, chosen),
    });
    unlist(&mut kept, &left);
    Ok(kept)
}

/// Removes the nodes `left` from the lists of children in the metadata of the groups `kept`.
fn unlist(kept: &mut [StoredNode], left: &[StoredNode]) {
    for found in left {
        let (Some(parent), Some(name)) = (found.path.parent(), found.path.name()) else { continue };
        let is_array = found.node.as_array().is_some();
        if let Some(Node::Group(group)) = kept.iter_mut().find(|it| it.path == parent).map(|it| &mut it.node) {
            conventions::list_child(group, name, is_array, false);
        }
    }
}

/// Checks that some array has as many dimensions as the chunk shape and the shard shape in the options.
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
    if options.chunks.is_some() && !options.chunk_lengths.is_empty() {
        return Err(Error::argument("chunks of a shape, and by the names of dimensions: expected one of both"));
    }
    match (options.chunks.as_deref(), shards) {
        (Some(chunks), Some(shards)) if chunks.len() != shards.len() => {
            Err(Error::argument(format!("chunks {chunks:?} and shards {shards:?} of different numbers of dimensions")))
        }
        _ => Ok(()),
    }
}

pub(super) fn is_consolidated(source: &Arc<dyn Store>, found: &StoredNode) -> Result<bool> {
    let Node::Group(group) = &found.node else { return Ok(false) };
    match consolidated::document_key(found) {
        Some(key) => Ok(source.exists(&Key::new(&key)?)?),
        None => Ok(group.consolidated.is_some()),
    }
}

/// Returns `hierarchy` with the information whether all chunks of the node `found` are stored. The chunks are listed only if it matters: if
/// NaN, as a fill value that does not mark missing values, could become null.
pub(super) fn looked_up(
    hierarchy: &Hierarchy,
    store: &dyn Store,
    found: &StoredNode,
    dialect: Dialect,
) -> Result<Hierarchy> {
    let becomes_mark = dialect.fill_value_marks_missing() && !found.dialect.fill_value_marks_missing();
    let is_nan = |array: &ArrayMetadata| {
        let fill = array.fill_value.as_ref().and_then(Value::as_str);
        fill == Some("NaN") && !array.attributes.contains_key(conventions::FILL_VALUE) && !rechunk::is_sharded(array)
    };
    let is_asked = becomes_mark && found.node.as_array().is_some_and(is_nan);
    Ok(hierarchy.storing_all(is_asked && are_all_stored(store, found)?))
}

/// Returns whether all chunks are stored. False if the store cannot list.
pub(super) fn are_all_stored(store: &dyn Store, found: &StoredNode) -> Result<bool> {
    if !store.capabilities().list {
        return Ok(false);
    }
    let keys = ChunkKeys::new(found)?;
    let all = zarr_grid::total_size(&keys.grid().grid_shape(), 1);
    Ok(keys.stored(store)?.len() as u128 == all)
}

/// Plans the conversion of one node. `are_texts` says that the node is an array of objects whose elements become strings.
pub(super) fn planned(
    source: &Arc<dyn Store>,
    found: StoredNode,
    hierarchy: &Hierarchy,
    registry: &Arc<Registry>,
    options: &ConvertOptions,
    are_texts: bool,
) -> Result<PlannedNode> {
    // Attributes that cannot be read would be lost.
    found.attributes().map_err(|error| Error::from(error.clone()))?;
    options.options.check(&found)?;
    let dialect = options.dialect.unwrap_or(found.dialect.to_write());
    let path = options.moved(&found.path)?;
    dialect.check_path(&path)?;
    let hierarchy = &looked_up(hierarchy, &**source, &found, dialect)?;
    let stored = found;
    let (found, members) = target::with_known_members(stored.clone(), registry, &options.options.limits);
    let strings = if are_texts { strings::forms(&found, registry) } else { None };
    let becomes = strings.as_ref().map(|strings| strings.note.clone());
    // What is read, and what it is written as.
    let (found, written) = match strings {
        Some(Strings { source, target, .. }) => (source, target),
        None => (found.clone(), found),
    };
    let region = region::of(&found, options)?;
    let made = target::target(&written, dialect, hierarchy, options, registry).map_err(|error| {
        let error = with_way_out(error, dialect, options);
        // Where the codecs are the stored ones, they are named by the document that is there.
        let is_recoded =
            options.codecs.is_some() || options.shards.is_some() || options.array_codecs.contains_key(&found.path);
        match is_recoded || options.chunks.is_some() || !options.chunk_lengths.is_empty() {
            true => error,
            false => error.map_pointer(|pointer| found.document_pointer(pointer)),
        }
    })?;
    let TargetNode { node: target, notes, warning, unread, ome } = made;
    let notes = members.into_iter().chain(becomes.clone()).chain(notes).collect();
    let (how, size) = match (&found.node, &target) {
        (Node::Array(from), Node::Array(to)) => {
            // With the members that are left out, which a strict reader refuses.
            let opened = if becomes.is_some() { found.clone() } else { stored };
            let opened = Array::from_found(source, opened, registry, options.options.clone());
            // The chunks of a region are those of an array of its own, where it has whole ones.
            let aligned = region::aligned(from, region.as_ref());
            let copied = aligned.as_ref().is_some_and(|from| target::encodes_alike(from, to))
                && missing_stay(&found, &path, &target, dialect)?;
            let is_same_form = || aligned.as_ref().is_some_and(|from| target::same_form(from, to));
            let size = |array: &Array| zarr_grid::total_size(&to.shape, array.data_type().item_size() as u64);
            match opened {
                Ok(array) if copied => (Action::CopyChunks, size(&array)),
                Ok(array) => {
                    let size = size(&array);
                    let how = match is_same_form() && !rechunk::is_sharded(to) {
                        // Chunks that are not stored would read as another value: they alone are encoded.
                        true => Action::CopyChunks,
                        false => Action::Reencode,
                    };
                    let planned = PlannedNode {
                        source: found,
                        path,
                        target,
                        dialect,
                        how,
                        region,
                        notes,
                        warning,
                        unread,
                        ome,
                        size,
                    };
                    return reencoded(array, planned, options);
                }
                Err(error) if unknown_grid::is_of(&found) => {
                    unknown_grid::check(&found, to, dialect, region.is_some() || !copied, error)?;
                    (Action::CopyChunks, 0)
                }
                // Chunks that stay as they are need no codecs.
                Err(error) if copied && error.kind() == ErrorKind::UnknownExtension => (Action::CopyChunks, 0),
                // An array that cannot be encoded here had no chunk left out for being nothing but the fill value.
                Err(error)
                    if error.kind() == ErrorKind::UnknownExtension && to.fill_value.is_none() && is_same_form() =>
                {
                    (Action::CopyChunks, 0)
                }
                Err(error) => return Err(error),
            }
        }
        _ => (Action::Group, 0),
    };
    Ok(PlannedNode { source: found, path, target, dialect, how, region, notes, warning, unread, ome, size })
}

/// Returns whether chunks that are missing in the source may be missing in the converted array, given that both arrays have the same fill
/// value.
pub(super) fn missing_stay(found: &StoredNode, path: &NodePath, target: &Node, dialect: Dialect) -> Result<bool> {
    if found.dialect == dialect {
        return Ok(true);
    }
    let (source, target, path) = (found.clone(), target.clone(), path.clone());
    let planned = PlannedNode {
        source,
        path,
        target,
        dialect,
        how: Action::CopyChunks,
        region: None,
        notes: Vec::new(),
        warning: None,
        unread: Vec::new(),
        ome: None,
        size: 0,
    };
    Ok(target::missing_stay(found, NodeDocuments::new(&planned, &zarr_meta::Documents::new())?.found(), true))
}

/// Checks that an array can be decoded and encoded again, and returns `planned`.
fn reencoded(array: Array, planned: PlannedNode, options: &ConvertOptions) -> Result<PlannedNode> {
    // Opened on the source, which it does not touch: whether codecs are known, and memory suffices, is to be seen now.
    let found = NodeDocuments::new(&planned, &zarr_meta::Documents::new())?.found().clone();
    let sink = Array::from_found(array.store(), found, array.registry(), options.options.clone())?;
    let source = Selected::new(array, planned.region.clone())?;
    reencode::check(&source, &sink, options)?;
    Ok(planned)
}

/// Adds a hint about an array that a dialect cannot express.
fn with_way_out(error: Error, dialect: Dialect, options: &ConvertOptions) -> Error {
    let pointer = error.location().pointer.clone().unwrap_or_default();
    let wants_shards = !matches!(options.shards, None | Some(Shards::None)) && !dialect.has_shards();
    match error.kind() {
        ErrorKind::NotExpressible if pointer.starts_with("/codecs") && wants_shards => {
            error.with_hint(format!("{dialect} has no shards; choose dialect v3"))
        }
        ErrorKind::NotExpressible if pointer.starts_with("/codecs") => error.with_hint("choose other codecs for it"),
        ErrorKind::NotExpressible if pointer.starts_with("/chunk_grid") => {
            error.with_hint("choose chunks of one shape")
        }
        _ => error,
    }
}

/// Returns the decoded size of an array in bytes from its metadata; 0 if its data type is unknown.
pub(super) fn size_of(array: &ArrayMetadata, dialect: Dialect, types: &DataTypes) -> u128 {
    let item = zarr_array::element_spec(array, dialect, types).map_or(0, |element| element.item_size() as u64);
    zarr_grid::total_size(&array.shape, item)
}
