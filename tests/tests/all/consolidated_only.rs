//! Nodes that only consolidated metadata have are read, listed and converted as any others.

use std::sync::Arc;
use zarr::convert::Transfer;
use zarr::convert::{Conversion, ConvertOptions};
use zarr::hierarchy::{
    consolidate, drop_consolidated, erase_node, open_node, set_attributes, staleness, walk, walk_consolidated,
};
use zarr::store::{Key, MemoryStore, Prefix, Store, StoreExt, SyncAsAsync, block_on};
use zarr_array::{Array, ErrorKind, Group, NewArray, NewGroup, Options};
use zarr_hierarchy::{drop_consolidated_async, open_node_async, walk_async};
use zarr_json::json;
use zarr_meta::Dialect;

/// A hierarchy of which nothing is left but chunks and consolidated metadata of the root; in version 3 that is a member of its document.
fn write(dialect: Dialect) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let registry = zarr::registry::default();
    let attributes = [("units".to_owned(), json!("K"))].into_iter().collect();
    Group::create(&store, "/", NewGroup::default().dialect(dialect).attributes(attributes), &registry).unwrap();
    for path in ["/a", "/g/b"] {
        let new = NewArray::new(&[4], "int32").chunks(&[2]).dialect(dialect);
        Array::create(&store, path, new, &registry).unwrap().write(..2, &[1_i32, 2]).unwrap();
    }
    consolidate(&*store, "/", None).unwrap();
    let kept = if dialect.is_v3() { "zarr.json" } else { ".zmetadata" };
    for key in store.list_prefix(&Prefix::root()).unwrap() {
        let is_document =
            ["zarr.json", ".zarray", ".zgroup", ".zattrs"].contains(&key.as_str().rsplit('/').next().unwrap());
        if is_document && key.as_str() != kept {
            store.erase(&key).unwrap();
        }
    }
    store
}

fn paths(nodes: &[zarr_meta::StoredNode]) -> Vec<String> {
    nodes.iter().map(|node| node.path.to_string()).collect()
}

#[test]
fn nodes_that_only_consolidated_metadata_have_are_there() {
    let registry = zarr::registry::default();
    for dialect in [Dialect::V2, Dialect::V3] {
        let store = write(dialect);
        let read = |path: &str| Array::open(&store, path, &registry).unwrap().read::<i32>(..).unwrap();
        // A chunk that is missing does not make the array one that is gone.
        assert_eq!((read("/a"), read("/g/b")), (vec![1, 2, 0, 0], vec![1, 2, 0, 0]), "{dialect}");
        let all = ["/", "/a", "/g", "/g/b"];
        assert_eq!(paths(&walk(&*store, "/", None).unwrap().nodes), all, "{dialect}");
        assert_eq!(paths(&walk(&*store, "/g", None).unwrap().nodes), ["/g", "/g/b"], "{dialect}");
        let root = Group::open(&store, "/", &registry).unwrap();
        assert_eq!(root.attributes().unwrap().get("units"), Some(&json!("K")), "{dialect}");
        assert_eq!(paths(&root.walk().unwrap().nodes), all);
        assert_eq!(paths(&root.group("g").unwrap().walk().unwrap().nodes), ["/g", "/g/b"]);
        assert_eq!(root.array("a").unwrap().read::<i32>(..2).unwrap(), [1, 2]);
        let later = SyncAsAsync::new(Arc::clone(&store));
        assert_eq!(paths(&block_on(walk_async(&later, "/", None)).unwrap().nodes), all);
        assert_eq!(paths(&block_on(walk_async(&later, "/g", None)).unwrap().nodes), ["/g", "/g/b"]);
        assert!(block_on(open_node_async(&later, "/g/b", None)).unwrap().documents.are_consolidated());

        let found = open_node(&*store, "/a", None).unwrap();
        assert!(found.warnings.iter().any(|warning| warning.what.contains("consolidated metadata of /")), "{found:?}");
        let strict = Options::default().strict(true);
        assert!(Array::from_found(&store, found, &registry, strict).is_err());
        assert!(open_node(&*store, "/c", None).unwrap_err().is_not_found());

        // Others have documents of their own again.
        let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let options = ConvertOptions::default().dialect(Dialect::V3);
        Conversion::plan(&store, &registry, options).unwrap().run(&target, |_| {}).unwrap();
        assert_eq!(paths(&walk(&*target, "/", None).unwrap().nodes), all);
        assert!(!open_node(&*target, "/g/b", None).unwrap().documents.are_consolidated());
        assert_eq!(Array::open(&target, "/g/b", &registry).unwrap().read::<i32>(..2).unwrap(), [1, 2]);

        // Written again, the metadata still have them.
        if dialect.is_v3() {
            assert_eq!(consolidate(&*store, "/", None).unwrap(), 4);
            assert_eq!(read("/g/b"), [1, 2, 0, 0]);
            // Which is to be mended: the documents are not there.
            assert_eq!(staleness(&*store, "/", None).unwrap().unwrap().gone.len(), 3);
        }
    }
}

