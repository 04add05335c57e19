//! Zarr codec `categorize`: strings as numbers of labels.
//!
//! | codec | Zarr v3 | Zarr v2 | data type |
//! |---|---|---|---|
//! | [`CATEGORIZE`] | `numcodecs.categorize` | `categorize` | `string`, `fixed_length_utf32` |
//!
//! `labels` is the list of strings, and `astype` numpy's type of their numbers, by default an unsigned byte; `dtype`, the type of the
//! strings, is the type of the array. A chunk is one number for each element: n for label n, counted from 1, or 0 for the empty string
//! unless it is a label.
//!
//! A number without a label is an error. Unlike in numcodecs, writing a string that is no label is also an error, so that nothing is lost
//! silently.
//!
//! ```
//! use zarr_codec::{Chain, DataType};
//! use zarr_codec_categorize::Categorize;
//!
//! let codec = Chain::new(&DataType::String, &[3]).then(Categorize::labels(["red", "blue"])).build()?;
//! let texts = ["blue", "", "red"].map(str::to_owned);
//! assert_eq!(codec.encode_elements(&texts)?, [2, 0, 1]);
//! assert_eq!(codec.decode_elements::<String>(&[2, 0, 1])?, texts);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://numcodecs.readthedocs.io/en/stable/filter/categorize.html>
#![warn(clippy::indexing_slicing)]

mod codec;

pub use codec::{CATEGORIZE, CODECS, Categorize};

#[cfg(test)]
mod tests;
