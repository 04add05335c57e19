//! Hierarchies that get another dialect where they lie.

use std::collections::BTreeMap;
use std::sync::Arc;
use zarr_array::{Array, Dialect, ErrorKind, Group, NewArray, NewGroup};
use zarr_convert::{Action, Migration, MigrationState};
use zarr_store::{Counted, Key, MemoryStore, Prefix, Store, StoreExt};

pub(crate) const DIALECTS: [Dialect; 5] =
    [Dialect::V2, Dialect::V3, Dialect::V3Protocol2019, Dialect::V3Protocol2020, Dialect::V3Draft2022];

pub(crate) fn contents(store: &dyn Store) -> BTreeMap<String, Vec<u8>> {
    let keys = store.list_prefix(&Prefix::root()).unwrap();
    keys.iter().map(|key| (key.to_string(), store.get_all(key).unwrap().unwrap().to_vec())).collect()
}

/// A hierarchy with compressed arrays, one with a chunk missing, one without dimensions, and attributes.
pub(crate) fn hierarchy(dialect: Dialect) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let registry = zarr::registry::default();
    let attributes = || [("x".to_owned(), 1.into())].into_iter().collect();
    Group::create(&store, "/g", NewGroup::default().dialect(dialect).attributes(attributes()), &registry).unwrap();
    let new = |shape: &[u64]| {
        let new = NewArray::new(shape, "int16").dialect(dialect).attribute("units", "K").fill(-1);
        new.codecs("gzip").unwrap()
    };
    let array = Array::create(&store, "/g/a", new(&[4, 6]).chunks(&[2, 3]), &registry).unwrap();
    array.write((0..2, ..), &(0..12).collect::<Vec<i16>>()).unwrap();
    Array::create(&store, "/b", new(&[]), &registry).unwrap().write(.., &[7_i16]).unwrap();
    store.set_all(&Key::new("README.md").unwrap(), b"mine").unwrap();
    store
}

pub(crate) fn check(store: &Arc<dyn Store>, dialect: Dialect) {
    let open = |path: &str| {
        let found = zarr::hierarchy::open_node(&**store, path, Some(dialect)).unwrap();
        Array::from_found(store, found, &zarr::registry::default(), zarr::Options::default()).unwrap()
    };
    let array = open("/g/a");
    let expected: Vec<i16> = (0..12).chain(std::iter::repeat_n(-1, 12)).collect();
    assert_eq!(array.read::<i16>(..).unwrap(), expected, "{dialect}");
    assert_eq!(array.attributes().unwrap().get("units").unwrap().as_str(), Some("K"));
    assert_eq!(open("/b").read::<i16>(..).unwrap(), [7]);
    let group = zarr::hierarchy::open_node(&**store, "/g", Some(dialect)).unwrap();
    assert_eq!(group.node.attributes().get("x").unwrap().as_u64(), Some(1));
}

