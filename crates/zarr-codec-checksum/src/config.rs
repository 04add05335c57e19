//! What the metadata says of checksums.

use zarr_codec::{Config, Error};
use zarr_meta::json::Value;

/// Where a checksum is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In front of the data.
    Start,
    /// Behind the data.
    End,
}

impl Location {
    /// Reads member `location`.
    ///
    /// # Errors
    /// [`Error::Metadata`] if it is neither `"start"` nor `"end"`.
    pub fn from_config(config: &Config<'_>, default: Self) -> Result<Self, Error> {
        let Some(value) = config.value("location") else { return Ok(default) };
        match value.as_str() {
            Some("start") => Ok(Self::Start),
            Some("end") => Ok(Self::End),
            _ => Err(config.unexpected("location", "\"start\" or \"end\"", value)),
        }
    }
}

/// The configuration of codec `jenkins_lookup3`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JenkinsConfig {
    /// What the hash begins with.
    pub initval: u32,
    /// Bytes that are hashed in front of the data, and not stored.
    pub prefix: Vec<u8>,
}

impl JenkinsConfig {
    /// Reads the configuration. numcodecs takes `prefix` as Python bytes, for which JSON has no form; a text stands for
    /// its UTF-8 bytes here, a list of integers for its items.
    ///
    /// # Errors
    /// [`Error::Metadata`] if `initval` has not 32 bits or `prefix` is not bytes.
    pub fn from_config(config: &Config<'_>) -> Result<Self, Error> {
        let initval = config.integer("initval", 0..=i64::from(u32::MAX))?.unwrap_or(0);
        let prefix = match config.value("prefix") {
            None => Vec::new(),
            Some(value) => {
                prefix(value).ok_or_else(|| config.unexpected("prefix", "a text or a list of bytes", value))?
            }
        };
        Ok(Self { initval: u32::try_from(initval).unwrap_or(0), prefix })
    }
}

fn prefix(value: &Value) -> Option<Vec<u8>> {
    if let Some(text) = value.as_str() {
        return Some(text.as_bytes().to_vec());
    }
    value.as_array()?.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect()
}
