//! Attributes of nodes as values of Rust types, by serde.

use crate::{Error, ErrorKind, Result, node};
use serde::Serialize;
use serde::de::DeserializeOwned;
use zarr_json::pointer::escaped;
use zarr_json::{Map, SerdeError, Value};
use zarr_meta::StoredNode;

/// Returns the attributes of a node as a value of type `T`.
///
/// Numbers keep their digits; a field of type [`zarr_json::Value`] takes any attribute as it is spelled. Attributes that `T` does
/// not name are ignored, unless `T` refuses unknown fields.
///
/// ```
/// # use zarr_store::{Key, MemoryStore, Store, StoreExt};
/// use zarr_hierarchy::{attributes_as, open_node};
///
/// #[derive(serde::Deserialize)]
/// struct Attributes {
///     units: String,
///     valid_range: [f64; 2],
/// }
/// let store = MemoryStore::new();
/// let group = br#"{"zarr_format": 3, "node_type": "group", "attributes": {"units": "K", "valid_range": [0, 400]}}"#;
/// store.set_all(&Key::new("zarr.json")?, group)?;
/// let attributes: Attributes = attributes_as(&open_node(&store, "/", None)?)?;
/// assert_eq!((attributes.units.as_str(), attributes.valid_range[1]), ("K", 400.0));
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Argument`] if the attributes do not fit `T`, with the JSON pointer of the unfit attribute; the kinds of
/// faults of the document with the attributes.
pub fn attributes_as<T: DeserializeOwned>(node: &StoredNode) -> Result<T> {
    let attributes = Value::Object(node::attributes(node)?.clone());
    zarr_json::from_value(&attributes).map_err(|error| misfit(node, "/attributes", &error))
}

/// Returns one attribute of a node, or a value nested in an attribute, as a value of type `T`. `pointer` is a JSON pointer
/// (`/encoding/scale`), or the name of an attribute if it does not begin with `/`. `None` if the node has no such value.
///
/// # Errors
/// The errors of [`attributes_as`].
pub fn attribute<T: DeserializeOwned>(node: &StoredNode, pointer: &str) -> Result<Option<T>> {
    let Some(value) = node::attributes(node)?.pointer(pointer) else { return Ok(None) };
    let location = format!("/attributes{}", absolute(pointer));
    zarr_json::from_value(value).map(Some).map_err(|error| misfit(node, &location, &error))
}

/// Converts a Rust value to attributes, which replace all attributes of a node when they are set.
///
/// # Errors
/// [`ErrorKind::Argument`] if `value` has no form in JSON, or is not a struct or a map.
pub fn attributes_from<T: Serialize + ?Sized>(value: &T) -> Result<Map> {
    let refused = |message: String| Error::new(ErrorKind::Argument, message);
    match zarr_json::to_value(value).map_err(|error| refused(error.to_string()))? {
        Value::Object(members) => Ok(members),
        other => Err(refused(format!("found {}, expected a struct or a map for attributes", other.kind()))),
    }
}

/// Returns the attributes of a node with one attribute, or a value nested in an attribute, set to `value`. `pointer` is a JSON pointer
/// (`/encoding/scale`), or the name of an attribute if it does not begin with `/`.
///
/// # Errors
/// [`ErrorKind::Argument`] if `value` has no form in JSON, or if the object that `pointer` leads through does not exist; the errors of
/// [`attributes_as`].
pub fn with_attribute<T: Serialize + ?Sized>(node: &StoredNode, pointer: &str, value: &T) -> Result<Map> {
    let refused = |message: String| {
        Error::new(ErrorKind::Argument, message)
            .at(|location| location.pointer = Some(format!("/attributes{}", absolute(pointer))))
    };
    let value = zarr_json::to_value(value).map_err(|error| refused(error.to_string()))?;
    let mut attributes = node::attributes(node)?.clone();
    attributes.set_pointer(pointer, value).map_err(|error| refused(error.to_string()))?;
    Ok(attributes)
}

/// Returns `pointer` as a JSON pointer: the name of an attribute gets a `/` in front.
fn absolute(pointer: &str) -> String {
    if pointer.starts_with('/') { pointer.to_owned() } else { format!("/{}", escaped(pointer)) }
}

fn misfit(node: &StoredNode, base: &str, error: &SerdeError) -> Error {
    let message = error.message().to_owned();
    Error::new(ErrorKind::Argument, message).at(|location| {
        location.path = Some(node.path.to_string());
        location.pointer = Some(format!("{base}{}", error.pointer()));
    })
}
