//! Nodes that are replaced in one step, and journals that say of erased chunks that they are there.

use crate::interrupted::{interrupted, interrupted_at_once};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow::{Break, Continue};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use tempfile::TempDir;
use zarr::convert::{Conversion, ConvertOptions, Transfer};
use zarr::hierarchy::{consolidate, erase_node, open_node, walk};
use zarr::prelude::*;
use zarr::store::{Answer, Call, FilesystemStore, Key, MemoryStore, Prefix, StoreExt};
use zarr::{Dialect, Error, ErrorKind};
use zarr_store::testing::{Altered, Intercepted};

/// Stores that exchange prefixes: memory, and a directory that is kept.
pub(crate) fn stores() -> [(Arc<dyn Store>, Option<TempDir>); 2] {
    let folder = tempfile::tempdir().unwrap();
    let files = FilesystemStore::create(folder.path()).unwrap();
    [(Arc::new(MemoryStore::new()), None), (Arc::new(files), Some(folder))]
}

fn contents(store: &Arc<dyn Store>) -> BTreeMap<String, Vec<u8>> {
    let keys = store.list().unwrap();
    keys.iter().map(|key| (key.to_string(), store.get_all(key).unwrap().unwrap().to_vec())).collect()
}

fn array(store: &Arc<dyn Store>, path: &str, dialect: Dialect, elements: &[i8]) {
    let new = NewArray::new(&[elements.len() as u64], "int8").chunks(&[2]).attribute("of", path).dialect(dialect);
    zarr::create((store, path)).array(new).unwrap().write(.., elements).unwrap();
}

/// The arrays at and below a path, with their elements and attributes; `None` if there is no node.
fn nodes(store: &Arc<dyn Store>, path: &str) -> Option<BTreeMap<String, (Vec<i8>, String)>> {
    let walked = match walk(&**store, path, None) {
        Err(error) if error.is_not_found() => return None,
        walked => walked.unwrap(),
    };
    assert!(walked.broken.is_empty(), "{:?}", walked.broken);
    let arrays = walked.nodes.iter().filter(|node| node.node.as_array().is_some()).map(|node| {
        let array = zarr::open((store, &node.path.to_string())).array().unwrap();
        (node.path.to_string(), (array.read(..).unwrap(), format!("{:?}", array.attributes().unwrap().get("of"))))
    });
    Some(arrays.collect())
}

pub(crate) type Verb<'v> = (&'v str, &'v dyn Fn(&Arc<dyn Store>, bool) -> Result<(), Error>);

/// Verbs that replace the node at /g/a; with `true` those that can go on where they were interrupted.
pub(crate) fn verbs() -> Vec<Verb<'static>> {
    fn options(dialect: Dialect, resume: bool) -> ConvertOptions {
        let (node, to) = ("/new".parse_path(), "/g/a".parse_path());
        ConvertOptions::default().node(node).to(to).dialect(dialect).overwrite(true).resume(resume)
    }
    fn convert(store: &Arc<dyn Store>, options: ConvertOptions) -> Result<(), Error> {
        // Read where nothing is interrupted.
        Conversion::plan(store, &zarr::registry::default(), options)?.run(store, |_| {})
    }
    vec![
        ("an array", &|store, _| {
            let dialect = open_node(&**store, "/g", None)?.dialect;
            let new = NewArray::new(&[5], "int8").chunks(&[2]).attribute("of", "new").dialect(dialect).overwrite(true);
            zarr::create((store, "/g/a")).array(new).map(drop)
        }),
        ("a group", &|store, _| {
            let new = NewGroup::new().attribute("of", "new").overwrite(true);
            zarr::create((store, "/g/a")).group(new).map(drop)
        }),
        ("a copy", &|store, resume| {
            let copy = Transfer::of(store, "/new").to("/g/a").overwrite(true).resume(resume);
            copy.copy(&zarr::registry::default())
        }),
        ("other chunks", &|store, resume| {
            let dialect = open_node(&**store, "/g", None)?.dialect;
            convert(store, options(dialect, resume).chunks(vec![3]))
        }),
    ]
}

