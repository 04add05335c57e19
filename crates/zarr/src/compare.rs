//! Comparisons of hierarchies and arrays: where stored data differ, and digests that depend on shapes, data types and values alone.

pub use zarr_compare::*;
