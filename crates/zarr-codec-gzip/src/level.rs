//! Compression level and encoded size of both codecs.

use zarr_codec::{BuildContext, Size};

/// Valid compression levels.
pub(crate) const LEVELS: std::ops::RangeInclusive<u32> = 0..=9;

/// Reads the level. An invalid level, which decoding does not need, becomes 1, the default of numcodecs.
pub(crate) fn read(context: &BuildContext<'_>) -> u32 {
    // The core of Zarr v3 has levels from 0 on; numcodecs takes -1 for zlib's own default as well.
    let least = if context.name == "gzip" { 0 } else { -1 };
    let level = context.config.or_default("level", context.config.integer::<i32>("level", least..=9), 1);
    u32::try_from(level).unwrap_or(6)
}

/// Returns the maximum encoded size of `decoded` bytes. It is generous, since not all software compresses as well as zlib: there may be
/// many small members, stored or flushed blocks, and names in headers.
pub(crate) fn encoded_size(decoded: Size) -> Size {
    decoded.at_most(|size| size.checked_add(size / 4)?.checked_add(8 << 10))
}
