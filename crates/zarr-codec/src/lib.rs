//! Codecs of Zarr arrays: the three kinds of codecs, chains of codecs, and decoding directly into the memory of the caller.
//!
//! A chunk is encoded by array-to-array codecs, one array-to-bytes codec and bytes-to-bytes codecs, in this order
//! ([`Pipeline`]). Decoding ends in a strided window of the caller's memory ([`ViewMut`]). A codec that decodes parts
//! says which bytes it needs ([`Decode`]).
//!
//! A program that wants codecs and no array names them by the types of their crates: one codec of bytes encodes slices
//! ([`CodecValue`]), several are bound to a data type and the shape of a chunk ([`Chain`]). Text and JSON name codecs, too
//! ([`CodecList`]), which a table knows ([`Codecs`]).
//!
//! Knows no key, no store, no dialect and no concrete codec: each is a crate of its own that exports a [`CodecEntry`].
//!
//! ```
//! use zarr_codec::{View, ViewMut};
//! use zarr_grid::Region;
//!
//! // Rows 1 and 2 of four, copied to the right half of another buffer: no element is touched in between.
//! let source: Vec<u8> = (0..8).collect();
//! let mut target = [0_u8; 8];
//! let rows = View::new(&source, 1, &[4, 2])?.window(&Region::from_ranges(&[1..3, 0..2]));
//! let mut right = ViewMut::new(&mut target, 1, &[2, 4])?.window(&Region::from_ranges(&[0..2, 2..4]));
//! right.copy_from(&rows);
//! assert_eq!(target, [0, 0, 2, 3, 0, 0, 4, 5]);
//! # Ok::<(), zarr_codec::Error>(())
//! ```

mod blocks;
mod chain;
mod codec;
mod config;
pub mod decode;
mod dims;
mod element;
mod element_offsets;
mod encode;
mod error;
mod given;
mod inner;
mod list;
mod numbers;
mod patch;
mod pipeline;
mod protection;
mod scratch;
mod sink;
mod size;
mod slices;
mod table;
pub mod testing;
mod text;
mod value;
mod variable;
mod view;
mod warnings;

pub use blocks::{Blocks, Source};
pub use chain::{Chain, ChunkCodec};
pub use codec::{ArrayToArray, ArrayToBytes, BytesToBytes, Codec};
pub use config::Config;
pub use decode::{Access, Decode, InnerChunkIndex, Split, Step};
pub use dims::{Dims, Strides};
pub use element::ElementSpec;
pub use element_offsets::ElementOffsets;
pub use encode::{EncodeSplit, EncodedRun};
pub use error::{Error, ErrorKind};
pub use inner::InnerCodecs;
pub use list::{CodecList, IntoCodecs};
pub use patch::{Patch, PatchByChunk, each_masked};
pub use pipeline::{Pipeline, chunk_view};
pub use protection::Protection;
pub use scratch::Scratch;
pub use sink::{Piece, Sink};
pub use size::{Limits, Size};
pub use slices::{decode_slice, decode_slice_into, encode_slice};
pub use table::{BuildContext, CodecEntry, Codecs, Kind, add_missing};
pub use value::{CodecValue, IntoTypedCodecs, TypedCodec};
pub use variable::{place_variable, read_variable, write_variable};
pub use view::{AxisWindows, View, ViewMut, Windows};
pub use warnings::{CodecWarning, Warnings};
pub use zarr_dtype::DataType;
