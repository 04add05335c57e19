//! The configuration of codec `packbits`.

use zarr_codec::{BuildContext, Error};

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
    pub fn from_context(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let paddings = [("none", Padding::None), ("first_byte", Padding::FirstByte), ("last_byte", Padding::LastByte)];
        let padding = config.one_of("padding_encoding", &paddings)?;
        let first_bit = config.integer("first_bit", 0..=63)?;
        let last_bit = config.integer("last_bit", 0..=63)?;
        match (first_bit, last_bit) {
            (Some(first), Some(last)) if last < first => Err(Error::Metadata {
                pointer: "/configuration/last_bit".to_owned(),
                what: format!("found {last}, expected {first}, the first bit, or more"),
            }),
            _ => Ok(Self { padding: padding.unwrap_or_default(), first_bit, last_bit }),
        }
    }
}
