//! Comparisons of hierarchies and arrays: where stored data differs, and digests that depend only on shapes, data types and values.

pub use zarr_compare::*;