#[test]
fn every_dialect_becomes_every_other_in_place_or_says_why_not() {
    for from in DIALECTS {
        for to in DIALECTS.into_iter().filter(|to| *to != from) {
            let store = hierarchy(from);
            let before = contents(&*store);
            let migration = match Migration::plan(&store, &zarr::registry::default(), to) {
                Ok(migration) => migration,
                Err(error) => {
                    // One document says the dialect of the whole hierarchy.
                    let entry = |dialect| !matches!(dialect, Dialect::V2 | Dialect::V3Protocol2019);
                    assert!(entry(from) && entry(to), "{from} to {to}: {error}");
                    assert_eq!(error.kind(), ErrorKind::NotExpressible, "{error}");
                    assert!(error.to_string().contains("zarr.json"), "{error}");
                    assert_eq!(contents(&*store), before);
                    continue;
                }
            };
            let how: Vec<Action> = migration.nodes().iter().map(|node| node.how).collect();
            if (from, to) == (Dialect::V2, Dialect::V3) {
                assert_eq!(how, [Action::Group, Action::Keep, Action::Group, Action::Keep]);
            }
            migration.run(|_| {}).unwrap();
            assert_eq!(Migration::state(&store).unwrap(), Some(MigrationState::Done));
            let both = contents(&*store);
            assert!(before.iter().all(|(key, bytes)| both.get(key) == Some(bytes)), "{from} to {to}");
            check(&store, from);
            check(&store, to);
            let again = Migration::plan(&store, &zarr::registry::default(), to).unwrap_err();
            assert_eq!(again.kind(), ErrorKind::Exists, "{again}");

            Migration::undo(&store, None).unwrap();
            let undone = contents(&*store);
            assert_eq!(undone.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>(), "{from} to {to}");
            assert!(undone == before, "{from} to {to}");

            Migration::plan(&store, &zarr::registry::default(), to).unwrap().run(|_| {}).unwrap();
            Migration::finish(&store, None).unwrap();
            check(&store, to);
            let after = contents(&*store);
            // All remaining keys are of the new hierarchy, except keys that were never of the old one.
            let root = zarr::hierarchy::open_node(&*store, "/", None).unwrap();
            assert_eq!(root.dialect, to);
            zarr::hierarchy::erase_node(&*store, &root).unwrap();
            let rest: Vec<_> = contents(&*store).into_keys().collect();
            assert_eq!(rest, ["README.md"], "{from} to {to}: {:?}", after.keys());
        }
    }
}

#[test]
fn nothing_is_dropped_before_all_nodes_have_a_new_document() {
    let store = hierarchy(Dialect::V2);
    Migration::plan(&store, &zarr::registry::default(), Dialect::V3).unwrap().run(|_| {}).unwrap();
    store.erase(&Key::new("g/a/zarr.json").unwrap()).unwrap();
    let before = contents(&*store);
    let error = Migration::finish(&store, None).unwrap_err();
    assert_eq!((error.kind(), error.location().path.as_deref()), (ErrorKind::NotFound, Some("/g/a")));
    assert_eq!(contents(&*store), before);
}

/// Writers before 2021 did not say that keys are divided by slashes.
#[test]
fn chunks_stay_where_they_really_are() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let document = r#"{"zarr_format": 2, "shape": [2, 2], "chunks": [1, 2], "dtype": "|i1", "compressor": null,
        "fill_value": 0, "order": "C", "filters": null}"#;
    store.set_all(&Key::new(".zarray").unwrap(), document.as_bytes()).unwrap();
    store.set_all(&Key::new("0/0").unwrap(), &[1, 2]).unwrap();
    let migration = Migration::plan(&store, &zarr::registry::default(), Dialect::V3).unwrap();
    assert_eq!(migration.nodes()[0].how, Action::Keep);
    migration.run(|_| {}).unwrap();
    Migration::finish(&store, None).unwrap();
    assert_eq!(contents(&*store).keys().map(String::as_str).collect::<Vec<_>>(), ["0/0", "zarr.json"]);
    assert_eq!(zarr::open(&store).array().unwrap().read::<i8>(..).unwrap(), [1, 2, 0, 0]);
}

#[test]
fn consolidated_metadata_stands_for_the_nodes() {
    for dialect in [Dialect::V2, Dialect::V3, Dialect::V3Protocol2020] {
        let store = hierarchy(dialect);
        // More than are parsed on one thread.
        for number in 0..200 {
            let new = NewArray::new(&[4], "int8").dialect(dialect);
            Array::create(&store, &format!("/n/{number}"), new, &zarr::registry::default()).unwrap();
        }
        zarr::hierarchy::consolidate(&*store, "/", None).unwrap();
        let counted = Counted::new(store);
        let nodes = |walk: zarr::hierarchy::Walk| {
            assert!(walk.broken.is_empty());
            walk.nodes.into_iter().map(|node| (node.path.clone(), node.node.to_value().to_string())).collect::<Vec<_>>()
        };
        let without = |mut nodes: Vec<(zarr::meta::NodePath, String)>| {
            // That of the root has the copies in it.
            nodes.remove(0);
            nodes
        };
        let by_nodes = without(nodes(zarr::hierarchy::walk(&counted, "/", None).unwrap()));
        counted.take();
        let by_copy = without(nodes(zarr::hierarchy::walk_consolidated(&counted, "/", None).unwrap()));
        let counts = counted.take();
        assert_eq!(by_copy, by_nodes, "{dialect}");
        assert!(counts.lists == 0 && counts.gets <= 10, "{dialect}: {counts:?}");
    }
}

