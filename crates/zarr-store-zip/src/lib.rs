//! Zarr stores in zip files, to be read.
//!
//! ```
//! use zarr_store::StoreExt;
//! use zarr_store_zip::ZipStore;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("x.zarr.zip");
//! // The end record of a zip file without entries.
//! std::fs::write(&path, [&b"PK\x05\x06"[..], &[0; 18]].concat())?;
//! assert_eq!(ZipStore::open(&path)?.list()?, []);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod fault;
mod zip;

pub use fault::ZipFault;
pub use zip::{AsyncZipStore, ZipStore};
