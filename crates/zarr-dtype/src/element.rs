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
/// [`from_item_vec`](Self::from_item_vec), and all others, strings among them, by [`from_items`](Self::from_items).
///
/// | Rust | data types |
/// |---|---|
/// | `bool` | bool |
/// | `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64` | int8, int16... |
/// | `i8` | also int2 and int4 |
/// | `u8` | also uint2 and uint4 |
/// | `i64` | also dates and lengths of time |
/// | `half::f16`, `half::bf16`, `f32`, `f64` | float16, bfloat16, float32, float64 |
/// | `Complex` of one of these | complex_float16, complex_bfloat16, complex64, complex128 |
/// | `[u8; N]` | `r*`, `raw_bytes` and `null_terminated_bytes` of N bytes |
/// | `[u8; 1]` | also floats of 8 bits and less, which [`SmallFloat`](crate::SmallFloat) tells the value of |
/// | `[u8; 2]` | also complex numbers of floats of 8 bits and less |
/// | `String` | string, `fixed_length_utf32`, `null_terminated_bytes` that is UTF-8 |
/// | `Vec<u8>` | bytes, `r*`, `raw_bytes`, `null_terminated_bytes`, `vlen-array` of uint8 |
/// | `Vec` of another number | `vlen-array` of a type whose elements that number takes |
/// | [`json::Value`](zarr_json::Value) | `v2_object` |
/// | with the feature `microfloat`: `microfloat::f8e4m3fn` and the others of that crate | float8_e4m3fn and the others of ml_dtypes |
/// | with the feature `microfloat`: `Complex` of one of them | complex_float8_e4m3fn... |
/// | with the feature `jiff`: `Timestamp`, `civil::DateTime`, `civil::Date` | `numpy.datetime64` with a unit |
/// | with the feature `jiff`: `Option` of one of them, which has `None` for NaT | `numpy.datetime64` with a unit |
/// | with the feature `jiff`: `SignedDuration`, and `Option` of it | `numpy.timedelta64` with a unit but years and months |
/// | a struct with `#[derive(zarr::Element)]`, a [`StructElement`] | struct |
///
/// Each type also takes an [extension](DataType::Extension) that is stored as such a data type, and gives the stored
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

    /// A vector of `len` zeros, false, or empty strings. Where the system provides zeroed memory it is not touched.
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
