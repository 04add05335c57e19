//! Checks against data that numcodecs encoded, made by the script `tests/vectors.py` of a codec crate.
//!
//! `VECTORS` names a file with other cases; with `VECTORS_OUT`, the bytes that a codec makes of the data are written to
//! the file of that name, for `vectors.py --check`.

use super::{array_to_bytes, bytes_to_bytes, decode_bytes, element, pipeline, read, regions};
use crate::{CodecEntry, Codecs, ElementSpec, Size, View, ViewMut};
use std::fmt::Write;
use std::sync::Arc;
use zarr_dtype::{ByteOrder, DataType, FillValue, Heap, HeapRef, print};
use zarr_grid::Region;
use zarr_json::{NamedConfig, Value};

/// Degree to which a codec must write the same bytes as numcodecs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Codec that must write the same bytes as numcodecs.
    Same,
    /// Codec whose bytes may differ from those of numcodecs, but must decode to the same value.
    Equal,
}

/// Decodes and encodes the cases of a bytes-to-bytes codec: lines of JSON with `configuration`, `decoded` and `encoded`.
///
/// # Panics
/// If a result differs from that of numcodecs.
pub fn of_bytes(entry: &CodecEntry, cases: &str, written: Written) {
    run(cases, |case| {
        let configuration = member(case, "configuration").to_string();
        let codec = bytes_to_bytes(entry, &configuration, &element("uint8"));
        let (encoded, decoded) = (bytes(case, "encoded"), bytes(case, "decoded"));
        let size = decoded.len() as u64;
        for size in [Size::Exact(size), Size::AtMost(size + 1), Size::Unknown] {
            assert!(decode_bytes(&*codec, &encoded, size).expect("decodes") == decoded, "{configuration} {size:?}");
        }
        let mut again = Vec::new();
        codec.encode(&decoded, &mut again).expect("encodes");
        let found = decode_bytes(&*codec, &again, Size::Exact(size)).expect("decodes what it encoded");
        assert!(found == decoded, "{configuration}");
        assert!(written == Written::Equal || again == encoded, "{configuration}");
        again
    });
}

