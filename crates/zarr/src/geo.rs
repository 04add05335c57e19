//! GeoZarr attributes of nodes: coordinate reference systems, extents, pixel sizes, pyramids.

pub use zarr_geo::*;