#[test]
fn a_copy_of_an_erased_node_is_no_node() {
    let registry = zarr::registry::default();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    Group::create(&store, "/", NewGroup::default(), &registry).unwrap();
    for path in ["/a", "/b"] {
        let array = Array::create(&store, path, NewArray::new(&[2], "int8"), &registry).unwrap();
        array.write(.., &[1_i8, 2]).unwrap();
    }
    consolidate(&*store, "/", None).unwrap();
    for key in store.list_prefix(&Prefix::new("a/").unwrap()).unwrap() {
        store.erase(&key).unwrap();
    }
    assert!(open_node(&*store, "/a", None).unwrap_err().is_not_found());
    assert_eq!(paths(&walk(&*store, "/", None).unwrap().nodes), ["/", "/b"]);
    assert_eq!(staleness(&*store, "/", None).unwrap().unwrap().gone.len(), 1);
    // A value of it is enough.
    store.set_all(&Key::new("a/c/0").unwrap(), b"").unwrap();
    assert_eq!(paths(&walk(&*store, "/", None).unwrap().nodes), ["/", "/a", "/b"]);
}

/// Whether the change is refused, and nothing is another value.
fn refused<T: std::fmt::Debug>(store: &Arc<dyn Store>, what: &str, change: impl FnOnce() -> zarr::Result<T>) {
    let values = || {
        let keys = store.list_prefix(&Prefix::root()).unwrap();
        keys.into_iter().map(|key| (store.get_all(&key).unwrap().map(|value| value.to_vec()), key)).collect::<Vec<_>>()
    };
    let before = values();
    let error = change().expect_err(what);
    let message = error.to_string();
    assert_eq!(error.kind(), ErrorKind::Argument, "{what}: {message}");
    assert!(message.contains("nowhere but in the consolidated metadata"), "{what}: {message}");
    assert!(values() == before, "{what} changed something");
}