/// Decodes arrays of numbers, whole and in parts, and encodes them to the same bytes. `cases` are lines of JSON with `name` and
/// `configuration` of one of the codecs, `dtype`, `shape`, `decoded` and `encoded`; for a lossy codec also `data`, the data that was
/// encoded. The numbers are little-endian, and are converted to the byte order of this machine.
///
/// # Panics
/// If a result differs from that of numcodecs.
pub fn of_numbers(entries: &[CodecEntry], cases: &str) {
    let mut codecs = Codecs::default();
    entries.iter().for_each(|entry| codecs.add(*entry));
    run(cases, |case| {
        let (name, configuration) = (member(case, "name"), member(case, "configuration"));
        let element = element(member(case, "dtype").as_str().expect("a string"));
        let (shape, dims) = shape(case);
        let chain = format!(r#"[{{"name": {name}, "configuration": {configuration}}}]"#);
        let chain = pipeline(&chain, &element, &codecs).expect("a chain");
        chain.check(&shape).expect("a shape that it takes");

        let native = |name| {
            let mut items = bytes(case, name);
            element.data_type.layout().swap(&ByteOrder::Little, &mut items);
            items
        };
        let (encoded, decoded) = (bytes(case, "encoded"), native("decoded"));
        let data = if case.get("data").is_some() { native("data") } else { decoded.clone() };
        let items = |data| View::new(data, element.item_size(), &dims).expect("items of the shape");
        for region in regions(&shape) {
            let mut due = Vec::new();
            items(&decoded).window(&region).append_to(&mut due).expect("memory");
            assert!(read(&chain, &encoded, &shape, &region, false) == due, "{configuration} {shape:?} {region}");
        }
        let mut again = Vec::new();
        chain.encode(&items(&data), &mut again).expect("encodes");
        assert!(again == encoded, "{configuration}: encoded to other bytes");
        again
    });
}

/// Decodes and encodes the cases of an array-to-bytes codec for elements of variable length: lines of JSON with `configuration`,
/// `data_type`, `shape`, `values` as JSON and `encoded`.
///
/// # Panics
/// If a result differs from that of numcodecs.
pub fn of_objects(entry: &CodecEntry, cases: &str) {
    run(cases, |case| objects(entry, case, true));
}

/// Decodes the cases of an array-to-bytes codec for elements of variable length that is not written; lines as for [`of_objects`].
///
/// # Panics
/// If a result differs from that of numcodecs.
pub fn of_objects_read(entry: &CodecEntry, cases: &str) {
    run(cases, |case| objects(entry, case, false));
}

/// Checks a case; returns the bytes that the codec encodes, or the given bytes if the codec is not written.
fn objects(entry: &CodecEntry, case: &Value, written: bool) -> Vec<u8> {
    let configuration = member(case, "configuration").to_string();
    let data_type = NamedConfig::from_value(member(case, "data_type")).expect("a data type");
    let data_type = DataType::from_config(&data_type).expect("a data type");
    let element = ElementSpec::new(data_type.clone(), FillValue::zero(&data_type));
    let codec = array_to_bytes(entry, &configuration, &element);
    let (shape, dims) = shape(case);
    let values = member(case, "values").as_array().expect("values");
    let encoded = bytes(case, "encoded");

    let heap = Arc::new(Heap::new());
    let mut items = vec![0; values.len() * HeapRef::SIZE];
    let out = ViewMut::new(&mut items, HeapRef::SIZE, &dims).expect("items of the shape");
    let mut out = out.with_heap(Some(Arc::clone(&heap)));
    codec.decode(&encoded, &shape, &Region::whole(&shape), &mut out).expect("decodes");
    for (item, value) in items.chunks(HeapRef::SIZE).zip(values) {
        let found = print::to_json(&data_type, item, Some(&heap));
        assert!(found.semantically_eq(value), "{configuration}: found {found}, expected {value}");
    }
    if !written {
        return encoded;
    }
    let view = View::new(&items, HeapRef::SIZE, &dims).expect("items of the shape").with_heap(Some(heap));
    let mut again = Vec::new();
    codec.encode(&view, &mut again).expect("encodes");
    let (found, due) = (again.escape_ascii(), encoded.escape_ascii());
    assert!(again == encoded, "{configuration}: found {found}, expected {due}");
    again
}

/// Calls `each` for every case. `each` returns the encoded bytes of the case.
fn run(cases: &str, each: impl Fn(&Value) -> Vec<u8>) {
    let text = match std::env::var("VECTORS") {
        Ok(path) => std::fs::read_to_string(path).expect("a file of cases"),
        Err(_) => cases.to_owned(),
    };
    let mut ours = String::new();
    for line in text.lines() {
        let mut case = Value::from_json(line).expect("a case in JSON");
        let encoded = each(&case).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        if let Value::Object(members) = &mut case {
            members.insert("encoded", encoded);
        }
        writeln!(ours, "{case}").expect("text takes more");
    }
    assert!(ours.lines().count() >= 40, "too few cases");
    if let Ok(path) = std::env::var("VECTORS_OUT") {
        std::fs::write(path, ours).expect("a file to be written");
    }
}

fn member<'c>(case: &'c Value, name: &str) -> &'c Value {
    case.get(name).unwrap_or_else(|| panic!("a member {name}"))
}

/// Shape of a case in the types of the geometry and of views.
fn shape(case: &Value) -> (Vec<u64>, Vec<usize>) {
    let lengths = member(case, "shape").as_array().expect("a shape").iter();
    let shape: Vec<u64> = lengths.map(|len| len.as_u64().expect("a length")).collect();
    let dims = shape.iter().map(|&len| len as usize).collect();
    (shape, dims)
}

fn bytes(case: &Value, name: &str) -> Vec<u8> {
    let digits = member(case, name).as_str().expect("a string").as_bytes().chunks(2);
    let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    digits.map(|digits| byte(digits).expect("hexadecimal digits")).collect()
}
