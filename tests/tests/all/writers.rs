//! Several who change the same metadata at the same time, or one after another without knowing of each other.

use std::num::NonZeroUsize;
use std::sync::Arc;
use zarr::store::{AsyncStore, FilesystemStore, Key, MemoryStore, Store, StoreExt, SyncAsAsync, block_on};
use zarr_array::{Array, AsyncArray, Dialect, ErrorKind, Group, NewArray, NewGroup, Options, View, json};
use zarr_convert::{Conversion, ConvertOptions};
use zarr_store::testing::Altered;

const DIALECTS: [Dialect; 5] =
    [Dialect::V2, Dialect::V3, Dialect::V3Protocol2019, Dialect::V3Protocol2020, Dialect::V3Draft2022];

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn create(store: &Arc<dyn Store>, dialect: Dialect) -> Array {
    let new = NewArray::new(&[3], "int32").chunks(&[2]).attribute("a", 1).attribute("b", 2).dialect(dialect);
    zarr::create((store, "/a")).array(new).unwrap()
}

fn append(array: &mut Array, elements: &[i32]) {
    let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_ne_bytes()).collect();
    array.append(0, View::new(&bytes, 4, &[elements.len()]).unwrap()).unwrap();
}

fn with(array: &Array, name: &str, value: impl Into<json::Value>) -> json::Map {
    let mut attributes = array.attributes().unwrap().clone();
    attributes.insert(name, value);
    attributes
}

/// Threads that each change attributes of their own, with a handle of their own.
fn change_attributes(store: &Arc<dyn Store>, threads: usize, changes: usize) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let mut array = zarr::open((store, "/a")).array().unwrap();
                for change in 0..changes {
                    let attributes = with(&array, &format!("{thread}.{change}"), change as u64);
                    array.set_attributes(attributes).unwrap();
                }
            });
        }
    });
    let attributes = zarr::open((store, "/a")).array().unwrap().attributes().unwrap().clone();
    assert_eq!(attributes.len(), 2 + threads * changes);
}

#[test]
fn eight_threads_lose_none_of_1000_attributes() {
    let store = memory();
    create(&store, Dialect::V3);
    change_attributes(&store, 8, 125);
    for dialect in DIALECTS {
        let store = memory();
        create(&store, dialect);
        change_attributes(&store, 4, 10);
    }
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(FilesystemStore::create(folder.path()).unwrap());
    create(&store, Dialect::V3);
    change_attributes(&store, 8, 25);
}

#[test]
fn a_change_of_attributes_keeps_changes_of_others() {
    for dialect in DIALECTS {
        let store = memory();
        create(&store, dialect).write(.., &[1, 2, 3]).unwrap();
        let mut stale = zarr::open((&store, "/a")).array().unwrap();
        let mut other = zarr::open((&store, "/a")).array().unwrap();
        append(&mut other, &[4, 5]);
        let mut attributes = with(&other, "c", 3);
        attributes.remove("a");
        other.set_attributes(attributes).unwrap();
        stale.set_attributes(with(&stale, "b", 20)).unwrap();
        assert_eq!((stale.shape(), stale.read::<i32>(..).unwrap()), (&[5][..], vec![1, 2, 3, 4, 5]), "{dialect}");
        let opened = zarr::open((&store, "/a")).array().unwrap();
        assert_eq!(opened.attributes().unwrap(), stale.attributes().unwrap());
        assert_eq!(json::Value::from(stale.attributes().unwrap().clone()), json!({"b": 20, "c": 3}), "{dialect}");
    }
}

