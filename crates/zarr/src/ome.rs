//! OME-Zarr images in groups: their levels, axes, scales and channels.

pub use zarr_ome::*;
