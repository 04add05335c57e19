//! Chunks written by the crate zarrs 0.23.14, arrays, and broken chunks.

use crate::{DATA_TYPE, OPTIONAL};
use std::sync::Arc;
use zarr_array::{Array, ErrorKind, NewArray, Protection, Registry};
use zarr_dtype::{DataType, DataTypes, Error, FillValue};
use zarr_json::{NamedConfig, Value, json};
use zarr_store::{Key, MemoryStore, Store, StoreExt};

const BYTES: &str =
    r#"[{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip", "configuration": {"level": 1}}]"#;
const PACKED: &str = r#"[{"name": "packbits"}]"#;

/// Chunk of 4 by 5 elements with the values `i * 100 - 700`; elements with `i % 3 == 1` are missing.
const NUMBERS: &str = "03000000000000002f000000000000006ddb061f8b08000000000004ff73f9cbf3afe09fc5ff39ff53184e304c60fcc2b8874981f905b30f0b00d6cc25551a000000";
/// Chunk of 4 by 5 elements that are all missing.
const NOTHING: &str = "140000000000000000000000000000000000000000000000000000000000000000000000";
/// Chunk of 4 by 5 nested optional elements with the values `i`. Elements with `i % 4 == 0` are missing; all others with `i % 3 == 0` are
/// present, but their inner element is missing.
const NESTED: &str = "17000000000000001c000000000000001f8b08000000000004ff7bf78e0f00ddd7787b0300000002000000000000000a00000000000000ab57010205070a0b0d0e1113";

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.data_types.add(DATA_TYPE);
    let packed = [zarr_codec_packbits::PACKBITS, zarr_codec_gzip::GZIP];
    for entry in [OPTIONAL, zarr_codec_bytes::BYTES].into_iter().chain(packed) {
        registry.codecs.add(entry);
    }
    Arc::new(registry)
}

fn codec(mask: &str, data: &str) -> String {
    format!(r#"[{{"name": "zarrs.optional", "configuration": {{"mask_codecs": {mask}, "data_codecs": {data}}}}}]"#)
}

fn optional(inner: &Value) -> Value {
    json!({"name": "zarrs.optional", "configuration": (inner.clone())})
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2).map(|digits| std::str::from_utf8(digits).unwrap());
    digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect()
}

/// Stores the document and the chunk of an array as zarrs wrote them, and opens the array.
fn array(store: &Arc<dyn Store>, data_type: &Value, fill: &Value, codecs: &str, chunk: &[u8]) -> Array {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [4, 5], "data_type": {data_type}, "fill_value": {fill},
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [4, 5]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "codecs": {codecs}}}"#
    );
    store.set_all(&Key::new("zarr.json").unwrap(), document.as_bytes()).unwrap();
    store.set_all(&Key::new("c/0/0").unwrap(), chunk).unwrap();
    Array::open(store, "/", &registry()).unwrap()
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Returns all elements as JSON.
fn elements(array: &Array) -> Result<Vec<Value>, zarr_array::Error> {
    let data = array.read_data(..)?;
    Ok((0..data.len()).map(|index| data.json(index)).collect())
}

