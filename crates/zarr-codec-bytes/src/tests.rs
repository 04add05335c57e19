use crate::{BYTES, Bytes};
use proptest::prelude::*;
use std::sync::Arc;
use zarr_bytes::ByteRange;
use zarr_codec::testing::{self, array_to_bytes, build, chunk_round_trip, corrupt_chunk, decode_parts, element};
use zarr_codec::{
    Access, BuildContext, CodecValue, Codecs, Config, ElementSpec, Error, ErrorKind, Limits, Patch, Pipeline, Size,
    Step, View, ViewMut, Warnings,
};
use zarr_dtype::{DataType, FillValue};
use zarr_grid::{AxisRange, Region, SelectedElements, Selection};
use zarr_json::{NamedConfig, Value};

fn chain(data_type: &str, endian: &str) -> Arc<Pipeline> {
    let mut codecs = Codecs::default();
    codecs.add(BYTES);
    let json = format!(r#"[{{"name": "bytes", "configuration": {{"endian": "{endian}"}}}}]"#);
    testing::pipeline(&json, &element(data_type), &codecs).unwrap()
}

fn counting(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i * 31 + i / 256) as u8).collect()
}

#[test]
fn every_layout_comes_back() {
    for data_type in ["uint8", "int16", "float32", "float64", "complex64", "complex128", "r24", "r64"] {
        let item = element(data_type).item_size();
        for endian in ["little", "big"] {
            let chain = chain(data_type, endian);
            for shape in [&[][..], &[7], &[5, 6], &[3, 4, 5], &[2, 1, 3, 2]] {
                let items = counting(shape.iter().product::<usize>() * item);
                chunk_round_trip(&chain, shape, &items);
            }
        }
    }
    let bools: Vec<u8> = (0..20).map(|i| i % 2).collect();
    assert_eq!(chunk_round_trip(&chain("bool", "big"), &[4, 5], &bools), bools);
}

#[test]
fn bytes_have_the_stated_order() {
    let check = |data_type: &str, items: &[u8], little: &[u8], big: &[u8]| {
        let shape = [items.len() / element(data_type).item_size()];
        assert_eq!(chunk_round_trip(&chain(data_type, "little"), &shape, items), little, "{data_type} little");
        assert_eq!(chunk_round_trip(&chain(data_type, "big"), &shape, items), big, "{data_type} big");
    };
    check("uint16", &0x0102u16.to_ne_bytes(), &[2, 1], &[1, 2]);
    check("float64", &1.0f64.to_ne_bytes(), &1.0f64.to_le_bytes(), &[0x3f, 0xf0, 0, 0, 0, 0, 0, 0]);
    let complex = [1.0f32.to_ne_bytes(), (-2.0f32).to_ne_bytes()].concat();
    check("complex64", &complex, &[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0], &[0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0]);
    check("r24", &[1, 2, 3], &[1, 2, 3], &[1, 2, 3]);
}

#[test]
fn configurations_are_checked() {
    let order = |configuration: &str, data_type: &str| build(&BYTES, configuration, &element(data_type));
    for (configuration, data_type) in [("{}", "int8"), ("{}", "int32"), (r#"{"endian": null}"#, "bool")] {
        order(configuration, data_type).unwrap();
    }
    let little = array_to_bytes(&BYTES, "{}", &element("uint16"));
    let mut out = Vec::new();
    little.encode(&View::new(&0x0102u16.to_ne_bytes(), 2, &[]).unwrap(), &mut out).unwrap();
    assert_eq!(out, [2, 1], "little where nothing is said");
    assert_eq!(little.encoded_size(&[3, 4]), Size::Exact(24));
    assert_eq!(little.encoded_size(&[u64::MAX, 4]), Size::Unknown);
    for configuration in [r#"{"endian": "middle"}"#, r#"{"endian": 1}"#, r#"{"endian": "Little"}"#] {
        let error = order(configuration, "int8").unwrap_err();
        assert!(matches!(&error, Error::Metadata { pointer, .. } if pointer == "/configuration/endian"), "{error}");
    }
    let error = order("{}", "string").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownExtension);
    assert!(error.to_string().contains("data type string") && error.to_string().contains("vlen-utf8"), "{error}");
}

