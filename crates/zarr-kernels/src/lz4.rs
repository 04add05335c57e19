//! LZ4 blocks (<https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>).
//!
//! A block is a list of sequences. A sequence has a token with two counts of four bits, further bytes of the first count if it is 15, that
//! number of literal bytes, a distance of two bytes, and further bytes of the second count if it is 15; it ends with a copy, from the
//! distance back, of four bytes more than the second count. The last sequence ends after its literals.

mod high;
mod read;
mod write;

pub use high::{Chains, compress_high};
pub use read::decompress;
pub use write::{compress, max_compressed_size};

/// Greatest number of bytes that a block may decompress to (`LZ4_MAX_INPUT_SIZE`).
pub const MAX_SIZE: usize = 0x7E00_0000;

/// Greatest distance of a copy, in bytes.
const MAX_DISTANCE: usize = 65_535;

/// Least length of a copy, in bytes.
const MIN_MATCH: usize = 4;

/// Largest count that fits into a token; for larger counts, more bytes follow the token.
const MAX_COUNT: usize = 15;

/// Reason why a block could not be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The block ends within a sequence.
    Truncated,
    /// The decompressed block has more bytes than the output has room for.
    TooLong,
    /// A copy would begin before the first byte of the output.
    Distance {
        /// Distance of the copy in bytes.
        distance: usize,
        /// Number of bytes of the output before the copy.
        written: usize,
    },
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Truncated => f.write_str("the block ends within a sequence"),
            Self::TooLong => f.write_str("the block holds more bytes than there is room for"),
            Self::Distance { distance, written } => {
                write!(f, "a copy from {distance} bytes back, where there are {written}")
            }
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests;
