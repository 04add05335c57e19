use crate::{VLEN_ARRAY, VLEN_BYTES, VLEN_UTF8};
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{self, array_to_bytes, build, corrupt_chunk, element};
use zarr_codec::{ArrayToBytes, Codecs, ElementSpec, Error, ErrorKind, Size, View, ViewMut};
use zarr_dtype::{DataType, FillValue, Heap, HeapRef};
use zarr_grid::{AxisRange, Region};
use zarr_json::{NamedConfig, json};

fn codec(utf8: bool) -> Arc<dyn ArrayToBytes> {
    match utf8 {
        true => array_to_bytes(&VLEN_UTF8, "{}", &element("string")),
        false => array_to_bytes(&VLEN_BYTES, "{}", &element("bytes")),
    }
}

/// Returns items that refer to the elements, and the heap with the elements.
fn items<T: AsRef<[u8]>>(elements: &[T]) -> (Vec<u8>, Arc<Heap>) {
    let heap = Heap::new();
    let items = elements.iter().flat_map(|bytes| {
        let bytes = bytes.as_ref();
        HeapRef { block: heap.add(bytes.to_vec()), len: bytes.len() as u32, offset: 0 }.to_bytes()
    });
    (items.collect(), Arc::new(heap))
}

fn encode<T: AsRef<[u8]>>(codec: &dyn ArrayToBytes, shape: &[usize], elements: &[T]) -> Result<Vec<u8>, Error> {
    let (items, heap) = items(elements);
    let mut encoded = vec![9];
    codec.encode(&View::new(&items, HeapRef::SIZE, shape).unwrap().with_heap(Some(heap)), &mut encoded)?;
    assert_eq!(encoded.remove(0), 9, "encode appends");
    Ok(encoded)
}

/// Returns the elements of a region, and the heap with the elements.
fn decode(
    codec: &dyn ArrayToBytes,
    encoded: &[u8],
    shape: &[u64],
    region: &Region,
) -> Result<(Vec<Vec<u8>>, Arc<Heap>), Error> {
    let heap = Arc::new(Heap::new());
    // The bytes that are there before are no references.
    let mut memory = vec![0xEE; region.len_checked().unwrap() as usize * HeapRef::SIZE];
    let dims: Vec<usize> = region.shape().iter().map(|&len| len as usize).collect();
    let out = ViewMut::new(&mut memory, HeapRef::SIZE, &dims).unwrap();
    codec.decode(encoded, shape, region, &mut out.with_heap(Some(Arc::clone(&heap))))?;
    let element = |item: &[u8]| heap.get(HeapRef::from_item(item).unwrap()).unwrap().to_vec();
    Ok((memory.chunks(HeapRef::SIZE).map(element).collect(), heap))
}

#[test]
fn known_bytes() {
    let texts = ["", "a", "Grüße", "🦀"];
    let encoded = encode(&*codec(true), &[2, 2], &texts).unwrap();
    assert_eq!(encoded, b"\x04\0\0\0\0\0\0\0\x01\0\0\0a\x07\0\0\0Gr\xc3\xbc\xc3\x9fe\x04\0\0\0\xf0\x9f\xa6\x80");
    let (found, heap) = decode(&*codec(true), &encoded, &[2, 2], &Region::whole(&[2, 2])).unwrap();
    assert_eq!(found, texts.map(|text| text.as_bytes().to_vec()));
    assert_eq!(heap.block(1), Some(encoded.as_slice()), "one block of all strings");
    assert_eq!(heap.block(2), None);
    let one = encode(&*codec(false), &[], &[b"\xff\x00"]).unwrap();
    assert_eq!(one, b"\x01\0\0\0\x02\0\0\0\xff\0");
    assert_eq!(decode(&*codec(false), &one, &[], &Region::whole(&[])).unwrap().0, [b"\xff\x00"]);
    assert_eq!(encode(&*codec(true), &[0, 3], &[""; 0]).unwrap(), [0; 4]);
    assert_eq!(codec(true).encoded_size(&[3]), Size::Unknown);
}

