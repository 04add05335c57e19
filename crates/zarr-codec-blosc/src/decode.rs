//! Decoding of frames, whole or by blocks.

use crate::frame::{HEADER_SIZE, Header};
use crate::{Error, inner, shuffle};
use std::ops::Range;
use zarr_codec::Scratch;

/// Decodes a whole frame into `out`, whose length must be the decoded size of the frame.
///
/// # Errors
/// [`Error::DecodedSize`] if `out` has another length, and the errors of [`Frame::parse`] and [`Frame::decode_block`].
///
/// ```
/// use zarr_codec_blosc::{Options, compress, decode};
/// let mut frame = Vec::new();
/// compress(&[7; 1000], &Options::default(), &mut frame)?;
/// let mut out = [0; 1000];
/// decode(&frame, &mut out)?;
/// assert_eq!(out, [7; 1000]);
/// # Ok::<(), zarr_codec_blosc::Error>(())
/// ```
pub fn decode(frame: &[u8], out: &mut [u8]) -> Result<(), Error> {
    Frame::parse(frame)?.decode(out)
}

/// Decodes the bytes `range` of the decoded frame into `out`, whose length must be that of the range. Only blocks that overlap the range
/// are decoded.
///
/// # Errors
/// [`Error::Range`] or [`Error::Buffer`] for a wrong range or buffer, and the errors of [`Frame::parse`] and
/// [`Frame::decode_block`].
pub fn decode_range(frame: &[u8], range: Range<usize>, out: &mut [u8]) -> Result<(), Error> {
    Frame::parse(frame)?.decode_range(range, out)
}

