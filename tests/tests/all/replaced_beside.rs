//! Operations on an array beside verbs that replace, move or erase it: none ends well with elements that nobody wrote, or with elements
//! written where nobody finds them.

use std::ops::ControlFlow::{Break, Continue};
use std::sync::Arc;
use std::sync::Mutex;
use tempfile::TempDir;
use zarr::compare::{ArrayDigest, DigestOptions};
use zarr::convert::{Conversion, ConvertOptions, Transfer};
use zarr::hierarchy::{erase_node, open_node};
use zarr::prelude::*;
use zarr::stats::{Statistics, StatsOptions};
use zarr::store::{Call, FilesystemStore, MemoryStore, Prefix, SqliteStore};
use zarr::{Error, ErrorKind, Options};
use zarr_store::StoreExt;
use zarr_store::testing::Intercepted;

/// Change of a store at a chosen request of another.
type Act = Box<dyn FnOnce() + Send>;

/// A request that has to come first, and what happens then.
#[derive(Default)]
struct Trap(Mutex<Option<(usize, Act)>>);

impl Trap {
    /// Sets it: `act` happens before the request for chunks after `left` others.
    fn set(&self, left: usize, act: impl FnOnce() + Send + 'static) {
        *self.0.lock().unwrap() = Some((left, Box::new(act)));
    }

    fn has_sprung(&self) -> bool {
        self.0.lock().unwrap().is_none()
    }

    fn request(&self, key: &str) {
        let is_below_group = key.strip_prefix("g/").is_some_and(|below| below.contains('/'));
        if !key.starts_with("a/c") && !is_below_group {
            return;
        }
        let mut trap = self.0.lock().unwrap();
        match trap.take() {
            Some((0, act)) => act(),
            Some((left, act)) => *trap = Some((left - 1, act)),
            None => {}
        }
    }
}

/// A store over another with a trap, which pinned stores have too.
fn disturbed(store: &Arc<dyn Store>, trap: &Arc<Trap>) -> Arc<dyn Store> {
    let trap = Arc::clone(trap);
    Arc::new(Intercepted::new(Arc::clone(store), move |store, call| match &call {
        Call::Get { key, .. } | Call::Set { key, .. } | Call::Erase { key } => {
            trap.request(key.as_str());
            Ok(Continue(call))
        }
        Call::Pin { .. }
        | Call::IsInPlace
        | Call::ErasePrefix { .. }
        | Call::RenamePrefix { .. }
        | Call::ExchangePrefixes { .. }
        | Call::Leftovers { .. }
        | Call::Flush
        | Call::Barrier => store.call(call).map(Break),
        _ => Ok(Continue(call)),
    }))
}

const OLD: [i32; 16] = [1; 16];
const NEW: [f32; 16] = [1.0; 16];
const WRITTEN: [i32; 16] = [5; 16];

fn create(store: &Arc<dyn Store>, path: &str, data_type: &str) -> Array {
    zarr::create((store, path)).array(NewArray::new(&[16], data_type).chunks(&[2])).unwrap()
}

/// The array that is read and written, and the one that replaces it.
fn prepare(store: &Arc<dyn Store>) {
    create(store, "/a", "int32").write(.., &OLD).unwrap();
    create(store, "/new", "float32").write(.., &NEW).unwrap();
}

