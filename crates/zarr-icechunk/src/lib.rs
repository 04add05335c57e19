//! Icechunk repositories as Zarr stores, to read: versions 1 and 2 of the format.
//!
//! An [`IcechunkStore`] shows one snapshot of a repository, which lies in any other store: the documents of its nodes, and its chunks, whether
//! these are in manifests, in files of the repository or in other files. It opens no file itself, and writes nothing.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_icechunk::{IcechunkOptions, IcechunkStore, Revision};
//! use zarr_store::{MemoryStore, Store};
//!
//! let nothing = Arc::new(MemoryStore::new());
//! let options = IcechunkOptions::default().revision(Revision::parse("tag.v1"));
//! let error = IcechunkStore::open(nothing, options).unwrap_err();
//! assert!(error.to_string().ends_with("expected an Icechunk repository"));
//! ```

#![forbid(unsafe_code)]

mod chunk_key;
mod fault;
mod file;
mod flat;
mod history;
mod id;
mod manifest;
mod outside;
mod refs;
mod snapshot;
mod store;

pub use fault::IcechunkFault;
pub use history::{IcechunkCommit, history};
pub use outside::OpenFile;
pub use refs::Revision;
pub use store::{IcechunkOptions, IcechunkStore};
