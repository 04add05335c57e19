//! Zarr codec `zstd`.
