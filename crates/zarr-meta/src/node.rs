//! The model: arrays and groups in the vocabulary of Zarr v3.

use crate::consolidated::Consolidated;
use crate::{Error, ErrorKind};
use zarr_json::{Map, NamedConfig, Value};

/// Metadata of an array in the vocabulary of Zarr v3, for all dialects.
///
/// Names that v3 does not have but older dialects need; they appear only in nodes read from older dialects:
///
/// | name | where | meaning |
/// |---|---|---|
/// | `v2_object` | data type | elements are values of any kind that the object codec (`numcodecs.json2`, `numcodecs.msgpack2`, `numcodecs.pickle`..) stores |
/// | `vlen-array` | data type | elements are lists of inner elements of the type in `data_type` of its configuration |
/// | `subarray` | data type of a struct field | `shape` inner elements of `data_type` in C order |
/// | `array_view` | codec | bytes are interpreted as an array of another type: `bytes_codecs` decode the bytes to elements of `data_type`, and `codecs` encode the elements |
/// | `field_endian` | configuration of `bytes` | byte orders of the fields of a struct, if they differ: a list with `"little"`, `"big"`, null (no byte order) or, for a nested struct, a list |
/// | `index_checksum_optional` | configuration of `sharding_indexed` | true: `index_codecs` were not in the document; the index may or may not have a checksum |
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ArrayMetadata {
    /// Number of elements along each dimension.
    pub shape: Vec<u64>,
    /// Data type. Its name never gives a byte order, which is in the configuration of the codec `bytes`.
    pub data_type: NamedConfig,
    /// Chunk grid: the division of the array into chunks.
    pub chunk_grid: NamedConfig,
    /// Chunk key encoding: the way from a chunk index to a key.
    pub chunk_key_encoding: NamedConfig,
    /// Value of elements in missing chunks, in the notation of v3. `None` means undefined (`null` in dialects up to v2): missing elements
    /// read as zero, and `null` is written.
    pub fill_value: Option<Value>,
    /// Complete chain of codecs: array to array codecs, one array to bytes codec, bytes to bytes codecs.
    pub codecs: Vec<NamedConfig>,
    /// Storage transformers that the document permits to ignore; documents with other storage transformers are refused.
    pub storage_transformers: Vec<NamedConfig>,
    /// Names of the dimensions, from the document or, for v2, from a [convention](crate::conventions).
    pub dimension_names: Option<Vec<Option<String>>>,
    /// Attributes of the user, as stored.
    pub attributes: Map,
    /// Members that the dialect does not define but permits to ignore; they are written back.
    pub extra: Map,
}

impl ArrayMetadata {
    /// Creates the metadata of an array without storage transformers, dimension names, attributes and further members.
    #[must_use]
    pub fn new(
        shape: Vec<u64>,
        data_type: NamedConfig,
        chunk_grid: NamedConfig,
        chunk_key_encoding: NamedConfig,
        fill_value: Option<Value>,
        codecs: Vec<NamedConfig>,
    ) -> Self {
        Self {
            shape,
            data_type,
            chunk_grid,
            chunk_key_encoding,
            fill_value,
            codecs,
            storage_transformers: Vec::new(),
            dimension_names: None,
            attributes: Map::new(),
            extra: Map::new(),
        }
    }
}

/// Metadata of a group.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GroupMetadata {
    /// Attributes of the user, as stored.
    pub attributes: Map,
    /// Consolidated metadata in the group's document (v3). The consolidated metadata of v2 has a separate document, see
    /// [`Consolidated::parse_v2`].
    pub consolidated: Option<Consolidated>,
    /// Members that the dialect does not define but permits to ignore; they are written back.
    pub extra: Map,
}

impl GroupMetadata {
    /// Creates the metadata of a group with the given attributes.
    #[must_use]
    pub fn new(attributes: Map) -> Self {
        Self { attributes, ..Self::default() }
    }
}

/// Metadata of a node: an array or a group.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    target_pointer_width = "64",
    expect(
        clippy::large_enum_variant,
        reason = "nodes are few; a box would be in the way of everybody who matches on one"
    )
)]
pub enum Node {
    /// The node is an array.
    Array(ArrayMetadata),
    /// The node is a group.
    Group(GroupMetadata),
}

