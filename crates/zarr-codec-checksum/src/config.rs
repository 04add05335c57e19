//! The configurations of checksums.

use zarr_codec::{BuildContext, Error};
use zarr_json::Value;

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
    pub fn from_context(context: &BuildContext<'_>, default: Self) -> Result<Self, Error> {
        Ok(context.config.one_of("location", &[("start", Self::Start), ("end", Self::End)])?.unwrap_or(default))
    }
}

/// The configuration of codec `jenkins_lookup3`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JenkinsConfig {
    /// The seed of the hash.
    pub initval: u32,
    /// Bytes that are hashed in front of the data, and not stored.
    pub prefix: Vec<u8>,
}

impl JenkinsConfig {
    /// Reads the configuration. numcodecs takes `prefix` as Python bytes, for which JSON has no form; a string stands for
    /// its UTF-8 bytes here, an array of integers for its elements.
    ///
    /// # Errors
    /// [`Error::Metadata`] if `initval` has not 32 bits or `prefix` is not bytes.
    pub fn from_context(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let initval = config.integer("initval", 0..=u32::MAX)?.unwrap_or(0);
        let prefix = match config.value("prefix") {
            None => Vec::new(),
            Some(value) => {
                prefix(value).ok_or_else(|| config.unexpected("prefix", "a string or an array of bytes", value))?
            }
        };
        Ok(Self { initval, prefix })
    }
}

fn prefix(value: &Value) -> Option<Vec<u8>> {
    if let Some(text) = value.as_str() {
        return Some(text.as_bytes().to_vec());
    }
    value.as_array()?.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect()
}
