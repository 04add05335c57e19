//! Zarr stores in SQLite files, in the format of zarr-python 2.
//!
//! ```
//! use zarr_store::{Key, StoreExt};
//! use zarr_store_sqlite::SqliteStore;
//!
//! let folder = tempfile::tempdir()?;
//! let store = SqliteStore::create(folder.path().join("x.sqlite"))?;
//! store.set_all(&Key::new("g/zarr.json")?, b"{}")?;
//! assert_eq!(store.list()?, [Key::new("g/zarr.json")?]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod fault;
mod sqlite;

pub use fault::SqliteFault;
pub use sqlite::{Journal, SqliteOptions, SqliteStore};
