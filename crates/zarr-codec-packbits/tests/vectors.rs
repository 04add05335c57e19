//! Chunks that numcodecs packed; `make_vectors.py` tells how.

use zarr_codec::testing::{array_to_array, element};
use zarr_codec::{View, ViewMut};
use zarr_codec_packbits::NUMCODECS_PACKBITS;
use zarr_json::Value;

#[test]
fn numcodecs_packs_the_same() {
    let cases = Value::from_json(include_str!("vectors.json")).unwrap();
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 200);
    let codec = array_to_array(&NUMCODECS_PACKBITS, "{}", &element("bool"));
    for case in cases {
        let text = |member: &str| case.get(member).and_then(Value::as_str).unwrap();
        let shape: Vec<u64> =
            case.get("shape").and_then(Value::as_array).unwrap().iter().map(|len| len.as_u64().unwrap()).collect();
        let dims: Vec<usize> = shape.iter().map(|&len| len as usize).collect();
        let items: Vec<u8> = text("items").bytes().map(|digit| digit - b'0').collect();
        let due: Vec<u8> = (0..text("encoded").len() / 2)
            .map(|at| u8::from_str_radix(&text("encoded")[2 * at..2 * at + 2], 16).unwrap())
            .collect();

        assert_eq!(codec.encoded_shape(&shape).unwrap().as_slice(), [due.len() as u64]);
        let mut encoded = vec![0xEE; due.len()];
        let mut out = ViewMut::new(&mut encoded, 1, &[due.len()]).unwrap();
        codec.encode(&View::new(&items, 1, &dims).unwrap(), &mut out).unwrap();
        assert_eq!(encoded, due, "{case}");

        let mut decoded = vec![0xEE; items.len()];
        let mut out = ViewMut::new(&mut decoded, 1, &dims).unwrap();
        codec.decode(&View::new(&due, 1, &[due.len()]).unwrap(), &mut out).unwrap();
        assert_eq!(decoded, items, "{case}");
    }
}
