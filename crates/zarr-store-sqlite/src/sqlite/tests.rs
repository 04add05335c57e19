//! Tests of files of other programs, versions, locks and failures.

mod model;

use std::time::Duration;

use super::*;
use crate::SqliteFault;
use rusqlite::params;
use zarr_store::{
    ByteRange, Durability, ErrorKind, GetOptions, Key, Listing, Precondition, Prefix, SetOptions, Snapshot, StoreExt,
    Version, testing,
};

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

fn prefix(text: &str) -> Prefix {
    Prefix::new(text).expect("a prefix")
}

/// Returns a directory, and the path of a file in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("x.sqlite");
    (folder, path)
}

/// Creates a file in the form of zarr-python 2 with these rows, and returns its connection.
fn foreign(path: &Path, rows: &[(&str, &[u8])]) -> Connection {
    let connection = Connection::open(path).expect("made");
    connection.execute_batch("CREATE TABLE IF NOT EXISTS zarr(k TEXT PRIMARY KEY, v BLOB)").expect("a table");
    for (key, value) in rows {
        connection.execute("REPLACE INTO zarr VALUES (?1, ?2)", params![key, value]).expect("a row");
    }
    connection
}

fn version_of(store: &SqliteStore, name: &str) -> Version {
    let fetched = store.get_ranges(&key(name), &[ByteRange::Full]).expect("get").expect("there");
    fetched.version.expect("a full get knows the version")
}

// clause: d2022-172
#[test]
fn keeps_the_contract() {
    for journal in [Journal::Rollback, Journal::Wal] {
        let (_folder, path) = place();
        testing::contract(
            &SqliteStore::create_with(&path, SqliteOptions::default().journal(journal)).expect("created"),
        );
    }
}

#[test]
fn a_file_from_elsewhere_keeps_the_contract() {
    let (_folder, path) = place();
    foreign(&path, &[]).pragma_update(None, "journal_mode", "WAL").expect("another journal");
    testing::contract(&SqliteStore::open(&path).expect("opened"));
}

#[test]
fn a_file_that_is_only_read_is_not_written() {
    let (folder, path) = place();
    let large = vec![7; 300_000];
    let values: [(&str, &[u8]); 4] = [(".zgroup", b"{}"), ("a/.zarray", b"[]"), ("a/0.0", &large), ("a/0.1", b"")];
    drop(foreign(&path, &values));
    let before = fs::read(&path).expect("read");
    let store = SqliteStore::open_with(&path, SqliteOptions::default().read_only(true)).expect("opened");
    testing::contract_read(&store, &values);
    testing::contract_read_only(&store);
    let hash = version_of(&store, "a/0.0");
    let state = GetOptions::if_match(Some(Snapshot::of_version(hash)));
    let part = store.get(&key("a/0.0"), &[ByteRange::Range(0..2)], &state).expect("get").expect("there");
    assert_eq!(part.part(0), [7, 7]);
    store.flush().expect("nothing to flush");
    drop(store);
    assert_eq!(fs::read(&path).expect("read"), before);
    // A get that may write does not, either.
    let store = SqliteStore::open(&path).expect("opened");
    testing::contract_read(&store, &values);
    drop(store);
    assert_eq!(fs::read(&path).expect("read"), before);
    assert_eq!(fs::read_dir(folder.path()).expect("a directory").count(), 1);
}

