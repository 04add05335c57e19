//! Codec `lzma`.

use crate::filter::{self, Dictionary, Filter, LzmaVersion};
use crate::format::{Check, Format, NAME};
use crate::{decode, encode};
use std::sync::Arc;
use zarr_codec::{
    BuildContext, BytesToBytes, CodecEntry, CodecValue, Config, Error, Protection, Sink, Size, slice_methods,
};
use zarr_json::{Map, Value};

/// Entry of the codec `lzma` for the table of codecs.
pub const LZMA: CodecEntry =
    CodecEntry::bytes_to_bytes("numcodecs.lzma", |context| Ok(Arc::new(Lzma::from_config(context)?)))
        .id("lzma")
        .only_read(&["lzma"])
        .arguments(&[("format", None), ("check", None), ("preset", None)]);

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[LZMA];

/// Default preset, as in Python.
const PRESET: u32 = 6;

/// Codec `lzma` with its format, checksum and filters.
///
/// ```
/// use zarr_codec_lzma::{Format, Lzma};
/// use zarr_json::json;
///
/// // Without headers: four bytes are subtracted from the four before, and that is compressed.
/// let codec = Lzma::filters(Format::Raw, [json!({"id": 3, "dist": 4}), json!({"id": 33, "preset": 1})])?;
/// let encoded = codec.encode(&[7; 5000])?;
/// assert_eq!(codec.decode(&encoded, 5000)?, [7; 5000]);
/// # Ok::<(), zarr_codec::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lzma {
    /// Configuration as it was given; the other fields are derived from it.
    members: Map,
    format: Format,
    check: Check,
    /// Filters applied before compression, in this order; at most three.
    filters: Vec<Filter>,
    /// Options of compression. For raw data they are also needed for decompression.
    dictionary: Dictionary,
}

impl Lzma {
    /// Creates the codec with a preset, 0 (fast) to 9 (small), plus 2^31 for more effort. The format is xz.
    ///
    /// # Errors
    /// [`Error::Argument`] for any other number.
    pub fn preset(preset: u32) -> Result<Self, Error> {
        Self::from_members(&Map::from([("preset", preset.into())]), &[])
    }

    /// Creates the codec with filters, as in Python: each is an object with an `id` and options, see the documentation of the crate.
    ///
    /// # Errors
    /// [`Error::Argument`] for invalid filters, and for filters that the format does not have.
    pub fn filters(format: Format, filters: impl IntoIterator<Item = Value>) -> Result<Self, Error> {
        let filters = Value::Array(filters.into_iter().collect());
        Self::from_members(&Map::from([("filters", filters), ("format", format.number().into())]), &[])
    }

    /// Sets the container format of the data.
    ///
    /// # Errors
    /// [`Error::Argument`] for a format that lacks the checksum or the filters, and for raw data without filters.
    pub fn format(self, format: Format) -> Result<Self, Error> {
        self.with("format", format.number())
    }

    /// Sets the checksum of the xz format; CRC-64 by default.
    ///
    /// # Errors
    /// [`Error::Argument`] for a checksum in another format.
    pub fn check(self, check: Check) -> Result<Self, Error> {
        self.with("check", check.number())
    }

    fn with(mut self, member: &str, number: i64) -> Result<Self, Error> {
        self.members.insert(member, number);
        Self::from_members(&self.members, &[])
    }
}

impl CodecValue for Lzma {
    const ENTRY: CodecEntry = LZMA;

    /// Reads the configuration. Fails for an unknown `format`, and for raw data without the filters that decoding needs. Other members are
    /// only for encoding.
    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
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
            return Ok(Self { members: config.corrected(), format, check, filters: Vec::new(), dictionary });
        };
        if preset.is_some() {
            let what = "there are filters as well, which have presets of their own".to_owned();
            config.or_none::<u32>("preset", Err(config.error("preset", what)));
        }
        Ok(Self { members: config.corrected(), format, check, filters, dictionary })
    }

    fn to_config(&self) -> Map {
        self.members.clone()
    }
}

slice_methods!(Lzma);

/// Returns the filters and the options of compression for a format with headers.
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

/// Returns the checksum to write; `None` for the default of the format.
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

impl BytesToBytes for Lzma {
    fn name(&self) -> &'static str {
        NAME
    }

    fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        let has_checksum = match (self.format, encoded) {
            // The flags of a stream name its checksum (xz 1.2.1, section 2.1.1.2).
            (Format::Xz, Some(bytes)) => bytes.get(7).is_some_and(|flags| flags & 0x0f != 0),
            (Format::Xz, None) => self.check != Check::None,
            _ => false,
        };
        if has_checksum { Protection::Checksum } else { Protection::Form }
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        // Generous, as other software may write many small streams.
        decoded.at_most(|size| size.checked_add(size / 4)?.checked_add(8 << 10))
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        encode::encode(self.format, self.check, &self.filters, &self.dictionary, bytes, out)
            .map_err(|error| Error::Encode { codec: NAME, what: error.to_string() })
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        decode::decode(self.format, &self.filters, &self.dictionary, bytes, out)
    }
}
