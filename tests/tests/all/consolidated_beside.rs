//! Consolidated metadata beside changes of nodes: exchanged, and never absent.

use crate::interrupted::interrupted;
use std::ops::ControlFlow::Continue;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use tempfile::TempDir;
use zarr::check::{CheckOptions, Code, Event, check};
use zarr::dataset::{Dataset, NewDataset, NewVariable};
use zarr::hierarchy::{consolidate, consolidated_above, open_node, set_attributes, staleness, walk_consolidated};
use zarr::store::{FilesystemStore, Key, MemoryStore, Store, StoreExt};
use zarr_array::{Array, Dialect, ErrorKind, Group, NewArray, NewGroup, json};
use zarr_store::AccessProfile;
use zarr_store::testing::{Altered, Intercepted};

const VARIABLES: usize = 5;

fn variables(len: usize) -> NewDataset {
    let variable = |number: usize| {
        let values: Vec<i32> = (0..len as i32).collect();
        NewVariable::new(&format!("v{number}"), &["time"], values).unwrap().chunks(&[4]).codecs("bytes").unwrap()
    };
    (0..VARIABLES).fold(NewDataset::new(), |new, number| new.variable(variable(number)))
}

fn open(store: &Arc<dyn Store>) -> zarr::Result<Dataset> {
    Dataset::open(&Group::open(store, "/d", &zarr::registry::default())?)
}

/// A data set below a group, both with consolidated metadata, in a store of this kind.
fn created(dialect: Dialect, folder: Option<&TempDir>) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = match folder {
        Some(folder) => Arc::new(FilesystemStore::create(folder.path()).unwrap()),
        None => Arc::new(MemoryStore::new()),
    };
    let registry = zarr::registry::default();
    Group::create(&store, "/", NewGroup::new().dialect(dialect), &registry).unwrap();
    Dataset::create(&store, "/d", variables(3), &registry).unwrap();
    consolidate(&*store, "/d", None).unwrap();
    consolidate(&*store, "/", None).unwrap();
    store
}

/// The lengths of all variables, as consolidated metadata of a group has them; an error if there are none.
fn lengths(store: &Arc<dyn Store>, group: &str) -> Result<Vec<u64>, String> {
    let walk = walk_consolidated(&**store, group, None).map_err(|error| error.to_string())?;
    let arrays: Vec<_> = walk.nodes.iter().filter(|node| node.node.as_array().is_some()).collect();
    if !arrays.iter().all(|node| node.documents.are_consolidated()) {
        return Err(format!("{group} has no consolidated metadata"));
    }
    Ok(arrays.iter().filter_map(|node| node.node.as_array()?.shape.first().copied()).collect())
}

fn is_one_length(lengths: &[u64]) -> bool {
    lengths.len() == VARIABLES && lengths.iter().all(|len| *len == lengths[0])
}

/// Whether `zarr check` finds that consolidated metadata of a group is stale.
fn is_told_by_check(store: &Arc<dyn Store>, group: &str) -> bool {
    let mut is_told = false;
    let event = |event: Event| {
        if let Event::Finding(finding) = event {
            is_told |= finding.code == Code::StaleConsolidated && finding.path.as_deref() == Some(group);
        }
    };
    check(store, "/", &zarr::registry::default(), &CheckOptions::default(), event).unwrap();
    is_told
}

/// Readers who open by consolidated metadata of the group itself and of the root, beside appends: with consolidated metadata written at
/// the end, and without.
#[test]
fn readers_beside_appends_to_a_data_set_find_one_length() {
    for (dialect, on_disk) in [(Dialect::V2, true), (Dialect::V3, true), (Dialect::V2, false), (Dialect::V3, false)] {
        let folder = tempfile::tempdir().unwrap();
        let store = created(dialect, on_disk.then_some(&folder));
        let is_done = AtomicBool::new(false);
        let (reads, faults) = std::thread::scope(|scope| {
            let read = || {
                let (mut reads, mut faults) = (0, Vec::new());
                while !is_done.load(SeqCst) {
                    reads += 1;
                    faults.extend(open(&store).err().map(|error| error.to_string()));
                    for group in ["/", "/d"] {
                        match lengths(&store, group) {
                            Ok(lengths) if is_one_length(&lengths) => {}
                            Ok(lengths) => faults.push(format!("{group}: {lengths:?}")),
                            Err(error) => faults.push(error),
                        }
                    }
                }
                (reads, faults)
            };
            let readers = [scope.spawn(read), scope.spawn(read)];
            let mut dataset = open(&store).unwrap();
            for number in 0..20 {
                dataset = dataset.append("time", &variables(2).consolidated(number % 2 == 0)).unwrap();
            }
            is_done.store(true, SeqCst);
            readers.into_iter().map(|reader| reader.join().unwrap()).fold(
                (0, Vec::new()),
                |mut all, (reads, faults)| {
                    all.0 += reads;
                    all.1.extend(faults);
                    all
                },
            )
        });
        assert!(faults.is_empty(), "{dialect}: {} faults in {reads} reads: {}", faults.len(), faults[0]);
        assert!(reads > 0);
        for group in ["/", "/d"] {
            assert_eq!(lengths(&store, group).unwrap(), [43; VARIABLES], "{dialect} {group}");
            assert!(!staleness(&*store, group, None).unwrap().unwrap().is_stale(), "{dialect} {group}");
        }
    }
}

