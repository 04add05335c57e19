//! Chunks of nothing but the fill value: left out only where all software reads missing chunks alike.

use std::sync::Arc;
use zarr_array::{Array, Dialect, NewArray, Options};
use zarr_convert::{Action, Conversion, ConvertOptions};
use zarr_json::{Value, json};
use zarr_store::{Key, MemoryStore, Prefix, Store, StoreExt};

/// A store with a document in it.
fn store(key: &str, document: &Value) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    store.set_all(&Key::new(key).unwrap(), document.to_string().as_bytes()).unwrap();
    Arc::new(store)
}

/// The document of four elements in two chunks.
fn zarray(dtype: &Value, fill: &Value, filters: &Value) -> Value {
    json!({
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": (dtype.clone()), "compressor": null,
        "fill_value": (fill.clone()), "order": "C", "filters": (filters.clone()), "dimension_separator": "."
    })
}

/// The keys of chunks.
fn chunks(store: &Arc<dyn Store>) -> Vec<String> {
    let keys = store.list_prefix(&Prefix::root()).unwrap();
    let names = keys.iter().map(ToString::to_string);
    names.filter(|key| key.ends_with(|last: char| last.is_ascii_digit())).collect()
}

/// Sizes of chunks, by which inner chunks show.
fn size(store: &Arc<dyn Store>) -> u64 {
    chunks(store).iter().map(|key| store.size(&Key::new(key).unwrap()).unwrap().unwrap()).sum()
}

fn open(store: &Arc<dyn Store>) -> Array {
    zarr::open(store).array().unwrap()
}

#[test]
fn written_chunks_are_stored_where_the_fill_value_is_undefined() {
    let none = json!(null);
    let without = |mut document: Value| {
        if let Value::Object(members) = &mut document {
            members.remove("fill_value");
        }
        document
    };
    for document in [zarray(&json!("<i2"), &none, &none), without(zarray(&json!("<i2"), &none, &none))] {
        let store = store(".zarray", &document);
        open(&store).write(.., &[0_i16; 4]).unwrap();
        assert_eq!(chunks(&store), ["0", "1"], "whole chunks");
        store.erase(&Key::new("1").unwrap()).unwrap();
        open(&store).write(2..3, &[0_i16]).unwrap();
        assert_eq!(chunks(&store), ["0", "1"], "a part of a missing chunk");
        open(&store).write(.., &[7_i16, 7, 7, 7]).unwrap();
        open(&store).write(0..3, &[0_i16; 3]).unwrap();
        assert_eq!(chunks(&store), ["0", "1"], "over the old chunks");
        assert_eq!(open(&store).read::<i16>(..).unwrap(), [0, 0, 0, 7]);
    }
    // And left out as ever where it is defined.
    let store = store(".zarray", &zarray(&json!("<i2"), &json!(0), &none));
    open(&store).write(.., &[7_i16, 7, 7, 7]).unwrap();
    open(&store).write(.., &[0_i16, 0, 0, 7]).unwrap();
    assert_eq!(chunks(&store), ["1"]);
}

#[test]
fn inner_chunks_are_stored_where_the_fill_value_is_undefined() {
    let sharded = |fill: Value| {
        json!({
            "zarr_format": 3, "node_type": "array", "shape": [8], "data_type": "int16", "fill_value": (fill),
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [8]}},
            "chunk_key_encoding": {"name": "default"}, "dimension_names": ["x"],
            "codecs": [{"name": "sharding_indexed", "configuration": {
                "chunk_shape": [2], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]
            }}]
        })
    };
    // Offset and length of each of four inner chunks.
    const INDEX: u64 = 4 * 16;
    // GDAL writes null.
    for (fill, whole, patched) in [(json!(null), 16, 8), (json!(0), 4, 4)] {
        let store = store("zarr.json", &sharded(fill.clone()));
        open(&store).write(.., &[0_i16, 0, 0, 0, 0, 0, 1, 1]).unwrap();
        assert_eq!(size(&store), INDEX + whole, "{fill}: a whole shard");
        store.erase(&Key::new(&chunks(&store)[0]).unwrap()).unwrap();
        open(&store).write(5..7, &[0_i16, 1]).unwrap();
        assert_eq!(size(&store), INDEX + patched, "{fill}: parts of two inner chunks");
    }
}