#[test]
fn chunks_of_zarrs_are_read() {
    let int16 = optional(&json!({"name": "int16", "configuration": {}}));
    let numbers: Vec<Value> =
        (0..20).map(|i| if i % 3 == 1 { Value::Null } else { Value::from(vec![i * 100 - 700]) }).collect();
    let store = memory();
    let found = array(&store, &int16, &json!(null), &codec(PACKED, BYTES), &hex(NUMBERS));
    assert_eq!(elements(&found).unwrap(), numbers);
    assert_eq!(found.fill_value().to_json(found.data_type()), Value::Null);
    let part = found.read_data((1..3, 2..4)).unwrap();
    assert_eq!((part.text(0), part.text(1)), ("null".to_owned(), "100".to_owned()));
    let field = found.read_field("value", (0, ..)).unwrap();
    assert_eq!(field.to_vec::<i16>().unwrap(), [-700, 0, -500, -400, 0]);
    assert_eq!(
        found.read_field("present", (0, ..)).unwrap().to_vec::<bool>().unwrap(),
        [true, false, true, true, false]
    );

    let found = array(&store, &int16, &json!([7]), &codec(r#"[{"name": "bytes"}]"#, BYTES), &hex(NOTHING));
    assert_eq!(elements(&found).unwrap(), vec![Value::Null; 20]);
    found.erase_chunk(&[0, 0]).unwrap();
    assert_eq!(elements(&found).unwrap(), vec![json!([7]); 20], "missing elements are the fill value");

    let nested = optional(&optional(&json!({"name": "uint8", "configuration": {}})));
    let mask = r#"[{"name": "packbits"}, {"name": "gzip", "configuration": {"level": 1}}]"#;
    let codecs = codec(mask, &codec(PACKED, r#"[{"name": "bytes"}]"#));
    let found = array(&store, &nested, &json!([null]), &codecs, &hex(NESTED));
    let due = |i: i32| match (i % 4, i % 3) {
        (0, _) => Value::Null,
        (_, 0) => json!([null]),
        _ => json!([[i]]),
    };
    assert_eq!(elements(&found).unwrap(), (0..20).map(due).collect::<Vec<_>>());
}

#[test]
fn elements_come_back() {
    let (store, registry) = (memory(), registry());
    let int16 = optional(&json!({"name": "int16"})).to_string();
    let new = NewArray::new(&[3, 7], int16.as_str()).chunks(&[2, 4]).fill(json!([9]));
    let array = Array::create(&store, "/a", new.codecs(codec(PACKED, BYTES)).unwrap(), &registry).unwrap();
    let items: Vec<u8> = (0..21_i16).flat_map(|i| if i % 4 == 1 { [0; 3] } else { [1, i as u8, 1] }).collect();
    let data = zarr_array::ArrayData::from_items(array.data_type(), &[3, 7], &items, None).unwrap();
    array.write(.., data.view()).unwrap();
    // Another part of a chunk, which is read and written again.
    let one = zarr_array::ArrayData::from_items(array.data_type(), &[1, 1], &[0, 0, 0], None).unwrap();
    array.write((0..1, 0..1), one.view()).unwrap();
    let found = Array::open(&store, "/a", &registry).unwrap().read_data(..).unwrap();
    assert_eq!(found.items(), [&[0; 3], &items[3..]].concat());
}

#[test]
fn broken_chunks_are_errors() {
    let int16 = optional(&json!({"name": "int16"}));
    let good = hex(NUMBERS);
    let store = memory();
    let found = array(&store, &int16, &json!(null), &codec(PACKED, BYTES), &good);
    let check = |bytes: &[u8]| {
        found.write_chunk_bytes(&[0, 0], bytes).unwrap();
        let error = elements(&found).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CorruptChunk, "{error}");
    };
    for cut in 0..good.len() {
        check(&good[..cut]);
    }
    check(&[&good[..], b"x"].concat());
    // Bytes of values where there are none.
    check(&[&hex(NOTHING)[..8], &1_u64.to_le_bytes(), &[0; 20], b"x"].concat());
    let bits = [[3_u8, 0, 0, 0, 0, 0, 0, 0], [0xff; 8]].concat();
    check(&[&bits[..], &good[16..]].concat());
}

fn parse(value: &Value) -> Result<DataType, Error> {
    let mut types = DataTypes::default();
    types.add(DATA_TYPE);
    types.from_config(&NamedConfig::from_value(value).unwrap())
}

#[test]
fn data_types_are_checked() {
    let message = |inner: Value| parse(&optional(&inner)).unwrap_err().to_string();
    assert_eq!(message(json!({"name": "no"})), "unknown data type no");
    assert!(message(json!({})).contains("/configuration: found {}, expected a data type"));
    assert!(
        message(json!({"name": "int8", "more": 1})).contains("/configuration/more: found 1, expected no such member")
    );
    assert!(
        message(json!({"name": "string"}))
            .contains("/configuration/name: found \"string\", expected a data type of fixed")
    );
    let data_type = parse(&optional(&json!({"name": "int8"}))).unwrap();
    let fill = |value: Value| FillValue::parse(&data_type, &value).map_err(|error| error.to_string());
    assert_eq!(fill(json!([1])).unwrap().bytes(), [1, 1]);
    assert!(fill(json!(1)).unwrap_err().contains("null, or an array of one value"));
    assert!(fill(json!([1000])).unwrap_err().starts_with("/0: found 1000"));
}

#[test]
fn other_elements_are_refused() {
    let new = NewArray::new(&[2], "int16").codecs(codec(PACKED, BYTES)).unwrap();
    let error = Array::create(&memory(), "/a", new, &registry()).unwrap_err().to_string();
    assert!(error.contains("elements of data type int16, expected optional"), "{error}");
}

/// The protection is that of a checksum only if both parts have a checksum.
#[test]
fn the_part_with_the_least_protection_counts() {
    let summed = r#"[{"name": "packbits"}, {"name": "gzip", "configuration": {"level": 1}}]"#;
    for (mask, data, expected) in
        [(summed, BYTES, Protection::Checksum), (PACKED, BYTES, Protection::Form), (PACKED, PACKED, Protection::Form)]
    {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let data_type = optional(&json!({"name": "uint8", "configuration": {}}));
        let new = NewArray::new(&[4], data_type.to_string().as_str()).chunks(&[4]).fill(json!([9]));
        let new = new.codecs(codec(mask, data));
        let array = Array::create(&store, "/", new.unwrap(), &registry()).unwrap();
        store.set_all(&Key::new("c/0").unwrap(), &hex(NOTHING)).unwrap();
        let found = std::sync::Mutex::new(None);
        let chunks = [(Key::new("c/0").unwrap(), [0].into_iter().collect())];
        let report = |chunk: zarr_array::CheckedChunk| *found.lock().unwrap() = chunk.protection;
        array.check_chunks(&chunks, zarr_array::CheckDepth::Values, &report).unwrap();
        assert_eq!(found.into_inner().unwrap(), Some(expected), "{mask} {data}");
    }
}
