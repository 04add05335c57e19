//! Reduction of blocks of elements to one element each, by which coarser levels of an array are computed.
//!
//! A [`Reducer`] is made for a data type and a [`Method`], and reduces [`Elements`] in memory into a box of others, along each axis by a
//! factor. It reads and writes no array: boxes larger than memory are reduced part by part, each into its place of the coarser box.
//!
//! ```
//! use zarr_dtype::DataType;
//! use zarr_reduce::{Elements, Method, Place, Reducer};
//!
//! let mut reducer = Reducer::new(&DataType::UInt8, Method::Mean, None)?;
//! let (mut fine, mut coarse) = (Elements::default(), Elements::default());
//! fine.resize(6)?;
//! coarse.resize(2)?;
//! fine.bytes_mut().copy_from_slice(&[1, 2, 9, 4, 5, 10]);
//! // Two rows of three elements become one of two: the last block has one column.
//! reducer.reduce(&fine, &[2, 3], &[2, 2], &mut Place { elements: &mut coarse, shape: &[1, 2], origin: &[0, 0] });
//! assert_eq!(coarse.bytes(), [3, 10]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocks;
mod elements;
mod method;
mod reducer;
mod rows;
mod unfit;

pub use elements::{Elements, NoRoom};
pub use method::Method;
pub use reducer::{MOST_ELEMENTS, Place, Reducer};
pub use unfit::Unfit;