#[test]
fn versions_hold_across_sets_of_other_programs() {
    let (_folder, path) = place();
    let other = foreign(&path, &[("a", b"1"), ("b", b"1")]);
    let store = SqliteStore::open(&path).expect("opened");
    // From before there were numbers: the hash holds until the value is set.
    let hash = version_of(&store, "a");
    assert!(hash.as_str().starts_with('h'));
    let first = store.set_if(&key("a"), b"2", &Precondition::Version(hash.clone())).expect("set").expect("a version");
    assert!(
        store.set_if(&key("a"), b"3", &Precondition::Version(hash.clone())).expect_err("changed").is_precondition()
    );
    let kept = version_of(&store, "b");
    assert!(kept.as_str().starts_with('h'), "nothing was set there");
    store.set_if(&key("b"), b"1", &Precondition::Version(kept.clone())).expect("set");
    // A hash of the same bytes is of the same bytes, whatever number there is.
    store.set_if(&key("b"), b"1", &Precondition::Version(kept)).expect("set");

    for statement in [
        "REPLACE INTO zarr VALUES ('a', x'32')",
        "UPDATE zarr SET v = x'32' WHERE k = 'a'",
        "UPDATE OR IGNORE zarr SET v = x'32' WHERE k = 'a'",
        "INSERT OR IGNORE INTO zarr VALUES ('z', x'32'); UPDATE OR REPLACE zarr SET k = 'a' WHERE k = 'z'",
        "DELETE FROM zarr; INSERT OR IGNORE INTO zarr VALUES ('a', x'32')",
    ] {
        let before = store.set_all(&key("a"), b"2").expect("set").expect("a version");
        assert_eq!(version_of(&store, "a"), before);
        other.execute_batch(statement).expect("changed");
        assert_ne!(version_of(&store, "a"), before, "{statement}");
        let error = store.set_if(&key("a"), b"4", &Precondition::Version(before)).expect_err(statement);
        assert!(error.is_precondition(), "{statement}: {error}");
    }
    assert_ne!(first, version_of(&store, "a"));
}

#[test]
fn versions_hold_though_the_table_is_dropped() {
    let (_folder, path) = place();
    let store = SqliteStore::create(&path).expect("created");
    let other = Connection::open(&path).expect("opened");
    let before = store.set_all(&key("a"), b"1").expect("set").expect("a version");
    // As `SQLiteStore.clear` of zarr-python 2 does. The triggers go with the table.
    other
        .execute_batch("BEGIN TRANSACTION; DROP TABLE zarr; CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB); COMMIT")
        .expect("cleared");
    assert_eq!(store.list().expect("list"), []);
    other.execute_batch("REPLACE INTO zarr VALUES ('a', x'32')").expect("set");
    let state = GetOptions::if_match(Some(Snapshot::of_version(before.clone())));
    let error = store.get(&key("a"), &[ByteRange::Full], &state).expect_err("changed");
    assert!(error.is_precondition(), "{error}");
    let error = store.set_if(&key("a"), b"3", &Precondition::Version(before.clone())).expect_err("changed");
    assert!(error.is_precondition(), "{error}");
    assert!(version_of(&store, "a").as_str().starts_with('h'));
    // The next change watches over all that follow.
    store.set_all(&key("b"), b"1").expect("set");
    assert!(version_of(&store, "a").as_str().starts_with('h'), "what was known of the dropped table is forgotten");
    let number = store.set_all(&key("a"), b"2").expect("set").expect("a version");
    assert!(number.as_str().starts_with('n') && number != before);
}

#[test]
fn the_table_that_holds_versions_is_not_taken_from_others() {
    let (_folder, path) = place();
    let other = foreign(&path, &[("a", b"1")]);
    other.execute_batch("CREATE TABLE zarr_version(a)").expect("made");
    let store = SqliteStore::open(&path).expect("opened");
    assert_eq!(store.get_all(&key("a")).expect("get").as_deref(), Some(&b"1"[..]));
    let error = store.set_all(&key("a"), b"2").expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.to_string().contains("zarr_version"), "{error}");
    assert_eq!(store.get_all(&key("a")).expect("get").as_deref(), Some(&b"1"[..]));
}

#[test]
fn parts_of_large_values_are_set_in_place() {
    let (_folder, path) = place();
    let store = SqliteStore::create(&path).expect("created");
    let mut value = vec![1; 1 << 20];
    let first = store.set_all(&key("a"), &value).expect("set").expect("a version");
    store.set_partial(&key("a"), &[(5, b"abc"), (1 << 19, b"x"), (6, b"B")]).expect("set");
    value[5..8].copy_from_slice(b"aBc");
    value[1 << 19] = b'x';
    assert!(store.get_all(&key("a")).expect("get").as_deref() == Some(&value[..]));
    assert_ne!(version_of(&store, "a"), first);
    // One that becomes longer, a text, and one that SQLite could not hold.
    store.set_partial(&key("a"), &[(1 << 20, b"end")]).expect("set");
    value.extend(b"end");
    assert!(store.get_all(&key("a")).expect("get").as_deref() == Some(&value[..]));
    let other = Connection::open(&path).expect("opened");
    let text = "\u{e4}".repeat(50_000);
    other.execute("INSERT INTO zarr VALUES ('t', ?1)", [&text]).expect("set");
    assert!(store.get_all(&key("t")).expect("get").as_deref() == Some(text.as_bytes()));
    assert_eq!(store.size(&key("t")).expect("get"), Some(100_000));
    store.set_partial(&key("t"), &[(1, b"\xff")]).expect("set");
    let got = store.get_all(&key("t")).expect("get").expect("there");
    assert!(got.len() == 100_000 && got[..3] == [0xc3, 0xff, 0xc3]);
    for offset in [1 << 31, u64::MAX, i32::MAX as u64 - 1] {
        let error = store.set_partial(&key("a"), &[(offset, b"x")]).expect_err("too long");
        assert_eq!(error.kind(), ErrorKind::Limit, "{offset}: {error}");
        assert_eq!(error.key(), Some("a"));
    }
    assert!(store.get_all(&key("a")).expect("get").as_deref() == Some(&value[..]));
}