#[test]
fn the_same_attribute_changed_by_two_is_an_error_that_names_it() {
    for dialect in DIALECTS {
        let store = memory();
        let (mut one, mut two) = (create(&store, dialect), zarr::open((&store, "/a")).array().unwrap());
        one.set_attributes(with(&one, "b", 3)).unwrap();
        let error = two.set_attributes(with(&two, "b", 4)).unwrap_err();
        assert_eq!((error.kind(), error.location().pointer.as_deref()), (ErrorKind::Conflict, Some("/attributes/b")));
        assert_eq!(error.location().path.as_deref(), Some("/a"));
        assert!(error.message().contains("set to 3") && error.message().contains("set to 4"), "{error}");
        // Changed alike by both, it is no conflict.
        two.set_attributes(with(&two, "b", 3)).unwrap();
        assert_eq!(two.attributes().unwrap().get("b"), Some(&3.into()));
    }
    // As of groups.
    let store = memory();
    let registry = zarr::registry::default();
    Group::create(&store, "/g", NewGroup::default(), &registry).unwrap();
    let (mut one, mut two) = (zarr::open((&store, "/g")).group().unwrap(), zarr::open((&store, "/g")).group().unwrap());
    let attributes = |value: json::Value| value.as_object().cloned().unwrap();
    one.set_attributes(attributes(json!({"a": 1}))).unwrap();
    two.set_attributes(attributes(json!({"b": 2}))).unwrap();
    assert_eq!(json::Value::from(two.attributes().unwrap().clone()), json!({"a": 1, "b": 2}));
    assert_eq!(one.set_attributes(attributes(json!({"a": 1, "b": 3}))).unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn a_resize_of_an_array_that_another_reshaped_is_an_error() {
    let store = memory();
    let mut stale = create(&store, Dialect::V3);
    append(&mut zarr::open((&store, "/a")).array().unwrap(), &[4, 5]);
    for shape in [1, 3, 9] {
        let error = stale.resize(&[shape]).unwrap_err();
        assert_eq!((error.kind(), error.location().pointer.as_deref()), (ErrorKind::Conflict, Some("/shape")));
    }
    stale.resize(&[5]).unwrap();
    assert_eq!(stale.read::<i32>(3..).unwrap(), [4, 5]);
}

#[test]
fn one_of_several_creators_of_a_node_succeeds() {
    for dialect in DIALECTS {
        for _ in 0..20 {
            let store = memory();
            let created = std::thread::scope(|scope| {
                let store = &store;
                let create = move |thread: u64| {
                    let new = NewArray::new(&[3], "int32").attribute("by", thread).dialect(dialect);
                    zarr::create((store, "/g/a")).array(new).map(|_| thread)
                };
                let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || create(thread))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
            });
            let winners: Vec<u64> = created.iter().filter_map(|it| it.as_ref().ok().copied()).collect();
            assert_eq!(winners.len(), 1, "{dialect} {created:?}");
            for error in created.iter().filter_map(|it| it.as_ref().err()) {
                assert_eq!(error.kind(), ErrorKind::Exists, "{dialect} {error}");
            }
            let array = zarr::open((&store, "/g/a")).array().unwrap();
            assert_eq!(array.attributes().unwrap().get("by"), Some(&winners[0].into()), "{dialect}");
        }
    }
}

#[test]
fn each_row_that_one_of_eight_appends_is_there_once() {
    let folder = tempfile::tempdir().unwrap();
    for store in [memory(), Arc::new(FilesystemStore::create(folder.path()).unwrap())] {
        zarr::create((&store, "/a")).array(NewArray::new(&[0], "int32").chunks(&[3])).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let store = &store;
                scope.spawn(move || {
                    let mut array = zarr::open((store, "/a")).array().unwrap();
                    (0..20).for_each(|row| append(&mut array, &[1 + thread * 100 + row]));
                });
            }
        });
        let mut rows = zarr::open((&store, "/a")).array().unwrap().read::<i32>(..).unwrap();
        rows.sort_unstable();
        assert_eq!(rows, (0..8).flat_map(|thread| (0..20).map(move |row| 1 + thread * 100 + row)).collect::<Vec<_>>());
    }
}

#[test]
fn consolidated_metadata_of_a_group_does_not_undo_its_attributes() {
    let store = memory();
    create(&store, Dialect::V3);
    let mut stale = zarr::open(&store).group().unwrap();
    zarr::hierarchy::consolidate(&*store, "/", None).unwrap();
    let attributes = json!({"title": "all"}).as_object().cloned().unwrap();
    stale.set_attributes(attributes).unwrap();
    let root = zarr::open(&store).group().unwrap();
    assert_eq!(root.attributes().unwrap().get("title"), Some(&"all".into()));
    // The copy is still there: it says nothing of this group.
    assert!(zarr::hierarchy::staleness(&*store, "/", None).unwrap().is_some_and(|it| !it.is_stale()));
    // A change below exchanges one entry, and keeps the attributes.
    append(&mut zarr::open((&store, "/a")).array().unwrap(), &[1]);
    assert!(zarr::hierarchy::staleness(&*store, "/", None).unwrap().is_some_and(|it| !it.is_stale()));
    assert_eq!(zarr::open(&store).group().unwrap().attributes().unwrap().get("title"), Some(&"all".into()));
    // A smaller shape drops it.
    zarr::open((&store, "/a")).array().unwrap().resize(&[1]).unwrap();
    assert!(zarr::hierarchy::staleness(&*store, "/", None).unwrap().is_none());
    assert_eq!(zarr::open(&store).group().unwrap().attributes().unwrap().get("title"), Some(&"all".into()));
}

fn is_send<T: Send>(it: T) -> T {
    it
}

#[test]
fn arrays_that_do_not_block_change_their_shape_as_others_do() {
    let store: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(memory()));
    let registry = zarr::registry::default();
    block_on(is_send(async {
        let new = NewArray::new(&[3], "int8").chunks(&[4]);
        let mut array = AsyncArray::create(&store, "/a", new, &registry).await.unwrap();
        array.write(.., &[1_i8, 2, 3]).await.unwrap();
        let mut stale = AsyncArray::open(&store, "/a", &registry).await.unwrap();
        array.append(0, View::new(&[4, 5], 1, &[2]).unwrap()).await.unwrap();
        stale.append(0, View::new(&[6, 7], 1, &[2]).unwrap()).await.unwrap();
        assert_eq!(stale.read::<i8>(..).await.unwrap(), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(array.resize(&[2]).await.unwrap_err().kind(), ErrorKind::Conflict);
        stale.resize(&[2]).await.unwrap();
        stale.resize(&[6]).await.unwrap();
        assert_eq!(stale.read::<i8>(..).await.unwrap(), [1, 2, 0, 0, 0, 0]);
        let attributes = json!({"a": 1}).as_object().cloned().unwrap();
        stale.set_attributes(attributes).await.unwrap();
        stale.erase().await.unwrap();
        assert!(AsyncArray::open(&store, "/a", &registry).await.unwrap_err().is_not_found());
    }));
}

