//! The interface between a dialect and the model.

use super::stored_members::Members;
use super::{Dialect, fill};
use crate::chunk_key_form::ChunkKeyForm;
use crate::consolidated::{Consolidated, Consolidation};
use crate::conventions::{self, ARRAY_DIMENSIONS, Convention};
use crate::{Children, Documents, Error, Node, NodePath, Result, Warning};
use std::sync::Arc;
use zarr_json::{Map, NamedConfig, Value};

/// Rules of one dialect, or of several dialects with the same reader.
pub(crate) trait Rules: Sync {
    /// Returns the dialects with these rules, newest first.
    fn dialects(&self) -> &'static [Dialect];

    /// Returns whether the documents at the path of a node suffice to recognise the dialect. If not, the dialect is only tried if a
    /// document at one of [`DETECTION_KEYS`](crate::DETECTION_KEYS) shows it.
    fn is_self_contained(&self) -> bool {
        true
    }

    /// Returns the keys of the documents that a node at `path` may have.
    fn document_keys(&self, path: &NodePath) -> Vec<String>;

    /// Returns the [`document_keys`](Self::document_keys) that only an array uses.
    fn array_keys(&self, _path: &NodePath) -> Vec<String> {
        Vec::new()
    }

    /// Returns further keys of documents, which depend on the content of the documents at the first keys.
    fn more_keys(&self, _path: &NodePath, _documents: &Documents) -> Vec<String> {
        Vec::new()
    }

    /// Returns the node that `documents` describe; `None` if they describe none.
    fn parse(&self, path: &NodePath, documents: &Documents) -> Result<Option<Parsed>>;

    /// Returns the documents of the node in the dialect that comes nearest to `node`.
    ///
    /// Fails for a node that the dialect cannot express at all. The caller parses the result to find out whether it is exactly `node`.
    /// `known` are the documents that the node has or had, for dialects in which one document determines the names of the others.
    fn write(&self, dialect: Dialect, path: &NodePath, node: &Node, known: &Documents) -> Result<Vec<(String, Map)>>;

    /// Returns the chunk key encoding of a new array with `rank` dimensions, with `separator` if one is given; `known` as for
    /// [`write`](Self::write).
    fn chunk_keys(&self, rank: usize, separator: Option<&str>, known: &Documents) -> NamedConfig;

    /// Returns the prefix of the chunk keys of an array at `path`; `known` as for [`write`](Self::write).
    fn chunk_prefix(&self, path: &NodePath, _known: &Documents) -> String {
        path.key_prefix()
    }

    /// Returns the prefixes below which all keys belong to the node at `path` and the nodes below it. Documents may lie elsewhere; `known`
    /// as for [`write`](Self::write).
    fn own_prefixes(&self, path: &NodePath, _known: &Documents) -> Vec<String> {
        vec![path.key_prefix()]
    }

    /// Returns the prefix to list in order to find the children of a group at `path`.
    fn listing_prefix(&self, path: &NodePath) -> String {
        path.key_prefix()
    }

    /// Returns the paths at which children may exist, from the keys and prefixes directly below the listing prefix; `known` as for
    /// [`write`](Self::write).
    fn children(&self, path: &NodePath, keys: &[&str], prefixes: &[&str], known: &Documents) -> Children;

    /// Returns whether `name`, the last part of a key below the listing prefix, belongs to a node document, which implies a group at every
    /// prefix above it. `known` are the documents read before.
    fn is_node_document(&self, name: &str, known: &Documents) -> bool;

    /// Returns the key of the separate attributes document, which a group may have without any other document: software writes attributes
    /// even of groups that exist only because nodes below imply them.
    fn attributes_key(&self, _path: &NodePath) -> Option<String> {
        None
    }

    /// Returns whether every path above a node is a group without a document, and documents are separate from chunks.
    fn implies_groups(&self) -> bool {
        false
    }

    /// Returns the path of the node whose document has the given key, if documents are separate from chunks; `None` for other keys. `known`
    /// as for [`write`](Self::write).
    fn document_path(&self, _key: &str, _known: &Documents) -> Option<NodePath> {
        None
    }

    /// Returns whether a store holds exactly one array.
    fn holds_one_array(&self) -> bool {
        false
    }

    /// Returns whether the dialect is older than the drafts of version 3, see [`Dialect::precedes_v3`].
    fn precedes_v3(&self) -> bool {
        false
    }

    /// Returns whether attributes may hold literals of NaN and infinities, see [`Dialect::allows_nan_literals`].
    fn allows_nan_literals(&self) -> bool {
        false
    }

