//! Migrations that are interrupted at any call of the store, and the state that their record in the store keeps.

use crate::migration::{DIALECTS, check, contents, hierarchy};
use std::collections::BTreeMap;
use std::ops::ControlFlow::Continue;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zarr::store::{Call, Error, FilesystemStore, Key, MemoryStore, Operation, Store, StoreExt};
use zarr_array::{Array, Dialect, ErrorKind, NewArray, Result, View};
use zarr_convert::{Migration, MigrationState};
use zarr_store::testing::Intercepted;

/// The key of the record.
const RECORD: &str = ".zmigration";

fn migrate(store: &Arc<dyn Store>, to: Dialect) -> Result<()> {
    Migration::plan(store, &zarr::registry::default(), to)?.run(|_| {})
}

/// A store over another in which changes fail once `left` of them were made; `done`: the first that fails is done nevertheless.
fn failing(store: &Arc<dyn Store>, left: u64, done: bool) -> Arc<dyn Store> {
    let left = AtomicU64::new(left);
    Arc::new(Intercepted::new(Arc::clone(store), move |store, call| {
        let (Call::Set { key, .. } | Call::Erase { key }) = &call else { return Ok(Continue(call)) };
        let failure = std::io::Error::other("the power is gone");
        let failure = Error::io(&store, Operation::Set, key.as_str(), failure);
        match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
            Ok(1) if done => drop(store.call(call)?),
            Ok(left) if left > u64::from(done) => return Ok(Continue(call)),
            _ => {}
        }
        Err(failure)
    }))
}

/// A hierarchy with attributes, missing chunks, shards where there are some, and consolidated metadata.
fn source(from: Dialect) -> Arc<dyn Store> {
    let store = hierarchy(from);
    if matches!(from, Dialect::V3 | Dialect::V3Draft2022 | Dialect::V3Protocol2020) {
        let new = NewArray::new(&[8], "int16").dialect(from).chunks(&[2]).shards(&[4]).attribute("x", 1);
        let array = Array::create(&store, "/g/s", new, &zarr::registry::default()).unwrap();
        array.write(0..4, &[1_i16, 2, 3, 4]).unwrap();
    }
    if matches!(from, Dialect::V2 | Dialect::V3 | Dialect::V3Protocol2020) {
        zarr::hierarchy::consolidate(&*store, "/", None).unwrap();
    }
    store
}

fn copy(contents: &BTreeMap<String, Vec<u8>>) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    contents.iter().for_each(|(key, value)| drop(store.set_all(&Key::new(key).unwrap(), value).unwrap()));
    store
}

/// Interrupts `verb`, begun on `before`, at each change, and gives the store to `then` each time.
fn interrupted(
    before: &BTreeMap<String, Vec<u8>>,
    verb: impl Fn(&Arc<dyn Store>) -> Result<()>,
    mut then: impl FnMut(&Arc<dyn Store>),
) {
    for done in [false, true] {
        for left in u64::from(done).. {
            let store = copy(before);
            match verb(&failing(&store, left, done)) {
                Ok(()) => {
                    assert!(left > 5, "{left} changes in all");
                    break;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Store, "{error}"),
            }
            then(&store);
        }
    }
}

#[test]
fn whatever_is_interrupted_ends_right_when_it_is_done_again() {
    let mut pairs = 0;
    for (from, to) in DIALECTS.iter().flat_map(|from| DIALECTS.map(|to| (*from, to))) {
        let store = source(from);
        let before = contents(&*store);
        if from == to || Migration::plan(&store, &zarr::registry::default(), to).is_err() {
            continue;
        }
        pairs += 1;
        migrate(&store, to).unwrap();
        let both = contents(&*store);
        Migration::finish(&store, None).unwrap();
        let after = contents(&*store);
        assert!(!after.contains_key(RECORD));

        interrupted(
            &before,
            |store| migrate(store, to),
            |store| {
                check(store, from);
                check_opened(store);
                let half = contents(&**store);
                migrate_again(store, to, &half);
                assert!(contents(&**store) == both, "{from} to {to}: migrated");
                // Or it is taken back.
                let store = copy(&half);
                if half.contains_key(RECORD) {
                    Migration::undo(&store, None).unwrap();
                }
                assert!(contents(&*store) == before, "{from} to {to}: undone, {:?}", half.keys());
            },
        );
        interrupted(
            &both,
            |store| Migration::finish(store, None),
            |store| {
                check(store, to);
                check_opened(store);
                if contents(&**store).contains_key(RECORD) {
                    Migration::finish(store, None).unwrap();
                }
                assert!(contents(&**store) == after, "{from} to {to}: finished");
            },
        );
        interrupted(
            &both,
            |store| Migration::undo(store, None),
            |store| {
                check(store, from);
                check_opened(store);
                if contents(&**store).contains_key(RECORD) {
                    Migration::undo(store, None).unwrap();
                }
                assert!(contents(&**store) == before, "{from} to {to}: undone");
            },
        );
    }
    assert_eq!(pairs, 14);
}

