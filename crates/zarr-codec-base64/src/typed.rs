//! The codec by its type.

use crate::BASE64;
use zarr_codec::bytes_codec;

/// Codec `base64`, which has no configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Base64;

bytes_codec!(Base64 = BASE64);
