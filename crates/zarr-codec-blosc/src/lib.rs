//! Zarr codec `blosc`: the blosc 1 container in Rust.
