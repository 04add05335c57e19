use crate::PCODEC;
use pco::ChunkConfig;
use pco::standalone::simple_compress;
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{self, build, chunk_round_trip, corrupt_chunk, element};
use zarr_codec::{Codecs, Error, Pipeline, ViewMut};
use zarr_grid::Region;

fn chain(configuration: &str, data_type: &str) -> Arc<Pipeline> {
    let mut codecs = Codecs::default();
    codecs.add(PCODEC);
    let json = format!(r#"[{{"name": "numcodecs.pcodec", "configuration": {configuration}}}]"#);
    testing::pipeline(&json, &element(data_type), &codecs).unwrap()
}

const TYPES: [(&str, usize); 9] = [
    ("int16", 2),
    ("int32", 4),
    ("int64", 8),
    ("uint16", 2),
    ("uint32", 4),
    ("uint64", 8),
    ("float16", 2),
    ("float32", 4),
    ("float64", 8),
];

const EVERY: [&str; 7] = [
    "{}",
    r#"{"level": 0, "delta_spec": "no_op"}"#,
    r#"{"level": 12, "mode_spec": "classic"}"#,
    r#"{"delta_spec": "try_consecutive", "delta_encoding_order": 2}"#,
    r#"{"delta_spec": "auto", "delta_encoding_order": 1, "paging_spec": "equal_pages_up_to"}"#,
    r#"{"delta_spec": "try_lookback", "equal_pages_up_to": 100}"#,
    r#"{"delta_spec": "none", "equal_pages_up_to": 1}"#,
];

#[test]
fn numbers_come_back() {
    let noise: Vec<u8> = testing::samples(1).pop().unwrap();
    for (data_type, size) in TYPES {
        for configuration in EVERY {
            let chain = chain(configuration, data_type);
            for shape in [&[][..], &[1], &[600], &[7, 11], &[5, 1, 9], &[2, 3, 4, 2, 3]] {
                let count: usize = shape.iter().product();
                chunk_round_trip(&chain, shape, &noise[..count * size]);
                let counting: Vec<u8> = (0..count * size).map(|i| (i / size) as u8).collect();
                chunk_round_trip(&chain, shape, &counting);
            }
        }
    }
}

#[test]
fn changes_do_not_panic() {
    let noise: Vec<u8> = testing::samples(1).pop().unwrap();
    for (data_type, size) in TYPES {
        for configuration in ["{}", EVERY[3], EVERY[5]] {
            let chain = chain(configuration, data_type);
            let smooth: Vec<u8> = (0..400 * size).map(|i| if i % size == 0 { (i / 7) as u8 } else { 60 }).collect();
            for items in [&noise[..60 * size], &smooth[..]] {
                let encoded = chunk_round_trip(&chain, &[items.len() / size], items);
                corrupt_chunk(&chain, &[(items.len() / size) as u64], &encoded);
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

#[test]
fn files_hold_just_the_chunk() {
    let chain = chain("{}", "int32");
    let numbers: Vec<i32> = (0..700).map(|i| i * i % 1000).collect();
    let file = simple_compress(&numbers, &ChunkConfig::default()).unwrap();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    assert_eq!(decode(&chain, &file, &[700]).unwrap(), bytes);
    assert_eq!(decode(&chain, &file, &[70, 10]).unwrap(), bytes);
    assert!(matches!(decode(&chain, &file, &[701]), Err(Error::Truncated { found: 2800, expected: 2804, .. })));
    assert!(matches!(decode(&chain, &file, &[699]), Err(Error::TooLong { found: 2800, expected: 2796, .. })));
    let tailed = [&file[..], &[0]].concat();
    assert!(matches!(decode(&chain, &tailed, &[700]), Err(Error::TooLong { .. })));
    for cut in 0..file.len() {
        let error = decode(&chain, &file[..cut], &[700]).unwrap_err();
        assert!(matches!(error, Error::CutOff { .. }), "{cut}: {error}");
    }
    let other = simple_compress(&[1u64, 2], &ChunkConfig::default()).unwrap();
    assert!(matches!(decode(&chain, &other, &[2]), Err(Error::Corrupt { .. })));
    // numcodecs takes the decoded numbers for the elements, so that floats behind its `bitround` are integers in the
    // file.
    let floats = [0x3f80_0000_u32, 0x4000_0000];
    let other = simple_compress(&floats, &ChunkConfig::default()).unwrap();
    assert_eq!(decode(&chain, &other, &[2]).unwrap(), floats.map(u32::to_ne_bytes).concat());
}

#[test]
fn a_small_input_cannot_claim_much() {
    let file = simple_compress(&[1i64, 2, 3], &ChunkConfig::default()).unwrap();
    // Behind the head of the file: the type, 24 bits of count, then the mode.
    let at = file.windows(4).position(|window| window == [4, 2, 0, 0]).unwrap();
    let mut dictionary = file.clone();
    dictionary[at + 4..at + 8].copy_from_slice(&(4u32 | (1 << 24) << 4).to_le_bytes());
    let chain = chain("{}", "int64");
    match decode(&chain, &dictionary, &[3]).unwrap_err() {
        Error::Truncated { expected, .. } => assert!(expected > 1 << 27),
        other => panic!("{other}"),
    }
    let mut window = file;
    // Classic, by lookback, of 2^24 numbers.
    window[at + 4] = 0x20;
    window[at + 5] = 23;
    assert!(matches!(decode(&chain, &window, &[3]), Err(Error::Corrupt { what, .. }) if what.contains("window")));
}

#[test]
fn configurations_are_checked() {
    let check = |configuration: &str, bad: &str| match build(&PCODEC, configuration, &element("int32")) {
        Err(Error::Metadata { pointer, .. }) => assert_eq!(pointer, format!("/configuration/{bad}"), "{configuration}"),
        other => panic!("{configuration}: {other:?}"),
    };
    for good in EVERY {
        build(&PCODEC, good, &element("int32")).unwrap();
    }
    check(r#"{"level": 13}"#, "level");
    check(r#"{"mode_spec": "try_int_mult"}"#, "mode_spec");
    check(r#"{"delta_spec": "some"}"#, "delta_spec");
    check(r#"{"delta_spec": 1}"#, "delta_spec");
    check(r#"{"delta_spec": "try_consecutive"}"#, "delta_encoding_order");
    check(r#"{"delta_spec": "no_op", "delta_encoding_order": 1}"#, "delta_encoding_order");
    check(r#"{"delta_encoding_order": 8}"#, "delta_encoding_order");
    check(r#"{"paging_spec": "exact"}"#, "paging_spec");
    check(r#"{"equal_pages_up_to": 0}"#, "equal_pages_up_to");
    for data_type in ["int8", "uint8", "bool", "complex64", "string"] {
        assert!(matches!(build(&PCODEC, "{}", &element(data_type)), Err(Error::Unsupported { .. })), "{data_type}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_decode_or_fail(bytes in prop::collection::vec(any::<u8>(), 0..100), count in 1u64..1000) {
        let chain = chain("{}", "float64");
        let file = simple_compress(&[1.5f64, 2.5, 3.5], &ChunkConfig::default()).unwrap();
        let framed = [&file[..10], &bytes].concat();
        for encoded in [&bytes, &framed] {
            let _ = decode(&chain, encoded, &[count]);
        }
    }
}
