//! Chunks written by the crate zarrs 0.23.14, and other chunks.

use super::*;
use zarr_codec::{Codecs, testing};
use zarr_dtype::{Element, Heap};

const GZIPPED: &str =
    r#"[{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip", "configuration": {"level": 1}}]"#;

/// Encoded strings of 0 to 3 times `"\u{e4}bc"`, in turn; the index has 32 bits and is at the start.
const START: &str = "44000000000000001f8b08000000000004ff2dc5211200100005d11f4407104407104407104407104407707c1bfecebc59b9c02392655e50adf18e61932f6c3bfce249fa40fb48c654000000c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263";
/// The same strings; the index has 64 bits and is at the end.
const END: &str = "c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a46263c3a462631f8b08000000000004ff5dc7a11500200cc4500492011048064020190081640004b20374fc9aa88bf92f49ca7cc12a36bee31027bf708b87bff8c4cf1b3a06d37426f7a80000004700000000000000";
/// Twenty empty elements.
const EMPTY: &str = "21000000000000001f8b08000000000004ffb5c0810000000080a0fda9a7a8800176eacc7454000000";

fn chain(data_type: &str, members: &str) -> Arc<Pipeline> {
    try_chain(data_type, members).unwrap()
}

fn try_chain(data_type: &str, members: &str) -> Result<Arc<Pipeline>, Error> {
    let mut codecs = Codecs::default();
    for entry in [ZARRS_VLEN, zarr_codec_bytes::BYTES, zarr_codec_gzip::GZIP] {
        codecs.add(entry);
    }
    let index =
        if members.contains("index_codecs") { String::new() } else { format!(r#""index_codecs": {GZIPPED}, "#) };
    let configuration = format!(r#"{{{index}"data_codecs": [{{"name": "bytes"}}], {members}}}"#);
    let list = format!(r#"[{{"name": "zarrs.vlen", "configuration": {configuration}}}]"#);
    testing::pipeline(&list, &testing::element(data_type), &codecs)
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2).map(|digits| std::str::from_utf8(digits).unwrap());
    digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect()
}

fn decode(chain: &Pipeline, encoded: &[u8], region: &Region) -> Result<Vec<Vec<u8>>, Error> {
    let heap = Arc::new(Heap::new());
    let shape: Vec<usize> = region.shape().iter().map(|&len| len as usize).collect();
    let mut items = vec![0; 16 * shape.iter().product::<usize>()];
    let view = ViewMut::new(&mut items, 16, &shape).unwrap();
    chain.decode(encoded, &[4, 5], region, &mut view.with_heap(Some(Arc::clone(&heap))))?;
    Ok(Vec::<u8>::from_items(&DataType::Bytes { name: Default::default() }, &items, &heap).unwrap())
}

fn encode(chain: &Pipeline, elements: &[Vec<u8>]) -> Vec<u8> {
    let heap = Arc::new(Heap::new());
    let items = Vec::<u8>::to_items(&DataType::Bytes { name: Default::default() }, elements, &heap).unwrap();
    let mut encoded = Vec::new();
    chain.encode(&View::new(&items, 16, &[4, 5]).unwrap().with_heap(Some(heap)), &mut encoded).unwrap();
    encoded
}

fn texts() -> Vec<Vec<u8>> {
    (0..20).map(|i| "\u{e4}bc".repeat(i % 4).into_bytes()).collect()
}

#[test]
fn chunks_of_zarrs_are_read() {
    let cases =
        [(START, r#""index_data_type": "uint32""#), (END, r#""index_data_type": "uint64", "index_location": "end""#)];
    for (encoded, members) in cases {
        let (chain, whole) = (chain("string", members), Region::whole(&[4, 5]));
        assert_eq!(decode(&chain, &hex(encoded), &whole).unwrap(), texts());
        let part = Region::from_ranges(&[1..3, 2..5]);
        let due: Vec<_> = [7, 8, 9, 12, 13, 14].iter().map(|&position: &usize| texts()[position].clone()).collect();
        assert_eq!(decode(&chain, &hex(encoded), &part).unwrap(), due);
        assert_eq!(decode(&chain, &encode(&chain, &texts()), &whole).unwrap(), texts());
    }
    let chain = chain("bytes", r#""index_data_type": "uint32""#);
    let empty = vec![Vec::new(); 20];
    assert_eq!(decode(&chain, &hex(EMPTY), &Region::whole(&[4, 5])).unwrap(), empty);
    assert_eq!(decode(&chain, &encode(&chain, &empty), &Region::whole(&[4, 5])).unwrap(), empty);
}

#[test]
fn broken_chunks_are_errors() {
    let chain = chain("string", r#""index_data_type": "uint32""#);
    let whole = Region::whole(&[4, 5]);
    let good = hex(START);
    for cut in 0..good.len() {
        assert!(decode(&chain, &good[..cut], &whole).is_err(), "{cut}");
    }
    assert!(decode(&chain, &[&good[..], b"x"].concat(), &whole).is_err());
    assert!(decode(&chain, &encode(&chain, &vec![vec![0xff]; 20]), &whole).unwrap_err().to_string().contains("UTF-8"));
    let falling = [[0_u8; 4], [2, 0, 0, 0], [1, 0, 0, 0]].concat();
    let plain =
        r#""index_data_type": "uint32", "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    let plain = self::chain("string", plain);
    let bytes = [&84_u64.to_le_bytes()[..], &falling, &[1, 0, 0, 0].repeat(18), b"x"].concat();
    assert!(decode(&plain, &bytes, &whole).unwrap_err().to_string().contains("offsets that fall"));
}

#[test]
fn configurations_are_checked() {
    let message = |data_type: &str, members: &str| try_chain(data_type, members).unwrap_err().to_string();
    assert!(message("int8", r#""index_data_type": "uint32""#).contains("expected string or bytes"));
    assert!(message("string", r#""index_data_type": "uint8""#).contains("uint64"));
    assert!(message("string", r#""index_data_type": "uint32", "index_location": "middle""#).contains("start"));
}

/// The protection is that of a checksum only if both parts have a checksum.
#[test]
fn the_part_with_the_least_protection_counts() {
    let codecs = |index: &str, data: &str| {
        let mut table = Codecs::default();
        for entry in [ZARRS_VLEN, zarr_codec_bytes::BYTES, zarr_codec_gzip::GZIP] {
            table.add(entry);
        }
        let list = format!(
            r#"[{{"name": "zarrs.vlen", "configuration": {{"index_codecs": {index}, "data_codecs": {data},
            "index_data_type": "uint32", "index_location": "start"}}}}]"#
        );
        testing::pipeline(&list, &testing::element("string"), &table).unwrap()
    };
    let plain = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    for (index, data, expected) in [
        (GZIPPED, GZIPPED, Protection::Checksum),
        (GZIPPED, plain, Protection::Form),
        (plain, GZIPPED, Protection::Form),
    ] {
        let codecs = codecs(index, data);
        assert_eq!((codecs.protection(None), codecs.protection(Some(&hex(START)))), (expected, expected));
    }
}
