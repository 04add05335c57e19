//! Codecs of Zarr arrays: the three kinds, chains of them, and decoding straight to where the data goes.
//!
//! A chunk is encoded by array-to-array codecs, one array-to-bytes codec and bytes-to-bytes codecs, in this order
//! ([`Pipeline`]). Decoding ends in a strided window of the caller's memory ([`ViewMut`]). What can be decoded in part
//! says which bytes it wants ([`Decode`]).
//!
//! Knows no key, no store, no dialect and no concrete codec: each is a crate of its own that exports a [`CodecEntry`].

mod blocks;
mod codec;
mod config;
pub mod decode;
mod element;
mod error;
mod numbers;
mod pipeline;
mod places;
mod scratch;
mod sink;
mod size;
mod table;
pub mod testing;
mod variable;
mod view;

pub use blocks::{Blocks, Source};
pub use codec::{ArrayToArray, ArrayToBytes, BytesToBytes, Codec};
pub use config::Config;
pub use decode::{Access, Decode, Split, Step, SubchunkIndex};
pub use element::ElementSpec;
pub use error::{Error, ErrorKind};
pub use pipeline::{Pipeline, chunk_view};
pub use places::Places;
pub use scratch::Scratch;
pub use sink::Sink;
pub use size::{Limits, Size};
pub use table::{BuildContext, CodecEntry, Codecs, Warning, Warnings};
pub use variable::{place_variable, read_variable, write_variable};
pub use view::{Dims, Strides, Tiles, View, ViewMut, Windows};
