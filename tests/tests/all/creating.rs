//! New nodes take the dialect of the hierarchy that is there, and hide no node of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use zarr::store::{FilesystemStore, Key, MemoryStore, Prefix, Store, StoreExt};
use zarr_array::{Array, ErrorKind, Group, NewArray, NewGroup};
use zarr_meta::{Dialect, NodePath};

/// The dialects that have hierarchies.
const DIALECTS: [Dialect; 5] =
    [Dialect::V2, Dialect::V3, Dialect::V3Protocol2019, Dialect::V3Protocol2020, Dialect::V3Draft2022];
const ALL: [Dialect; 7] = [
    Dialect::V0,
    Dialect::V1,
    Dialect::V2,
    Dialect::V3Protocol2019,
    Dialect::V3Protocol2020,
    Dialect::V3Draft2022,
    Dialect::V3,
];

fn new(dialect: Option<Dialect>) -> NewArray {
    let new = NewArray::new(&[4], "int16").chunks(&[2]);
    dialect.into_iter().fold(new, NewArray::dialect)
}

fn group(dialect: Option<Dialect>) -> NewGroup {
    NewGroup::default().dialect(dialect)
}

/// An array and a group of a dialect; in dialects without hierarchies, the array is the root.
fn hierarchy(dialect: Dialect) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let path = if DIALECTS.contains(&dialect) { "/g/a" } else { "/" };
    let array = Array::create(&store, path, new(Some(dialect)), &zarr::registry::default()).unwrap();
    array.write(.., &[1_i16, 2, 3, 4]).unwrap();
    store
}

fn values(store: &dyn Store) -> BTreeMap<String, Vec<u8>> {
    let keys = store.list_prefix(&Prefix::root()).unwrap();
    keys.into_iter().map(|key| (key.to_string(), store.get_all(&key).unwrap().unwrap().to_vec())).collect()
}

fn nodes(store: &dyn Store) -> Vec<(String, Dialect)> {
    let walk = zarr::hierarchy::walk(store, "/", None).unwrap();
    assert!(walk.broken.is_empty());
    walk.nodes.into_iter().map(|node| (node.path.to_string(), node.dialect)).collect()
}

/// Whether each node of `before` is found in a walk from the root, as it was.
fn hides_nothing(store: &dyn Store, before: &[(String, Dialect)]) {
    let after = nodes(store);
    assert!(before.iter().all(|node| after.contains(node)), "{before:?}\n{after:?}");
}

fn refused<T: std::fmt::Debug>(created: zarr::Result<T>, kind: ErrorKind, word: &str) {
    let error = created.unwrap_err();
    assert!(error.kind() == kind && error.to_string().contains(word), "{error:?}");
}

// clause: p2019-64
#[test]
fn new_nodes_take_the_dialect_that_is_there() {
    for dialect in DIALECTS {
        let store = hierarchy(dialect);
        let before = nodes(&*store);
        for path in ["/b", "/g/b", "/g/new/b"] {
            let array = Array::create(&store, path, new(None), &zarr::registry::default()).unwrap();
            assert_eq!(array.dialect(), dialect, "{path}");
            array.write(.., &[5_i16, 6, 7, 8]).unwrap();
            hides_nothing(&*store, &before);
        }
        for path in ["/h", "/g/h", "/i/h"] {
            assert_eq!(
                Group::create(&store, path, group(None), &zarr::registry::default()).unwrap().dialect(),
                dialect,
                "{path}"
            );
            hides_nothing(&*store, &before);
        }
        let made = Group::open(&store, "/h", &zarr::registry::default()).unwrap();
        assert_eq!(made.create_array("c", new(None)).unwrap().dialect(), dialect);
        assert_eq!(made.create_group("d", group(None)).unwrap().dialect(), dialect);
        assert!(nodes(&*store).iter().all(|(_, found)| *found == dialect), "{dialect}");
        let read = |path: &str| zarr::open((&store, path)).array().unwrap().read::<i16>(..).unwrap();
        assert_eq!((read("/g/a"), read("/g/new/b")), (vec![1, 2, 3, 4], vec![5, 6, 7, 8]), "{dialect}");
    }
}

