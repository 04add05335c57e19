//! Documents of arrays that are read although they are not as their specification says: each with a warning, for which strict reading
//! refuses them.

use std::sync::Arc;
use zarr_array::{Array, Dialect, NewArray};
use zarr_json::{Map, Value};
use zarr_store::{Key, MemoryStore, Store, StoreExt};

const V2: &str = r#"{"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "compressor": null, "fill_value": 0,
    "order": "C", "filters": null}"#;
fn object(text: &str) -> Map {
    Value::from_json(text).unwrap().as_object().cloned().unwrap()
}

/// The document with some members changed, or left out where the change is `"absent"`.
fn changed(document: &str, changes: &str) -> String {
    let mut document = object(document);
    for (name, value) in object(changes).iter() {
        match value.as_str() {
            Some("absent") => drop(document.remove(name)),
            _ => drop(document.insert(name, value.clone())),
        }
    }
    document.to_string()
}

fn key_of(dialect: Dialect) -> Key {
    Key::new(if dialect == Dialect::V2 { "a/.zarray" } else { "a/zarr.json" }).unwrap()
}

fn stored(document: &str, dialect: Dialect) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    store.set_all(&key_of(dialect), document.as_bytes()).unwrap();
    Arc::new(store)
}

fn opened(store: &Arc<dyn Store>) -> Array {
    zarr::open((store, "/a")).array().unwrap()
}

fn document(store: &dyn Store, dialect: Dialect) -> Map {
    object(std::str::from_utf8(&store.get_all(&key_of(dialect)).unwrap().unwrap()).unwrap())
}

/// Codecs that lose nothing, as a new array has them, and their members that only encoding needs.
const SETTINGS: &[(&str, &[&str])] = &[
    ("blosc", &["cname", "clevel", "shuffle", "typesize", "blocksize"]),
    ("gzip", &["level"]),
    ("numcodecs.zlib", &["level"]),
    ("numcodecs.bz2", &["level"]),
    ("zstd", &["level", "checksum"]),
    ("numcodecs.lz4", &["acceleration"]),
    ("numcodecs.lzma", &["check", "preset", "filters"]),
    (
        "numcodecs.pcodec",
        &["level", "mode_spec", "delta_spec", "paging_spec", "delta_encoding_order", "equal_pages_up_to"],
    ),
    ("numcodecs.zfpy", &["mode", "tolerance", "rate", "precision"]),
];

#[test]
fn settings_for_encoding_stop_no_read() {
    let values: Vec<i32> = (0..30).map(|i| i * i).collect();
    let wrong = ["true", "false", r#""text""#, "null", "-99", "1000000000000", "2.0", "[1]", "{}", r#""absent""#];
    for dialect in [Dialect::V2, Dialect::V3] {
        for (codec, members) in SETTINGS {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let new = NewArray::new(&[30], "int32").dialect(dialect).chunks(&[20]);
            let new = new.codecs(format!("[{codec:?}]")).unwrap();
            zarr::create((&store, "/a")).array(new).unwrap().write(.., &values).unwrap();
            let right = document(&*store, dialect);
            for member in *members {
                for value in wrong {
                    let context = format!("{member} {value} of {codec} in {dialect}");
                    let mut document = right.clone();
                    set_in_codec(&mut document, dialect, member, value);
                    store.set_all(&key_of(dialect), document.to_string().as_bytes()).unwrap();
                    let array = opened(&store);
                    assert_eq!(array.read::<i32>(..).unwrap(), values, "{context}");
                }
            }
        }
    }
}

/// Sets a member of the last codec of a document.
fn set_in_codec(document: &mut Map, dialect: Dialect, member: &str, value: &str) {
    let path = match dialect {
        Dialect::V2 => "/compressor".to_owned(),
        _ => format!("/codecs/{}/configuration", document.get("codecs").unwrap().as_array().unwrap().len() - 1),
    };
    if document.pointer(&path).is_none() {
        document.set_pointer(&path, Value::Object(Map::new())).unwrap();
    }
    let pointer = format!("{path}/{member}");
    match Value::from_json(value).unwrap() {
        Value::String(text) if text == "absent" => drop(document.remove_pointer(&pointer)),
        value => drop(document.set_pointer(&pointer, value).unwrap()),
    }
}

/// As numcodecs stores `Blosc(shuffle=True)`, which zarr-python 2 and 3 write into documents.
#[test]
fn new_arrays_with_wrong_settings_are_refused() {
    for (codecs, what) in [
        ("zstd(99)", "level"),
        (r#"[{"name": "gzip", "configuration": {"level": 10}}]"#, "level"),
        (r#"[{"name": "blosc", "configuration": {"cname": "lz5"}}]"#, "cname"),
        (r#"[{"name": "numcodecs.quantize", "configuration": {"dtype": "<f8"}}]"#, "digits"),
        (
            r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "codecs": ["bytes", {"name": "zstd",
                "configuration": {"level": "high"}}], "index_codecs": [{"name": "bytes", "configuration":
                {"endian": "little"}}]}}]"#,
            "level",
        ),
    ] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = NewArray::new(&[4], "float64").chunks(&[4]).codecs(codecs);
        let error = new.and_then(|new| zarr::create((&store, "/a")).array(new)).unwrap_err();
        assert!(error.to_string().contains(what), "{codecs}: {error}");
    }
    // What is meant is clear, and is written as it is due.
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let codecs = r#"[{"name": "blosc", "configuration": {"shuffle": true, "clevel": 5.0}}]"#;
    let new = NewArray::new(&[4], "float64").codecs(codecs).unwrap();
    zarr::create((&store, "/a")).array(new).unwrap();
    let document = document(&*store, Dialect::V3);
    let configuration = document.pointer("/codecs/1/configuration").unwrap();
    assert_eq!(configuration.get("shuffle").unwrap().to_string(), r#""shuffle""#);
    assert_eq!(configuration.get("clevel").unwrap().to_string(), "5");
}

/// Rounded to a number of digits that is not known: elements are read, and written as they are.
#[test]
fn an_unknown_number_of_digits_rounds_nothing() {
    let document = changed(V2, r#"{"dtype": "<f8", "filters": [{"id": "quantize", "digits": "two", "dtype": "<f8"}]}"#);
    let store = stored(&document, Dialect::V2);
    let array = opened(&store);
    assert!(array.warnings().iter().any(|warning| warning.pointer == "/filters/0/digits"), "{:?}", array.warnings());
    array.write(.., &[0.125, 1e-300, 1e300, f64::NAN]).unwrap();
    let read = array.read::<f64>(..).unwrap();
    assert_eq!(read[..3], [0.125, 1e-300, 1e300]);
    assert!(read[3].is_nan());
}
