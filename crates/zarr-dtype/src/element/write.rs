//! Rust types that elements are written from but cannot be read into: borrowed ones.

use super::Element;
use super::text::{byte_strings_to_items, texts_to_items};
use crate::{DataType, Error, Heap};

/// Rust type that elements of arrays are written from: every [`Element`], `&str` in place of `String`, and `&[u8]` in place of `Vec<u8>`.
///
/// ```
/// # use zarr_dtype::{DataType, Element, Heap, WriteElement};
/// let heap = Heap::new();
/// let items = <&str>::make_items(&DataType::String, &["one", "two"], &heap)?;
/// assert_eq!(String::from_items(&DataType::String, &items, &heap)?, ["one", "two"]);
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of elements to be written",
    note = "numbers, bool, String, &str, Vec<u8> and others are: see the table of `Element`",
    note = "a struct of fields of fixed size becomes one by `#[derive(Clone, zarr::Element)]`"
)]
pub trait WriteElement: Sized + Clone + Send + Sync {
    /// Returns `elements` as items in memory form if the type has the same representation in memory, see [`Element::as_bytes`]. `None` by
    /// default.
    fn borrow_items(elements: &[Self]) -> Option<&[u8]> {
        let _ = elements;
        None
    }

    /// Returns the data type of new arrays with such values, see [`Element::default_data_type`].
    ///
    /// # Errors
    /// [`Error::NoDataType`] for a type without a data type of its own.
    fn written_data_type() -> Result<DataType, Error>;

    /// Checks that values of this type can be elements of `data_type`.
    ///
    /// # Errors
    /// [`Error::Mismatch`] with both names.
    fn check_written(data_type: &DataType) -> Result<(), Error>;

    /// Converts values to elements of `data_type` in memory form, see [`Element::to_items`].
    ///
    /// # Errors
    /// The same errors as [`Element::to_items`].
    fn make_items(data_type: &DataType, elements: &[Self], heap: &Heap) -> Result<Vec<u8>, Error>;
}

impl<T: Element> WriteElement for T {
    fn borrow_items(elements: &[Self]) -> Option<&[u8]> {
        T::as_bytes(elements)
    }

    fn written_data_type() -> Result<DataType, Error> {
        T::default_data_type()
    }

    fn check_written(data_type: &DataType) -> Result<(), Error> {
        data_type.as_taken_by::<T>().map(drop)
    }

    fn make_items(data_type: &DataType, elements: &[Self], heap: &Heap) -> Result<Vec<u8>, Error> {
        T::to_items(data_type.as_taken_by::<T>()?, elements, heap)
    }
}

impl WriteElement for &str {
    fn written_data_type() -> Result<DataType, Error> {
        String::default_data_type()
    }

    fn check_written(data_type: &DataType) -> Result<(), Error> {
        String::check_written(data_type)
    }

    fn make_items(data_type: &DataType, elements: &[Self], heap: &Heap) -> Result<Vec<u8>, Error> {
        texts_to_items(data_type.as_taken_by::<String>()?, elements, heap)
    }
}

impl WriteElement for &[u8] {
    fn written_data_type() -> Result<DataType, Error> {
        Vec::<u8>::default_data_type()
    }

    fn check_written(data_type: &DataType) -> Result<(), Error> {
        Vec::<u8>::check_written(data_type)
    }

    fn make_items(data_type: &DataType, elements: &[Self], heap: &Heap) -> Result<Vec<u8>, Error> {
        byte_strings_to_items(data_type.as_taken_by::<Vec<u8>>()?, elements, heap)
    }
}
