//! Zarr data types: names, memory layouts, fill values and Rust element types.
//!
//! The crate does no I/O, and knows neither codecs nor arrays. It handles single elements, or contiguous elements in memory.
//!
//! An *element* is one value of an array. An *item* is an element in memory form: [`DataType::item_size`] bytes (`itemsize` of numpy), or
//! for elements of variable length a [`HeapRef`] to the content. A list (`vlen-array`), and a field of a struct that is an array, have
//! *inner elements*.
//!
//! ```
//! use zarr_dtype::{DataType, Element, Heap};
//!
//! let heap = Heap::new();
//! let words = ["one".to_owned(), "two".to_owned()];
//! let items = String::to_items(&DataType::String, &words, &heap)?;
//! assert_eq!(String::from_items(&DataType::String, &items, &heap)?, words);
//! assert!(i64::accepts(&DataType::Int64) && !i64::accepts(&DataType::Float64));
//! # Ok::<(), zarr_dtype::Error>(())
//! ```

mod cast;
mod data_type;
mod data_type_serde;
mod element;
mod element_bytes;
mod error;
mod extension;
mod fill;
pub mod float;
mod heap;
mod layout;
mod name;
mod npy;
mod numpy;
mod order;
mod parse;
pub mod print;
mod small_float;
mod structure;
mod time;

pub use cast::{Cast, CastElement, cast_items};
pub use data_type::{BytesName, Class, DataType};
pub use data_type_serde::TypedFillValue;
#[doc(hidden)]
pub use element::derive;
pub use element::{Element, FieldElement, FieldValue, Offsets, StructElement, StructField, WriteElement};
pub use error::{Error, ErrorKind};
pub use extension::{BuildDataType, DataTypeEntry, DataTypes, Extension, ExtensionType};
pub use fill::FillValue;
pub use heap::{Heap, HeapRef};
/// Version of the crate `jiff` whose points in time and durations are elements.
#[cfg(feature = "jiff")]
pub use jiff;
pub use layout::{FieldLayout, Layout, Scalar};
/// Version of the crate `microfloat` whose floats of 8, 6 and 4 bits are elements.
#[cfg(feature = "microfloat")]
pub use microfloat;
pub use npy::{from_npy_descr, from_npy_value, npy_descr, npy_literal};
pub use numpy::{NumpyField, NumpyType, NumpyTypeError};
pub use order::{ByteOrder, SwapRun};
pub use parse::Spelling;
pub use small_float::SmallFloat;
pub use structure::{Field, StructType};
pub use time::{TimeUnit, Unit};
