//! Writing consolidated metadata.

use super::Consolidated;
use super::copied::without_nested;
use crate::dialect::table::rules;
use crate::error::{Error, ErrorKind, MAX_CONSOLIDATED_SIZE, Position, Result};
use crate::{Dialect, Node, NodePath, StoredNode, documents};
use zarr_json::{Map, ParseOptions, Value, parse};

impl Consolidated {
    /// Collects consolidated metadata for the group at `group` from `nodes` in the given order. Nodes outside of the group are skipped.
    ///
    /// Documents of nodes that were read from `dialect` are copied as stored. Consolidated metadata of version 3 does not include the
    /// group's own document; consolidated metadata of other dialects does.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NotExpressible`] if `dialect` cannot express a node, and with [`ErrorKind::UnsupportedVersion`] if the
    /// dialect has no consolidated metadata.
    pub fn collect<'f>(
        dialect: Dialect,
        group: &NodePath,
        nodes: impl IntoIterator<Item = &'f StoredNode>,
    ) -> Result<Self> {
        let rules = rules(dialect);
        // A document of its own, of which the group is part.
        let is_apart = rules.consolidation().key(group).is_some();
        if !dialect.may_consolidate(group) {
            let found = format!("consolidated metadata of {group} in dialect {dialect}");
            let expected = "dialect v2 or v3, or the root in dialect p2020";
            return Err(Error::new(ErrorKind::UnsupportedVersion, "", found, expected));
        }
        let prefix = group.key_prefix();
        let mut collected = Vec::new();
        let below = |found: &&StoredNode| found.path.is_within(group) && (is_apart || found.path != *group);
        for found in nodes.into_iter().filter(|found| !found.implicit).filter(below) {
            let mut node = found.node.clone();
            if let Node::Group(group) = &mut node {
                group.consolidated = None;
            }
            let previous = rules.dialects().contains(&found.dialect).then_some(&found.documents);
            let mut current = previous.cloned().unwrap_or_default();
            current.apply(&documents(dialect, &found.path, &node, previous)?);
            for (key, bytes) in current.iter() {
                let value = parse(bytes, ParseOptions::ALL).map_err(|error| {
                    let (line, column, offset) = (error.line, error.column, error.offset);
                    Error::new(ErrorKind::InvalidJson, "", error.what, "")
                        .at_position(Position { line, column, offset })
                        .in_document(key)
                })?;
                let key = key.strip_prefix(prefix.as_str()).unwrap_or(key);
                let document = if is_apart { value.value } else { without_nested(&value.value) };
                collected.push((key.to_owned(), document));
            }
        }
        Ok(Self { documents: collected.into_iter().collect(), refused: Vec::new() })
    }

    /// Returns the content of a `.zmetadata` of version 2 or of the protocol drafts.
    pub fn to_v2(&self) -> Vec<u8> {
        let mut map = Map::new();
        map.insert("zarr_consolidated_format", 1);
        map.insert("metadata", self.documents.to_map(str::to_owned));
        text_within(MAX_CONSOLIDATED_SIZE, &map)
    }

    /// Returns the value of the member `consolidated_metadata` of version 3.
    pub(crate) fn to_inline(&self) -> Value {
        let path = |key: &str| key.strip_suffix("/zarr.json").unwrap_or(key).to_owned();
        let metadata = self.documents.to_map(path);
        let mut map = Map::new();
        map.insert("kind", "inline");
        map.insert("must_understand", false);
        map.insert("metadata", metadata);
        Value::Object(map)
    }
}

/// Returns `map` as JSON with one member per line, or on a single line if the first form exceeds `most` bytes, the limit of readers.
fn text_within(most: usize, map: &Map) -> Vec<u8> {
    let lines = format!("{map:#}\n");
    if lines.len() <= most { lines.into_bytes() } else { format!("{map}\n").into_bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    #[test]
    fn a_text_that_is_too_long_has_one_line() {
        let map: Map = [("a".to_owned(), json!({"b": [1, 2]}))].into_iter().collect();
        let text = |most| String::from_utf8(text_within(most, &map)).unwrap();
        assert_eq!(text(60).lines().count(), 5);
        assert_eq!(text(20), "{\"a\":{\"b\":[1,2]}}\n");
    }
}
