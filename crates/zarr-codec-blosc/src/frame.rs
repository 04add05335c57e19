//! The header of a frame and the layout that follows from it.
//!
//! ```text
//! byte 0  version of the container: 2        byte 4   u32 bytes held
//!      1  version of the stream format: 1         8   u32 bytes of a block
//!      2  flags                                  12   u32 bytes of the frame
//!      3  bytes of an element                    16   i32 start of each block, then the blocks
//! ```
//!
//! All little-endian (c-blosc 1.21, `README_CHUNK_FORMAT.rst`).

use crate::{Compressor, Error, Format};

/// Bytes of a header.
pub const HEADER_SIZE: usize = 16;

/// The most bytes that a frame can hold: with its header they are counted in an i32.
pub const MAX_DECODED: usize = i32::MAX as usize - HEADER_SIZE;

/// The most bytes of a block (`BLOSC_MAX_BLOCKSIZE` of c-blosc 1.21).
pub(crate) const MAX_BLOCK: usize = (i32::MAX as usize - 255 * 4) / 3;

/// Most streams that a block is split into (`MAX_SPLITS` of c-blosc 1.21).
const MAX_SPLITS: usize = 16;

/// Least number of bytes of a stream; fewer bytes are not compressed (`MIN_BUFFERSIZE` of c-blosc 1.21).
pub(crate) const MIN_STREAM: usize = 128;

const VERSION: u8 = 2;
const FORMAT_VERSION: u8 = 1;
const BYTE_SHUFFLE: u8 = 1;
const PLAIN: u8 = 2;
const BIT_SHUFFLE: u8 = 4;
const RESERVED: u8 = 8;
const NOT_SPLIT: u8 = 16;

/// The order that the bytes of elements are brought into before they are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shuffle {
    /// Not at all.
    None,
    /// First the first byte of each element, then the second of each, and so on.
    #[default]
    Bytes,
    /// The same with bits.
    Bits,
}

/// The header of a frame whose numbers agree with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    flags: u8,
    type_size: u8,
    decoded_size: u32,
    block_size: u32,
    frame_size: u32,
}

impl Header {
    /// The header of `frame`, which is a whole frame.
    ///
    /// # Errors
    /// [`Error::Header`], [`Error::Version`], [`Error::Format`], [`Error::Flags`], [`Error::FrameSize`],
    /// [`Error::BlockSize`], [`Error::BlockStart`] if the table of blocks is cut, and [`Error::Implausible`].
    pub fn parse(frame: &[u8]) -> Result<Self, Error> {
        let &[version, format_version, flags, type_size, ref sizes @ ..] =
            frame.first_chunk::<HEADER_SIZE>().ok_or(Error::Header { found: frame.len(), expected: HEADER_SIZE })?;
        let &[n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3] = sizes;
        let header = Self {
            flags,
            type_size,
            decoded_size: u32::from_le_bytes([n0, n1, n2, n3]),
            block_size: u32::from_le_bytes([b0, b1, b2, b3]),
            frame_size: u32::from_le_bytes([c0, c1, c2, c3]),
        };
        if version != VERSION {
            return Err(Error::Version { found: version });
        }
        if flags & RESERVED != 0 {
            return Err(Error::Flags { flags });
        }
        if Format::from_code(flags >> 5).is_none() || (format_version != FORMAT_VERSION && !header.is_plain()) {
            return Err(Error::Format { format: flags >> 5, version: format_version });
        }
        if header.frame_size as usize != frame.len() {
            return Err(Error::FrameSize { found: frame.len(), stored: header.frame_size });
        }
        header.check()?;
        Ok(header)
    }

    fn check(&self) -> Result<(), Error> {
        let (decoded, size) = (self.decoded_size(), self.frame_size as usize);
        if decoded == 0 {
            // Nothing else in the header means anything then, as for c-blosc.
            return self.check_plain();
        }
        let (block, item) = (self.block_size(), self.type_size());
        let cannot_split = !self.is_plain() && self.is_split() && !block.is_multiple_of(item);
        if block == 0 || block > decoded || block > MAX_BLOCK || item == 0 || cannot_split {
            return Err(Error::BlockSize { block_size: block, type_size: item, decoded });
        }
        if self.is_plain() {
            return self.check_plain();
        }
        if self.table_end() > size {
            return Err(Error::BlockStart { block: self.block_count(), start: self.table_end() as i64, size });
        }
        let format = self.format();
        if decoded > MAX_DECODED || decoded / format.max_ratio() > size {
            return Err(Error::Implausible { decoded, encoded: size, format });
        }
        Ok(())
    }

