//! Codec `shuffle`.

use std::ops::RangeInclusive;
use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, CodecEntry, CodecValue, Error, Sink, Size, add_missing, slice_methods};
use zarr_json::Map;
use zarr_kernels::Isa;

/// Entry of the codec `shuffle` for the table of codecs.
pub const SHUFFLE: CodecEntry =
    CodecEntry::bytes_to_bytes("numcodecs.shuffle", |context| Ok(Arc::new(Shuffle::from_config(context)?)))
        .id("shuffle")
        .only_read(&["shuffle"])
        .arguments(&[("elementsize", None)])
        .complete_with(|codec, data_type| {
            let size = if data_type.is_variable() { 1 } else { data_type.item_size() };
            add_missing(codec, [("elementsize", size.into())]);
        });

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[SHUFFLE];

const NAME: &str = "shuffle";

/// Valid sizes of elements; 0 counts as 1.
const SIZES: RangeInclusive<usize> = 0..=i32::MAX as usize;

/// Codec `shuffle`: the bytes of elements, regrouped by their position in the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffle {
    element_size: usize,
}

impl Shuffle {
    /// Creates the codec for elements of `size` bytes.
    ///
    /// # Errors
    /// [`Error::Argument`] for 2 GiB or more.
    pub fn element_size(size: usize) -> Result<Self, Error> {
        Ok(Self { element_size: SHUFFLE.in_range("elementsize", size, SIZES)? })
    }
}

impl CodecValue for Shuffle {
    const ENTRY: CodecEntry = SHUFFLE;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let size = context.config.integer("elementsize", SIZES)?;
        // Elements of any length are bytes.
        let own = || if context.element.is_variable() { 1 } else { context.element.item_size() };
        Ok(Self { element_size: size.unwrap_or_else(own) })
    }

    fn to_config(&self) -> Map {
        Map::from([("elementsize", self.element_size.into())])
    }
}

slice_methods!(Shuffle);

impl BytesToBytes for Shuffle {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let size = self.element_size.max(1);
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
        Isa::best().unshuffle_bytes(self.element_size.max(1), bytes, out.buffer(bytes.len())?);
        Ok(())
    }
}
