//! Tests of snapshots, leftover temporary files, locks and renames.

use std::io::Write;

use super::contract::{each, key};
use super::*;
use zarr_store::{ByteRange, GetOptions, Precondition, Prefix, SetOptions, Snapshot, StoreExt, Version};

fn prefix(text: &str) -> Prefix {
    Prefix::new(text).expect("a prefix")
}

/// Returns the first byte of a value, and a snapshot of its state.
fn begin(store: &FilesystemStore, name: &str) -> (Vec<u8>, Snapshot) {
    let fetched =
        store.get(&key(name), &[ByteRange::Range(0..1)], &GetOptions::snapshot()).expect("get").expect("there");
    (fetched.part(0).to_vec(), fetched.snapshot.expect("a snapshot"))
}

/// Returns the rest of a value in the state of a snapshot.
fn rest(store: &FilesystemStore, name: &str, state: &Snapshot) -> Result<Vec<u8>> {
    let fetched = store.get(&key(name), &[ByteRange::From(1)], &GetOptions::if_match(Some(state.clone())))?;
    Ok(fetched.map_or(b"missing".to_vec(), |fetched| fetched.part(0).to_vec()))
}

#[test]
fn a_file_held_open_keeps_its_bytes() {
    each(|store| {
        store.set_all(&key("a/b"), b"old").expect("set");
        let (first, state) = begin(store, "a/b");
        store.set_all(&key("a/b"), b"newer").expect("set");
        assert_eq!([first, rest(store, "a/b", &state).expect("get")].concat(), b"old");
        store.erase(&key("a/b")).expect("erase");
        assert_eq!(rest(store, "a/b", &state).expect("get"), b"ld");
    });
}

#[test]
fn a_state_that_is_not_held_open_is_compared() {
    each(|store| {
        store.set_all(&key("a"), b"old").expect("set");
        let version = begin(store, "a").1.version().cloned().expect("a version");
        let state = Snapshot::of_version(version);
        assert_eq!(rest(store, "a", &state).expect("get"), b"ld");
        store.set_all(&key("a"), b"new").expect("set");
        assert!(rest(store, "a", &state).expect_err("another state").is_precondition());
        store.erase(&key("a")).expect("erase");
        assert_eq!(rest(store, "a", &state).expect("get"), b"missing");
    });
}

#[test]
fn a_file_that_is_written_in_place_is_noticed() {
    each(|store| {
        for written in [&b"longer than before"[..], b"x", b"same"] {
            store.set_all(&key("a"), b"1234").expect("set");
            let (_, state) = begin(store, "a");
            std::thread::sleep(std::time::Duration::from_millis(20));
            let mut file = fs::File::create(store.path().join("a")).expect("opened");
            file.write_all(written).expect("written");
            assert!(rest(store, "a", &state).expect_err("another state").is_precondition(), "{written:?}");
        }
    });
}

#[test]
fn files_of_dead_writers_are_removed_and_those_of_living_ones_are_not() {
    each(|store| {
        store.set_all(&key("a/b"), b"1").expect("set");
        let path = |name: &str| store.path().join("a").join(name);
        let (dead, living, doomed) = (names::temporary(), names::temporary(), names::temporary());
        fs::write(path(&dead), b"half").expect("written");
        fs::create_dir_all(path(&doomed).join("deep")).expect("made");
        fs::write(path(&doomed).join("deep/chunk"), b"").expect("written");
        let owner = fs::File::create(path(&living)).expect("made");
        owner.try_lock().expect("free");
        // Only a later store looks.
        let fresh = FilesystemStore::on(Arc::clone(&store.vfs), store.path().to_owned());
        assert!(path(&dead).exists());
        fresh.set_all(&key("a/c"), b"2").expect("set");
        assert!(!path(&dead).exists() && !path(&doomed).exists());
        assert!(path(&living).exists(), "its owner lives");
        drop(owner);
        let fresh = FilesystemStore::on(Arc::clone(&store.vfs), store.path().to_owned());
        fresh.set_all(&key("a/b"), b"2").expect("set");
        assert!(!path(&living).exists());
    });
}