/// The pool has fewer threads than there are writers who wait for the lock of another.
#[test]
fn appends_that_share_a_small_pool_do_not_wait_for_each_other_for_ever() {
    let store = memory();
    zarr::create((&store, "/a")).array(NewArray::new(&[0], "int32").chunks(&[3])).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                let array = zarr::open((store, "/a")).array().unwrap();
                let options = Options::default().threads(NonZeroUsize::new(1));
                let mut array = array.with(options).unwrap();
                (0..20).for_each(|row| append(&mut array, &[thread * 100 + row]));
            });
        }
    });
    assert_eq!(zarr::open((&store, "/a")).array().unwrap().shape(), [80]);
}

#[test]
fn files_in_the_folder_of_a_store_are_no_leftovers_of_its_root() {
    let store = memory();
    let foreign = Key::new("1").unwrap();
    store.set_all(&foreign, b"mine").unwrap();
    let new = || NewArray::new(&[4], "int8").chunks(&[2]).dialect(Dialect::V2);
    let error = zarr::create(&store).array(new()).unwrap_err();
    assert_eq!((error.kind(), error.location().key.as_deref()), (ErrorKind::Exists, Some("1")), "{error}");
    assert_eq!(store.list().unwrap(), [foreign]);
    assert_eq!(zarr::create(&store).array(new().overwrite(true)).unwrap().read::<i8>(..).unwrap(), [0; 4]);
}

#[test]
fn leftovers_beyond_the_shape_of_a_new_array_are_erased_too() {
    let store = memory();
    store.set_all(&Key::new("a/c/7").unwrap(), b"chunk of a larger array").unwrap();
    let mut array = zarr::create((&store, "/a")).array(NewArray::new(&[4], "int32").chunks(&[2])).unwrap();
    append(&mut array, &[7; 11]);
    assert_eq!(array.read::<i32>(4..).unwrap(), [7; 11]);
}

#[test]
fn a_node_made_in_the_source_during_a_move_is_not_erased() {
    let source = memory();
    let array = zarr::create((&source, "/g/a")).array(NewArray::new(&[4], "int8").chunks(&[2])).unwrap();
    array.write(.., &[1_i8, 2, 3, 4]).unwrap();
    let target = memory();
    let options = ConvertOptions::default();
    let registry = zarr::registry::default();
    let conversion = Conversion::plan_copy(&source, "/g", &target, "/g", &registry, options).unwrap();
    zarr::create((&source, "/g/new")).array(NewArray::new(&[1], "int8")).unwrap().write(.., &[5_i8]).unwrap();
    let error = conversion.run_move(&target, |_| {}).unwrap_err();
    assert_eq!((error.kind(), error.location().path.as_deref()), (ErrorKind::Conflict, Some("/g/new")), "{error}");
    assert_eq!(zarr::open((&source, "/g/new")).array().unwrap().read::<i8>(..).unwrap(), [5]);
    assert_eq!(zarr::open((&source, "/g/a")).array().unwrap().read::<i8>(..).unwrap(), [1, 2, 3, 4]);
}

#[test]
fn a_node_made_in_the_source_while_a_move_erases_it_is_not_erased() {
    let document = Key::new("g/a/zarr.json").unwrap();
    let target = memory();
    let (copy, looked_at) = (Arc::clone(&target), document.clone());
    let source = Altered::new(MemoryStore::new()).getting(move |store, key, ranges| {
        let found = store.get_ranges(key, ranges)?;
        // When the source is compared with the copy, all that lies below the group was looked for.
        if *key == looked_at && copy.size(key)?.is_some() {
            store.set_all(&Key::new("g/new/zarr.json")?, &copy.get_all(key)?.unwrap_or_default())?;
            store.set_all(&Key::new("g/new/c/0")?, &[5, 6])?;
        }
        Ok(found)
    });
    let source: Arc<dyn Store> = Arc::new(source);
    let new = NewArray::new(&[2], "int8").chunks(&[2]).codecs("bytes").unwrap();
    zarr::create((&source, "/g/a")).array(new).unwrap().write(.., &[1_i8, 2]).unwrap();
    zarr::convert::Transfer::of(&source, "/g").in_store(&target).to("/g").move_all(&zarr::registry::default()).unwrap();
    assert_eq!(source.get_all(&document).unwrap(), None);
    assert_eq!(zarr::open((&source, "/g/new")).array().unwrap().read::<i8>(..).unwrap(), [5, 6]);
    assert_eq!(zarr::open((&target, "/g/a")).array().unwrap().read::<i8>(..).unwrap(), [1, 2]);
}
