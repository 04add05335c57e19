//! Tests of the properties that digests depend on.

use super::{array, digest, hash, memory, registry};
use crate::{ArrayDifference, Digest, DigestDifference, DigestOptions};
use zarr_array::{Array, ArrayData, Dialect, NewArray};
use zarr_dtype::DataType;
use zarr_json::{Value, json};

const SHAPE: [u64; 2] = [700, 900];
const SHARDS: &str = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [64, 64],
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_location": "end"}}]"#;

fn elements() -> Vec<u16> {
    (0..700 * 900).map(|at: u64| (at * 40503 % 65536) as u16).collect()
}

fn data(elements: &[u16]) -> ArrayData {
    ArrayData::from_elements(&DataType::UInt16, &SHAPE, elements).unwrap()
}

#[test]
fn dialects_chunks_and_codecs_do_not_count() {
    let data = data(&elements());
    let new = |chunks: &[u64], codecs: &str| NewArray::new(&SHAPE, "uint16").chunks(chunks).codecs(codecs).unwrap();
    let big = r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#;
    let expected = hash(&array(new(&[700, 900], "bytes"), &data));
    for (name, new) in [
        ("rows", new(&[1, 900], "bytes")),
        ("columns", new(&[700, 7], "bytes,zstd")),
        ("boxes", new(&[512, 512], "bytes,zstd(1)")),
        ("odd", new(&[333, 100], "bytes,zstd")),
        ("big endian", new(&[256, 256], big)),
        ("transposed", new(&[100, 300], "transpose(1,0),bytes")),
        ("shards", new(&[256, 512], SHARDS)),
        ("v2", new(&[200, 200], big).dialect(Dialect::V2)),
        ("v1", new(&[200, 200], "bytes").dialect(Dialect::V1)),
        ("fill", new(&[200, 200], "bytes").fill(7)),
        ("attributes", new(&[200, 200], "bytes").attribute("a", 1).dimension_names(&["x", "y"])),
    ] {
        assert_eq!(hash(&array(new, &data)), expected, "{name}");
    }
}

#[test]
fn any_bit_counts() {
    let mut elements = elements();
    let new = || NewArray::new(&SHAPE, "uint16").chunks(&[128, 300]).codecs("bytes").unwrap();
    let before = digest(&array(new(), &data(&elements)), &DigestOptions::default());
    for (at, bit) in [(0, 0), (511 * 900 + 511, 15), (512 * 900 + 512, 3), (700 * 900 - 1, 7)] {
        elements[at] ^= 1 << bit;
        let after = digest(&array(new(), &data(&elements)), &DigestOptions::default());
        elements[at] ^= 1 << bit;
        assert_ne!(after.hash, before.hash);
        let [DigestDifference::Array(path, ArrayDifference::Boxes(boxes))] = &before.differences(&after).unwrap()[..]
        else {
            panic!("one array differs")
        };
        let (row, column) = (at as u64 / 900, at as u64 % 900);
        let range = |at: u64, end: u64| (at / 512 * 512, (at / 512 * 512 + 512).min(end));
        let found: Vec<(u64, u64)> = boxes[0].axes().iter().map(|axis| (axis.start, axis.start + axis.len)).collect();
        assert_eq!((path.as_str(), boxes.len(), found), ("/", 1, vec![range(row, 700), range(column, 900)]));
    }
}

#[test]
fn shapes_and_types_count() {
    let of = |shape: &[u64], data_type: &str| {
        let new = NewArray::new(shape, data_type).codecs("bytes").unwrap();
        hash(&Array::create(&memory(), "/", new, &registry()).unwrap())
    };
    let all = [
        of(&[4], "int16"),
        of(&[4], "uint16"),
        of(&[2, 2], "int16"),
        of(&[4, 1], "int16"),
        of(&[0, 1], "int16"),
        of(&[1, 0], "int16"),
    ];
    let distinct: std::collections::HashSet<&String> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
}

#[test]
fn missing_chunks_are_their_fill_value() {
    let new = || NewArray::new(&[1000, 1000], "float32").chunks(&[100, 70]).codecs("bytes").unwrap().fill("NaN");
    let missing = Array::create(&memory(), "/", new(), &registry()).unwrap();
    missing.write((300..310, 690..700), &[1.5_f32; 100]).unwrap();
    let options = zarr_array::Options::default().write_empty_chunks(true);
    let stored = Array::create(&memory(), "/", new().fill(0).options(options), &registry()).unwrap();
    stored.fill(.., f32::NAN).unwrap();
    stored.write((300..310, 690..700), &[1.5_f32; 100]).unwrap();
    assert_eq!(missing.stored_chunks().unwrap().len(), 1);
    assert_eq!(stored.stored_chunks().unwrap().len(), 150);
    assert_eq!(hash(&missing), hash(&stored));
    let empty = Array::create(&memory(), "/", new(), &registry()).unwrap();
    assert_ne!(hash(&missing), hash(&empty));
}