fn structs(json: &str) -> ElementSpec {
    let config = NamedConfig::from_value(&Value::from_json(json).unwrap()).unwrap();
    let data_type = DataType::from_config(&config).unwrap();
    let zero = FillValue::zero(&data_type);
    ElementSpec::new(data_type, zero)
}

/// Struct with the fields `id`, `flag`, `at` (an array of two structs of `x` and `y`) and `tag`.
const RECORD: &str = r#"{"name": "struct", "configuration": {"fields": [
    {"name": "id", "data_type": "uint32"},
    {"name": "flag", "data_type": "bool"},
    {"name": "at", "data_type": {"name": "subarray", "configuration": {"shape": [2], "data_type":
        {"name": "struct", "configuration": {"fields": [
            {"name": "x", "data_type": "uint16"},
            {"name": "y", "data_type": {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}}]}}}}},
    {"name": "tag", "data_type": "r16"}]}}"#;

#[test]
fn fields_of_structs_have_their_own_order() {
    let spec = structs(RECORD);
    let (id, x, y) = (0x01020304_u32, 0x0506_u16, 0x0708090a0b0c0d0e_i64);
    let stored = |id: [u8; 4], x: [u8; 2], y: [u8; 8]| [&id[..], &[1], &x, &y, &x, &y, b"ab"].concat().repeat(6);
    let items = stored(id.to_ne_bytes(), x.to_ne_bytes(), y.to_ne_bytes());
    let check = |configuration: &str, expected: Vec<u8>| {
        let mut codecs = Codecs::default();
        codecs.add(BYTES);
        let json = format!(r#"[{{"name": "bytes", "configuration": {configuration}}}]"#);
        let chain = testing::pipeline(&json, &spec, &codecs).unwrap();
        for shape in [&[6][..], &[2, 3], &[1, 3, 2]] {
            assert_eq!(chunk_round_trip(&chain, shape, &items), expected, "{configuration}");
        }
    };
    check("{}", stored(id.to_le_bytes(), x.to_le_bytes(), y.to_le_bytes()));
    check(r#"{"endian": "big"}"#, stored(id.to_be_bytes(), x.to_be_bytes(), y.to_be_bytes()));
    let mixed = r#"{"field_endian": ["big", null, ["little", "big"], null]}"#;
    check(mixed, stored(id.to_be_bytes(), x.to_le_bytes(), y.to_be_bytes()));
    check(
        r#"{"field_endian": ["little", null, "big", null]}"#,
        stored(id.to_le_bytes(), x.to_be_bytes(), y.to_be_bytes()),
    );

    let layout = spec.layout();
    let read = |text: &str| {
        let map = Value::from_json(text).unwrap().as_object().unwrap().clone();
        let (codecs, limits, warnings) = (Codecs::default(), Limits::default(), Warnings::default());
        Bytes::from_config(&BuildContext::new("bytes", &Config::new(&map), &spec, &codecs, &limits, &warnings))
    };
    for configuration in [r#"{"endian": "big"}"#, mixed] {
        let written = read(configuration).unwrap().to_config_of(&layout).configuration;
        assert_eq!(Value::from(written), Value::from_json(configuration).unwrap());
    }
    let same = read(r#"{"field_endian": ["big", null, ["big", "big"], null]}"#).unwrap().to_config_of(&layout);
    assert_eq!(Value::from(same.configuration).to_string(), r#"{"endian":"big"}"#);

    let build = |configuration: &str| build(&BYTES, configuration, &spec).map(|_| ());
    for wrong in [
        r#"["big", null, ["little", "big"]]"#,
        r#"["big", null, ["little", null], null]"#,
        r#"[["big"], null, ["little", "big"], null]"#,
        r#"["big", null, "middle", null]"#,
        r#""big""#,
    ] {
        let error = build(&format!(r#"{{"field_endian": {wrong}}}"#)).unwrap_err();
        assert!(
            matches!(&error, Error::Metadata { pointer, .. } if pointer == "/configuration/field_endian"),
            "{error}"
        );
    }
    assert!(build(r#"{"endian": "big", "field_endian": ["big", null, "big", null]}"#).is_err());
}

#[test]
fn fields_of_structs_are_normalized() {
    let spec = structs(RECORD);
    let codec = array_to_bytes(&BYTES, "{}", &spec);
    let mut items = vec![0; 54];
    items[27 + 4] = 3;
    let error = codec.encode(&View::new(&items, 27, &[2]).unwrap(), &mut Vec::new()).unwrap_err();
    assert!(matches!(error, Error::Encode { .. }), "{error}");
    let mut out = vec![0; 54];
    let mut out = ViewMut::new(&mut out, 27, &[2]).unwrap();
    let error = codec.decode(&items, &[2], &Region::whole(&[2]), &mut out).unwrap_err();
    assert_eq!(error.to_string(), "codec bytes: found byte 0x03, expected a bool: 0x00 or 0x01");
}

#[test]
fn memory_order_needs_no_work() {
    let native = if cfg!(target_endian = "big") { "big" } else { "little" };
    let other = if cfg!(target_endian = "big") { "little" } else { "big" };
    let check = |data_type: &str, endian: &str, expected: bool| {
        let codec = array_to_bytes(&BYTES, &format!(r#"{{"endian": "{endian}"}}"#), &element(data_type));
        assert_eq!(codec.is_memory_order(), expected, "{data_type} {endian}");
    };
    check("float32", native, true);
    check("float32", other, false);
    check("uint8", other, true);
    check("r32", other, true);
    // Elements that have to be normalized or checked are so afterwards.
    check("bool", native, true);
    check("int4", other, true);
    let plain = r#"{"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "uint16"}]}}"#;
    let codec =
        |json: &str, endian: &str| array_to_bytes(&BYTES, &format!(r#"{{"endian": "{endian}"}}"#), &structs(json));
    assert!(codec(plain, native).is_memory_order());
    assert!(!codec(plain, other).is_memory_order());
    assert!(!codec(RECORD, native).is_memory_order());
}

#[test]
fn decoded_bytes_are_normalized() {
    let read = |data_type: &str, encoded: &[u8], region: &Region, parts: bool| {
        let chain = chain(data_type, "little");
        let mut memory = vec![0; 64];
        // Every other element of the memory, so that the output is not contiguous.
        let dims: Vec<usize> = region.shape().iter().map(|&len| len as usize).collect();
        let mut out = ViewMut::from_strides(&mut memory, 1, &dims, 0, &[2]).unwrap();
        let shape = [encoded.len() as u64];
        let result = match parts {
            true => decode_parts(&chain, encoded, &shape, region, &mut out),
            false => chain.decode(encoded, &shape, region, &mut out),
        };
        let mut items = Vec::new();
        out.as_view().append_to(&mut items).unwrap();
        result.map(|()| items)
    };
    for parts in [false, true] {
        let (all, two) = (Region::whole(&[3]), Region::new([AxisRange::new(0, 2)]).unwrap());
        assert_eq!(read("int4", &[0x0f, 0xf7, 0x12], &all, parts).unwrap(), [0xff, 0x07, 0x02]);
        assert_eq!(read("uint4", &[0x0f, 0xf7, 0x12], &all, parts).unwrap(), [0x0f, 0x07, 0x02]);
        assert_eq!(read("bool", &[0, 1, 1], &all, parts).unwrap(), [0, 1, 1]);
        let error = read("bool", &[0, 1, 2], &all, parts).unwrap_err();
        assert_eq!(error.to_string(), "codec bytes: found byte 0x02, expected a bool: 0x00 or 0x01");
        assert_eq!(read("bool", &[0, 1, 2], &two, parts).unwrap(), [0, 1]);
    }
    let mut out = Vec::new();
    let error = chain("bool", "little").encode(&View::new(&[0, 3], 1, &[2]).unwrap(), &mut out).unwrap_err();
    assert!(matches!(error, Error::Encode { .. }), "{error}");
}

#[test]
fn a_chunk_has_exactly_its_bytes() {
    let chain = chain("int32", "little");
    let bytes = counting(4 * 60);
    corrupt_chunk(&chain, &[5, 12], &bytes);
    let region = Region::whole(&[5, 12]);
    let mut out = vec![0; bytes.len()];
    for parts in [false, true] {
        let mut attempt = |encoded: &[u8]| {
            let mut view = ViewMut::new(&mut out, 4, &[5, 12]).unwrap();
            match parts {
                true => decode_parts(&chain, encoded, &[5, 12], &region, &mut view),
                false => chain.decode(encoded, &[5, 12], &region, &mut view),
            }
        };
        attempt(&bytes).unwrap();
        assert!(matches!(attempt(&bytes[..239]), Err(Error::Truncated { found: 239, .. })), "parts: {parts}");
        let long = [&bytes[..], &[0]].concat();
        assert!(matches!(attempt(&long), Err(Error::TooLong { found: 241, expected: 240, .. })), "parts: {parts}");
        assert!(attempt(&[]).is_err());
    }
}

#[test]
fn patches_replace_a_region() {
    for endian in ["little", "big"] {
        let chain = chain("int16", endian);
        let items = counting(2 * 5 * 6);
        let mut old = Vec::new();
        chain.encode(&View::new(&items, 2, &[5, 6]).unwrap(), &mut old).unwrap();
        for region in testing::regions(&[5, 6]) {
            let dims: Vec<usize> = region.shape().iter().map(|&len| len as usize).collect();
            let new = vec![0xC3; dims.iter().product::<usize>() * 2];
            let new = View::new(&new, 2, &dims).unwrap();
            let mut patched = vec![9];
            chain.patch(Some(&old), &Patch::region(&[5, 6], region.clone(), new.clone()), &mut patched).unwrap();
            let mut model = items.clone();
            ViewMut::new(&mut model, 2, &[5, 6]).unwrap().window(&region).copy_from(&new);
            assert_eq!(testing::read(&chain, &patched[1..], &[5, 6], &Region::whole(&[5, 6]), false), model);
        }
        let row = View::new(&items[..12], 2, &[1, 6]).unwrap();
        let row = Patch::region(&[5, 6], Region::from_ranges(&[0..1, 0..6]), row);
        let short = chain.patch(Some(&old[1..]), &row, &mut Vec::new());
        assert!(short.is_err());
    }
}

#[test]
fn patches_replace_single_elements() {
    let points = Selection::coordinates(vec![vec![4, 0, 4, 2], vec![5, 1, 5, 0]]).resolve(&[5, 6]).unwrap();
    for endian in ["little", "big"] {
        let chain = chain("int16", endian);
        let mut model = counting(2 * 5 * 6);
        let mut old = Vec::new();
        chain.encode(&View::new(&model, 2, &[5, 6]).unwrap(), &mut old).unwrap();
        let new = [1_u8, 2, 3, 4, 5, 6, 7, 8];
        let patch = |output: &[usize]| {
            Patch::selected(&[5, 6], SelectedElements::new(&points).unwrap(), &View::new(&new, 2, output).unwrap())
        };
        let patch = patch(&[4]).unwrap();
        let mut patched = vec![9];
        chain.patch(Some(&old), &patch, &mut patched).unwrap();
        // The last of two values for one element stays.
        for (element, item) in [(29, [5, 6]), (1, [3, 4]), (12, [7, 8])] {
            model[2 * element..][..2].copy_from_slice(&item);
        }
        assert_eq!(testing::read(&chain, &patched[1..], &[5, 6], &Region::whole(&[5, 6]), false), model);
        assert!(chain.patch(Some(&old[1..]), &patch, &mut Vec::new()).is_err());
    }
}

fn cases() -> impl Strategy<Value = (Vec<u64>, Region)> {
    let axis = (1u64..12).prop_flat_map(|len| {
        (Just(len), 0..len, 1u64..5, any::<prop::sample::Index>(), 0..8).prop_map(|(len, start, step, count, kind)| {
            match kind {
                0..4 => (len, AxisRange::new(0, len)),
                4 => (len, AxisRange::new(start, 0)),
                _ => (
                    len,
                    AxisRange { start, len: 1 + count.index(((len - start - 1) / step + 1) as usize) as u64, step },
                ),
            }
        })
    });
    prop::collection::vec(axis, 0..5).prop_map(|axes| {
        let (shape, ranges): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
        (shape, Region::new(ranges).unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Partial decoding returns the same elements as decoding of the whole chunk, requests only the needed bytes, and at most `limit` bytes
    /// at once.
    #[test]
    fn parts_equal_the_whole((shape, region) in cases(), limit in prop::option::of(1u64..600), big in any::<bool>()) {
        let chain = chain("int32", if big { "big" } else { "little" });
        let size = shape.iter().product::<u64>() * 4;
        let encoded = counting(size as usize);
        let dims: Vec<usize> = region.shape().iter().map(|&len| len as usize).collect();
        let needed = dims.iter().product::<usize>() * 4;
        let mut due = vec![0; needed];
        chain.decode(&encoded, &shape, &region, &mut ViewMut::new(&mut due, 4, &dims).unwrap()).unwrap();

        let mut found = vec![0; needed];
        let mut out = ViewMut::new(&mut found, 4, &dims).unwrap();
        let access = Access::default().read_size(limit);
        let Some(mut decode) = chain.partial(&shape, &region, &access) else {
            prop_assert!(region.is_whole(&shape) && limit.is_none_or(|limit| size <= limit));
            return Ok(());
        };
        let mut asked = 0;
        let mut got: Vec<&[u8]> = Vec::new();
        while let Step::Need(ranges) = decode.step(&got, &mut out).unwrap() {
            got = ranges.iter().map(|range| {
                let range = range.resolve(size).unwrap();
                &encoded[range.start as usize..range.end as usize]
            }).collect();
            let bytes: usize = got.iter().map(|bytes| bytes.len()).sum();
            prop_assert!(got.len() == 1 || got.len() <= 1024);
            prop_assert!(limit.is_none_or(|limit| bytes as u64 <= limit.max(4)), "{} bytes at once", bytes);
            asked += bytes;
        }
        prop_assert_eq!(&found, &due);
        // Small cases never have so many ranges that gaps are fetched.
        if limit.is_some() || needed / 4 <= 1024 {
            prop_assert_eq!(asked, needed);
        }
    }
}

#[test]
fn many_ranges_become_one() {
    let shape = [3000, 100];
    let chain = chain("uint8", "little");
    let column = Region::from_ranges(&[0..3000, 7..8]);
    let mut memory = vec![0; 3000];
    let mut requests = |read_size: Option<u64>| {
        let encoded = counting(300_000);
        let mut out = ViewMut::new(&mut memory, 1, &[3000, 1]).unwrap();
        let mut decode = chain.partial(&shape, &column, &Access::default().read_size(read_size)).unwrap();
        let mut requests = Vec::new();
        let mut got: Vec<&[u8]> = Vec::new();
        while let Step::Need(ranges) = decode.step(&got, &mut out).unwrap() {
            got = ranges
                .iter()
                .map(|range| range.resolve(300_000).unwrap())
                .map(|range| &encoded[range.start as usize..range.end as usize])
                .collect();
            requests.push(ranges);
        }
        assert!(memory.iter().enumerate().all(|(i, &byte)| byte == encoded[i * 100 + 7]));
        requests
    };
    assert_eq!(requests(None), [[ByteRange::Range(7..299_908)]]);
    let small = requests(Some(1000));
    assert_eq!(small.iter().map(Vec::len).collect::<Vec<_>>(), [1000, 1000, 1000]);
    let large = requests(Some(100_000));
    assert_eq!(large.iter().map(Vec::len).collect::<Vec<_>>(), [1024, 1024, 952]);
}

#[test]
fn whole_chunks_in_slabs_notice_leftovers() {
    let chain = chain("uint8", "little");
    let whole = Region::whole(&[10, 10]);
    let mut memory = [0; 100];
    let mut out = ViewMut::new(&mut memory, 1, &[10, 10]).unwrap();
    let mut decode = chain.partial(&[10, 10], &whole, &Access::default().read_size(Some(45))).unwrap();
    let bytes = counting(101);
    let need = |step: Step| match step {
        Step::Need(ranges) => ranges,
        other => panic!("{other:?}"),
    };
    assert_eq!(need(decode.step(&[], &mut out).unwrap()), [ByteRange::Range(0..40)]);
    assert_eq!(need(decode.step(&[&bytes[..40]], &mut out).unwrap()), [ByteRange::Range(40..80)]);
    assert_eq!(need(decode.step(&[&bytes[40..80]], &mut out).unwrap()), [ByteRange::From(80)]);
    assert!(matches!(decode.step(&[&bytes[80..]], &mut out), Err(Error::TooLong { found: 101, expected: 100, .. })));
    assert!(chain.partial(&[10, 10], &whole, &Access::default()).is_none(), "all at once");
}
