//! The level and the sizes of both codecs.

use zarr_codec::{BuildContext, Size};

/// The levels that there are.
pub(crate) const LEVELS: std::ops::RangeInclusive<u32> = 0..=9;

/// Reads the level. A wrong one, which decoding does not need, is 1, as a missing one is in numcodecs.
pub(crate) fn read(context: &BuildContext<'_>) -> u32 {
    // The core of Zarr v3 has levels from 0 on; numcodecs takes -1 for zlib's own default as well.
    let least = if context.name == "gzip" { 0 } else { -1 };
    let level = context.config.or_default("level", context.config.integer::<i32>("level", least..=9), 1);
    u32::try_from(level).unwrap_or(6)
}

/// The size that `decoded` bytes may be encoded to. Generous, as not all software compresses as well as zlib: many
/// small members, blocks that are stored or flushed, names in headers.
pub(crate) fn encoded_size(decoded: Size) -> Size {
    decoded.at_most(|size| size.checked_add(size / 4)?.checked_add(8 << 10))
}
