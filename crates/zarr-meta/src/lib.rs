//! Metadata documents of every Zarr dialect, read into and written from one model in the vocabulary of Zarr v3.
//!
//! Never does I/O, and never interprets a data type or a codec beyond translating its name and configuration.

pub mod consolidated;
pub mod conventions;
pub mod json;
pub mod pointer;

mod children;
pub mod codec_names;
mod convert;
mod dialect;
mod documents;
mod error;
mod filter_types;
mod found;
mod named;
mod node;
mod path;
mod probe;
mod stored_pointer;
mod warning;
mod write;

pub use children::{Children, children, document_path, listing_prefix};
pub use consolidated::Consolidated;
pub use convert::{CARRIED, Note, for_dialect, for_dialect_carrying, for_dialect_from};
pub use dialect::codecs::spell_out;
pub use dialect::detect::{ENTRY_KEYS, entry_dialects};
pub use dialect::{Dialect, entry_key};
pub use documents::Documents;
pub use error::{Error, ErrorKind, MAX_DOCUMENT_SIZE, Result};
pub use filter_types::{settle_filter_types, without_filter_orders};
pub use found::{ChunkKeys, Found, Owned, owned};
pub use named::NamedConfig;
pub use node::{ArrayMetadata, GroupMetadata, Node};
pub use path::NodePath;
pub use probe::{Probe, ProbeStep};
pub use warning::Warning;
pub use write::{chunk_keys, chunk_prefix, dialects_of_key, document_keys, documents, fit_in};
