use crate::TRANSPOSE;
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{self, array_to_array, build, chunk_round_trip, corrupt_chunk, element};
use zarr_codec::{Access, Codecs, Error, Pipeline, View, ViewMut};
use zarr_grid::Region;

fn chain(order: &str) -> Arc<Pipeline> {
    let mut codecs = Codecs::default();
    codecs.add(TRANSPOSE);
    codecs.add(zarr_codec_bytes::BYTES);
    let json = format!(
        r#"[{{"name": "transpose", "configuration": {{"order": {order}}}}},
            {{"name": "bytes", "configuration": {{"endian": "big"}}}}]"#
    );
    testing::pipeline(&json, &element("int16"), &codecs).unwrap()
}

fn counting(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7) as u8).collect()
}

#[test]
fn chunks_come_back() {
    for (order, shape) in [
        ("[]", &[][..]),
        ("[0]", &[5]),
        ("[1, 0]", &[5, 6]),
        ("[2, 0, 1]", &[3, 4, 5]),
        ("[1, 2, 0]", &[3, 4, 5]),
        ("[3, 1, 2, 0]", &[2, 3, 4, 5]),
        ("\"F\"", &[3, 4, 5]),
        ("\"C\"", &[3, 4, 5]),
    ] {
        let items = counting(shape.iter().product::<usize>() * 2);
        let encoded = chunk_round_trip(&chain(order), shape, &items);
        let shape: Vec<u64> = shape.iter().map(|&len| len as u64).collect();
        corrupt_chunk(&chain(order), &shape, &encoded);
    }
}

#[test]
fn encoded_axis_i_is_decoded_axis_order_i() {
    let items: Vec<u8> = (0..24u16).flat_map(u16::to_ne_bytes).collect();
    let first = |order: &str| -> Vec<u8> {
        let encoded = chunk_round_trip(&chain(order), &[2, 3, 4], &items);
        encoded.chunks(2).map(|item| item[1]).take(7).collect()
    };
    // Element (i, j, k) is 12 i + 4 j + k.
    assert_eq!(first("[2, 0, 1]"), [0, 4, 8, 12, 16, 20, 1]);
    assert_eq!(first("[1, 2, 0]"), [0, 12, 1, 13, 2, 14, 3]);
    assert_eq!(first("\"F\""), [0, 12, 4, 16, 8, 20, 1]);
    assert_eq!(first("\"C\""), [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn configurations_are_checked() {
    for configuration in [
        "{}",
        r#"{"order": null}"#,
        r#"{"order": "A"}"#,
        r#"{"order": 1}"#,
        r#"{"order": [0, 0]}"#,
        r#"{"order": [1, 2]}"#,
        r#"{"order": [-1, 0]}"#,
        r#"{"order": [0.5]}"#,
        r#"{"order": [18446744073709551615]}"#,
    ] {
        let error = build(&TRANSPOSE, configuration, &element("int8")).unwrap_err();
        let placed = matches!(&error, Error::Metadata { pointer, .. } if pointer == "/configuration/order");
        assert!(placed, "{configuration}: {error}");
    }
    let codec = array_to_array(&TRANSPOSE, r#"{"order": [1, 0]}"#, &element("int8"));
    let error = codec.encoded_shape(&[1, 2, 3]).unwrap_err();
    assert_eq!(error.to_string(), "/configuration/order: expected a permutation of 3 axes");
    assert_eq!(codec.encoded_shape(&[4, 7]).unwrap().as_slice(), [7, 4]);
    assert_eq!(codec.permutation(), Some(&[1, 0][..]));
    assert!(codec.encoded_shape(&[4]).is_err());
    let reversed = array_to_array(&TRANSPOSE, r#"{"order": "F"}"#, &element("int8"));
    assert_eq!(reversed.encoded_shape(&[4, 7, 2]).unwrap().as_slice(), [2, 7, 4]);
    assert!(reversed.encoded_shape(&[4, 7]).is_err(), "the number of axes does not change");
}

#[test]
fn parts_are_read_through_a_turned_view() {
    let chain = chain("[1, 0]");
    chain.check(&[40, 50]).unwrap();
    let region = Region::from_ranges(&[0..40, 3..4]);
    let access = Access::default();
    let mut decode = chain.partial(&[40, 50], &region, &access).expect("part of the bytes");
    let mut memory = [0; 80];
    let mut out = ViewMut::new(&mut memory, 2, &[40, 1]).unwrap();
    let step = decode.step(&[], &mut out).unwrap();
    assert_eq!(format!("{step:?}"), "Need([Range(240..320)])", "one run of an encoded row");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Moving the bytes and permuting the axes of a view give the same elements.
    #[test]
    fn copies_equal_turned_views(shape in prop::collection::vec(1usize..5, 0..5), shuffle in any::<prop::sample::Index>()) {
        let rank = shape.len();
        let mut order: Vec<usize> = (0..rank).collect();
        if rank > 0 {
            order.rotate_left(shuffle.index(rank));
            order.swap(0, rank - 1);
        }
        let codec = array_to_array(&TRANSPOSE, &format!(r#"{{"order": {order:?}}}"#), &element("int16"));
        let items = counting(shape.iter().product::<usize>() * 2);
        let chunk = View::new(&items, 2, &shape).unwrap();
        let encoded_shape: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        let mut encoded = vec![0; items.len()];
        codec.encode(&chunk, &mut ViewMut::new(&mut encoded, 2, &encoded_shape).unwrap()).unwrap();
        let mut transposed = Vec::new();
        chunk.clone().permuted(&order).append_to(&mut transposed).unwrap();
        prop_assert_eq!(&encoded, &transposed);
        let mut decoded = vec![0; items.len()];
        let mut out = ViewMut::new(&mut decoded, 2, &shape).unwrap();
        codec.decode(&View::new(&encoded, 2, &encoded_shape).unwrap(), &mut out).unwrap();
        prop_assert_eq!(decoded, items);
    }
}
