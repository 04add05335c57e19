//! References to the chunks of files, and several files joined into one data set.
//!
//! [`join`] joins netCDF and HDF5 files, references, Icechunk repositories and Zarr stores into one store, whose chunks stay in the files.
//! The store can be written as references ([`Joined::in_dialect`] and [`write_json`]), or be converted like any other store.
//!
//! This crate depends on no codec; it knows only the codec `bytes` by name.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_array::{Array, NewArray, Registry, Store};
//! use zarr_store::MemoryStore;
//! use zarr_virtualize::{Input, JoinOptions, join};
//!
//! let mut registry = Registry::default();
//! registry.codecs.add(zarr_codec_bytes::BYTES);
//! let registry = Arc::new(registry);
//!
//! let file = |elements: &[i16]| {
//!     let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
//!     let new = NewArray::new(&[2], "int16").dimension_names(&["time"]).codecs("bytes")?;
//!     Array::create(&store, "/a", new, &registry)?.write(.., elements)?;
//!     Input::of_store("a store", &store, &|_| Ok(None))
//! };
//! let files = [file(&[1, 2])?, file(&[3, 4])?];
//! let joined = join(&files, &registry, &JoinOptions::default().concat(Some("time".to_owned())))?;
//! let store: Arc<dyn Store> = Arc::new(joined.store);
//! assert_eq!(Array::open(&store, "/a", &registry)?.read::<i16>(..)?, [1, 2, 3, 4]);
//! # Ok::<(), zarr_hierarchy::Error>(())
//! ```

#![forbid(unsafe_code)]

mod chunks;
mod dialect;
mod documents;
mod forms;
mod input;
mod join;
mod nodes;
mod places;
mod rules;
mod stacked;
mod times;
mod values;

pub use input::Input;
pub use join::{JoinOptions, Joined, join, join_with};
pub use zarr_references::{Reference, References, WriteFault, WriteOptions, WrittenReferences, write_json};
