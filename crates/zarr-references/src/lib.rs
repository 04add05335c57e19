//! References of kerchunk as Zarr stores. References are a JSON object: its members are the keys of a store, and their values are the
//! values of the store as strings, or ranges of other files.
//!
//! Versions 0 and 1 of the format are read, with templates, generated references and values in base64. A reference may name files below the
//! directory of the references, and files below prefixes that the caller [allows](ReferencesOptions::allow), but no other files.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_references::ReferencesOptions;
//! use zarr_store::{Key, MemoryStore, StoreExt};
//!
//! let files = Arc::new(MemoryStore::new());
//! files.set_all(&Key::new("data.bin")?, b"HEAD12345678")?;
//! files.set_all(&Key::new("refs.json")?, br#"{"version": 1, "refs": {
//!     "a/.zarray": "{\"zarr_format\": 2, \"shape\": [4], \"chunks\": [2], \"dtype\": \"<i2\", \"compressor\": null}",
//!     "a/0": ["data.bin", 4, 4],
//!     "a/1": ["data.bin", 8, 4]
//! }}"#)?;
//! let store = zarr_references::open(files, Key::new("refs.json")?, &ReferencesOptions::default())?;
//! assert_eq!(store.get_all(&Key::new("a/1")?)?.as_deref(), Some(&b"5678"[..]));
//! # Ok::<(), zarr_store::Error>(())
//! ```

#![forbid(unsafe_code)]

mod arrays;
mod fault;
mod file;
mod open;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod scan;
mod targets;
mod template;
mod write;

#[cfg(test)]
mod tests;

pub use fault::ReferencesFault;
pub use open::open;
pub use options::ReferencesOptions;
#[cfg(feature = "parquet")]
pub use parquet::{ArrayWriter, ParquetWriter, is_parquet, open_parquet, write_parquet};
pub use write::{Reference, References, WriteFault, WriteOptions, WrittenReferences, write_json};
