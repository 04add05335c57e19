use crate::SHUFFLE;
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{build, bytes_to_bytes, corrupt, decode_bytes, element, round_trip, samples};
use zarr_codec::{BytesToBytes, Error, Size};

fn codec(configuration: &str, data_type: &str) -> Arc<dyn BytesToBytes> {
    bytes_to_bytes(&SHUFFLE, configuration, &element(data_type))
}

#[test]
fn data_comes_back() {
    for size in [0, 1, 2, 3, 4, 7, 8, 12, 16, 100] {
        let codec = codec(&format!(r#"{{"elementsize": {size}}}"#), "uint8");
        round_trip(&*codec, &samples(size.max(1)));
        corrupt(&*codec, &samples(size.max(1)), false);
    }
}

#[test]
fn a_missing_size_is_that_of_the_elements() {
    let mut encoded = Vec::new();
    codec("{}", "int16").encode(b"a1b2", &mut encoded).unwrap();
    assert_eq!(encoded, b"ab12");
    encoded.clear();
    codec(r#"{"elementsize": null}"#, "float64").encode(b"01234567abcdefgh", &mut encoded).unwrap();
    assert_eq!(encoded, b"0a1b2c3d4e5f6g7h");
}

#[test]
fn a_tail_is_read_but_not_written() {
    let codec = codec(r#"{"elementsize": 4}"#, "uint8");
    assert_eq!(decode_bytes(&*codec, b"aebfcgdhxyz", Size::Exact(11)).unwrap(), b"abcdefghxyz");
    assert_eq!(decode_bytes(&*codec, b"xyz", Size::Exact(3)).unwrap(), b"xyz");
    assert!(matches!(codec.encode(b"abcde", &mut Vec::new()), Err(Error::Encode { .. })));
}

#[test]
fn configurations_are_checked() {
    for bad in [r#"{"elementsize": -1}"#, r#"{"elementsize": "4"}"#, r#"{"elementsize": 4.5}"#] {
        let error = build(&SHUFFLE, bad, &element("int8")).unwrap_err();
        assert!(
            matches!(&error, Error::Metadata { pointer, .. } if pointer == "/configuration/elementsize"),
            "{error}"
        );
    }
}

/// Shuffles as the description of the format says, byte by byte.
fn model(bytes: &[u8], size: usize) -> Vec<u8> {
    let count = bytes.len() / size;
    let mut out = bytes.to_vec();
    for index in 0..count * size {
        out[index % size * count + index / size] = bytes[index];
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn shuffles_as_the_model(bytes in prop::collection::vec(any::<u8>(), 0..20_000), size in 1usize..300) {
        let codec = codec(&format!(r#"{{"elementsize": {size}}}"#), "uint8");
        let whole = &bytes[..bytes.len() / size * size];
        let mut shuffled = Vec::new();
        codec.encode(whole, &mut shuffled).unwrap();
        prop_assert_eq!(&shuffled, &model(whole, size));
        let due = Size::Exact(bytes.len() as u64);
        prop_assert_eq!(decode_bytes(&*codec, &model(&bytes, size), due).unwrap(), bytes);
    }
}
