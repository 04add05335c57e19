//! Zarr codec `sharding_indexed`: many inner chunks in one stored value.
