//! The codec by its type.

use crate::{Check, Format, LZMA};
use zarr_codec::{TypedCodec, bytes_codec};
use zarr_json::Value;

/// Codec `lzma`.
///
/// ```
/// use zarr_codec_lzma::{Format, Lzma};
/// use zarr_json::json;
///
/// // Without headers: four bytes are subtracted from the four before, and that is compressed.
/// let codec = Lzma::filters([json!({"id": 3, "dist": 4}), json!({"id": 33, "preset": 1})]).format(Format::Raw);
/// let encoded = codec.encode(&[7; 5000])?;
/// assert_eq!(codec.decode(&encoded, 5000)?, [7; 5000]);
/// # Ok::<(), zarr_codec::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lzma(TypedCodec);

impl Lzma {
    /// Compression by a preset, 0 (fast) to 9 (small); plus 2^31 for more effort.
    pub fn preset(preset: u32) -> Self {
        Self(TypedCodec::new(LZMA).with("preset", preset))
    }

    /// The filters that data goes through, as in Python, each an object with an `id` and options. See the crate.
    pub fn filters(filters: impl IntoIterator<Item = Value>) -> Self {
        Self(TypedCodec::new(LZMA).with("filters", filters.into_iter().collect::<Vec<_>>()))
    }

    /// The format around the data; xz by default.
    #[must_use]
    pub fn format(self, format: Format) -> Self {
        let number = match format {
            Format::Xz => 1,
            Format::Alone => 2,
            Format::Raw => 3,
        };
        Self(self.0.with("format", number))
    }

    /// The checksum in xz, CRC-64 by default.
    #[must_use]
    pub fn check(self, check: Check) -> Self {
        let number = match check {
            Check::None => 0,
            Check::Crc32 => 1,
            Check::Crc64 => 4,
            Check::Sha256 => 10,
        };
        Self(self.0.with("check", number))
    }
}

bytes_codec!(Lzma);
