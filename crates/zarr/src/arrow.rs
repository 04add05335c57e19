//! Data sets as tables: Arrow record batches, and the C data and stream interfaces.

pub use zarr_arrow::*;
