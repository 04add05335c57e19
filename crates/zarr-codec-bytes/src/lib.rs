//! Zarr codec `bytes`: the elements of a chunk one after another in C order, in a stated byte order.
//!
//! It is named `bytes` in Zarr v3, and `endian` in drafts of it. Zarr v2 has no such codec: there the byte order is part
//! of the data type, and readers of v2 metadata put this codec into the chain for it.
//!
//! `endian` is `"little"` or `"big"`. It has no meaning for elements made of single bytes, and where it is missing
//! otherwise, as in old documents, the order is little. Complex numbers are two scalars, each with its bytes in this
//! order; bytes without a byte order (`r16`, `raw_bytes`) stay as they are. Elements of variable length need another
//! codec: `vlen-utf8` or `vlen-bytes`.
//!
//! Structs are their fields one after another without gaps. `endian` is for all of them. Structs of Zarr v2 may have an
//! order for each field; reading v2 metadata then gives `field_endian`, a list that no document has: `"little"`, `"big"`,
//! `null` where there is none, or a list for a struct in the struct.
//!
//! Fetches no bytes: a part of a chunk is decoded by saying which ranges of bytes it needs.
//!
//! ```
//! use zarr_codec::{Chain, DataType};
//! use zarr_codec_bytes::Bytes;
//!
//! let codec = Chain::new(&DataType::Int16, &[2]).then(Bytes::big_endian()).build()?;
//! let encoded = codec.encode_elements(&[1_i16, -2])?;
//! assert_eq!(encoded, [0x00, 0x01, 0xff, 0xfe]);
//! assert_eq!(codec.decode_elements::<i16>(&encoded)?, [1, -2]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/bytes/index.html>
#![warn(clippy::indexing_slicing)]

mod bytes;
mod codec;
mod slab;

pub use bytes::{BYTES, Bytes, CODECS};

#[cfg(test)]
mod tests;
