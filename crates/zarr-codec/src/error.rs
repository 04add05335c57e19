//! Errors of codecs.

use crate::dims::Dims;
use std::fmt;
use zarr_json::NamedConfig;

/// Why a chunk could not be encoded or decoded, or a codec not be built.
///
/// Says the value found and the value expected in the codec's own terms; the array layer adds the store, the node and
/// the chunk.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are fewer encoded bytes than the data takes, or they decode to fewer than a chunk holds.
    #[error("codec {codec}: {found} bytes, expected {expected}")]
    Truncated {
        /// The codec's name.
        codec: &'static str,
        /// Bytes there are.
        found: u64,
        /// Bytes there should be, at least.
        expected: u64,
    },
    /// The encoded bytes end in the middle of the data, and do not say how many they should be.
    #[error("codec {codec}: cut off after {found} bytes")]
    CutOff {
        /// The codec's name.
        codec: &'static str,
        /// Bytes there are.
        found: u64,
    },
    /// Bytes are left over after the data, or it decodes to more than a chunk holds.
    #[error("codec {codec}: {found} bytes or more, expected {expected}")]
    TooLong {
        /// The codec's name.
        codec: &'static str,
        /// Bytes there are, at least.
        found: u64,
        /// Bytes there should be.
        expected: u64,
    },
    /// A stored checksum does not match the bytes.
    #[error("codec {codec}: checksum {found:#010x}, stored {stored:#010x}")]
    Checksum {
        /// The codec's name.
        codec: &'static str,
        /// The checksum of the bytes.
        found: u64,
        /// The checksum stored with them.
        stored: u64,
    },
    /// The encoded bytes break their format.
    #[error("codec {codec}: {what}")]
    Corrupt {
        /// The codec's name.
        codec: &'static str,
        /// The value found, and the one expected.
        what: String,
    },
    /// The index of a shard contradicts itself or the shard.
    #[error("shard index: {what}")]
    ShardIndex {
        /// The value found, and the one expected.
        what: String,
    },
    /// The checksum of the index of a shard does not match its bytes. Where the index lies at the end, a shard that is cut off has no other.
    #[error("shard index of {size} bytes: checksum {found:#010x}, stored {stored:#010x}; is the shard cut off?")]
    IndexChecksum {
        /// Bytes of the index.
        size: u64,
        /// The checksum of the bytes.
        found: u64,
        /// The checksum stored with them.
        stored: u64,
    },
    /// A decoded size exceeds a limit.
    #[error("{what}: {found} bytes, limit {limit}")]
    Limit {
        /// The data that memory would have to hold.
        what: &'static str,
        /// Its size in bytes, at least.
        found: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// There is no memory for a buffer.
    #[error("no memory for {size} bytes")]
    Allocation {
        /// Its size in bytes.
        size: u64,
    },
    /// A codec's configuration, or the order of codecs, breaks the specification.
    #[error("{}{what}", at(pointer))]
    Metadata {
        /// JSON pointer to the member, from the list of codecs: `/1/configuration/level`.
        pointer: String,
        /// The value found, and the one expected.
        what: String,
    },
    /// No codec of this name is in the table.
    #[error("{}unknown codec {name:?}{}", at(pointer), hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default())]
    Unknown {
        /// JSON pointer to the codec, from the list of codecs.
        pointer: String,
        /// The codec's name.
        name: String,
        /// Where it might come from.
        hint: Option<String>,
    },
    /// A codec cannot be used with elements of this type, or not in this build.
    #[error("codec {codec}: {what}")]
    Unsupported {
        /// The codec's name.
        codec: &'static str,
        /// The operation that it lacks.
        what: String,
    },
    /// Values that the codec cannot encode.
    #[error("codec {codec}: {what}")]
    Encode {
        /// The codec's name.
        codec: &'static str,
        /// The elements that it cannot encode, and why.
        what: String,
    },
    /// A codec cannot satisfy the arguments of the program.
    #[error("{what}")]
    Argument {
        /// The values found and expected, and the codec.
        what: String,
    },
    /// Elements of a Rust type that cannot be elements of the data type, or the other way round.
    #[error(transparent)]
    Element(zarr_dtype::Error),
    /// Memory of another size than its shape says.
    #[error("{found} bytes for {shape:?} items of {item} bytes, or items outside of them")]
    Buffer {
        /// Bytes there are.
        found: u64,
        /// Items per axis.
        shape: Dims,
        /// Bytes of an item.
        item: usize,
    },
    /// Windows of a view that overlap or reach out of it.
    #[error("windows overlap or lie outside of a view of {shape:?} items")]
    Windows {
        /// Items of the view per axis.
        shape: Dims,
    },
}

impl fmt::Debug for Error {
    /// As `fn main() -> Result` prints it: the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Who is to blame for an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The metadata breaks the specification.
    InvalidMetadata,
    /// The metadata names an extension that this build does not have.
    UnknownExtension,
    /// The bytes of a chunk break their format.
    CorruptChunk,
    /// The bytes of a chunk do not match their checksum.
    ChecksumMismatch,
    /// The index of a shard is broken.
    ShardIndex,
    /// A limit was exceeded.
    Limit,
    /// The caller erred.
    Argument,
}

impl Error {
    /// Who is to blame.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Truncated { .. } | Self::CutOff { .. } | Self::TooLong { .. } | Self::Corrupt { .. } => {
                ErrorKind::CorruptChunk
            }
            Self::Checksum { .. } | Self::IndexChecksum { .. } => ErrorKind::ChecksumMismatch,
            Self::ShardIndex { .. } => ErrorKind::ShardIndex,
            Self::Limit { .. } | Self::Allocation { .. } => ErrorKind::Limit,
            Self::Metadata { .. } => ErrorKind::InvalidMetadata,
            Self::Unknown { .. } | Self::Unsupported { .. } => ErrorKind::UnknownExtension,
            Self::Encode { .. } | Self::Buffer { .. } | Self::Windows { .. } => ErrorKind::Argument,
            Self::Argument { .. } | Self::Element(_) => ErrorKind::Argument,
        }
    }

    /// The same error with `prefix` in front of its JSON pointer, if it has one.
    pub fn under(mut self, prefix: &str) -> Self {
        if let Self::Metadata { pointer, .. } | Self::Unknown { pointer, .. } = &mut self {
            pointer.insert_str(0, prefix);
        }
        self
    }
}

/// A pointer in front of a message; nothing for the whole of a document.
fn at(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!("{pointer}: ") }
}

impl Error {
    /// The same error of a codec that a program gave: in the words of its members instead of a pointer into a document.
    pub fn of_codec(self, name: &str) -> Self {
        let Self::Metadata { pointer, what } = self else { return self };
        let member = pointer.strip_prefix("/configuration").unwrap_or(&pointer).trim_start_matches('/');
        let colon = if member.is_empty() { "" } else { ": " };
        Self::Argument { what: format!("codec {name}: {member}{colon}{what}") }
    }

    /// As [`of_codec`](Self::of_codec), where the pointer begins with the number of one of `codecs`.
    pub(crate) fn of_codecs(self, codecs: &[NamedConfig]) -> Self {
        let Self::Metadata { pointer, what } = self else { return self };
        let mut parts = pointer.strip_prefix('/').unwrap_or_default().splitn(2, '/');
        let codec = parts.next().and_then(|number| number.parse::<usize>().ok()).and_then(|number| codecs.get(number));
        let Some(codec) = codec else { return Self::Argument { what } };
        let rest = parts.next().map(|rest| format!("/{rest}")).unwrap_or_default();
        Self::Metadata { pointer: rest, what }.of_codec(&codec.name)
    }
}
