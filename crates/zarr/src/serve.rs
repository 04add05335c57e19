//! A server of a store over HTTP: its values for other software, and a page to look at its arrays.

pub use zarr_serve::*;