/// Whatever call is the last, consolidated metadata has one length of all variables, and is true or found to be stale.
#[test]
fn an_append_to_a_data_set_that_is_stopped_leaves_one_length_in_consolidated_metadata() {
    for dialect in [Dialect::V2, Dialect::V3] {
        let mut were_stale = 0;
        for left in 0.. {
            let store = created(dialect, None);
            let dataset = open(&interrupted(&store, left)).unwrap();
            let done = dataset.append("time", &variables(2));
            for group in ["/", "/d"] {
                let lengths = lengths(&store, group).unwrap();
                assert!(is_one_length(&lengths), "{dialect} {group} after {left} calls: {lengths:?}");
                assert!([3, 5].contains(&lengths[0]), "{dialect} {group} after {left} calls: {lengths:?}");
                let stored =
                    (0..VARIABLES).map(|number| zarr::open((&store, &format!("/d/v{number}"))).array().unwrap());
                let is_true = stored.into_iter().all(|array| array.shape() == [lengths[0]]);
                let is_stale = staleness(&*store, group, None).unwrap().unwrap().is_stale();
                assert_eq!(is_stale, !is_true, "{dialect} {group} after {left} calls");
                were_stale += u32::from(is_stale);
                assert_eq!(is_told_by_check(&store, group), is_stale, "{dialect} {group} after {left} calls");
            }
            if done.is_ok() {
                assert_eq!(lengths(&store, "/d").unwrap(), [5; VARIABLES]);
                break;
            }
            // What is stale is told to who goes on by it, and can be mended.
            if let Err(error) = open(&store).unwrap().append("time", &variables(2)) {
                assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
                assert!(error.hint().is_some_and(|hint| hint.contains("consolidated metadata")), "{error:?}");
                consolidate(&*store, "/d", None).unwrap();
                consolidate(&*store, "/", None).unwrap();
                assert!(!staleness(&*store, "/", None).unwrap().unwrap().is_stale());
            }
        }
        assert!(were_stale > 0);
    }
}

/// An append or a larger shape of one array, stopped at each call, and made again: its copy is mended by the next change.
#[test]
fn a_copy_that_a_stopped_change_leaves_is_mended_by_the_next() {
    for dialect in [Dialect::V2, Dialect::V3] {
        let change = |store: &Arc<dyn Store>, number: usize| {
            let mut array = zarr::open((store, "/d/v1")).array()?;
            match number {
                0 => array.append(0, &[7_i32, 8]),
                1 => array.resize(&[11]),
                _ => array.set_attributes([("units".to_owned(), json!("K"))].into_iter().collect()),
            }
        };
        for number in 0..3 {
            for left in 0.. {
                let store = created(dialect, None);
                let done = change(&interrupted(&store, left), number);
                let stored = open_node(&*store, "/d/v1", None).unwrap().node;
                for group in ["/", "/d"] {
                    let copied = walk_consolidated(&*store, group, None).unwrap();
                    let copied = copied.nodes.iter().find(|node| node.path.to_string() == "/d/v1").unwrap();
                    assert!(copied.documents.are_consolidated(), "{dialect} {number} {left}");
                    assert!(done.is_err() || copied.node == stored, "{dialect} {number} {left}");
                }
                if done.is_ok() {
                    break;
                }
                change(&store, 0).unwrap();
                for group in ["/", "/d"] {
                    assert!(!staleness(&*store, group, None).unwrap().unwrap().is_stale(), "{dialect} {number} {left}");
                }
            }
        }
    }
}

