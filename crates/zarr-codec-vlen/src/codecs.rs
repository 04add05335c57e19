//! The codecs of this crate.

use crate::{VLEN_ARRAY, VLEN_BYTES, VLEN_UTF8, ZARRS_VLEN};
use zarr_codec::CodecEntry;

/// The codecs of this crate, for the table of codecs.
pub const CODECS: &[CodecEntry] = &[VLEN_UTF8, VLEN_BYTES, VLEN_ARRAY, ZARRS_VLEN];
