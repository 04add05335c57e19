use crate::CATEGORIZE;
use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{array_to_bytes, build, element};
use zarr_codec::{ArrayToBytes, ElementSpec, Error, Size, View, ViewMut};
use zarr_dtype::{DataType, Element, FillValue, Heap};
use zarr_grid::Region;

fn fixed(len: u32) -> ElementSpec {
    let data_type = DataType::FixedUtf32 { len };
    let zero = FillValue::zero(&data_type);
    ElementSpec::new(data_type, zero)
}

fn encode(codec: &dyn ArrayToBytes, data_type: &DataType, texts: &[&str]) -> Result<Vec<u8>, Error> {
    let heap = Arc::new(Heap::new());
    let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    let items = String::to_items(data_type, &texts, &heap).unwrap();
    let mut encoded = Vec::new();
    let view = View::new(&items, data_type.item_size(), &[texts.len()]).unwrap();
    codec.encode(&view.with_heap(Some(heap)), &mut encoded)?;
    Ok(encoded)
}

fn decode(
    codec: &dyn ArrayToBytes,
    data_type: &DataType,
    encoded: &[u8],
    len: u64,
    region: &Region,
) -> Result<Vec<String>, Error> {
    let heap = Arc::new(Heap::new());
    let count = region.len_checked().unwrap() as usize;
    let mut items = vec![0xEE; count * data_type.item_size()];
    let view = ViewMut::new(&mut items, data_type.item_size(), &[count]).unwrap();
    codec.decode(encoded, &[len], region, &mut view.with_heap(Some(Arc::clone(&heap))))?;
    Ok(String::from_items(data_type, &items, &heap).unwrap())
}

#[test]
fn numbers_are_stored_as_their_type_says() {
    for (astype, expected) in [
        ("|u1", &[2, 0, 1][..]),
        ("<u2", &[2, 0, 0, 0, 1, 0]),
        (">i2", &[0, 2, 0, 0, 0, 1]),
        ("<i4", &[2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]),
    ] {
        let configuration = format!(r#"{{"labels": ["a", "bü"], "dtype": "|O", "astype": "{astype}"}}"#);
        for element in [element("string"), fixed(3)] {
            let codec = array_to_bytes(&CATEGORIZE, &configuration, &element);
            let data_type = &element.data_type;
            let encoded = encode(&*codec, data_type, &["bü", "", "a"]).unwrap();
            assert_eq!(encoded, expected, "{astype} {data_type}");
            assert_eq!(codec.encoded_size(&[3]), Size::Exact(expected.len() as u64));
            let all = Region::whole(&[3]);
            assert_eq!(decode(&*codec, data_type, &encoded, 3, &all).unwrap(), ["bü", "", "a"]);
            for cut in 0..encoded.len() {
                let error = decode(&*codec, data_type, &encoded[..cut], 3, &all).unwrap_err();
                assert!(matches!(error, Error::Truncated { .. }), "{error}");
            }
            let error = decode(&*codec, data_type, &[&encoded[..], &[0]].concat(), 3, &all).unwrap_err();
            assert!(matches!(error, Error::TooLong { .. }), "{error}");
        }
    }
}

#[test]
fn numbers_and_texts_need_a_label() {
    let string = element("string");
    let codec = array_to_bytes(&CATEGORIZE, r#"{"labels": ["a"], "astype": "|i1"}"#, &string);
    for number in [2, 0xff] {
        let error = decode(&*codec, &DataType::String, &[number], 1, &Region::whole(&[1])).unwrap_err();
        assert_eq!(error.to_string(), format!("codec categorize: found number {number}, expected one of 1 labels"));
    }
    let error = encode(&*codec, &DataType::String, &["b"]).unwrap_err();
    assert_eq!(error.to_string(), "codec categorize: found \"b\", expected one of the labels");
}

#[test]
fn labels_that_are_there_twice_or_empty() {
    let string = element("string");
    let codec = array_to_bytes(&CATEGORIZE, r#"{"labels": ["a", "", "a"]}"#, &string);
    assert_eq!(encode(&*codec, &DataType::String, &["a", ""]).unwrap(), [3, 2]);
    let found = decode(&*codec, &DataType::String, &[0, 1, 2, 3], 4, &Region::whole(&[4])).unwrap();
    assert_eq!(found, ["", "a", "", "a"]);
}

#[test]
fn wrong_configurations_are_errors() {
    let error = |configuration: &str, element: &ElementSpec| {
        build(&CATEGORIZE, configuration, element).map(drop).unwrap_err().to_string()
    };
    let string = element("string");
    assert!(error("{}", &string).contains("/configuration/labels: missing"));
    assert!(error(r#"{"labels": "a"}"#, &string).contains("expected an array of strings"));
    assert!(error(r#"{"labels": ["a", 1]}"#, &string).contains("/configuration/labels/1"));
    assert!(error(r#"{"labels": ["a"], "astype": "<f4"}"#, &string).contains("/configuration/astype"));
    assert!(error(r#"{"labels": ["abc"]}"#, &fixed(2)).contains("at most 2 code points"));
    assert!(error(r#"{"labels": ["a"]}"#, &element("int8")).contains("expected string"));
    let many = (0..128).map(|label| format!("\"{label}\"")).collect::<Vec<_>>().join(",");
    assert!(error(&format!(r#"{{"labels": [{many}], "astype": "|i1"}}"#), &string).contains("at most 127"));
    build(&CATEGORIZE, &format!(r#"{{"labels": [{many}]}}"#), &string).unwrap();
}

proptest! {
    #[test]
    fn texts_come_back(labels in prop::collection::vec("[a-c]{1,3}", 1..9), picks in prop::collection::vec(0_usize..9, 1..30)) {
        let texts: Vec<&str> = picks.iter().map(|&pick| labels.get(pick).map_or("", String::as_str)).collect();
        let list = labels.iter().map(|label| format!("\"{label}\"")).collect::<Vec<_>>().join(",");
        let codec = array_to_bytes(&CATEGORIZE, &format!(r#"{{"labels": [{list}]}}"#), &element("string"));
        let encoded = encode(&*codec, &DataType::String, &texts).unwrap();
        let len = texts.len() as u64;
        for region in zarr_codec::testing::regions(&[len]) {
            let axis = region.axes()[0];
            let due: Vec<&str> = texts.iter().skip(axis.start as usize).step_by(axis.step as usize).take(axis.len as usize).copied().collect();
            prop_assert_eq!(decode(&*codec, &DataType::String, &encoded, len, &region).unwrap(), due);
        }
    }
}
