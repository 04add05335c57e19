//! [`Options`] for reading and writing arrays, and the types of these options.

pub use zarr_array::{Checksums, ChunkCache, MissingChunks, Options};
pub use zarr_codec::Limits;
