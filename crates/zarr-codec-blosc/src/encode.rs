//! Encoding of frames.

use crate::frame::{HEADER_SIZE, Header, MAX_BLOCK, MAX_DECODED, MIN_STREAM, Shuffle, splits};
use crate::inner::{Compressor, Writer};
use crate::{Error, shuffle};
use zarr_codec::{Scratch, Source};

/// Options of compression. Any values make a valid frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Compressor of the streams of the frame.
    pub compressor: Compressor,
    /// Compression level from 0, no compression, to 9, the strongest; higher numbers count as 9. For Snappy it only determines the block
    /// size.
    pub level: u8,
    /// Shuffle of bytes or bits before compression.
    pub shuffle: Shuffle,
    /// Element size in bytes; a size outside of 1 to 255 counts as 1, as in c-blosc.
    pub type_size: usize,
    /// Approximate block size in bytes; 0 leaves it to heuristics.
    pub block_size: usize,
}

/// LZ4 at level 5, with byte shuffle of elements of 4 bytes and a block size by heuristics.
impl Default for Options {
    fn default() -> Self {
        Self { compressor: Compressor::Lz4, level: 5, shuffle: Shuffle::Bytes, type_size: 4, block_size: 0 }
    }
}

/// Appends a frame that holds `bytes` to `out`. The frame is longer than `bytes` by at most a header.
///
/// # Errors
/// [`Error::TooLong`] beyond [`MAX_DECODED`] bytes, [`Error::Allocation`] and [`Error::Compressor`]; `out` is then unchanged.
pub fn compress(bytes: &[u8], options: &Options, out: &mut Vec<u8>) -> Result<(), Error> {
    compress_from(&bytes, options, out)
}

/// Appends a frame to `out`, as [`compress`] does, for bytes that `source` provides piece by piece. [`Error::Source`] if `source` fails.
pub(crate) fn compress_from(source: &dyn Source, options: &Options, out: &mut Vec<u8>) -> Result<(), Error> {
    let start = out.len();
    let result = append(source, options, out);
    if result.is_err() {
        out.truncate(start);
    }
    result
}

fn append(source: &dyn Source, options: &Options, out: &mut Vec<u8>) -> Result<(), Error> {
    let size = source.size();
    let too_long = Error::TooLong { found: size, limit: MAX_DECODED };
    let decoded = u32::try_from(size).ok().filter(|_| size <= MAX_DECODED).ok_or(too_long)?;
    let item = u8::try_from(options.type_size).unwrap_or(1).max(1);
    let options = Options { level: options.level.min(9), type_size: item.into(), ..*options };
    let block = block_size(&options, size);
    let header = Header::new(options.compressor, options.shuffle, item, decoded, block as u32);
    let limit = size + HEADER_SIZE;
    out.try_reserve(limit).map_err(|_| Error::Allocation { size: limit })?;
    let start = out.len();
    if options.level > 0 && size >= MIN_STREAM && append_blocks(source, &options, &header, limit, out)? {
        let size = out.len() - start;
        if let Some(bytes) = out.get_mut(start..).and_then(<[u8]>::first_chunk_mut) {
            *bytes = header.compressed(size as u32).to_bytes();
        }
        return Ok(());
    }
    out.truncate(start);
    out.extend_from_slice(&header.to_bytes());
    each_piece(source, block, |bytes| {
        out.extend_from_slice(bytes);
        Ok(true)
    })?;
    Ok(())
}

/// Number of bytes gathered at once; larger blocks are gathered one by one.
const PIECE: usize = 128 << 10;

/// Calls `visit` with consecutive pieces of `source`, each of several whole blocks, until it returns false. Returns whether it never
/// returned false.
fn each_piece(
    source: &dyn Source,
    block: usize,
    mut visit: impl FnMut(&[u8]) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let (size, step) = (source.size(), (PIECE / block).max(1) * block);
    let mut scratch = Scratch::take();
    for start in (0..size).step_by(step) {
        let bytes = source.bytes(start..(start + step).min(size), &mut scratch);
        if !visit(bytes.map_err(|error| Error::Source(Box::new(error)))?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Appends a frame of compressed blocks, with an empty header; returns false if it is longer than `limit`.
fn append_blocks(
    source: &dyn Source,
    options: &Options,
    header: &Header,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<bool, Error> {
    let start = out.len();
    let split = splits(options.compressor, options.type_size, header.block_size());
    let mut writer = Writer::new(options.compressor, options.level, split);
    if header.table_end() >= limit {
        return Ok(false);
    }
    out.resize(start + header.table_end(), 0);
    let mut entry = start + HEADER_SIZE;
    let mut scratch = Scratch::take();
    each_piece(source, header.block_size(), |bytes| {
        for block in bytes.chunks(header.block_size()) {
            let at = (out.len() - start) as u32;
            if let Some(entry) = out.get_mut(entry..).and_then(<[u8]>::first_chunk_mut) {
                *entry = at.to_le_bytes();
            }
            entry += 4;
            let block = shuffled(block, header, &mut scratch)?;
            let stream_size = block.len() / header.streams(block.len());
            for stream in block.chunks_exact(stream_size) {
                let room = limit.saturating_sub(out.len() - start + 4);
                if room == 0 {
                    return Ok(false);
                }
                let compressed = writer.compress(stream, room)?.unwrap_or(stream);
                if compressed.len() > room {
                    return Ok(false);
                }
                out.extend_from_slice(&(compressed.len() as u32).to_le_bytes());
                out.extend_from_slice(compressed);
            }
        }
        Ok(true)
    })
}

/// Returns the bytes of `block` after the shuffle.
fn shuffled<'a>(block: &'a [u8], header: &Header, scratch: &'a mut Scratch) -> Result<&'a [u8], Error> {
    let item = header.type_size();
    if !shuffle::applies(header.shuffle(), item, block.len()) {
        return Ok(block);
    }
    let size = block.len();
    let out = scratch.sized(size).map_err(|_| Error::Allocation { size })?;
    shuffle::shuffle(header.shuffle(), item, block, out);
    Ok(out)
}

/// Initial block size, before it is adapted to the compressor and the level (`L1` of c-blosc 1.21).
const FIRST: usize = 32 << 10;

/// Returns the block size for `len` bytes: `compute_blocksize` of c-blosc 1.21.
fn block_size(options: &Options, len: usize) -> usize {
    let item = options.type_size;
    if len < item {
        return 1;
    }
    let mut block = len;
    if options.block_size > 0 {
        block = options.block_size.clamp(MIN_STREAM, MAX_BLOCK);
    } else if len >= FIRST {
        let slow = options.compressor.is_slow();
        block = if slow { 2 * FIRST } else { FIRST };
        block = match options.level {
            0 => block / 4,
            1 => block / 2,
            2 => block,
            3 => block * 2,
            4 | 5 => block * 4,
            6..=8 => block * 8,
            _ if slow => block * 16,
            _ => block * 8,
        };
    }
    if options.level > 0 && splits(options.compressor, item, block) {
        // Each stream gets the size of a block, within bounds that fit caches.
        block = (block.min(256 << 10) * item).clamp(64 << 10, 1 << 20);
    }
    block = block.min(len);
    if block > item { block / item * item } else { block }
}
