//! Header of a frame, and the layout that follows from it.
//!
//! ```text
//! byte 0  version of the container: 2        byte 4   u32 bytes held
//!      1  version of the stream format: 1         8   u32 bytes of a block
//!      2  flags                                  12   u32 bytes of the frame
//!      3  bytes of an element                    16   i32 start of each block, then the blocks
//! ```
//!
//! All numbers are little-endian (c-blosc 1.21, `README_CHUNK_FORMAT.rst`).

use crate::{Compressor, Error, Format};

/// Size of a header in bytes.
pub const HEADER_SIZE: usize = 16;

/// Maximum number of bytes that a frame can hold: together with the header they are counted in an i32.
pub const MAX_DECODED: usize = i32::MAX as usize - HEADER_SIZE;

/// Maximum block size in bytes (`BLOSC_MAX_BLOCKSIZE` of c-blosc 1.21).
pub(crate) const MAX_BLOCK: usize = (i32::MAX as usize - 255 * 4) / 3;

/// Maximum number of streams of a block (`MAX_SPLITS` of c-blosc 1.21).
const MAX_SPLITS: usize = 16;

/// Minimum size of a stream in bytes; fewer bytes are not compressed (`MIN_BUFFERSIZE` of c-blosc 1.21).
pub(crate) const MIN_STREAM: usize = 128;

const VERSION: u8 = 2;
const FORMAT_VERSION: u8 = 1;
const BYTE_SHUFFLE: u8 = 1;
const PLAIN: u8 = 2;
const BIT_SHUFFLE: u8 = 4;
const RESERVED: u8 = 8;
const NOT_SPLIT: u8 = 16;

/// Shuffle: the reordering of the bytes of elements before compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shuffle {
    /// No shuffle: bytes stay in order.
    None,
    /// Byte shuffle: the first byte of each element, then the second byte of each, and so on.
    #[default]
    Bytes,
    /// Bit shuffle: the first bit of each element, then the second bit of each, and so on.
    Bits,
}

/// Header of a frame, with consistent fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    flags: u8,
    type_size: u8,
    decoded_size: u32,
    block_size: u32,
    frame_size: u32,
}

impl Header {
    /// Parses the header of `frame`, a whole frame.
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

    /// Checks that exactly the uncompressed bytes follow the header.
    fn check_plain(&self) -> Result<(), Error> {
        let (found, expected) = (self.decoded_size(), self.frame_size as usize - HEADER_SIZE);
        if found == expected { Ok(()) } else { Err(Error::DecodedSize { found, expected }) }
    }

    /// Creates the header of a new frame as a plain one; see [`compressed`](Self::compressed).
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

    /// Changes the header to that of a compressed frame of `size` bytes.
    pub(crate) fn compressed(self, size: u32) -> Self {
        Self { flags: self.flags & !PLAIN, frame_size: size, ..self }
    }

    /// Returns the bytes of the header.
    pub(crate) fn to_bytes(self) -> [u8; HEADER_SIZE] {
        let [n0, n1, n2, n3] = self.decoded_size.to_le_bytes();
        let [b0, b1, b2, b3] = self.block_size.to_le_bytes();
        let [c0, c1, c2, c3] = self.frame_size.to_le_bytes();
        let (flags, item) = (self.flags, self.type_size);
        [VERSION, FORMAT_VERSION, flags, item, n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3]
    }

    /// Returns the decoded size of the frame in bytes.
    pub fn decoded_size(&self) -> usize {
        self.decoded_size as usize
    }

    /// Returns the size of each block in bytes; the last block may be shorter.
    pub fn block_size(&self) -> usize {
        self.block_size as usize
    }

    /// Returns the element size in bytes.
    pub fn type_size(&self) -> usize {
        self.type_size.into()
    }

    /// Returns the shuffle. Byte shuffle is ignored for elements of one byte, and precedes bit shuffle if both flags are set.
    pub fn shuffle(&self) -> Shuffle {
        if self.flags & BYTE_SHUFFLE != 0 && self.type_size > 1 {
            Shuffle::Bytes
        } else if self.flags & BIT_SHUFFLE != 0 {
            Shuffle::Bits
        } else {
            Shuffle::None
        }
    }

    /// Returns the format of the streams.
    pub fn format(&self) -> Format {
        // A header with another code is never built.
        Format::from_code(self.flags >> 5).unwrap_or(Format::Blosclz)
    }

    /// Returns whether the frame is plain: its bytes follow the header uncompressed.
    pub fn is_plain(&self) -> bool {
        self.flags & PLAIN != 0
    }

    /// Returns the number of blocks.
    pub fn block_count(&self) -> usize {
        if self.block_size == 0 { 0 } else { self.decoded_size.div_ceil(self.block_size) as usize }
    }

    /// Returns the offset of the end of the block table, in a frame that is not plain.
    pub(crate) fn table_end(&self) -> usize {
        self.block_count().saturating_mul(4).saturating_add(HEADER_SIZE)
    }

    /// Returns the number of streams of a block of `size` bytes; a shorter last block is never split.
    pub(crate) fn streams(&self, size: usize) -> usize {
        if self.is_split() && size == self.block_size() { self.type_size() } else { 1 }
    }

    /// Returns whether blocks are split. Before c-blosc 1.15 there was no flag and the sizes decided alone; they still do if the flag is
    /// not set.
    fn is_split(&self) -> bool {
        self.flags & NOT_SPLIT == 0 && can_split(self.type_size(), self.block_size())
    }
}

fn can_split(type_size: usize, block_size: usize) -> bool {
    (1..=MAX_SPLITS).contains(&type_size) && block_size / type_size >= MIN_STREAM
}

/// Returns whether blocks are split into one stream for each byte of an element, as c-blosc does in its default mode
/// (`BLOSC_FORWARD_COMPAT_SPLIT`).
pub(crate) fn splits(compressor: Compressor, type_size: usize, block_size: usize) -> bool {
    compressor != Compressor::Zstd && can_split(type_size, block_size)
}
