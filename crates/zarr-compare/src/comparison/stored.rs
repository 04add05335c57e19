//! Arrays that cannot be decoded here: whether their stored bytes are the same.

use super::{Side, documents, others};
use std::collections::BTreeMap;
use zarr_dtype::DataTypes;
use zarr_hierarchy::Result;
use zarr_meta::StoredNode;
use zarr_store::{Key, Prefix};

/// Whether two arrays have the same documents, but for attributes, and the same bytes under the keys of their chunks: then their elements are
/// the same, whatever they are.
pub(super) fn are_alike(first: (&Side, &StoredNode), second: (&Side, &StoredNode), types: &DataTypes) -> Result<bool> {
    let can_list = [first.0, second.0].iter().all(|side| side.store.capabilities().list);
    if !can_list || !documents::facts(first.1, second.1, types, false).is_empty() {
        return Ok(false);
    }
    Ok(others::compare((first.0, values(first)?), (second.0, values(second)?))?.is_empty())
}

/// The keys below the prefix of the chunks of an array, but for its documents.
fn values((side, found): (&Side, &StoredNode)) -> Result<BTreeMap<String, Key>> {
    let prefix = found.chunk_prefix();
    let keys = side.store.list_prefix(&Prefix::new(&prefix)?)?;
    let is_document = |key: &Key| found.documents.keys().any(|document| document == key.as_str());
    let relative = |key: &Key| key.as_str().strip_prefix(&prefix).unwrap_or(key.as_str()).to_owned();
    Ok(keys.into_iter().filter(|key| !is_document(key)).map(|key| (relative(&key), key)).collect())
}
