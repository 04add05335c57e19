//! Zarr stores in directories of files.

#![forbid(unsafe_code)]

mod filesystem;

pub use filesystem::{FilesystemStore, Options};