    /// Checks that nothing but the bytes themselves follows the header.
    fn check_plain(&self) -> Result<(), Error> {
        let (found, expected) = (self.decoded_size(), self.frame_size as usize - HEADER_SIZE);
        if found == expected { Ok(()) } else { Err(Error::DecodedSize { found, expected }) }
    }

    /// The header of a frame to be written, as if it were plain; see
    /// [`compressed`](Self::compressed).
    pub(crate) fn new(compressor: Compressor, shuffle: Shuffle, type_size: u8, decoded: u32, block: u32) -> Self {
        let shuffle = match shuffle {
            Shuffle::None => 0,
            Shuffle::Bytes => BYTE_SHUFFLE,
            Shuffle::Bits => BIT_SHUFFLE,
        };
        let mut flags = shuffle | PLAIN | (compressor.format().code() << 5);
        if !splits(compressor, type_size.into(), block as usize) {
            flags |= NOT_SPLIT;
        }
        Self { flags, type_size, decoded_size: decoded, block_size: block, frame_size: decoded + HEADER_SIZE as u32 }
    }

    /// The same header for a compressed frame of `size` bytes.
    pub(crate) fn compressed(self, size: u32) -> Self {
        Self { flags: self.flags & !PLAIN, frame_size: size, ..self }
    }

    /// The header's bytes.
    pub(crate) fn to_bytes(self) -> [u8; HEADER_SIZE] {
        let [n0, n1, n2, n3] = self.decoded_size.to_le_bytes();
        let [b0, b1, b2, b3] = self.block_size.to_le_bytes();
        let [c0, c1, c2, c3] = self.frame_size.to_le_bytes();
        let (flags, item) = (self.flags, self.type_size);
        [VERSION, FORMAT_VERSION, flags, item, n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3]
    }

    /// Bytes that the frame holds.
    pub fn decoded_size(&self) -> usize {
        self.decoded_size as usize
    }

    /// Bytes of each block but the last, which may be shorter.
    pub fn block_size(&self) -> usize {
        self.block_size as usize
    }

    /// Bytes of an element.
    pub fn type_size(&self) -> usize {
        self.type_size.into()
    }

    /// How bytes were reordered. Byte shuffle is ignored for elements of one byte, and goes before bit shuffle where both
    /// are set.
    pub fn shuffle(&self) -> Shuffle {
        if self.flags & BYTE_SHUFFLE != 0 && self.type_size > 1 {
            Shuffle::Bytes
        } else if self.flags & BIT_SHUFFLE != 0 {
            Shuffle::Bits
        } else {
            Shuffle::None
        }
    }

    /// The format of the streams.
    pub fn format(&self) -> Format {
        // A header with another code is never built.
        Format::from_code(self.flags >> 5).unwrap_or(Format::Blosclz)
    }

    /// Whether the bytes follow the header as they are.
    pub fn is_plain(&self) -> bool {
        self.flags & PLAIN != 0
    }

    /// The number of blocks.
    pub fn block_count(&self) -> usize {
        if self.block_size == 0 { 0 } else { self.decoded_size.div_ceil(self.block_size) as usize }
    }

    /// Where the table of blocks ends in a frame that is not plain.
    pub(crate) fn table_end(&self) -> usize {
        self.block_count().saturating_mul(4).saturating_add(HEADER_SIZE)
    }

    /// The number of streams of a block of `size` bytes: a shorter last block is never split.
    pub(crate) fn streams(&self, size: usize) -> usize {
        if self.is_split() && size == self.block_size() { self.type_size() } else { 1 }
    }

    /// Before c-blosc 1.15 the flag did not exist and the size decided alone; it still does where the flag is not set.
    fn is_split(&self) -> bool {
        self.flags & NOT_SPLIT == 0 && can_split(self.type_size(), self.block_size())
    }
}

fn can_split(type_size: usize, block_size: usize) -> bool {
    (1..=MAX_SPLITS).contains(&type_size) && block_size / type_size >= MIN_STREAM
}

/// Whether blocks are split into a stream for each byte of an element. c-blosc does the same in its default mode
/// (`BLOSC_FORWARD_COMPAT_SPLIT`).
pub(crate) fn splits(compressor: Compressor, type_size: usize, block_size: usize) -> bool {
    compressor != Compressor::Zstd && can_split(type_size, block_size)
}
