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

impl ZstdConfig {
    /// Reads the configuration.
    ///
    /// # Errors
    /// [`Error::Metadata`] if `level` or `checksum` is not what it should be.
    pub fn from_config(config: &Config<'_>) -> Result<Self, Error> {
        let level = config.integer("level", -131_072..=22)?.unwrap_or(0);
        Ok(Self { level: i32::try_from(level).unwrap_or(0), checksum: config.bool("checksum")?.unwrap_or(false) })
    }
}
