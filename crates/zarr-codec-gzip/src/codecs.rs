//! Table of the codecs of this crate.

use crate::{GZIP, ZLIB};
use zarr_codec::CodecEntry;

/// Entries of the codecs of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[GZIP, ZLIB];
