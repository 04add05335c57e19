//! The configuration in the metadata.

use crate::filter::{self, Dictionary, Filter, LzmaVersion};
use zarr_codec::{BuildContext, Config, Error};
use zarr_json::Value;

/// The name in errors.
pub(crate) const NAME: &str = "lzma";

/// The container of the compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Headers, checksums and an index, by the xz specification.
    Xz,
    /// A header of 13 bytes: the older `.lzma` files.
    Alone,
    /// Nothing: filters come from the metadata.
    Raw,
}

/// The checksum of data in [`Format::Xz`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// None.
    None,
    /// CRC-32.
    Crc32,
    /// CRC-64 of ECMA-182.
    Crc64,
    /// SHA-256.
    Sha256,
}

/// The configuration of codec `lzma`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LzmaConfig {
    /// The container of the data.
    pub format: Format,
    /// The checksum that is written.
    pub check: Check,
    /// The filters applied before compression, in this order; three at most.
    pub filters: Vec<Filter>,
    /// How it is compressed. Of raw data also how it is decompressed.
    pub dictionary: Dictionary,
}

/// The preset where none is named, as in Python.
const PRESET: u32 = 6;

impl LzmaConfig {
    /// Reads the configuration.
    ///
    /// # Errors
    /// [`Error::Metadata`] if `format` is none, or raw data has no filters that could decode it. Other members are for encoding.
    pub fn from_context(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let format = match config.integer("format", 1..=3)? {
            None | Some(1) => Format::Xz,
            Some(2) => Format::Alone,
            Some(_) => Format::Raw,
        };
        // Streams of the formats with headers say all that decoding needs.
        let check = config.or_none("check", check(config, format));
        let check = check.unwrap_or(if format == Format::Xz { Check::Crc64 } else { Check::None });
        let preset = config
            .value("preset")
            .map(|value| filter::preset(value).ok_or_else(|| config.unexpected("preset", filter::PRESETS, value)));
        let preset = config.or_none("preset", preset.transpose());
        let chain = config.value("filters").filter(|value| value.as_array().is_none_or(|list| !list.is_empty()));
        let lzma = if format == Format::Xz { LzmaVersion::Two } else { LzmaVersion::One };
        let chain = match (chain, format) {
            (Some(chain), Format::Raw) => Some(filter::chain(config, chain)?),
            (Some(chain), _) => config.or_none("filters", of_format(config, chain, format, lzma).map(Some)),
            (None, _) => None,
        };
        let Some((filters, dictionary)) = chain else {
            if format == Format::Raw {
                let what = "missing, and raw data is not to be understood without".to_owned();
                return Err(config.error("filters", what));
            }
            let dictionary = Dictionary::from_preset(lzma, preset.unwrap_or(PRESET));
            return Ok(Self { format, check, filters: Vec::new(), dictionary });
        };
        if preset.is_some() {
            let what = "there are filters as well, which have presets of their own".to_owned();
            config.or_none::<u32>("preset", Err(config.error("preset", what)));
        }
        Ok(Self { format, check, filters, dictionary })
    }
}

/// The filters of a format with headers.
fn of_format(
    config: &Config<'_>,
    chain: &Value,
    format: Format,
    lzma: LzmaVersion,
) -> Result<(Vec<Filter>, Dictionary), Error> {
    let (filters, dictionary) = filter::chain(config, chain)?;
    let last = filters.len();
    if format == Format::Alone && last > 0 {
        return Err(config.error("filters/0/id", "expected LZMA1, the only filter that the format has".to_owned()));
    }
    if dictionary.lzma != lzma {
        let expected = if lzma == LzmaVersion::One { "LZMA1" } else { "LZMA2" };
        let what = format!("expected {expected} as the last filter of the format");
        return Err(config.error(&format!("filters/{last}/id"), what));
    }
    Ok((filters, dictionary))
}

/// The checksum that is written; `None` for that of the format.
fn check(config: &Config<'_>, format: Format) -> Result<Option<Check>, Error> {
    let check = match config.integer("check", -1..=15)? {
        None | Some(-1) => return Ok(None),
        Some(0) => Check::None,
        Some(1) => Check::Crc32,
        Some(4) => Check::Crc64,
        Some(10) => Check::Sha256,
        Some(other) => return Err(config.error("check", format!("expected -1, 0, 1, 4 or 10, found {other}"))),
    };
    if format != Format::Xz && check != Check::None {
        return Err(config.error("check", "only format 1 (xz) has checksums".to_owned()));
    }
    Ok(Some(check))
}
