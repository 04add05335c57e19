//! A Zarr store that keeps in memory what was read from another.

#![forbid(unsafe_code)]

mod cached;

pub use cached::Cached;
