//! The protocol drafts in use from 2020 to 2024: zarrita, xtensor-zarr, GDAL 3.4 to 3.7, zarr-python 2.12 to 2.18.
//!
//! The document `zarr.json` shows that there is a hierarchy, and gives the form of the other documents' keys:
//!
//! ```json
//! {"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0", "extensions": [],
//!  "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0", "metadata_key_suffix": ".json"}
//! ```
//!
//! An array at `/a/b` has the document `meta/root/a/b.array.json` and the chunks `data/root/a/b/c0/1`, a group has the document
//! `meta/root/a/b.group.json`. A root array has `meta/root.array.json` and `data/root/c0/1`, a root group `meta/root.group.json`. Every
//! path above a node is a group, with or without a document. For earlier forms of the keys see [`entry::Form`].

mod data_type;
mod entry;
mod parse;
mod write;

use super::v3::{self, unknown};
use crate::consolidated::{Consolidated, Consolidation};
use crate::dialect::Dialect;
use crate::dialect::rules::{Parsed, Rules};
use crate::dialect::stored_members::{CodecList, Codecs, Members};
use crate::error::{Error, Result};
use crate::{Children, Documents, Node, NodePath};
use entry::Form;
use std::sync::Arc;
use zarr_json::{Map, NamedConfig};

/// Rules of the protocol drafts.
pub(crate) struct V3Protocol2020;

pub(crate) use entry::{KEY as ENTRY, path_of};

impl Rules for V3Protocol2020 {
    fn dialects(&self) -> &'static [Dialect] {
        &[Dialect::V3Protocol2020]
    }

    fn has_shards(&self) -> bool {
        true
    }

    /// Accepts unknown transformers, since documents keep them.
    fn has_transformers(&self, transformers: &[NamedConfig]) -> bool {
        unknown::transformers(transformers).is_ok()
    }

    fn names_in_directory<'n>(&self, directory: &[&'n str]) -> Option<Vec<&'n str>> {
        Some(directory.strip_prefix(&["root"]).unwrap_or(directory).to_vec())
    }

    fn is_self_contained(&self) -> bool {
        false
    }

    fn allows_nan_literals(&self) -> bool {
        true
    }

    fn entry_point_key(&self) -> Option<&'static str> {
        Some(entry::KEY)
    }

    fn has_separators(&self) -> bool {
        true
    }

    fn members(&self) -> Members {
        Members {
            names: &[("/chunk_key_encoding", "/chunk_grid/separator"), ("/codecs", "/compressor")],
            codecs: Codecs::List(CodecList {
                list: "/attributes/filters",
                has_configurations: false,
                otherwise: "/compressor",
                ..v3::CODECS
            }),
        }
    }

    fn consolidation(&self) -> Consolidation {
        Consolidation::OfRoot(entry::CONSOLIDATED)
    }

    fn parse_consolidated(&self, key: &str, bytes: &Arc<Vec<u8>>) -> Result<Option<Consolidated>> {
        Consolidated::parse_p2020(key, bytes)
    }

    fn document_keys(&self, _: &NodePath) -> Vec<String> {
        vec![entry::KEY.to_owned()]
    }

    fn more_keys(&self, path: &NodePath, documents: &Documents) -> Vec<String> {
        // An entry point document that is wrong is reported when it is parsed.
        Form::of(documents).map_or_else(|_| Vec::new(), |form| vec![form.array_key(path), form.group_key(path)])
    }

    fn parse(&self, path: &NodePath, documents: &Documents) -> Result<Option<Parsed>> {
        parse::parse(path, documents)
    }

    fn write(&self, _: Dialect, path: &NodePath, node: &Node, known: &Documents) -> Result<Vec<(String, Map)>> {
        let form = Form::of(known)?;
        let document = match node {
            Node::Array(array) => (form.array_key(path), write::array(array, &form)?),
            Node::Group(group) => (form.group_key(path), write::group(group, &form)?),
        };
        Ok(vec![(entry::KEY.to_owned(), form.document), document])
    }

    fn chunk_keys(&self, rank: usize, separator: Option<&str>, known: &Documents) -> NamedConfig {
        let form = Form::of(known).unwrap_or_default();
        // In July 2020 there was no other.
        let separator = if form.is_first { "." } else { separator.unwrap_or("/") };
        parse::key_encoding(&form, rank, separator)
    }

    fn chunk_prefix(&self, path: &NodePath, known: &Documents) -> String {
        Form::of(known).unwrap_or_default().chunk_prefix(path)
    }

    fn own_prefixes(&self, path: &NodePath, known: &Documents) -> Vec<String> {
        if path.is_root() {
            return vec![String::new()];
        }
        vec![self.listing_prefix(path), Form::of(known).unwrap_or_default().chunk_prefix(path)]
    }

    fn listing_prefix(&self, path: &NodePath) -> String {
        format!("{}{}", entry::NODES, path.key_prefix())
    }

    fn children(&self, path: &NodePath, keys: &[&str], prefixes: &[&str], known: &Documents) -> Children {
        let form = Form::of(known).unwrap_or_default();
        let above = self.listing_prefix(path);
        let name = |key: &str| Some(form.node_name(key.strip_prefix(above.as_str())?)?.to_owned());
        Children::from_names(path, keys.iter().filter_map(|key| name(key)), &above, prefixes)
    }

    fn is_node_document(&self, name: &str, known: &Documents) -> bool {
        Form::of(known).unwrap_or_default().node_name(name).is_some()
    }

    fn implies_groups(&self) -> bool {
        true
    }

    fn document_path(&self, key: &str, known: &Documents) -> Option<NodePath> {
        Form::of(known).unwrap_or_default().path_of(key)?.ok()
    }

    fn check_name(&self, name: &str, error: &dyn Fn(&str, &str) -> Error) -> Result<Option<String>> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        match name.chars().all(allowed) {
            true => Ok(None),
            false => Err(error("has other characters than the draft allows", "a-z, A-Z, 0-9, -, _ and .")),
        }
    }
}
