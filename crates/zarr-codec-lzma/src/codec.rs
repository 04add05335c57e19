//! The codec.

use crate::config::{Check, Format, LzmaConfig, NAME};
use crate::{decode, encode};
use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, CodecEntry, Error, Protection, Sink, Size};

/// The codec, for the table of codecs.
pub const LZMA: CodecEntry = CodecEntry::bytes_to_bytes("numcodecs.lzma", build)
    .id("lzma")
    .only_read(&["lzma"])
    .arguments(&[("format", None), ("check", None), ("preset", None)]);

/// The codec of this crate, for the table of codecs.
pub const CODECS: &[CodecEntry] = &[LZMA];

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn BytesToBytes>, Error> {
    Ok(Arc::new(LzmaCodec { config: LzmaConfig::from_context(context)? }))
}

#[derive(Debug)]
struct LzmaCodec {
    config: LzmaConfig,
}

impl BytesToBytes for LzmaCodec {
    fn name(&self) -> &'static str {
        NAME
    }

    fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        let has_checksum = match (self.config.format, encoded) {
            // The flags of a stream name its checksum (xz 1.2.1, section 2.1.1.2).
            (Format::Xz, Some(bytes)) => bytes.get(7).is_some_and(|flags| flags & 0x0f != 0),
            (Format::Xz, None) => self.config.check != Check::None,
            _ => false,
        };
        if has_checksum { Protection::Checksum } else { Protection::Form }
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        // Generous, as other software may write many small streams.
        decoded.at_most(|size| size.checked_add(size / 4)?.checked_add(8 << 10))
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        encode::encode(&self.config, bytes, out).map_err(|error| Error::Encode { codec: NAME, what: error.to_string() })
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        decode::decode(&self.config, bytes, out)
    }
}
