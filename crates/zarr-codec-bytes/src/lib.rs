//! Zarr codec `bytes`: the elements of a chunk one after another in C order, in a given byte order.
//!
//! It is named `bytes` in Zarr v3, and `endian` in drafts of v3. Zarr v2 has no such codec: its data types contain the byte order, and
//! readers of v2 metadata add this codec to the chain.
//!
//! `endian` is `"little"` or `"big"`. For elements made of single bytes it has no meaning; if it is missing for other elements, as in old
//! documents, the order is little-endian. Complex numbers are two scalars, each with its bytes in this order; bytes without a byte order
//! (`r16`, `raw_bytes`) are not changed. Elements of variable length need another codec: `vlen-utf8` or `vlen-bytes`.
//!
//! Structs are their fields one after another without gaps; `endian` applies to all fields. Structs of Zarr v2 may have an order for each
//! field; reading v2 metadata then gives `field_endian`, a list that no document has: its items are `"little"`, `"big"`, `null` for a field
//! without byte order, or a list for a nested struct.
//!
//! The codec does no I/O: to decode a part of a chunk, it returns the ranges of bytes that it needs.
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