#[test]
fn consolidated_metadata_stays() {
    let store = hierarchy(Dialect::V2);
    zarr::hierarchy::consolidate(&*store, "/", None).unwrap();
    Migration::plan(&store, &zarr::registry::default(), Dialect::V3).unwrap().run(|_| {}).unwrap();
    Migration::finish(&store, None).unwrap();
    assert_eq!(zarr::hierarchy::staleness(&*store, "/", None).unwrap(), Some(zarr::hierarchy::Staleness::default()));
    assert!(!contents(&*store).contains_key(".zmetadata"));
    // A change of a node drops the copy of it; changes by other software are noticed.
    let mut copy = contents(&*store);
    let changed = String::from_utf8(copy.remove("g/a/zarr.json").unwrap()).unwrap().replace("\"K\"", "\"C\"");
    store.set_all(&Key::new("g/a/zarr.json").unwrap(), changed.as_bytes()).unwrap();
    store.erase(&Key::new("b/zarr.json").unwrap()).unwrap();
    let document = br#"{"zarr_format": 3, "node_type": "group"}"#;
    store.set_all(&Key::new("new/zarr.json").unwrap(), document).unwrap();
    let stale = zarr::hierarchy::staleness(&*store, "/", None).unwrap().unwrap();
    let names = |paths: &[zarr::meta::NodePath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!((names(&stale.missing), names(&stale.gone)), (vec!["/new".to_owned()], vec!["/b".to_owned()]));
    assert_eq!(names(&stale.changed), ["/g/a"]);
    // Elements of /b are still there, and nothing else has its metadata.
    let refused = zarr::hierarchy::drop_consolidated(&*store, "/", None).unwrap_err();
    assert!(
        refused.to_string().contains("the document of /b is nowhere but in the consolidated metadata"),
        "{refused}"
    );
    store.erase_prefix(&Prefix::new("b/").unwrap()).unwrap();
    zarr::hierarchy::drop_consolidated(&*store, "/", None).unwrap();
    assert_eq!(zarr::hierarchy::staleness(&*store, "/", None).unwrap(), None);
}

/// A folder may be called by several names.
#[test]
fn a_store_by_another_name_is_the_same_store() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str| -> Arc<dyn Store> {
        Arc::new(zarr::store::FilesystemStore::create(folder.path().join(name)).unwrap())
    };
    let registry = zarr::registry::default();
    let store = open("s");
    Array::create(&store, "/a", NewArray::new(&[2], "int8"), &registry).unwrap().write(.., &[1_i8, 2]).unwrap();
    let other = open("x/../s");
    assert!(
        zarr::convert::Transfer::of(&store, "/a")
            .in_store(&other)
            .to("/a")
            .overwrite(true)
            .move_all(&registry)
            .is_err()
    );
    assert_eq!(zarr::open((&store, "/a")).array().unwrap().read::<i8>(..).unwrap(), [1, 2]);
    zarr::convert::Transfer::of(&store, "/a").in_store(&other).to("/b").overwrite(true).move_all(&registry).unwrap();
    assert_eq!(zarr::open((&store, "/b")).array().unwrap().read::<i8>(..).unwrap(), [1, 2]);
}
