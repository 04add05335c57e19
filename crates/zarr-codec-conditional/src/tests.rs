use crate::CONDITIONAL;
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::{Codecs, Error, Pipeline, View, ViewMut, testing};
use zarr_grid::Region;

fn chain(configuration: &str) -> Result<Arc<Pipeline>, Error> {
    let mut codecs = Codecs::default();
    for entry in [CONDITIONAL, zarr_codec_bytes::BYTES, zarr_codec_gzip::GZIP, zarr_codec_checksum::CRC32C] {
        codecs.add(entry);
    }
    let list = format!(r#"[{{"name": "bytes"}}, {{"name": "conditional", "configuration": {configuration}}}]"#);
    testing::pipeline(&list, &testing::element("uint8"), &codecs)
}

fn encode(chain: &Pipeline, bytes: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    chain.encode(&View::new(bytes, 1, &[bytes.len()]).unwrap(), &mut encoded).unwrap();
    encoded
}

fn decode(chain: &Pipeline, encoded: &[u8], len: usize) -> Result<Vec<u8>, Error> {
    let mut out = vec![0; len];
    let shape = [len as u64];
    chain.decode(encoded, &shape, &Region::whole(&shape), &mut ViewMut::new(&mut out, 1, &[len]).unwrap())?;
    Ok(out)
}

const BOTH: &str = r#"{"codecs": [{"name": "gzip", "configuration": {"level": 9}}, {"name": "crc32c"}]}"#;

#[test]
fn each_bit_is_a_codec() {
    let chain = chain(BOTH).unwrap();
    let bytes = [7; 200];
    let zipped = encode(&chain, &bytes);
    assert_eq!(zipped.first(), Some(&3), "both");
    let gzip = zipped[1..zipped.len() - 4].to_vec();
    assert_eq!(decode(&chain, &zipped, 200).unwrap(), bytes);
    assert_eq!(decode(&chain, &[&[1][..], &gzip].concat(), 200).unwrap(), bytes, "gzip alone");
    assert_eq!(decode(&chain, &[&[0][..], &bytes].concat(), 200).unwrap(), bytes, "none");
    // CRC-32C of "123456789".
    assert_eq!(decode(&chain, b"\x02123456789\x83\x92\x06\xe3", 9).unwrap(), b"123456789", "the checksum alone");
    assert_eq!(encode(&chain, b"abc"), b"\0abc", "a chunk that would be longer is not");
}

#[test]
fn headers_are_checked() {
    let chain = chain(BOTH).unwrap();
    let message = |encoded: &[u8]| decode(&chain, encoded, 3).unwrap_err().to_string();
    assert!(message(b"\x04abc").contains("a bit beyond the bits of 2 codecs"));
    assert!(matches!(decode(&chain, b"", 3), Err(Error::Truncated { .. })));
    assert!(decode(&chain, b"\0ab", 3).is_err());
    assert!(decode(&chain, b"\0abcd", 3).is_err());
    assert!(decode(&chain, b"\x02abcdefg", 3).is_err(), "a checksum that is wrong");
}

#[test]
fn the_header_has_as_many_bits_as_it_should() {
    let encoded = |configuration: &str| encode(&chain(configuration).unwrap(), b"abc");
    assert_eq!(encoded(r#"{"codecs": []}"#), b"abc");
    assert_eq!(encoded(r#"{"codecs": [], "header_bits": 16}"#), b"\0\0abc");
    let nine = format!(r#"{{"codecs": [{}]}}"#, [r#"{"name": "crc32c"}"#; 9].join(", "));
    assert_eq!(encoded(&nine), b"\0\0abc");
    let message = |configuration: &str| chain(configuration).unwrap_err().to_string();
    assert!(message(r#"{"codecs": [], "header_bits": 7}"#).contains("a multiple of 8"));
    assert!(message(&nine.replace("]}", r#"], "header_bits": 8}"#)).contains("from 9 on"));
    assert!(message(r#"{"codecs": [{"name": "bytes"}]}"#).contains("does not turn bytes into bytes"));
    let unknown = r#"{"codecs": [{"name": "no", "must_understand": false}]}"#;
    assert!(matches!(chain(unknown), Err(Error::Unknown { .. })), "its bit would be that of another");
    let deep = (0..40).fold("[]".to_owned(), |inner, _| {
        format!(r#"[{{"name": "conditional", "configuration": {{"codecs": {inner}}}}}]"#)
    });
    assert!(message(&format!(r#"{{"codecs": {deep}}}"#)).contains("the limit is 8"));
}

proptest! {
    #[test]
    fn bytes_come_back(bytes in proptest::collection::vec(0_u8..4, 0..600)) {
        let chain = chain(BOTH).unwrap();
        let encoded = encode(&chain, &bytes);
        prop_assert!(encoded.len() <= bytes.len() + 1);
        prop_assert_eq!(decode(&chain, &encoded, bytes.len()).unwrap(), bytes);
    }
}
