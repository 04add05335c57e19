//! Groups as data sets: variables with named dimensions, coordinates and decoded values.

pub use zarr_dataset::*;
