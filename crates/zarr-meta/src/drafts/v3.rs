//! The common parts of the drafts of version 3 (2019 to 2022).
//!
//! Extensions are named by URIs, of which several spellings were in use; elements are of the types of numpy, whatever they
//! are called; shards are made by a storage transformer, in the same bytes as the later codec makes.

pub(crate) mod codec;
pub(crate) mod data_type;
pub(crate) mod fill;
pub(crate) mod members;
pub(crate) mod sharding;
pub(crate) mod unknown;

use crate::dialect::stored_members::{CodecList, Codecs, Members};

/// The locations of the members of the model in documents.
pub(crate) const STORED: Members =
    Members { names: &[("/chunk_key_encoding", "/chunk_grid/separator")], codecs: Codecs::List(CODECS) };

/// The locations of codecs in documents.
pub(crate) const CODECS: CodecList = CodecList {
    list: "/codecs",
    has_configurations: true,
    has_configured_compressor: true,
    otherwise: "/codecs",
    order: "/chunk_memory_layout",
    data_type: "/data_type",
};