#[test]
fn a_prefix_is_renamed_with_all_that_is_in_it() {
    each(|store| {
        for name in ["a/b/c", "a/b/d/e", "x/y"] {
            store.set_all(&key(name), name.as_bytes()).expect("set");
        }
        assert!(store.rename_prefix(&prefix("a/b/"), &prefix("n/m/")).expect("renamed"));
        assert_eq!(store.list().expect("list"), [key("n/m/c"), key("n/m/d/e"), key("x/y")]);
        assert!(!store.path().join("a").exists(), "an emptied directory is removed");
        // Not onto an existing name, not from a missing one, not the root.
        for (from, to) in [("n/", "x/"), ("none/", "z/"), ("x/y/", "z/"), ("n/", "x/y/")] {
            assert!(!store.rename_prefix(&prefix(from), &prefix(to)).expect("not renamed"), "{from} {to}");
        }
        assert!(!store.rename_prefix(&Prefix::root(), &prefix("z/")).expect("not renamed"));
        assert_eq!(store.list().expect("list"), [key("n/m/c"), key("n/m/d/e"), key("x/y")]);
        assert!(!store.path().join("z").exists());
    });
}

#[test]
fn a_value_is_erased_on_the_condition_of_its_version() {
    each(|store| {
        let set =
            |value: &[u8]| store.set(&key("a/b"), value, &SetOptions::default()).expect("set").expect("a version");
        let old = set(b"1");
        let new = set(b"2");
        assert!(!store.erase_version(&key("a/b"), &old).expect("kept"));
        assert_eq!(store.get_all(&key("a/b")).expect("get").as_deref(), Some(&b"2"[..]));
        assert!(store.erase_version(&key("a/b"), &new).expect("erased"));
        assert!(!store.path().join("a").exists(), "an emptied directory is removed");
        for name in ["a/b", "none/b"] {
            assert!(!store.erase_version(&key(name), &new).expect("nothing is there"));
        }
    });
}

#[test]
fn elements_that_are_set_while_others_erase_are_kept() {
    each(|store| {
        // One byte for each writer; whoever finds nothing but zeros in it erases the value.
        let state = || -> Option<(Vec<u8>, Version)> {
            let found = store.get(&key("v"), &[ByteRange::Full], &GetOptions::default()).expect("get")?;
            let version = found.version.clone().expect("a version");
            Some((found.part(0).to_vec(), version))
        };
        std::thread::scope(|scope| {
            for number in 0..4_usize {
                let state = &state;
                scope.spawn(move || {
                    for round in 0..40_u8 {
                        // The last value of each is not zero.
                        let new = if round == 39 { 1 } else { round % 2 };
                        loop {
                            let old = state();
                            let (mut bytes, when) = match old {
                                Some((bytes, version)) => (bytes, Precondition::Version(version)),
                                None => (vec![0; 4], Precondition::NotExists),
                            };
                            bytes[number] = new;
                            match store.set(&key("v"), &bytes, &SetOptions::when(when)) {
                                Ok(_) => break,
                                Err(error) => assert!(error.is_precondition(), "{error}"),
                            }
                        }
                        if let Some((bytes, version)) = state().filter(|(bytes, _)| bytes.iter().all(|&byte| byte == 0))
                        {
                            store
                                .erase_version(&key("v"), &version)
                                .unwrap_or_else(|error| panic!("{bytes:?}: {error}"));
                        }
                    }
                });
            }
        });
        assert_eq!(state().expect("a value").0, [1; 4]);
    });
}

#[test]
fn the_lock_of_a_prefix_excludes_others() {
    each(|store| {
        store.set_all(&key("a/b"), b"").expect("set");
        let other = FilesystemStore::on(Arc::clone(&store.vfs), store.path().join("another name"));
        for locks in [true, false] {
            let store = store.clone().with(FilesystemOptions::default().locks(locks));
            let lock = store.try_lock(&prefix("a/")).expect("a lock").expect("free");
            assert_eq!(lock.excludes_processes(), locks);
            assert!(store.try_lock(&prefix("a/")).expect("a lock").is_none());
            // By another address only the lock of the directory tells.
            assert_eq!(other.try_lock(&prefix("a/")).expect("a lock").is_none(), locks);
            drop(lock);
            assert!(store.try_lock(&prefix("a/")).expect("a lock").is_some());
        }
        // A missing prefix is locked among threads.
        let lock = store.try_lock(&prefix("none/")).expect("a lock").expect("free");
        assert!(store.try_lock(&prefix("none/")).expect("a lock").is_none());
        drop(lock);
        assert!(store.take_warnings().is_empty());
    });
}
