//! Checks of stored documents, keys, indexes of shards and chunks, and repair.

pub use zarr_check::*;
