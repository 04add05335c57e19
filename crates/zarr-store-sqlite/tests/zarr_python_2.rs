//! A file of zarr-python 2, which `zarr_python_2.py` made.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use zarr_store::{Key, Store, StoreExt, testing};
use zarr_store_sqlite::{SqliteOptions, SqliteStore};

fn fixture() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/zarr_python_2.sqlite"))
}

fn values() -> Vec<(&'static str, Vec<u8>)> {
    let numbers = |numbers: [i32; 3]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let array: &[u8] = br#"{"chunks": [3], "compressor": null, "dtype": "<i4", "fill_value": 7, "filters": null, "order": "C", "shape": [8], "zarr_format": 2}"#;
    let group = br#"{"zarr_format": 2}"#.to_vec();
    vec![
        (".zgroup", group.clone()),
        ("a/.zarray", array.to_vec()),
        ("a/.zattrs", "{\"unit\": \"\u{b5}m\"}".into()),
        ("a/0", numbers([0, 1, 2])),
        ("a/2", numbers([6, 7, 7])),
        ("b_c/.zgroup", group.clone()),
        ("b\u{e4}/x y/.zgroup", group),
        ("large", (0..=255).cycle().take(256 * 64).collect()),
        ("empty", Vec::new()),
    ]
}

#[test]
fn is_read_as_it_is() {
    let values = values();
    let values: Vec<(&str, &[u8])> = values.iter().map(|(key, value)| (*key, &value[..])).collect();
    let before = fs::read(fixture()).expect("read");
    let store = SqliteStore::open_with(fixture(), SqliteOptions::default().read_only(true)).expect("opened");
    testing::contract_read(&store, &values);
    testing::contract_read_only(&store);
    drop(store);
    assert_eq!(fs::read(fixture()).expect("read"), before);
}

#[test]
fn is_changed_so_that_zarr_python_still_reads_and_writes_it() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("x.sqlite");
    fs::copy(fixture(), &path).expect("copied");
    let store = SqliteStore::open(&path).expect("opened");
    let chunk = Key::new("a/1").expect("a key");
    store.set_all(&chunk, &[3, 0, 0, 0]).expect("set");
    store.erase(&Key::new("large").expect("a key")).expect("erased");
    // The statements of zarr-python 2.18.3.
    let other = Connection::open(&path).expect("opened");
    let table: String =
        other.query_row("SELECT sql FROM sqlite_schema WHERE name = 'zarr'", [], |row| row.get(0)).expect("a table");
    assert_eq!(table, "CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB)");
    other.execute_batch("CREATE TABLE IF NOT EXISTS zarr(k TEXT PRIMARY KEY, v BLOB)").expect("done");
    let get = |key: &str| {
        other.query_row("SELECT v FROM zarr WHERE (k = ?)", [key], |row| row.get::<_, Vec<u8>>(0)).expect("a value")
    };
    assert_eq!(get("a/1"), [3, 0, 0, 0]);
    assert_eq!(get("a/0").len(), 12);
    let count: i64 = other.query_row("SELECT COUNT(*) FROM zarr", [], |row| row.get(0)).expect("a number");
    assert_eq!(count, 9);
    let listed: Vec<String> = other
        .prepare("SELECT DISTINCT SUBSTR(m, 0, INSTR(m, '/')) AS l FROM (SELECT LTRIM(SUBSTR(k, LENGTH(?1) + 1), '/') || '/' AS m FROM zarr WHERE k LIKE (?1 || '/%')) ORDER BY l ASC")
        .expect("a query")
        .query_map(["a"], |row| row.get(0))
        .expect("rows")
        .collect::<Result<_, _>>()
        .expect("texts");
    assert_eq!(listed, [".zarray", ".zattrs", "0", "1", "2"]);
    other.execute("REPLACE INTO zarr VALUES (?, ?)", ("a/1", &b"new"[..])).expect("set");
    other.execute("DELETE FROM zarr WHERE k LIKE (? || '/%')", ["b_c"]).expect("erased");
    assert_eq!(store.get_all(&chunk).expect("get").as_deref(), Some(&b"new"[..]));
    assert_eq!(store.list().expect("list").len(), 8);
    assert!(store.capabilities().conditional);
}