type Verb = (&'static str, fn(&Arc<dyn Store>));

fn registry() -> Arc<zarr_array::Registry> {
    zarr::registry::default()
}

/// Changes that others make to the array.
const REPLACING: [Verb; 5] = [
    ("rm", |store| erase_node(&**store, &open_node(&**store, "/a", None).unwrap()).unwrap()),
    ("mv", |store| Transfer::of(store, "/a").to("/moved").move_all(&registry()).unwrap()),
    ("create --overwrite", |store| {
        let new = NewArray::new(&[16], "float32").chunks(&[2]).overwrite(true);
        zarr::create((store, "/a")).array(new).unwrap().write(.., &NEW).unwrap();
    }),
    ("cp --overwrite", |store| Transfer::of(store, "/new").to("/a").overwrite(true).copy(&registry()).unwrap()),
    ("convert --overwrite", |store| {
        let (node, to) = ["/new", "/a"].map(|path| zarr::meta::NodePath::parse(path).unwrap()).into();
        let options = ConvertOptions::default().node(node).to(to).overwrite(true).chunks(vec![4]);
        Conversion::plan(store, &registry(), options).unwrap().run(store, |_| {}).unwrap();
    }),
];

/// An operation, which says whether it gave what the array had when it was opened.
type Operation = (&'static str, fn(&Arc<dyn Store>, Array) -> Result<bool, Error>);

/// Operations that read the array.
const READING: [Operation; 6] = [
    ("read", |_, array| Ok(array.read::<i32>(..)? == OLD)),
    ("read of points", |_, array| Ok(array.read::<i32>("[0, 5, 9, 15]")? == [1; 4])),
    ("stats", |_, array| Ok(Statistics::of(&array, .., &StatsOptions::default())?.numbers.integer_sum == Some(16))),
    ("digest", |store, array| {
        let found = ArrayDigest::of(&array, &DigestOptions::default(), |_| {})?;
        let same = Array::open(store, "/same", &registry())?;
        Ok(found.hash == ArrayDigest::of(&same, &DigestOptions::default(), |_| {})?.hash)
    }),
    ("cp", |store, _| {
        Transfer::of(store, "/a").to("/copy").copy(&registry())?;
        Ok(Array::open(store, "/copy", &registry())?.read::<i32>(..)? == OLD)
    }),
    ("convert", |store, _| {
        let (node, to) = ["/a", "/copy"].map(|path| zarr::meta::NodePath::parse(path).unwrap()).into();
        let options = ConvertOptions::default().node(node).to(to).chunks(vec![3]);
        Conversion::plan(store, &registry(), options)?.run(store, |_| {})?;
        Ok(Array::open(store, "/copy", &registry())?.read::<i32>(..)? == OLD)
    }),
];

/// Operations that change the array.
const WRITING: [Operation; 5] = [
    ("write", |_, array| array.write(.., &WRITTEN).map(|()| true)),
    ("write of parts", |_, array| array.write("::2", &WRITTEN[..8]).map(|()| true)),
    ("write of points", |_, array| array.write("[0, 5, 9, 15]", &WRITTEN[..4]).map(|()| true)),
    ("writer", |_, array| {
        let writer = array.writer();
        (0..16_u64).try_for_each(|at| writer.write(at, &[5]))?;
        writer.finish().map(|()| true)
    }),
    ("append", |_, mut array| array.append(0, &WRITTEN).map(|()| true)),
];

/// A directory, a database, and memory.
fn stores() -> [(&'static str, Arc<dyn Store>, Option<TempDir>); 3] {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = FilesystemStore::create(folder.path()).unwrap();
    let database = SqliteStore::create(other.path().join("x.sqlite")).unwrap();
    [
        ("directory", Arc::new(files), Some(folder)),
        ("SQLite", Arc::new(database), Some(other)),
        ("memory", Arc::new(MemoryStore::new()), None),
    ]
}

/// Calls `check` with each operation, each replacing verb and each store, with its result and the store as it is then.
fn each(operations: &[Operation], check: impl Fn(&str, &str, &str, &Arc<dyn Store>, Result<bool, Error>)) {
    for (name, operation) in operations {
        for (other, replace) in REPLACING {
            for left in [0, 1, 3] {
                for (kind, store, _folder) in stores() {
                    // Each change of a database waits for the disk.
                    if kind == "SQLite" && left != 1 {
                        continue;
                    }
                    prepare(&store);
                    create(&store, "/same", "int32").write(.., &OLD).unwrap();
                    let trap = Arc::new(Trap::default());
                    let disturbed = disturbed(&store, &trap);
                    let options = Options::default().threads(std::num::NonZeroUsize::new(1));
                    let array = zarr::open((&disturbed, "/a")).options(options).array().unwrap();
                    let below = Arc::clone(&store);
                    trap.set(left, move || replace(&below));
                    let done = operation(&disturbed, array);
                    assert!(trap.has_sprung(), "{name} beside {other}: too few requests");
                    check(
                        &format!("{name} beside {other} after {left} requests in {kind}: {done:?}"),
                        other,
                        kind,
                        &store,
                        done,
                    );
                }
            }
        }
    }
}

/// The array that replaced the one that was opened is as it was made.
fn check_new(at: &str, other: &str, store: &Arc<dyn Store>) {
    match other {
        "rm" | "mv" => {
            assert!(store.list_prefix(&Prefix::new("a/").unwrap()).unwrap().is_empty(), "{at}: chunks are left")
        }
        _ => assert_eq!(Array::open(store, "/a", &registry()).unwrap().read::<f32>(..).unwrap(), NEW, "{at}"),
    }
}

#[test]
fn reads_give_what_was_opened_or_an_error() {
    each(&READING, |at, other, _, store, done| {
        match done {
            Ok(is_old) => assert!(is_old, "{at}"),
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Conflict), "{at}: {error}");
                assert!(error.to_string().contains("erased, moved or replaced"), "{at}: {error}");
                assert!(open_node(&**store, "/copy", None).is_err_and(|error| error.is_not_found()), "{at}");
            }
        }
        // Nothing that reads changes the array.
        check_new(at, other, store);
    });
}