/// Whoever opens the array without regard to dialects reads its old elements, and no fill value for an erased chunk.
fn check_opened(store: &Arc<dyn Store>) {
    let expected: Vec<i16> = (0..12).chain(std::iter::repeat_n(-1, 12)).collect();
    assert_eq!(zarr::open((store, "/g/a")).array().unwrap().read::<i16>(..).unwrap(), expected);
}

/// Completes a migration that may have been interrupted behind its last change.
fn migrate_again(store: &Arc<dyn Store>, to: Dialect, half: &BTreeMap<String, Vec<u8>>) {
    match Migration::state(store).unwrap() {
        Some(MigrationState::Done) => assert_eq!(migrate(store, to).unwrap_err().kind(), ErrorKind::Exists),
        Some(MigrationState::Running) => {
            // Neither hint may lead to a loss.
            let error = Migration::finish(store, None).unwrap_err();
            assert_eq!((error.kind(), error.hint().unwrap().starts_with("migrate again")), (ErrorKind::Exists, true));
            let other = DIALECTS.into_iter().find(|dialect| *dialect != to && *dialect != Dialect::V3).unwrap();
            assert_eq!(migrate(store, other).unwrap_err().kind(), ErrorKind::Exists);
            assert!(contents(&**store) == *half);
            migrate(store, to).unwrap();
        }
        state => {
            assert_eq!(state, None);
            migrate(store, to).unwrap();
        }
    }
}

#[test]
fn an_interrupted_drop_is_completed_and_drops_nothing_else() {
    let store = source(Dialect::V2);
    migrate(&store, Dialect::V3).unwrap();
    let both = contents(&*store);
    let plans = |store: &Arc<dyn Store>| {
        [Dialect::V3, Dialect::V3Protocol2019]
            .map(|to| Migration::plan(store, &zarr::registry::default(), to).map(drop))
    };
    type End = fn(&Arc<dyn Store>, Option<Dialect>) -> Result<()>;
    let check = |drop: End, other: End, hint: &str| {
        let store = copy(&both);
        drop(&failing(&store, 3, false), None).unwrap_err();
        let half = contents(&*store);
        let refused = plans(&store).into_iter().chain([other(&store, None)]);
        for error in refused.map(Result::unwrap_err) {
            assert_eq!((error.kind(), error.hint()), (ErrorKind::Exists, Some(hint)), "{error}");
        }
        assert!(contents(&*store) == half);
        drop(&store, None).unwrap();
    };
    check(Migration::finish, Migration::undo, "finish again");
    check(Migration::undo, Migration::finish, "undo again");
}

#[test]
fn the_direction_is_that_of_the_record() {
    for (from, to) in [(Dialect::V3, Dialect::V2), (Dialect::V2, Dialect::V3)] {
        let store = source(from);
        let before = contents(&*store);
        migrate(&store, to).unwrap();
        let both = contents(&*store);
        for verb in [Migration::undo, Migration::finish] {
            let error = verb(&store, Some(from)).unwrap_err();
            assert_eq!((error.kind(), error.location().key.as_deref()), (ErrorKind::Argument, Some(RECORD)));
            assert!(error.message().contains(&format!("from {from} to {to}, not to {from}")), "{error}");
            assert!(contents(&*store) == both);
        }
        Migration::undo(&store, Some(to)).unwrap();
        assert!(contents(&*store) == before, "{from} to {to}");

        // Without a record, the caller has to name the dialect; an interrupted run then has a record.
        let mut unrecorded = both.clone();
        unrecorded.remove(RECORD);
        let store = copy(&unrecorded);
        for verb in [Migration::undo, Migration::finish] {
            let error = verb(&store, None).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
            assert!(error.message().contains("nothing was dropped") && error.hint().is_some(), "{error}");
            assert!(contents(&*store) == unrecorded);
        }
        interrupted(
            &unrecorded,
            |store| Migration::undo_with_changes(store, Some(to)),
            |store| {
                let recorded = contents(&**store).contains_key(RECORD);
                if recorded || contents(&**store) != before {
                    let undo = if recorded { Migration::undo } else { Migration::undo_with_changes };
                    undo(store, Some(to).filter(|_| !recorded)).unwrap();
                }
                assert!(contents(&**store) == before);
            },
        );
    }
}

