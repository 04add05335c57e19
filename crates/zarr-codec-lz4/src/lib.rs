//! Zarr codec `lz4` as numcodecs stores it.
