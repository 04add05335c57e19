//! Zarr codec `reshape`: another shape for the same elements, which stay in C order.
//!
//! Its `shape` has an entry for each encoded axis: a length, a list of axes whose lengths are multiplied, or -1, once, for
//! what is left over. Chunks must have as many elements as that shape, and axes in lists must be where they were among all
//! elements, so that nothing looks like a transpose.
//!
//! Moves no element: a decoded chunk is the encoded one with other axes.
//!
//! ```
//! use zarr_codec::testing;
//!
//! let codec = testing::array_to_array(
//!     &zarr_codec_reshape::RESHAPE,
//!     r#"{"shape": [[0, 1], [2], 3]}"#,
//!     &testing::element("uint8"),
//! );
//! assert_eq!(codec.encoded_shape(&[100, 50, 64, 3])?.as_slice(), [5000, 64, 3]);
//! assert!(codec.encoded_shape(&[100, 50, 64, 4]).is_err());
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/reshape>
#![warn(clippy::indexing_slicing)]

mod codec;

pub use codec::{CODECS, RESHAPE};

#[cfg(test)]
mod tests;
