//! Table of the codecs of this crate.

use crate::{NUMCODECS_PACKBITS, PACKBITS};
use zarr_codec::CodecEntry;

/// Entries of the codecs of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[PACKBITS, NUMCODECS_PACKBITS];
