use half::{bf16, f16};
use num_complex::Complex;
use proptest::prelude::*;
use std::fmt::Debug;
use zarr_dtype::*;

const BYTES: DataType = DataType::Bytes { name: BytesName::VariableLengthBytes };

fn check<T: Element + PartialEq + Debug>(data_type: DataType, elements: &[T]) {
    let heap = Heap::new();
    let items = T::to_items(&data_type, elements, &heap).unwrap();
    assert_eq!(items.len(), elements.len() * data_type.item_size(), "{data_type}");
    assert_eq!(T::from_items(&data_type, &items, &heap).unwrap(), elements, "{data_type}");
    if let Some(bytes) = T::as_bytes(elements) {
        assert_eq!(bytes, items, "{data_type}");
    }
    let mut zeros = T::zeroed_vec(elements.len()).unwrap();
    assert_eq!(zeros.len(), elements.len());
    if let Some(bytes) = T::as_bytes_mut(&mut zeros) {
        bytes.copy_from_slice(&items);
        assert_eq!(zeros, elements, "{data_type}");
    }
    if !elements.is_empty() {
        let error = T::from_items(&data_type, &items[1..], &heap);
        // All but types of single bytes have a part of an element now.
        assert_eq!(error.is_err(), data_type.item_size() > 1, "{data_type}");
    }
}

#[test]
fn all_types_come_back() {
    check(DataType::Bool, &[true, false, true]);
    check(DataType::Int8, &[-1_i8, 2]);
    check(DataType::Int16, &[-1_i16, 2]);
    check(DataType::Int32, &[-1_i32, 2]);
    check(DataType::Int64, &[-1_i64, 2]);
    check(DataType::UInt8, &[1_u8, 2]);
    check(DataType::UInt16, &[1_u16, 2]);
    check(DataType::UInt32, &[1_u32, 2]);
    check(DataType::UInt64, &[1_u64, 2]);
    check(DataType::Int4, &[-8_i8, 7]);
    check(DataType::UInt2, &[0_u8, 3]);
    check(DataType::Float16, &[f16::ONE, f16::NEG_ZERO]);
    check(DataType::BFloat16, &[bf16::ONE]);
    check(DataType::Float32, &[1.5_f32, f32::INFINITY]);
    check(DataType::Float64, &[1.5_f64, -0.0]);
    check(DataType::SmallFloat(SmallFloat::Float8E5M2), &[[0x3c_u8], [0xff]]);
    check(DataType::SmallComplex(SmallFloat::Float8E5M2), &[[0x3c_u8, 0xff]]);
    check(DataType::ComplexFloat16, &[Complex::new(f16::ONE, f16::NEG_ZERO)]);
    check(DataType::ComplexBFloat16, &[Complex::new(bf16::ONE, bf16::NEG_ZERO)]);
    check(DataType::Complex64, &[Complex::new(1.5_f32, -2.0)]);
    check(DataType::Complex128, &[Complex::new(1.5_f64, -2.0)]);
    check(DataType::DateTime64(TimeUnit::new(Unit::Day)), &[-1_i64]);
    check(DataType::TimeDelta64(TimeUnit::new(Unit::Day)), &[i64::MIN]);
    check(DataType::RawBits(3), &[[1_u8, 2, 3], [4, 5, 6]]);
    check(DataType::RawBytes { len: 1 }, &[[1_u8], [2]]);
    check(DataType::FixedBytes { len: 2 }, &[*b"ab"]);
}

#[test]
fn types_take_the_data_type_that_they_stand_for() {
    fn stands_for<T: Element>(data_type: DataType) {
        assert_eq!(T::default_data_type().unwrap(), data_type);
        T::check(&data_type).unwrap();
    }
    stands_for::<bool>(DataType::Bool);
    stands_for::<i8>(DataType::Int8);
    stands_for::<u8>(DataType::UInt8);
    stands_for::<i64>(DataType::Int64);
    stands_for::<bf16>(DataType::BFloat16);
    stands_for::<f64>(DataType::Float64);
    stands_for::<Complex<f32>>(DataType::Complex64);
    stands_for::<[u8; 3]>(DataType::RawBytes { len: 3 });
    stands_for::<String>(DataType::String);
    stands_for::<Vec<u8>>(DataType::Bytes { name: BytesName::Bytes });
    stands_for::<Vec<i16>>(DataType::VlenArray(Box::new(DataType::Int16)));
    stands_for::<zarr_json::Value>(DataType::Object);
    assert_eq!(
        <[u8; 0]>::default_data_type().unwrap_err().to_string(),
        "the Rust type [u8; 0] does not say of which data type elements are"
    );
}

