//! Attributes in the form in which they are compared and hashed, without members that a dialect stores there only because it has no other
//! place.

use crate::Hash;
use crate::encoding::encode;
use zarr_json::{Map, Value};
use zarr_meta::conventions::{ARRAY_DIMENSIONS, dimension_names};
use zarr_meta::{ArrayMetadata, CARRIED, Node};

/// Returns the attributes of a node without the dimension names that a convention stores there, and without members that a conversion
/// [carries](CARRIED).
pub(crate) fn attributes(node: &Node) -> Map {
    let mut attributes = node.attributes().clone();
    attributes.remove(CARRIED);
    if let Some(array) = node.as_array()
        && names_dimensions(array)
    {
        attributes.remove(ARRAY_DIMENSIONS);
    }
    attributes
}

/// Returns whether the attribute [`ARRAY_DIMENSIONS`] only repeats the dimension names of the array.
fn names_dimensions(array: &ArrayMetadata) -> bool {
    let by_attribute = dimension_names(&array.attributes, &Map::new(), array.shape.len());
    let is_same = |(names, _): &(Vec<String>, _)| {
        let own = array.dimension_names.iter().flatten().map(Option::as_deref);
        own.eq(names.iter().map(|name| Some(name.as_str())))
    };
    by_attribute.as_ref().is_some_and(is_same)
}

/// Returns the dimension names of an array for comparison; `None` if no dimension has a name.
pub(crate) fn names(array: &ArrayMetadata) -> Option<&[Option<String>]> {
    array.dimension_names.as_deref().filter(|names| names.iter().any(Option::is_some))
}

/// Returns the hash of the attributes and the dimension names of a node.
pub(crate) fn hash(node: &Node) -> Hash {
    let names = node.as_array().and_then(names).map_or(Value::Null, |names| {
        Value::Array(names.iter().map(|name| name.as_deref().map_or(Value::Null, Value::from)).collect())
    });
    let mut encoded = b"zarr attributes 1\n".to_vec();
    encode(&names, &mut encoded);
    encode(&Value::Object(attributes(node)), &mut encoded);
    Hash::new(blake3::hash(&encoded).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_meta::GroupMetadata;

    #[test]
    fn order_and_what_is_carried_do_not_count() {
        let hash = |text: &str| {
            let attributes = Value::from_json(text).unwrap().as_object().unwrap().clone();
            hash(&Node::Group(GroupMetadata::new(attributes)))
        };
        assert_eq!(hash(r#"{"a": 1, "b": 2}"#), hash(r#"{"b": 2.0, "a": 1, "_zarr_carried": {}}"#));
        assert_ne!(hash(r#"{"a": 1}"#), hash(r#"{"a": "1"}"#));
    }
}
