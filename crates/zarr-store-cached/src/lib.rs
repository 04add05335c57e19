//! A Zarr store that caches values read from another store in memory.
//!
//! ```
//! use zarr_store::{Counted, Key, MemoryStore, StoreExt};
//! use zarr_store_cached::Cached;
//!
//! let store = Cached::new(Counted::new(MemoryStore::new()), 1 << 20);
//! let key = Key::new("a/c/0")?;
//! store.set_all(&key, b"chunk")?;
//! assert_eq!(store.get_all(&key)?, store.get_all(&key)?);
//! assert_eq!(store.inner().counts().gets, 1);
//! # Ok::<(), zarr_store::Error>(())
//! ```

#![forbid(unsafe_code)]

mod cached;

pub use cached::Cached;