#[test]
fn types_that_do_not_fit_are_named() {
    let date = DataType::DateTime64(TimeUnit::new(Unit::Day));
    assert_eq!(
        f64::check(&DataType::Float32).unwrap_err().to_string(),
        "elements of data type float32 do not fit the Rust type f64"
    );
    assert_eq!(
        Complex::<f32>::check(&date).unwrap_err().to_string(),
        "elements of data type {\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"D\",\"scale_factor\":1}} \
         do not fit the Rust type Complex<f32>"
    );
    assert!(<[u8; 3]>::check(&DataType::RawBits(4)).is_err());
    assert!(<[u8; 0]>::check(&DataType::RawBits(0)).is_err());
    assert!(u64::check(&date).is_err());
    assert!(u8::check(&DataType::Bool).is_err());
}

#[test]
fn invalid_elements_are_errors() {
    let heap = Heap::new();
    let text = |error: Error| error.to_string();
    assert_eq!(
        bool::from_items(&DataType::Bool, &[0, 3], &heap).map_err(text),
        Err("element 1: found byte 0x03, expected a bool: 0x00 or 0x01".to_owned())
    );
    assert_eq!(
        i8::to_items(&DataType::Int4, &[7, 8], &heap).map_err(text),
        Err("element 1: found byte 0x08, expected an int4: -8 to 7".to_owned())
    );
    assert_eq!(
        String::from_items(&DataType::FixedBytes { len: 2 }, b"aba\xff", &heap).map_err(text),
        Err("element 1: found byte 0xff, expected UTF-8".to_owned())
    );
    assert_eq!(
        String::from_items(&DataType::FixedUtf32 { len: 1 }, &0xd800_u32.to_ne_bytes(), &heap).map_err(text),
        Err("element 0: found 0xd800, expected a Unicode code point".to_owned())
    );
    assert_eq!(
        String::to_items(&DataType::FixedUtf32 { len: 1 }, &["ab".to_owned()], &heap).map_err(text),
        Err("element 0: found 2 code points, expected at most 1".to_owned())
    );
    assert_eq!(
        Vec::<u8>::to_items(&DataType::RawBits(2), &[vec![1]], &heap).map_err(text),
        Err("element 0: found 1 bytes, expected 2".to_owned())
    );
    assert_eq!(
        Vec::<u8>::from_items(&BYTES, &HeapRef { block: 1, len: 1, offset: 2 }.to_bytes(), &heap).map_err(text),
        Err("element 0: found HeapRef { block: 1, len: 1, offset: 2 }, expected a part of the heap".to_owned())
    );
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    assert!(matches!(f64::zeroed_vec(usize::MAX / 16), Err(Error::Memory { .. })));
    assert!(matches!(String::zeroed_vec(usize::MAX / 8), Err(Error::Memory { .. })));
}

proptest! {
    #[test]
    fn texts_come_back(texts: Vec<String>) {
        check(DataType::String, &texts);
        // NULs at the end of a fixed text do not count, so there are none.
        let texts: Vec<String> = texts.iter().map(|text| text.trim_end_matches('\0').to_owned()).collect();
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let len = u32::try_from(longest).unwrap() + 1;
        check(DataType::FixedUtf32 { len }, &texts);
        check(DataType::FixedBytes { len: len + 1 }, &texts);
    }

    #[test]
    fn byte_strings_come_back(strings: Vec<Vec<u8>>, fixed: Vec<[u8; 4]>) {
        check(BYTES, &strings);
        check(DataType::RawBits(4), &fixed.iter().map(|bytes| bytes.to_vec()).collect::<Vec<_>>());
        check(DataType::RawBytes { len: 4 }, &fixed);
    }
}
