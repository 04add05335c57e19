//! Zarr codecs `json2` and `msgpack2`: arrays of objects.
//!
//! | codec | Zarr v3 | Zarr v2 | a chunk is |
//! |---|---|---|---|
//! | [`JSON2`] | `numcodecs.json2`, `json2` | `json2` | a JSON list: nested lists of the chunk's shape, numpy's type, the shape |
//! | [`JSON`] | `numcodecs.json` | `json` | the list of `json2` without the shape |
//! | [`MSGPACK2`] | `numcodecs.msgpack2` | `msgpack2` | the list of `json2` as MessagePack |
//! | [`MSGPACK`] | `numcodecs.msgpack` | `msgpack` | the list of `json` as MessagePack |
//! | [`PICKLE`] | `numcodecs.pickle` | `pickle` | a pickled array, as Python writes it; read only, and not in [`CODECS`] |
//!
//! The codecs take the data types `v2_object`, JSON values of any kind, and `string`. A value that Python has and JSON lacks is an object
//! with a single member: `{"$float": "NaN"}` (`"Infinity"`, `"-Infinity"`) or `{"$bytes": "<base64>"}`. An object of this form in the data
//! is read as such a value.
//!
//! JSON is written in the style of Python, by the members `ensure_ascii`, `sort_keys`, `separators`, `indent` and `allow_nan` of the
//! configuration; numbers keep the spelling of the elements. `encoding` may be UTF-8, ASCII, Latin-1, UTF-16 or UTF-32, by the names of
//! Python. MessagePack applies `use_bin_type`, `use_single_float` and `raw`; extension types, and maps with keys that are not strings, are
//! errors.
//!
//! An array with `order` F is stored in the order of its elements in memory, as readers expect; the shape in the chunk states only how deep
//! the lists nest.
//!
//! Values take about 64 times the memory of the bytes they are read from. A chunk whose values might exceed
//! [`Limits::max_chunk`](zarr_codec::Limits::max_chunk) is an error.
//!
//! Nothing that is read is executed: the codecs contain no Python.
//!
//! ```
//! use zarr_codec::{Chain, DataType};
//! use zarr_codec_object::Json2;
//! use zarr_json::json;
//!
//! let codec = Chain::new(&DataType::Object, &[2]).then(Json2::new()).build()?;
//! let objects = [json!("a"), json!({"b": [1, 2.5]})];
//! let encoded = codec.encode_elements(&objects)?;
//! assert_eq!(encoded, br#"["a",{"b":[1,2.5]},"|O",[2]]"#);
//! assert_eq!(codec.decode_elements::<zarr_json::Value>(&encoded)?, objects);
//! # Ok::<(), zarr_codec::Error>(())
//! ```
//!
//! <https://numcodecs.readthedocs.io/en/stable/other/json.html>,
//! <https://numcodecs.readthedocs.io/en/stable/other/msgpacks.html>,
//! <https://github.com/msgpack/msgpack/blob/master/spec.md>
#![warn(clippy::indexing_slicing)]

mod codecs;
mod json;
mod msgpack;
mod objects;
mod pickle;
mod special;

pub use codecs::CODECS;
pub use json::{JSON, JSON2, Json, Json2};
pub use msgpack::{MSGPACK, MSGPACK2, MsgPack, MsgPack2};
pub use pickle::PICKLE;

#[cfg(test)]
mod tests;
