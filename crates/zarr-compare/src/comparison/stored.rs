//! Comparison of the stored bytes of arrays that cannot be decoded.

use super::{Side, documents, others};
use std::collections::BTreeMap;
use zarr_dtype::DataTypes;
use zarr_hierarchy::Result;
use zarr_meta::StoredNode;
use zarr_store::{Key, Prefix, StoreExt};

/// Returns whether two arrays have equal documents, apart from attributes, and equal bytes under their chunk keys. Then their elements are
/// equal, even though they cannot be decoded.
pub(super) fn are_alike(first: (&Side, &StoredNode), second: (&Side, &StoredNode), types: &DataTypes) -> Result<bool> {
    let can_list = [first.0, second.0].iter().all(|side| side.store.capabilities().list);
    if !can_list || !documents::facts(first.1, second.1, types, false).is_empty() {
        return Ok(false);
    }
    Ok(others::compare((first.0, values(first)?), (second.0, values(second)?))?.is_empty())
}

/// Returns the keys below the chunk prefix of an array, except its documents, by their names relative to the prefix.
fn values((side, found): (&Side, &StoredNode)) -> Result<BTreeMap<String, Key>> {
    let prefix = found.chunk_prefix();
    let keys = side.store.list_prefix(&Prefix::new(&prefix)?)?;
    let is_document = |key: &Key| found.documents.keys().any(|document| document == key.as_str());
    let relative = |key: &Key| key.as_str().strip_prefix(&prefix).unwrap_or(key.as_str()).to_owned();
    Ok(keys.into_iter().filter(|key| !is_document(key)).map(|key| (relative(&key), key)).collect())
}