#[test]
fn strings_of_missing_chunks_and_optional_values_are_hashed() {
    let new = |chunk: u64| NewArray::new(&[6], "string").chunks(&[chunk]).codecs("vlen-utf8").unwrap().fill("none");
    let partly = Array::create(&memory(), "/", new(2), &registry()).unwrap();
    partly.write(0..2, &["a".to_owned(), "é".to_owned()]).unwrap();
    let all: Vec<String> = ["a", "é", "none", "none", "none", "none"].map(str::to_owned).to_vec();
    let whole = Array::create(&memory(), "/", new(6).fill(""), &registry()).unwrap();
    whole.write(.., &all).unwrap();
    assert_eq!(hash(&partly), hash(&whole));

    let named = json!({"name": "optional", "configuration": {"name": "int16"}}).to_string();
    let codecs = r#"[{"name": "optional", "configuration": {"mask_codecs": ["packbits"], "data_codecs": ["bytes"]}}]"#;
    let codecs = codecs.replace("\"bytes\"", r#"{"name": "bytes", "configuration": {"endian": "little"}}"#);
    let new = |chunk: u64| NewArray::new(&[4], named.clone()).chunks(&[chunk]).codecs(codecs.as_str()).unwrap();
    let registry = registry();
    let of = |chunk: u64, missing: bool| {
        let array = Array::create(&memory(), "/", new(chunk).fill(json!([1])), &registry).unwrap();
        let item = |present: bool, value: i16| [&[u8::from(present)][..], &value.to_ne_bytes()].concat();
        let items = [item(true, 5), item(!missing, 0), item(false, 0), item(false, 0)].concat();
        array.write(.., &ArrayData::from_items(array.data_type(), &[4], &items, None).unwrap()).unwrap();
        hash(&array)
    };
    assert_eq!(of(4, true), of(1, true));
    assert_ne!(of(4, true), of(4, false), "a zero is not nothing");
}

#[test]
fn ieee_folds_nans_and_zeros_alone() {
    let of = |elements: [f32; 3], ieee: bool| {
        let new = NewArray::new(&[3], "float32").codecs("bytes").unwrap();
        let data = ArrayData::from_elements(&DataType::Float32, &[3], &elements).unwrap();
        digest(&array(new, &data), &DigestOptions::default().ieee(ieee)).hash
    };
    let (a, b) = ([f32::NAN, 0.0, 1.0], [f32::from_bits(0xffc0_0001), -0.0, 1.0]);
    assert_ne!(of(a, false), of(b, false));
    assert_eq!(of(a, true), of(b, true));
    assert_ne!(of(a, true), of([f32::NAN, 0.0, -1.0], true));
    assert_ne!(of([1.0; 3], true), of([1.0; 3], false), "each is its own kind of digest");
}

#[test]
fn broken_files_are_refused() {
    let new = NewArray::new(&[3], "int16").codecs("bytes").unwrap();
    let data = ArrayData::from_elements(&DataType::Int16, &[3], &[1_i16, 2, 3]).unwrap();
    let text = digest(&array(new, &data), &DigestOptions::default()).to_json(true).to_string();
    let check = |from: &str, to: &str, expected: &str| {
        assert!(text.contains(from), "{from}");
        let error = Digest::from_json(&Value::from_json(&text.replacen(from, to, 1)).unwrap()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("\"zarr_digest\":1", "\"zarr_digest\":2", "/zarr_digest: found version 2, expected 1");
    check("\"zarr_digest\":1", "\"x\":1", "expected a digest");
    check("blake3", "md5", "/hash: found \"md5\", expected blake3");
    check("\"shape\":[3]", "\"shape\":[4]", "/nodes/0/digest");
    check(
        "\"shape\":[3]",
        "\"shape\":[300000]",
        "/nodes/0/box: found [4], expected the box that shape and data type have",
    );
    check("\"box\":[4]", "\"box\":[1]", "/nodes/0/box");
    check("\"int16\"", "\"int8\"", "/nodes/0/digest");
    check("\"digest\":\"", "\"digest\":\"0", "/digest: found");
    check("\"parts\":[", "\"parts\":[\"00\",", "/nodes/0/parts/0: found \"00\", expected a hash of 64");
    check("\"kind\":\"array\"", "\"kind\":\"x\"", "/nodes/0/kind");
    check("\"ieee\":false", "\"ieee\":true", "digest");
}
