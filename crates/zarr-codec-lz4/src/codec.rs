//! The codec.

use lz4_flex::block::{
    CompressTable, DecompressError, compress_into_with_table, decompress_into, get_maximum_output_size,
};
use std::cell::RefCell;
use std::sync::Arc;
use zarr_codec::{BuildContext, BytesToBytes, Codec, CodecEntry, Config, Error, Sink, Size};

/// The codec, for the table of codecs.
pub const ENTRY: CodecEntry = CodecEntry { names: &["numcodecs.lz4", "lz4"], build };

const NAME: &str = "lz4";
/// The most bytes that LZ4 takes (`LZ4_MAX_INPUT_SIZE`).
const MAX_SIZE: u32 = 0x7E00_0000;
/// No byte of a block stands for more decoded ones: a byte of a length adds up to 255.
const MAX_RATIO: usize = 255;
/// Inputs of fewer bytes are compressed with a table of 16-bit places.
const LARGE: usize = u16::MAX as usize;

thread_local! {
    /// The tables of this thread, for small and for large inputs: always the same for one size, so that what is stored
    /// does not depend on what a thread did before.
    static TABLES: RefCell<(CompressTable, CompressTable)> =
        RefCell::new((CompressTable::small(), CompressTable::large()));
}

/// The configuration of codec `lz4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lz4Config {
    /// How much faster, at the cost of size, numcodecs compresses. Without effect here.
    pub acceleration: i64,
}

impl Lz4Config {
    /// Reads the configuration.
    ///
    /// # Errors
    /// [`Error::Metadata`] if `acceleration` is no integer.
    pub fn from_config(config: &Config<'_>) -> Result<Self, Error> {
        Ok(Self { acceleration: config.integer("acceleration", i64::MIN..=i64::MAX)?.unwrap_or(1) })
    }
}

fn build(context: &BuildContext<'_>) -> Result<Codec, Error> {
    Lz4Config::from_config(context.config)?;
    Ok(Codec::BytesToBytes(Arc::new(Lz4)))
}

#[derive(Debug)]
struct Lz4;

impl BytesToBytes for Lz4 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        // The bound of a block (`LZ4_compressBound`) behind four bytes.
        decoded.at_most(|size| size.checked_add(size / 255)?.checked_add(20))
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |what: String| Error::Encode { codec: NAME, what };
        let size = u32::try_from(bytes.len()).ok().filter(|&size| size <= MAX_SIZE);
        let size = size.ok_or_else(|| failed(format!("{} bytes, the format takes {MAX_SIZE}", bytes.len())))?;
        let room = get_maximum_output_size(bytes.len());
        out.try_reserve(4 + room).map_err(|_| Error::Allocation { size: room as u64 })?;
        out.extend_from_slice(&size.to_le_bytes());
        let start = out.len();
        out.resize(start + room, 0);
        let block = out.get_mut(start..).unwrap_or_default();
        let len = TABLES.with_borrow_mut(|(small, large)| {
            let table = if bytes.len() < LARGE { small } else { large };
            compress_into_with_table(bytes, block, table).map_err(|error| failed(error.to_string()))
        })?;
        out.truncate(start + len);
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
        let place = out.buffer(size)?;
        match decompress_into(block, place) {
            Ok(came) if came == size => Ok(()),
            Ok(came) => Err(corrupt(format!("a block of {came} bytes claims to hold {size}"))),
            Err(DecompressError::OutputTooSmall { .. }) => {
                Err(corrupt(format!("a block holds more than the {size} bytes that it claims to")))
            }
            Err(error) => Err(corrupt(format!("block: {error}"))),
        }
    }
}

/// Checks a stored size before anything is allocated for it.
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
