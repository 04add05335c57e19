//! What the metadata says of codec `packbits`.

use zarr_codec::{Config, Error};

/// Where the number of bits is stored that fill up the last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Padding {
    /// `none`: nowhere.
    #[default]
    None,
    /// `first_byte`: in a byte in front.
    FirstByte,
    /// `last_byte`: in a byte behind.
    LastByte,
}

/// The configuration of codec `packbits`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackbitsConfig {
    /// Where the number of padding bits is stored.
    pub padding: Padding,
    /// The lowest bit of each number that is stored, from 0.
    pub first_bit: Option<u32>,
    /// The highest bit of each number that is stored.
    pub last_bit: Option<u32>,
}

impl PackbitsConfig {
    /// Reads the configuration.
    ///
    /// # Errors
    /// [`Error::Metadata`] if `padding_encoding` is none of its words, or `first_bit` and `last_bit` are no bits or
    /// the wrong way round.
    pub fn from_config(config: &Config<'_>) -> Result<Self, Error> {
        let padding = match config.value("padding_encoding").map(|value| (value.as_str(), value)) {
            None | Some((Some("none"), _)) => Padding::None,
            Some((Some("first_byte"), _)) => Padding::FirstByte,
            Some((Some("last_byte"), _)) => Padding::LastByte,
            Some((_, value)) => {
                let expected = "\"none\", \"first_byte\" or \"last_byte\"";
                return Err(config.unexpected("padding_encoding", expected, value));
            }
        };
        let bit = |name: &'static str| {
            let bit = config.integer(name, 0..=63)?;
            Ok::<_, Error>(bit.and_then(|bit| u32::try_from(bit).ok()))
        };
        let config = Self { padding, first_bit: bit("first_bit")?, last_bit: bit("last_bit")? };
        match (config.first_bit, config.last_bit) {
            (Some(first), Some(last)) if last < first => Err(Error::Metadata {
                pointer: "/configuration/last_bit".to_owned(),
                what: format!("found {last}, expected {first}, the first bit, or more"),
            }),
            _ => Ok(config),
        }
    }
}
