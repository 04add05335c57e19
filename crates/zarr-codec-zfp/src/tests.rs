use crate::{ZFP, ZFPY};
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{self, build, chunk_round_trip, corrupt_chunk, element};
use zarr_codec::{CodecEntry, Codecs, Error, Pipeline, View, ViewMut};
use zarr_grid::Region;

fn chain(name: &str, configuration: &str, data_type: &str) -> Arc<Pipeline> {
    let mut codecs = Codecs::default();
    codecs.add(ZFP);
    codecs.add(ZFPY);
    let json = format!(r#"[{{"name": "{name}", "configuration": {configuration}}}]"#);
    testing::pipeline(&json, &element(data_type), &codecs).unwrap()
}

const REVERSIBLE: &str = r#"{"mode": "reversible"}"#;
const SHAPES: [&[usize]; 7] = [&[], &[1], &[61], &[7, 11], &[5, 1, 9], &[2, 3, 4, 5], &[1, 1, 1, 1]];
const TYPES: [(&str, usize); 12] = [
    ("int8", 1),
    ("uint8", 1),
    ("int16", 2),
    ("uint16", 2),
    ("int32", 4),
    ("uint32", 4),
    ("int64", 8),
    ("uint64", 8),
    ("float16", 2),
    ("bfloat16", 2),
    ("float32", 4),
    ("float64", 8),
];

/// Returns numbers of any kind; unsigned integers of 32 and 64 bits fit in signed integers.
fn items(data_type: &str, size: usize, count: usize) -> Vec<u8> {
    let mut items: Vec<u8> = (0..count * size).map(|i| (i * i * 31 + i / 3) as u8).collect();
    if matches!(data_type, "uint32" | "uint64") {
        let highest = if cfg!(target_endian = "big") { 0 } else { size - 1 };
        items.chunks_mut(size).for_each(|item| item[highest] &= 0x7f);
    }
    if data_type.contains("float16") {
        // A NaN need not keep its bits on the way through `float32`.
        items.chunks_mut(2).for_each(|item| item.copy_from_slice(&(u16::from(item[0]) << 6).to_ne_bytes()));
    }
    items
}

#[test]
fn all_of_a_number_comes_back() {
    for (data_type, size) in TYPES {
        for shape in SHAPES {
            let items = items(data_type, size, shape.iter().product());
            chunk_round_trip(&chain("zfp", REVERSIBLE, data_type), shape, &items);
            if matches!(data_type, "int32" | "int64" | "float32" | "float64") {
                let encoded = chunk_round_trip(&chain("numcodecs.zfpy", "{}", data_type), shape, &items);
                assert!(encoded.starts_with(b"zfp\x05"));
            }
        }
    }
}

fn decode(chain: &Pipeline, encoded: &[u8], shape: &[u64]) -> Result<Vec<u8>, Error> {
    let dims: Vec<usize> = shape.iter().map(|&len| len as usize).collect();
    let item = chain.element().item_size();
    let mut out = vec![0; dims.iter().product::<usize>() * item];
    chain.decode(encoded, shape, &Region::whole(shape), &mut ViewMut::new(&mut out, item, &dims).unwrap())?;
    Ok(out)
}

fn encode(chain: &Pipeline, items: &[u8], shape: &[usize]) -> Result<Vec<u8>, Error> {
    let mut encoded = Vec::new();
    chain.encode(&View::new(items, chain.element().item_size(), shape).unwrap(), &mut encoded)?;
    Ok(encoded)
}

fn floats(count: usize) -> (Vec<f64>, Vec<u8>) {
    let numbers: Vec<f64> = (0..count).map(|i| (i as f64 / 9.0).sin() * 100.0).collect();
    let items = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    (numbers, items)
}

#[test]
fn the_loss_is_bounded() {
    let (numbers, items) = floats(24 * 24);
    let off = |encoded: &[u8], chain: &Pipeline| {
        let back = decode(chain, encoded, &[24, 24]).unwrap();
        let back = back.chunks_exact(8).map(|item| f64::from_ne_bytes(item.try_into().unwrap()));
        back.zip(&numbers).map(|(found, due)| (found - due).abs()).fold(0.0, f64::max)
    };
    for tolerance in [0.001, 0.5] {
        for name in ["zfp", "numcodecs.zfpy"] {
            let mode = if name == "zfp" { r#""fixed_accuracy""# } else { "4" };
            let chain = chain(name, &format!(r#"{{"mode": {mode}, "tolerance": {tolerance}}}"#), "float64");
            let encoded = encode(&chain, &items, &[24, 24]).unwrap();
            let off = off(&encoded, &chain);
            assert!(off <= tolerance && off > 0.0, "{off}");
        }
    }
    // 36 blocks of 16 numbers at 8 bits.
    let rate = chain("zfp", r#"{"mode": "fixed_rate", "rate": 8}"#, "float64");
    let encoded = encode(&rate, &items, &[24, 24]).unwrap();
    assert_eq!(encoded.len(), 24 * 24);
    assert!(off(&encoded, &rate) < 20.0);
    let precision = chain("zfp", r#"{"mode": "fixed_precision", "precision": 20}"#, "float64");
    assert!(off(&encode(&precision, &items, &[24, 24]).unwrap(), &precision) < 0.01);
    let expert = r#"{"mode": "expert", "minbits": 1, "maxbits": 16658, "maxprec": 20, "minexp": -1074}"#;
    let expert = chain("zfp", expert, "float64");
    assert_eq!(encode(&expert, &items, &[24, 24]).unwrap(), encode(&precision, &items, &[24, 24]).unwrap());
}

#[test]
fn integers_beyond_the_signed_type_are_refused() {
    for (data_type, item) in [("uint32", u32::MAX.to_ne_bytes().to_vec()), ("uint64", u64::MAX.to_ne_bytes().to_vec())]
    {
        let chain = chain("zfp", REVERSIBLE, data_type);
        assert!(matches!(encode(&chain, &item, &[1]), Err(Error::Encode { .. })));
    }
}

#[test]
fn streams_hold_just_the_chunk() {
    let (_, items) = floats(77);
    for (name, configuration) in [
        ("zfp", REVERSIBLE),
        ("numcodecs.zfpy", "{}"),
        ("zfp", r#"{"mode": "fixed_rate", "rate": 7}"#),
        ("numcodecs.zfpy", r#"{"mode": 3, "precision": 30}"#),
        ("zfp", r#"{"mode": "fixed_accuracy", "tolerance": 1e-3}"#),
    ] {
        let chain = chain(name, configuration, "float64");
        let encoded = encode(&chain, &items, &[7, 11]).unwrap();
        for tail in [&[0][..], &[0; 8], &[1; 100]] {
            let tailed = [&encoded[..], tail].concat();
            assert!(matches!(decode(&chain, &tailed, &[7, 11]), Err(Error::TooLong { .. })), "{name}");
        }
        for cut in 0..encoded.len() {
            let error = decode(&chain, &encoded[..cut], &[7, 11]).unwrap_err();
            assert!(matches!(error, Error::Truncated { .. }), "{name} {cut}: {error}");
        }
    }
}

#[test]
fn headers_are_compared_with_the_chunk() {
    let (_, items) = floats(77);
    let chain_of = |data_type: &str| chain("numcodecs.zfpy", "{}", data_type);
    let encoded = encode(&chain_of("float64"), &items, &[77]).unwrap();
    // Behind a filter that flattens chunks, as numcodecs' do.
    assert_eq!(decode(&chain_of("float64"), &encoded, &[7, 11]).unwrap(), items);
    // Parameters come from the header.
    let other = chain("numcodecs.zfpy", r#"{"mode": 2, "rate": 3.5}"#, "float64");
    assert_eq!(decode(&other, &encoded, &[77]).unwrap(), items);
    assert!(matches!(decode(&chain_of("float64"), &encoded, &[76]), Err(Error::Corrupt { .. })));
    assert!(matches!(decode(&chain_of("int64"), &encoded, &[77]), Err(Error::Corrupt { .. })));
    assert!(matches!(decode(&chain_of("float64"), &[0; 64], &[77]), Err(Error::Corrupt { .. })));
    // The member of old, by which codec `zfp` had a header as well.
    let old = chain("zfp", r#"{"mode": "reversible", "write_header": true}"#, "float64");
    assert_eq!(decode(&old, &encoded, &[77]).unwrap(), items);
}

#[test]
fn changes_do_not_panic() {
    let (_, items) = floats(60);
    for (name, configuration) in [
        ("zfp", REVERSIBLE),
        ("numcodecs.zfpy", "{}"),
        ("numcodecs.zfpy", r#"{"mode": 2, "rate": 5}"#),
        ("numcodecs.zfpy", r#"{"mode": 4, "tolerance": 0.1}"#),
    ] {
        for data_type in ["float32", "float64", "int32", "int64"] {
            let chain = chain(name, configuration, data_type);
            let shape: &[usize] = if chain.element().item_size() == 4 { &[5, 4, 6] } else { &[5, 12] };
            let encoded = encode(&chain, &items, shape).unwrap();
            let dims: Vec<u64> = shape.iter().map(|&len| len as u64).collect();
            corrupt_chunk(&chain, &dims, &encoded);
        }
    }
}

#[test]
fn configurations_are_checked() {
    let check =
        |entry: &CodecEntry, configuration: &str, bad: &str| match build(entry, configuration, &element("int32")) {
            Err(Error::Metadata { pointer, .. }) => {
                assert_eq!(pointer, format!("/configuration/{bad}"), "{configuration}")
            }
            other => panic!("{configuration}: {other:?}"),
        };
    check(&ZFP, "{}", "mode");
    check(&ZFP, r#"{"mode": 4}"#, "mode");
    check(&ZFP, r#"{"mode": "lossless"}"#, "mode");
    check(&ZFP, r#"{"mode": "fixed_rate"}"#, "rate");
    check(&ZFP, r#"{"mode": "fixed_rate", "rate": -1}"#, "rate");
    check(&ZFP, r#"{"mode": "fixed_accuracy", "tolerance": "0"}"#, "tolerance");
    check(&ZFP, r#"{"mode": "fixed_precision", "precision": 1.5}"#, "precision");
    check(&ZFP, r#"{"mode": "expert", "minbits": 1, "maxbits": 16658, "minexp": 0}"#, "maxprec");
    check(&ZFP, r#"{"mode": "expert", "minbits": 9, "maxbits": 8, "maxprec": 64, "minexp": 0}"#, "maxbits");
    check(&ZFP, r#"{"mode": "expert", "minbits": 4294967295}"#, "minbits");
    check(&ZFP, r#"{"mode": "reversible", "write_header": 1}"#, "write_header");
    check(&ZFPY, r#"{"mode": 1}"#, "mode");
    check(&ZFPY, r#"{"mode": "fixed_rate"}"#, "mode");
    check(&ZFPY, r#"{"mode": 2, "rate": "8"}"#, "rate");
    check(&ZFPY, r#"{"mode": 3, "precision": 8.5}"#, "precision");
    let numcodecs =
        r#"{"mode": 4, "tolerance": -1, "rate": -1, "precision": -1, "compression_kwargs": {"tolerance": -1}}"#;
    build(&ZFPY, numcodecs, &element("int32")).unwrap();
    for data_type in ["uint32", "int16", "float16", "bool", "string"] {
        assert!(matches!(build(&ZFPY, "{}", &element(data_type)), Err(Error::Unsupported { .. })), "{data_type}");
    }
    for data_type in ["bool", "complex64", "string", "int4"] {
        assert!(matches!(build(&ZFP, REVERSIBLE, &element(data_type)), Err(Error::Unsupported { .. })), "{data_type}");
    }
}

#[test]
fn shapes_are_checked() {
    let refused = |chain: &Pipeline, shape: &[u64], bad: &str| match chain.check(shape).unwrap_err() {
        Error::Metadata { pointer, .. } => assert_eq!(pointer, format!("/0{bad}")),
        other => panic!("{other}"),
    };
    let plain = chain("zfp", REVERSIBLE, "int32");
    plain.check(&[2, 2, 2, 2]).unwrap();
    plain.check(&[]).unwrap();
    refused(&plain, &[2, 2, 2, 2, 2], "");
    refused(&plain, &[2, 0], "");
    plain.check(&[1 << 13, 1, 1, 1]).unwrap();
    refused(&chain("numcodecs.zfpy", "{}", "int32"), &[1 << 13, 1, 1, 1], "");
    refused(&chain("zfp", r#"{"mode": "fixed_rate", "rate": 1e6}"#, "int32"), &[4], "/configuration/rate");
    assert!(matches!(
        encode(&plain, &[0; 128], &[2, 2, 2, 2, 2]),
        Err(Error::Unsupported { .. } | Error::Metadata { .. })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_decode_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..150), rows in 1u64..9) {
        let framed = [&b"zfp\x05"[..], &bytes].concat();
        for (name, configuration) in [("zfp", REVERSIBLE), ("numcodecs.zfpy", "{}")] {
            for encoded in [&bytes, &framed] {
                let _ = decode(&chain(name, configuration, "float64"), encoded, &[rows, 7]);
            }
        }
    }
}
