//! Errors of blosc frames.

use crate::Format;
use std::ops::Range;

/// Error in reading or writing a frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Frame shorter than a header.
    #[error("{found} bytes, a header is {expected}")]
    Header {
        /// Number of bytes of the frame.
        found: usize,
        /// Size of a header in bytes.
        expected: usize,
    },
    /// Version of the container other than 2, that of blosc 1.
    #[error("container version {found}, expected 2")]
    Version {
        /// Version of the container in the header.
        found: u8,
    },
    /// Format of the streams, or version of a format, that is unknown.
    #[error("stream format {format} version {version}, expected format 0 to 4 version 1")]
    Format {
        /// Number of the format of the streams in the header.
        format: u8,
        /// Version of the format in the header.
        version: u8,
    },
    /// Reserved flag that is set.
    #[error("flags {flags:#04x}, bit 3 is reserved")]
    Flags {
        /// All flags of the frame.
        flags: u8,
    },
    /// Frame whose size differs from the size in its header.
    #[error("{found} bytes, the header says {stored}")]
    FrameSize {
        /// Number of bytes of the frame.
        found: usize,
        /// Size of the frame in its header.
        stored: u32,
    },
    /// Frame whose content is longer or shorter than expected.
    #[error("holds {found} bytes, expected {expected}")]
    DecodedSize {
        /// Decoded size in the header, in bytes.
        found: usize,
        /// Expected number of decoded bytes.
        expected: usize,
    },
    /// Frame whose decoded size exceeds the maximum that its streams can make.
    #[error("holds {decoded} bytes in {encoded}, more than {format} can")]
    Implausible {
        /// Decoded size in the header, in bytes.
        decoded: usize,
        /// Size of the frame in bytes.
        encoded: usize,
        /// Format of the streams of the frame.
        format: Format,
    },
    /// Block size that is 0, larger than the content, or cannot be split into streams.
    #[error("blocks of {block_size} bytes of elements of {type_size} in {decoded} bytes")]
    BlockSize {
        /// Size of a block in bytes.
        block_size: usize,
        /// Size of an element in bytes.
        type_size: usize,
        /// Decoded size in the header, in bytes.
        decoded: usize,
    },
    /// Block, or table of blocks, outside of the frame.
    #[error("block {block} at {start} of {size} bytes")]
    BlockStart {
        /// Number of the block, counted from 0.
        block: usize,
        /// Offset of the block's start in the frame.
        start: i64,
        /// Size of the frame in bytes.
        size: usize,
    },
    /// Stream that extends beyond the frame.
    #[error("block {block}: stream of {stored} bytes, {left} are left")]
    StreamSize {
        /// Number of the block with the stream, counted from 0.
        block: usize,
        /// Size of the stream as stored, in bytes.
        stored: i64,
        /// Number of bytes left in the frame.
        left: usize,
    },
    /// Stream that decodes to another size than its part of the block.
    #[error("block {block}: {format} stream of {found} bytes, expected {expected}")]
    StreamDecoded {
        /// Number of the block with the stream, counted from 0.
        block: usize,
        /// Format of the stream.
        format: Format,
        /// Number of bytes that the stream decodes to.
        found: usize,
        /// Number of bytes of the stream's part of the block.
        expected: usize,
    },
    /// Stream that violates its format.
    #[error("block {block}: {format}: {what}")]
    Stream {
        /// Number of the block with the stream, counted from 0.
        block: usize,
        /// Format of the stream.
        format: Format,
        /// Message of the decoder about the stream.
        what: String,
    },
    /// zstd stream of a format before 0.8, such as zarr-python 1.1 wrote.
    #[error("block {block}: a stream of zstd 0.{version}, whose format zstd gave up with version 0.8")]
    OldZstd {
        /// Number of the block with the stream, counted from 0.
        block: usize,
        /// Version of zstd 0 that wrote the stream: 7 for zstd 0.7.
        version: u8,
    },
    /// Buffer whose size differs from that of the block or range to be decoded.
    #[error("buffer of {found} bytes, expected {expected}")]
    Buffer {
        /// Size of the buffer in bytes.
        found: usize,
        /// Number of bytes to be decoded.
        expected: usize,
    },
    /// Range of bytes outside of the decoded frame.
    #[error("bytes {}..{} of {size}", range.start, range.end)]
    Range {
        /// Requested range of decoded bytes.
        range: Range<usize>,
        /// Decoded size of the frame in bytes.
        size: usize,
    },
    /// Input that is too long for a frame.
    #[error("{found} bytes, a frame holds {limit} at most")]
    TooLong {
        /// Number of bytes to be encoded.
        found: usize,
        /// Maximum number of bytes that a frame can hold.
        limit: usize,
    },
    /// Lack of memory for a buffer.
    #[error("no memory for {size} bytes")]
    Allocation {
        /// Size of the buffer in bytes.
        size: usize,
    },
    /// Error of the source of the bytes to be encoded.
    #[error(transparent)]
    Source(Box<zarr_codec::Error>),
    /// Compressor that could not be initialized.
    #[error("{compressor}: {what}")]
    Compressor {
        /// Name of the compressor that failed.
        compressor: &'static str,
        /// Message of the compressor about the failure.
        what: String,
    },
}

impl Error {
    /// Returns the error about a stream that could not be decoded; `what` is the message of its decoder.
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

/// Name of the codec in errors.
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
