//! Zarr data types: names, memory layouts, fill values and Rust element types.
//!
//! Does no I/O, and knows neither codecs nor arrays: one element at a time, or a run of them in memory.

mod data_type;
mod element;
mod error;
mod fill;
mod float;
mod heap;
mod layout;
mod name;
mod npy;
mod parse;
pub mod print;
mod small_float;
mod time;

pub use data_type::{BytesName, DataType};
pub use element::Element;
pub use error::{Error, ErrorKind};
pub use fill::FillValue;
pub use heap::{Heap, HeapRef};
pub use layout::{Layout, Scalar};
pub use npy::{ByteOrder, from_npy_descr, npy_descr};
pub use parse::Spelling;
pub use small_float::SmallFloat;
pub use time::{TimeUnit, Unit};
