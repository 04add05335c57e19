//! Codec `bz2`.

use crate::stream::{NAME, behind_empty_streams, compress, decompress};
use std::ops::RangeInclusive;
use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, CodecEntry, CodecValue, Error, Protection, Sink, Size, slice_methods};
use zarr_json::Map;

/// Entry of the codec `bz2` for the table of codecs.
pub const BZ2: CodecEntry =
    CodecEntry::bytes_to_bytes("numcodecs.bz2", |context| Ok(Arc::new(Bz2::from_config(context)?)))
        .id("bz2")
        .only_read(&["bz2", "https://codec.zarrs.dev/bytes_to_bytes/bz2"])
        .arguments(&[("level", Some("1"))]);

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[BZ2];

/// First bytes of every bzip2 stream.
const MAGIC: &[u8] = b"BZh";

/// Valid compression levels.
const LEVELS: RangeInclusive<u32> = 1..=9;

/// Codec `bz2` with its compression level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bz2 {
    level: u32,
}

impl Bz2 {
    /// Creates the codec with blocks of 100 kB (level 1).
    pub fn new() -> Self {
        Self { level: 1 }
    }

    /// Creates the codec with blocks of `level` times 100 kB, 1 to 9.
    ///
    /// # Errors
    /// [`Error::Argument`] for another level.
    pub fn level(level: u32) -> Result<Self, Error> {
        Ok(Self { level: BZ2.in_range("level", level, LEVELS)? })
    }
}

impl Default for Bz2 {
    fn default() -> Self {
        Self::new()
    }
}

impl CodecValue for Bz2 {
    const ENTRY: CodecEntry = BZ2;

    /// Reads the configuration. An invalid level, which decoding does not need, becomes the default.
    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        Ok(Self { level: context.config.or_default("level", context.config.integer("level", LEVELS), 1) })
    }

    fn to_config(&self) -> Map {
        Map::from([("level", self.level.into())])
    }
}

slice_methods!(Bz2);

impl BytesToBytes for Bz2 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn protection(&self, _: Option<&[u8]>) -> Protection {
        Protection::Checksum
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        // Generous, as other software may write many small streams.
        decoded.at_most(|size| size.checked_add(size / 4)?.checked_add(8 << 10))
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        compress(bytes, self.level, out)
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        let mut rest = bytes;
        loop {
            rest = match behind_empty_streams(rest) {
                Some(behind) => behind,
                None => match decompress(rest, out)? {
                    Some(used) => rest.get(used..).unwrap_or_default(),
                    None => return Err(Error::CutOff { codec: NAME, found: bytes.len() as u64 }),
                },
            };
            if rest.is_empty() {
                return Ok(());
            }
            let begins = rest.get(..MAGIC.len()).unwrap_or(rest);
            if !MAGIC.starts_with(begins) {
                let expected = (bytes.len() - rest.len()) as u64;
                return Err(Error::TooLong { codec: NAME, found: bytes.len() as u64, expected });
            }
        }
    }
}
