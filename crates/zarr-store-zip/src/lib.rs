//! Zarr stores in zip files, to be read.

#![forbid(unsafe_code)]

mod fault;
mod zip;

pub use fault::ZipFault;
pub use zip::ZipStore;
