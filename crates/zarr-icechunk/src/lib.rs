//! Icechunk repositories as read-only Zarr stores, for versions 1 and 2 of the format.
//!
//! An [`IcechunkStore`] is one snapshot of a repository, and reads the files of the repository from any other store. It has the documents
//! of the nodes, and the chunks in manifests, in files of the repository, and in files outside of the repository, which the caller opens
//! ([`OpenFile`]).
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

mod checksum;
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
