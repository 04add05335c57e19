use crate::ARRAY_VIEW;
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::{BytesToBytes, Codecs, Error, Pipeline, Size, testing};

fn codecs() -> Codecs {
    let mut codecs = Codecs::default();
    for entry in [
        ARRAY_VIEW,
        zarr_codec_bytes::BYTES,
        zarr_codec_gzip::GZIP,
        zarr_codec_numeric::ASTYPE,
        zarr_codec_numeric::DELTA,
        zarr_codec_packbits::NUMCODECS_PACKBITS,
        zarr_codec_shuffle::SHUFFLE,
    ] {
        codecs.add(entry);
    }
    codecs
}

fn chain(list: &str, data_type: &str) -> Result<Arc<Pipeline>, Error> {
    testing::pipeline(list, &testing::element(data_type), &codecs())
}

fn codec(configuration: &str) -> Result<Arc<dyn BytesToBytes>, Error> {
    match testing::build_with(&ARRAY_VIEW, configuration, &testing::element("uint8"), &codecs())? {
        zarr_codec::Codec::BytesToBytes(codec) => Ok(codec),
        other => panic!("{other:?}"),
    }
}

const BIG: &str = r#"{"data_type": "int16", "bytes_codecs": [{"name": "bytes", "configuration": {"endian": "big"}}],
    "codecs": [{"name": "numcodecs.delta", "configuration": {"dtype": ">i2"}},
               {"name": "bytes", "configuration": {"endian": "big"}}]}"#;

const PACKED: &str = r#"{"data_type": "bool", "bytes_codecs": [{"name": "bytes"}],
    "codecs": [{"name": "numcodecs.packbits"}, {"name": "bytes"}]}"#;

/// Expected bytes are the results of `Delta('>i2').encode(bytes([1, 0, 1, 2, 0, 1]))` and of a like call of `PackBits` in numcodecs 0.15.2.
#[test]
fn bytes_are_taken_for_an_array() {
    let encoded = |configuration: &str, bytes: &[u8]| {
        let mut out = Vec::new();
        codec(configuration).unwrap().encode(bytes, &mut out).unwrap();
        out
    };
    assert_eq!(encoded(BIG, &[1, 0, 1, 2, 0, 1]), [1, 0, 0, 2, 0xfe, 0xff]);
    assert_eq!(encoded(PACKED, &[1, 0, 1, 1, 0, 0, 0, 0, 1]), [7, 0b1011_0000, 0b1000_0000]);
}

/// After a compressor, only the encoded bytes determine the number of elements.
#[test]
fn the_length_need_not_be_known() {
    for size in [Size::Unknown, Size::Exact(6)] {
        let decoded = testing::decode_bytes(&*codec(BIG).unwrap(), &[1, 0, 0, 2, 0xfe, 0xff], size).unwrap();
        assert_eq!(decoded, [1, 0, 1, 2, 0, 1]);
        let decoded = testing::decode_bytes(&*codec(PACKED).unwrap(), &[2, 0b1011_0000], size).unwrap();
        assert_eq!(decoded, [1, 0, 1, 1, 0, 0]);
    }
    for broken in [&[][..], &[8, 0], &[1], &[1, 0]] {
        let decoded = testing::decode_bytes(&*codec(PACKED).unwrap(), broken, Size::Exact(6));
        assert!(decoded.is_err(), "{broken:?}");
    }
    for broken in [&[][..], &[8, 0], &[1]] {
        assert!(testing::decode_bytes(&*codec(PACKED).unwrap(), broken, Size::Unknown).is_err(), "{broken:?}");
    }
    assert!(testing::decode_bytes(&*codec(BIG).unwrap(), &[1, 0, 0], Size::Unknown).is_err());
}

/// A chain whose data could be written but not read is refused when it is checked: if elements are compressed after a codec of unknown
/// output size, nothing determines their number.
#[test]
fn arrays_that_could_not_be_read_are_refused() {
    let of = |view: &str, before: &str, bytes: u64| {
        let list = format!(r#"[{{"name": "bytes"}}, {before}{{"name": "array_view", "configuration": {view}}}]"#);
        chain(&list, "uint8").unwrap().check(&[bytes])
    };
    let zipped = r#"{"data_type": "uint8", "bytes_codecs": [{"name": "bytes"}],
        "codecs": [{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}]}"#;
    let gzip = r#"{"name": "gzip", "configuration": {"level": 1}}, "#;
    of(zipped, "", 6).unwrap();
    for view in [BIG, PACKED] {
        of(view, gzip, 6).unwrap();
    }
    let error = of(zipped, gzip, 6).unwrap_err().to_string();
    assert!(error.contains("must determine the number of elements"), "{error}");
    // Chunks of 5 bytes are no array of int16.
    let error = of(BIG, "", 5).unwrap_err();
    assert!(matches!(&error, Error::Metadata { pointer, .. } if pointer == "/1"), "{error}");
}

#[test]
fn data_without_array_is_refused() {
    let mut out = Vec::new();
    let error = codec(BIG).unwrap().encode(&[1, 2, 3], &mut out).unwrap_err();
    assert!(error.to_string().contains("3 bytes, expected an array of int16"), "{error}");
    let error = codec(PACKED).unwrap().encode(&[0, 2], &mut out).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "numcodecs would lose the 2: {error}");
    let of = |data_type: &str, plain: &str| {
        let codecs = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
        let list = format!(r#"{{"data_type": "{data_type}", "bytes_codecs": {plain}, "codecs": {codecs}}}"#);
        codec(&list).unwrap_err().to_string()
    };
    assert!(of("string", r#"[{"name": "bytes"}]"#).contains("a data type whose elements have a size"));
    let zipped = r#"[{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}]"#;
    assert!(of("uint8", zipped).contains("in 1 bytes"));
}

proptest! {
    #[test]
    fn chunks_come_back(values in proptest::collection::vec(any::<i32>(), 1..40)) {
        let list = r#"[{"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "gzip", "configuration": {"level": 1}},
            {"name": "array_view", "configuration": {"data_type": "uint8", "bytes_codecs": [{"name": "bytes"}],
              "codecs": [{"name": "numcodecs.delta", "configuration": {"dtype": "|u1"}}, {"name": "bytes"}]}},
            {"name": "numcodecs.shuffle", "configuration": {"elementsize": 1}}]"#;
        let items: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let chain = chain(list, "int32").unwrap();
        testing::chunk_round_trip(&chain, &[values.len()], &items);
    }
}
