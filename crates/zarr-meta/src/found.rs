//! A node that was found.

use crate::conventions::Convention;
use crate::dialect::rules;
use crate::json::Map;
use crate::{Dialect, Documents, Error, GroupMetadata, Node, NodePath, Warning};

/// A node, and how it was stored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The dialect of its documents.
    pub dialect: Dialect,
    /// Where it lies.
    pub path: NodePath,
    /// The node.
    pub node: Node,
    /// Whether it is a group without a document of its own, known only from what lies below it.
    pub implicit: bool,
    /// Its documents as stored.
    pub documents: Documents,
    /// What is odd in them.
    pub warnings: Vec<Warning>,
    /// Why the attributes cannot be read, if so; those of the node are then empty. A document of attributes only (v2)
    /// that is broken does not keep the data from being read.
    pub attributes_error: Option<Error>,
    /// Whether the document does not say how chunk indices are joined. Old writers of v2 joined them by `/` without
    /// saying so: where a chunk is missing at the key with `.`, the one with `/` is to be tried.
    pub separator_unmarked: bool,
    /// The convention that the dimension names come from, where it is not the format itself.
    pub dimension_names_from: Option<Convention>,
}

impl Found {
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
            dimension_names_from: None,
        }
    }

    /// What the keys of its chunks begin with if it is an array, relative to the root of the store: empty, or ending in `/`.
    pub fn chunk_prefix(&self) -> String {
        rules(self.dialect)
            .map_or_else(|_| self.path.key_prefix(), |rules| rules.chunk_prefix(&self.path, &self.documents))
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

    /// The node with other attributes. Dimension names that come from attributes follow them.
    pub fn with_attributes(&self, attributes: Map) -> Node {
        let mut node = self.node.clone();
        *node.attributes_mut() = attributes;
        if let (Node::Array(array), Dialect::V2) = (&mut node, self.dialect) {
            crate::conventions::refresh(array);
        }
        node
    }
}
