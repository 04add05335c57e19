//! How arrays are read and written: [`Options`] and the types that its methods take; the [`Plan`] of a read.

pub use zarr_array::{Checksums, ChunkCache, MissingChunks, MissingReport, Options, Plan, PlannedRequest};
pub use zarr_codec::Limits;
