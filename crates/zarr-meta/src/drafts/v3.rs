//! Common parts of the drafts of version 3 (2019 to 2022).
//!
//! Extensions are named by URIs, in several spellings. Elements have types of numpy, under various names. A storage transformer makes
//! shards, with the same bytes as the later codec.

pub(crate) mod codec;
pub(crate) mod data_type;
pub(crate) mod fill;
pub(crate) mod members;
pub(crate) mod sharding;
pub(crate) mod unknown;

use crate::dialect::stored_members::{CodecList, Codecs, Members};

/// Places of the model's members in documents.
pub(crate) const STORED: Members =
    Members { names: &[("/chunk_key_encoding", "/chunk_grid/separator")], codecs: Codecs::List(CODECS) };

/// Places of codecs in documents.
pub(crate) const CODECS: CodecList = CodecList {
    list: "/codecs",
    has_configurations: true,
    has_configured_compressor: true,
    otherwise: "/codecs",
    order: "/chunk_memory_layout",
    data_type: "/data_type",
};
