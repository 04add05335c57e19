//! The interface between a dialect and the model.

use super::stored_members::Members;
use super::{Dialect, fill};
use crate::chunk_key_form::ChunkKeyForm;
use crate::consolidated::{Consolidated, Consolidation};
use crate::conventions::{self, ARRAY_DIMENSIONS, Convention};
use crate::{Children, Documents, Error, Node, NodePath, Result, Warning};
use std::sync::Arc;
use zarr_json::{Map, NamedConfig, Value};

/// The rules of one dialect, or of several that are read alike.
pub(crate) trait Rules: Sync {
    /// The dialects these rules are for.
    fn dialects(&self) -> &'static [Dialect];

    /// Whether the documents at the path of a node suffice to recognise it. If not, the dialect is asked only where one of the entry
    /// documents ([`DETECTION_KEYS`](crate::DETECTION_KEYS)) names it.
    fn is_self_contained(&self) -> bool {
        true
    }

    /// The keys of the documents that a node at `path` may have.
    fn document_keys(&self, path: &NodePath) -> Vec<String>;

    /// The [`document_keys`](Self::document_keys) at which a group has no document.
    fn array_keys(&self, _path: &NodePath) -> Vec<String> {
        Vec::new()
    }

    /// Further keys, where they depend on the documents at the first ones.
    fn more_keys(&self, _path: &NodePath, _documents: &Documents) -> Vec<String> {
        Vec::new()
    }

    /// The node that `documents` describe; `None` if there is none among them.
    fn parse(&self, path: &NodePath, documents: &Documents) -> Result<Option<Parsed>>;

    /// The documents of `node`, as near to it as the dialect comes.
    ///
    /// A node that the dialect cannot express at all is an error. The caller finds by parsing the result whether it is
    /// exactly `node`. `known` are the documents that the node has or had, for dialects that say in one of them how the
    /// others are called.
    fn write(&self, dialect: Dialect, path: &NodePath, node: &Node, known: &Documents) -> Result<Vec<(String, Map)>>;

    /// How the keys of the chunks of a new array with `rank` dimensions are formed, with this separator if one is wanted; `known`
    /// as for [`write`](Self::write).
    fn chunk_keys(&self, rank: usize, separator: Option<&str>, known: &Documents) -> NamedConfig;

    /// The prefix of the keys of the chunks of an array at `path`; `known` as for [`write`](Self::write).
    fn chunk_prefix(&self, path: &NodePath, _known: &Documents) -> String {
        path.key_prefix()
    }

    /// The prefixes below which there is nothing but the node at `path` and the nodes below it. Documents may lie
    /// elsewhere; `known` as for [`write`](Self::write).
    fn own_prefixes(&self, path: &NodePath, _known: &Documents) -> Vec<String> {
        vec![path.key_prefix()]
    }

    /// The prefix whose listing shows the children of a group at `path`.
    fn listing_prefix(&self, path: &NodePath) -> String {
        path.key_prefix()
    }

    /// The paths at which children may be, from the keys and prefixes directly below the listing prefix; `known` as for
    /// [`write`](Self::write).
    fn children(&self, path: &NodePath, keys: &[&str], prefixes: &[&str], known: &Documents) -> Children;

    /// Whether `name`, the last part of a key below the listing prefix, is that of a node document, so that there is a
    /// group at every prefix above it. `known` are the documents that were read before, as far as they are known.
    fn is_node_document(&self, name: &str, known: &Documents) -> bool;

    /// The key of the document that has nothing but attributes, which a group may have without any other document: nodes below imply the
    /// group, and software writes its attributes all the same.
    fn attributes_key(&self, _path: &NodePath) -> Option<String> {
        None
    }

    /// Whether there is a group at every path above a node without its being written, and documents lie apart from chunks.
    fn implies_groups(&self) -> bool {
        false
    }

    /// The path of the node whose document has this key, where documents lie apart from chunks; `known` as for
    /// [`write`](Self::write). `None` for other keys.
    fn document_path(&self, _key: &str, _known: &Documents) -> Option<NodePath> {
        None
    }

    /// Whether a store is one array.
    fn holds_one_array(&self) -> bool {
        false
    }

    /// Whether it is older than the drafts of version 3, see [`Dialect::precedes_v3`].
    fn precedes_v3(&self) -> bool {
        false
    }

    /// See [`Dialect::allows_nan_literals`].
    fn allows_nan_literals(&self) -> bool {
        false
    }

