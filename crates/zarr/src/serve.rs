//! HTTP server of a store: its values for other software, and a page that shows its arrays.

pub use zarr_serve::*;
