//! Serde support for Zarr v2 nodes inside documents of other formats, for `#[serde(with = "zarr_meta::as_v2")]`.
//!
//! A node is serialized as an object whose members are the v2 documents by their names, as in consolidated metadata: `.zarray` or
//! `.zgroup`, and `.zattrs` if there are attributes. A node is deserialized from such an object, or from an object that is itself the
//! content of a `.zarray` or `.zgroup`.
//!
//! ```
//! use zarr_meta::{ArrayMetadata, NamedConfig};
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Reference {
//!     url: String,
//!     #[serde(with = "zarr_meta::as_v2")]
//!     array: ArrayMetadata,
//! }
//! let text = r#"{"url": "s3://bucket/a", "array": {
//!     "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<f4", "fill_value": 0.0, "order": "C",
//!     "compressor": {"id": "zlib", "level": 1}, "filters": null}}"#;
//! let mut reference: Reference = serde_json::from_str(text)?;
//! assert_eq!(reference.array.data_type, NamedConfig::new("float32"));
//! reference.array.attributes.insert("units", "K");
//! let written = serde_json::to_value(&reference)?;
//! assert_eq!(written["array"][".zarray"]["dtype"], "<f4");
//! assert_eq!(written["array"][".zattrs"]["units"], "K");
//! # Ok::<(), serde_json::Error>(())
//! ```

use crate::node_serde::{read, write};
use crate::{Dialect, Documents, Node};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};
use std::fmt::Display;
use zarr_json::{Map, Value};

/// Serializes a node as an object of its Zarr v2 documents: `.zarray` or `.zgroup`, and `.zattrs`.
///
/// # Errors
/// Fails for nodes that v2 cannot express exactly; [`for_dialect`](crate::for_dialect) gives the nearest node.
pub fn serialize<N: Clone + Into<Node>, S: Serializer>(node: &N, serializer: S) -> Result<S::Ok, S::Error> {
    let documents = write(Dialect::V2, &node.clone().into()).map_err(S::Error::custom)?;
    Map::from_unique(documents).serialize(serializer)
}

/// Deserializes a node from an object of its Zarr v2 documents, or from the content of one `.zarray` or `.zgroup`.
///
/// # Errors
/// Fails for invalid documents, naming document and member, and for documents of a node that is not an `N`.
pub fn deserialize<'de, N, D>(deserializer: D) -> Result<N, D::Error>
where
    N: TryFrom<Node, Error: Display>,
    D: Deserializer<'de>,
{
    let object = Map::deserialize(deserializer)?;
    let names = [".zarray", ".zgroup", ".zattrs"];
    let bytes = |document: &Value| document.to_string().into_bytes();
    let stored: Documents = if names.iter().any(|name| object.contains_key(name)) {
        names.into_iter().filter_map(|name| Some((name.to_owned(), bytes(object.get(name)?)))).collect()
    } else {
        let name = if object.contains_key("shape") { ".zarray" } else { ".zgroup" };
        [(name.to_owned(), bytes(&Value::Object(object)))].into_iter().collect()
    };
    N::try_from(read(Dialect::V2, &stored).map_err(D::Error::custom)?).map_err(D::Error::custom)
}
