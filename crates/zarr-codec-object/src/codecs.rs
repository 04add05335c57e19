//! Table of the codecs of this crate.

use crate::{JSON, JSON2, MSGPACK, MSGPACK2};
use zarr_codec::CodecEntry;

/// Entries of the codecs of this crate, except [`PICKLE`](crate::PICKLE), for the table of codecs.
pub const CODECS: &[CodecEntry] = &[JSON2, JSON, MSGPACK2, MSGPACK];