trait ParsePath {
    fn parse_path(&self) -> zarr::meta::NodePath;
}

impl ParsePath for str {
    fn parse_path(&self) -> zarr::meta::NodePath {
        zarr::meta::NodePath::parse(self).unwrap()
    }
}

pub(crate) fn prepare(store: &Arc<dyn Store>, dialect: Dialect) {
    for (path, elements) in [
        ("/g/a/x", &[1, 2, 3, 4, 5][..]),
        ("/g/a/deep/y", &[6, 7]),
        ("/g/b", &[8]),
        ("/new/x", &[-1, -2, -3, -4]),
        ("/new/z", &[-5, -6, -7]),
    ] {
        array(store, path, dialect, elements);
    }
}

#[test]
fn whatever_is_the_last_call_the_old_node_or_the_new_one_is_there_as_a_whole() {
    for dialect in [Dialect::V2, Dialect::V3] {
        for (name, verb) in verbs() {
            let undisturbed: Arc<dyn Store> = Arc::new(MemoryStore::new());
            prepare(&undisturbed, dialect);
            let old = nodes(&undisturbed, "/g/a").unwrap();
            verb(&undisturbed, false).unwrap();
            let new = nodes(&undisturbed, "/g/a").unwrap();
            assert_ne!(old, new);
            let expected: Vec<String> = contents(&undisturbed).into_keys().collect();
            let (mut olds, mut news) = (0, 0);
            for files in 0..2 {
                for left in 0.. {
                    assert!(left < 200, "{name}: it does not end");
                    let [memory, directory] = stores();
                    let (store, _kept) = if files == 1 { directory } else { memory };
                    prepare(&store, dialect);
                    let done = verb(&interrupted_at_once(&store, left), false);
                    let seen = nodes(&store, "/g/a").expect("it is always there");
                    let at = format!("{dialect} {name}, after {left} calls, {done:?}");
                    assert!(seen == old || seen == new, "{at}: {seen:?}");
                    (olds, news) = (olds + u32::from(seen == old), news + u32::from(seen == new));
                    let paths = walk(&*store, "/", None).unwrap().nodes;
                    assert!(paths.iter().all(|node| !node.path.to_string().contains(".z")), "{at}");
                    assert_eq!(nodes(&store, "/g/b").unwrap().len(), 1);
                    let is_done = done.is_ok();
                    if !is_done {
                        verb(&store, left % 2 == 0).unwrap();
                    }
                    assert!(nodes(&store, "/g/a") == Some(new.clone()), "{at}");
                    // Nothing is left of the old node, of an unfinished one, or of a journal.
                    assert_eq!(contents(&store).into_keys().collect::<Vec<_>>(), expected, "{at}");
                    if is_done {
                        break;
                    }
                }
            }
            assert!(olds > 3 && news > 3, "{name}: {olds} {news}");
        }
    }
}

/// In dialects that keep documents apart from chunks, and in stores that exchange nothing, the old node is erased first, and no mix is
/// ever seen either.
#[test]
fn elsewhere_a_node_is_erased_first() {
    for (dialect, at_once) in [(Dialect::V3Draft2022, true), (Dialect::V2, false), (Dialect::V3, false)] {
        for (name, verb) in verbs() {
            let mut gone = 0;
            for left in 0.. {
                let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
                prepare(&store, dialect);
                let old = nodes(&store, "/g/a").unwrap();
                let through = if at_once { interrupted_at_once(&store, left) } else { interrupted(&store, left) };
                let done = verb(&through, false);
                let seen = nodes(&store, "/g/a").unwrap_or_default();
                gone += u32::from(seen.is_empty() || seen.len() < old.len() && done.is_err());
                for (path, elements) in seen {
                    let is_new = elements.0.iter().all(|&element| element <= 0);
                    assert!(
                        is_new || old.get(&path) == Some(&elements),
                        "{dialect} {name} {left} {path}: {elements:?}"
                    );
                }
                assert!(contents(&store).keys().all(|key| !key.contains(".zreplacement")));
                if done.is_ok() {
                    break;
                }
            }
            assert!(gone > 0, "{dialect} {name}");
        }
    }
}

