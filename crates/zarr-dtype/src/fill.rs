//! Fill values of arrays.

use crate::element_bytes::check_bytes;
use crate::heap::content;
use crate::{DataType, Error, Heap, HeapRef, Spelling, parse, print};
use std::borrow::Cow;
use std::fmt;
use zarr_json::Value;

/// Value of elements that were never written: one element in memory form, or the content of an element of variable length.
///
/// Fill values are compared by bits: two NaNs with different bits differ, and so do 0.0 and -0.0.
///
/// ```
/// # use zarr_dtype::{DataType, FillValue};
/// # use zarr_json::json;
/// let fill = FillValue::parse(&DataType::Float32, &json!("0x7fc00001"))?;
/// assert_eq!(fill.item(), Some(&0x7fc0_0001_u32.to_ne_bytes()[..]));
/// assert_eq!(fill.to_json(&DataType::Float32), json!("0x7fc00001"));
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FillValue(Repr);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Repr {
    Fixed(Box<[u8]>),
    Variable(Box<[u8]>),
}

impl FillValue {
    /// Parses the fill value of a Zarr v3 document for arrays of `data_type`.
    ///
    /// Numbers are rounded to the nearest float; beyond the largest float they become infinity if the type has it.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `value` is no fill value of the type, with the JSON pointer relative to the fill value.
    pub fn parse(data_type: &DataType, value: &Value) -> Result<Self, Error> {
        Self::parse_as(data_type, value, Spelling::Strict)
    }

    /// Parses the fill value of a document, with the strictness given by `spelling`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `value` is no fill value of the type, with the JSON pointer relative to the fill value.
    pub fn parse_as(data_type: &DataType, value: &Value, spelling: Spelling) -> Result<Self, Error> {
        parse::element(data_type, value, spelling).map(|bytes| Self::new(data_type, bytes))
    }

    /// Creates the fill value from the `bytes` of its element: in memory form, or the content of an element of variable length.
    ///
    /// # Errors
    /// [`Error::Size`] if `bytes` is not exactly one element, [`Error::Item`] if it is no value of the type.
    pub fn from_bytes(data_type: &DataType, bytes: &[u8]) -> Result<Self, Error> {
        check_bytes(data_type, bytes)?;
        Ok(Self::new(data_type.storage(), bytes.to_vec()))
    }

    /// Returns the zero of the type (zero, false, empty string..): the element whose bytes are all 0, or whose content is empty.
    pub fn zero(data_type: &DataType) -> Self {
        let size = if data_type.is_variable() { 0 } else { data_type.item_size() };
        Self::new(data_type, vec![0; size])
    }

    fn new(data_type: &DataType, bytes: Vec<u8>) -> Self {
        let bytes = bytes.into_boxed_slice();
        Self(if data_type.is_variable() { Repr::Variable(bytes) } else { Repr::Fixed(bytes) })
    }

    /// Returns the fill value in the notation of Zarr v3 documents; [`parse`](Self::parse) is the inverse.
    pub fn to_json(&self, data_type: &DataType) -> Value {
        match (&self.0, data_type) {
            (Repr::Fixed(bytes), _) => print::to_fill_json(data_type, bytes),
            (Repr::Variable(bytes), _) => print::bytes_to_json(data_type, bytes),
        }
    }

    /// Returns the fill value for printing: compact JSON in the notation of Zarr v3 documents.
    ///
    /// ```
    /// # use zarr_dtype::{DataType, FillValue};
    /// # use zarr_json::json;
    /// let fill = FillValue::parse(&DataType::Float32, &json!("NaN"))?;
    /// assert_eq!(format!("{} or {}", fill.display(&DataType::Float32), 1), "\"NaN\" or 1");
    /// # Ok::<(), zarr_dtype::Error>(())
    /// ```
    pub fn display(&self, data_type: &DataType) -> impl fmt::Display + use<> {
        self.to_json(data_type)
    }

    /// Returns the element in memory form; `None` for elements of variable length.
    pub fn item(&self) -> Option<&[u8]> {
        if let Repr::Fixed(bytes) = &self.0 { Some(bytes) } else { None }
    }

    /// Returns the element in memory form. The content of an element of variable length is added to `heap` first, as a separate block.
    pub fn item_in(&self, heap: &Heap) -> Cow<'_, [u8]> {
        match &self.0 {
            Repr::Fixed(bytes) => Cow::Borrowed(bytes),
            Repr::Variable(bytes) => {
                // The bytes come from a JSON text, whose strings are far below 4 GiB.
                let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                let block = heap.add(bytes.to_vec());
                Cow::Owned(HeapRef { block, len, offset: 0 }.to_bytes().to_vec())
            }
        }
    }

    /// Returns the bytes of the element in memory form, or the content of an element of variable length.
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Fixed(bytes) | Repr::Variable(bytes) => bytes,
        }
    }

    /// Returns whether all elements in `items` equal the fill value, bit by bit. The content of elements of variable length is in `heap`.
    /// An element whose content is missing, and an incomplete element at the end, are not equal.
    pub fn is_all_of(&self, items: &[u8], heap: Option<&Heap>) -> bool {
        match &self.0 {
            Repr::Fixed(fill) => {
                // All are equal if the first is the one and each equals the one before: a single comparison of memory.
                let before = items.len().checked_sub(fill.len()).and_then(|end| items.get(..end));
                items.is_empty()
                    || (items.len().checked_rem(fill.len()) == Some(0)
                        && items.starts_with(fill)
                        && items.get(fill.len()..) == before)
            }
            Repr::Variable(fill) => {
                let mut runs = items.chunks_exact(HeapRef::SIZE);
                runs.all(|item| content(item, heap).is_some_and(|bytes| bytes == &**fill))
                    && runs.remainder().is_empty()
            }
        }
    }
}
