//! Version 2, of zarr-python 2 and nearly everybody.
//!
//! An array has the documents `.zarray` and perhaps `.zattrs`, a group `.zgroup` and perhaps `.zattrs`. Zarr v2
//! specification, <https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html>.

mod parse;
mod write;

use super::rules::{Parsed, Rules};
use super::stored_members::{CodecList, Codecs, Members};
use super::{Dialect, layout};
use crate::consolidated::{Consolidated, Consolidation, V2_KEY};
use crate::{Children, Documents, Error, Node, NodePath, Result};
use std::sync::Arc;
use zarr_json::{Map, NamedConfig};

/// Rules of version 2.
pub(super) struct V2;

const ARRAY: &str = ".zarray";
const GROUP: &str = ".zgroup";
const ATTRIBUTES: &str = ".zattrs";

impl Rules for V2 {
    fn dialects(&self) -> &'static [Dialect] {
        &[Dialect::V2]
    }

    fn precedes_v3(&self) -> bool {
        true
    }

    fn allows_nan_literals(&self) -> bool {
        true
    }

    fn has_separators(&self) -> bool {
        true
    }

    fn members(&self) -> Members {
        Members {
            names: &[
                ("/data_type", "/dtype"),
                ("/chunk_grid", "/chunks"),
                ("/chunk_key_encoding", "/dimension_separator"),
                ("/codecs", "/filters"),
            ],
            codecs: Codecs::List(CodecList {
                list: "/filters",
                has_configurations: false,
                has_configured_compressor: false,
                otherwise: "/filters",
                order: "/order",
                data_type: "/dtype",
            }),
        }
    }

    fn consolidation(&self) -> Consolidation {
        Consolidation::Beside(V2_KEY)
    }

    fn parse_consolidated(&self, key: &str, bytes: &Arc<Vec<u8>>) -> Result<Option<Consolidated>> {
        Consolidated::parse_v2_shared(key, bytes)
    }

    fn document_keys(&self, path: &NodePath) -> Vec<String> {
        [ARRAY, GROUP, ATTRIBUTES].iter().map(|name| path.key_of(name)).collect()
    }

    fn array_keys(&self, path: &NodePath) -> Vec<String> {
        vec![path.key_of(ARRAY)]
    }

    fn attributes_key(&self, path: &NodePath) -> Option<String> {
        Some(path.key_of(ATTRIBUTES))
    }

    fn parse(&self, path: &NodePath, documents: &Documents) -> Result<Option<Parsed>> {
        parse::parse(&path.key_prefix(), documents)
    }

    fn write(&self, _dialect: Dialect, path: &NodePath, node: &Node, _: &Documents) -> Result<Vec<(String, Map)>> {
        let prefix = path.key_prefix();
        let (name, document) = match node {
            Node::Array(array) => (ARRAY, write::array(array)?),
            Node::Group(group) => (GROUP, write::group(group)),
        };
        let mut documents = vec![(format!("{prefix}{name}"), document)];
        if !node.attributes().is_empty() {
            documents.push((format!("{prefix}{ATTRIBUTES}"), node.attributes().clone()));
        }
        Ok(documents)
    }

    fn chunk_keys(&self, _: usize, separator: Option<&str>, _: &Documents) -> NamedConfig {
        layout::keys("v2", separator.unwrap_or("."))
    }

    fn children(&self, path: &NodePath, _keys: &[&str], prefixes: &[&str], _: &Documents) -> Children {
        Children::from_prefixes(path, prefixes)
    }

    fn is_node_document(&self, name: &str, _: &Documents) -> bool {
        matches!(name, ARRAY | GROUP)
    }

    fn check_name(&self, name: &str, error: &dyn Fn(&str, &str) -> Error) -> Result<Option<String>> {
        if matches!(name, ARRAY | GROUP | ATTRIBUTES | V2_KEY) {
            return Err(error("is the key of documents", "another name"));
        }
        if name.contains('\\') {
            return Err(error("has a `\\`, which software of version 2 takes for `/`", "another name"));
        }
        Ok((!name.is_ascii()).then(|| "has characters beyond ASCII".to_owned()))
    }
}
