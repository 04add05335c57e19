//! Conversions of hierarchies and arrays to other dialects, chunks and codecs; copies, moves and migrations.

pub use zarr_convert::*;
