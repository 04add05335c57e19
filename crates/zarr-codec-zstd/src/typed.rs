//! The codec by its type.

use crate::ZSTD;
use zarr_codec::{TypedCodec, bytes_codec};

/// Codec `zstd`.
///
/// ```
/// use zarr_codec_zstd::Zstd;
///
/// let codec = Zstd::level(3).checksum(true);
/// let encoded = codec.encode(&[7; 5000])?;
/// assert_eq!(codec.decode(&encoded, 1 << 20)?, [7; 5000]);
/// # Ok::<(), zarr_codec::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Zstd(TypedCodec);

impl Zstd {
    /// Compression at the library's default level, without a checksum. Decodes any frame.
    pub fn new() -> Self {
        Self(TypedCodec::new(ZSTD))
    }

    /// Compression at `level`, -131072 (fastest) to 22 (smallest); 0 is the library's default of 3. Without a checksum.
    pub fn level(level: i32) -> Self {
        Self(TypedCodec::new(ZSTD).with("level", level))
    }

    /// Whether a checksum is stored.
    #[must_use]
    pub fn checksum(self, checksum: bool) -> Self {
        Self(self.0.with("checksum", checksum))
    }
}

impl Default for Zstd {
    fn default() -> Self {
        Self::new()
    }
}

bytes_codec!(Zstd);
