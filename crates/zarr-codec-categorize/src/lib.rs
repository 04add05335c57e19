//! Zarr codec `categorize`: texts as numbers of labels.
//!
//! | codec | Zarr v3 | Zarr v2 | data type |
//! |---|---|---|---|
//! | [`CATEGORIZE`] | `numcodecs.categorize` | `categorize` | `string`, `fixed_length_utf32` |
//!
//! `labels` is the list of texts there are and `astype` numpy's type of their numbers, by default one byte, unsigned; `dtype`,
//! the type of the texts, is that of the array. A chunk is one number for each element: 0 for the empty text where that is
//! no label, n for label n counted from 1.
//!
//! A number without a label is an error, and so is, unlike in numcodecs, the attempt to write a text that is none of them:
//! nothing is lost silently.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_codec::{Codecs, View, testing};
//! use zarr_dtype::{DataType, Element, Heap};
//!
//! let mut codecs = Codecs::default();
//! codecs.add(zarr_codec_categorize::CATEGORIZE);
//! let json = r#"[{"name": "numcodecs.categorize", "configuration": {"labels": ["red", "blue"], "dtype": "|O"}}]"#;
//! let chain = testing::pipeline(json, &testing::element("string"), &codecs)?;
//!
//! let heap = Arc::new(Heap::new());
//! let items = Element::to_items(&DataType::String, &["blue", "", "red"].map(str::to_owned), &heap)?;
//! let mut encoded = Vec::new();
//! chain.encode(&View::new(&items, 16, &[3])?.with_heap(Some(heap)), &mut encoded)?;
//! assert_eq!(encoded, [2, 0, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! <https://numcodecs.readthedocs.io/en/stable/filter/categorize.html>
#![warn(clippy::indexing_slicing)]

mod codec;

pub use codec::{CATEGORIZE, CODECS};

#[cfg(test)]
mod tests;
