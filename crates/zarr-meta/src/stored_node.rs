//! Node read from a store.

use crate::chunk_key_form::ChunkKeyForm;
use crate::consolidated::{Beside, Consolidated};
use crate::conventions::Convention;
use crate::dialect::attributes;
use crate::dialect::table::rules;
use crate::{Dialect, Documents, Error, GroupMetadata, Node, NodePath, Warning};
use zarr_json::{Map, NamedConfig};

/// Node read from a store, with its documents and facts about the way in which it is stored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredNode {
    /// Dialect of the documents of the node.
    pub dialect: Dialect,
    /// Path of the node in the store.
    pub path: NodePath,
    /// Metadata of the node.
    pub node: Node,
    /// Whether the node is a group without a document, known only from nodes below it.
    pub implicit: bool,
    /// Documents of the node as stored.
    pub documents: Documents,
    /// Deviations from the specification in the documents.
    pub warnings: Vec<Warning>,
    /// Reason why the attributes cannot be read; `None` if they can. The attributes of `node` are then empty. A broken attributes document
    /// (v2) does not prevent the data from being read.
    pub attributes_error: Option<Error>,
    /// Whether the document does not give the separator of chunk indices. Old writers of v2 used `/` without recording it: if no chunk
    /// exists at the key with `.`, try the key with `/`.
    pub separator_unmarked: bool,
    /// Whether all software reads elements of missing chunks as the fill value of the array. If false, a chunk that holds only the fill
    /// value must still be stored: the fill value is undefined, or spelled in a way that other software reads as another value, such as 0
    /// for strings, or any value for most objects of v2.
    pub may_omit_empty_chunks: bool,
    /// Convention that gave the dimension names; `None` if the names are part of the format.
    pub dimension_names_from: Option<Convention>,
    /// Alternative forms of the chunk keys of the array, in the order to try them. Some versions of the specification changed the keys and
    /// nothing else: if no chunk exists under the keys that the metadata implies, try these. All chunks of an array have keys of one form.
    pub fallback_keys: Vec<ChunkKeyForm>,
    /// Error about the unknown data type of the document, if `node` has the fallback type instead; `None` if the type is known. A caller
    /// that does not want the fallback can return this error.
    pub fallback: Option<Error>,
    /// Reason why elements cannot be read: the document of an array of a draft has an unknown extension (a data type without a fallback, a
    /// chunk grid, an order of elements, a storage transformer). The node can still be listed, copied, changed and erased.
    pub unknown: Option<Error>,
    /// Codecs for chunks in C order, if the document says F but that is in doubt; see [`v1_f_order_is_c`](Self::v1_f_order_is_c).
    pub codecs_if_c_order: Option<Vec<NamedConfig>>,
    pub(crate) beside: Beside,
}

/// Keys that belong to a node and to all nodes below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owned {
    /// Prefixes (each empty, or ending in `/`) below which all keys belong to the node.
    pub prefixes: Vec<String>,
    /// Keys outside of `prefixes` at which the node may have documents.
    pub keys: Vec<String>,
}

/// Returns the keys that belong to a node of any kind at `path`, and to all nodes below it. `documents` must contain the document that
/// [`entry_point_key`](crate::entry_point_key) names. It may contain further documents, and may be empty if the dialect has no entry point.
pub fn owned(dialect: Dialect, path: &NodePath, documents: &Documents) -> Owned {
    let rules = rules(dialect);
    let prefixes = rules.own_prefixes(path, documents);
    let entry = crate::entry_point_key(dialect).filter(|_| !path.is_root());
    let mut keys = rules.document_keys(path);
    keys.extend(rules.more_keys(path, documents));
    keys.extend(documents.iter().map(|(key, _)| key.to_owned()));
    let is_beside = |key: &String| !prefixes.iter().any(|prefix| key.starts_with(prefix.as_str()));
    keys.retain(|key| Some(key.as_str()) != entry && is_beside(key));
    keys.sort();
    keys.dedup();
    Owned { prefixes, keys }
}

impl StoredNode {
    /// Returns a group without a document at `path`.
    pub fn implicit(dialect: Dialect, path: NodePath) -> Self {
        Self {
            dialect,
            path,
            node: Node::Group(GroupMetadata::default()),
            implicit: true,
            documents: Documents::new(),
            warnings: Vec::new(),
            attributes_error: None,
            separator_unmarked: false,
            may_omit_empty_chunks: true,
            dimension_names_from: None,
            fallback_keys: Vec::new(),
            fallback: None,
            unknown: None,
            codecs_if_c_order: None,
            beside: Beside::default(),
        }
    }