#[test]
fn a_value_that_is_too_long_is_an_error() {
    let (_folder, path) = place();
    let store = SqliteStore::create(&path).expect("created");
    // Memory that is not touched.
    let value = vec![0; 1_000_000_001];
    let error = store.set_all(&key("a/b"), &value).expect_err("too long");
    assert_eq!((error.kind(), error.key()), (ErrorKind::Limit, Some("a/b")), "{error}");
    // The values before the failed one are set.
    let error = store.set_many(&[(&key("x"), b"1"), (&key("y"), &value), (&key("z"), b"3")]).expect_err("too long");
    assert_eq!((error.kind(), error.key()), (ErrorKind::Limit, Some("y")), "{error}");
    assert_eq!(store.list().expect("list"), [key("x")]);
}

#[test]
fn other_files_are_no_stores() {
    let (folder, path) = place();
    let open = |path: &Path| SqliteStore::open(path).expect_err("no store");
    assert!(open(&path).is_not_found());
    assert!(open(&path.join("below")).is_not_found());
    let refused = |path: &Path, what: &str| {
        for error in [open(path), SqliteStore::create(path).expect_err("no store")] {
            assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
            assert!(error.to_string().contains(what), "{error}");
            assert!(
                matches!(error.kind(), ErrorKind::Argument | ErrorKind::Invalid | ErrorKind::Unsupported),
                "{error}"
            );
        }
    };
    refused(folder.path(), "found no file");
    fs::write(&path, "{}".repeat(5000)).expect("written");
    refused(&path, "found another file");
    let made = |statements: &str| {
        let _ = fs::remove_file(&path);
        Connection::open(&path).expect("made").execute_batch(statements).expect("made");
    };
    for (statements, what) in [
        ("CREATE TABLE other(a)", "without that table"),
        ("CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB, n INTEGER)", "n INTEGER"),
        ("CREATE TABLE zarr(k TEXT, v BLOB)", "k TEXT, v BLOB"),
        ("CREATE TABLE zarr(k BLOB PRIMARY KEY, v BLOB)", "k BLOB PRIMARY KEY"),
        ("CREATE TABLE zarr(v BLOB, k TEXT PRIMARY KEY)", "v BLOB, k TEXT"),
        ("CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID", "WITHOUT ROWID"),
        ("CREATE TABLE zarr(k TEXT COLLATE NOCASE PRIMARY KEY, v BLOB)", "NOCASE"),
        ("CREATE TABLE o(k, v); CREATE VIEW zarr AS SELECT k, v FROM o", "a view"),
        ("PRAGMA encoding = 'UTF-16'; CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB)", "UTF-16"),
        ("CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB); INSERT INTO zarr VALUES (x'61', x'')", "BLOB"),
        ("CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB); INSERT INTO zarr VALUES (NULL, x''), ('a', x'')", "NULL"),
    ] {
        made(statements);
        refused(&path, what);
    }
    // Empty files and databases are filled, but not by opening.
    for statements in ["", "CREATE TABLE a(b); DROP TABLE a"] {
        made(statements);
        assert!(open(&path).to_string().contains("an empty database"));
        SqliteStore::create(&path).expect("created").set_all(&key("a"), b"1").expect("set");
        assert_eq!(SqliteStore::create(&path).expect("opened").list().expect("list"), [key("a")]);
    }
    let deep = folder.path().join("not/yet/there.sqlite");
    SqliteStore::create(&deep).expect("created");
    assert!(deep.exists());
}