impl Node {
    /// Returns the metadata of the array; `None` if the node is a group.
    pub fn as_array(&self) -> Option<&ArrayMetadata> {
        if let Self::Array(array) = self { Some(array) } else { None }
    }

    /// Returns the metadata of the group; `None` if the node is an array.
    pub fn as_group(&self) -> Option<&GroupMetadata> {
        if let Self::Group(group) = self { Some(group) } else { None }
    }

    /// Returns the user's attributes.
    pub fn attributes(&self) -> &Map {
        match self {
            Self::Array(array) => &array.attributes,
            Self::Group(group) => &group.attributes,
        }
    }

    /// Returns the user's attributes for modification.
    pub fn attributes_mut(&mut self) -> &mut Map {
        match self {
            Self::Array(array) => &mut array.attributes,
            Self::Group(group) => &mut group.attributes,
        }
    }

    /// Returns the node as a JSON object with the members of a v3 document, for comparison and display.
    ///
    /// Unlike a document, the object may contain `"fill_value": null` and the private names listed at [`ArrayMetadata`].
    pub fn to_value(&self) -> Value {
        match self {
            Self::Array(array) => array.to_value(),
            Self::Group(group) => group.to_value(),
        }
    }
}

impl From<ArrayMetadata> for Node {
    fn from(array: ArrayMetadata) -> Self {
        Self::Array(array)
    }
}

impl From<GroupMetadata> for Node {
    fn from(group: GroupMetadata) -> Self {
        Self::Group(group)
    }
}

impl TryFrom<Node> for ArrayMetadata {
    type Error = Error;

    fn try_from(node: Node) -> Result<Self, Error> {
        match node {
            Node::Array(array) => Ok(array),
            Node::Group(_) => Err(Error::new(ErrorKind::InvalidMetadata, "", "a group", "an array")),
        }
    }
}

impl TryFrom<Node> for GroupMetadata {
    type Error = Error;

    fn try_from(node: Node) -> Result<Self, Error> {
        match node {
            Node::Group(group) => Ok(group),
            Node::Array(_) => Err(Error::new(ErrorKind::InvalidMetadata, "", "an array", "a group")),
        }
    }
}

impl ArrayMetadata {
    /// Returns the array as a JSON object with the members of a v3 document, see [`Node::to_value`].
    pub fn to_value(&self) -> Value {
        let list = |items: &[NamedConfig]| Value::Array(items.iter().map(NamedConfig::to_value).collect());
        let mut map = Map::new();
        map.insert("zarr_format", 3);
        map.insert("node_type", "array");
        map.insert("shape", self.shape.clone());
        map.insert("data_type", self.data_type.short_value());
        map.insert("chunk_grid", self.chunk_grid.to_value());
        map.insert("chunk_key_encoding", self.chunk_key_encoding.to_value());
        map.insert("fill_value", self.fill_value.clone().unwrap_or_default());
        map.insert("codecs", list(&self.codecs));
        map.insert("attributes", self.attributes.clone());
        if let Some(names) = &self.dimension_names {
            let name = |name: &Option<String>| name.as_deref().map_or(Value::Null, Value::from);
            map.insert("dimension_names", Value::Array(names.iter().map(name).collect()));
        }
        if !self.storage_transformers.is_empty() {
            map.insert("storage_transformers", list(&self.storage_transformers));
        }
        add_extra(&mut map, &self.extra);
        Value::Object(map)
    }
}

impl GroupMetadata {
    /// Returns the group as a JSON object with the members of a v3 document, see [`Node::to_value`].
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("zarr_format", 3);
        map.insert("node_type", "group");
        map.insert("attributes", self.attributes.clone());
        if let Some(consolidated) = &self.consolidated {
            map.insert("consolidated_metadata", consolidated.to_inline());
        }
        add_extra(&mut map, &self.extra);
        Value::Object(map)
    }
}

/// Adds members of other dialects to `map`. Members whose name `map` has already are skipped, since the name may mean something else in v3.
fn add_extra(map: &mut Map, extra: &Map) {
    for (name, value) in extra.iter() {
        if !map.contains_key(name) {
            map.insert(name, value.clone());
        }
    }
}