/// Overwrites run while a thread opens and reads: each time it finds an array, and the elements that it reads are of the array that it
/// found, unless that was replaced meanwhile.
#[test]
fn a_reader_beside_overwrites_always_finds_an_array() {
    // Elsewhere there is none for a moment in a directory.
    let (in_one_step, stores) = (if cfg!(target_os = "linux") { 2 } else { 1 }, stores());
    for (store, _kept) in stores.into_iter().take(in_one_step) {
        let registry = zarr::registry::default();
        let source: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = |generation: i16, fill: i16| {
            let new = NewArray::new(&[40], "int16").chunks(&[4]).attribute("generation", i64::from(generation));
            new.fill(i64::from(fill)).overwrite(true)
        };
        zarr::create((&store, "/g/a")).array(new(0, 0)).unwrap();
        let is_over = AtomicBool::new(false);
        let generation =
            |array: &Array| array.attributes().unwrap().get("generation").and_then(zarr::json::Value::as_i64).unwrap();
        let (opened, compared, seen) = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let (mut opened, mut compared, mut seen) = (0, 0, BTreeSet::new());
                while !is_over.load(SeqCst) {
                    let open =
                        || zarr::open((&store, "/g/a")).array().unwrap_or_else(|error| panic!("{opened}: {error}"));
                    let first = open();
                    let read = first.read::<i16>(..);
                    let (before, after) = (generation(&first), generation(&open()));
                    opened += 2;
                    seen.insert(before);
                    if before == after {
                        assert_eq!(read.unwrap(), [before as i16; 40]);
                        compared += 1;
                    }
                }
                (opened, compared, seen.len())
            });
            for generation in 1..=60 {
                if generation % 2 == 0 {
                    zarr::create((&store, "/g/a")).array(new(generation, generation)).unwrap();
                } else {
                    let array = zarr::create((&source, "/s")).array(new(generation, -1)).unwrap();
                    array.fill(.., generation).unwrap();
                    let copy = Transfer::of(&source, "/s").in_store(&store).to("/g/a").overwrite(true);
                    copy.copy(&registry).unwrap();
                }
            }
            is_over.store(true, SeqCst);
            reader.join().unwrap()
        });
        println!("{store}: opened {opened} times, compared {compared} times, {seen} generations");
        assert!(opened > 20 && compared > 5 && seen > 3, "{opened} {compared} {seen}");
        assert_eq!(store.list().unwrap().iter().filter(|key| key.as_str().contains(".z")).count(), 0);
    }
}

/// The copy of all metadata is right until the node is replaced, and is gone then.
#[test]
fn consolidated_metadata_stays_as_long_as_the_old_node() {
    for dialect in [Dialect::V2, Dialect::V3] {
        let verbs = verbs();
        let (name, verb) = verbs[3];
        let (mut kept, mut dropped) = (0, 0);
        for left in 0.. {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            prepare(&store, dialect);
            consolidate(&*store, "/g", None).unwrap();
            let old = nodes(&store, "/g/a");
            let done = verb(&interrupted_at_once(&store, left), false);
            let has_copy = walk(&*store, "/g", None).unwrap().consolidated.is_some();
            assert!(!has_copy || nodes(&store, "/g/a") == old, "{dialect} {name} {left}: a stale copy");
            (kept, dropped) = (kept + u32::from(has_copy), dropped + u32::from(!has_copy));
            if done.is_ok() {
                break;
            }
        }
        assert!(kept > 5 && dropped > 2, "{dialect}: {kept} {dropped}");
    }
}

