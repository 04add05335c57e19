//! Keys of the chunks of an array.

use zarr_json::NamedConfig;

/// A form that the keys of the chunks of an array may have: a prefix and a chunk key encoding.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkKeyForm {
    /// The beginning of every key, relative to the root of the store: empty, or ending in `/`.
    pub prefix: String,
    /// How the index of a chunk becomes the rest of its key.
    pub encoding: NamedConfig,
}