#[test]
fn rows_that_are_no_values_are_errors_where_they_are_met() {
    let (_folder, path) = place();
    let store = SqliteStore::create(&path).expect("created");
    let other = Connection::open(&path).expect("opened");
    other
        .execute_batch("INSERT INTO zarr VALUES ('i', 1), ('r', 1.5), ('n', NULL), ('a//b', x'01'), ('../c', x'01'), ('ok/1', x'01')")
        .expect("set");
    testing::check_sizes(&store, &Prefix::root());
    for (name, class) in [("i", "INTEGER"), ("r", "REAL"), ("n", "NULL")] {
        let results = [
            store.get_all(&key(name)).map(drop),
            store.size(&key(name)).map(drop),
            store.get_into(&key(name), &mut [0]).map(drop),
            store.set_partial(&key(name), &[(0, b"x")]),
        ];
        for error in results.map(|result| result.expect_err("no value")) {
            assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            assert!(error.to_string().contains(&format!("key {name}: found a value stored as {class}")), "{error}");
        }
        store.set_all(&key(name), b"1").expect("set");
    }
    assert_eq!(store.list().expect("list"), ["i", "n", "ok/1", "r"].map(key));
    let listing = store.list_dir(&Prefix::root()).expect("list");
    assert_eq!(
        (listing.keys, listing.prefixes),
        (["i", "n", "r"].map(key).to_vec(), vec![prefix("a/"), prefix("ok/")])
    );
    assert_eq!(store.list_dir(&prefix("a/")).expect("list"), Listing::default());
    other.execute_batch("INSERT INTO zarr VALUES (CAST(x'62ff' AS TEXT), x'01'), (x'61', x'02')").expect("set");
    let error = store.list().expect_err("not UTF-8");
    assert!(
        matches!(&error, Error::Format { fault, .. } if fault.downcast_ref::<SqliteFault>().is_some()),
        "{error:?}"
    );
    assert_eq!(store.list_dir(&prefix("ok/")).expect("list").keys, [key("ok/1")]);
    other.execute_batch("DELETE FROM zarr WHERE typeof(k) = 'text' AND hex(k) = '62FF'").expect("erased");
    assert!(store.list().expect_err("no text").to_string().contains("found a key stored as BLOB"));
    store.erase_prefix(&Prefix::root()).expect("erased");
    assert_eq!(store.list().expect("list"), []);
}

#[test]
fn who_waits_too_long_gets_an_error_and_has_changed_nothing() {
    let (_folder, path) = place();
    SqliteStore::create(&path).expect("created").set_all(&key("a"), b"1").expect("set");
    let store = SqliteStore::open_with(&path, SqliteOptions::default().busy_timeout(Duration::from_millis(50)));
    let store = store.expect("opened");
    let other = Connection::open(&path).expect("opened");
    other.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    let refusals = [
        store.get_all(&key("a")).map(drop),
        store.set_all(&key("a"), b"2").map(drop),
        store.erase_prefix(&Prefix::root()),
        store.list().map(drop),
    ];
    for error in refusals.map(|refusal| refusal.expect_err("locked")) {
        assert_eq!(error.kind(), ErrorKind::Throttled, "{error}");
        let source = std::error::Error::source(&error).expect("a source").to_string();
        assert!(source.contains("locked by other connections for 50ms"), "{source}");
    }
    other.execute_batch("COMMIT").expect("unlocked");
    // A reader keeps a writer from ending its change.
    other.execute_batch("BEGIN; SELECT * FROM zarr").expect("reading");
    assert_eq!(store.set_all(&key("a"), b"2").expect_err("read").kind(), ErrorKind::Throttled);
    assert_eq!(store.get_all(&key("a")).expect("get").as_deref(), Some(&b"1"[..]));
    other.execute_batch("COMMIT").expect("done");
    store.set_all(&key("a"), b"2").expect("set");
    assert_eq!(store.get_all(&key("a")).expect("get").as_deref(), Some(&b"2"[..]));
}