#[test]
fn regions_keep_only_their_own_bytes() {
    let texts: Vec<String> = (0..60).map(|i| "x".repeat(i)).collect();
    let encoded = encode(&*codec(true), &[3, 4, 5], &texts).unwrap();
    let shape = [3, 4, 5];
    for region in testing::regions(&shape) {
        let (found, heap) = decode(&*codec(true), &encoded, &shape, &region).unwrap();
        let selected: Vec<usize> = (0..60)
            .filter(|i| {
                let index = [i / 20, i / 5 % 4, i % 5];
                index
                    .iter()
                    .zip(region.axes())
                    .all(|(&i, axis)| (0..axis.len).any(|n| axis.start + n * axis.step == i as u64))
            })
            .collect();
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), selected, "{region}");
        let whole = region.is_whole(&shape).then_some(encoded.len());
        assert_eq!(heap.size(), whole.unwrap_or_else(|| selected.iter().sum()) as u64);
    }
}

#[test]
fn broken_chunks_are_errors() {
    let attempt = |utf8: bool, encoded: &[u8], region: &Region| decode(&*codec(utf8), encoded, &[2], region);
    let all = Region::whole(&[2]);
    let good = b"\x02\0\0\0\x01\0\0\0a\x02\0\0\0\xc3\xbc";
    attempt(true, good, &all).unwrap();
    let first = Region::new([AxisRange::new(0, 1)]).unwrap();
    for region in [&all, &first, &Region::new([AxisRange::new(1, 0)]).unwrap()] {
        for cut in 0..good.len() {
            let error = attempt(true, &good[..cut], region).unwrap_err();
            assert!(matches!(error, Error::Truncated { found, expected, .. } if found < expected), "{cut}: {error}");
        }
        let error = attempt(true, &[&good[..], &[0]].concat(), region).unwrap_err();
        assert!(matches!(error, Error::TooLong { found: 16, expected: 15, .. }), "{error}");
        for count in [0, 1, 3, u32::MAX] {
            let error = attempt(true, &[&count.to_le_bytes(), &good[4..]].concat(), region).unwrap_err();
            assert_eq!(error.to_string(), format!("codec vlen-utf8: found {count} elements, expected 2"));
        }
        let long = [&good[..4], &[0xff; 4], &good[8..]].concat();
        assert!(matches!(attempt(true, &long, region), Err(Error::Truncated { expected: 0x1_0000_0007, .. })));
    }
    let mut invalid = good.to_vec();
    invalid[14] = b'x';
    assert!(matches!(attempt(true, &invalid, &all), Err(Error::Corrupt { .. })));
    attempt(false, &invalid, &all).unwrap();
    // The two bytes of a character must be of one element.
    let torn = b"\x02\0\0\0\x01\0\0\0\xc3\x01\0\0\0\xbc";
    assert!(matches!(attempt(true, torn, &all), Err(Error::Corrupt { .. })));
    let mut memory = [0; 32];
    let mut out = ViewMut::new(&mut memory, HeapRef::SIZE, &[2]).unwrap();
    assert!(matches!(codec(true).decode(good, &[2], &all, &mut out), Err(Error::Unsupported { .. })));
}

