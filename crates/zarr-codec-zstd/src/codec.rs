//! The codec.

use crate::config::{NAME, ZstdConfig};
use crate::{decode, encode};
use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, CodecEntry, Error, Protection, Sink, Size, add_missing};

/// The codec, for the table of codecs.
pub const ZSTD: CodecEntry = CodecEntry::bytes_to_bytes("zstd", build)
    .id("zstd")
    .aliases(&["numcodecs.zstd"])
    .arguments(&[("level", Some("0")), ("checksum", Some("false"))])
    .complete_with(|codec, _| add_missing(codec, [("level", 0.into()), ("checksum", false.into())]));

/// The codec of this crate, for the table of codecs.
pub const CODECS: &[CodecEntry] = &[ZSTD];

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn BytesToBytes>, Error> {
    Ok(Arc::new(Zstd { config: ZstdConfig::from_context(context) }))
}

#[derive(Debug)]
struct Zstd {
    config: ZstdConfig,
}

impl BytesToBytes for Zstd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        let has_checksum = encoded.map_or(self.config.checksum, decode::has_checksum);
        if has_checksum { Protection::Checksum } else { Protection::Form }
    }

    /// Generous, as not all software compresses as well as the library: many small frames, blocks that are flushed.
    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.at_most(|size| size.checked_add(size / 4)?.checked_add(8 << 10))
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        encode::encode(bytes, self.config, out)
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        decode::decode(bytes, out)
    }
}
