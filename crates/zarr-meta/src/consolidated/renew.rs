//! Update of consolidated metadata after a node has changed.

use super::Consolidated;
use crate::error::Result;
use crate::{Dialect, NodePath, StoredNode, document_keys, entry_point_key};

impl Consolidated {
    /// Replaces the documents of `node` in this consolidated metadata, which belongs to the group at `group`, the node itself or an
    /// ancestor. Does nothing if the consolidated metadata has no documents of the node. Returns whether the documents changed.
    ///
    /// # Errors
    /// Fails in the same cases as [`collect`](Self::collect).
    pub fn renew(&mut self, dialect: Dialect, group: &NodePath, node: &StoredNode) -> Result<bool> {
        let new = Self::collect(dialect, group, [node])?.documents;
        if new.is_empty() {
            return Ok(false);
        }
        let prefix = group.key_prefix();
        let keys: Vec<String> = document_keys(dialect, &node.path, &node.documents)
            .into_iter()
            .filter(|key| Some(key.as_str()) != entry_point_key(dialect))
            .map(|key| key.strip_prefix(prefix.as_str()).unwrap_or(&key).to_owned())
            .collect();
        // Others made the node, and no copy. One without those of the groups between would be a hierarchy that cannot be read.
        if !self.documents.keys().any(|known| keys.iter().any(|key| key == known)) {
            return Ok(false);
        }
        let mut is_changed = false;
        for key in keys.iter().filter(|key| new.keys().all(|other| other != key.as_str())) {
            is_changed |= self.documents.remove(key);
        }
        for (key, document) in new.iter() {
            if self.documents.get(key).as_ref() != Some(&document) {
                is_changed = true;
                self.documents.put(key, document);
            }
        }
        Ok(is_changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Documents;

    fn found(documents: &[(&str, &str)]) -> StoredNode {
        let documents: Documents =
            documents.iter().map(|(key, text)| ((*key).to_owned(), text.as_bytes().to_vec())).collect();
        StoredNode::read(Dialect::V2, NodePath::parse("/g/a").expect("a path"), &documents)
            .expect("sound")
            .expect("there")
    }

    #[test]
    fn documents_of_one_node_are_exchanged() {
        let array = |len: u64| {
            format!(
                r#"{{"zarr_format": 2, "shape": [{len}], "chunks": [2], "dtype": "|i1", "compressor": null, "fill_value": 0,
                "order": "C", "filters": null}}"#
            )
        };
        let (old, new) = (array(2), array(3));
        let old = found(&[("g/a/.zarray", &old), ("g/a/.zattrs", r#"{"a": 1}"#)]);
        let new = found(&[("g/a/.zarray", &new)]);
        let group = NodePath::parse("/g").expect("a path");
        let collect = |node: &StoredNode| Consolidated::collect(Dialect::V2, &group, [node]).expect("collected");
        let mut copy = collect(&old);
        copy.documents.put("b/.zgroup", zarr_json::Value::from_json(r#"{"zarr_format": 2}"#).expect("JSON"));
        assert!(!copy.renew(Dialect::V2, &group, &old).expect("the same"));
        assert!(copy.renew(Dialect::V2, &group, &new).expect("another"));
        assert_eq!(copy.documents.keys().collect::<Vec<_>>(), ["a/.zarray", "b/.zgroup"]);
        assert_eq!(copy.documents.get("a/.zarray"), collect(&new).documents.get("a/.zarray"));
        let mut without = Consolidated::default();
        assert!(!without.renew(Dialect::V2, &group, &new).expect("none") && without.documents.is_empty());
    }
}
