//! Statistics of elements, usage of stores, maps of stored chunks, codecs measured on a sample.

pub use zarr_stats::*;
