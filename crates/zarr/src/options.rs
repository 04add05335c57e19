//! [`Options`] for reading and writing arrays, the types of these options, and the iterators of reads ahead of a loop.

pub use zarr_array::{AsyncPrefetch, Checksums, ChunkCache, MissingChunks, Options, Prefetch};
pub use zarr_codec::Limits;
