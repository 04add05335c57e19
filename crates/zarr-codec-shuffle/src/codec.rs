//! The codec.

use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, CodecEntry, Error, Sink, Size, add_missing};
use zarr_kernels::Isa;

/// The codec, for the table of codecs.
pub const SHUFFLE: CodecEntry = CodecEntry::bytes_to_bytes("numcodecs.shuffle", build)
    .id("shuffle")
    .only_read(&["shuffle"])
    .arguments(&[("elementsize", None)])
    .complete_with(|codec, data_type| {
        let size = if data_type.is_variable() { 1 } else { data_type.item_size() };
        add_missing(codec, [("elementsize", size.into())]);
    });

/// The codec of this crate, for the table of codecs.
pub const CODECS: &[CodecEntry] = &[SHUFFLE];

const NAME: &str = "shuffle";

/// The configuration of codec `shuffle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShuffleConfig {
    /// Bytes of an element.
    pub elementsize: usize,
}

impl ShuffleConfig {
    /// Reads the configuration.
    ///
    /// # Errors
    /// [`Error::Metadata`] if `elementsize` is no size.
    pub fn from_context(context: &BuildContext<'_>) -> Result<Self, Error> {
        let size = context.config.integer("elementsize", 0..=i32::MAX as usize)?;
        // Elements of any length are bytes.
        let own = || if context.element.is_variable() { 1 } else { context.element.item_size() };
        Ok(Self { elementsize: size.unwrap_or_else(own) })
    }
}

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn BytesToBytes>, Error> {
    Ok(Arc::new(Shuffle { config: ShuffleConfig::from_context(context)? }))
}

#[derive(Debug)]
struct Shuffle {
    config: ShuffleConfig,
}

impl BytesToBytes for Shuffle {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let size = self.config.elementsize.max(1);
        if !bytes.len().is_multiple_of(size) {
            let what = format!("{} bytes, expected a multiple of {size}", bytes.len());
            return Err(Error::Encode { codec: NAME, what });
        }
        out.try_reserve(bytes.len()).map_err(|_| Error::Allocation { size: bytes.len() as u64 })?;
        let start = out.len();
        out.resize(start + bytes.len(), 0);
        Isa::best().shuffle_bytes(size, bytes, out.get_mut(start..).unwrap_or_default());
        Ok(())
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        Isa::best().unshuffle_bytes(self.config.elementsize.max(1), bytes, out.buffer(bytes.len())?);
        Ok(())
    }
}
