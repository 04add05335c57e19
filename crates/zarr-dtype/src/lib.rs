//! Zarr data types: names, memory layouts, fill values and Rust element types.
