//! Forms of the keys of chunks.

use zarr_json::NamedConfig;

/// A form that the keys of the chunks of an array may have: a prefix and a chunk key encoding.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkKeyForm {
    /// Beginning of every chunk key, relative to the root of the store: empty, or ending in `/`.
    pub prefix: String,
    /// Chunk key encoding, which forms the rest of the key from the chunk index.
    pub encoding: NamedConfig,
}
