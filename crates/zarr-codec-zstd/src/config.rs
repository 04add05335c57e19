//! What the metadata says of the compression.

use zarr_codec::{Config, Error};

/// The configuration of codec `zstd`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZstdConfig {
    /// -131072 (fastest) to 22 (smallest); 0 is the library's default of 3.
    pub level: i32,
    /// Whether a checksum is stored.
    pub checksum: bool,
}

/// The levels that there are.
const LEVELS: std::ops::RangeInclusive<i64> = -131_072..=22;

impl ZstdConfig {
    /// Reads the configuration of `numcodecs.zstd`, which takes any level for the nearest one that there is.
    ///
    /// # Errors
    /// [`Error::Metadata`] if `level` or `checksum` is not what it should be.
    pub fn of_numcodecs(config: &Config<'_>) -> Result<Self, Error> {
        let level = config.integer("level", i64::MIN..=i64::MAX)?.unwrap_or(0).clamp(*LEVELS.start(), *LEVELS.end());
        Ok(Self { level: i32::try_from(level).unwrap_or(0), checksum: config.bool("checksum")?.unwrap_or(false) })
    }

    /// Reads the configuration.
    ///
    /// # Errors
    /// [`Error::Metadata`] if `level` or `checksum` is not what it should be.
    pub fn from_config(config: &Config<'_>) -> Result<Self, Error> {
        let level = config.integer("level", LEVELS)?.unwrap_or(0);
        Ok(Self { level: i32::try_from(level).unwrap_or(0), checksum: config.bool("checksum")?.unwrap_or(false) })
    }
}
