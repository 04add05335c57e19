//! Zarr in Rust: every format, one model.
