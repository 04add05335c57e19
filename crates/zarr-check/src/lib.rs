//! Checks of stored Zarr hierarchies (documents, keys, indexes of shards, and chunks), and repair of faults that can be repaired without
//! loss.
//!
//! A check reads and decodes what is stored, as far as its [`Level`] says, and continues after each fault. A [`Finding`] has a [`Code`]
//! that stays the same in later versions, a [`Severity`], a place, and advice.
//!
//! This crate names no concrete codec and no rule of a dialect: codecs come in a [`Registry`](zarr_array::Registry), and `zarr-meta` reads
//! and writes documents.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_array::{Array, NewArray, Registry, Store};
//! use zarr_check::{CheckOptions, Code, Event, check};
//! use zarr_store::{Key, MemoryStore, StoreExt};
//!
//! let mut registry = Registry::default();
//! registry.codecs.add(zarr_codec_bytes::BYTES);
//! let registry = Arc::new(registry);
//! let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
//! let new = NewArray::new(&[4], "int16").chunks(&[2]).codecs("bytes")?;
//! Array::create(&store, "/a", new, &registry)?.write(.., &[1_i16, 2, 3, 4])?;
//! store.set_all(&Key::new("a/c/1")?, &[3, 0, 4])?;
//!
//! let mut findings = Vec::new();
//! let report = check(&store, "/", &registry, &CheckOptions::default(), |event| {
//!     if let Event::Finding(finding) = event {
//!         findings.push(finding);
//!     }
//! })?;
//! assert_eq!((report.errors, findings[0].code), (1, Code::BrokenChunk));
//! assert_eq!(findings[0].to_string(), "error    a/c/1  codec bytes: 3 bytes, expected 4 [broken-chunk]");
//! # Ok::<(), zarr_hierarchy::Error>(())
//! ```

mod attributes;
mod check;
mod chunks;
mod code;
mod conventions;
mod documents;
mod finding;
mod geo;
mod grown_arrays;
mod hierarchy;
mod keys;
mod layout;
mod names;
mod ome;
mod options;
mod repair;
mod section;
mod severity;
mod sink;
mod unfinished;

pub use check::check;
pub use code::Code;
pub use finding::{CheckCounts, Event, Finding, Report};
pub use layout::{consolidation_advice, layout_advice};
pub use options::{CheckOptions, Convention, Level};
pub use repair::{FailedRepair, Repair, RepairAction, RepairReport};
pub use severity::Severity;
pub use zarr_array::{CheckDepth, CheckedChunk, ChunkFault, ChunkFaultKind, Protection};
pub use zarr_hierarchy::IntoFlow;