#[test]
fn changed_chunks_do_not_panic() {
    let mut codecs = Codecs::default();
    codecs.add(VLEN_UTF8);
    codecs.add(VLEN_BYTES);
    let texts: Vec<String> = (0..30).map(|i| "ü".repeat(i % 7)).collect();
    for (name, data_type) in [("vlen-utf8", "string"), ("vlen-bytes", "bytes")] {
        let json = format!(r#"[{{"name": "{name}"}}]"#);
        let chain = testing::pipeline(&json, &element(data_type), &codecs).unwrap();
        let encoded = encode(&*codec(data_type == "string"), &[5, 6], &texts).unwrap();
        corrupt_chunk(&chain, &[5, 6], &encoded);
    }
}

#[test]
fn only_good_elements_are_encoded() {
    let error = encode(&*codec(true), &[1], &[b"\xff"]).unwrap_err();
    assert!(matches!(error, Error::Encode { .. }), "{error}");
    let dangling = HeapRef { block: 7, len: 1, offset: 0 }.to_bytes();
    let view = View::new(&dangling, HeapRef::SIZE, &[1]).unwrap();
    assert!(matches!(codec(true).encode(&view, &mut Vec::new()), Err(Error::Unsupported { .. })));
    let view = view.with_heap(Some(Arc::new(Heap::new())));
    assert!(matches!(codec(true).encode(&view, &mut Vec::new()), Err(Error::Encode { .. })));
}

#[test]
fn data_types_must_fit() {
    for (entry, good, bad) in
        [(&VLEN_UTF8, "string", ["bytes", "int32"]), (&VLEN_BYTES, "variable_length_bytes", ["string", "r8"])]
    {
        build(entry, "{}", &element(good)).unwrap();
        for data_type in bad {
            let error = build(entry, "{}", &element(data_type)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnknownExtension);
            assert!(error.to_string().contains(data_type), "{error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_bytes_come_back(
        elements in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 1..40),
        (start, step, count) in (any::<prop::sample::Index>(), 1u64..5, any::<prop::sample::Index>()),
    ) {
        let codec = codec(false);
        let len = elements.len() as u64;
        let encoded = encode(&*codec, &[elements.len()], &elements).unwrap();
        let start = start.index(elements.len()) as u64;
        let count = 1 + count.index(((len - start - 1) / step + 1) as usize) as u64;
        let region = Region::new([AxisRange { start, len: count, step }]).unwrap();
        let due: Vec<_> = elements.iter().skip(start as usize).step_by(step as usize).take(count as usize).cloned().collect();
        prop_assert_eq!(decode(&*codec, &encoded, &[len], &region).unwrap().0, due);
        prop_assert_eq!(decode(&*codec, &encoded, &[len], &Region::whole(&[len])).unwrap().0, elements);
    }
}

/// Returns the data type of lists whose inner elements are of the type `inner` of fixed size.
fn lists(inner: &str) -> ElementSpec {
    let configuration = json!({"data_type": inner}).as_object().cloned().unwrap();
    let data_type = DataType::from_config(&NamedConfig::with("vlen-array", configuration)).unwrap();
    let fill = FillValue::zero(&data_type);
    ElementSpec::new(data_type, fill)
}

#[test]
fn lists_have_the_byte_order_of_the_codec() {
    let native = [1_i16, -2].map(i16::to_ne_bytes).concat();
    for (dtype, stored) in [("<i2", b"\x01\0\xfe\xff"), (">i2", b"\0\x01\xff\xfe")] {
        let codec = array_to_bytes(&VLEN_ARRAY, &format!(r#"{{"dtype": "{dtype}"}}"#), &lists("int16"));
        let encoded = encode(&*codec, &[2], &[&native[..], b""]).unwrap();
        assert_eq!(encoded, [&b"\x02\0\0\0\x04\0\0\0"[..], stored, &[0; 4]].concat());
        let (found, _) = decode(&*codec, &encoded, &[2], &Region::whole(&[2])).unwrap();
        assert_eq!(found, [&native[..], b""]);
        let half = b"\x01\0\0\0\x03\0\0\0abc";
        let error = decode(&*codec, half, &[1], &Region::whole(&[1])).unwrap_err();
        assert_eq!(error.to_string(), "codec vlen-array: 3 bytes, expected a multiple of 2");
        assert!(encode(&*codec, &[1], &[b"abc"]).is_err());
    }
}

#[test]
fn lists_need_the_type_of_their_items() {
    let error = |configuration: &str, element: &ElementSpec| {
        build(&VLEN_ARRAY, configuration, element).unwrap_err().to_string()
    };
    assert!(error("{}", &lists("int16")).contains("/configuration/dtype: missing"));
    assert!(error(r#"{"dtype": "<i4"}"#, &lists("int16")).contains("inner elements of type int32"));
    assert!(error(r#"{"dtype": "|O"}"#, &lists("int16")).contains("unknown data type"));
    assert!(error(r#"{"dtype": "<i2"}"#, &element("bytes")).contains("expected vlen-array"));
    let broken = b"\x01\0\0\0\x01\0\0\0\x02";
    let codec = array_to_bytes(&VLEN_ARRAY, r#"{"dtype": "|b1"}"#, &lists("bool"));
    assert!(decode(&*codec, broken, &[1], &Region::whole(&[1])).is_err(), "no bool");
}