/// The nodes that an interrupted overwrite has left go with the node.
#[test]
fn an_erased_node_takes_unfinished_ones_along() {
    let verbs = verbs();
    for left in [3, 6, 9] {
        for (store, _kept) in stores() {
            prepare(&store, Dialect::V3);
            assert!(verbs[3].1(&interrupted_at_once(&store, left), false).is_err());
            assert!(contents(&store).keys().any(|key| key.starts_with("g/.zreplacement/a/")), "{left}");
            erase_node(&*store, &open_node(&*store, "/g/a", None).unwrap()).unwrap();
            assert!(contents(&store).keys().all(|key| !key.contains("/.z") && !key.contains("g/a")), "{left}");
        }
    }
}

/// A store over another that says that it exchanges prefixes, and does not: as a directory does in which something may not be renamed.
fn declining(store: &Arc<dyn Store>) -> Arc<dyn Store> {
    Arc::new(Intercepted::new(Arc::clone(store), |store, call| match call {
        Call::ExchangePrefixes { .. } => Ok(Break(Answer::Is(false))),
        Call::ErasePrefix { .. } | Call::RenamePrefix { .. } | Call::Flush => store.call(call).map(Break),
        _ => Ok(Continue(call)),
    }))
}

#[test]
fn a_node_that_may_not_be_exchanged_is_erased_before_the_new_one_gets_its_path() {
    for (name, verb) in verbs() {
        let [(memory, _), (files, _kept)] = stores();
        for store in [&memory, &files] {
            prepare(store, Dialect::V3);
        }
        verb(&memory, false).unwrap();
        let declining = declining(&files);
        verb(&declining, false).unwrap();
        assert_eq!(nodes(&files, "/g/a"), nodes(&memory, "/g/a"), "{name}");
        assert!(contents(&files).keys().eq(contents(&memory).keys()), "{name}");
    }
}

/// Where the store says what it cannot do: at the key, of the node, in the store.
#[test]
fn a_journal_that_cannot_be_looked_for_is_an_error_that_says_where() {
    let source: Arc<dyn Store> = Arc::new(MemoryStore::new());
    array(&source, "/a", Dialect::V3, &[1]);
    let target: Arc<dyn Store> =
        Arc::new(Altered::new(MemoryStore::new()).getting(|store, key, ranges| match key.name() == ".zconversion-b" {
            true => Err(zarr_store::Error::io(
                store,
                zarr::store::Operation::Get,
                key.as_str(),
                std::io::Error::other("lost"),
            )),
            false => store.get_ranges(key, ranges),
        }));
    let error =
        Transfer::of(&source, "/a").in_store(&target).to("/b").move_all(&zarr::registry::default()).unwrap_err();
    assert_eq!(error.location().path.as_deref(), Some("/b"), "{error}");
    assert_eq!(error.location().store.as_deref(), Some("memory:"), "{error}");
}

/// An unfinished conversion of a group, of which the first array is there. True if there is a journal.
fn begun(left: u64) -> (Arc<dyn Store>, Arc<dyn Store>, bool) {
    let [source, target]: [Arc<dyn Store>; 2] = [(); 2].map(|()| Arc::new(MemoryStore::new()) as Arc<dyn Store>);
    array(&source, "/g/a", Dialect::V3, &[1, 2, 3, 4, 5, 6]);
    array(&source, "/g/b", Dialect::V3, &[1, 2, 3, 4, 5, 6, 7, 8]);
    let copy = Transfer::of(&source, "/g").in_store(&interrupted_at_once(&target, left)).to("/h/g");
    let is_over = copy.copy(&zarr::registry::default()).is_ok();
    let has_journal = target.exists(&Key::new("h/.zconversion-g").unwrap()).unwrap();
    assert!(!is_over || !has_journal);
    (source, target, !is_over)
}

