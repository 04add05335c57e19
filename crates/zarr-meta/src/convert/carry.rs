//! Storage of members that a dialect cannot express in an attribute, until the node is converted back.

use super::meaning::Translation;
use super::{Note, fitted, may_have_nan_literals, nan_literals, rename, zero};
use crate::conventions::FILL_VALUE;
use crate::dialect::rules::UNKNOWN_TYPE;
use crate::dialect::table::rules;
use crate::dialect::typestr;
use crate::error::{ErrorKind, Result};
use crate::{ArrayMetadata, Dialect, Node};
use zarr_dtype::NumpyType;
use zarr_json::pointer::escaped;
use zarr_json::{Map, NamedConfig, Value};

/// Attribute for members that a dialect cannot express, written by [`ForDialect::carry`](crate::ForDialect::carry):
///
/// ```json
/// {"_zarr_carried": {"dialect": "v3", "members": {"dimension_names": ["y", null]}}}
/// ```
///
/// `members` are members of the node as in [`Node::to_value`]; those of `attributes` only if they would be lost. If the conversion adds
/// attributes that would remain after the way back, `added` lists their names. `bare` lists JSON pointers to strings in attributes that
/// stand for literals of NaN and infinities.
pub const CARRIED: &str = "_zarr_carried";

/// Members about the storage of chunks, which each dialect has in its own form; they are never carried.
const OF_STORAGE: [&str; 6] = ["zarr_format", "node_type", "shape", "chunk_grid", "chunk_key_encoding", "codecs"];

/// Converts the node, and stores members that would be lost on the way back in the attribute [`CARRIED`].
pub(super) fn carrying(
    node: &Node,
    from: Dialect,
    dialect: Dialect,
    meaning: Option<Translation>,
) -> Result<(Node, Vec<Note>)> {
    if is_same_family(from, dialect) || node.attributes().contains_key(CARRIED) {
        return fitted(node, Some(from), dialect, meaning);
    }
    let (node, data_type) = without_unknown_type(node);
    let node = &node;
    let (mut carrier, mut notes) = match fitted(node, None, dialect, meaning) {
        Err(error) if error.kind() == ErrorKind::NotExpressible && error.pointer() == "/dimension_names" => {
            fitted(&without_names(node), None, dialect, meaning)?
        }
        fitted => fitted?,
    };
    let (mut members, mut added) = (Map::new(), Vec::new());
    let nan_pointers = match may_have_nan_literals(dialect, meaning) {
        true => Vec::new(),
        false => nan_literals::pointers(node.attributes()),
    };
    let meaning_back = meaning.map(|meaning| Translation { from: dialect, ..meaning });
    if let Some(data_type) = data_type {
        members.insert(UNKNOWN_TYPE, data_type);
    }
    // The second time with the carried members put back, which may conflict with other members.
    for _ in 0..2 {
        // The conversion back refuses a node that cannot come back at all.
        let Ok((back, _)) = fitted(&carrier, None, from, meaning_back) else { break };
        lost(node, &back, &mut members);
        if meaning.is_some() {
            without_moved(&mut members);
        }
        let is_new = |name: &&str| !node.attributes().contains_key(name);
        added.extend(back.attributes().keys().filter(is_new).map(str::to_owned));
        if members.is_empty() && added.is_empty() && nan_pointers.is_empty() {
            break;
        }
        let mut carried = Map::new();
        carried.insert("dialect", from.name());
        carried.insert("members", members.clone());
        if !added.is_empty() {
            carried.insert("added", Value::Array(added.iter().map(|name| Value::from(name.as_str())).collect()));
        }
        if !nan_pointers.is_empty() {
            carried.insert("bare", nan_pointers.clone());
        }
        carrier.attributes_mut().insert(CARRIED, carried);
    }
    for name in members.keys() {
        let pointer = format!("/{}", escaped(name));
        notes.retain(|note| note.pointer != pointer);
        notes.push(Note::change(pointer, format!("carried in the attribute {CARRIED}")));
    }
    Ok((carrier, notes))
}

/// Removes members that the other dialect expresses elsewhere: the mark of missing data, and an empty list of dimension names.
fn without_moved(members: &mut Map) {
    let moved = |name: &str, value: &Value| match name {
        "dimension_names" => value.as_array().is_some_and(<[Value]>::is_empty),
        _ => false,
    };
    let names: Vec<String> =
        members.iter().filter(|(name, it)| moved(name, it)).map(|(name, _)| name.to_owned()).collect();
    names.iter().for_each(|name| drop(members.remove(name)));
    if let Some(Value::Object(attributes)) = members.get_mut("attributes") {
        attributes.remove(FILL_VALUE);
        if attributes.is_empty() {
            members.remove("attributes");
        }
    }
}

/// Returns the node without its unknown data type, and that data type; `None` if the type is known.
fn without_unknown_type(node: &Node) -> (Node, Option<Value>) {
    let mut node = node.clone();
    let data_type = match &mut node {
        Node::Array(array) => array.extra.remove(UNKNOWN_TYPE),
        Node::Group(_) => None,
    };
    (node, data_type)
}

