//! The codec.

use crate::stream::{NAME, behind_empty_streams, compress, decompress};
use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, CodecEntry, Error, Protection, Sink, Size};

/// The codec, for the table of codecs.
pub const BZ2: CodecEntry = CodecEntry::bytes_to_bytes("numcodecs.bz2", build)
    .id("bz2")
    .only_read(&["bz2", "https://codec.zarrs.dev/bytes_to_bytes/bz2"])
    .arguments(&[("level", Some("1"))]);

/// The codec of this crate, for the table of codecs.
pub const CODECS: &[CodecEntry] = &[BZ2];

/// The first bytes of every stream.
const MAGIC: &[u8] = b"BZh";

/// The configuration of codec `bz2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bz2Config {
    /// 1 (small blocks) to 9 (large ones).
    pub level: u32,
}

impl Bz2Config {
    /// Reads the configuration. A wrong level, which decoding does not need, is the default.
    pub fn from_context(context: &BuildContext<'_>) -> Self {
        Self { level: context.config.or_default("level", context.config.integer("level", 1..=9), 1) }
    }
}

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn BytesToBytes>, Error> {
    Ok(Arc::new(Bz2 { config: Bz2Config::from_context(context) }))
}

#[derive(Debug)]
struct Bz2 {
    config: Bz2Config,
}

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
        compress(bytes, self.config.level, out)
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
