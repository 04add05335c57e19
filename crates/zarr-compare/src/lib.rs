//! Comparison of Zarr hierarchies and arrays: differences between stored data, and digests that are equal for all copies of the same data.
//!
//! A [`Comparison`] names the nodes, facts, attributes and elements in which two hierarchies differ. A [`Digest`] is a hash that depends
//! only on shapes, data types and values, so that copies can be compared that are on different machines, or have different dialects, chunks
//! and codecs. A [`Manifest`] has a checksum of each stored value, as `sha256sum` writes it.
//!
//! This crate writes nothing, and names no concrete codec and no rule of a dialect.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_array::{Array, NewArray, Registry, Store};
//! use zarr_compare::{Digest, DigestOptions};
//! use zarr_store::MemoryStore;
//!
//! let mut registry = Registry::default();
//! registry.codecs.add(zarr_codec_bytes::BYTES);
//! let registry = Arc::new(registry);
//!
//! let digest = |chunk: u64| {
//!     let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
//!     let new = NewArray::new(&[4], "int16").chunks(&[chunk]).codecs("bytes")?;
//!     Array::create(&store, "/a", new, &registry)?.write(.., &[1_i16, 2, 3, 4])?;
//!     Digest::of(&store, "/", &registry, &DigestOptions::default(), |_| {})
//! };
//! assert_eq!(digest(1)?.hash, digest(3)?.hash);
//! # Ok::<(), zarr_hierarchy::Error>(())
//! ```

mod attributes;
mod boxes;
mod comparison;
mod data_type;
mod digest;
mod element_hasher;
mod encoding;
mod fold;
mod hash;
mod leaves;
mod manifest;
mod merge;
mod progress;
mod selected;
#[cfg(test)]
mod tests;

pub use boxes::box_shape;
pub use comparison::{
    CompareOptions, Comparison, DifferentElement, Fact, NodeComparison, NotCompared, OtherDifference, OtherKeyDiffers,
    Side, Tolerance, ValueDifferences, Values,
};
pub use digest::{ArrayDifference, ArrayDigest, Digest, DigestDifference, DigestOptions, NodeDigest};
pub use hash::Hash;
pub use manifest::{Manifest, ManifestCheck, ManifestDifference, ManifestEntry, ManifestForm, ManifestOptions};
pub use progress::Progress;
