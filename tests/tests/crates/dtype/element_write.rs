use zarr_dtype::*;
use zarr_dtype::{BytesName, DataType::*};

#[test]
fn borrowed_values_are_written_as_owned_ones() {
    let bytes = Bytes { name: BytesName::default() };
    let text = ["one", "", "three"];
    for data_type in [String, FixedUtf32 { len: 5 }, FixedBytes { len: 5 }] {
        let (heap, other) = (Heap::new(), Heap::new());
        let items = <&str>::make_items(&data_type, &text, &heap).unwrap();
        let owned: Vec<std::string::String> = text.map(str::to_owned).to_vec();
        assert_eq!(std::string::String::to_items(&data_type, &owned, &other).unwrap(), items);
        assert_eq!(std::string::String::from_items(&data_type, &items, &heap).unwrap(), text);
    }
    for data_type in [bytes, RawBytes { len: 2 }] {
        let heap = Heap::new();
        let items = <&[u8]>::make_items(&data_type, &[&[1, 2], &[3, 4]], &heap).unwrap();
        assert_eq!(Vec::<u8>::from_items(&data_type, &items, &heap).unwrap(), [[1, 2], [3, 4]]);
    }
    assert!(<&str>::check_written(&Float32).is_err() && <&[u8]>::check_written(&String).is_err());
    let error = <&str>::make_items(&FixedUtf32 { len: 2 }, &["ab", "abc"], &Heap::new()).unwrap_err();
    assert_eq!(error.to_string(), "element 1: found 3 code points, expected at most 2");
}
