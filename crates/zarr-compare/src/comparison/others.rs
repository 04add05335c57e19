//! Comparison of keys that belong to no node: files of other software beside arrays.

use super::Side;
use std::collections::BTreeMap;
use zarr_hierarchy::{OtherKey, Result, have_equal_bytes};
use zarr_store::Key;

/// Key below a group that belongs to no node and differs between the sides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherDifference {
    /// The key, relative to the compared nodes.
    pub key: String,
    /// The kind of difference.
    pub how: OtherKeyDiffers,
}

/// Kind of difference between the two sides at a key that belongs to no node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtherKeyDiffers {
    /// Only the first side has the key.
    OnlyInFirst,
    /// Only the second side has the key.
    OnlyInSecond,
    /// The bytes of the values differ.
    Bytes,
}

/// Returns the keys that belong to no node, by their names relative to the node of the side.
pub(super) fn below(side: &Side, others: Vec<OtherKey>) -> BTreeMap<String, Key> {
    let prefix = side.path.key_prefix();
    let relative = |key: &Key| key.as_str().strip_prefix(&prefix).unwrap_or(key.as_str()).to_owned();
    others.into_iter().map(|other| (relative(&other.key), other.key)).collect()
}

/// Returns the differences between the keys of both sides, sorted by key.
pub(super) fn compare(
    (first, a): (&Side, BTreeMap<String, Key>),
    (second, mut b): (&Side, BTreeMap<String, Key>),
) -> Result<Vec<OtherDifference>> {
    let mut differences = Vec::new();
    for (key, at) in a {
        let how = match b.remove(&key) {
            None => OtherKeyDiffers::OnlyInFirst,
            Some(beside) if have_equal_bytes((&*first.store, &at), (&*second.store, &beside))? => continue,
            Some(_) => OtherKeyDiffers::Bytes,
        };
        differences.push(OtherDifference { key, how });
    }
    differences.extend(b.into_keys().map(|key| OtherDifference { key, how: OtherKeyDiffers::OnlyInSecond }));
    differences.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(differences)
}
