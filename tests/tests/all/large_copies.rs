//! Consolidated metadata that are larger than other documents may be.

use std::sync::Arc;
use zarr::hierarchy::{consolidate, open_node, set_attributes, staleness, walk, walk_consolidated};
use zarr_array::{Array, Dialect, ErrorKind, Group, NewArray, NewGroup, Registry};
use zarr_meta::MAX_DOCUMENT_SIZE;
use zarr_store::{Key, MemoryStore, Store, StoreExt};

/// A text that is larger than a document may be.
const LARGE: usize = MAX_DOCUMENT_SIZE + (1 << 20);

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

fn registry() -> Arc<Registry> {
    zarr::registry::default()
}

/// 41 arrays and a group, whose documents together are as large as that.
fn hierarchy(dialect: Dialect) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let registry = registry();
    let comment = "x".repeat(LARGE / 40);
    for name in ["/", "/g"] {
        Group::create(&store, name, NewGroup::new().dialect(dialect), &registry).unwrap();
    }
    for name in (0..40).map(|number| format!("/a{number:02}")).chain(["/g/b".to_owned()]) {
        let new = NewArray::new(&[4], "uint8").dialect(dialect).attribute("comment", comment.as_str());
        Array::create(&store, &name, new, &registry).unwrap();
    }
    store
}

#[test]
fn consolidated_metadata_may_be_larger_than_other_documents() {
    for (dialect, document) in [(Dialect::V2, ".zmetadata"), (Dialect::V3, "zarr.json")] {
        let store = hierarchy(dialect);
        assert_eq!(consolidate(&*store, "/", None).unwrap(), 43);
        let text = store.get_all(&key(document)).unwrap().unwrap();
        assert!(text.len() > LARGE, "{}", text.len());
        for given in [None, Some(dialect)] {
            let root = open_node(&*store, "/", given).unwrap();
            assert_eq!((root.dialect, root.warnings.len()), (dialect, 0));
            for walked in [walk(&*store, "/", given).unwrap(), walk_consolidated(&*store, "/", given).unwrap()] {
                assert_eq!((walked.nodes.len(), walked.broken.len(), walked.bad_consolidated.len()), (43, 0, 0));
                assert_eq!(walked.consolidated.unwrap().documents.len(), if dialect == Dialect::V2 { 84 } else { 42 });
            }
        }
        assert!(!staleness(&*store, "/", None).unwrap().unwrap().is_stale());
        // Changes keep and drop it as they do with others.
        let mut group = Group::open(&store, "/", &registry()).unwrap();
        group.set_attributes([("n".to_owned(), 1.into())].into_iter().collect()).unwrap();
        assert_eq!(open_node(&*store, "/", None).unwrap().node.attributes().len(), 1);
        assert!(open_node(&*store, "/g/b", None).is_ok());
        assert_eq!(open_node(&*store, "/h", None).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(consolidate(&*store, "/", None).unwrap(), 43);
        let found = open_node(&*store, "/g/b", None).unwrap();
        set_attributes(&*store, &found, [("n".to_owned(), 1.into())].into_iter().collect()).unwrap();
        assert!(!staleness(&*store, "/", None).unwrap().expect("a copy").is_stale(), "{dialect}");
    }
}

#[test]
fn what_is_no_consolidated_metadata_is_as_large_as_before() {
    let spaces = " ".repeat(LARGE);
    let group = r#""zarr_format": 3, "node_type": "group""#;
    let array = r#"{"zarr_format": 3, "node_type": "group"}"#;
    let inline = |entries: &str| format!(r#""consolidated_metadata": {{"kind": "inline", "metadata": {{{entries}}}}}"#);
    let small = inline(&format!(r#""a": {array}"#));
    for (document, is_read) in [
        (format!("{{{group}, {small}}}"), true),
        // Around it, before and behind.
        (format!(r#"{{{group}, "attributes": {{"x": "{spaces}"}}, {small}}}"#), false),
        (format!(r#"{{{group}, {small}, "attributes": {{"x": "{spaces}"}}}}"#), false),
        (format!(r#"{{{group}, "attributes": {{"x": "{spaces}"}}}}"#), false),
        // One entry, and many.
        (format!("{{{group}, {}}}", inline(&format!(r#""a": {{"x": "{spaces}"}}"#))), false),
        (
            format!("{{{group}, {}}}", inline(&format!(r#""a": {array}{0}, "b": {array}{0}"#, &spaces[..LARGE / 2]))),
            true,
        ),
        // A member of that name in an array is one as any other.
        (
            format!(r#"{{"zarr_format": 3, "node_type": "array", {}}}"#, inline(&format!(r#""a": {array}{spaces}"#))),
            false,
        ),
    ] {
        let store = MemoryStore::new();
        store.set_all(&key("zarr.json"), document.as_bytes()).unwrap();
        for dialect in [None, Some(Dialect::V3)] {
            let opened = open_node(&store, "/", dialect);
            let begin = &document[..80];
            match opened {
                Ok(_) => assert!(is_read, "{begin}"),
                Err(error) => {
                    assert!(!is_read && error.kind() == ErrorKind::Limit, "{begin}: {error}");
                    assert!(error.message().contains("expected at most 16777216"), "{error}");
                }
            }
        }
    }
}
