//! Nodes and elements that were read, and are written again.

use crate::Fault;
use std::sync::Arc;
use zarr_array::{Array, ArrayData, Options};
use zarr_grid::Selection;
use zarr_json::{ParseOptions, Value};
use zarr_meta::{Dialect, Documents, NodePath, StoredNode};
use zarr_store::{Key, MemoryStore, Store, StoreExt};

/// Writes the documents of a node again, based on the documents from which it was read, and compares them.
///
/// # Errors
/// A message about the document that differs.
pub(crate) fn documents(found: &StoredNode) -> Result<(), Fault> {
    if found.implicit || found.attributes_error.is_some() {
        return Ok(());
    }
    let written = zarr_meta::documents(found.dialect, &found.path, &found.node, Some(&found.documents));
    for (key, bytes) in written.map_err(|error| format!("writing documents: {error}"))? {
        let before = found.documents.get(&key).map(value).transpose()?;
        let after = bytes.as_deref().map(value).transpose()?;
        let empty = |value: &Option<Value>| value.as_ref().and_then(Value::as_object).is_none_or(|map| map.is_empty());
        let same = match (&before, &after) {
            (Some(before), Some(after)) => before.semantically_eq(after),
            // A document of attributes may be missing if there are no attributes.
            (before, after) => empty(before) && empty(after),
        };
        if !same {
            let text = |value: Option<Value>| value.map_or_else(|| "nothing".to_owned(), |value| value.to_string());
            return Err(format!("{key}: written as {}, read from {}", text(after), text(before)));
        }
    }
    Ok(())
}

/// Returns the node that documents describe.
///
/// # Errors
/// A message about the fault of the documents.
pub(crate) fn parse(dialect: Dialect, path: &NodePath, documents: &Documents) -> Result<StoredNode, Fault> {
    let store = in_memory(documents)?;
    zarr::hierarchy::open_node(&*store, &path.to_string(), Some(dialect)).map_err(|error| error.to_string())
}

/// Returns a store in memory with only these documents.
fn in_memory(documents: &Documents) -> Result<Arc<dyn Store>, Fault> {
    let store = MemoryStore::new();
    for (key, document) in documents.iter() {
        let key = Key::new(key).map_err(|error| error.to_string())?;
        store.set_all(&key, document).map_err(|error| error.to_string())?;
    }
    Ok(Arc::new(store))
}

/// Parses a document with all lenient options for old writers.
fn value(bytes: &[u8]) -> Result<Value, Fault> {
    zarr_json::parse(bytes, ParseOptions::ALL).map(|parsed| parsed.value).map_err(|error| error.to_string())
}

/// Writes an array into a new store, from its metadata and all its elements, and compares the elements that are read back.
///
/// # Errors
/// A description of the difference.
pub(crate) fn array(array: &Array, elements: &ArrayData) -> Result<(), Fault> {
    let fault = |error: zarr_array::Error| error.to_string();
    let copied = copy_empty(array)?;
    let [before, after] = [array, &copied].map(|array| array.metadata().to_value().without_nan_literals());
    if !before.semantically_eq(&after) {
        return Err(format!("metadata {after}, before it was {before}"));
    }
    copied.write(Selection::all(), elements.view()).map_err(fault)?;
    let again = copied.read_data(Selection::all()).map_err(fault)?;
    if !same_elements(&again, elements) && !loses(array) {
        return Err("elements differ".to_owned());
    }
    Ok(())
}

/// Returns whether the elements of an array may change when they are written again, as with zfp.
fn loses(array: &Array) -> bool {
    array.metadata().codecs.iter().any(|codec| matches!(codec.name.as_str(), "zfp" | "numcodecs.zfpy"))
}

/// Creates an array with the metadata of another one, without its chunks, in a new store in memory.
///
/// # Errors
/// If the metadata of the array cannot be written or read again.
pub(crate) fn copy_empty(array: &Array) -> Result<Array, Fault> {
    let found = array.found();
    // An undefined fill value was only written while v3 was a draft: only the document that has it preserves it.
    let lapsed = matches!(found.dialect, Dialect::V3Provisional2023 | Dialect::V3Draft2022);
    let keeps = lapsed && array.metadata().fill_value.is_none();
    // The document for the whole hierarchy determines the keys of the others.
    let entry = zarr_meta::entry_point_key(found.dialect);
    let of_hierarchy =
        |(key, bytes): (&str, &[u8])| (Some(key) == entry || keeps).then(|| (key.to_owned(), bytes.to_vec()));
    let mut documents: Documents = found.documents.iter().filter_map(of_hierarchy).collect();
    let previous = Some(&documents).filter(|documents| !documents.is_empty());
    let mut node = found.node.clone();
    if !found.dialect.allows_nan_literals() {
        // NaN literals stay in the document that has them, and are not written into a new one.
        *node.attributes_mut() = std::mem::take(node.attributes_mut()).without_nan_literals();
    }
    let written = zarr_meta::documents(found.dialect, &found.path, &node, previous);
    documents.apply(&written.map_err(|error| format!("writing documents: {error}"))?);
    let store = in_memory(&documents)?;
    let path = found.path.to_string();
    let copied = zarr::hierarchy::open_node(&*store, &path, Some(found.dialect));
    let copied = copied.and_then(|found| Array::from_found(&store, found, array.registry(), Options::default()));
    copied.map_err(|error| format!("{error} (rewritten)"))
}

fn same_elements(a: &ArrayData, b: &ArrayData) -> bool {
    match (a.variable(), b.variable()) {
        (Some(a), Some(b)) => a.eq(b),
        _ => a.items() == b.items(),
    }
}
