//! Table of the codecs of this crate.

use crate::{VLEN_ARRAY, VLEN_BYTES, VLEN_UTF8, ZARRS_VLEN, ZARRS_VLEN_V2};
use zarr_codec::CodecEntry;

/// Entries of the codecs of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[VLEN_UTF8, VLEN_BYTES, VLEN_ARRAY, ZARRS_VLEN, ZARRS_VLEN_V2];
