//! Table of the codecs of this crate.

use crate::{ASTYPE, BITROUND, CAST_VALUE, DELTA, FIXED_SCALE_OFFSET, QUANTIZE, SCALE_OFFSET};
use zarr_codec::CodecEntry;

/// Entries of the codecs of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[ASTYPE, BITROUND, CAST_VALUE, DELTA, FIXED_SCALE_OFFSET, QUANTIZE, SCALE_OFFSET];