    /// Returns the key of the entry point document, see [`entry_point_key`](super::entry_point_key).
    fn entry_point_key(&self) -> Option<&'static str> {
        None
    }

    /// Returns whether chunk keys may have either separator, `.` or `/`.
    fn has_separators(&self) -> bool {
        false
    }

    /// Returns whether every array must have a fill value; null does not count as one.
    fn needs_fill_value(&self) -> bool {
        false
    }

    /// Returns whether the fill value marks missing data, see [`Dialect::fill_value_marks_missing`]. A dialect in which every array has a
    /// fill value could not express that no data is missing.
    fn fill_value_marks_missing(&self) -> bool {
        !self.needs_fill_value()
    }

    /// Returns whether documents have dimension names, see [`Dialect::has_dimension_names`].
    fn has_dimension_names(&self) -> bool {
        false
    }

    /// Returns whether the document of an array (or of a group if not `is_array`) may have a further member with this name and value.
    fn may_have_member(&self, _is_array: bool, _name: &str, value: &Value) -> bool {
        !is_ignorable(value)
    }

    /// Returns the names of the model's members in the document of an array.
    fn members(&self) -> Members {
        Members::OF_MODEL
    }

    /// Returns whether chunks may be shards.
    fn has_shards(&self) -> bool {
        false
    }

    /// Returns whether an array may have these storage transformers, which a document of the dialect had.
    fn has_transformers(&self, _transformers: &[NamedConfig]) -> bool {
        false
    }

    /// Returns whether the indexes of shards may have a checksum.
    fn has_index_checksums(&self) -> bool {
        false
    }

    /// Returns the place of the consolidated metadata of groups.
    fn consolidation(&self) -> Consolidation {
        Consolidation::None
    }

    /// Parses the consolidated metadata in the separate document at `key`; see [`Consolidated::parse_document`].
    fn parse_consolidated(&self, _key: &str, _bytes: &Arc<Vec<u8>>) -> Result<Option<Consolidated>> {
        Ok(None)
    }

    /// Returns the codecs for new arrays if the user gives none; `None` if the dialect has no default of its own.
    fn default_codecs(&self) -> Option<Vec<NamedConfig>> {
        None
    }

    /// Returns the names of the node whose documents or chunks lie in a directory, see [`Dialect::names_in_directory`].
    fn names_in_directory<'n>(&self, _directory: &[&'n str]) -> Option<Vec<&'n str>> {
        None
    }

    /// Checks the name of a node to be written. Returns a warning if the name is unwise; fails if it is forbidden.
    fn check_name(&self, name: &str, error: &dyn Fn(&str, &str) -> Error) -> Result<Option<String>>;
}

/// Name of the further member of an array whose data type is unknown but has a known fallback: the value of `data_type` in the document.
pub(crate) const UNKNOWN_TYPE: &str = "data_type";

/// Returns whether a reader may ignore a member with this value.
pub(crate) fn is_ignorable(value: &Value) -> bool {
    value.get("must_understand") == Some(&Value::Bool(false))
}

/// Node read from documents, with its warnings: result of [`Rules::parse`].
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) dialect: Dialect,
    pub(crate) node: Node,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) attributes_error: Option<Error>,
    pub(crate) separator_unmarked: bool,
    /// Whether chunks that hold only the fill value need not be stored, see
    /// [`StoredNode::may_omit_empty_chunks`](crate::StoredNode::may_omit_empty_chunks).
    pub(crate) may_omit_empty_chunks: bool,
    pub(crate) dimension_names_from: Option<Convention>,
    /// Whether the node is a group without a document.
    pub(crate) implicit: bool,
    /// Alternative forms of chunk keys, see [`StoredNode::fallback_keys`](crate::StoredNode::fallback_keys).
    pub(crate) fallback_keys: Vec<ChunkKeyForm>,
    /// Error about an unknown data type with a fallback, see [`StoredNode::fallback`](crate::StoredNode::fallback).
    pub(crate) fallback: Option<Error>,
    /// Error about an unknown extension, see [`StoredNode::unknown`](crate::StoredNode::unknown).
    pub(crate) unknown: Option<Error>,
    /// Codecs for elements in C order, if it is doubtful that elements are stored in the order that the document gives.
    pub(crate) codecs_if_c_order: Option<Vec<NamedConfig>>,
    /// Members that are read with a warning and spelled as the specification says when the document is written again: keys of documents,
    /// and names of members.
    pub(crate) odd_members: Vec<(String, String)>,
}

impl Parsed {
    pub(crate) fn new(dialect: Dialect, node: Node, warnings: Vec<Warning>) -> Self {
        let may_omit_empty_chunks =
            node.as_array().is_none_or(|array| fill::is_agreed(array.fill_value.as_ref(), array, dialect));
        Self {
            may_omit_empty_chunks,
            dialect,
            node,
            warnings,
            attributes_error: None,
            separator_unmarked: false,
            dimension_names_from: None,
            implicit: false,
            fallback_keys: Vec::new(),
            fallback: None,
            unknown: None,
            codecs_if_c_order: None,
            odd_members: Vec::new(),
        }
    }

    /// Sets the dimension names of an array by the convention that its attributes follow. `attributes` is the key of the document that has
    /// the attributes, and the JSON pointer to them.
    pub(crate) fn with_names_by_convention(mut self, attributes: (&str, &str)) -> Self {
        if let Node::Array(array) = &mut self.node {
            let (convention, deviation) = conventions::read_names(array);
            self.dimension_names_from = convention;
            let (key, pointer) = attributes;
            let pointer = format!("{pointer}/{ARRAY_DIMENSIONS}");
            self.warnings.extend(deviation.map(|what| Warning::new(key, pointer, what)));
        }
        self
    }

    /// Records those members among `names` of the document at `key` that have warnings.
    pub(crate) fn with_odd_members(mut self, key: &str, names: &[&str]) -> Self {
        let warnings = self.warnings.iter().filter(|warning| warning.key == key);
        let members = warnings.filter_map(|warning| warning.pointer.split('/').nth(1));
        let odd = members.filter(|name| names.contains(name));
        self.odd_members = odd.map(|name| (key.to_owned(), name.to_owned())).collect();
        self
    }

    /// Records how `document`, the document of an array, spells the fill value, for spellings that the model does not preserve.
    pub(crate) fn spelled_in(mut self, document: &Value) -> Self {
        if let Node::Array(array) = &self.node {
            self.may_omit_empty_chunks = fill::is_agreed(document.get("fill_value"), array, self.dialect);
        }
        self
    }
}
