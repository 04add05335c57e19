//! A node that was found.

use crate::chunk_key_form::ChunkKeyForm;
use crate::consolidated::{Beside, Consolidated};
use crate::conventions::Convention;
use crate::dialect::attributes;
use crate::dialect::table::rules;
use crate::{Dialect, Documents, Error, GroupMetadata, Node, NodePath, Warning};
use zarr_json::{Map, NamedConfig};

/// A node, and how it was stored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredNode {
    /// The dialect of its documents.
    pub dialect: Dialect,
    /// The path of the node.
    pub path: NodePath,
    /// The node.
    pub node: Node,
    /// Whether it is a group without a document of its own, known only from nodes below it.
    pub implicit: bool,
    /// Its documents as stored.
    pub documents: Documents,
    /// The deviations in them.
    pub warnings: Vec<Warning>,
    /// The reason why the attributes cannot be read, if so; the attributes of the node are then empty. A document of attributes only (v2)
    /// that is broken does not keep the data from being read.
    pub attributes_error: Option<Error>,
    /// Whether the document does not say how chunk indices are joined. Old writers of v2 joined them by `/` without
    /// saying so: where a chunk is missing at the key with `.`, the one with `/` is to be tried.
    pub separator_unmarked: bool,
    /// Whether all software reads elements that are not stored as the fill value of the array. If not, no chunk may be left out because it
    /// holds nothing else: the fill value is undefined, or spelled in a way that others read as another value, as 0 is for strings and any
    /// for most objects of v2.
    pub may_omit_empty_chunks: bool,
    /// The convention that the dimension names come from, where it is not the format itself.
    pub dimension_names_from: Option<Convention>,
    /// Other keys under which chunks of the array may lie, in the order to be tried. Some versions of the specification changed the keys
    /// without changing anything else: where no chunk of the array is found under the keys that the metadata imply, these are to be tried.
    /// All chunks of an array lie under keys of one kind.
    pub fallback_keys: Vec<ChunkKeyForm>,
    /// The reason why its data type is not known, if so, and the node has the fallback of its document: whoever does not want that has the
    /// error here.
    pub fallback: Option<Error>,
    /// The reason why elements cannot be read, where the document of an array of a draft has an extension that is not known: a data type
    /// without a fallback, a chunk grid, an order of elements, a storage transformer. The node can be listed, copied, changed and erased.
    pub unknown: Option<Error>,
    /// The codecs for chunks in C order, where the document says F and that is in doubt; see
    /// [`v1_f_order_is_c`](Self::v1_f_order_is_c).
    pub codecs_if_c_order: Option<Vec<NamedConfig>>,
    pub(crate) beside: Beside,
}

/// The keys that belong to a node and to all nodes below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owned {
    /// All keys below these prefixes (each empty, or ending in `/`).
    pub prefixes: Vec<String>,
    /// The keys outside of them at which the node may have documents.
    pub keys: Vec<String>,
}

/// The keys that belong to a node at `path`, of whichever kind, and to all nodes below it. `documents` has the document that
/// [`entry_point_key`](crate::entry_point_key) names; it may have others, and be empty where the dialect has none.
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
    /// A group without a document of its own.
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

    /// A group without a document of its own, at whose path these documents were found: in a dialect that keeps attributes in a document
    /// of their own, they are its attributes.
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

    /// The same array of version 1 as zarr-python 1, the only software that wrote that version, stored it: for `order` F and a
    /// compressor other than blosc it has C order. The text of version 1 says otherwise, which is the default, with a warning.
    /// Other nodes stay as they are.
    ///
    /// If the node is then written over its documents, they say the true order.
    #[must_use]
    pub fn v1_f_order_is_c(mut self) -> Self {
        if let (Some(codecs), Node::Array(array)) = (self.codecs_if_c_order.take(), &mut self.node) {
            array.codecs = codecs;
            self.warnings.retain(|warning| warning.pointer != "/order");
        }
        self
    }

    /// The prefix of the keys of its chunks if it is an array, relative to the root of the store: empty, or ending in
    /// `/`.
    pub fn chunk_prefix(&self) -> String {
        rules(self.dialect).chunk_prefix(&self.path, &self.documents)
    }

    /// The keys that belong to this node and to all nodes below it, which are to be erased with it.
    pub fn owned(&self) -> Owned {
        owned(self.dialect, &self.path, &self.documents)
    }

    /// The prefixes (empty, or ending in `/`) below which there is nothing but this node and the nodes below it.
    /// Together with [`own_documents`](Self::own_documents) they are all keys of it.
    pub fn own_prefixes(&self) -> Vec<String> {
        rules(self.dialect).own_prefixes(&self.path, &self.documents)
    }

    /// The keys of the documents that are of this node alone, and not of the whole hierarchy.
    pub fn own_documents(&self) -> impl Iterator<Item = &str> {
        let entry = crate::entry_point_key(self.dialect).filter(|_| !self.path.is_root());
        self.documents.keys().filter(move |key| Some(*key) != entry)
    }

    /// The attributes.
    ///
    /// # Errors
    /// [`attributes_error`](Self::attributes_error) where there is one.
    pub fn attributes(&self) -> Result<&Map, &Error> {
        match &self.attributes_error {
            None => Ok(self.node.attributes()),
            Some(error) => Err(error),
        }
    }

    /// The consolidated metadata that lies in a document beside that of the group
    /// ([`document_key`](crate::consolidated::document_key)), if that was read with the group
    /// ([`Probe::expecting_group`](crate::Probe::expecting_group)); `None` if it was not read.
    ///
    /// The inner `None` says that there is no such document, or none of a format that is known.
    ///
    /// # Errors
    /// As [`Consolidated::parse_document`].
    pub fn consolidated_beside(&self) -> Option<Result<Option<Consolidated>, Error>> {
        self.node.as_group()?;
        self.beside.parse(self.dialect, &rules(self.dialect).consolidation().key(&self.path)?)
    }

    /// The same node without consolidated metadata that was read with it: it is asked for again where it is wanted.
    #[must_use]
    pub fn without_copies(mut self) -> Self {
        self.beside = Beside::default();
        if let Node::Group(group) = &mut self.node {
            group.consolidated = None;
        }
        self
    }

    /// The node with other attributes. Dimension names that come from attributes follow them.
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
