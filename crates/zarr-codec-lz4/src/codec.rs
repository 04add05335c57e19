//! Codec `lz4`.

use std::sync::Arc;
use zarr_codec::{
    BuildContext, BytesToBytes, CodecEntry, CodecValue, Error, Protection, Scratch, Sink, Size, slice_methods,
};
use zarr_json::Map;
use zarr_kernels::lz4::{self, MAX_SIZE, compress, decompress, max_compressed_size};

/// Entry of the codec `lz4` for the table of codecs.
pub const LZ4: CodecEntry =
    CodecEntry::bytes_to_bytes("numcodecs.lz4", |context| Ok(Arc::new(Lz4::from_config(context)?)))
        .id("lz4")
        .only_read(&["lz4"])
        .arguments(&[("acceleration", Some("1"))]);

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[LZ4];

const NAME: &str = "lz4";
/// Maximum number of decoded bytes per byte of a block: a byte of a length adds up to 255.
const MAX_RATIO: usize = 255;

/// Codec `lz4` with its acceleration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lz4 {
    acceleration: i64,
}

impl Lz4 {
    /// Creates the codec with acceleration 1.
    pub fn new() -> Self {
        Self::acceleration(1)
    }

    /// Creates the codec with an acceleration factor; a higher factor is faster and compresses less. Numbers below 1 count as 1.
    pub fn acceleration(acceleration: i64) -> Self {
        Self { acceleration }
    }
}

impl Default for Lz4 {
    fn default() -> Self {
        Self::new()
    }
}

impl CodecValue for Lz4 {
    const ENTRY: CodecEntry = LZ4;

    /// Reads the configuration. An invalid acceleration, which decoding does not need, becomes the default.
    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let found = context.config.integer("acceleration", i64::MIN..=i64::MAX);
        Ok(Self { acceleration: context.config.or_default("acceleration", found, 1) })
    }

    fn to_config(&self) -> Map {
        Map::from([("acceleration", self.acceleration.into())])
    }
}

slice_methods!(Lz4);

impl BytesToBytes for Lz4 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn protection(&self, _: Option<&[u8]>) -> Protection {
        Protection::Form
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        // The bound of a block (`LZ4_compressBound`) behind four bytes.
        decoded.at_most(|size| size.checked_add(size / 255)?.checked_add(20))
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |what: String| Error::Encode { codec: NAME, what };
        let size = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= MAX_SIZE);
        let size = size.ok_or_else(|| failed(format!("{} bytes, the format takes {MAX_SIZE}", bytes.len())))?;
        let room = max_compressed_size(bytes.len());
        let mut scratch = Scratch::take();
        let block = scratch.sized(room)?;
        let len = compress(bytes, block, usize::try_from(self.acceleration).unwrap_or(1));
        let block = len.and_then(|len| block.get(..len)).ok_or_else(|| failed("the block is too long".to_owned()))?;
        out.try_reserve(4 + block.len()).map_err(|_| Error::Allocation { size: room as u64 })?;
        out.extend_from_slice(&size.to_le_bytes());
        out.extend_from_slice(block);
        Ok(())
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        let corrupt = |what: String| Error::Corrupt { codec: NAME, what };
        let Some((size, block)) = bytes.split_first_chunk() else {
            return Err(Error::Truncated { codec: NAME, found: bytes.len() as u64, expected: 4 });
        };
        let size = u32::from_le_bytes(*size);
        let size = check_size(size, out)?;
        if size > block.len().saturating_mul(MAX_RATIO) {
            return Err(corrupt(format!("a block of {} bytes claims to hold {size}", block.len())));
        }
        let target = out.buffer(size)?;
        match decompress(block, target) {
            Ok(came) if came == size => Ok(()),
            Ok(came) => Err(corrupt(format!("a block of {came} bytes claims to hold {size}"))),
            Err(lz4::Error::TooLong) => {
                Err(corrupt(format!("a block holds more than the {size} bytes that it claims to")))
            }
            Err(error) => Err(corrupt(error.to_string())),
        }
    }
}

/// Checks the decoded size in a chunk against the limit of `out`, before anything is allocated.
fn check_size(size: u32, out: &Sink<'_>) -> Result<usize, Error> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let room = out.bound().saturating_sub(out.len());
    let (found, expected) = (size as u64, room as u64);
    if size > room {
        return Err(Error::TooLong { codec: NAME, found, expected });
    }
    if size < room && out.expected().is_some() {
        return Err(Error::Truncated { codec: NAME, found, expected });
    }
    Ok(size)
}
