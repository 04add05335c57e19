//! The core draft of version 3 dated 25 May 2022, as it stood at the end of that year.
//!
//! The dialect has an entry point document `zarr.json`, documents at `meta/a/b.array.json` and `meta/a/b.group.json`, and chunks at
//! `data/a/b/c0/1`. Groups need no document. Zarr core specification, editor's draft 25 May 2022.

mod entry;
mod parse;
mod write;

use super::v3::{self, members, unknown};
use crate::dialect::rules::{Parsed, Rules, UNKNOWN_TYPE};
use crate::dialect::stored_members::Members;
use crate::dialect::{Dialect, layout};
use crate::error::Result;
use crate::{Children, Documents, Error, Node, NodePath};
use entry::Entry;
use zarr_json::{Map, NamedConfig, Value};

/// Rules of the core draft of 2022.
pub(crate) struct V3Draft2022;

/// Key of the entry point document.
const ENTRY: &str = "zarr.json";

impl Rules for V3Draft2022 {
    fn dialects(&self) -> &'static [Dialect] {
        &[Dialect::V3Draft2022]
    }

    fn has_shards(&self) -> bool {
        true
    }

    /// Accepts unknown transformers, since documents keep them.
    fn has_transformers(&self, transformers: &[NamedConfig]) -> bool {
        unknown::transformers(transformers).is_ok()
    }

    fn names_in_directory<'n>(&self, directory: &[&'n str]) -> Option<Vec<&'n str>> {
        Some(directory.to_vec())
    }

    fn is_self_contained(&self) -> bool {
        false
    }

    fn entry_point_key(&self) -> Option<&'static str> {
        Some(ENTRY)
    }

    fn has_separators(&self) -> bool {
        true
    }

    fn needs_fill_value(&self) -> bool {
        true
    }

    /// Rejects unknown members.
    fn may_have_member(&self, is_array: bool, name: &str, _value: &Value) -> bool {
        is_array && matches!(name, "extensions" | UNKNOWN_TYPE)
    }

    fn members(&self) -> Members {
        v3::STORED
    }

    fn document_keys(&self, _: &NodePath) -> Vec<String> {
        vec![ENTRY.to_owned()]
    }

    fn more_keys(&self, path: &NodePath, documents: &Documents) -> Vec<String> {
        // `parse` reports an invalid entry.
        let keys = |entry: Entry| vec![entry.key(path, Kind::Array), entry.key(path, Kind::Group)];
        Entry::find(documents).ok().flatten().map(keys).unwrap_or_default()
    }

    fn parse(&self, path: &NodePath, documents: &Documents) -> Result<Option<Parsed>> {
        Entry::find(documents)?.map_or(Ok(None), |entry| parse::parse(path, &entry, documents))
    }

    fn write(&self, _: Dialect, path: &NodePath, node: &Node, known: &Documents) -> Result<Vec<(String, Map)>> {
        let entry = Entry::of(known);
        let (kind, document) = match node {
            Node::Array(array) => {
                let stored = known.get(&entry.key(path, Kind::Array));
                (Kind::Array, write::array(array, stored)?)
            }
            Node::Group(group) => (Kind::Group, write::group(group)),
        };
        Ok(vec![(ENTRY.to_owned(), Entry::document()), (entry.key(path, kind), document)])
    }

    fn chunk_keys(&self, _: usize, separator: Option<&str>, _: &Documents) -> NamedConfig {
        layout::keys("joined", separator.unwrap_or("/"))
    }

    fn chunk_prefix(&self, path: &NodePath, _: &Documents) -> String {
        format!("data/{}", path.key_prefix())
    }

    fn own_prefixes(&self, path: &NodePath, _: &Documents) -> Vec<String> {
        ["meta", "data"].map(|space| format!("{space}/{}", path.key_prefix())).into()
    }

    fn listing_prefix(&self, path: &NodePath) -> String {
        format!("meta/{}", path.key_prefix())
    }

    fn children(&self, path: &NodePath, keys: &[&str], prefixes: &[&str], known: &Documents) -> Children {
        let entry = Entry::of(known);
        let above = self.listing_prefix(path);
        let name = |key: &str| Some(entry.stem(key.strip_prefix(above.as_str())?)?.0.to_owned());
        Children::from_names(path, keys.iter().filter_map(|key| name(key)), &above, prefixes)
    }

    fn is_node_document(&self, name: &str, known: &Documents) -> bool {
        Entry::of(known).stem(name).is_some_and(|(stem, _)| NodePath::root().join(stem).is_ok())
    }

    fn implies_groups(&self) -> bool {
        true
    }

    fn document_path(&self, key: &str, known: &Documents) -> Option<NodePath> {
        let entry = Entry::of(known);
        let rest = key.strip_prefix("meta/")?;
        if [Kind::Array, Kind::Group].into_iter().any(|kind| entry.key(&NodePath::root(), kind) == key) {
            return Some(NodePath::root());
        }
        NodePath::root().join(entry.stem(rest)?.0).ok()
    }

    fn check_name(&self, name: &str, error: &dyn Fn(&str, &str) -> Error) -> Result<Option<String>> {
        members::check_name(name, error)
    }
}

/// Kind of node that a document describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Array,
    Group,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Group => "group",
        }
    }
}
