//! Pictures of arrays: planes and lines, as PNG and in terminals; colour maps.

pub use zarr_view::*;
