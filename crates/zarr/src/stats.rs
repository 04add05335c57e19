//! Statistics: of elements, of the usage of stores, maps of stored chunks, and codecs measured on a sample.

pub use zarr_stats::*;