#[test]
fn damaged_files_are_errors_that_name_the_key() {
    let (_folder, path) = place();
    let value = vec![5; 200_000];
    let names: Vec<Key> = (0..50).map(|i| key(&format!("a/{i}"))).collect();
    let store = SqliteStore::create(&path).expect("created");
    store.set_many(&names.iter().map(|name| (name, &value[..])).collect::<Vec<_>>()).expect("set");
    drop(store);
    let whole = fs::read(&path).expect("read");
    let mut failed = 0;
    for (from, to) in [(1 << 20, whole.len()), (3 << 20, 4 << 20), (8192, 16384), (4096, 8192)] {
        for filled in [0, 0xAB] {
            let mut broken = whole.clone();
            broken[from..to].fill(filled);
            fs::write(&path, &broken).expect("written");
            let store = match SqliteStore::open(&path) {
                Ok(store) => store,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
                    failed += 1;
                    continue;
                }
            };
            for name in &names {
                match store.get_all(name) {
                    // Bytes within a value carry no checksum of SQLite's.
                    Ok(got) => assert!(got.is_none_or(|got| got.len() == value.len())),
                    Err(error) => {
                        assert_eq!((error.kind(), error.key()), (ErrorKind::Invalid, Some(name.as_str())), "{error}");
                        failed += 1;
                    }
                }
            }
            if let Err(error) = store.list() {
                assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            }
        }
    }
    assert!(failed > 50, "{failed}");
    fs::write(&path, &whole[..whole.len() / 2]).expect("written");
    assert!(SqliteStore::open(&path).and_then(|store| store.get_all(&key("a/49"))).is_err());
}

#[test]
fn a_store_stays_with_its_file() {
    let (folder, path) = place();
    let store = SqliteStore::create(&path).expect("created");
    store.set_all(&key("a"), b"1").expect("set");
    fs::rename(&path, folder.path().join("moved")).expect("moved");
    SqliteStore::create(&path).expect("created").set_all(&key("a"), b"another").expect("set");
    // The connection of this thread has the old file; another thread would need a new one.
    assert_eq!(store.get_all(&key("a")).expect("get").as_deref(), Some(&b"1"[..]));
    let held = store.pool.reader().expect("a reader");
    let error = std::thread::scope(|scope| scope.spawn(|| store.get_all(&key("a"))).join().expect("no panic"));
    assert_eq!(error.expect_err("another file").kind(), ErrorKind::Io);
    drop(held);
    assert_eq!(store.set_all(&key("a"), b"2").expect_err("moved").kind(), ErrorKind::Io);
}

#[test]
fn more_threads_than_connections_read_at_once() {
    let (_folder, path) = place();
    let store = SqliteStore::create(&path).expect("created");
    let value = vec![3; 100_000];
    store.set_all(&key("a"), &value).expect("set");
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                for _ in 0..5 {
                    assert!(store.get_all(&key("a")).expect("get").as_deref() == Some(&value[..]));
                }
            });
        }
    });
}

#[cfg(unix)]
#[test]
fn the_lock_of_a_prefix_excludes_others() {
    let (folder, path) = place();
    let store = SqliteStore::create(&path).expect("created");
    let lock = store.try_lock(&prefix("a/")).expect("a lock").expect("free");
    assert!(lock.excludes_processes());
    assert!(store.try_lock(&prefix("a/")).expect("a lock").is_none());
    // By another name.
    std::os::unix::fs::symlink(&path, folder.path().join("y.sqlite")).expect("a link");
    let other = SqliteStore::open(folder.path().join("y.sqlite")).expect("opened");
    assert!(other.try_lock(&prefix("a/")).expect("a lock").is_none());
    let second = other.try_lock(&prefix("b/")).expect("a lock").expect("free");
    assert_eq!(fs::read_dir(folder.path()).expect("a directory").count(), 4);
    drop((lock, second));
    assert!(store.try_lock(&prefix("a/")).expect("a lock").is_some());
    assert_eq!(fs::read_dir(folder.path()).expect("a directory").count(), 2, "nothing is left");
    let read_only = SqliteStore::open_with(&path, SqliteOptions::default().read_only(true)).expect("opened");
    assert!(!read_only.try_lock(&prefix("a/")).expect("a lock").expect("free").excludes_processes());
}