fn resume(source: &Arc<dyn Store>, target: &Arc<dyn Store>) -> Result<(), Error> {
    Transfer::of(source, "/g").in_store(target).to("/h/g").resume(true).copy(&zarr::registry::default())
}

/// All arrays in the target have the elements of the source.
fn check(source: &Arc<dyn Store>, target: &Arc<dyn Store>, at: &str) {
    let whole = nodes(source, "/g").unwrap();
    for (path, elements) in nodes(target, "/h").unwrap_or_default() {
        assert_eq!(Some(&elements), whole.get(path.trim_start_matches("/h")), "{at}: {path}");
    }
}

#[test]
fn a_journal_is_not_believed_after_its_chunks_were_erased_or_moved() {
    let erase = |target: &Arc<dyn Store>, path: &str| match open_node(&**target, path, None) {
        Ok(found) => erase_node(&**target, &found).unwrap(),
        Err(error) => assert!(error.is_not_found(), "{error}"),
    };
    let moved = |target: &Arc<dyn Store>| {
        let through = interrupted_at_once(target, u64::MAX);
        match Transfer::of(&through, "/h/g").to("/h/k").move_all(&zarr::registry::default()) {
            Ok(()) => erase(target, "/h/k"),
            Err(error) => assert!(matches!(error.kind(), ErrorKind::NotFound), "{error}"),
        }
    };
    let by_others = |target: &Arc<dyn Store>| target.erase_prefix(&Prefix::new("h/g/").unwrap()).unwrap();
    type Act<'a> = &'a dyn Fn(&Arc<dyn Store>);
    let acts: [(&str, Act<'_>); 5] = [
        ("rm", &|target| erase(target, "/h/g")),
        ("rm of an array", &|target| erase(target, "/h/g/a")),
        ("rm of the group above", &|target| erase(target, "/h")),
        ("mv", &moved),
        ("other software", &by_others),
    ];
    for (name, act) in acts {
        let (mut resumed, mut refused) = (0, 0);
        for left in 0.. {
            let (source, target, is_begun) = begun(left);
            if !is_begun {
                break;
            }
            act(&target);
            let at = format!("{name} after {left} calls");
            match resume(&source, &target) {
                Ok(()) => {
                    assert_eq!(nodes(&target, "/h/g").map(|nodes| nodes.len()), Some(2), "{at}");
                    resumed += 1;
                }
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::Exists | ErrorKind::Conflict), "{at}: {error}");
                    assert!(error.hint().is_some_and(|hint| hint.contains("--overwrite")), "{at}: {error:?}");
                    refused += 1;
                }
            }
            check(&source, &target, &at);
            let anew = Transfer::of(&source, "/g").in_store(&target).to("/h/g").overwrite(true);
            anew.copy(&zarr::registry::default()).unwrap();
            assert_eq!(nodes(&target, "/h/g").map(|nodes| nodes.len()), Some(2), "{at}");
            check(&source, &target, &at);
        }
        assert!(resumed + refused > 10, "{name}: {resumed} {refused}");
        assert!(name != "other software" || refused > 2, "{refused}");
    }
}

