//! Version 1, of zarr-python 1 (2016): one array and no hierarchy.
//!
//! The document `meta` describes the array, `attrs` has the user's attributes, and the chunks lie beside them: `0.0`. Zarr v1
//! specification, <https://zarr-specs.readthedocs.io/en/latest/v1/v1.0.html>.

mod fill;
mod parse;
mod write;

pub(super) use fill::{deviation as fill_deviation, from_model as fill_from_model, to_model as fill_to_model};

use crate::dialect::detect::{V1_ARRAY as ARRAY, V1_ATTRIBUTES as ATTRIBUTES};
use crate::dialect::rules::{Parsed, Rules};
use crate::dialect::stored_members::{Codecs, Members};
use crate::dialect::{Dialect, layout};
use crate::error::{Error, ErrorKind, Result};
use crate::{Children, Documents, Node, NodePath};
use zarr_json::{Map, NamedConfig, Value};

/// Rules of version 1.
pub(crate) struct V1;

/// Places of codecs in a document of version 0 or 1: one codec, with its parameters in another member.
pub(super) const STORED: Members = Members {
    names: &[("/data_type", "/dtype"), ("/chunk_grid", "/chunks"), ("/codecs", "/compression")],
    codecs: Codecs::One { name: "/compression", parameters: "/compression_opts" },
};

/// Returns the default compressor of zarr-python 1, which is the only compressor of version 0.
pub(super) fn default_compressor() -> NamedConfig {
    let members =
        [("cname", Value::from("lz4")), ("clevel", 5.into()), ("shuffle", "shuffle".into()), ("blocksize", 0.into())];
    NamedConfig::with("blosc", members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl Rules for V1 {
    fn dialects(&self) -> &'static [Dialect] {
        &[Dialect::V1]
    }

    fn holds_one_array(&self) -> bool {
        true
    }

    fn default_codecs(&self) -> Option<Vec<NamedConfig>> {
        Some(vec![default_compressor()])
    }

    fn is_self_contained(&self) -> bool {
        false
    }

    fn precedes_v3(&self) -> bool {
        true
    }

    fn allows_nan_literals(&self) -> bool {
        true
    }

    fn members(&self) -> Members {
        STORED
    }

    fn document_keys(&self, path: &NodePath) -> Vec<String> {
        if path.is_root() { [ARRAY, ATTRIBUTES].map(str::to_owned).into() } else { Vec::new() }
    }

    fn parse(&self, _: &NodePath, documents: &Documents) -> Result<Option<Parsed>> {
        parse::parse(documents)
    }

    fn write(&self, _: Dialect, path: &NodePath, node: &Node, _: &Documents) -> Result<Vec<(String, Map)>> {
        let array = only_array("version 1", path, node)?;
        // Mandatory even when there are none.
        let attributes = array.attributes.clone();
        Ok(vec![(ARRAY.to_owned(), write::array(array)?), (ATTRIBUTES.to_owned(), attributes)])
    }

    fn chunk_keys(&self, _: usize, separator: Option<&str>, _: &Documents) -> NamedConfig {
        layout::keys("v2", separator.unwrap_or("."))
    }

    fn children(&self, _: &NodePath, _: &[&str], _: &[&str], _: &Documents) -> Children {
        Children::default()
    }

    fn is_node_document(&self, _: &str, _: &Documents) -> bool {
        false
    }

    fn check_name(&self, _: &str, error: &dyn Fn(&str, &str) -> Error) -> Result<Option<String>> {
        Err(error("below the root", "the root, since a store of version 1 is one array"))
    }
}

/// Returns `node` if it is an array at the root, the only node in a dialect without hierarchy. `what` names the dialect in errors.
pub(super) fn only_array<'n>(what: &str, path: &NodePath, node: &'n Node) -> Result<&'n crate::ArrayMetadata> {
    if !path.is_root() {
        let expected = format!("the root, since a store of {what} is one array");
        return Err(Error::new(ErrorKind::Path, "", path.to_string(), expected));
    }
    let group =
        || Error::new(ErrorKind::NotExpressible, "/node_type", "a group", format!("an array, all that {what} has"));
    node.as_array().ok_or_else(group)
}
