use crate::{RESHAPE, ZARRS_SQUEEZE};
use proptest::prelude::*;
use zarr_codec::testing::{array_to_array, build, chunk_round_trip, element, pipeline};
use zarr_codec::{Codecs, Error};

fn shape(configuration: &str, shape: &[u64]) -> Result<Vec<u64>, Error> {
    array_to_array(&RESHAPE, configuration, &element("uint8")).encoded_shape(shape).map(|shape| shape.to_vec())
}

#[test]
fn shapes_are_lengths_products_and_a_rest() {
    assert_eq!(shape(r#"{"shape": [[0, 1], [2], 3]}"#, &[2, 3, 4, 3]).unwrap(), [6, 4, 3]);
    assert_eq!(shape(r#"{"shape": [-1]}"#, &[2, 3, 4]).unwrap(), [24]);
    assert_eq!(shape(r#"{"shape": [4, -1]}"#, &[2, 3, 4]).unwrap(), [4, 6]);
    assert_eq!(shape(r#"{"shape": [[0], 1, [1]]}"#, &[2, 3]).unwrap(), [2, 1, 3]);
    assert_eq!(shape(r#"{"shape": []}"#, &[1, 1]).unwrap(), [0; 0]);
    assert_eq!(shape(r#"{"shape": [-1, 7]}"#, &[0, 7]).unwrap(), [0, 7]);
}

#[test]
fn chunks_that_do_not_fit_are_errors() {
    let check = |configuration: &str, chunk: &[u64], expected: &str| {
        let error = shape(configuration, chunk).unwrap_err();
        assert!(matches!(error, Error::Metadata { .. }) && error.to_string().contains(expected), "{error}");
    };
    check(r#"{"shape": [5]}"#, &[2, 3], "has 5 elements, chunks of [2, 3] have 6");
    check(r#"{"shape": [4, -1]}"#, &[2, 3], "has 4 elements");
    check(r#"{"shape": [[2]]}"#, &[2, 3], "axis 2 of a chunk of 2 axes");
    check(r#"{"shape": [[1], 2]}"#, &[2, 3], "is not where axes 1 to 1");
    check(r#"{"shape": [[0, 2], 3]}"#, &[2, 3, 4], "is not where axes 0 to 2");
    check(r#"{"shape": [-1]}"#, &[u64::MAX, 2], "64 bits");
}

#[test]
fn squeezed_chunks_have_no_axes_of_length_1() {
    let squeeze = array_to_array(&ZARRS_SQUEEZE, "{}", &element("uint8"));
    let shape = |shape: &[u64]| squeeze.encoded_shape(shape).unwrap().to_vec();
    assert_eq!((shape(&[1, 6]), shape(&[3, 1, 2, 1])), (vec![6], vec![3, 2]));
    assert_eq!((shape(&[1, 1]), shape(&[])), (vec![1], vec![1]));
    let mut codecs = Codecs::default();
    codecs.add(ZARRS_SQUEEZE);
    codecs.add(zarr_codec_bytes::BYTES);
    let chain = pipeline(r#"[{"name": "zarrs.squeeze"}, {"name": "bytes"}]"#, &element("uint8"), &codecs).unwrap();
    for shape in [vec![1, 6], vec![2, 1, 3], vec![6], vec![1, 1, 6]] {
        assert_eq!(chunk_round_trip(&chain, &shape, &[1, 2, 3, 4, 5, 6]), [1, 2, 3, 4, 5, 6]);
    }
}

#[test]
fn wrong_configurations_are_errors() {
    for configuration in [
        "{}",
        r#"{"shape": 3}"#,
        r#"{"shape": [0]}"#,
        r#"{"shape": [-2]}"#,
        r#"{"shape": [-1, -1]}"#,
        r#"{"shape": [[1], [0]]}"#,
        r#"{"shape": [[1, 0]]}"#,
        r#"{"shape": [[0], [0]]}"#,
        r#"{"shape": [["a"]]}"#,
    ] {
        assert!(build(&RESHAPE, configuration, &element("uint8")).is_err(), "{configuration}");
    }
}

proptest! {
    #[test]
    fn elements_stay_in_order(lens in prop::collection::vec(1_usize..5, 1..5), cut in 0_usize..4) {
        let cut = cut.min(lens.len());
        let axes = |range: std::ops::Range<usize>| format!("{:?}", range.collect::<Vec<_>>());
        let shape = format!("[{}, {}, -1]", axes(0..cut), axes(cut..lens.len()));
        let mut codecs = Codecs::default();
        codecs.add(RESHAPE);
        codecs.add(zarr_codec_bytes::BYTES);
        let json = format!(
            r#"[{{"name": "reshape", "configuration": {{"shape": {shape}}}}},
                {{"name": "bytes", "configuration": {{"endian": "little"}}}}]"#
        );
        let chain = pipeline(&json, &element("uint16"), &codecs).unwrap();
        let items: Vec<u8> = (0..2 * lens.iter().product::<usize>()).map(|i| i as u8).collect();
        let encoded = chunk_round_trip(&chain, &lens, &items);
        if cfg!(target_endian = "little") {
            prop_assert_eq!(encoded, items);
        }
    }
}