/// Frame with a valid header, whose blocks can be decoded one by one.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    header: Header,
    bytes: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Reads and checks the header.
    ///
    /// # Errors
    /// The same errors as [`Header::parse`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        Ok(Self { header: Header::parse(bytes)?, bytes })
    }

    /// Returns the header of the frame.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the whole content of the frame if it is stored uncompressed; else `None`.
    pub(crate) fn as_plain(&self) -> Option<&'a [u8]> {
        let size = self.header.decoded_size();
        if self.header.is_plain() && size > 0 { self.plain(0..size).ok() } else { None }
    }

    /// Returns the range of block `block` in the decoded frame; empty if there is no such block.
    pub fn block_range(&self, block: usize) -> Range<usize> {
        let (size, end) = (self.header.block_size(), self.header.decoded_size());
        let start = block.saturating_mul(size).min(end);
        start..start.saturating_add(size).min(end)
    }

    /// Decodes all blocks into `out`, whose length must be the decoded size of the frame.
    ///
    /// # Errors
    /// [`Error::DecodedSize`] if `out` has another length, and the errors of [`decode_block`](Self::decode_block).
    pub fn decode(&self, out: &mut [u8]) -> Result<(), Error> {
        let found = self.header.decoded_size();
        if found != out.len() {
            return Err(Error::DecodedSize { found, expected: out.len() });
        }
        if out.is_empty() {
            return Ok(());
        }
        if self.header.is_plain() {
            out.copy_from_slice(self.plain(0..found)?);
            return Ok(());
        }
        let mut scratch = Scratch::take();
        for (block, out) in out.chunks_mut(self.header.block_size()).enumerate() {
            self.decode_into(block, out, &mut scratch)?;
        }
        Ok(())
    }

    /// Decodes one block into `out`, whose length must be that of the block's [range](Self::block_range).
    ///
    /// # Errors
    /// [`Error::Buffer`] if `out` has another length; [`Error::BlockStart`], [`Error::StreamSize`], [`Error::StreamDecoded`] or
    /// [`Error::Stream`] if the block is broken, [`Error::Allocation`].
    pub fn decode_block(&self, block: usize, out: &mut [u8]) -> Result<(), Error> {
        let range = self.block_range(block);
        if range.len() != out.len() {
            return Err(Error::Buffer { found: out.len(), expected: range.len() });
        }
        if self.header.is_plain() || out.is_empty() {
            out.copy_from_slice(self.plain(range)?);
            return Ok(());
        }
        self.decode_into(block, out, &mut Scratch::take())
    }

    /// Decodes the bytes `range` of the decoded frame into `out`, whose length must be that of the range. Only blocks that overlap the
    /// range are decoded.
    ///
    /// # Errors
    /// [`Error::Range`] for a range outside of the decoded frame, [`Error::Buffer`] if `out` has another length, and the errors of
    /// [`decode_block`](Self::decode_block).
    pub fn decode_range(&self, range: Range<usize>, out: &mut [u8]) -> Result<(), Error> {
        let size = self.header.decoded_size();
        if range.start > range.end || range.end > size {
            return Err(Error::Range { range, size });
        }
        if range.len() != out.len() {
            return Err(Error::Buffer { found: out.len(), expected: range.len() });
        }
        if self.header.is_plain() || range.is_empty() {
            out.copy_from_slice(self.plain(range)?);
            return Ok(());
        }
        let (mut scratch, mut whole) = (Scratch::take(), Scratch::take());
        let (mut block, mut rest) = (range.start / self.header.block_size(), out);
        while !rest.is_empty() {
            let bytes = self.block_range(block);
            let from = range.start.max(bytes.start) - bytes.start;
            let to = range.end.min(bytes.end) - bytes.start;
            let (part, after) = rest.split_at_mut(to - from);
            if part.len() == bytes.len() {
                self.decode_into(block, part, &mut scratch)?;
            } else {
                let whole = sized(&mut whole, bytes.len())?;
                self.decode_into(block, whole, &mut scratch)?;
                part.copy_from_slice(whole.get(from..to).unwrap_or_default());
            }
            (block, rest) = (block + 1, after);
        }
        Ok(())
    }

    /// Returns the bytes `range` of a plain (uncompressed) frame.
    fn plain(&self, range: Range<usize>) -> Result<&'a [u8], Error> {
        let size = self.header.decoded_size();
        // An empty range is right in any frame, but has no bytes in one that is not plain.
        let bytes = if range.is_empty() { Some(&[][..]) } else { self.bytes.get(HEADER_SIZE..) };
        let start = if range.is_empty() { 0..0 } else { range.clone() };
        bytes.and_then(|bytes| bytes.get(start)).ok_or(Error::Range { range, size })
    }

    /// Decodes a block of a frame that is not plain into `out`, which has the size of the block.
    fn decode_into(&self, block: usize, out: &mut [u8], scratch: &mut Scratch) -> Result<(), Error> {
        let item = self.header.type_size();
        let shuffle = self.header.shuffle();
        if !shuffle::applies(shuffle, item, out.len()) {
            return self.decompress(block, out);
        }
        let shuffled = sized(scratch, out.len())?;
        self.decompress(block, shuffled)?;
        shuffle::unshuffle(shuffle, item, shuffled, out);
        Ok(())
    }

    /// Decompresses the streams of a block.
    fn decompress(&self, block: usize, out: &mut [u8]) -> Result<(), Error> {
        let format = self.header.format();
        let mut rest = self.block_bytes(block)?;
        // A header whose blocks do not divide into streams is refused.
        let stream_size = out.len() / self.header.streams(out.len());
        for out in out.chunks_exact_mut(stream_size.max(1)) {
            let cut = Error::StreamSize { block, stored: 4, left: rest.len() };
            let (length, after) = rest.split_first_chunk::<4>().ok_or(cut)?;
            let stored = i32::from_le_bytes(*length);
            let length = usize::try_from(stored).ok().filter(|&length| length <= after.len());
            let length = length.ok_or(Error::StreamSize { block, stored: stored.into(), left: after.len() })?;
            let (stream, after) = after.split_at(length);
            if stream.len() == out.len() {
                out.copy_from_slice(stream);
            } else {
                let found = inner::decompress(format, stream, out)
                    .map_err(|what| Error::of_stream(block, format, stream, what))?;
                if found != out.len() {
                    return Err(Error::StreamDecoded { block, format, found, expected: out.len() });
                }
            }
            rest = after;
        }
        Ok(())
    }

    /// Returns the bytes from the start of block `block` to the end of the frame: only the streams determine the end of a block, and
    /// writers with several threads store blocks in any order.
    fn block_bytes(&self, block: usize) -> Result<&'a [u8], Error> {
        let entry = self.bytes.get(HEADER_SIZE..).and_then(|table| table.as_chunks::<4>().0.get(block));
        let start = entry.map_or(-1, |entry| i32::from_le_bytes(*entry));
        usize::try_from(start)
            .ok()
            .filter(|&start| start >= self.header.table_end())
            .and_then(|start| self.bytes.get(start..))
            .ok_or(Error::BlockStart { block, start: start.into(), size: self.bytes.len() })
    }
}

fn sized(scratch: &mut Scratch, size: usize) -> Result<&mut [u8], Error> {
    scratch.sized(size).map_err(|_| Error::Allocation { size })
}
