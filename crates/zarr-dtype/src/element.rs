//! Rust types that are elements of arrays.

#[cfg(feature = "jiff")]
mod dates;
pub mod derive;
mod field;
mod list;
#[cfg(feature = "microfloat")]
mod narrow;
mod object;
mod plain;
mod structure;
mod text;
mod write;

pub use field::{FieldValue, Offsets};
pub use structure::{FieldElement, StructElement, StructField};
pub use write::WriteElement;

/// Runs the macro `$with` on the Rust types of numbers but `u8`, each with the data type that it is made for and others that it
/// takes.
macro_rules! numbers {
    ($with:ident) => {
        $with! {
            i8 = Int8 or DataType::Int4 | DataType::Int2,
            i16 = Int16,
            i32 = Int32,
            i64 = Int64 or DataType::DateTime64(_) | DataType::TimeDelta64(_),
            u16 = UInt16,
            u32 = UInt32,
            u64 = UInt64,
            f16 = Float16,
            bf16 = BFloat16,
            f32 = Float32,
            f64 = Float64,
            Complex<f16> = ComplexFloat16,
            Complex<bf16> = ComplexBFloat16,
            Complex<f32> = Complex64,
            Complex<f64> = Complex128,
        }
    };
}
use numbers;

/// As [`numbers`], of the floats of 8 bits, or with `narrow` of narrower ones.
#[cfg(feature = "microfloat")]
macro_rules! small_floats {
    ($with:ident) => {
        $crate::element::small_floats! { $with:
            f8e3m4 = Float8E3M4,
            f8e4m3 = Float8E4M3,
            f8e4m3b11fnuz = Float8E4M3B11Fnuz,
            f8e4m3fn = Float8E4M3Fn,
            f8e4m3fnuz = Float8E4M3Fnuz,
            f8e5m2 = Float8E5M2,
            f8e5m2fnuz = Float8E5M2Fnuz,
            f8e8m0fnu = Float8E8M0Fnu,
        }
    };
    (narrow $with:ident) => {
        $crate::element::small_floats! { $with:
            f4e2m1fn = Float4E2M1Fn,
            f6e2m3fn = Float6E2M3Fn,
            f6e3m2fn = Float6E3M2Fn,
        }
    };
    ($with:ident: $($rust:ident = $format:ident,)*) => {
        $with! { $(
            microfloat::$rust = SmallFloat(crate::SmallFloat::$format),
            Complex<microfloat::$rust> = SmallComplex(crate::SmallFloat::$format),
        )* }
    };
}
#[cfg(feature = "microfloat")]
use small_floats;

use crate::layout::to_usize;
use crate::{DataType, Error, Heap};