/// Changes of the new hierarchy are dropped with it only where that is asked for.
#[test]
fn undoing_drops_changes_only_if_it_is_asked_for() {
    let store = source(Dialect::V3);
    let before = contents(&*store);
    migrate(&store, Dialect::V2).unwrap();
    let open = |path: &str| {
        let found = zarr::hierarchy::open_node(&*store, path, Some(Dialect::V2)).unwrap();
        Array::from_found(&store, found, &zarr::registry::default(), zarr::Options::default()).unwrap()
    };
    let mut array = open("/g/a");
    array.resize(&[40, 6]).unwrap();
    array.write((30..40, ..), &[5_i16; 60]).unwrap();
    let changed = contents(&*store);
    let error = Migration::undo(&store, None).unwrap_err();
    assert_eq!((error.kind(), error.location().path.as_deref()), (ErrorKind::Conflict, Some("/g/a")));
    assert!(error.to_string().contains("the shape [40, 6]") && contents(&*store) == changed, "{error}");
    Migration::undo_with_changes(&store, None).unwrap();
    assert_eq!(contents(&*store).keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    // Without the old hierarchy there is nothing to go back to.
    migrate(&store, Dialect::V2).unwrap();
    store.erase(&Key::new("g/a/zarr.json").unwrap()).unwrap();
    let half = contents(&*store);
    let error = Migration::undo(&store, None).unwrap_err();
    assert_eq!((error.kind(), error.location().path.as_deref()), (ErrorKind::NotFound, Some("/g/a")));
    assert!(error.hint().unwrap().contains("nothing was dropped") && contents(&*store) == half);
}

/// Where no record says what the migration wrote, all chunks of the new arrays alone may have been written since.
#[test]
fn undoing_without_a_record_drops_no_chunks_unless_it_is_asked_for() {
    let store = source(Dialect::V3);
    let before = contents(&*store);
    migrate(&store, Dialect::V2).unwrap();
    store.erase(&Key::new(RECORD).unwrap()).unwrap();
    let found = zarr::hierarchy::open_node(&*store, "/g/a", Some(Dialect::V2)).unwrap();
    let array = Array::from_found(&store, found, &zarr::registry::default(), zarr::Options::default()).unwrap();
    array.write((0..1, ..), &[5_i16; 6]).unwrap();
    let changed = contents(&*store);
    let error = Migration::undo(&store, Some(Dialect::V2)).unwrap_err();
    assert_eq!((error.kind(), error.location().path.as_deref()), (ErrorKind::Exists, Some("/b")), "{error}");
    assert!(contents(&*store) == changed);
    Migration::undo_with_changes(&store, Some(Dialect::V2)).unwrap();
    assert!(contents(&*store) == before);
}

/// Nodes that only the new hierarchy has would be left behind in it, be there a record or not.
#[test]
fn undoing_leaves_no_node_behind_that_was_created_since() {
    for is_recorded in [true, false] {
        let store = source(Dialect::V2);
        migrate(&store, Dialect::V3).unwrap();
        let new = NewArray::new(&[2], "int8").dialect(Dialect::V3);
        // In a group that has no other document of v2.
        Array::create(&store, "/new/c", new, &zarr::registry::default()).unwrap().write(.., &[1_i8, 2]).unwrap();
        if !is_recorded {
            store.erase(&Key::new(RECORD).unwrap()).unwrap();
        }
        let changed = contents(&*store);
        let error = Migration::undo(&store, Some(Dialect::V3)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{is_recorded} {error}");
        assert!(error.location().path.as_deref().is_some_and(|path| path.starts_with("/new")), "{error}");
        assert!(contents(&*store) == changed, "{is_recorded}");
        Migration::undo_with_changes(&store, Some(Dialect::V3)).unwrap();
    }
}

/// A removed attribute is a change as well as one that was set.
#[test]
fn undoing_notices_attributes_that_were_removed_from_groups() {
    let store = source(Dialect::V2);
    migrate(&store, Dialect::V3).unwrap();
    let group = zarr::hierarchy::open_node(&*store, "/g", Some(Dialect::V3)).unwrap();
    zarr::hierarchy::set_attributes(&*store, &group, zarr::json::Map::new()).unwrap();
    let changed = contents(&*store);
    let error = Migration::undo(&store, None).unwrap_err();
    assert_eq!((error.kind(), error.location().path.as_deref()), (ErrorKind::Conflict, Some("/g")), "{error}");
    assert!(error.to_string().contains("the removal of the attributes x"), "{error}");
    assert!(contents(&*store) == changed);
}

/// Nodes are replaced only where the old ones are still as the plan found them.
#[test]
fn a_migration_that_replaces_erases_nothing_if_the_old_nodes_were_changed() {
    let store = source(Dialect::V2);
    migrate(&store, Dialect::V3).unwrap();
    let (registry, options) = (zarr::registry::default(), zarr::convert::ConvertOptions::default());
    let migration = Migration::plan_replacing(&store, &registry, Dialect::V3, options, true).unwrap();
    let group = zarr::hierarchy::open_node(&*store, "/g", Some(Dialect::V2)).unwrap();
    zarr::hierarchy::set_attributes(&*store, &group, zarr::json::Map::new()).unwrap();
    let changed = contents(&*store);
    let error = migration.run(|_| {}).unwrap_err();
    assert_eq!((error.kind(), error.location().path.as_deref()), (ErrorKind::Conflict, Some("/g")), "{error}");
    assert!(error.to_string().contains("changed since the migration was planned; nothing was dropped"), "{error}");
    assert!(contents(&*store) == changed);
}

/// Appends to both sides while the migration is undone: no chunk is erased that the old array has by then.
#[test]
fn no_chunk_of_an_append_to_the_old_side_goes_with_the_new_one() {
    for round in 0..60 {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = match round % 2 {
            0 => Arc::new(MemoryStore::new()),
            _ => Arc::new(FilesystemStore::create(folder.path()).unwrap()),
        };
        let registry = zarr::registry::default();
        let new = NewArray::new(&[4], "int64").chunks(&[2]).dialect(Dialect::V2);
        Array::create(&store, "/a", new, &registry).unwrap().write(.., &[1_i64; 4]).unwrap();
        migrate(&store, Dialect::V3).unwrap();
        let open = |dialect| {
            let found = zarr::hierarchy::open_node(&*store, "/a", Some(dialect)).unwrap();
            Array::from_found(&store, found, &registry, zarr::Options::default()).unwrap()
        };
        let (mut old, mut new) = (open(Dialect::V2), open(Dialect::V3));
        std::thread::scope(|scope| {
            for array in [&mut old, &mut new] {
                scope.spawn(|| {
                    for _ in 0..4 {
                        // After the end of the new side there is no array to append to.
                        if array.append(0, &[1_i64; 2]).is_err() {
                            break;
                        }
                    }
                });
            }
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_micros(round * 60));
                Migration::undo_with_changes(&store, None).unwrap();
            });
        });
        let elements = open(Dialect::V2).read::<i64>(..).unwrap();
        assert!(elements.len() == 12 && elements.iter().all(|&element| element == 1), "{round}: {elements:?}");
    }
}

