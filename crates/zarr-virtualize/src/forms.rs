//! Conversion of nodes between dialects without changes to their chunks.

use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_json::{NamedConfig, Value};
use zarr_meta::conventions::missing_data_difference;
use zarr_meta::{ArrayMetadata, Dialect, Documents, ForDialect, Node, StoredNode, chunk_keys, without_filter_orders};
use zarr_store::Store;

/// Returns all nodes of `store`; fails if one of them is broken.
pub(crate) fn walk_whole(store: &dyn Store) -> Result<Vec<StoredNode>> {
    let walk = zarr_hierarchy::walk(store, "/", None)?;
    match walk.broken.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(walk.nodes),
    }
}

/// Converts the node `found` to Zarr v3 with the same chunks. `has_missing` says whether some of its chunks are not stored.
pub(crate) fn in_v3(found: &StoredNode, has_missing: bool) -> Result<Node> {
    let located = |error: Error| error.at_path(&found.path);
    if let Some(error) = &found.unknown {
        return Err(located(error.clone().into()));
    }
    found.attributes().map_err(|error| located(error.clone().into()))?;
    convert(&found.node, found.dialect, Dialect::V3, has_missing).map_err(located)
}

/// Converts `node` from the dialect `from` to `dialect`, such that xarray reads the same data from the same chunks. `has_missing` says
/// whether some of the chunks are not stored. Fails if the chunks would have to change.
pub(crate) fn convert(node: &Node, from: Dialect, dialect: Dialect, has_missing: bool) -> Result<Node> {
    let mut node = node.clone();
    if let Node::Group(group) = &mut node {
        group.consolidated = None;
    }
    if from == dialect {
        return Ok(node);
    }
    let is_named = node.as_array().is_none_or(|array| array.dimension_names.is_some() || array.shape.is_empty());
    if let Node::Array(array) = &mut node {
        array.chunk_key_encoding = chunk_keys(dialect, array.shape.len(), None, &Documents::new());
    }
    // A fill value that does not mark missing data is kept anyway.
    let keeps_fill = has_missing && dialect.fill_value_marks_missing();
    let fit = ForDialect::new(from, dialect).meaning(is_named).keep_fill_value(keeps_fill).all_stored(!has_missing);
    let (converted, _) = fit.convert(&node)?;
    if let (Node::Array(before), Node::Array(after)) = (&node, &converted)
        && let Some((what, found, expected)) = different_form(before, after)
    {
        let message =
            format!("{what} {found} of the chunks becomes {expected} in {dialect}: chunks cannot stay as they are");
        return Err(Error::new(ErrorKind::NotExpressible, message));
    }
    if let (Node::Array(before), Node::Array(after), true) = (&node, &converted, keeps_fill)
        && let Some(what) = missing_data_difference((before, from), (after, dialect))
    {
        let message = format!("{what}, and chunks that are not stored need this fill value");
        return Err(Error::new(ErrorKind::NotExpressible, message));
    }
    Ok(converted)
}

/// Returns the first difference in the encoding of chunks of `a` and `b`: its name, data type or chain of codecs, and both values. `None`
/// if chunks are encoded alike.
pub(crate) fn different_form(a: &ArrayMetadata, b: &ArrayMetadata) -> Option<(&'static str, String, String)> {
    let codecs = |array: &ArrayMetadata| Value::Array(array.codecs.iter().map(explicit).collect());
    let members =
        |array: &ArrayMetadata| [("data type", array.data_type.to_value()), ("chain of codecs", codecs(array))];
    let different = members(a).into_iter().zip(members(b)).find(|((_, a), (_, b))| !a.semantically_eq(b));
    different.map(|((what, a), (_, b))| (what, a.excerpt(), b.excerpt()))
}

/// Returns the metadata of `codec` in a form for comparison: the codec `bytes` always has its byte order.
fn explicit(codec: &NamedConfig) -> Value {
    let mut codec = without_filter_orders(codec);
    if codec.name == "bytes" && !codec.configuration.contains_key("endian") {
        codec.configuration.insert("endian", "little");
    }
    codec.to_value()
}