/// Journals lie beside nodes, and so may not lie where the documents and chunks of a group do, nor among the keys of nodes at the root.
#[test]
fn erasing_a_group_or_the_root_takes_along_what_is_of_conversions_to_nodes_below() {
    for dialect in [Dialect::V2, Dialect::V3, Dialect::V3Draft2022] {
        for (path, at_once) in [("/g", true), ("/g", false), ("/", true), ("/", false)] {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            array(&store, "/g/a", dialect, &[1, 2, 3]);
            array(&store, "/h/b", dialect, &[1, 2, 3]);
            let of_a = [
                "g/.zconversion-a",
                "g/.zconversion.1-of-2-a",
                "g/.zconversion.scratch.1-of-2.7-a",
                "g/.zconversion.scratch.3-a",
            ];
            let others =
                ["h/.zconversion-c", "h/.zconversion.1-of-2-c", "h/.zreplacement/c/0000000000000001/zarr.json"];
            for name in of_a.iter().chain(&others) {
                store.set_all(&Key::new(name).unwrap(), b"{}").unwrap();
            }
            // Nodes are replaced where prefixes are exchanged, and documents lie beside chunks.
            if matches!(dialect, Dialect::V2 | Dialect::V3) && (at_once || path != "/") {
                for name in ["g/.zreplacement/a/0000000000000001/zarr.json", "g/.zreplacement/a/0000000000000002/c/0"] {
                    store.set_all(&Key::new(name).unwrap(), b"{}").unwrap();
                }
            }
            let through = if at_once { interrupted_at_once(&store, u64::MAX) } else { interrupted(&store, u64::MAX) };
            erase_node(&*through, &open_node(&*through, path, None).unwrap()).unwrap();
            let left: Vec<String> = contents(&store)
                .into_keys()
                .filter(|key| key.contains(".zconversion") || key.contains(".zrepl"))
                .collect();
            // Of a node that is not there yet nothing is erased at the root, and so its journal is still right.
            assert_eq!(left, others, "{dialect} {path} {at_once}");
        }
    }
}

/// Without the journal's being dropped, a node that is moved away would leave one that says its chunks are there.
#[test]
fn erasing_and_moving_drop_the_journals_of_parts() {
    for by_move in [false, true] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        array(&store, "/g/a", Dialect::V3, &[1, 2, 3]);
        let journals = ["g/.zconversion-a", "g/.zconversion.1-of-2-a", ".zconversion-g", ".zconversion.2-of-2-g"];
        let others = ["g/.zconversion-b", "g/.zconversion.1-of-2-b"];
        for name in journals.iter().chain(&others) {
            store.set_all(&Key::new(name).unwrap(), b"{}").unwrap();
        }
        let through = interrupted_at_once(&store, u64::MAX);
        match by_move {
            true => Transfer::of(&through, "/g/a").to("/g/c").move_all(&zarr::registry::default()).unwrap(),
            false => erase_node(&*through, &open_node(&*through, "/g/a", None).unwrap()).unwrap(),
        }
        let left: Vec<String> = contents(&store).into_keys().filter(|key| key.contains(".zconversion")).collect();
        assert_eq!(left, others, "{by_move}");
    }
}

/// A node that is created where a conversion was interrupted is not what that would go on with.
#[test]
fn creating_with_overwrite_drops_what_is_unfinished_where_no_node_is() {
    for (store, _folder) in stores() {
        zarr::create((&store, "/g")).group(NewGroup::new()).unwrap();
        let left = ["g/.zconversion-a", "g/.zconversion.1-of-2-a", "g/.zreplacement/a/0000000000000001/zarr.json"];
        let create = |is_array: bool, overwrite: bool| -> zarr::Result<()> {
            let create = zarr::create((&store, "/g/a"));
            match is_array {
                true => create.array(NewArray::new(&[3], "int8").overwrite(overwrite)).map(drop),
                false => create.group(NewGroup::new().overwrite(overwrite)).map(drop),
            }
        };
        for is_array in [false, true] {
            for name in left {
                store.set_all(&Key::new(name).unwrap(), b"{}").unwrap();
            }
            create(is_array, true).unwrap();
            let keys = contents(&store);
            assert!(keys.keys().all(|key| !key.contains("/.z")), "{:?}", keys.keys());
            erase_node(&*store, &open_node(&*store, "/g/a", None).unwrap()).unwrap();
            // Without it, the conversion is that of whoever began it.
            store.set_all(&Key::new(left[0]).unwrap(), b"{}").unwrap();
            create(is_array, false).unwrap();
            assert!(contents(&store).contains_key(left[0]));
            erase_node(&*store, &open_node(&*store, "/g/a", None).unwrap()).unwrap();
        }
    }
}
