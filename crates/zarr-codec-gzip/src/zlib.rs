//! Codec `zlib`: zlib streams (RFC 1950).

#[cfg(not(feature = "libdeflate"))]
use crate::deflate::deflate;
use crate::gzip;
use crate::inflate::{Reader, inflate};
use crate::level::{self, LEVELS, encoded_size};
#[cfg(feature = "libdeflate")]
use crate::libdeflate::{deflate, inflate_at_once};
use simd_adler32::Adler32;
use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, CodecEntry, CodecValue, Error, Protection, Sink, Size, slice_methods};
use zarr_json::Map;

/// Entry of the codec `zlib` for the table of codecs.
pub const ZLIB: CodecEntry =
    CodecEntry::bytes_to_bytes("numcodecs.zlib", |context| Ok(Arc::new(Zlib::from_config(context)?)))
        .id("zlib")
        .only_read(&["zlib"])
        .arguments(&[("level", Some("1"))]);

const NAME: &str = "zlib";
/// First byte of the header: deflate with a window of 32 KiB.
const METHOD: u8 = 0x78;
/// Flag for a preset dictionary, which would be needed for decoding.
const DICTIONARY: u8 = 1 << 5;

/// Codec `zlib` with its compression level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zlib {
    level: u32,
}

impl Zlib {
    /// Creates the codec with level 1.
    pub fn new() -> Self {
        Self { level: 1 }
    }

    /// Creates the codec with `level` 0 (stored) to 9 (smallest).
    ///
    /// # Errors
    /// [`Error::Argument`] for another level.
    pub fn level(level: u32) -> Result<Self, Error> {
        Ok(Self { level: ZLIB.in_range("level", level, LEVELS)? })
    }
}

impl Default for Zlib {
    fn default() -> Self {
        Self::new()
    }
}

impl CodecValue for Zlib {
    const ENTRY: CodecEntry = ZLIB;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        Ok(Self { level: level::read(context) })
    }

    fn to_config(&self) -> Map {
        Map::from([("level", self.level.into())])
    }
}

slice_methods!(Zlib);

impl BytesToBytes for Zlib {
    fn name(&self) -> &'static str {
        NAME
    }

    fn protection(&self, _: Option<&[u8]>) -> Protection {
        Protection::Checksum
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        encoded_size(decoded)
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        // The effort in the upper two bits; the lower five make the header a multiple of 31.
        let flags = match self.level {
            0..=1 => 0x01,
            2..=5 => 0x5e,
            6 => 0x9c,
            _ => 0xda,
        };
        out.extend_from_slice(&[METHOD, flags]);
        deflate(NAME, bytes, self.level, out)?;
        out.extend_from_slice(&adler32(bytes).to_be_bytes());
        Ok(())
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        // No zlib stream begins so. Zarr v1 has one name for both, which its only software took for zlib, but others need not.
        if bytes.starts_with(&gzip::MAGIC) {
            return gzip::decode(bytes, out);
        }
        let mut reader = Reader::new(NAME, bytes);
        header(&mut reader)?;
        stream(&mut reader, out)?;
        if !reader.rest().is_empty() {
            return Err(Error::TooLong { codec: NAME, found: bytes.len() as u64, expected: reader.at() as u64 });
        }
        Ok(())
    }
}

/// Decodes the next stream, and advances `reader` past its checksum.
fn stream(reader: &mut Reader<'_>, out: &mut Sink<'_>) -> Result<(), Error> {
    #[cfg(feature = "libdeflate")]
    if inflate_at_once(reader, out, |decoded, sum| adler32(decoded) == u32::from_be_bytes(sum))? {
        return Ok(());
    }
    let mut sum = Adler32::new();
    inflate(reader, out, |decoded| sum.write(decoded))?;
    let (found, stored) = (sum.finish(), u32::from_be_bytes(reader.take()?));
    if found != stored {
        return Err(Error::Checksum { codec: NAME, found: found.into(), stored: stored.into() });
    }
    Ok(())
}

fn adler32(bytes: &[u8]) -> u32 {
    let mut sum = Adler32::new();
    sum.write(bytes);
    sum.finish()
}

fn header(reader: &mut Reader<'_>) -> Result<(), Error> {
    let header: [u8; 2] = reader.take()?;
    let [method, flags] = header;
    let what = if method & 0x0f != 8 || method >> 4 > 7 || !u16::from_be_bytes(header).is_multiple_of(31) {
        format!("found {header:02x?}, expected a zlib header")
    } else if flags & DICTIONARY != 0 {
        "compressed with a preset dictionary, which is not stored".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::Corrupt { codec: NAME, what })
}
