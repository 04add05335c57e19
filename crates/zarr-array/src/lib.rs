//! Zarr arrays, groups and hierarchies over any store.