/// Returns whether the dialects have the same rules, so that a node means the same in both.
pub(super) fn is_same_family(a: Dialect, b: Dialect) -> bool {
    rules(a).dialects().contains(&b)
}

fn without_names(node: &Node) -> Node {
    let mut node = node.clone();
    if let Node::Array(array) = &mut node {
        array.dimension_names = None;
    }
    node
}

/// Adds the members of `node` that differ in `back` to `members`.
fn lost(node: &Node, back: &Node, members: &mut Map) {
    let (before, after) = (node.to_value(), back.to_value());
    for (name, value) in before.as_object().into_iter().flat_map(Map::iter) {
        let same = after.get(name).is_some_and(|after| after.semantically_eq(value));
        if !same && name != "attributes" && name != "consolidated_metadata" && !OF_STORAGE.contains(&name) {
            members.insert(name, value.clone());
        }
    }
    // Numbers that JSON does not have are not carried: there are pointers to them.
    let (before, after) =
        (node.attributes().clone().without_nan_literals(), back.attributes().clone().without_nan_literals());
    let is_lost = |(name, value): &(&str, &Value)| !after.get(name).is_some_and(|it| it.semantically_eq(value));
    let mut attributes = members.get("attributes").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, value) in before.iter().filter(is_lost) {
        attributes.insert(name, value.clone());
    }
    if !attributes.is_empty() {
        members.insert("attributes", attributes);
    }
}

/// Restores the carried members in a node that is to be written in `dialect`, if they were carried from that dialect. Members that were
/// changed since are not overwritten. Returns the original fill value, if its meaning may have moved to an attribute.
pub(super) fn restore(node: &mut Node, dialect: Dialect) -> Option<Value> {
    let carried = node.attributes().get(CARRIED);
    let from = carried.and_then(|carried| carried.get("dialect")?.as_str()?.parse::<Dialect>().ok());
    let members = carried.and_then(|carried| carried.get("members")?.as_object().cloned());
    let list = |name: &str| carried.and_then(|carried| carried.get(name)?.as_array()).unwrap_or_default().to_vec();
    let (added, nan_pointers) = (list("added"), list("bare"));
    let (from, members) = (from?, members?);
    if !is_same_family(from, dialect) {
        return None;
    }
    let attributes = node.attributes_mut();
    attributes.remove(CARRIED);
    added.iter().filter_map(Value::as_str).for_each(|name| drop(attributes.remove(name)));
    for (name, value) in members.get("attributes").and_then(Value::as_object).into_iter().flat_map(Map::iter) {
        if !attributes.contains_key(name) {
            attributes.insert(name, value.clone());
        }
    }
    nan_pointers.iter().filter_map(Value::as_str).for_each(|pointer| nan_literals::restore(attributes, pointer));
    for (name, value) in members.iter().filter(|(name, _)| *name != "attributes" && !OF_STORAGE.contains(name)) {
        match node {
            Node::Array(array) => restore_member(array, name, value),
            Node::Group(group) => {
                group.extra.insert(name, value.clone());
            }
        }
    }
    members.get("fill_value").filter(|fill| !fill.is_null()).cloned()
}

fn restore_member(array: &mut ArrayMetadata, name: &str, value: &Value) {
    match name {
        "dimension_names" => {
            let names = value.as_array().filter(|names| names.len() == array.shape.len());
            if let (None, Some(names)) = (&array.dimension_names, names) {
                array.dimension_names = Some(names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
            }
        }
        "fill_value" => {
            let is_zero = zero(&array.data_type).is_some_and(|zero| array.fill_value.as_ref() == Some(&zero));
            if value.is_null() && is_zero {
                array.fill_value = None;
            }
        }
        "data_type" => {
            match NamedConfig::from_value(value) {
                Some(data_type) if is_same_type(&data_type, &array.data_type) => rename(array, data_type),
                Some(_) => {}
                // One of which only the fallback is known: it stands in the document as it was.
                None => drop(array.extra.insert(name, value.clone())),
            }
        }
        "storage_transformers" => {
            let items = value.as_array().unwrap_or_default();
            if array.storage_transformers.is_empty() {
                array.storage_transformers = items.iter().filter_map(NamedConfig::from_value).collect();
            }
        }
        _ => {
            array.extra.insert(name, value.clone());
        }
    }
}

/// Returns whether two data types are the same type under different names.
fn is_same_type(a: &NamedConfig, b: &NamedConfig) -> bool {
    match (typestr::from_model(a), typestr::from_model(b)) {
        (Ok(NumpyType::Object), Ok(NumpyType::Object)) => {
            let is_bytes = |it: &NamedConfig| matches!(it.name.as_str(), "bytes" | "variable_length_bytes");
            is_bytes(a) && is_bytes(b)
        }
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