/// Copies of changes at the same time: the last copy is that of the last change.
#[test]
fn copies_of_writers_at_the_same_time_end_true() {
    for (dialect, on_disk) in [(Dialect::V2, true), (Dialect::V3, true), (Dialect::V2, false), (Dialect::V3, false)] {
        let folder = tempfile::tempdir().unwrap();
        let store = created(dialect, on_disk.then_some(&folder));
        std::thread::scope(|scope| {
            for thread in 0..4_usize {
                let store = &store;
                scope.spawn(move || {
                    for change in 0..12_u64 {
                        let path = format!("/d/v{}", thread / 2);
                        if thread % 2 == 0 {
                            zarr::open((store, path.as_str())).array().unwrap().append(0, &[1_i32]).unwrap();
                            continue;
                        }
                        let found = open_node(&**store, &path, None).unwrap();
                        let mut attributes = found.attributes().unwrap().clone();
                        attributes.insert(format!("{thread}.{change}"), change);
                        set_attributes(&**store, &found, attributes).unwrap();
                    }
                });
            }
        });
        for group in ["/", "/d"] {
            let stale = staleness(&*store, group, None).unwrap().unwrap();
            assert!(!stale.is_stale(), "{dialect} {group}: {stale:?}");
        }
        assert_eq!(zarr::open((&store, "/d/v1")).array().unwrap().shape(), [15]);
    }
}

/// Changes that may not leave the old copies to readers drop them: a shape that gets smaller, and all in a store without conditions.
#[test]
fn copies_are_dropped_where_they_cannot_be_exchanged() {
    for dialect in [Dialect::V2, Dialect::V3] {
        let store = created(dialect, None);
        Array::open(&store, "/d/v1", &zarr::registry::default()).unwrap().resize(&[2]).unwrap();
        assert_eq!(consolidated_above(&*store, "/d/v1").unwrap(), [], "{dialect}");
        // In its document version 3 has the copies below, which stay.
        let store = created(dialect, None);
        let found = open_node(&*store, "/d", None).unwrap();
        set_attributes(&*store, &found, [("title".to_owned(), json!("t"))].into_iter().collect()).unwrap();
        assert_eq!(consolidated_above(&*store, "/d").unwrap().len(), 2, "{dialect}");
        for group in ["/", "/d"] {
            assert!(!staleness(&*store, group, None).unwrap().unwrap().is_stale(), "{dialect} {group}");
        }
        let plain = unconditional(created(dialect, None));
        zarr::open((&plain, "/d/v1")).array().unwrap().append(0, &[1_i32]).unwrap();
        assert_eq!(consolidated_above(&*plain, "/d/v1").unwrap(), [], "{dialect}");
        consolidate(&*plain, "/", None).unwrap();
        consolidate(&*plain, "/d", None).unwrap();
        // Which data sets write again.
        Array::open(&plain, "/d/v1", &zarr::registry::default()).unwrap().resize(&[3]).unwrap();
        let dataset = open(&plain).unwrap().append("time", &variables(1)).unwrap();
        assert_eq!(dataset.dimensions()[0].size, 4);
        assert_eq!(lengths(&plain, "/").unwrap(), [4; VARIABLES]);
    }
}

/// One writer sets an attribute, and is held up before it sets the copy. Another sets it back, finds the copy as it is to be, and sets none.
#[test]
fn a_copy_is_looked_at_once_more_after_it_was_set() {
    for (dialect, document) in [(Dialect::V2, "a/.zattrs"), (Dialect::V3, "a/zarr.json")] {
        let gets = AtomicUsize::new(0);
        let inner: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let registry = zarr::registry::default();
        Group::create(&inner, "/", NewGroup::new().dialect(dialect), &registry).unwrap();
        let new = NewGroup::new().dialect(dialect).attribute("status", "idle");
        Group::create(&inner, "/a", new, &registry).unwrap();
        consolidate(&*inner, "/", None).unwrap();
        let status = |text: &str| [("status".to_owned(), json!(text))].into_iter().collect();
        let store = Altered::new(Arc::clone(&inner)).getting(move |store, key, ranges| {
            let found = store.get_ranges(key, ranges)?;
            // The first one is before the change, the second for the copy.
            if key.as_str() == document && gets.fetch_add(1, SeqCst) == 1 {
                let node = open_node(&**store, "/a", None).unwrap();
                assert_eq!(node.node.attributes().get("status"), Some(&json!("busy")));
                set_attributes(&**store, &node, [("status".to_owned(), json!("idle"))].into_iter().collect()).unwrap();
            }
            Ok(found)
        });
        let node = open_node(&*inner, "/a", None).unwrap();
        set_attributes(&store, &node, status("busy")).unwrap();
        let node = open_node(&*inner, "/a", None).unwrap();
        assert_eq!(node.node.attributes().get("status"), Some(&json!("idle")), "{dialect}");
        assert!(!staleness(&*inner, "/", None).unwrap().expect("a copy").is_stale(), "{dialect}");
    }
}

