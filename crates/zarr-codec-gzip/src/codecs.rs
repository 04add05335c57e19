//! The codecs of this crate.

use crate::{GZIP, ZLIB};
use zarr_codec::CodecEntry;

/// The codecs of this crate, for the table of codecs.
pub const CODECS: &[CodecEntry] = &[GZIP, ZLIB];
