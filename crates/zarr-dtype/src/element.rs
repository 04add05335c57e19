//! Rust types of the elements of arrays.

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

/// Runs the macro `$with` on the Rust types of numbers except `u8`, each with its default data type and further data types that it accepts.
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

/// Runs the macro `$with` on the Rust types of floats of 8 bits, or with `narrow` on those of fewer bits, each with its data type.
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

/// Rust type that elements of arrays are read into and written from.
///
/// An element is a value of the Rust type; an *item* is the element in memory form, of [`item_size`](DataType::item_size) bytes.
///
/// Types whose values in a Rust vector equal the items (numbers, complex numbers, `[u8; N]`) are read straight into the memory of the
/// vector, [`as_bytes_mut`](Self::as_bytes_mut). A `bool`, which has only two valid bytes, is read by
/// [`from_item_vec`](Self::from_item_vec), and all other types, such as strings, by [`from_items`](Self::from_items).
///
/// | Rust | data types |
/// |---|---|
/// | `bool` | bool |
/// | `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64` | int8, int16... |
/// | `i8` | also int2 and int4 |
/// | `u8` | also uint2 and uint4 |
/// | `i64` | also dates and lengths of time |
/// | `half::f16`, `half::bf16`, `f32`, `f64` | float16, bfloat16, float32, float64 |
/// | `Complex` of one of these floats | complex_float16, complex_bfloat16, complex64, complex128 |
/// | `[u8; N]` | `r*`, `raw_bytes` and `null_terminated_bytes` of N bytes |
/// | `[u8; 1]` | also floats of 8 bits and less, whose values [`SmallFloat`](crate::SmallFloat) gives |
/// | `[u8; 2]` | also complex numbers of floats of 8 bits and less |
/// | `String` | string, `fixed_length_utf32`, `null_terminated_bytes` that is UTF-8 |
/// | `Vec<u8>` | bytes, `r*`, `raw_bytes`, `null_terminated_bytes`, `vlen-array` of uint8 |
/// | `Vec` of a number other than `u8` | `vlen-array` of a type whose elements that number accepts |
/// | [`json::Value`](zarr_json::Value) | `v2_object` |
/// | with the feature `microfloat`: `microfloat::f8e4m3fn` and the other types of that crate | float8_e4m3fn and the other types of ml_dtypes |
/// | with the feature `microfloat`: `Complex` of one of these types | complex_float8_e4m3fn... |
/// | with the feature `jiff`: `Timestamp`, `civil::DateTime`, `civil::Date` | `numpy.datetime64` with a unit |
/// | with the feature `jiff`: `Option` of one of these types, with `None` for NaT | `numpy.datetime64` with a unit |
/// | with the feature `jiff`: `SignedDuration`, `Option<SignedDuration>` | `numpy.timedelta64` with a unit other than years and months |
/// | a struct with `#[derive(zarr::Element)]`, a [`StructElement`] | struct |
///
/// Each type also accepts an [extension](DataType::Extension) that is stored as such a data type, and gives the stored values. A Rust type
/// for the values of an extension implements this trait: it accepts the data type by name and converts elements of its
/// [`storage`](DataType::storage).
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
/// Points in time of the crate jiff are instants in UTC. Conversions fail with [`Error::Item`] for a count that the jiff type cannot
/// represent (parts of nanoseconds, the year 10000, not a time), and for a jiff value that is no whole count of the unit:
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
    /// Returns the name of the Rust type for messages.
    fn name() -> String;

    /// Returns whether elements of `data_type` are values of this type.
    fn accepts(data_type: &DataType) -> bool;

    /// Checks that this type accepts elements of `data_type`.
    ///
    /// # Errors
    /// [`Error::Mismatch`] with both names.
    fn check(data_type: &DataType) -> Result<(), Error> {
        if Self::accepts(data_type) { Ok(()) } else { Err(mismatch::<Self>(data_type)) }
    }

    /// Returns the data type of new arrays with elements of this type.
    ///
    /// ```
    /// # use zarr_dtype::{DataType, Element};
    /// assert_eq!(f32::default_data_type()?, DataType::Float32);
    /// assert_eq!(String::default_data_type()?, DataType::String);
    /// # Ok::<(), zarr_dtype::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoDataType`] for a type without a data type of its own (the default); for a struct the errors of
    /// [`StructType::new`](crate::StructType::new).
    fn default_data_type() -> Result<DataType, Error> {
        Err(Error::NoDataType { element: Self::name() })
    }

    /// Returns a vector of `len` elements that are zero, false or empty. If the system provides zeroed memory, the memory is not touched.
    ///
    /// # Errors
    /// [`Error::Memory`].
    fn zeroed_vec(len: usize) -> Result<Vec<Self>, Error>;

    /// Returns the memory of `elements`, to be filled with items; `None` (the default) if not all bit patterns are values of the type. For
    /// one type the result is `Some` for all elements or for none.
    fn as_bytes_mut(elements: &mut [Self]) -> Option<&mut [u8]> {
        let _ = elements;
        None
    }

    /// Returns `elements` as items in memory form; `None` (the default) if the type has another representation in memory. For one type the
    /// result is `Some` for all elements or for none. If `Some`, it is the whole memory of the elements.
    fn as_bytes(elements: &[Self]) -> Option<&[u8]> {
        let _ = elements;
        None
    }

    /// Converts `items`, which are elements of `data_type` in memory form, to values. `heap` has the content of elements of variable
    /// length.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the type does not accept the data type, [`Error::Size`] for part of an element,
    /// [`Error::Item`] for an element that is no value of the type, [`Error::Memory`].
    fn from_items(data_type: &DataType, items: &[u8], heap: &Heap) -> Result<Vec<Self>, Error>;

    /// Converts `items` to values, as [`from_items`](Self::from_items) does, for items without content in a heap. A Rust type of one byte
    /// reuses the memory of the vector.
    ///
    /// # Errors
    /// The same errors as [`from_items`](Self::from_items).
    fn from_item_vec(data_type: &DataType, items: Vec<u8>) -> Result<Vec<Self>, Error> {
        Self::from_items(data_type, &items, &Heap::new())
    }

    /// Converts values to elements of `data_type` in memory form. The content of elements of variable length is added to `heap` as one
    /// block.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the type does not accept the data type, [`Error::Item`] for a value that the data type cannot represent, such
    /// as a string that is too long, [`Error::Memory`].
    fn to_items(data_type: &DataType, elements: &[Self], heap: &Heap) -> Result<Vec<u8>, Error>;
}

/// Returns the error for a data type that the Rust type `T` does not accept.
fn mismatch<T: Element>(data_type: &DataType) -> Error {
    Error::Mismatch { element: T::name(), data_type: data_type.to_string() }
}

/// Returns the number of elements in `items`.
fn count(data_type: &DataType, items: &[u8]) -> Result<usize, Error> {
    let item_size = data_type.item_size();
    match items.len().checked_rem(item_size) {
        Some(0) => Ok(items.len() / item_size),
        _ => Err(Error::Size { found: items.len(), item_size }),
    }
}

/// Returns an empty vector with capacity for `len` values of `item_size` bytes each.
fn with_room<T>(len: usize, item_size: usize) -> Result<Vec<T>, Error> {
    let mut vec = Vec::new();
    let room = len.checked_mul(item_size).map(|size| size.div_ceil(size_of::<T>().max(1)));
    room.and_then(|room| vec.try_reserve_exact(room).ok()).ok_or(Error::Memory { len, item_size })?;
    Ok(vec)
}

/// Returns whether elements are `len` bytes each, of a data type without a Rust type of its own.
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
