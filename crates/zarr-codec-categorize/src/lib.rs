//! Zarr codec `categorize`: strings as numbers of labels.
//!
//! | codec | Zarr v3 | Zarr v2 | data type |
//! |---|---|---|---|
//! | [`CATEGORIZE`] | `numcodecs.categorize` | `categorize` | `string`, `fixed_length_utf32` |
//!
//! `labels` is the list of strings there are and `astype` numpy's type of their numbers, by default one byte, unsigned; `dtype`, the type
//! of the strings, is that of the array. A chunk is one number for each element: 0 for the empty string where that is no label, n for label
//! n counted from 1.
//!
//! A number without a label is an error, and so is, unlike in numcodecs, the attempt to write a string that is none of them: nothing is
//! lost silently.
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