#[test]
fn another_dialect_is_refused_and_nothing_is_written() {
    for there in ALL {
        for asked in ALL.into_iter().filter(|asked| *asked != there) {
            let store = hierarchy(there);
            let before = values(&*store);
            for path in ["/b", "/g/b", "/g/a/b", "/new/b"] {
                let (array, of_group) = (new(Some(asked)), group(Some(asked)));
                let created = Array::create(&store, path, array, &zarr::registry::default());
                assert_eq!(created.unwrap_err().kind(), ErrorKind::Argument, "{path} of {asked} in {there}");
                let created = Group::create(&store, path, of_group, &zarr::registry::default());
                assert_eq!(created.unwrap_err().kind(), ErrorKind::Argument, "{path} of {asked} in {there}");
            }
            let created = Array::create(&store, "/", new(Some(asked)), &zarr::registry::default());
            assert!(created.is_err(), "{asked} in {there}");
            assert_eq!(values(&*store), before, "{asked} in {there}");
        }
    }
}

#[test]
fn a_store_that_is_one_array_takes_no_nodes() {
    for dialect in [Dialect::V0, Dialect::V1] {
        let store = hierarchy(dialect);
        let before = values(&*store);
        for path in ["/x", "/g/x"] {
            refused(
                Array::create(&store, path, new(None), &zarr::registry::default()),
                ErrorKind::Argument,
                "is an array",
            );
            refused(
                Group::create(&store, path, group(None), &zarr::registry::default()),
                ErrorKind::Argument,
                "is an array",
            );
        }
        refused(
            Array::create(&store, "/", new(None), &zarr::registry::default()),
            ErrorKind::Exists,
            "an array already",
        );
        assert_eq!(values(&*store), before);
    }
}

/// Groups without documents, as hierarchies of version 2 that were put together by copying files.
#[test]
fn nodes_without_groups_above_them_are_found() {
    for (dialect, document) in [(Dialect::V2, ".zgroup"), (Dialect::V3, "zarr.json")] {
        for other in [Dialect::V2, Dialect::V3].into_iter().filter(|other| *other != dialect) {
            let store = hierarchy(dialect);
            for key in [document.to_owned(), format!("g/{document}")] {
                store.erase(&Key::new(&key).unwrap()).unwrap();
            }
            let before = values(&*store);
            for path in ["/b", "/h/b", "/"] {
                let created = Array::create(&store, path, new(Some(other)), &zarr::registry::default());
                refused(created, ErrorKind::Argument, dialect.name());
            }
            for path in ["/", "/h"] {
                let created = Group::create(&store, path, group(Some(other)), &zarr::registry::default());
                refused(created, ErrorKind::Argument, dialect.name());
            }
            // An array would have nodes below it.
            for path in ["/g", "/"] {
                let created = Array::create(&store, path, new(None), &zarr::registry::default());
                refused(created, ErrorKind::Exists, "a group already");
            }
            assert_eq!(values(&*store), before);
            let found = nodes(&*store);
            assert_eq!(
                Group::create(&store, "/g", group(None), &zarr::registry::default()).unwrap().dialect(),
                dialect
            );
            assert_eq!(
                Array::create(&store, "/h/b", new(None), &zarr::registry::default()).unwrap().dialect(),
                dialect
            );
            hides_nothing(&*store, &found);
        }
    }
}

