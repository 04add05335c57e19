//! Tests of files that are built here, with content that no sound writer leaves.

use std::sync::Arc;

use zarr_json::Value;
use zarr_store::{Error, Key, MemoryStore, Result, Store, StoreExt};
use zarr_store_virtual::VirtualStore;

/// Returns a number of 32 bits as a header in CDF-1 contains it.
fn number(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

fn name(name: &[u8]) -> Vec<u8> {
    let len = u32::try_from(name.len()).expect("a short name");
    let mut bytes = [&number(len)[..], name].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Returns a list with the tag `tag`, whose items are already encoded.
fn list(tag: u32, items: &[Vec<u8>]) -> Vec<u8> {
    let count = u32::try_from(items.len()).expect("few items");
    [&number(if count == 0 { 0 } else { tag })[..], &number(count), &items.concat()].concat()
}

fn dimension(text: &[u8], length: u32) -> Vec<u8> {
    [name(text), number(length).to_vec()].concat()
}

/// Returns an attribute whose value is the string `text`.
fn attribute(key: &[u8], text: &[u8]) -> Vec<u8> {
    [name(key), number(2).to_vec(), name(text)].concat()
}

/// Returns a variable of type byte at offset 0, whose dimensions have the numbers `dimensions`.
fn variable(text: &[u8], dimensions: &[u32], attributes: &[Vec<u8>]) -> Vec<u8> {
    let ids: Vec<u8> = dimensions.iter().flat_map(|id| number(*id)).collect();
    let rank = number(u32::try_from(dimensions.len()).expect("few dimensions"));
    [name(text), rank.to_vec(), ids, list(0x0c, attributes), [number(1), number(0), number(0)].concat()].concat()
}

fn file(records: u32, dimensions: &[Vec<u8>], attributes: &[Vec<u8>], variables: &[Vec<u8>]) -> Vec<u8> {
    [
        b"CDF\x01".to_vec(),
        number(records).to_vec(),
        list(0x0a, dimensions),
        list(0x0c, attributes),
        list(0x0b, variables),
    ]
    .concat()
}

fn opened(bytes: &[u8]) -> Result<VirtualStore> {
    let (files, key) = (MemoryStore::new(), Key::new("x.nc").expect("a key"));
    files.set_all(&key, bytes).expect("set");
    crate::open(Arc::new(files), key)
}

fn document(store: &VirtualStore, key: &str) -> Value {
    let bytes = store.get_all(&Key::new(key).expect("a key")).expect("get").expect("a document");
    Value::from_json(std::str::from_utf8(&bytes).expect("a text")).expect("JSON")
}

fn fault(bytes: &[u8]) -> String {
    let error: Error = opened(bytes).expect_err("refused");
    error.to_string()
}

#[test]
fn texts_of_old_files_have_one_byte_for_each_character() {
    let attributes = [
        attribute(b"units", b"\xb0C"),
        attribute(b"utf-8", "\u{b0}C".as_bytes()),
        attribute(b"gr\xf6sse", b"a\0b\0\0"),
    ];
    let store = opened(&file(0, &[dimension(b"l\xe4nge", 2)], &attributes, &[variable(b"h\xf6he", &[0], &[])]));
    let store = store.expect("a store");
    let root = document(&store, "zarr.json");
    let found = root.get("attributes").expect("attributes");
    let text = |name: &str| found.get(name).and_then(Value::as_str);
    assert_eq!((text("units"), text("utf-8")), (Some("\u{b0}C"), Some("\u{b0}C")));
    assert_eq!(text("gr\u{f6}sse"), Some("a\0b"));
    let array = document(&store, "h\u{f6}he/zarr.json");
    let names = array.get("dimension_names").and_then(Value::as_array).expect("names");
    assert_eq!(names.iter().map(Value::as_str).collect::<Vec<_>>(), [Some("l\u{e4}nge")]);
}

#[test]
fn a_file_has_no_more_chunks_than_bytes() {
    let dimensions = [dimension(b"t", 0), dimension(b"x", 2)];
    let variables = [variable(b"a", &[0], &[]), variable(b"b", &[0, 1], &[])];
    let fault = fault(&file(4_000_000_000, &dimensions, &[], &variables));
    assert!(fault.contains("variable \"a\": found 4000000000 chunks, more than a file of"), "{fault}");
    opened(&file(7, &dimensions, &[], &variables)).expect("as many as the file may have");
}

#[test]
fn names_and_numbers_of_dimensions_are_bounded() {
    let at = [dimension(b"x", 1)];
    let error = fault(&file(0, &at, &[], &[variable(b"a", &[0; 1025], &[])]));
    assert!(error.contains("found 1025 dimensions of \"a\", expected at most 1024"), "{error}");
    opened(&file(0, &at, &[], &[variable(b"a", &[0; 1024], &[])])).expect("as many as there may be");
    // The name of the dimension, of a hundred kilobytes, would be repeated for each axis of each variable.
    let long = [dimension(&[b'x'; 100_000], 1)];
    let error = fault(&file(0, &long, &[], &[variable(b"a", &[0; 1000], &[]), variable(b"b", &[0; 1000], &[])]));
    assert!(error.contains("documents take more than 134217728 bytes"), "{error}");
}

#[test]
fn a_variable_is_no_document() {
    let store = opened(&file(0, &[dimension(b"x", 2)], &[], &[variable(b"zarr.json", &[0], &[])])).expect("a store");
    assert_eq!(store.list().expect("list").len(), 1);
    let warnings = Store::take_warnings(&store);
    assert_eq!(warnings, ["variable \"zarr.json\" is left out: its name is none in Zarr"]);
}
