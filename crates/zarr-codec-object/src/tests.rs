use crate::{JSON, JSON2, MSGPACK, MSGPACK2};
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{array_to_bytes, build, corrupt_chunk, element, pipeline, regions};
use zarr_codec::{ArrayToBytes, CodecEntry, Codecs, Error, ErrorKind, Limits, Pipeline, View, ViewMut, Warnings};
use zarr_dtype::{DataType, Element, Heap};
use zarr_grid::Region;
use zarr_json::{Value, json};

fn encode(codec: &dyn ArrayToBytes, shape: &[usize], values: &[Value]) -> Result<Vec<u8>, Error> {
    let heap = Arc::new(Heap::new());
    let items = Value::to_items(&DataType::Object, values, &heap).unwrap();
    let mut encoded = vec![9];
    codec.encode(&View::new(&items, 16, shape).unwrap().with_heap(Some(heap)), &mut encoded)?;
    assert_eq!(encoded.remove(0), 9, "encode appends");
    Ok(encoded)
}

fn decode<T: Element>(
    codec: &dyn ArrayToBytes,
    data_type: &DataType,
    encoded: &[u8],
    shape: &[u64],
    region: &Region,
) -> Result<Vec<T>, Error> {
    let heap = Arc::new(Heap::new());
    let dims: Vec<usize> = region.shape().iter().map(|&len| len as usize).collect();
    let mut items = vec![0xEE; dims.iter().product::<usize>() * 16];
    let view = ViewMut::new(&mut items, 16, &dims).unwrap();
    codec.decode(encoded, shape, region, &mut view.with_heap(Some(Arc::clone(&heap))))?;
    Ok(T::from_items(data_type, &items, &heap).unwrap())
}

fn all(codec: &dyn ArrayToBytes, encoded: &[u8], shape: &[u64]) -> Result<Vec<Value>, Error> {
    decode(codec, &DataType::Object, encoded, shape, &Region::whole(shape))
}

fn object(entry: &CodecEntry, configuration: &str) -> Arc<dyn ArrayToBytes> {
    array_to_bytes(entry, configuration, &element("v2_object"))
}

