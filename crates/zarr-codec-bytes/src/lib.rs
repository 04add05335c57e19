//! Zarr codec `bytes`: elements as contiguous bytes of a stated byte order.
