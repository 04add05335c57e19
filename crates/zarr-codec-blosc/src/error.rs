//! Errors of blosc frames.

use crate::Format;
use std::ops::Range;

/// Why a frame could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Fewer bytes than a header.
    #[error("{found} bytes, a header is {expected}")]
    Header {
        /// Bytes there are.
        found: usize,
        /// Bytes of a header.
        expected: usize,
    },
    /// A version of the container other than 2, the one of blosc 1.
    #[error("container version {found}, expected 2")]
    Version {
        /// The version found.
        found: u8,
    },
    /// A format of the streams that no blosc 1 knows, or a version of it from the future.
    #[error("stream format {format} version {version}, expected format 0 to 4 version 1")]
    Format {
        /// The number of the format.
        format: u8,
        /// Its version.
        version: u8,
    },
    /// A flag that is reserved is set.
    #[error("flags {flags:#04x}, bit 3 is reserved")]
    Flags {
        /// All flags.
        flags: u8,
    },
    /// The frame says that it is longer or shorter than it is.
    #[error("{found} bytes, the header says {stored}")]
    FrameSize {
        /// Bytes there are.
        found: usize,
        /// Bytes that the header says there are.
        stored: u32,
    },
    /// The frame holds more or fewer bytes than expected.
    #[error("holds {found} bytes, expected {expected}")]
    DecodedSize {
        /// Bytes that the header says the frame holds.
        found: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// The frame says that it holds more bytes than its streams can make.
    #[error("holds {decoded} bytes in {encoded}, more than {format} can")]
    Implausible {
        /// Bytes that the header says the frame holds.
        decoded: usize,
        /// Bytes of the frame.
        encoded: usize,
        /// The format of its streams.
        format: Format,
    },
    /// Blocks of no bytes, of more than the frame holds, or that cannot be split into streams.
    #[error("blocks of {block_size} bytes of elements of {type_size} in {decoded} bytes")]
    BlockSize {
        /// Bytes of a block.
        block_size: usize,
        /// Bytes of an element.
        type_size: usize,
        /// Bytes that the header says the frame holds.
        decoded: usize,
    },
    /// A block, or the table of blocks, lies outside of the frame.
    #[error("block {block} at {start} of {size} bytes")]
    BlockStart {
        /// The number of the block.
        block: usize,
        /// Where it should start.
        start: i64,
        /// Bytes of the frame.
        size: usize,
    },
    /// A stream lies outside of the frame.
    #[error("block {block}: stream of {stored} bytes, {left} are left")]
    StreamSize {
        /// The number of the block.
        block: usize,
        /// Bytes of the stream as stored.
        stored: i64,
        /// Bytes left in the frame.
        left: usize,
    },
    /// A stream decodes to fewer bytes than its part of the block, or to more.
    #[error("block {block}: {format} stream of {found} bytes, expected {expected}")]
    StreamDecoded {
        /// The number of the block.
        block: usize,
        /// The format of the stream.
        format: Format,
        /// Bytes decoded.
        found: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// A stream breaks its format.
    #[error("block {block}: {format}: {what}")]
    Stream {
        /// The number of the block.
        block: usize,
        /// The format of the stream.
        format: Format,
        /// The message of its decoder.
        what: String,
    },
    /// A zstd stream from before its format settled. zarr-python 1.1 wrote such ones.
    #[error("block {block}: a stream of zstd 0.{version}, whose format zstd gave up with version 0.8")]
    OldZstd {
        /// The number of the block.
        block: usize,
        /// The version of the format.
        version: u8,
    },
    /// A buffer that is not of the size of the block or range that is to be decoded.
    #[error("buffer of {found} bytes, expected {expected}")]
    Buffer {
        /// Bytes of the buffer.
        found: usize,
        /// Bytes to be decoded.
        expected: usize,
    },
    /// A range of bytes outside of the decoded frame.
    #[error("bytes {}..{} of {size}", range.start, range.end)]
    Range {
        /// The range asked for.
        range: Range<usize>,
        /// Bytes that the frame holds.
        size: usize,
    },
    /// More bytes than a frame can hold.
    #[error("{found} bytes, a frame holds {limit} at most")]
    TooLong {
        /// Bytes to be encoded.
        found: usize,
        /// The most that a frame can hold.
        limit: usize,
    },
    /// There is no memory for a buffer.
    #[error("no memory for {size} bytes")]
    Allocation {
        /// Its size in bytes.
        size: usize,
    },
    /// The bytes to be encoded could not be brought together.
    #[error(transparent)]
    Source(Box<zarr_codec::Error>),
    /// A compressor could not be made ready.
    #[error("{compressor}: {what}")]
    Compressor {
        /// Its name.
        compressor: &'static str,
        /// The message.
        what: String,
    },
}

impl Error {
    /// Why a stream could not be decoded; `what` is the message of its decoder.
    pub(crate) fn of_stream(block: usize, format: Format, stream: &[u8], what: String) -> Self {
        match stream {
            // The versions before 0.8 counted their magic number up, from 0.2 on (`lib/legacy` of zstd 1.5).
            [first @ 0x22..=0x27, 0xb5, 0x2f, 0xfd, ..] if format == Format::Zstd => {
                Self::OldZstd { block, version: first - 0x20 }
            }
            _ => Self::Stream { block, format, what },
        }
    }
}

/// The codec's name in errors.
pub(crate) const CODEC: &str = "blosc";

impl From<Error> for zarr_codec::Error {
    fn from(error: Error) -> Self {
        let codec = CODEC;
        match error {
            Error::Header { found, expected } => {
                Self::Truncated { codec, found: found as u64, expected: expected as u64 }
            }
            Error::FrameSize { found, stored } if (found as u64) < u64::from(stored) => {
                Self::Truncated { codec, found: found as u64, expected: u64::from(stored) }
            }
            Error::FrameSize { found, stored } => {
                Self::TooLong { codec, found: found as u64, expected: u64::from(stored) }
            }
            Error::DecodedSize { found, expected } if found < expected => {
                Self::Truncated { codec, found: found as u64, expected: expected as u64 }
            }
            Error::DecodedSize { found, expected } => {
                Self::TooLong { codec, found: found as u64, expected: expected as u64 }
            }
            Error::OldZstd { .. } => Self::Unsupported { codec, what: error.to_string() },
            Error::Source(error) => *error,
            Error::Allocation { size } => Self::Allocation { size: size as u64 },
            Error::TooLong { .. } | Error::Compressor { .. } => Self::Encode { codec, what: error.to_string() },
            _ => Self::Corrupt { codec, what: error.to_string() },
        }
    }
}