/// A hierarchy within a folder of another one has the dialect of the group nearest to the new node.
#[test]
fn the_nearest_group_decides() {
    let store = hierarchy(Dialect::V2);
    let inner = |key: &str, text: &str| store.set_all(&Key::new(key).unwrap(), text.as_bytes()).unwrap();
    inner("inner/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    let before = nodes(&*store);
    let array = Array::create(&store, "/inner/a", new(None), &zarr::registry::default()).unwrap();
    assert_eq!(array.dialect(), Dialect::V3);
    refused(
        Array::create(&store, "/inner/b", new(Some(Dialect::V2)), &zarr::registry::default()),
        ErrorKind::Argument,
        "dialect v3",
    );
    // Nothing is written above that group, where it would hide the outer hierarchy.
    let added = [("/inner/a".to_owned(), Dialect::V3)];
    assert_eq!(nodes(&*store), [before, added.into()].concat());
    // Nor where nodes of another dialect imply a group.
    inner("other/x/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    refused(
        Array::create(&store, "/other", new(None), &zarr::registry::default()),
        ErrorKind::Exists,
        "a group already",
    );
    refused(
        Group::create(&store, "/other", group(None), &zarr::registry::default()),
        ErrorKind::Exists,
        "a group already",
    );
}

#[test]
fn a_replacement_of_all_may_be_of_any_dialect() {
    for there in ALL {
        for asked in ALL.into_iter().map(Some).chain([None]) {
            let store = hierarchy(there);
            let array = Array::create(&store, "/", new(asked).overwrite(true), &zarr::registry::default()).unwrap();
            assert_eq!(array.dialect(), asked.unwrap_or(there), "{asked:?} in {there}");
            assert_eq!(nodes(&*store), [("/".to_owned(), asked.unwrap_or(there))], "{asked:?} in {there}");
        }
    }
    // A node that replaces one below the root has to fit in.
    let store = hierarchy(Dialect::V2);
    let before = values(&*store);
    let created = Array::create(&store, "/g/a", new(Some(Dialect::V3)).overwrite(true), &zarr::registry::default());
    refused(created, ErrorKind::Argument, "dialect v2");
    assert_eq!(values(&*store), before);
    let array = Array::create(&store, "/g/a", new(None).overwrite(true), &zarr::registry::default()).unwrap();
    assert_eq!(array.dialect(), Dialect::V2);
}

/// Documents of 2023 and new ones lie in one hierarchy.
#[test]
fn version_3_is_one_hierarchy() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = r#"{"zarr_format": "https://purl.org/zarr/spec/v3#group", "node_type": "group"}"#;
    store.set_all(&Key::new("zarr.json").unwrap(), root.as_bytes()).unwrap();
    assert_eq!(zarr::hierarchy::open_node(&*store, "/", None).unwrap().dialect, Dialect::V3Provisional2023);
    for (path, dialect) in [("/a", None), ("/b", Some(Dialect::V3)), ("/c", Some(Dialect::V3Provisional2023))] {
        Array::create(&store, path, new(dialect), &zarr::registry::default()).unwrap();
    }
    assert_eq!(zarr::open((&store, "/a")).array().unwrap().dialect(), Dialect::V3);
    let created = Array::create(&store, "/d", new(Some(Dialect::V2)), &zarr::registry::default());
    refused(created, ErrorKind::Argument, "dialect v3-2023");
}

#[test]
fn an_array_that_the_dialect_cannot_express_is_refused() {
    let store = hierarchy(Dialect::V2);
    let before = values(&*store);
    let error = Array::create(&store, "/b", new(None).fill(1).shards(&[4]), &zarr::registry::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotExpressible, "{error}");
    assert!(error.hint().unwrap().contains("which is v2"), "{error}");
    assert_eq!(values(&*store), before);
}

/// A broken group above tells nothing; another dialect beside it would hide its nodes.
#[test]
fn below_a_broken_group_nothing_is_created() {
    for (dialect, key) in [(Dialect::V2, ".zgroup"), (Dialect::V3, "zarr.json")] {
        let store = hierarchy(dialect);
        store.set_all(&Key::new(key).unwrap(), b"{").unwrap();
        let before = values(&*store);
        for asked in [None, Some(Dialect::V2), Some(Dialect::V3)] {
            let error = Array::create(&store, "/b", new(asked), &zarr::registry::default()).unwrap_err();
            assert_eq!((error.kind(), error.location().key.as_deref()), (ErrorKind::InvalidJson, Some(key)), "{error}");
        }
        assert_eq!(values(&*store), before);
    }
}

#[test]
fn a_new_store_is_of_version_3_or_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    for dialect in DIALECTS.into_iter().map(Some).chain([None]) {
        let at = folder.path().join(dialect.map_or("none", Dialect::name));
        let store: Arc<dyn Store> = Arc::new(FilesystemStore::create(&at).unwrap());
        // Files that are of no node.
        std::fs::create_dir(at.join("notes")).unwrap();
        std::fs::write(at.join("notes/README"), "mine").unwrap();
        Array::create(&store, "/g/a", new(dialect), &zarr::registry::default()).unwrap();
        let expected = dialect.unwrap_or(Dialect::V3);
        let root = NodePath::root().to_string();
        assert_eq!(nodes(&*store).first(), Some(&(root, expected)));
    }
}
