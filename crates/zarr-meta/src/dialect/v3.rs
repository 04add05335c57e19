//! Version 3: 3.0, 3.1, and the form of 2023, before the specification settled.
//!
//! Every node has one document `zarr.json`. Zarr v3 core specification, section "Metadata".

mod parse;
mod provisional;
mod write;

use super::rules::{Parsed, Rules, is_ignorable};
use super::{Dialect, layout};
use crate::consolidated::Consolidation;
use crate::{Children, Documents, Error, Node, NodePath, Result};
use zarr_json::{Map, NamedConfig, Value};

/// Rules of version 3.
pub(super) struct V3;

const DOCUMENT: &str = "zarr.json";

impl Rules for V3 {
    fn dialects(&self) -> &'static [Dialect] {
        &[Dialect::V3, Dialect::V3Provisional2023]
    }

    fn has_shards(&self) -> bool {
        true
    }

    fn has_index_checksums(&self) -> bool {
        true
    }

    fn needs_fill_value(&self) -> bool {
        true
    }

    fn has_dimension_names(&self) -> bool {
        true
    }

    fn consolidation(&self) -> Consolidation {
        Consolidation::InGroup
    }

    fn may_have_member(&self, _is_array: bool, _name: &str, value: &Value) -> bool {
        is_ignorable(value)
    }

    fn document_keys(&self, path: &NodePath) -> Vec<String> {
        vec![path.key_of(DOCUMENT)]
    }

    fn parse(&self, path: &NodePath, documents: &Documents) -> Result<Option<Parsed>> {
        parse::parse(&path.key_of(DOCUMENT), documents)
    }

    fn write(&self, dialect: Dialect, path: &NodePath, node: &Node, known: &Documents) -> Result<Vec<(String, Map)>> {
        let key = path.key_of(DOCUMENT);
        let document = write::document(dialect, node, known.get(&key))?;
        Ok(vec![(key, document)])
    }

    fn chunk_keys(&self, _: usize, separator: Option<&str>, _: &Documents) -> NamedConfig {
        layout::keys("default", separator.unwrap_or("/"))
    }

    fn children(&self, path: &NodePath, _keys: &[&str], prefixes: &[&str], _: &Documents) -> Children {
        Children::from_prefixes(path, prefixes)
    }

    fn is_node_document(&self, name: &str, _: &Documents) -> bool {
        name == DOCUMENT
    }

    fn check_name(&self, name: &str, error: &dyn Fn(&str, &str) -> Error) -> Result<Option<String>> {
        if name.starts_with("__") {
            return Err(error("begins with two underscores", "a name that does not, as version 3 demands"));
        }
        if name == DOCUMENT {
            return Err(error("is the key of documents", "another name"));
        }
        if name.contains('\\') {
            return Err(error("has a `\\`, which Windows and other software take for `/`", "another name"));
        }
        let portable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        Ok((!name.chars().all(portable)).then(|| "has characters other than a-z, A-Z, 0-9, -, _ and .".to_owned()))
    }
}