    /// Returns a group without a main document at `path`. `rest` are other documents found there: in a dialect with a separate attributes
    /// document, `rest` may give the attributes.
    pub fn implied(dialect: Dialect, path: NodePath, rest: &Documents) -> Self {
        let mut found = Self::implicit(dialect, path);
        let Some(key) = rules(dialect).attributes_key(&found.path).filter(|key| rest.contains(key)) else {
            return found;
        };
        match attributes::read(&key, rest, &mut found.warnings) {
            Ok(attributes) => *found.node.attributes_mut() = attributes,
            Err(error) => found.attributes_error = Some(error),
        }
        found.documents = rest.among(&[key]).without_values();
        found
    }

    /// Changes an array of version 1 with `order` F and a compressor other than blosc to C order, as zarr-python 1, the only software that
    /// wrote that version, stored it. By default such arrays are read in F order, as the specification of version 1 says, with a warning.
    /// Other nodes are not changed.
    ///
    /// If the node is then written over its documents, they give the true order.
    #[must_use]
    pub fn v1_f_order_is_c(mut self) -> Self {
        if let (Some(codecs), Node::Array(array)) = (self.codecs_if_c_order.take(), &mut self.node) {
            array.codecs = codecs;
            self.warnings.retain(|warning| warning.pointer != "/order");
        }
        self
    }

    /// Returns the prefix of the array's chunk keys, relative to the root of the store: empty, or ending in `/`.
    pub fn chunk_prefix(&self) -> String {
        rules(self.dialect).chunk_prefix(&self.path, &self.documents)
    }

    /// Returns the keys that belong to this node and to all nodes below it, which have to be erased with the node.
    pub fn owned(&self) -> Owned {
        owned(self.dialect, &self.path, &self.documents)
    }

    /// Returns the prefixes (empty, or ending in `/`) below which all keys belong to this node and the nodes below it. Together with
    /// [`own_documents`](Self::own_documents) they cover all keys of the node.
    pub fn own_prefixes(&self) -> Vec<String> {
        rules(self.dialect).own_prefixes(&self.path, &self.documents)
    }

    /// Returns the keys of the documents of this node, without documents of the whole hierarchy.
    pub fn own_documents(&self) -> impl Iterator<Item = &str> {
        let entry = crate::entry_point_key(self.dialect).filter(|_| !self.path.is_root());
        self.documents.keys().filter(move |key| Some(*key) != entry)
    }

    /// Returns the attributes of the node.
    ///
    /// # Errors
    /// Fails with [`attributes_error`](Self::attributes_error) if there is one.
    pub fn attributes(&self) -> Result<&Map, &Error> {
        match &self.attributes_error {
            None => Ok(self.node.attributes()),
            Some(error) => Err(error),
        }
    }

    /// Returns the consolidated metadata from the separate document of the group ([`document_key`](crate::consolidated::document_key)), if
    /// that was read together with the group ([`Probe::expecting_group`](crate::Probe::expecting_group)); `None` if it was not read.
    ///
    /// The inner `None` means that there is no such document, or that its format is not known.
    ///
    /// # Errors
    /// Fails in the same cases as [`Consolidated::parse_document`].
    pub fn consolidated_beside(&self) -> Option<Result<Option<Consolidated>, Error>> {
        self.node.as_group()?;
        self.beside.parse(self.dialect, &rules(self.dialect).consolidation().key(&self.path)?)
    }

    /// Returns the node without the consolidated metadata that was read with it, so that later uses request the metadata again.
    #[must_use]
    pub fn without_copies(mut self) -> Self {
        self.beside = Beside::default();
        if let Node::Group(group) = &mut self.node {
            group.consolidated = None;
        }
        self
    }

    /// Returns the metadata of the node with `attributes` instead of the present ones. Dimension names that come from attributes change
    /// too.
    pub fn with_attributes(&self, attributes: Map) -> Node {
        let mut node = self.node.clone();
        *node.attributes_mut() = attributes;
        if let Node::Array(array) = &mut node
            && crate::conventions::hold_in(self.dialect)
        {
            crate::conventions::refresh(array);
        }
        node
    }
}