#[test]
fn records_that_are_not_understood_stop_everything() {
    let store = source(Dialect::V2);
    migrate(&store, Dialect::V3).unwrap();
    let record = String::from_utf8(contents(&*store)[RECORD].clone()).unwrap();
    for (text, kind, expected) in [
        (record.replace("_migration\":1", "_migration\":2"), ErrorKind::UnsupportedVersion, "found 2, expected 1"),
        (record.replace("\"done\"", "\"gone\""), ErrorKind::InvalidMetadata, "/state: found \"gone\""),
        (record.replace("\"path\":\"/b\"", "\"path\":\"/../b\""), ErrorKind::InvalidMetadata, "/nodes/1/path"),
        (record.replace("\"b/.zarray\"", "\"../.zarray\""), ErrorKind::InvalidMetadata, "/nodes/1/old/0"),
        (record[..record.len() - 1].to_owned(), ErrorKind::InvalidJson, RECORD),
    ] {
        assert_ne!(text, record, "{expected}");
        store.set_all(&Key::new(RECORD).unwrap(), text.as_bytes()).unwrap();
        let before = contents(&*store);
        let verbs = [
            Migration::undo(&store, None),
            Migration::finish(&store, None),
            Migration::plan(&store, &zarr::registry::default(), Dialect::V3).map(drop),
            Migration::state(&store).map(drop),
        ];
        for error in verbs.map(Result::unwrap_err) {
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(RECORD) && error.to_string().contains(expected), "{error}");
        }
        assert!(contents(&*store) == before);
    }
}

