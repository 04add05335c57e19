//! Errors of codecs.

use crate::dims::Dims;
use std::fmt;
use zarr_json::NamedConfig;

/// Reason why a chunk could not be encoded or decoded, or why a codec could not be built.
///
/// Says the value found and the value expected in the codec's own terms; the array layer adds the store, the node and
/// the chunk.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Too few encoded bytes, or encoded bytes that decode to fewer bytes than a chunk has.
    #[error("codec {codec}: {found} bytes, expected {expected}")]
    Truncated {
        /// Name of the codec.
        codec: &'static str,
        /// Number of bytes found.
        found: u64,
        /// Least number of bytes that was expected.
        expected: u64,
    },
    /// Encoded bytes that end in the middle of the data, in a format that does not say their number.
    #[error("codec {codec}: cut off after {found} bytes")]
    CutOff {
        /// Name of the codec.
        codec: &'static str,
        /// Number of bytes found.
        found: u64,
    },
    /// Bytes left over after the data, or data that decodes to more bytes than a chunk has.
    #[error("codec {codec}: {found} bytes or more, expected {expected}")]
    TooLong {
        /// Name of the codec.
        codec: &'static str,
        /// Number of bytes found, at least.
        found: u64,
        /// Expected number of bytes.
        expected: u64,
    },
    /// Stored checksum that does not match the bytes.
    #[error("codec {codec}: checksum {found:#010x}, stored {stored:#010x}")]
    Checksum {
        /// Name of the codec.
        codec: &'static str,
        /// Checksum computed from the bytes.
        found: u64,
        /// Checksum that is stored with the bytes.
        stored: u64,
    },
    /// Encoded bytes that violate the format of the codec.
    #[error("codec {codec}: {what}")]
    Corrupt {
        /// Name of the codec.
        codec: &'static str,
        /// Message with the value found and the expected value.
        what: String,
    },
    /// Index of a shard that contradicts itself or the shard.
    #[error("shard index: {what}")]
    ShardIndex {
        /// Message with the value found and the expected value.
        what: String,
    },
    /// Checksum of the index of a shard that does not match. A truncated shard with the index at its end causes this error, too.
    #[error("shard index of {size} bytes: checksum {found:#010x}, stored {stored:#010x}; is the shard cut off?")]
    IndexChecksum {
        /// Number of bytes of the index.
        size: u64,
        /// Checksum computed from the bytes of the index.
        found: u64,
        /// Checksum that is stored with the index.
        stored: u64,
    },
    /// Decoded size that exceeds a limit.
    #[error("{what}: {found} bytes, limit {limit}")]
    Limit {
        /// Kind of data that would have to be held in memory.
        what: &'static str,
        /// Size of the data in bytes, at least.
        found: u64,
        /// Limit in bytes.
        limit: u64,
    },
    /// Failed allocation of memory for a buffer.
    #[error("no memory for {size} bytes")]
    Allocation {
        /// Size of the buffer in bytes.
        size: u64,
    },
    /// Configuration or order of codecs that violates the specification.
    #[error("{}{what}", at(pointer))]
    Metadata {
        /// JSON pointer to the member, relative to the list of codecs: `/1/configuration/level`.
        pointer: String,
        /// Message with the value found and the expected value.
        what: String,
    },
    /// Name of a codec that is not in the table.
    #[error("{}unknown codec {name:?}{}", at(pointer), hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default())]
    Unknown {
        /// JSON pointer to the codec, relative to the list of codecs.
        pointer: String,
        /// Name of the codec.
        name: String,
        /// Hint where the codec can be found.
        hint: Option<String>,
    },
    /// Codec that does not support the data type, or an operation that this build lacks.
    #[error("codec {codec}: {what}")]
    Unsupported {
        /// Name of the codec.
        codec: &'static str,
        /// Operation or data type that is not supported.
        what: String,
    },
    /// Values that the codec cannot encode.
    #[error("codec {codec}: {what}")]
    Encode {
        /// Name of the codec.
        codec: &'static str,
        /// Elements that cannot be encoded, and the reason.
        what: String,
    },
    /// Arguments of the program that a codec cannot satisfy.
    #[error("{what}")]
    Argument {
        /// Message with the codec, the value found and the expected value.
        what: String,
    },
    /// Mismatch between a Rust type and the data type of the elements, or an invalid value.
    #[error(transparent)]
    Element(zarr_dtype::Error),
    /// Buffer whose size does not fit the shape and strides.
    #[error("{found} bytes for {shape:?} items of {item} bytes, or items outside of them")]
    Buffer {
        /// Number of bytes of the buffer.
        found: u64,
        /// Number of items per axis.
        shape: Dims,
        /// Number of bytes of an item.
        item: usize,
    },
    /// Windows of a view that overlap or lie partly outside of it.
    #[error("windows overlap or lie outside of a view of {shape:?} items")]
    Windows {
        /// Number of items of the view per axis.
        shape: Dims,
    },
}

impl fmt::Debug for Error {
    /// Prints the message, as `fn main() -> Result` shows errors by `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Class of an [`Error`] by its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Metadata that violates the specification.
    InvalidMetadata,
    /// Extension or operation that this build does not have.
    UnknownExtension,
    /// Bytes of a chunk that violate their format.
    CorruptChunk,
    /// Bytes of a chunk that do not match their checksum.
    ChecksumMismatch,
    /// Broken index of a shard.
    ShardIndex,
    /// Exceeded limit or failed allocation.
    Limit,
    /// Invalid argument of the caller.
    Argument,
}

impl Error {
    /// Returns the class of the error.
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

    /// Returns the error with `prefix` in front of its JSON pointer. Errors without a pointer are returned unchanged.
    pub fn under(mut self, prefix: &str) -> Self {
        if let Self::Metadata { pointer, .. } | Self::Unknown { pointer, .. } = &mut self {
            pointer.insert_str(0, prefix);
        }
        self
    }
}

/// Returns `pointer`, a colon and a space to put in front of a message; an empty string for the root of a document.
fn at(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!("{pointer}: ") }
}

impl Error {
    /// Converts a metadata error about a codec that a program gave to [`Error::Argument`], whose message names the codec `name` and its
    /// member instead of a pointer into a document.
    pub fn of_codec(self, name: &str) -> Self {
        let Self::Metadata { pointer, what } = self else { return self };
        let member = pointer.strip_prefix("/configuration").unwrap_or(&pointer).trim_start_matches('/');
        let colon = if member.is_empty() { "" } else { ": " };
        Self::Argument { what: format!("codec {name}: {member}{colon}{what}") }
    }

    /// Converts a metadata error to [`Error::Argument`]; the number at the beginning of its pointer says which of `codecs` is named in the
    /// message.
    pub(crate) fn of_codecs(self, codecs: &[NamedConfig]) -> Self {
        let Self::Metadata { pointer, what } = self else { return self };
        let mut parts = pointer.strip_prefix('/').unwrap_or_default().splitn(2, '/');
        let codec = parts.next().and_then(|number| number.parse::<usize>().ok()).and_then(|number| codecs.get(number));
        let Some(codec) = codec else { return Self::Argument { what } };
        let rest = parts.next().map(|rest| format!("/{rest}")).unwrap_or_default();
        Self::Metadata { pointer: rest, what }.of_codec(&codec.name)
    }
}
