//! Zarr stores in zip files: local files for reading and writing, and values of other stores for reading by ranges.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_store::{Key, MemoryStore, StoreExt};
//! use zarr_store_zip::ZipStore;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("x.zarr.zip");
//! let key = Key::new("zarr.json")?;
//! let store = ZipStore::create(&path)?;
//! store.set_all(&key, b"{}")?;
//! store.close()?;
//! assert_eq!(ZipStore::open(&path)?.list()?, [key.clone()]);
//!
//! // The same file in another store, of which ranges are read.
//! let below = Arc::new(MemoryStore::new());
//! below.set_all(&Key::new("x.zarr.zip")?, &std::fs::read(&path)?)?;
//! let store = ZipStore::over(below, Key::new("x.zarr.zip")?)?;
//! assert_eq!(store.get_all(&key)?.as_deref(), Some(&b"{}"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod fault;
mod zip;

pub use fault::ZipFault;
pub use zip::{AsyncZipStore, ZipArrangement, ZipOptions, ZipStore};
