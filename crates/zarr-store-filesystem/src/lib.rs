//! Zarr stores in directories of files.
//!
//! ```
//! use zarr_store::{Key, StoreExt};
//! use zarr_store_filesystem::FilesystemStore;
//!
//! let folder = tempfile::tempdir()?;
//! let store = FilesystemStore::create(folder.path().join("x.zarr"))?;
//! store.set_all(&Key::new("g/zarr.json")?, b"{}")?;
//! assert_eq!(store.list()?, [Key::new("g/zarr.json")?]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod filesystem;

pub use filesystem::{FilesystemOptions, FilesystemStore, LookedThrough};