/// A Rust type that elements of arrays are read into and written from.
///
/// An element is a value of the type; an *item* is the element in memory form, of
/// [`item_size`](DataType::item_size) bytes.
///
/// Types that lie in a Rust vector just as they lie in memory (numbers, complex numbers, `[u8; N]`) are read straight into
/// [`as_bytes_mut`](Self::as_bytes_mut) of the vector. A `bool`, which has two values, goes by
/// [`from_item_vec`](Self::from_item_vec), and all others, texts among them, by [`from_items`](Self::from_items).
///
/// | Rust | data types |
/// |---|---|
/// | `bool` | bool |
/// | `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64` | int8, int16...; `i8` also int2 and int4, `u8` uint2 and uint4; `i64` also dates and lengths of time |
/// | `half::f16`, `half::bf16`, `f32`, `f64` | float16, bfloat16, float32, float64 |
/// | `Complex` of one of these | complex_float16, complex_bfloat16, complex64, complex128 |
/// | `[u8; N]` | `r*`, `raw_bytes` and `null_terminated_bytes` of N bytes; floats of 8 bits and less as one byte, which [`SmallFloat`](crate::SmallFloat) tells the value of, and complex numbers of them as two |
/// | `String` | string, `fixed_length_utf32`, `null_terminated_bytes` that is UTF-8 |
/// | `Vec<u8>` | bytes, `r*`, `raw_bytes`, `null_terminated_bytes`, `vlen-array` of uint8 |
/// | `Vec` of another number | `vlen-array` of a type whose elements that number takes |
/// | [`json::Value`](zarr_json::Value) | `v2_object` |
/// | with the feature `microfloat`: `microfloat::f8e4m3fn` and the others of that crate, and `Complex` of one of them | float8_e4m3fn and the others of ml_dtypes, complex_float8_e4m3fn... |
/// | with the feature `jiff`: `Timestamp`, `civil::DateTime`, `civil::Date`, and `Option` of them, which has `None` for NaT | `numpy.datetime64` with a unit |
/// | with the feature `jiff`: `SignedDuration`, and `Option` of it | `numpy.timedelta64` with a unit but years and months |
/// | a struct with `#[derive(zarr::Element)]`, a [`StructElement`] | struct |
///
/// All of them also take an [extension](DataType::Extension) that is stored as such a data type, and give the stored
/// values. A type for the values of the extension implements this trait: it accepts the data type by its name and
/// converts elements of its [`storage`](DataType::storage).
///
/// ```
/// # use zarr_dtype::{DataType, Element, Heap};
/// let heap = Heap::new();
/// let words = ["one".to_owned(), "two".to_owned()];
/// let items = String::to_items(&DataType::String, &words, &heap)?;
/// assert_eq!(String::from_items(&DataType::String, &items, &heap)?, words);
///
/// let mut numbers = f32::zeroed_vec(2)?;
/// f32::as_bytes_mut(&mut numbers).expect("floats are plain")[..4].copy_from_slice(&1.5_f32.to_ne_bytes());
/// assert_eq!(numbers, [1.5, 0.0]);
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
///
/// Points in time of the crate jiff are instants in UTC. A count that such a type has no value for, as it has parts of nanoseconds,
/// is in the year 10000, or not a time, and a value that is no count of the unit, is [`Error::Item`]:
#[cfg_attr(feature = "jiff", doc = "```")]
#[cfg_attr(not(feature = "jiff"), doc = "```ignore")]
/// # use zarr_dtype::{DataType, Element, Heap, TimeUnit, Unit};
/// use jiff::civil::{Date, date};
///
/// let (data_type, heap) = (DataType::DateTime64(TimeUnit::new(Unit::Month)), Heap::new());
/// let items = Option::to_items(&data_type, &[Some(date(1970, 3, 1)), None], &heap)?;
/// assert_eq!(i64::from_items(&data_type, &items, &heap)?, [2, i64::MIN]);
/// assert_eq!(<Option<Date>>::from_items(&data_type, &items, &heap)?, [Some(date(1970, 3, 1)), None]);
/// let error = Date::to_items(&data_type, &[date(1970, 3, 2)], &heap).expect_err("not the first of a month");
/// assert_eq!(error.to_string(), "element 0: found 1970-03-02, expected a multiple of 1 M that has 64 bits");
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of elements",
    note = "numbers, bool, String, Vec<u8> and others are: see the table of `Element`",
    note = "a struct of fields of fixed size becomes one by `#[derive(Clone, zarr::Element)]`"
)]
pub trait Element: Sized + Clone + Send + Sync + 'static {
    /// The type's name in messages.
    fn name() -> String;

    /// Whether elements of `data_type` are values of this type.
    fn accepts(data_type: &DataType) -> bool;

    /// Checks that elements of `data_type` are values of this type.
    ///
    /// # Errors
    /// [`Error::Mismatch`] with both names.
    fn check(data_type: &DataType) -> Result<(), Error> {
        if Self::accepts(data_type) { Ok(()) } else { Err(mismatch::<Self>(data_type)) }
    }

    /// The data type that arrays of this type are created with.
    ///
    /// ```
    /// # use zarr_dtype::{DataType, Element};
    /// assert_eq!(f32::default_data_type()?, DataType::Float32);
    /// assert_eq!(String::default_data_type()?, DataType::String);
    /// # Ok::<(), zarr_dtype::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoDataType`] for a type that stands for no data type of its own, as by default; for a struct the errors
    /// of [`StructType::new`](crate::StructType::new).
    fn default_data_type() -> Result<DataType, Error> {
        Err(Error::NoDataType { element: Self::name() })
    }

    /// A vector of `len` zeros, false, or empty texts. Where the system provides zeroed memory it is not touched.
    ///
    /// # Errors
    /// [`Error::Memory`].
    fn zeroed_vec(len: usize) -> Result<Vec<Self>, Error>;

    /// The memory of elements to be filled with items; `None`, as by default, if not all bit patterns are values of the type.
    /// Whether there is memory is the same for all elements of the type.
    fn as_bytes_mut(elements: &mut [Self]) -> Option<&mut [u8]> {
        let _ = elements;
        None
    }

    /// The elements as items in memory form; `None`, as by default, if they do not lie in memory like that.
    /// The answer is the same for all elements of the type: if it is bytes, they are all of the memory of the elements.
    fn as_bytes(elements: &[Self]) -> Option<&[u8]> {
        let _ = elements;
        None
    }

    /// The values of `items`, which are elements of `data_type` in memory form, with the content of elements of
    /// variable length in `heap`.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the type does not accept the data type, [`Error::Size`] for part of an element,
    /// [`Error::Item`] for an element that is no value of the type, [`Error::Memory`].
    fn from_items(data_type: &DataType, items: &[u8], heap: &Heap) -> Result<Vec<Self>, Error>;

    /// As [`from_items`](Self::from_items), of items that lie in a vector and have no parts in a heap. A type of one byte takes its
    /// memory over.
    ///
    /// # Errors
    /// As [`from_items`](Self::from_items).
    fn from_item_vec(data_type: &DataType, items: Vec<u8>) -> Result<Vec<Self>, Error> {
        Self::from_items(data_type, &items, &Heap::new())
    }

    /// The elements of `data_type` in memory form; the content of elements of variable length is put into `heap` as one
    /// block.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the type does not accept the data type, [`Error::Item`] for a value that is not of the data
    /// type, such as a text that is too long, [`Error::Memory`].
    fn to_items(data_type: &DataType, elements: &[Self], heap: &Heap) -> Result<Vec<u8>, Error>;
}