/// Somebody changes a node that was read for the copy already, and exchanges the copy that is there.
#[test]
fn a_change_of_others_while_a_copy_is_collected_is_in_the_copy() {
    for (dialect, document) in [(Dialect::V2, "d/v0/.zattrs"), (Dialect::V3, "d/v0/zarr.json")] {
        let (inner, is_changed) = (created(dialect, None), AtomicBool::new(false));
        let store = Altered::new(Arc::clone(&inner)).getting(move |store, key, ranges| {
            let found = store.get_ranges(key, ranges)?;
            if key.as_str() == document && !is_changed.swap(true, SeqCst) {
                let node = open_node(&**store, "/d/v0", None).unwrap();
                set_attributes(&**store, &node, [("title".to_owned(), json!("t"))].into_iter().collect()).unwrap();
            }
            Ok(found)
        });
        consolidate(&store, "/", None).unwrap();
        let copied = walk_consolidated(&*inner, "/", None).unwrap();
        let copied = copied.nodes.iter().find(|node| node.path.to_string() == "/d/v0").unwrap();
        assert_eq!(copied.node.attributes().get("title"), Some(&json!("t")), "{dialect}");
        assert!(!staleness(&*inner, "/", None).unwrap().unwrap().is_stale(), "{dialect}");
    }
}

/// Others may read the document, with old copies in it.
#[test]
fn a_group_that_cannot_be_read_is_told_by_a_change_below() {
    let store = created(Dialect::V3, None);
    let key = Key::new("zarr.json").unwrap();
    let text = String::from_utf8(store.get_all(&key).unwrap().unwrap().to_vec()).unwrap();
    let broken = text.replacen(r#""node_type":"#, r#""attributes": 7, "node_type":"#, 1);
    assert_ne!(broken, text);
    store.set_all(&key, broken.as_bytes()).unwrap();
    let node = open_node(&*store, "/d/v0", None).unwrap();
    let told = set_attributes(&*store, &node, [("title".to_owned(), json!("t"))].into_iter().collect()).unwrap_err();
    assert!(told.to_string().contains("attributes"), "{told}");
    assert!(told.hint().unwrap().contains("the change itself is made"), "{told:?}");
    assert_eq!(open_node(&*store, "/d/v0", None).unwrap().node.attributes().get("title"), Some(&json!("t")));
    // The copy that can be read has it.
    assert!(!staleness(&*store, "/d", None).unwrap().unwrap().is_stale());
    // There is none in a document without the member.
    store.set_all(&key, br#"{"zarr_format": 3, "node_type": "group", "attributes": 7}"#).unwrap();
    let node = open_node(&*store, "/d/v0", None).unwrap();
    set_attributes(&*store, &node, [("title".to_owned(), json!("u"))].into_iter().collect()).unwrap();
}

/// A store over another that sets nothing on a condition.
fn unconditional(store: Arc<dyn Store>) -> Arc<dyn Store> {
    let store = Intercepted::new(store, |_, call| Ok(Continue(call)));
    Arc::new(store.with_capabilities(|below| below.conditional(false)))
}

/// Who changes a node and finds no copies to exchange has its change in those that are written at that moment.
#[test]
fn the_first_consolidated_metadata_has_what_others_change_while_it_is_made() {
    for (dialect, document) in [(Dialect::V3, "a/zarr.json"), (Dialect::V2, "a/.zattrs")] {
        let plain: Arc<dyn Store> = Arc::new(MemoryStore::new());
        zarr::create((&plain, "/a")).array(NewArray::new(&[4], "int8").dialect(dialect).attribute("k", 0)).unwrap();
        let (others, reads) = (Arc::clone(&plain), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&reads);
        let disturbed = Altered::new(Arc::clone(&plain)).with_profile(AccessProfile::REMOTE);
        let store = disturbed.getting(move |store, key, ranges| {
            let fetched = store.get_ranges(key, ranges);
            if key.as_str() == document && counted.fetch_add(1, Relaxed) == 0 {
                let node = open_node(&*others, "/a", None).unwrap();
                set_attributes(&*others, &node, [("k".to_owned(), 1.into())].into_iter().collect()).unwrap();
            }
            fetched
        });
        consolidate(&store, "/", None).unwrap();
        assert_eq!(reads.swap(10, Relaxed), 2, "{dialect}");
        assert!(!staleness(&*plain, "/", None).unwrap().unwrap().is_stale(), "{dialect}");
        // Copies that are there are exchanged by those who change nodes: nothing is read twice.
        consolidate(&store, "/", None).unwrap();
        assert_eq!(reads.load(Relaxed), 11, "{dialect}");
    }
}