#[test]
fn changes_of_an_array_that_is_gone_are_errors() {
    each(&WRITING, |at, other, kind, store, done| {
        let error = done.expect_err(at);
        assert!(matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Conflict | ErrorKind::Store), "{at}: {error}");
        if kind == "directory" {
            // Neither a chunk below a path that is no array, nor one in the array that is there now.
            check_new(at, other, store);
        }
        if other == "mv" && kind == "directory" {
            let moved = Array::open(store, "/moved", &registry()).unwrap().read::<i32>(..).unwrap();
            assert!(moved.iter().all(|element| [1, 5].contains(element)), "{at}: {moved:?}");
        }
    });
}

#[test]
fn an_array_that_was_replaced_before_is_not_written_to() {
    for (other, replace) in REPLACING {
        for (kind, store, _folder) in stores() {
            for (name, operation) in WRITING {
                store.erase_prefix(&Prefix::root()).unwrap();
                prepare(&store);
                let array = Array::open(&store, "/a", &registry()).unwrap();
                replace(&store);
                let at = format!("{name} after {other} in {kind}");
                operation(&store, array).expect_err(&at);
                // In whatever store: nothing was begun.
                check_new(&at, other, &store);
            }
        }
    }
}

#[test]
fn an_array_with_other_attributes_or_more_elements_is_the_same() {
    for (kind, store, _folder) in stores() {
        for (name, operation) in READING[..2].iter().chain(&WRITING[..4]) {
            store.erase_prefix(&Prefix::root()).unwrap();
            prepare(&store);
            let array = Array::open(&store, "/a", &registry()).unwrap();
            let mut other = array.clone();
            other.set_attributes([("of".to_owned(), "new".into())].into_iter().collect()).unwrap();
            other.append(0, &[1_i32]).unwrap();
            assert!(operation(&store, array).unwrap_or_else(|error| panic!("{name} in {kind}: {error}")));
        }
    }
}

/// Changes by others that take the group `/g` away or replace it while its nodes are looked up.
const REPLACING_GROUP: [Verb; 4] = [
    ("rm", |store| erase_node(&**store, &open_node(&**store, "/g", None).unwrap()).unwrap()),
    ("mv", |store| Transfer::of(store, "/g").to("/moved").move_all(&registry()).unwrap()),
    ("create --overwrite", |store| {
        let new = NewGroup::new().attribute("of", "new").overwrite(true);
        zarr::create((store, "/g")).group(new).unwrap();
    }),
    ("cp --overwrite", |store| Transfer::of(store, "/n").to("/g").overwrite(true).copy(&registry()).unwrap()),
];

/// A copy of a group has all nodes of it, or all of the one that replaced it meanwhile.
#[test]
fn a_copy_of_a_group_lacks_no_nodes_that_others_take_away_while_they_are_looked_up() {
    let folder = tempfile::tempdir().unwrap();
    for kind in 0..3 {
        for (name, replace) in REPLACING_GROUP {
            let path = folder.path().join(format!("{kind}-{}", name.replace(' ', "")));
            let plain: Arc<dyn Store> = match kind {
                0 => Arc::new(MemoryStore::new()),
                1 => Arc::new(FilesystemStore::create(&path).unwrap()),
                _ => Arc::new(SqliteStore::create(&path).unwrap()),
            };
            for array in ["/g/a", "/g/b", "/g/h/c"] {
                create(&plain, array, "int32").write(.., &OLD).unwrap();
            }
            create(&plain, "/n/x", "float32").write(.., &NEW).unwrap();
            let trap = Arc::new(Trap::default());
            let store = disturbed(&plain, &trap);
            let others = Arc::clone(&plain);
            trap.set(0, move || replace(&others));
            let copied = Transfer::of(&store, "/g").to("/copy").copy(&registry());
            assert!(trap.has_sprung(), "{kind} {name}");
            let arrays = |path: &str| -> Vec<String> {
                let nodes = zarr::hierarchy::walk(&*plain, path, None).unwrap().nodes;
                let arrays = nodes.iter().filter(|node| node.node.as_array().is_some());
                arrays.map(|node| node.path.to_string()).collect()
            };
            match (name, copied) {
                ("rm" | "mv", Err(error)) => assert!(error.is_not_found(), "{kind} {name}: {error}"),
                ("create --overwrite", Ok(())) => assert_eq!(arrays("/copy"), Vec::<String>::new(), "{kind}"),
                ("cp --overwrite", Ok(())) => assert_eq!(arrays("/copy"), ["/copy/x"], "{kind}"),
                (_, copied) => panic!("{kind} {name}: {copied:?}"),
            }
        }
    }
}
