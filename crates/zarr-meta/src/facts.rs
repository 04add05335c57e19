//! JSON description of a node, for programs. It uses only metadata, so it works for nodes with unknown data types or codecs too.

use crate::text::ChunkShapes;
use crate::{Node, StoredNode};
use zarr_json::{Map, Value};

/// Returns the facts about a node that `zarr info`, `ls` and `tree` print as JSON: `path`, `kind`, `dialect`, `implicit`, `attributes`, and
/// for an array `shape`, `data_type`, `fill_value`, `chunk_shape`, `shard_shape`, `codecs` (their names), `dimension_names`. Missing values
/// are `null`.
///
/// ```
/// use zarr_meta::{Dialect, NodePath, StoredNode, facts};
/// let facts = facts(&StoredNode::implicit(Dialect::V3, NodePath::root()));
/// assert_eq!(facts.get("kind").and_then(|kind| kind.as_str()), Some("group"));
/// ```
#[must_use]
pub fn facts(found: &StoredNode) -> Map {
    let mut facts = Map::new();
    facts.insert("path", found.path.to_string());
    facts.insert("kind", kind(found));
    facts.insert("dialect", found.dialect.name());
    facts.insert("implicit", found.implicit);
    if let Node::Array(array) = &found.node {
        let shapes = ChunkShapes::new(array);
        let name = |name: &Option<String>| name.as_deref().map_or(Value::Null, Value::from);
        let names = array.dimension_names.as_ref();
        facts.insert("shape", array.shape.clone());
        facts.insert("data_type", array.data_type.short_value());
        facts.insert("fill_value", array.fill_value.clone().unwrap_or_default());
        facts.insert("chunk_shape", shapes.chunk);
        facts.insert("shard_shape", shapes.shard.map_or(Value::Null, Into::into));
        facts.insert("codecs", array.codecs.iter().map(|codec| codec.name.clone()).collect::<Vec<_>>());
        facts.insert(
            "dimension_names",
            names.map_or(Value::Null, |names| names.iter().map(name).collect::<Vec<_>>().into()),
        );
    }
    facts.insert("attributes", found.node.attributes().clone());
    facts
}

/// Returns the kind of the node, `array` or `group`.
#[must_use]
pub fn kind(found: &StoredNode) -> &'static str {
    if found.node.as_array().is_some() { "array" } else { "group" }
}
