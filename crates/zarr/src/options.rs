//! [`Options`] of how arrays are read and written, and the types that their methods take.

pub use zarr_array::{Checksums, ChunkCache, MissingChunks, Options};
pub use zarr_codec::Limits;
