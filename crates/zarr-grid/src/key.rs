use core::fmt;

use crate::shape::ChunkIndex;

mod config;
mod fanout;
mod number;

/// The character between the numbers of a chunk key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Separator {
    /// `/`: every number but the last names a directory.
    Slash,
    /// `.`
    Dot,
}

impl Separator {
    /// The character itself.
    pub const fn as_char(self) -> char {
        match self {
            Self::Slash => '/',
            Self::Dot => '.',
        }
    }

    /// The separator that is this text.
    pub fn from_text(text: &str) -> Option<Self> {
        match text {
            "/" => Some(Self::Slash),
            "." => Some(Self::Dot),
            _ => None,
        }
    }
}

impl fmt::Display for Separator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_char())
    }
}

/// How the index of a chunk becomes a key, relative to the prefix of the array's chunks.
///
/// Writing and parsing are exact inverses: a key parses only if it is as it would be written.
///
/// # Example
/// ```
/// # use zarr_grid::{ChunkKeyEncoding, Separator};
/// let encoding = ChunkKeyEncoding::Default { separator: Separator::Slash };
/// let mut key = String::from("path/");
/// encoding.write_key(&[1, 23], &mut key);
/// assert_eq!(key, "path/c/1/23");
/// assert_eq!(encoding.parse_key("c/1/23", 2).unwrap().as_slice(), [1, 23]);
/// assert_eq!(encoding.parse_key("c/01/23", 2), None);
/// ```
///
/// Zarr v3 core, section "Chunk key encoding".
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChunkKeyEncoding {
    /// `c/1/23`, `c.1.23`, and `c` for a 0-d array: `default` of version 3.
    Default {
        /// Stands in front of each number.
        separator: Separator,
    },
    /// `1.23`, `1/23`, and `0` for a 0-d array: versions 1 and 2, and `v2` of version 3.
    V2 {
        /// Stands between the numbers.
        separator: Separator,
    },
    /// `c1/23`, `c1.23`, and `c` for a 0-d array: the drafts of version 3 from 2020 to 2022.
    Joined {
        /// Stands between the numbers.
        separator: Separator,
    },
    /// Keys of another encoding with a fixed ending, as `1.23.blosc`, which zarr-python 0.4 wrote.
    Suffix {
        /// The end of every key.
        suffix: String,
        /// The encoding of the part before the suffix.
        base: Box<ChunkKeyEncoding>,
    },
    /// `d0/1/23/d1/5/c`, every number split into digits so that no directory grows large; `c` for a 0-d array. The
    /// registered extension `fanout`.
    Fanout {
        /// The most entries a directory may have, greater than 3.
        max_children: u64,
    },
}

impl ChunkKeyEncoding {
    /// Appends the key of a chunk to `into`. Allocates nothing if `into` has room.
    pub fn write_key(&self, index: &[u64], into: &mut String) {
        match self {
            Self::Default { separator } => {
                into.push('c');
                for &number in index {
                    into.push(separator.as_char());
                    number::write(number, into);
                }
            }
            Self::V2 { .. } if index.is_empty() => into.push('0'),
            Self::V2 { separator } => write_numbers(*separator, index, into),
            Self::Joined { separator } => {
                into.push('c');
                write_numbers(*separator, index, into);
            }
            Self::Suffix { suffix, base } => {
                base.write_key(index, into);
                into.push_str(suffix);
            }
            Self::Fanout { max_children } => fanout::write(*max_children, index, into),
        }
    }

    /// The chunk of an array with `rank` dimensions whose key this is; `None` if it is no key of such a chunk.
    ///
    /// Numbers with leading zeros, with another count than `rank`, or too large for 64 bits are no keys.
    pub fn parse_key(&self, key: &str, rank: usize) -> Option<ChunkIndex> {
        match self {
            Self::Default { .. } | Self::Joined { .. } if rank == 0 => (key == "c").then(ChunkIndex::new),
            Self::V2 { .. } if rank == 0 => (key == "0").then(ChunkIndex::new),
            Self::Default { separator } => {
                parse_numbers(*separator, key.strip_prefix('c')?.strip_prefix(separator.as_char())?, rank)
            }
            Self::V2 { separator } => parse_numbers(*separator, key, rank),
            Self::Joined { separator } => parse_numbers(*separator, key.strip_prefix('c')?, rank),
            Self::Suffix { suffix, base } => base.parse_key(key.strip_suffix(suffix.as_str())?, rank),
            Self::Fanout { max_children } => fanout::parse(*max_children, key, rank),
        }
    }
}

fn write_numbers(separator: Separator, index: &[u64], into: &mut String) {
    for (axis, &number) in index.iter().enumerate() {
        if axis > 0 {
            into.push(separator.as_char());
        }
        number::write(number, into);
    }
}

/// Exactly `rank` numbers, at least one.
fn parse_numbers(separator: Separator, text: &str, rank: usize) -> Option<ChunkIndex> {
    let mut index = ChunkIndex::new();
    for part in text.split(separator.as_char()) {
        if index.len() == rank {
            return None;
        }
        index.push(number::parse(part)?);
    }
    (index.len() == rank).then_some(index)
}
