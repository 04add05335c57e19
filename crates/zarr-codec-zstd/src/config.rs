//! The configuration in the metadata.

use zarr_codec::BuildContext;

/// The name in errors.
pub(crate) const NAME: &str = "zstd";

/// The configuration of codec `zstd`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZstdConfig {
    /// -131072 (fastest) to 22 (smallest); 0 is the library's default of 3.
    pub level: i32,
    /// Whether a checksum is stored.
    pub checksum: bool,
}

/// The levels that there are.
const LEVELS: std::ops::RangeInclusive<i32> = -131_072..=22;

impl ZstdConfig {
    /// Reads the configuration. `numcodecs.zstd` takes any level for the nearest one that there is. Wrong members, which decoding does
    /// not need, are the defaults.
    pub fn from_context(context: &BuildContext<'_>) -> Self {
        let config = context.config;
        let level = match context.name {
            "numcodecs.zstd" => config
                .integer("level", i64::MIN..=i64::MAX)
                .map(|level| level.map(|level| level.clamp((*LEVELS.start()).into(), (*LEVELS.end()).into()) as i32)),
            _ => config.integer("level", LEVELS),
        };
        Self {
            level: config.or_default("level", level, 0),
            checksum: config.or_default("checksum", config.bool("checksum"), false),
        }
    }
}
