use crate::LZ4;
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{build, bytes_to_bytes, corrupt, decode_bytes, element, round_trip, samples};
use zarr_codec::{BytesToBytes, Error, Sink, Size};

fn codec() -> Arc<dyn BytesToBytes> {
    bytes_to_bytes(&LZ4, "{}", &element("uint8"))
}

#[test]
fn data_comes_back() {
    round_trip(&*codec(), &samples(1));
    round_trip(&*codec(), &[vec![0; 3_000_000], (0..100_000u32).flat_map(|i| (i / 3).to_le_bytes()).collect()]);
}

#[test]
fn changes_do_not_panic() {
    corrupt(&*codec(), &samples(1), false);
}

#[test]
fn known_bytes_decode() {
    let codec = codec();
    // Four literals, by the block format.
    let literals = [4, 0, 0, 0, 0x40, b'z', b'a', b'r', b'r'];
    assert_eq!(decode_bytes(&*codec, &literals, Size::Exact(4)).unwrap(), b"zarr");
    // One literal, a match of 4 + 5 bytes at distance 1, and five last literals.
    let repeats = [15, 0, 0, 0, 0x15, b'a', 1, 0, 0x50, b'1', b'2', b'3', b'4', b'5'];
    assert_eq!(decode_bytes(&*codec, &repeats, Size::Unknown).unwrap(), b"aaaaaaaaaa12345");
    assert!(decode_bytes(&*codec, &[0, 0, 0, 0, 0], Size::Exact(0)).unwrap().is_empty());
    let mut own = Vec::new();
    codec.encode(b"zarr", &mut own).unwrap();
    assert_eq!(own, literals);
}

#[test]
fn stored_sizes_are_checked() {
    let codec = codec();
    let block = [0x40, b'z', b'a', b'r', b'r'];
    let attempt = |size: u32, due: Size| {
        let encoded = [&size.to_le_bytes()[..], &block].concat();
        decode_bytes(&*codec, &encoded, due).unwrap_err()
    };
    assert!(matches!(attempt(4, Size::Exact(5)), Error::Truncated { found: 4, expected: 5, .. }));
    assert!(matches!(attempt(4, Size::Exact(3)), Error::TooLong { found: 4, expected: 3, .. }));
    assert!(matches!(attempt(4, Size::AtMost(3)), Error::TooLong { found: 4, expected: 3, .. }));
    assert!(matches!(attempt(3, Size::Exact(3)), Error::Corrupt { .. }));
    assert!(matches!(attempt(5, Size::Exact(5)), Error::Corrupt { .. }));
    assert!(matches!(attempt(u32::MAX, Size::Unknown), Error::TooLong { .. } | Error::Corrupt { .. }));
    for short in [&[][..], &[4], &[4, 0, 0]] {
        assert!(matches!(decode_bytes(&*codec, short, Size::Exact(4)), Err(Error::Truncated { expected: 4, .. })));
    }
    // A claim of a gigabyte is refused before any of it is allocated.
    let mut out = Vec::new();
    let mut sink = Sink::growing(&mut out, Size::Exact(1 << 30), 1 << 31).unwrap();
    let encoded = [&(1u32 << 30).to_le_bytes()[..], &block].concat();
    assert!(matches!(codec.decode(&encoded, &mut sink), Err(Error::Corrupt { .. })));
    assert_eq!(out.capacity(), 0);
}

#[test]
fn configurations_are_checked() {
    for good in ["{}", r#"{"acceleration": 1}"#, r#"{"acceleration": -7}"#] {
        build(&LZ4, good, &element("int8")).unwrap();
    }
    let error = build(&LZ4, r#"{"acceleration": "1"}"#, &element("int8")).unwrap_err();
    assert!(matches!(&error, Error::Metadata { pointer, .. } if pointer == "/configuration/acceleration"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Blocks written here are read by another implementation, and vice versa.
    #[test]
    fn blocks_are_exchanged(runs in prop::collection::vec((any::<u8>(), 1usize..300), 0..40), acceleration in 0..9) {
        let plain: Vec<u8> = runs.iter().flat_map(|&(byte, len)| (0..len).map(move |i| byte ^ (i % 7) as u8)).collect();
        let configuration = format!(r#"{{"acceleration": {acceleration}}}"#);
        let mut encoded = Vec::new();
        bytes_to_bytes(&LZ4, &configuration, &element("uint8")).encode(&plain, &mut encoded).unwrap();
        prop_assert_eq!(&lz4_flex::block::decompress_size_prepended(&encoded).unwrap(), &plain);
        let theirs = lz4_flex::block::compress_prepend_size(&plain);
        prop_assert_eq!(decode_bytes(&*codec(), &theirs, Size::Exact(plain.len() as u64)).unwrap(), plain);
    }

    #[test]
    fn any_block_decodes_or_fails(block in prop::collection::vec(any::<u8>(), 0..60), size in 0u32..3000) {
        let encoded = [&size.to_le_bytes()[..], &block].concat();
        if let Ok(value) = decode_bytes(&*codec(), &encoded, Size::Exact(u64::from(size))) {
            prop_assert_eq!(value.len(), size as usize);
        }
    }
}