#[test]
fn changes_that_would_lose_documents_are_refused() {
    let registry = zarr::registry::default();
    for dialect in [Dialect::V2, Dialect::V3] {
        let store = write(dialect);
        let new = || NewArray::new(&[1], "int8").dialect(dialect);
        let open = |path: &str| open_node(&*store, path, None).unwrap();
        let attributes = || [("x".to_owned(), json!(1))].into_iter().collect();
        let written = open("/g/b").node;
        refused(&store, "create", || Array::create(&store, "/new", new(), &registry));
        refused(&store, "create where only a copy is", || Array::create(&store, "/a", new(), &registry));
        refused(&store, "overwrite", || Array::create(&store, "/a", new().overwrite(true), &registry));
        refused(&store, "attributes", || set_attributes(&*store, &open("/a"), attributes()));
        refused(&store, "attributes of the root", || set_attributes(&*store, &open("/g"), attributes()));
        refused(&store, "append", || Array::open(&store, "/a", &registry).unwrap().append(0, &[1_i32]));
        refused(&store, "resize", || Array::open(&store, "/a", &registry).unwrap().resize(&[9]));
        refused(&store, "erase", || erase_node(&*store, &open("/a")));
        refused(&store, "move", || Transfer::of(&store, "/a").to("/c").move_all(&registry));
        // What unfinished changes have left stays as well.
        for left in [".zconversion-a", ".zconversion-new", ".zreplacement/a/0000000000000001/c/0"] {
            store.set_all(&Key::new(left).unwrap(), b"{}").unwrap();
        }
        refused(&store, "erase with a journal", || erase_node(&*store, &open("/a")));
        for path in ["/a", "/new"] {
            refused(&store, path, || Array::create(&store, path, new().overwrite(true), &registry));
        }
        refused(&store, "drop", || drop_consolidated(&*store, "/", None));
        let later = SyncAsAsync::new(Arc::clone(&store));
        refused(&store, "drop later", || block_on(drop_consolidated_async(&later, "/", None)));

        // One document more does not save the others.
        let key = if dialect.is_v3() { "b/zarr.json" } else { "b/.zgroup" };
        let text = if dialect.is_v3() { r#"{"zarr_format":3,"node_type":"group"}"# } else { r#"{"zarr_format":2}"# };
        store.set_all(&Key::new(key).unwrap(), text.as_bytes()).unwrap();
        refused(&store, "create beside it", || Array::create(&store, "/new", new(), &registry));

        // A change that exchanges copies loses none, and adds none.
        set_attributes(&*store, &open("/b"), attributes()).unwrap();
        assert_eq!((open("/g/b").node, open("/b").node.attributes()), (written, &attributes()));
        let copied = walk_consolidated(&*store, "/", None).unwrap();
        assert_eq!(paths(&copied.nodes), ["/", "/a", "/g", "/g/b"], "{dialect}");
    }
}

/// An array that has a document, beside nodes that have none: a smaller shape, which drops copies, is refused before a chunk is erased; a
/// larger one exchanges the copy of the array and loses none.
#[test]
fn another_shape_loses_no_documents_of_others() {
    let registry = zarr::registry::default();
    for dialect in [Dialect::V2, Dialect::V3] {
        let store = write(dialect);
        let other: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = NewArray::new(&[3], "int8").chunks(&[2]).dialect(dialect);
        Array::create(&other, "/s", new, &registry).unwrap().write(.., &[1_i8; 3]).unwrap();
        // Beyond the shape, as an append that died leaves it.
        let chunk = if dialect.is_v3() { "s/c/2" } else { "s/2" };
        other.set_all(&Key::new(chunk).unwrap(), b"left").unwrap();
        for key in other.list_prefix(&Prefix::new("s/").unwrap()).unwrap() {
            store.set_all(&key, &other.get_all(&key).unwrap().unwrap()).unwrap();
        }
        let open = || Array::open(&store, "/s", &registry).unwrap();
        refused(&store, "smaller", || open().resize(&[1]));
        refused(&store, "one without a document", || Array::open(&store, "/a", &registry).unwrap().resize(&[1]));
        let before = paths(&walk(&*store, "/", None).unwrap().nodes);
        open().append(0, &[1_i8; 3]).unwrap();
        open().resize(&[9]).unwrap();
        assert_eq!(paths(&walk(&*store, "/", None).unwrap().nodes), before);
        let copied = walk_consolidated(&*store, "/s", None).unwrap();
        assert_eq!(copied.nodes[0].node.as_array().unwrap().shape, [9], "{dialect}");
        assert_eq!(Array::open(&store, "/a", &registry).unwrap().read::<i32>(..2).unwrap(), [1, 2]);
    }
}

/// A change of a node that has a document leaves copies of erased nodes, which do not stop it, and those that are stale for other reasons.
#[test]
fn copies_of_erased_nodes_stop_no_change() {
    let registry = zarr::registry::default();
    for dialect in [Dialect::V2, Dialect::V3] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        Group::create(&store, "/", NewGroup::default().dialect(dialect), &registry).unwrap();
        for path in ["/a", "/b"] {
            Array::create(&store, path, NewArray::new(&[2], "int8").dialect(dialect), &registry).unwrap();
        }
        consolidate(&*store, "/", None).unwrap();
        for key in store.list_prefix(&Prefix::new("a/").unwrap()).unwrap() {
            store.erase(&key).unwrap();
        }
        let attributes = [("x".to_owned(), json!(1))].into_iter().collect();
        set_attributes(&*store, &open_node(&*store, "/b", None).unwrap(), attributes).unwrap();
        let stale = staleness(&*store, "/", None).unwrap().unwrap();
        assert_eq!((stale.gone.len(), stale.changed.len(), stale.missing.len()), (1, 0, 0), "{dialect}: {stale:?}");
        // One that drops them is not stopped either.
        Array::open(&store, "/b", &registry).unwrap().resize(&[1]).unwrap();
        assert_eq!(staleness(&*store, "/", None).unwrap(), None, "{dialect}");
    }
}

/// An array of fill values has no chunk that tells that it is there; one beside it has.
#[test]
fn copies_of_arrays_without_chunks_stay() {
    let registry = zarr::registry::default();
    for dialect in [Dialect::V2, Dialect::V3] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        Group::create(&store, "/", NewGroup::default().dialect(dialect), &registry).unwrap();
        for path in ["/a", "/empty"] {
            Array::create(&store, path, NewArray::new(&[2], "int8").dialect(dialect), &registry).unwrap();
        }
        Array::open(&store, "/a", &registry).unwrap().write(.., &[1_i8, 2]).unwrap();
        consolidate(&*store, "/", None).unwrap();
        let document = if dialect.is_v3() { "zarr.json" } else { ".zarray" };
        for path in ["a", "empty"] {
            store.erase(&Key::new(&format!("{path}/{document}")).unwrap()).unwrap();
        }
        assert_eq!(consolidate(&*store, "/", None).unwrap(), 3, "{dialect}");
        assert_eq!(staleness(&*store, "/", None).unwrap().unwrap().gone.len(), 2, "{dialect}");
        assert_eq!(Array::open(&store, "/a", &registry).unwrap().read::<i8>(..).unwrap(), [1, 2]);
    }
}
