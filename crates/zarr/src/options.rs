//! How arrays are read and written: [`Options`] and the types that its methods take.

pub use zarr_array::{Checksums, ChunkCache, MissingChunks, MissingReport, Options};
pub use zarr_codec::Limits;