    /// See [`entry_point_key`](super::entry_point_key).
    fn entry_point_key(&self) -> Option<&'static str> {
        None
    }

    /// Whether the keys of chunks may have either separator.
    fn has_separators(&self) -> bool {
        false
    }

    /// Whether every array has a fill value: null is none.
    fn needs_fill_value(&self) -> bool {
        false
    }

    /// See [`Dialect::fill_value_marks_missing`]. Where every array has a fill value, none can say that no data are missing.
    fn fill_value_marks_missing(&self) -> bool {
        !self.needs_fill_value()
    }

    /// See [`Dialect::has_dimension_names`].
    fn has_dimension_names(&self) -> bool {
        false
    }

    /// Whether a document may have this further member, that of an array or that of a group.
    fn may_have_member(&self, _is_array: bool, _name: &str, value: &Value) -> bool {
        !is_ignorable(value)
    }

    /// The names that the document of an array has for the members of the model.
    fn members(&self) -> Members {
        Members::OF_MODEL
    }

    /// Whether chunks may be shards.
    fn has_shards(&self) -> bool {
        false
    }

    /// Whether an array may have these storage transformers, which a document of the dialect had.
    fn has_transformers(&self, _transformers: &[NamedConfig]) -> bool {
        false
    }

    /// Whether the indexes of shards may have a checksum.
    fn has_index_checksums(&self) -> bool {
        false
    }

    /// Where groups have consolidated metadata.
    fn consolidation(&self) -> Consolidation {
        Consolidation::None
    }

    /// The consolidated metadata in a document of its own, at `key`, with this content; see
    /// [`Consolidated::parse_document`].
    fn parse_consolidated(&self, _key: &str, _bytes: &Arc<Vec<u8>>) -> Result<Option<Consolidated>> {
        Ok(None)
    }

    /// The codecs of new arrays for which none are given.
    fn default_codecs(&self) -> Option<Vec<NamedConfig>> {
        None
    }

    /// See [`Dialect::names_in_directory`].
    fn names_in_directory<'n>(&self, _directory: &[&'n str]) -> Option<Vec<&'n str>> {
        None
    }

    /// Checks a name to be written: an error, or a warning.
    fn check_name(&self, name: &str, error: &dyn Fn(&str, &str) -> Error) -> Result<Option<String>>;
}

/// The further member of an array whose data type is not known, but names a fallback that is: the value that its
/// document has for `data_type`.
pub(crate) const UNKNOWN_TYPE: &str = "data_type";

/// Whether a reader may ignore a member with this value.
pub(crate) fn is_ignorable(value: &Value) -> bool {
    value.get("must_understand") == Some(&Value::Bool(false))
}

/// The result of [`Rules::parse`].
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) dialect: Dialect,
    pub(crate) node: Node,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) attributes_error: Option<Error>,
    pub(crate) separator_unmarked: bool,
    /// See [`StoredNode::may_omit_empty_chunks`](crate::StoredNode::may_omit_empty_chunks).
    pub(crate) may_omit_empty_chunks: bool,
    pub(crate) dimension_names_from: Option<Convention>,
    /// It is a group without a document of its own.
    pub(crate) implicit: bool,
    /// See [`StoredNode::fallback_keys`](crate::StoredNode::fallback_keys).
    pub(crate) fallback_keys: Vec<ChunkKeyForm>,
    /// See [`StoredNode::fallback`](crate::StoredNode::fallback).
    pub(crate) fallback: Option<Error>,
    /// See [`StoredNode::unknown`](crate::StoredNode::unknown).
    pub(crate) unknown: Option<Error>,
    /// The codecs for elements in C order, where the order that the document says may not be the order that they are
    /// stored in.
    pub(crate) codecs_if_c_order: Option<Vec<NamedConfig>>,
    /// Members that are read with a warning, and that are spelled as the specification says where the document is written anew: keys of
    /// documents, and names.
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

    /// Names the dimensions of an array by the convention that its attributes follow. `attributes` are the key of the document
    /// that has them, and the pointer to them.
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

    /// Takes note of the members among `names` of the document at `key` that warnings are about.
    pub(crate) fn with_odd_members(mut self, key: &str, names: &[&str]) -> Self {
        let warnings = self.warnings.iter().filter(|warning| warning.key == key);
        let members = warnings.filter_map(|warning| warning.pointer.split('/').nth(1));
        let odd = members.filter(|name| names.contains(name));
        self.odd_members = odd.map(|name| (key.to_owned(), name.to_owned())).collect();
        self
    }

    /// Takes note of how `document`, that of an array, spells the fill value, where the model does not keep that.
    pub(crate) fn spelled_in(mut self, document: &Value) -> Self {
        if let Node::Array(array) = &self.node {
            self.may_omit_empty_chunks = fill::is_agreed(document.get("fill_value"), array, self.dialect);
        }
        self
    }
}
