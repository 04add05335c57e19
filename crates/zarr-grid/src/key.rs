use core::fmt;

use crate::shape::ChunkIndex;

mod config;
mod fanout;
mod number;

/// Character between the numbers of a chunk key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Separator {
    /// `/`: every number except the last names a directory.
    Slash,
    /// Separator `.`.
    Dot,
}

impl Separator {
    /// Returns the character of the separator.
    pub const fn as_char(self) -> char {
        match self {
            Self::Slash => '/',
            Self::Dot => '.',
        }
    }

    /// Returns the separator for the string `/` or `.`; `None` for other strings.
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

/// Chunk key encoding: the way from a chunk index to a key, relative to the prefix of the array's chunks.
///
/// Writing and parsing are exact inverses: a key is only parsed if it is spelled as [`write_key`](Self::write_key) spells it.
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
    /// Encoding `default` of version 3: `c/1/23`, `c.1.23`, and `c` for a 0-d array.
    Default {
        /// Separator in front of each number.
        separator: Separator,
    },
    /// Encoding of versions 1 and 2, `v2` of version 3: `1.23`, `1/23`, and `0` for a 0-d array.
    V2 {
        /// Separator between the numbers of a key.
        separator: Separator,
    },
    /// Encoding of the drafts of version 3 from 2020 to 2022: `c1/23`, `c1.23`, and `c` for a 0-d array.
    Joined {
        /// Separator between the numbers of a key.
        separator: Separator,
    },
    /// Another encoding followed by a fixed suffix, such as `1.23.blosc`, which zarr-python 0.4 wrote.
    Suffix {
        /// Suffix that every key ends with.
        suffix: String,
        /// Encoding of the part before the suffix.
        base: Box<ChunkKeyEncoding>,
    },
    /// Registered extension `fanout`: every number is split into digits so that no directory grows large, `d0/1/23/d1/5/c`; `c` for a 0-d
    /// array.
    Fanout {
        /// Maximum number of entries in a directory, greater than 3.
        max_children: u64,
    },
}

impl ChunkKeyEncoding {
    /// Appends the key of a chunk to `into`. Allocates nothing if `into` has enough capacity.
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

    /// Returns the index of the chunk with this key, in an array with `rank` dimensions; `None` if `key` is no chunk key.
    ///
    /// A key with leading zeros, with another count of numbers than `rank`, or with numbers above 64 bits is no chunk key.
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

/// Returns exactly `rank` numbers, at least one, from `text`.
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