#[test]
fn every_notation_of_every_shape() {
    let values =
        [json!("ü"), json!([1, [2]]), json!(null), json!({"k": [1, 2.5]}), json!(true), json!({"$float": "NaN"})];
    let text = r#""\u00fc",[1,[2]],null,{"k":[1,2.5]},true,NaN"#;
    let rows = r#"["\u00fc",[1,[2]]],[null,{"k":[1,2.5]}],[true,NaN]"#;
    for (entry, shape, expected) in [
        (&JSON2, &[6][..], format!(r#"[{text},"|O",[6]]"#)),
        (&JSON2, &[3, 2], format!(r#"[{rows},"|O",[3,2]]"#)),
        (&JSON, &[6], format!(r#"[{text},"|O"]"#)),
        (&JSON, &[3, 2], format!(r#"[{rows},"|O"]"#)),
    ] {
        let codec = object(entry, "{}");
        let encoded = encode(&*codec, shape, &values).unwrap();
        assert_eq!(String::from_utf8(encoded.clone()).unwrap(), expected);
        let shape: Vec<u64> = shape.iter().map(|&len| len as u64).collect();
        assert_eq!(all(&*codec, &encoded, &shape).unwrap(), values);
    }
    for entry in [&MSGPACK2, &MSGPACK] {
        let codec = object(entry, "{}");
        for shape in [&[6][..], &[3, 2]] {
            let encoded = encode(&*codec, shape, &values).unwrap();
            let shape: Vec<u64> = shape.iter().map(|&len| len as u64).collect();
            assert_eq!(all(&*codec, &encoded, &shape).unwrap(), values);
        }
    }
    let one = object(&JSON2, "{}");
    assert_eq!(encode(&*one, &[], &[json!([1])]).unwrap(), br#"[[1],"|O",[]]"#);
    assert_eq!(all(&*one, br#"[[1],"|O",[]]"#, &[]).unwrap(), [json!([1])]);
    assert_eq!(encode(&*one, &[0, 3], &[]).unwrap(), br#"["|O",[0,3]]"#);
    assert_eq!(all(&*one, br#"["|O",[0,3]]"#, &[0, 3]).unwrap(), [json!(null); 0]);
}

#[test]
fn python_spells_json_in_many_ways() {
    let values = [json!({"b": "ü🦀\u{7f}\u{8}", "a": []}), json!({})];
    let check = |configuration: &str, expected: &str| {
        let encoded = encode(&*object(&JSON2, configuration), &[2], &values).unwrap();
        assert_eq!(String::from_utf8(encoded).unwrap(), expected, "{configuration}");
    };
    check("{}", r#"[{"a":[],"b":"\u00fc\ud83e\udd80\u007f\b"},{},"|O",[2]]"#);
    check(
        r#"{"ensure_ascii": false, "sort_keys": false, "separators": [", ", ": "]}"#,
        "[{\"b\": \"ü🦀\u{7f}\\b\", \"a\": []}, {}, \"|O\", [2]]",
    );
    check(
        r#"{"indent": 1}"#,
        "[\n {\n  \"a\": [], \n  \"b\": \"\\u00fc\\ud83e\\udd80\\u007f\\b\"\n }, \n {}, \n \"|O\", \n [\n  2\n ]\n]",
    );
    check(
        r#"{"indent": true}"#,
        "[\n {\n  \"a\": [], \n  \"b\": \"\\u00fc\\ud83e\\udd80\\u007f\\b\"\n }, \n {}, \n \"|O\", \n [\n  2\n ]\n]",
    );
    let strict = object(&JSON2, r#"{"allow_nan": false}"#);
    assert!(encode(&*strict, &[1], &[json!({"$float": "NaN"})]).is_err());
    assert!(encode(&*strict, &[1], &[json!({"$bytes": "AA=="})]).is_err(), "JSON has no bytes");
}

#[test]
fn texts_are_elements_too() {
    let codec = array_to_bytes(&JSON2, "{}", &element("string"));
    let found: Vec<String> =
        decode(&*codec, &DataType::String, br#"["a",null,"|O",[2]]"#, &[2], &Region::whole(&[2])).unwrap();
    assert_eq!(found, ["a", ""]);
    let error = decode::<String>(&*codec, &DataType::String, br#"[1,"|O",[1]]"#, &[1], &Region::whole(&[1]));
    assert_eq!(error.unwrap_err().to_string(), "codec json2: found 1, expected a string");
    let error = build(&JSON2, "{}", &element("int8")).map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownExtension);
}

#[test]
fn chunks_that_do_not_fit_are_corrupt() {
    let codec = object(&JSON2, "{}");
    for (text, what) in [
        ("[1, 2", "line 1"),
        ("{}", "found an object, expected an array"),
        ("[]", "the list ends"),
        (r#"[1,2,"|O",[3]]"#, "found shape [3]"),
        (r#"[1,"|O",[2]]"#, "found an array of 1, expected 2"),
        (r#"[1,2,"|O",2]"#, "found 2 as shape"),
        (r#"[[1],[2,3],"|O",[2,1]]"#, "found an array of 2, expected 1"),
        (r#"[1,2,"|O",[2,1]]"#, "found a number, expected an array"),
        (r#"[1,2,"|O",[2,18446744073709551615]]"#, "found shape"),
    ] {
        let error = all(&*codec, text.as_bytes(), &[2]).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }) && error.to_string().contains(what), "{text}: {error}");
    }
    // An array with order F: its elements follow each other as in memory.
    let transposed = all(&*codec, br#"[[1,2,3],[4,5,6],"|O",[2,3]]"#, &[3, 2]).unwrap();
    assert_eq!(transposed, [1, 2, 3, 4, 5, 6].map(Value::from));
}

#[test]
fn configurations_are_checked() {
    for (entry, configuration) in [
        (&JSON2, r#"{"encoding": "utf-7"}"#),
        (&JSON2, r#"{"indent": 65}"#),
        (&JSON2, r#"{"separators": ","}"#),
        (&JSON2, r#"{"sort_keys": 1}"#),
        (&MSGPACK2, r#"{"raw": "no"}"#),
        (&MSGPACK, r#"{"encoding": "latin-1"}"#),
    ] {
        let error = build(entry, configuration, &element("v2_object")).map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidMetadata, "{configuration}: {error}");
    }
}

#[test]
fn values_must_fit_into_the_memory_for_a_chunk() {
    // A million times null, a byte each.
    let list = [&b"\xdd\0\x0f\x42\x42"[..], &[0xc0; 1_000_000], b"\xa2|O\x91\xce\0\x0f\x42\x40"].concat();
    let mut codecs = Codecs::default();
    codecs.add(MSGPACK2);
    let chain = |max_chunk| {
        let mut limits = Limits::default();
        limits.max_chunk = max_chunk;
        let codec = zarr_json::NamedConfig::new("numcodecs.msgpack2");
        Pipeline::build(&[codec], &element("v2_object"), &codecs, &limits, 0, &Warnings::default()).unwrap()
    };
    let decode = |max_chunk| {
        let region = Region::new([zarr_grid::AxisRange::new(5, 1)]).unwrap();
        let mut item = [0; 16];
        let view = ViewMut::new(&mut item, 16, &[1]).unwrap();
        chain(max_chunk).decode(&list, &[1_000_000], &region, &mut view.with_heap(Some(Arc::new(Heap::new()))))
    };
    decode(64 << 20).unwrap();
    assert!(matches!(decode(32 << 20), Err(Error::Limit { .. })));
}

#[test]
fn changed_chunks_do_not_panic() {
    let values: Vec<Value> = (0..12).map(|i| json!({"k": [i, "x\\"], "f": (f64::from(i) / 3.0)})).collect();
    let mut codecs = Codecs::default();
    for (entry, name) in [(JSON2, "numcodecs.json2"), (MSGPACK2, "numcodecs.msgpack2")] {
        codecs.add(entry);
        let chain = pipeline(&format!(r#"[{{"name": "{name}"}}]"#), &element("v2_object"), &codecs).unwrap();
        let encoded = encode(&*object(&entry, "{}"), &[3, 4], &values).unwrap();
        corrupt_chunk(&chain, &[3, 4], &encoded);
    }
}

fn value() -> impl Strategy<Value = Value> {
    let float = any::<f64>().prop_map(crate::special::float);
    let bytes = any::<Vec<u8>>().prop_map(|bytes| crate::special::Special::Bytes(bytes).to_value());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        float,
        bytes,
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec(("[a-zü$]{0,4}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_values_come_back(values in prop::collection::vec(value(), 6)) {
        let msgpack = object(&MSGPACK2, "{}");
        let encoded = encode(&*msgpack, &[2, 3], &values).unwrap();
        for region in regions(&[2, 3]) {
            let found: Vec<Value> = decode(&*msgpack, &DataType::Object, &encoded, &[2, 3], &region).unwrap();
            let offsets = zarr_codec::ElementOffsets::new(&[2, 3], &region);
            let due: Vec<Value> = offsets.map(|index| values[index as usize].clone()).collect();
            prop_assert_eq!(&found, &due, "{}", region);
        }
        let json = object(&JSON2, "{}");
        if let Ok(encoded) = encode(&*json, &[6], &values) {
            let found = all(&*json, &encoded, &[6]).unwrap();
            prop_assert!(found.iter().zip(&values).all(|(found, value)| found.semantically_eq(value)), "{:?}", found);
        } else {
            prop_assert!(values.iter().any(|value| value.to_string().contains("$bytes")));
        }
    }
}
