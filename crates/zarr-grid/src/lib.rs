//! Geometry of chunked arrays: shapes, regions, selections, chunk grids, chunk keys.
