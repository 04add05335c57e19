//! Serde implementations of nodes, for use inside documents of other formats.

use crate::{
    ArrayMetadata, Dialect, Documents, Error, ErrorKind, GroupMetadata, Node, NodePath, StoredNode, documents,
};
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Error as _, Serialize, Serializer};
use zarr_json::{ParseOptions, Value, parse};

/// Reads the root node of a hierarchy in `dialect` from its documents.
pub(crate) fn read(dialect: Dialect, stored: &Documents) -> Result<Node, Error> {
    let expected = || Error::new(ErrorKind::InvalidMetadata, "", "no such document", format!("documents of {dialect}"));
    StoredNode::read(dialect, NodePath::root(), stored)?.ok_or_else(expected).and_then(|found| {
        match found.attributes_error {
            Some(error) => Err(error),
            None => Ok(found.node),
        }
    })
}

/// Returns the documents of `node` as the root of a hierarchy in `dialect`, with their keys.
pub(crate) fn write(dialect: Dialect, node: &Node) -> Result<Vec<(String, Value)>, Error> {
    let written = documents(dialect, &NodePath::root(), node, None)?;
    let documents = written.into_iter().filter_map(|(key, bytes)| Some((key, bytes?)));
    // They were made from values a moment ago.
    Ok(documents.filter_map(|(key, bytes)| Some((key, parse(&bytes, ParseOptions::ALL).ok()?.value))).collect())
}

impl Serialize for Node {
    /// Serializes the node as its Zarr v3 document. For the form of v2 see [`as_v2`](crate::as_v2).
    ///
    /// # Errors
    /// Fails for nodes of other dialects that v3 cannot express exactly; [`for_dialect`](crate::for_dialect) gives the nearest node.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let documents = write(Dialect::V3, self).map_err(S::Error::custom)?;
        match &*documents {
            [(_, document)] => document.serialize(serializer),
            _ => Err(S::Error::custom(format!("found {} documents of a node of Zarr v3, expected 1", documents.len()))),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    /// Deserializes a node from the content of a Zarr v3 `zarr.json`. For the form of v2 see [`as_v2`](crate::as_v2).
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = Value::deserialize(deserializer)?;
        let stored = [("zarr.json".to_owned(), document.to_string().into_bytes())].into_iter().collect();
        read(Dialect::V3, &stored).map_err(de::Error::custom)
    }
}

macro_rules! of_one_kind {
    ($kind:ident) => {
        impl Serialize for $kind {
            /// Serializes the metadata as a Zarr v3 document, as [`Node`] does.
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Node::from(self.clone()).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $kind {
            /// Deserializes the metadata from a Zarr v3 document, as [`Node`] does; a node of the other kind is an error.
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::try_from(Node::deserialize(deserializer)?).map_err(de::Error::custom)
            }
        }
    };
}
of_one_kind!(ArrayMetadata);
of_one_kind!(GroupMetadata);