#[test]
fn ranges_of_large_values_are_read_alone() {
    let (_folder, path) = place();
    let store = SqliteStore::create(&path).expect("created");
    let value: Vec<u8> = (0..32_u32 << 20).map(|i| (i / 4099) as u8).collect();
    store.set_all(&key("a"), &value).expect("set");
    let before = read_calls();
    let at = value.len() - 5000;
    let fetched = store.get_ranges(&key("a"), &[ByteRange::Suffix(5000), ByteRange::Range(9..12)]).expect("get");
    let fetched = fetched.expect("there");
    assert!(fetched.part(0) == &value[at..] && fetched.part(1) == &value[9..12]);
    assert_eq!(fetched.size, Some(value.len() as u64));
    if let (Some(before), Some(after)) = (before, read_calls()) {
        // 4096 pages would be read, were they looked for one after another.
        assert!(after - before < 200, "{} reads", after - before);
    }
}

/// Number of read system calls of this thread so far; `None` if /proc does not tell.
fn read_calls() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("syscr: ")?.parse().ok())
}

#[test]
fn renames_are_one_change() {
    let (_folder, path) = place();
    let store = SqliteStore::create(&path).expect("created");
    for name in ["a/\u{e4}/c", "a/\u{e4}/d/e", "x/y", "a/\u{e4}0", "n"] {
        store.set_all(&key(name), name.as_bytes()).expect("set");
    }
    let version = version_of(&store, "a/\u{e4}/c");
    assert!(store.rename_prefix(&prefix("a/\u{e4}/"), &prefix("n/m%_/")).expect("renamed"));
    let keys = ["a/\u{e4}0", "n", "n/m%_/c", "n/m%_/d/e", "x/y"];
    assert_eq!(store.list().expect("list"), keys.map(key));
    assert_eq!(store.get_all(&key("n/m%_/c")).expect("get").as_deref(), Some("a/\u{e4}/c".as_bytes()));
    assert_ne!(version_of(&store, "n/m%_/c"), version);
    for (from, to) in [("n/", "x/"), ("none/", "z/"), ("n/", "n/deep/"), ("n/m%_/", "n/"), ("", "z/"), ("n/", "")] {
        assert!(!store.rename_prefix(&prefix(from), &prefix(to)).expect("not renamed"), "{from} {to}");
    }
    assert_eq!(store.list().expect("list"), keys.map(key));
    for (a, b) in [("n/", "n/m%_/"), ("x/", "none/"), ("", "x/"), ("x/", "x/")] {
        assert!(!store.exchange_prefixes(&prefix(a), &prefix(b)).expect("not exchanged"), "{a} {b}");
    }
    assert_eq!(store.list().expect("list"), keys.map(key));
    // `%` and `_` are no patterns, and upper case is another key.
    store.set_all(&key("N/mxy/c"), b"").expect("set");
    store.erase_prefix(&prefix("n/m%_/")).expect("erase");
    assert_eq!(store.list().expect("list"), ["N/mxy/c", "a/\u{e4}0", "n", "x/y"].map(key));
}

#[test]
fn durability_and_flush() {
    for journal in [Journal::Rollback, Journal::Wal] {
        let (_folder, path) = place();
        let store = SqliteStore::create_with(&path, SqliteOptions::default().journal(journal)).expect("created");
        for (value, durability) in [(b"1", Durability::Full), (b"2", Durability::None), (b"3", Durability::File)] {
            store.set(&key("a"), value, &SetOptions::default().durable(durability)).expect("set");
            let synchronous: i32 = {
                let writer = store.pool.writer(durability).expect("a writer");
                writer.connection.query_row("PRAGMA synchronous", [], |row| row.get(0)).expect("a number")
            };
            let due = if journal == Journal::Wal && durability != Durability::Full { 1 } else { 3 }; // NORMAL, EXTRA
            assert_eq!(synchronous, due, "{journal:?} {durability:?}");
        }
        let log = PathBuf::from(format!("{}-wal", path.display()));
        assert_eq!(log.exists(), journal == Journal::Wal);
        let before = fs::metadata(&log).map_or(0, |log| log.len());
        store.flush().expect("flushed");
        // The change that makes SQLite sync the journal is there.
        assert_eq!(fs::metadata(&log).map_or(0, |log| log.len()) > before, journal == Journal::Wal);
        assert_eq!(store.get_all(&key("a")).expect("get").as_deref(), Some(&b"3"[..]));
        drop(store);
        assert!(!log.exists(), "the last one to close moves all into the file");
    }
}
