//! What the metadata says of the byte order.

use zarr_codec::{Config, Error};

/// The order of the bytes of a scalar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Endian {
    /// The least significant byte first.
    #[default]
    Little,
    /// The most significant byte first.
    Big,
}

impl Endian {
    /// The order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };
}

/// The configuration of codec `bytes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BytesConfig {
    /// The byte order, if the metadata has one.
    pub endian: Option<Endian>,
}

impl BytesConfig {
    /// Reads the configuration.
    ///
    /// # Errors
    /// [`Error::Metadata`] for any `endian` but `"little"` and `"big"`.
    pub fn from_config(config: &Config<'_>) -> Result<Self, Error> {
        let Some(value) = config.value("endian") else { return Ok(Self::default()) };
        match value.as_str() {
            Some("little") => Ok(Self { endian: Some(Endian::Little) }),
            Some("big") => Ok(Self { endian: Some(Endian::Big) }),
            _ => Err(config.unexpected("endian", "\"little\" or \"big\"", value)),
        }
    }
}
