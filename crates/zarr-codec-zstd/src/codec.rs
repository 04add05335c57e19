//! The codec.

use crate::config::ZstdConfig;
use crate::{decode, encode};
use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, Codec, CodecEntry, Error, Sink, Size};

/// The codec, for the table of codecs.
pub const ENTRY: CodecEntry = CodecEntry { names: &["zstd", "numcodecs.zstd"], build };

/// The name in errors.
pub(crate) const NAME: &str = "zstd";

fn build(context: &BuildContext<'_>) -> Result<Codec, Error> {
    let config = match context.name {
        "numcodecs.zstd" => ZstdConfig::of_numcodecs(context.config)?,
        _ => ZstdConfig::from_config(context.config)?,
    };
    Ok(Codec::BytesToBytes(Arc::new(Zstd { config })))
}

#[derive(Debug)]
struct Zstd {
    config: ZstdConfig,
}

impl BytesToBytes for Zstd {
    fn name(&self) -> &'static str {
        NAME
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
