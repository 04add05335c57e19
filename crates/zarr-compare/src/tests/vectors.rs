//! Tests against the digests that `tests/vectors.py` computes from `docs/digest.md` alone.

use super::{array, digest, memory, registry};
use crate::{Digest, DigestOptions};
use std::sync::Arc;
use zarr_array::{Array, ArrayData, NewArray, NewGroup};
use zarr_dtype::{ByteOrder, DataType, Heap, HeapRef};
use zarr_json::{NamedConfig, Value};

fn vectors() -> Value {
    Value::from_json(include_str!("../../tests/vectors.json")).unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap())
        .collect()
}

/// Returns the elements of a test vector in memory form.
fn elements(data_type: &DataType, shape: &[u64], given: &Value) -> ArrayData {
    let Some(items) = given.as_array() else {
        let count = zarr_grid::element_count(shape).unwrap();
        let items: Vec<u16> = (0..count).map(|at| (at * 40503 % 65536) as u16).collect();
        return ArrayData::from_elements(data_type, shape, &items).unwrap();
    };
    let items: Vec<Vec<u8>> = items.iter().map(|item| bytes(item.as_str().unwrap())).collect();
    if data_type.is_variable() {
        let heap = Heap::new();
        let reference = |content: &Vec<u8>| {
            let (block, len) = (heap.add(content.clone()), content.len() as u32);
            if len == 0 { HeapRef::default() } else { HeapRef { block, len, offset: 0 } }.to_bytes()
        };
        let references: Vec<u8> = items.iter().flat_map(reference).collect();
        return ArrayData::from_items(data_type, shape, &references, Some(Arc::new(heap))).unwrap();
    }
    let mut items = items.concat();
    data_type.layout().swap(&ByteOrder::Little, &mut items);
    ArrayData::from_items(data_type, shape, &items, None).unwrap()
}

#[test]
fn arrays_have_the_digests_of_the_definition() {
    let vectors = vectors();
    let vectors = vectors.get("arrays").and_then(Value::as_array).unwrap();
    assert!(vectors.len() >= 16);
    for vector in vectors {
        let text = |name: &str| vector.get(name).and_then(Value::as_str).unwrap();
        let sizes = |name: &str| -> Vec<u64> {
            vector.get(name).and_then(Value::as_array).unwrap().iter().map(|len| len.as_u64().unwrap()).collect()
        };
        let (name, named, shape) = (text("name"), vector.get("data_type").unwrap(), sizes("shape"));
        let data_type = DataType::from_config(&NamedConfig::from_value(named).unwrap()).unwrap();
        let data = elements(&data_type, &shape, vector.get("elements").unwrap());
        let codec = match data_type {
            DataType::String => "vlen-utf8",
            DataType::Bytes { .. } => "vlen-bytes",
            _ => "bytes",
        };
        let type_name = named.as_str().map_or_else(|| named.to_string(), str::to_owned);
        let new = NewArray::new(&shape, type_name).chunks(&vec![300; shape.len()]).codecs(codec).unwrap();
        let options = DigestOptions::default().ieee(vector.get("ieee").and_then(Value::as_bool).unwrap());
        let digest = digest(&array(new, &data), &options);
        let node = &digest.nodes[0];
        let of_array = node.array.as_ref().unwrap();
        assert_eq!(of_array.box_shape, sizes("box"), "{name}");
        let parts: Vec<String> = of_array.parts.iter().flatten().map(ToString::to_string).collect();
        let expected = vector.get("parts").and_then(Value::as_array).unwrap();
        assert_eq!(parts, expected.iter().map(|part| part.as_str().unwrap()).collect::<Vec<_>>(), "{name}");
        assert_eq!(digest.hash.to_string(), text("digest"), "{name}");
        for with_parts in [true, false] {
            let back = Digest::from_json(&Value::from_json(&digest.to_json(with_parts).to_string()).unwrap()).unwrap();
            assert_eq!(back.differences(&digest).unwrap(), [], "{name}");
            assert_eq!(back.hash, digest.hash);
        }
    }
}

#[test]
fn hierarchies_have_the_digests_of_the_definition() {
    let (store, registry) = (memory(), registry());
    let group = |path: &str| zarr_array::Group::create(&store, path, NewGroup::default(), &registry).unwrap();
    group("/")
        .set_attributes(Value::from_json(r#"{"title": "x", "n": 1.0}"#).unwrap().as_object().unwrap().clone())
        .unwrap();
    let new = NewArray::new(&[4], "int16").codecs("bytes").unwrap().dimension_names(&["t"]).attribute("scale", 0.1);
    Array::create(&store, "/a", new, &registry).unwrap().write(.., &[1_i16, 2, 3, 4]).unwrap();
    let new = NewArray::new(&[1], "uint8").codecs("bytes").unwrap();
    Array::create(&store, "/g/b", new, &registry).unwrap().write(.., &[7_u8]).unwrap();
    let vectors = vectors();
    for (name, counted) in [("values", false), ("attributes", true)] {
        let options = DigestOptions::default().attributes(counted);
        let digest = Digest::of(&store, "/", &registry, &options, |_| {}).unwrap();
        let expected = vectors.get("hierarchies").and_then(|all| all.get(name)).and_then(Value::as_str);
        assert_eq!(Some(digest.hash.to_string().as_str()), expected, "{name}");
    }
}