/// The error about a data type whose elements are no values of the type.
fn mismatch<T: Element>(data_type: &DataType) -> Error {
    Error::Mismatch { element: T::name(), data_type: data_type.to_string() }
}

/// How many elements `items` are.
fn count(data_type: &DataType, items: &[u8]) -> Result<usize, Error> {
    let item_size = data_type.item_size();
    match items.len().checked_rem(item_size) {
        Some(0) => Ok(items.len() / item_size),
        _ => Err(Error::Size { found: items.len(), item_size }),
    }
}

/// An empty vector with room for `len` of `item_size` bytes each.
fn with_room<T>(len: usize, item_size: usize) -> Result<Vec<T>, Error> {
    let mut vec = Vec::new();
    let room = len.checked_mul(item_size).map(|size| size.div_ceil(size_of::<T>().max(1)));
    room.and_then(|room| vec.try_reserve_exact(room).ok()).ok_or(Error::Memory { len, item_size })?;
    Ok(vec)
}

/// Whether elements are bytes without a Rust type of their own, `len` of them each.
fn has_size(data_type: &DataType, len: usize) -> bool {
    match *data_type {
        DataType::RawBits(size) | DataType::FixedBytes { len: size } | DataType::RawBytes { len: size } => {
            to_usize(size) == len
        }
        DataType::SmallFloat(_) => len == 1,
        DataType::SmallComplex(_) => len == 2,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BytesName, HeapRef, SmallFloat, TimeUnit, Unit};
    use half::{bf16, f16};
    use num_complex::Complex;
    use proptest::prelude::*;
    use std::fmt::Debug;

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
}
