//! The description of a node as JSON. It needs only metadata, so that nodes of unknown data types or
//! codecs have one, too.

use crate::object::{object, or_null};
use zarr::meta::json::Map;
use zarr::meta::text::ChunkShapes;
use zarr::meta::{Node, StoredNode};

/// The facts about a node that `info`, `ls` and `tree` print as JSON.
pub(crate) fn facts(found: &StoredNode) -> Map {
    let mut facts = object! {
        "path": found.path.to_string(),
        "kind": kind(found),
        "dialect": found.dialect.name(),
        "implicit": found.implicit,
    };
    if let Node::Array(array) = &found.node {
        let shapes = ChunkShapes::new(array);
        let names = array.dimension_names.as_ref();
        facts = object! {
            ..facts,
            "shape": array.shape.clone(),
            "data_type": array.data_type.short_value(),
            "fill_value": or_null(array.fill_value.clone()),
            "chunk_shape": shapes.chunk,
            "shard_shape": or_null(shapes.shard),
            "codecs": array.codecs.iter().map(|codec| codec.name.clone()).collect::<Vec<_>>(),
            "dimension_names": or_null(names.map(|names| names.iter().map(|name| or_null(name.as_deref())).collect::<Vec<_>>())),
        };
    }
    object! { ..facts, "attributes": found.node.attributes().clone() }
}

pub(crate) fn kind(found: &StoredNode) -> &'static str {
    if found.node.as_array().is_some() { "array" } else { "group" }
}