/// A fill value that zarr-python 2.18 or 3.4 reads as another element, as found by reading arrays without chunks by both, and
/// one that they read alike.
#[test]
fn chunks_are_stored_where_others_read_the_fill_value_otherwise() {
    let filter = |id: &str| json!([{"id": (id)}]);
    let json2 = json!([{"id": "json2", "encoding": "utf-8"}]);
    let lists = json!([{"id": "vlen-array", "dtype": "<i4"}]);
    let stored = |dtype: Value, fill: Value, filters: &Value, write: &dyn Fn(&Array)| {
        let store = store(".zarray", &zarray(&dtype, &fill, filters));
        write(&open(&store));
        chunks(&store).len()
    };
    let text = |text: &'static str| move |array: &Array| array.write(.., &[text; 4].map(String::from)).unwrap();
    let bytes = |bytes: &'static [u8]| move |array: &Array| array.write(.., &[bytes; 4].map(<[u8]>::to_vec)).unwrap();
    let value = |value: Value| move |array: &Array| array.write(.., &vec![value.clone(); 4]).unwrap();
    for (fill, utf8, vlen) in [(json!(null), 2, 2), (json!(0), 2, 2), (json!(""), 0, 2)] {
        assert_eq!(stored(json!("|O"), fill.clone(), &filter("vlen-utf8"), &text("")), utf8, "vlen-utf8 {fill}");
        assert_eq!(stored(json!("|O"), fill.clone(), &filter("vlen-bytes"), &bytes(b"")), vlen, "vlen-bytes {fill}");
    }
    assert_eq!(stored(json!("|O"), json!("abc"), &filter("vlen-utf8"), &text("abc")), 0);
    assert_eq!(stored(json!("|O"), json!("YWJj"), &filter("vlen-bytes"), &bytes(b"abc")), 2);
    for (fill, count) in
        [(json!(null), 2), (json!(0), 0), (json!(""), 0), (json!(true), 0), (json!({"a": 1}), 0), (json!([1, 2]), 2)]
    {
        assert_eq!(stored(json!("|O"), fill.clone(), &json2, &value(fill.clone())), count, "json2 {fill}");
        let msgpack = stored(json!("|O"), fill.clone(), &filter("msgpack2"), &value(fill.clone()));
        assert_eq!(msgpack, count, "msgpack2 {fill}");
    }
    for fill in [json!(null), json!(0), json!([])] {
        let empty = |array: &Array| array.write(.., &vec![Vec::<i32>::new(); 4]).unwrap();
        assert_eq!(stored(json!("|O"), fill.clone(), &lists, &empty), 2, "vlen-array {fill}");
    }
    // Texts of fixed length: 0 is the digit to others.
    for (fill, count) in [(json!(0), 2), (json!(""), 0), (json!(null), 2)] {
        assert_eq!(stored(json!("<U3"), fill.clone(), &json!(null), &text("")), count, "<U3 {fill}");
        assert_eq!(stored(json!("|S3"), fill.clone(), &json!(null), &bytes(b"\0\0\0")), count, "|S3 {fill}");
    }
}

/// Converts the array into chunks of a shape (or its own) in a dialect.
fn convert(source: &Arc<dyn Store>, chunks: Option<u64>, dialect: Dialect) -> (Arc<dyn Store>, Action) {
    let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let chunks = chunks.map(|len| vec![len]);
    // Slabs of all of the array.
    let options = ConvertOptions::default().chunks(chunks).dialect(dialect);
    let conversion = Conversion::plan(source, &zarr::registry::default(), options).unwrap();
    conversion.run(&target, |_| {}).unwrap();
    (target, conversion.nodes()[0].how)
}

#[test]
fn missing_chunks_stay_missing_where_the_fill_value_was_undefined() {
    let mut document = zarray(&json!("<i2"), &json!(null), &json!(null));
    if let Value::Object(members) = &mut document {
        members.insert("shape", json!([12]));
        members.insert("chunks", json!([4]));
    }
    let source = store(".zarray", &document);
    open(&source).write(4..8, &[0_i16, 0, 1, 2]).unwrap();
    // Chunks that meet the stored one, and no others, although all are one slab.
    for (len, dialect, expected) in [
        (2, Dialect::V2, &["2", "3"][..]),
        (3, Dialect::V2, &["1", "2"]),
        (12, Dialect::V2, &["0"]),
        // Zero is the fill value there.
        (2, Dialect::V3, &["c/3"]),
    ] {
        let (target, how) = convert(&source, Some(len), dialect);
        assert_eq!(how, Action::Reencode);
        assert_eq!(chunks(&target), expected, "{len} {dialect}");
        assert_eq!(open(&target).read::<i16>(4..8).unwrap(), [0, 0, 1, 2]);
    }
    let (target, how) = convert(&source, None, Dialect::V3);
    assert_eq!((how, chunks(&target)), (Action::CopyChunks, vec!["c/1".to_owned()]));
}

#[test]
fn missing_chunks_are_written_where_others_would_read_them_otherwise() {
    let source: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[6], "bytes").chunks(&[2]).codecs("vlen-bytes").unwrap();
    let array = Array::create(&source, "/", new, &zarr::registry::default()).unwrap();
    array.write(0..2, &[b"a".to_vec(), b"".to_vec()]).unwrap();
    assert_eq!(chunks(&source), ["c/0"]);
    let expected = array.read::<Vec<u8>>(..).unwrap();
    // In version 2 the fill value is a text to others, or None.
    for len in [None, Some(2), Some(3)] {
        let (target, how) = convert(&source, len, Dialect::V2);
        // Of the same chunks, these alone are encoded.
        assert_eq!(how, if len == Some(3) { Action::Reencode } else { Action::CopyChunks });
        assert_eq!(chunks(&target).len() as u64, 6 / len.unwrap_or(2), "{len:?}");
        assert_eq!(open(&target).read::<Vec<u8>>(..).unwrap(), expected);
    }
    // Where it is read otherwise in both, nothing changes for anybody.
    let (v2, _) = convert(&source, None, Dialect::V2);
    v2.erase(&Key::new("1").unwrap()).unwrap();
    let (target, _) = convert(&v2, Some(1), Dialect::V2);
    assert_eq!(chunks(&target), ["0", "1", "4", "5"]);
    // Back in version 3 all is agreed again.
    let (target, how) = convert(&v2, None, Dialect::V3);
    assert_eq!((how, chunks(&target)), (Action::CopyChunks, vec!["c/0".to_owned(), "c/2".to_owned()]));
}

#[test]
fn chunks_that_may_be_left_out_are_kept_if_so_asked() {
    let store = store(".zarray", &zarray(&json!("<i2"), &json!(0), &json!(null)));
    let found = zarr::hierarchy::open_node(&*store, "/", None).unwrap();
    assert!(found.may_omit_empty_chunks);
    let options = Options::default().write_empty_chunks(true);
    let array = Array::from_found(&store, found, &zarr::registry::default(), options).unwrap();
    array.write(.., &[0_i16; 4]).unwrap();
    assert_eq!(chunks(&store), ["0", "1"]);
}