#[test]
fn a_migration_that_is_running_is_not_taken_for_an_interrupted_one() {
    let folder = tempfile::tempdir().unwrap();
    let files: Arc<dyn Store> = Arc::new(FilesystemStore::create(folder.path()).unwrap());
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let another: Arc<dyn Store> = Arc::new(FilesystemStore::open(folder.path().join(".")).unwrap());
    for (store, other) in [(Arc::clone(&memory), memory), (files, another)] {
        let array = zarr::create((&store, "/a")).array(NewArray::new(&[2], "int8").dialect(Dialect::V2)).unwrap();
        array.write(.., &[1_i8, 2]).unwrap();
        let seen = AtomicU64::new(0);
        let beside = |_: zarr::convert::Progress<'_>| {
            let before = contents(&*other);
            let undone = Migration::undo(&other, None).unwrap_err();
            let finished = Migration::finish(&other, None).unwrap_err();
            let migrated = migrate(&other, Dialect::V3).unwrap_err();
            for error in [undone, finished, migrated] {
                assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
            }
            assert_eq!(contents(&*other), before);
            seen.fetch_add(1, Ordering::Relaxed);
        };
        Migration::plan(&store, &zarr::registry::default(), Dialect::V3).unwrap().run(beside).unwrap();
        assert!(seen.into_inner() > 1);
        Migration::finish(&other, None).unwrap();
        assert_eq!(zarr::open((&store, "/a")).array().unwrap().read::<i8>(..).unwrap(), [1, 2]);
    }
}

#[test]
fn nodes_changed_in_the_old_hierarchy_since_are_not_dropped() {
    type Change = fn(&mut Array) -> Result<()>;
    let changes: [(Change, &str); 2] = [
        (|array| array.append(0, View::new(&[3], 1, &[1])?), "a/.zarray"),
        (|array| array.set_attributes([("units".to_owned(), "K".into())].into_iter().collect()), "a/.zattrs"),
    ];
    for (change, key) in changes {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = NewArray::new(&[2], "int8").attribute("units", "m").dialect(Dialect::V2);
        zarr::create((&store, "/a")).array(new).unwrap().write(.., &[1_i8, 2]).unwrap();
        migrate(&store, Dialect::V3).unwrap();
        let open = |dialect| {
            let found = zarr::hierarchy::open_node(&*store, "/a", Some(dialect)).unwrap();
            Array::from_found(&store, found, &zarr::registry::default(), zarr::Options::default()).unwrap()
        };
        // The new hierarchy may be written to.
        open(Dialect::V3).append(0, View::new(&[3, 4], 1, &[2]).unwrap()).unwrap();
        change(&mut open(Dialect::V2)).unwrap();
        let before = contents(&*store);
        let error = Migration::finish(&store, None).unwrap_err();
        assert_eq!((error.kind(), error.location().key.as_deref()), (ErrorKind::Conflict, Some(key)), "{error}");
        assert_eq!(contents(&*store), before);
        // What was written to the new hierarchy is not dropped without a word either.
        assert!(Migration::undo(&store, None).is_err() && contents(&*store) == before);
        Migration::undo_with_changes(&store, None).unwrap();
        migrate(&store, Dialect::V3).unwrap();
        Migration::finish(&store, None).unwrap();
    }
}

#[test]
fn an_erase_of_the_root_takes_the_record_with_it() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[2], "int8").dialect(Dialect::V2);
    zarr::create((&store, "/a")).array(new).unwrap().write(.., &[1_i8, 2]).unwrap();
    migrate(&store, Dialect::V3).unwrap();
    assert!(contents(&*store).contains_key(RECORD));
    zarr::hierarchy::erase_node(&*store, &zarr::hierarchy::open_node(&*store, "/", None).unwrap()).unwrap();
    assert!(contents(&*store).is_empty());
}
