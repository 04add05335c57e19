//! Digests as JSON, optionally with the hashes of all boxes, by which copies on different machines can be compared.

use super::{ArrayDigest, Digest, NodeDigest, hash_of, known_boxes};
use crate::Hash;
use zarr_grid::ChunkGrid;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

/// Version of the definition of digests.
const VERSION: u64 = 1;

impl Digest {
    /// Returns the digest as JSON, with the hashes of boxes if `parts`. [`from_json`](Self::from_json) is the inverse.
    pub fn to_json(&self, parts: bool) -> Value {
        let mut map = Map::new();
        map.insert("zarr_digest", VERSION);
        map.insert("hash", "blake3");
        map.insert("digest", self.hash.to_string());
        map.insert("ieee", self.ieee);
        map.insert("attributes", self.attributes);
        map.insert("nodes", self.nodes.iter().map(|node| node_json(node, parts)).collect::<Vec<_>>());
        Value::Object(map)
    }

    /// Reads a digest from JSON. Checks each hash if the hashes that it is computed from are present.
    ///
    /// # Errors
    /// [`InvalidJson`](ErrorKind::InvalidJson), [`UnsupportedVersion`](ErrorKind::UnsupportedVersion), or
    /// [`InvalidMetadata`](ErrorKind::InvalidMetadata) with the JSON pointer.
    pub fn from_json(value: &Value) -> Result<Self> {
        let root = At::root(value);
        if root.get("zarr_digest").is_none() {
            let error = Error::new(ErrorKind::InvalidMetadata, "found no member `zarr_digest`, expected a digest");
            return Err(error.with_hint("`zarr digest --parts FILE` writes one"));
        }
        parse(&root)
    }
}

fn node_json(node: &NodeDigest, parts: bool) -> Value {
    let mut map = Map::new();
    map.insert("path", node.path.as_str());
    map.insert("kind", if node.array.is_some() { "array" } else { "group" });
    if let Some(array) = &node.array {
        map.insert("digest", array.hash.to_string());
        map.insert("data_type", array.data_type.clone());
        map.insert("shape", array.shape.clone());
        map.insert("box", array.box_shape.clone());
    }
    if let Some(attributes) = &node.attributes {
        map.insert("attributes", attributes.to_string());
    }
    if let Some(hashes) = node.array.as_ref().and_then(|array| array.parts.as_ref()).filter(|_| parts) {
        map.insert("parts", hashes.iter().map(Hash::to_string).collect::<Vec<_>>());
    }
    Value::Object(map)
}

fn parse(root: &At<'_>) -> Result<Digest> {
    let version = root.member("zarr_digest").map_err(invalid)?;
    if version.size().map_err(invalid)? != VERSION {
        let message = format!("found version {}, expected {VERSION}", version.value().excerpt());
        let error = Error::new(ErrorKind::UnsupportedVersion, message);
        return Err(error.at(|location| location.pointer = Some(version.pointer())));
    }
    let name = root.member("hash").map_err(invalid)?;
    if name.text().map_err(invalid)? != "blake3" {
        return Err(invalid(name.invalid("blake3")));
    }
    let flag = |name: &str| root.member(name).and_then(|member| member.bool()).map_err(invalid);
    let (ieee, attributes) = (flag("ieee")?, flag("attributes")?);
    let nodes = root.member("nodes").and_then(|nodes| nodes.items()).map_err(invalid)?;
    let nodes = nodes.iter().map(|at| node(at, ieee, attributes)).collect::<Result<Vec<_>>>()?;
    let unsorted = nodes.windows(2).find_map(|pair| match pair {
        [first, second] if first.path >= second.path => Some(second),
        _ => None,
    });
    if let Some(second) = unsorted {
        let message = format!("found {:?} at this place, expected nodes sorted by path", second.path);
        return Err(Error::new(ErrorKind::InvalidMetadata, message));
    }
    let at = root.member("digest").map_err(invalid)?;
    let hash = hash(&at)?;
    if hash != hash_of(&nodes, ieee, attributes) {
        return Err(invalid(at.invalid("the hash of the nodes")));
    }
    Ok(Digest { hash, ieee, attributes, nodes })
}

fn node(at: &At<'_>, ieee: bool, has_attributes: bool) -> Result<NodeDigest> {
    let path = at.member("path").and_then(|path| path.text()).map_err(invalid)?.to_owned();
    let attributes = match has_attributes {
        true => Some(hash(&at.member("attributes").map_err(invalid)?)?),
        false => None,
    };
    let kind = at.member("kind").map_err(invalid)?;
    let array = match kind.text().map_err(invalid)? {
        "array" => Some(array(at, ieee)?),
        "group" => None,
        _ => return Err(invalid(kind.invalid("array or group"))),
    };
    Ok(NodeDigest { path, array, attributes })
}

fn array(at: &At<'_>, ieee: bool) -> Result<ArrayDigest> {
    let digest = at.member("digest").map_err(invalid)?;
    let (own, data_type) = (hash(&digest)?, at.member("data_type").map_err(invalid)?.value().clone());
    let shape = at.member("shape").and_then(|shape| shape.sizes()).map_err(invalid)?;
    let in_box = at.member("box").map_err(invalid)?;
    let box_shape = in_box.sizes().map_err(invalid)?;
    let is_of_shape = known_boxes(&shape, &data_type).is_none_or(|expected| expected == box_shape);
    let boxes = ChunkGrid::regular(&shape, &box_shape).ok().filter(|_| is_of_shape);
    let boxes = boxes.ok_or_else(|| invalid(in_box.invalid("the box that shape and data type have")))?;
    let parts = match at.get("parts") {
        None => None,
        Some(list) => {
            let parts = list.items().map_err(invalid)?.iter().map(hash).collect::<Result<Vec<_>>>()?;
            let count = zarr_grid::total_size(&boxes.grid_shape(), 1);
            if parts.len() as u128 != count {
                let message = format!("found {} hashes, expected {count}", parts.len());
                let error = Error::new(ErrorKind::InvalidMetadata, message);
                return Err(error.at(|location| location.pointer = Some(list.pointer())));
            }
            if own != ArrayDigest::hash_of(&data_type, &shape, &parts, ieee) {
                return Err(invalid(digest.invalid("the hash of the parts")));
            }
            Some(parts)
        }
    };
    Ok(ArrayDigest { hash: own, data_type, shape, box_shape, parts })
}

fn hash(at: &At<'_>) -> Result<Hash> {
    at.text().map_err(invalid)?.parse().map_err(|_| invalid(at.invalid("a hash of 64 hexadecimal digits")))
}

fn invalid(error: ValueError) -> Error {
    let message = format!("found {}, expected {}", error.found(), error.expected());
    let pointer = error.pointer().to_owned();
    Error::new(ErrorKind::InvalidMetadata, message).at(|location| location.pointer = Some(pointer))
}
