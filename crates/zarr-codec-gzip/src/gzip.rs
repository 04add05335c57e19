//! Codec `gzip`: gzip members (RFC 1952).

#[cfg(not(feature = "libdeflate"))]
use crate::deflate::deflate;
use crate::inflate::{Reader, inflate};
use crate::level::{self, LEVELS, encoded_size};
#[cfg(feature = "libdeflate")]
use crate::libdeflate::{deflate, inflate_at_once};
use crc32fast::Hasher;
use std::sync::Arc;
use zarr_codec::{
    BuildContext, BytesToBytes, CodecEntry, CodecValue, Error, Protection, Sink, Size, add_missing, slice_methods,
};
use zarr_json::Map;

/// Entry of the codec `gzip` for the table of codecs.
pub const GZIP: CodecEntry = CodecEntry::bytes_to_bytes("gzip", |context| Ok(Arc::new(Gzip::from_config(context)?)))
    .id("gzip")
    .aliases(&["numcodecs.gzip"])
    .arguments(&[("level", Some("5"))])
    .complete_with(|codec, _| add_missing(codec, [("level", 5.into())]));

const NAME: &str = "gzip";
pub(crate) const MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Number of the compression method deflate, the only one.
const DEFLATE: u8 = 8;
/// Byte of the header for the operating system: unknown.
const OS: u8 = 255;

/// Flags of a header (RFC 1952, 2.3.1).
mod flag {
    pub(super) const HEADER_CRC: u8 = 1 << 1;
    pub(super) const EXTRA: u8 = 1 << 2;
    pub(super) const NAME: u8 = 1 << 3;
    pub(super) const COMMENT: u8 = 1 << 4;
    pub(super) const RESERVED: u8 = 0b1110_0000;
}

/// Codec `gzip` with its compression level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gzip {
    level: u32,
}

impl Gzip {
    /// Creates the codec with level 5.
    pub fn new() -> Self {
        Self { level: 5 }
    }

    /// Creates the codec with `level` 0 (stored) to 9 (smallest).
    ///
    /// # Errors
    /// [`Error::Argument`] for another level.
    pub fn level(level: u32) -> Result<Self, Error> {
        Ok(Self { level: GZIP.in_range("level", level, LEVELS)? })
    }
}

impl Default for Gzip {
    fn default() -> Self {
        Self::new()
    }
}

impl CodecValue for Gzip {
    const ENTRY: CodecEntry = GZIP;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        Ok(Self { level: level::read(context) })
    }

    fn to_config(&self) -> Map {
        Map::from([("level", self.level.into())])
    }
}

slice_methods!(Gzip);

impl BytesToBytes for Gzip {
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
        let effort = match self.level {
            9 => 2,
            1 => 4,
            _ => 0,
        };
        let [magic0, magic1] = MAGIC;
        // No flags and no time, so that equal chunks are equal bytes.
        out.extend_from_slice(&[magic0, magic1, DEFLATE, 0, 0, 0, 0, 0, effort, OS]);
        deflate(NAME, bytes, self.level, out)?;
        let mut crc = Hasher::new();
        crc.update(bytes);
        out.extend_from_slice(&crc.finalize().to_le_bytes());
        out.extend_from_slice(&low_bits(bytes.len()).to_le_bytes());
        Ok(())
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        decode(bytes, out)
    }
}

/// Decodes consecutive gzip members.
pub(crate) fn decode(bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
    let mut reader = Reader::new(NAME, bytes);
    loop {
        member(&mut reader, out)?;
        if reader.rest().is_empty() {
            return Ok(());
        }
        if !reader.rest().starts_with(&MAGIC) {
            return Err(Error::TooLong { codec: NAME, found: bytes.len() as u64, expected: reader.at() as u64 });
        }
    }
}

/// Decodes the next member, and advances `reader` past it.
fn member(reader: &mut Reader<'_>, out: &mut Sink<'_>) -> Result<(), Error> {
    header(reader)?;
    #[cfg(feature = "libdeflate")]
    if inflate_at_once(reader, out, |decoded, trailer: [u8; 8]| {
        let mut crc = Hasher::new();
        crc.update(decoded);
        let sums = [crc.finalize(), low_bits(decoded.len())].map(u32::to_le_bytes);
        trailer == *sums.as_flattened()
    })? {
        return Ok(());
    }
    let mut crc = Hasher::new();
    let before = out.len();
    inflate(reader, out, |decoded| crc.update(decoded))?;
    check(crc.finalize(), u32::from_le_bytes(reader.take()?))?;
    let (found, stored) = (low_bits(out.len() - before), u32::from_le_bytes(reader.take()?));
    if found != stored {
        let what = format!("{found} decoded bytes, {stored} by the trailer (modulo 2^32)");
        return Err(Error::Corrupt { codec: NAME, what });
    }
    Ok(())
}

fn header(reader: &mut Reader<'_>) -> Result<(), Error> {
    let corrupt = |what: String| Err(Error::Corrupt { codec: NAME, what });
    let start = reader.at();
    let magic: [u8; 2] = reader.take()?;
    if magic != MAGIC {
        return corrupt(format!("found {magic:02x?}, expected {MAGIC:02x?}"));
    }
    let [method, flags, _time @ .., _effort, _os]: [u8; 8] = reader.take()?;
    if method != DEFLATE {
        return corrupt(format!("found compression method {method}, expected {DEFLATE}"));
    }
    if flags & flag::RESERVED != 0 {
        return corrupt(format!("found flags {flags:#04x}, expected the upper three to be 0"));
    }
    if flags & flag::EXTRA != 0 {
        let len = u16::from_le_bytes(reader.take()?);
        reader.skip(usize::from(len))?;
    }
    if flags & flag::NAME != 0 {
        reader.skip_text()?;
    }
    if flags & flag::COMMENT != 0 {
        reader.skip_text()?;
    }
    if flags & flag::HEADER_CRC != 0 {
        let mut crc = Hasher::new();
        crc.update(reader.since(start));
        check(crc.finalize() & 0xffff, u32::from(u16::from_le_bytes(reader.take()?)))?;
    }
    Ok(())
}

fn check(found: u32, stored: u32) -> Result<(), Error> {
    if found == stored {
        return Ok(());
    }
    Err(Error::Checksum { codec: NAME, found: found.into(), stored: stored.into() })
}

/// Returns the length modulo 2^32, as in a trailer.
fn low_bits(len: usize) -> u32 {
    (len as u64 & u64::from(u32::MAX)) as u32
}
