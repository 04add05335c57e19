use crate::{NUMCODECS_PACKBITS, PACKBITS};
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{self, build, chunk_round_trip, corrupt_chunk, element, regions};
use zarr_codec::{Access, Codecs, ElementSpec, Error, Pipeline, Step, ViewMut};
use zarr_dtype::{DataType, FillValue};
use zarr_grid::Region;

fn chain(codecs: &str, data_type: &str) -> Result<Arc<Pipeline>, Error> {
    let mut table = Codecs::default();
    table.add(PACKBITS);
    table.add(NUMCODECS_PACKBITS);
    table.add(zarr_codec_bytes::BYTES);
    testing::pipeline(codecs, &element(data_type), &table)
}

fn packbits(configuration: &str, data_type: &str) -> Arc<Pipeline> {
    chain(&format!(r#"[{{"name": "packbits", "configuration": {configuration}}}]"#), data_type).unwrap()
}

const FILTER: &str = r#"[{"name": "numcodecs.packbits"}, {"name": "bytes"}]"#;

/// Returns the bytes of `len` elements that are valid values of the type, from `noise`.
fn items(data_type: &DataType, noise: &[u8], len: usize) -> Vec<u8> {
    let mut items: Vec<u8> = noise.iter().copied().cycle().take(len * data_type.item_size()).collect();
    match data_type {
        DataType::Bool => items.iter_mut().for_each(|item| *item &= 1),
        DataType::SmallFloat(float) | DataType::SmallComplex(float) if float.name().starts_with("float4") => {
            items.iter_mut().for_each(|item| *item &= 15)
        }
        DataType::SmallFloat(float) | DataType::SmallComplex(float) if float.name().starts_with("float6") => {
            items.iter_mut().for_each(|item| *item &= 63)
        }
        _ => {}
    }
    data_type.layout().normalize(&mut items).unwrap();
    items
}

const TYPES: [&str; 26] = [
    "bool",
    "int2",
    "uint2",
    "int4",
    "uint4",
    "float4_e2m1fn",
    "float6_e3m2fn",
    "float8_e5m2",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "float16",
    "bfloat16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float64",
    "complex_float4_e2m1fn",
    "complex_float6_e2m3fn",
    "complex_float8_e4m3",
    "complex_float16",
    "complex_bfloat16",
    "complex64",
    "complex128",
];

#[test]
fn whole_types_are_little_endian_bytes() {
    for name in ["int8", "uint16", "float32", "int64", "complex64"] {
        let items: Vec<u8> = (0..48_u8).map(|i| i.wrapping_mul(37)).collect();
        let len = items.len() / element(name).item_size();
        let bytes = chain(r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#, name).unwrap();
        let due = chunk_round_trip(&bytes, &[len], &items);
        assert_eq!(chunk_round_trip(&packbits("{}", name), &[len], &items), due, "{name}");
    }
}

#[test]
fn known_bytes() {
    let check = |configuration: &str, data_type: &str, items: &[u8], expected: &[u8]| {
        let len = items.len() / element(data_type).item_size();
        let encoded = chunk_round_trip(&packbits(configuration, data_type), &[len], items);
        assert_eq!(encoded, expected, "{configuration} {data_type}");
    };
    check("{}", "bool", &[1, 0, 1, 1, 0, 0, 0, 0, 1], &[0b0000_1101, 1]);
    check(r#"{"padding_encoding": "first_byte"}"#, "bool", &[1, 0, 1], &[5, 0b101]);
    check(r#"{"padding_encoding": "last_byte"}"#, "bool", &[1, 0, 1], &[0b101, 5]);
    check(r#"{"padding_encoding": "none", "first_bit": null}"#, "int4", &[7, 0xf8, 0xff], &[0x87, 0x0f]);
    check("{}", "uint2", &[3, 0, 1, 2, 1], &[0b1001_0011, 1]);
    check("{}", "float6_e3m2fn", &[0x3f, 0x00, 0x21, 0x15], &[0x3f, 0x10, 0x56]);
    check("{}", "complex_float4_e2m1fn", &[0x1, 0x2, 0x3, 0x4], &[0x21, 0x43]);
    check(r#"{"last_bit": 3}"#, "int8", &[7, 0xf8], &[0x87]);
    let numbers: Vec<u8> = [0x1230_u16, 0x0450].iter().flat_map(|number| number.to_ne_bytes()).collect();
    check(r#"{"first_bit": 4, "last_bit": 12}"#, "uint16", &numbers, &[0x23, 0x8b, 0x00]);
}

#[test]
fn numcodecs_begins_with_the_highest_bit() {
    let chain = chain(FILTER, "bool").unwrap();
    let check = |shape: &[usize], items: &[u8], expected: &[u8]| {
        let encoded = chunk_round_trip(&chain, shape, items);
        assert_eq!(encoded, expected);
        let shape: Vec<u64> = shape.iter().map(|&len| len as u64).collect();
        corrupt_chunk(&chain, &shape, &encoded);
    };
    check(&[4], &[1, 0, 0, 1], &[4, 144]);
    check(&[2, 4], &[1, 0, 0, 0, 0, 0, 1, 1], &[0, 0b1000_0011]);
    check(&[3, 3], &[0, 0, 0, 0, 0, 0, 0, 1, 1], &[7, 1, 128]);
    check(&[], &[1], &[7, 128]);
    let shape = testing::array_to_array(&NUMCODECS_PACKBITS, "{}", &element("bool")).encoded_shape(&[3, 3]).unwrap();
    assert_eq!(shape.as_slice(), [3]);
    let mut out = [0; 4];
    let mut view = ViewMut::new(&mut out, 1, &[4]).unwrap();
    let error = chain.decode(&[5, 144], &[4], &Region::whole(&[4]), &mut view).unwrap_err();
    assert_eq!(error.to_string(), "codec numcodecs.packbits: 5 bits of padding, expected 4");
}

#[test]
fn the_fill_value_behind_numcodecs_is_a_number() {
    for fill in [0, 1] {
        let data_type = DataType::Bool;
        let fill_value = FillValue::from_bytes(&data_type, &[fill]).unwrap();
        let element = ElementSpec::new(data_type, fill_value);
        let codec = testing::array_to_array(&NUMCODECS_PACKBITS, "{}", &element);
        assert_eq!(codec.encoded().data_type, DataType::UInt8);
        assert_eq!(codec.encoded().fill.bytes(), [fill]);
    }
}

#[test]
fn broken_chunks_are_errors() {
    let chain = packbits(r#"{"padding_encoding": "first_byte"}"#, "bool");
    let mut out = [0; 9];
    let mut attempt = |encoded: &[u8]| {
        let mut view = ViewMut::new(&mut out, 1, &[9]).unwrap();
        chain.decode(encoded, &[9], &Region::whole(&[9]), &mut view).map_err(|error| error.to_string())
    };
    assert_eq!(attempt(&[7, 255, 1]), Ok(()));
    assert_eq!(attempt(&[7, 255, 255]), Ok(()), "padding may be anything");
    assert_eq!(attempt(&[6, 255, 1]).unwrap_err(), "codec packbits: 6 bits of padding, expected 7");
    assert_eq!(attempt(&[7, 255]).unwrap_err(), "codec packbits: 2 bytes, expected 3");
    assert_eq!(attempt(&[7, 255, 1, 0]).unwrap_err(), "codec packbits: 4 bytes or more, expected 3");
    assert_eq!(attempt(&[]).unwrap_err(), "codec packbits: 0 bytes, expected 3");
}

#[test]
fn a_part_asks_for_its_bytes() {
    let chain = packbits(r#"{"padding_encoding": "first_byte"}"#, "int4");
    let region = Region::from_ranges(&[3..4, 1..6]);
    let access = Access::default();
    let mut decode = chain.partial(&[20, 7], &region, &access).expect("part of the bytes");
    let mut memory = [0; 5];
    let mut out = ViewMut::new(&mut memory, 1, &[1, 5]).unwrap();
    // Elements 22 to 26, in bytes 11 to 13 behind the first.
    assert_eq!(format!("{:?}", decode.step(&[], &mut out).unwrap()), "Need([Range(12..15)])");
    let Step::Done = decode.step(&[&[0x21, 0x43, 0xf5]], &mut out).unwrap() else { unreachable!() };
    assert_eq!(memory, [1, 2, 3, 4, 5]);
    assert!(chain.partial(&[20, 7], &Region::whole(&[20, 7]), &access).is_none());
}

#[test]
fn configurations_are_checked() {
    let check = |configuration: &str, data_type: &str, expected: &str| {
        let error = build(&PACKBITS, configuration, &element(data_type)).unwrap_err();
        assert!(matches!(&error, Error::Metadata { pointer, .. } if pointer == expected), "{configuration}: {error}");
    };
    check(r#"{"padding_encoding": "middle"}"#, "bool", "/configuration/padding_encoding");
    check(r#"{"first_bit": 1}"#, "bool", "/configuration/first_bit");
    check(r#"{"first_bit": 5, "last_bit": 4}"#, "int8", "/configuration/last_bit");
    check(r#"{"last_bit": 8}"#, "uint8", "/configuration/last_bit");
    check(r#"{"last_bit": 64}"#, "uint64", "/configuration/last_bit");
    check(r#"{"first_bit": -1}"#, "uint64", "/configuration/first_bit");
    for data_type in ["string", "r16"] {
        let error = build(&PACKBITS, "{}", &element(data_type)).unwrap_err();
        assert_eq!(error.to_string(), format!("codec packbits: elements of data type {data_type}"));
    }
    let error = build(&NUMCODECS_PACKBITS, "{}", &element("int8")).unwrap_err();
    assert_eq!(error.to_string(), "codec numcodecs.packbits: elements of data type int8");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Encoding equals packing one bit after another, as the specification of the codec says.
    #[test]
    fn bits_are_packed_as_by_hand(
        name in prop::sample::select(&TYPES[..]),
        shape in prop::collection::vec(1_usize..6, 0..4),
        noise in prop::collection::vec(any::<u8>(), 1..100),
        encoding in prop::sample::select(&["none", "first_byte", "last_byte"][..]),
    ) {
        let chain = packbits(&format!(r#"{{"padding_encoding": "{encoding}"}}"#), name);
        let data_type = &chain.element().data_type;
        let items = items(data_type, &noise, shape.iter().product());
        let encoded = chunk_round_trip(&chain, &shape, &items);
        let shape: Vec<u64> = shape.iter().map(|&len| len as u64).collect();
        corrupt_chunk(&chain, &shape, &encoded);

        let size = data_type.layout().scalar().map_or(1, |scalar| scalar.size());
        let width = match name.trim_start_matches(|letter: char| !letter.is_ascii_digit()) {
            "" => 1,
            digits if size == 1 => digits[..1].parse().unwrap(),
            _ => size * 8,
        };
        let mut bits: Vec<bool> = Vec::new();
        for number in items.chunks(size) {
            let mut little = number.to_vec();
            if cfg!(target_endian = "big") {
                little.reverse();
            }
            bits.extend((0..width).map(|bit| little[bit / 8] >> (bit % 8) & 1 == 1));
        }
        let padding = (8 - bits.len() % 8) % 8;
        let mut due: Vec<u8> =
            bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit))).collect();
        match encoding {
            "first_byte" => due.insert(0, padding as u8),
            "last_byte" => due.push(padding as u8),
            _ => {}
        }
        prop_assert_eq!(encoded, due);
    }

    /// Decoding restores the selected bits of each number; the bits above are the sign or 0, the bits below 0.
    #[test]
    fn fields_come_back(
        name in prop::sample::select(&["int8", "uint8", "int16", "int32", "uint64", "int64"][..]),
        bits: (u32, u32),
        noise in prop::collection::vec(any::<u8>(), 1..100),
        len in 0_usize..30,
    ) {
        let size = element(name).item_size();
        let width = size as u32 * 8;
        let (first, last) = (bits.0 % width, bits.1 % width);
        let (first, last) = (first.min(last), first.max(last));
        let chain = packbits(&format!(r#"{{"first_bit": {first}, "last_bit": {last}}}"#), name);
        let items: Vec<u8> = noise.iter().copied().cycle().take(len * size).collect();
        let cut: Vec<u8> = items
            .chunks(size)
            .flat_map(|item| {
                let mut wide = [0; 16];
                wide[..size].copy_from_slice(item);
                if cfg!(target_endian = "big") {
                    wide[..size].reverse();
                }
                let number = i128::from_le_bytes(wide) >> first & ((1 << (last - first + 1)) - 1);
                let sign = name.starts_with("int") && number >> (last - first) == 1;
                let number = (if sign { number - (1 << (last - first + 1)) } else { number }) << first;
                let mut little = number.to_le_bytes()[..size].to_vec();
                if cfg!(target_endian = "big") {
                    little.reverse();
                }
                little
            })
            .collect();
        let mut encoded = Vec::new();
        chain.encode(&zarr_codec::View::new(&items, size, &[len]).unwrap(), &mut encoded).unwrap();
        prop_assert_eq!(encoded.len(), (len * (last - first + 1) as usize).div_ceil(8));
        for region in regions(&[len as u64]) {
            let due: Vec<u8> = {
                let mut due = Vec::new();
                zarr_codec::View::new(&cut, size, &[len]).unwrap().window(&region).append_to(&mut due).unwrap();
                due
            };
            prop_assert_eq!(testing::read(&chain, &encoded, &[len as u64], &region, true), due);
        }
    }

    #[test]
    fn bools_come_back(shape in prop::collection::vec(0_usize..6, 0..4), noise in prop::collection::vec(any::<u8>(), 1..100)) {
        let chain = chain(FILTER, "bool").unwrap();
        let items = items(&DataType::Bool, &noise, shape.iter().product());
        let encoded = chunk_round_trip(&chain, &shape, &items);
        prop_assert_eq!(encoded.len(), 1 + items.len().div_ceil(8));
        for (at, &item) in items.iter().enumerate() {
            prop_assert_eq!(encoded[1 + at / 8] >> (7 - at % 8) & 1, item);
        }
    }
}
