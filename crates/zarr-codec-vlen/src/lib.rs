//! Zarr codecs `vlen-utf8`, `vlen-bytes` and `vlen-array`, with elements of variable length, each after its length; and `zarrs.vlen`, with
//! the lengths in a separate index.
//!
//! | codec | Zarr v3 | Zarr v2 | data type |
//! |---|---|---|---|
//! | [`VLEN_UTF8`] | `vlen-utf8`, `numcodecs.vlen-utf8` | `vlen-utf8` | `string` |
//! | [`VLEN_BYTES`] | `vlen-bytes`, `numcodecs.vlen-bytes` | `vlen-bytes` | `bytes`, `variable_length_bytes` |
//! | [`VLEN_ARRAY`] | `vlen-array`, `numcodecs.vlen-array` | `vlen-array` | `vlen-array` |
//! | [`ZARRS_VLEN_V2`] | `zarrs.vlen_v2` | | `string`, `bytes`, as `vlen-utf8` and `vlen-bytes` store them |
//! | [`ZARRS_VLEN`] | `zarrs.vlen` | | `string`, `bytes` |
//!
//! A chunk consists of the number of elements and then, in C order, the length of each element in bytes and its bytes; numbers have 32
//! bits, little-endian. `vlen-array` has the member `dtype`, the numpy type of the inner elements, as in `"<f8"`, which includes the byte
//! order; `vlen-utf8` and `vlen-bytes` have no configuration. The number of elements must be that of the chunk, no bytes may follow the
//! last element, and strings must be UTF-8.
//!
//! `zarrs.vlen` has an index of the offset of each element and of the end of the last one, numbers of type `index_data_type` (`uint32`,
//! `uint64`) that `index_codecs` encode, and the contents of all elements, one after another, which `data_codecs` encode as bytes. A chunk
//! consists of the number of bytes of the encoded index (64 bits, little-endian), the index and the elements, or, if `index_location` is
//! "end", the elements, the index and the number of bytes of the index.
//!
//! Elements are references into a [`Heap`](zarr_dtype::Heap), not pointers. Each decoded chunk adds a block to the heap.
//!
//! ```
//! use zarr_codec::{Chain, DataType};
//! use zarr_codec_vlen::VlenUtf8;
//!
//! let codec = Chain::new(&DataType::String, &[2]).then(VlenUtf8).build()?;
//! let texts = ["two".to_owned(), String::new()];
//! let encoded = codec.encode_elements(&texts)?;
//! assert_eq!(encoded, b"\x02\0\0\0\x03\0\0\0two\0\0\0\0");
//! assert_eq!(codec.decode_elements::<String>(&encoded)?, texts);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/vlen-utf8>,
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/vlen-bytes>,
//! <https://codec.zarrs.dev/array_to_bytes/vlen>
#![warn(clippy::indexing_slicing)]

mod codec;
mod codecs;
mod elements;
mod offsets;

pub use codec::{VLEN_ARRAY, VLEN_BYTES, VLEN_UTF8, VlenArray, VlenBytes, VlenUtf8, ZARRS_VLEN_V2, ZarrsVlenV2};
pub use codecs::CODECS;
pub use offsets::{ZARRS_VLEN, ZarrsVlen};

#[cfg(test)]
mod tests;
