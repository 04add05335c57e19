//! Metadata documents of every Zarr dialect, read into and written from one model in the vocabulary of Zarr v3.
//!
//! The crate does no I/O, and knows nothing of codecs but the translation of their names and configurations. An unknown data type is no
//! error: the model holds its name and configuration unchanged.
//!
//! ```
//! use zarr_meta::{Dialect, Documents, NodePath, StoredNode, documents, for_dialect};
//!
//! let path = NodePath::parse("/a")?;
//! let mut found = Documents::new();
//! found.insert(
//!     "a/.zarray",
//!     r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<f4", "fill_value": 0.0, "order": "C",
//!         "compressor": null, "filters": null}"#,
//! );
//! let v2 = StoredNode::read(Dialect::V2, path.clone(), &found)?.expect("an array");
//! let (v3, _) = for_dialect(&v2.node, Dialect::V3)?;
//! let written = documents(Dialect::V3, &path, &v3, None)?;
//! assert_eq!(written[0].0, "a/zarr.json");
//! # Ok::<(), zarr_meta::Error>(())
//! ```

pub mod as_v2;
pub mod consolidated;
pub mod conventions;

mod children;
mod chunk_key_form;
pub mod codec_facts;
mod codec_objects;
mod convert;
mod data_type_objects;
mod dialect;
mod documents;
#[cfg(feature = "drafts")]
mod drafts;
mod equivalence;
mod error;
mod facts;
mod filter_types;
mod listing;
mod node;
mod node_serde;
mod path;
mod probe;
pub mod readers;
mod stored_node;
mod stored_pointer;
pub mod text;
mod warning;
mod write;

pub use children::Children;
pub use chunk_key_form::ChunkKeyForm;
pub use codec_objects::codecs_of_document;
pub use consolidated::{Consolidated, Copies};
pub use convert::{CARRIED, ForDialect, Note, for_dialect, for_dialect_carrying, for_dialect_from};
pub use data_type_objects::data_type_of_extension;
pub use dialect::Dialect;
pub use dialect::codecs::spell_out;
pub use dialect::detect::{DETECTION_KEYS, detected_dialects};
pub use dialect::table::entry_point_key;
pub use documents::Documents;
pub use error::{Error, ErrorKind, MAX_CONSOLIDATED_SIZE, MAX_DOCUMENT_SIZE, Result};
pub use facts::{facts, kind};
pub use filter_types::{normalize_filter_types, without_filter_orders};
pub use listing::{children, document_path, key_spaces, listing_prefix};
pub use node::{ArrayMetadata, GroupMetadata, Node};
pub use path::NodePath;
pub use probe::{Probe, ProbeStep};
pub use stored_node::{Owned, StoredNode, owned};
pub use warning::Warning;
pub use write::{
    chunk_keys, chunk_prefix, corrected, dialects_by_key, document_keys, documents, documents_with_nan_literals, fit_in,
};
pub use zarr_json::NamedConfig;
