//! Codec `zstd`.

use crate::decode::{self, NAME};
use crate::encode;
use std::ops::RangeInclusive;
use std::sync::Arc;
use zarr_codec::{
    BuildContext, BytesToBytes, CodecEntry, CodecValue, Error, Protection, Sink, Size, add_missing, slice_methods,
};
use zarr_json::Map;

/// Entry of the codec `zstd` for the table of codecs.
pub const ZSTD: CodecEntry = CodecEntry::bytes_to_bytes("zstd", |context| Ok(Arc::new(Zstd::from_config(context)?)))
    .id("zstd")
    .aliases(&["numcodecs.zstd"])
    .arguments(&[("level", Some("0")), ("checksum", Some("false"))])
    .complete_with(|codec, _| add_missing(codec, [("level", 0.into()), ("checksum", false.into())]));

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[ZSTD];

/// Valid compression levels.
const LEVELS: RangeInclusive<i32> = -131_072..=22;

/// Codec `zstd` with its compression level, with or without a checksum.
///
/// ```
/// use zarr_codec_zstd::Zstd;
///
/// let codec = Zstd::level(3)?.checksum(true);
/// let encoded = codec.encode(&[7; 5000])?;
/// assert_eq!(codec.decode(&encoded, 1 << 20)?, [7; 5000]);
/// # Ok::<(), zarr_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zstd {
    level: i32,
    checksum: bool,
}

impl Zstd {
    /// Creates the codec with the default level of the library, without a checksum. Decoding does not depend on the level.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the codec with `level` -131072 (fastest) to 22 (smallest), without a checksum; 0 is the default of the library, 3.
    ///
    /// # Errors
    /// [`Error::Argument`] for other levels.
    pub fn level(level: i32) -> Result<Self, Error> {
        Ok(Self { level: ZSTD.in_range("level", level, LEVELS)?, checksum: false })
    }

    /// Sets whether a checksum is stored.
    #[must_use]
    pub fn checksum(self, checksum: bool) -> Self {
        Self { checksum, ..self }
    }
}

impl CodecValue for Zstd {
    const ENTRY: CodecEntry = ZSTD;

    /// Reads the configuration. For `numcodecs.zstd`, a level out of range becomes the nearest valid level. Invalid members, which decoding
    /// does not need, become the defaults.
    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let level = match context.name {
            "numcodecs.zstd" => config
                .integer("level", i64::MIN..=i64::MAX)
                .map(|level| level.map(|level| level.clamp((*LEVELS.start()).into(), (*LEVELS.end()).into()) as i32)),
            _ => config.integer("level", LEVELS),
        };
        Ok(Self {
            level: config.or_default("level", level, 0),
            checksum: config.or_default("checksum", config.bool("checksum"), false),
        })
    }

    fn to_config(&self) -> Map {
        Map::from([("level", self.level.into()), ("checksum", self.checksum.into())])
    }
}

slice_methods!(Zstd);

impl BytesToBytes for Zstd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        let has_checksum = encoded.map_or(self.checksum, decode::has_checksum);
        if has_checksum { Protection::Checksum } else { Protection::Form }
    }

    /// Returns a generous limit, since not all software compresses as well as the library: there may be many small frames, and flushed
    /// blocks.
    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.at_most(|size| size.checked_add(size / 4)?.checked_add(8 << 10))
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        encode::encode(bytes, self.level, self.checksum, out)
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        decode::decode(bytes, out)
    }
}
