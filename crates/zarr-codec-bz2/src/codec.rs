//! The codec.

use crate::stream::{compress, decompress};
use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, Codec, CodecEntry, Config, Error, Sink, Size};

/// The codec, for the table of codecs.
pub const ENTRY: CodecEntry = CodecEntry { names: &["numcodecs.bz2", "bz2"], build };

pub(crate) const NAME: &str = "bz2";
/// What every stream begins with.
const MAGIC: &[u8] = b"BZh";

/// The configuration of codec `bz2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bz2Config {
    /// 1 (small blocks) to 9 (large ones).
    pub level: u32,
}

impl Bz2Config {
    /// Reads the configuration.
    ///
    /// # Errors
    /// [`Error::Metadata`] if `level` is not one.
    pub fn from_config(config: &Config<'_>) -> Result<Self, Error> {
        let level = config.integer("level", 1..=9)?;
        Ok(Self { level: level.and_then(|level| u32::try_from(level).ok()).unwrap_or(1) })
    }
}

fn build(context: &BuildContext<'_>) -> Result<Codec, Error> {
    Ok(Codec::BytesToBytes(Arc::new(Bz2 { config: Bz2Config::from_config(context.config)? })))
}

#[derive(Debug)]
struct Bz2 {
    config: Bz2Config,
}

impl BytesToBytes for Bz2 {
    fn name(&self) -> &'static str {
        NAME
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
            let used = decompress(rest, out)?;
            rest = match used {
                Some(used) => rest.get(used..).unwrap_or_default(),
                None => {
                    let found = bytes.len() as u64;
                    return Err(Error::Truncated { codec: NAME, found, expected: found + 1 });
                }
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
