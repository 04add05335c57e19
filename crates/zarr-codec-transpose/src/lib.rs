//! Zarr codec `transpose`: permuted dimensions.
