//! The configuration in the metadata.

use zarr_codec::{BuildContext, Size};

/// The configuration of both codecs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeflateConfig {
    /// 0 (stored) to 9 (smallest).
    pub level: u32,
}

impl Default for DeflateConfig {
    /// Level 1, as in numcodecs.
    fn default() -> Self {
        Self { level: 1 }
    }
}

impl DeflateConfig {
    /// Reads the configuration. A wrong level, which decoding does not need, is the default.
    pub fn from_context(context: &BuildContext<'_>) -> Self {
        // The core of Zarr v3 has levels from 0 on; numcodecs takes -1 for zlib's own default as well.
        let least = if context.name == "gzip" { 0 } else { -1 };
        let level = context.config.or_default("level", context.config.integer::<i32>("level", least..=9), 1);
        Self { level: u32::try_from(level).unwrap_or(6) }
    }
}

/// The size that `decoded` bytes may be encoded to. Generous, as not all software compresses as well as zlib: many
/// small members, blocks that are stored or flushed, names in headers.
pub(crate) fn encoded_size(decoded: Size) -> Size {
    decoded.at_most(|size| size.checked_add(size / 4)?.checked_add(8 << 10))
}
