//! Tests that nodes of dialects that this build lacks are not mistaken for broken nodes.
//!
//! Builds of the workspace have all dialects: these tests do something where the crate is tested alone.

use super::*;
use crate::{open_node, walk};
use zarr_drive::run;
use zarr_meta::GroupMetadata;
use zarr_store::{MemoryStore, Store, StoreExt};

const V1: (&str, &str) = ("meta", r#"{"zarr_format": 1}"#);
const PROTOCOL_2020: (&str, &str) = ("zarr.json", r#"{"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0"}"#);

fn store(values: &[(&str, &str)]) -> MemoryStore {
    let store = MemoryStore::new();
    for (key, value) in values {
        store.set_all(&Key::new(key).unwrap(), value.as_bytes()).unwrap();
    }
    store
}

fn values(store: &MemoryStore) -> Vec<(Key, Vec<u8>)> {
    let value = |key: Key| {
        let value = store.get_all(&key).unwrap().unwrap().to_vec();
        (key, value)
    };
    store.list().unwrap().into_iter().map(value).collect()
}

#[test]
fn a_store_of_an_absent_dialect_is_not_replaced() {
    for (dialect, document) in [(Dialect::V1, V1), (Dialect::V3Protocol2020, PROTOCOL_2020)] {
        if dialect.is_supported() {
            continue;
        }
        let store = store(&[document, ("0.0", "chunk")]);
        let before = values(&store);
        for overwrite in [false, true] {
            let group = Node::Group(GroupMetadata::default());
            let new = create(NodePath::root(), Dialect::V3, &group, overwrite, store.capabilities()).unwrap();
            let error = run(&store, new.job()).unwrap_err();
            assert!(error.is_absent_dialect() && error.to_string().contains("enable feature `drafts`"), "{error}");
        }
        assert_eq!(values(&store), before);
    }
}

#[test]
fn a_store_of_an_absent_dialect_breaks_no_walk_below() {
    for (dialect, document) in [(Dialect::V1, V1), (Dialect::V3Protocol2020, PROTOCOL_2020)] {
        if dialect.is_supported() {
            continue;
        }
        let store = store(&[document, ("g/.zgroup", r#"{"zarr_format": 2}"#)]);
        assert!(open_node(&store, "/", None).unwrap_err().is_absent_dialect());
        let walked = walk(&store, "/g", Some(Dialect::V2)).unwrap();
        assert!(walked.broken.is_empty() && walked.nodes.len() == 1, "{:?}", walked.broken);
        if dialect == Dialect::V1 {
            let walked = walk(&store, "/g", None).unwrap();
            assert!(walked.broken.is_empty() && walked.nodes.len() == 1, "{:?}", walked.broken);
        }
    }
}
