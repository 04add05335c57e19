use crate::N5_DEFAULT;
use std::sync::Arc;
use zarr_codec::testing::{self, chunk_round_trip, corrupt_chunk, element};
use zarr_codec::{Codecs, Error, ErrorKind, Pipeline, Protection};
use zarr_grid::Region;

fn chain(data_type: &str, codecs: &str) -> Result<Arc<Pipeline>, Error> {
    let mut table = Codecs::default();
    for entry in [N5_DEFAULT, zarr_codec_transpose::TRANSPOSE, zarr_codec_bytes::BYTES, zarr_codec_gzip::GZIP] {
        table.add(entry);
    }
    let json = format!(r#"[{{"name": "n5_default", "configuration": {{"codecs": {codecs}}}}}]"#);
    testing::pipeline(&json, &element(data_type), &table)
}

const TRANSPOSE: &str = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;
const BIG: &str = r#"{"name": "bytes", "configuration": {"endian": "big"}}"#;

fn int16() -> Arc<Pipeline> {
    chain("int16", &format!("[{TRANSPOSE}, {BIG}]")).unwrap()
}

fn numbers(items: &[u8]) -> Vec<i16> {
    items.as_chunks().0.iter().map(|item| i16::from_ne_bytes(*item)).collect()
}

/// The test blocks are those of the 3 by 2 array `[[1, 2], [3, 4], [5, 6]]` in blocks of 2 by 2, as TensorStore 0.1 writes them.
#[test]
fn blocks_of_tensorstore_are_read() {
    let first = b"\0\0\0\x02\0\0\0\x02\0\0\0\x02\0\x01\0\x03\0\x02\0\x04";
    let last = b"\0\0\0\x02\0\0\0\x02\0\0\0\x02\0\x05\0\0\0\x06\0\0";
    let read = |block: &[u8]| numbers(&testing::read(&int16(), block, &[2, 2], &Region::whole(&[2, 2]), false));
    assert_eq!(read(first), [1, 2, 3, 4]);
    assert_eq!(read(last), [5, 6, 0, 0]);
    let items: Vec<u8> = [1_i16, 2, 3, 4].into_iter().flat_map(i16::to_ne_bytes).collect();
    assert_eq!(chunk_round_trip(&int16(), &[2, 2], &items), first);
}

#[test]
fn blocks_of_other_shapes_are_padded_and_cut() {
    // The element at (i, j) is 10 i + j + 1.
    let block = |shape: [u32; 2]| {
        let header = [&[0, 0, 0, 2][..], &shape.map(u32::to_be_bytes).concat()].concat();
        let elements = (0..shape[1]).flat_map(|j| (0..shape[0]).map(move |i| (10 * i + j + 1) as i16));
        header.into_iter().chain(elements.flat_map(i16::to_be_bytes)).collect::<Vec<u8>>()
    };
    let chunk = [4_u64, 3];
    for shape in [[4, 3], [2, 3], [4, 1], [1, 1], [0, 3], [6, 3], [2, 5], [7, 7]] {
        for region in testing::regions(&chunk) {
            let due: Vec<i16> = zarr_codec::ElementOffsets::new(&chunk, &region)
                .map(|index| (index / 3, index % 3))
                .map(|(i, j)| if i < u64::from(shape[0]) && j < u64::from(shape[1]) { 10 * i + j + 1 } else { 0 })
                .map(|value| value as i16)
                .collect();
            let found = numbers(&testing::read(&int16(), &block(shape), &chunk, &region, false));
            assert_eq!(found, due, "{shape:?} {region}");
        }
    }
}

#[test]
fn blocks_that_are_none_are_errors() {
    let decode = |block: &[u8]| {
        let mut items = [0; 8];
        let mut out = zarr_codec::ViewMut::new(&mut items, 2, &[2, 2]).unwrap();
        int16().decode(block, &[2, 2], &Region::whole(&[2, 2]), &mut out)
    };
    let check = |block: &[u8], expected: &str| {
        let error = decode(block).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let good = b"\0\0\0\x02\0\0\0\x02\0\0\0\x02\0\x01\0\x03\0\x02\0\x04";
    decode(good).unwrap();
    for cut in 0..good.len() {
        assert!(decode(&good[..cut]).is_err(), "{cut}");
    }
    check(&[&[0, 1][..], &good[2..]].concat(), "the mode \"varlength\"");
    check(&[&[0, 2][..], &good[2..]].concat(), "the mode \"object\"");
    check(&[&[0, 3][..], &good[2..]].concat(), "mode 3");
    check(&[&[0, 0, 0, 3][..], &good[4..]].concat(), "3 axes, expected 2");
    let huge = [&good[..4], &[0xff; 8], &good[12..]].concat();
    assert!(matches!(decode(&huge), Err(Error::Limit { .. })));
    assert!(decode(&[&good[..], &[0]].concat()).is_err(), "bytes behind the elements");
}

#[test]
fn chains_of_other_codecs_are_errors() {
    let gzip = r#"{"name": "gzip", "configuration": {"level": 1}}"#;
    let good = chain("float32", &format!("[{TRANSPOSE}, {BIG}, {gzip}]")).unwrap();
    good.check(&[4, 4]).unwrap();
    assert!(good.check(&[4, 4, 4]).is_err(), "an order of another number of axes");
    let items: Vec<u8> = (0..64_u8).collect();
    let encoded = chunk_round_trip(&good, &[4, 4], &items);
    corrupt_chunk(&good, &[4, 4], &encoded);
    chain("uint8", &format!(r#"[{TRANSPOSE}, {{"name": "bytes"}}]"#)).unwrap().check(&[2, 2]).unwrap();
    let little = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
    for codecs in [
        format!("[{BIG}]"),
        format!("[{TRANSPOSE}, {little}]"),
        format!(r#"[{TRANSPOSE}, {{"name": "bytes"}}]"#),
        format!("[{TRANSPOSE}, {BIG}, {gzip}, {gzip}]"),
        "3".to_owned(),
    ] {
        let error = chain("int16", &codecs).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidMetadata, "{codecs}: {error}");
    }
    let straight = r#"{"name": "transpose", "configuration": {"order": [0, 1]}}"#;
    let error = chain("int16", &format!("[{straight}, {BIG}]")).unwrap().check(&[2, 2]).unwrap_err();
    assert!(error.to_string().contains("expected [1, 0]"), "{error}");
    assert_eq!(chain("bool", &format!("[{TRANSPOSE}, {BIG}]")).unwrap_err().kind(), ErrorKind::UnknownExtension);
}

/// The protection of elements is that of their own codecs, which the header does not change.
#[test]
fn elements_have_the_protection_of_the_codecs_within() {
    let gzip = chain("int16", &format!(r#"[{TRANSPOSE}, {BIG}, {{"name": "gzip", "configuration": {{"level": 1}}}}]"#));
    for (codecs, expected) in [(int16(), Protection::None), (gzip.unwrap(), Protection::Checksum)] {
        let items: Vec<u8> = [1_i16, 2, 3, 4].into_iter().flat_map(i16::to_ne_bytes).collect();
        let encoded = chunk_round_trip(&codecs, &[2, 2], &items);
        assert_eq!((codecs.protection(Some(&encoded)), codecs.protection(None)), (expected, expected));
    }
}
