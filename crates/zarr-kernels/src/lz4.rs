//! LZ4 blocks (<https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>).
//!
//! A block is a list of sequences: a token with two counts of four bits, more bytes of the first count where it is 15, as
//! many literal bytes, a distance of two bytes, more bytes of the second count, and a copy of that many and four bytes from
//! the distance back. The last sequence ends after its literals.

mod high;
mod read;
mod write;

pub use high::{Chains, compress_high};
pub use read::decompress;
pub use write::{compress, max_compressed_size};

/// The most bytes that a block may hold (`LZ4_MAX_INPUT_SIZE`).
pub const MAX_SIZE: usize = 0x7E00_0000;

/// The longest distance of a copy.
const MAX_DISTANCE: usize = 65_535;

/// The shortest copy.
const MIN_MATCH: usize = 4;

/// The largest count that a token holds; more bytes of it follow.
const MAX_COUNT: usize = 15;

/// Why a block could not be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The block ends within a sequence.
    Truncated,
    /// The block holds more bytes than there is room for.
    TooLong,
    /// A copy from before the beginning of the output.
    Distance {
        /// How far, in bytes.
        distance: usize,
        /// How many bytes are there.
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
