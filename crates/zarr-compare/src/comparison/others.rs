//! Keys that belong to no node: files of other software beside arrays.

use super::Side;
use std::collections::BTreeMap;
use zarr_hierarchy::{Error, OtherKey, Result, in_store};
use zarr_store::{ByteRange, Key, StoreExt};

/// So many bytes of each value are in memory at a time.
const PIECE: u64 = 8 << 20;

/// A key below a group that belongs to no node, and differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherDifference {
    /// The key below the nodes that are compared.
    pub key: String,
    /// How it differs.
    pub how: OtherKeyDiffers,
}

/// How a key that belongs to no node differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtherKeyDiffers {
    /// It is in the first side alone.
    OnlyInFirst,
    /// It is in the second side alone.
    OnlyInSecond,
    /// The bytes differ.
    Bytes,
}

/// The keys of no node of a side, by their keys below its node.
pub(super) fn below(side: &Side, others: Vec<OtherKey>) -> BTreeMap<String, Key> {
    let prefix = side.path.key_prefix();
    let relative = |key: &Key| key.as_str().strip_prefix(&prefix).unwrap_or(key.as_str()).to_owned();
    others.into_iter().map(|other| (relative(&other.key), other.key)).collect()
}

/// The differences of both, sorted by key.
pub(super) fn compare(
    (first, a): (&Side, BTreeMap<String, Key>),
    (second, mut b): (&Side, BTreeMap<String, Key>),
) -> Result<Vec<OtherDifference>> {
    let mut differences = Vec::new();
    for (key, at) in a {
        let how = match b.remove(&key) {
            None => OtherKeyDiffers::OnlyInFirst,
            Some(beside) if are_equal((first, &at), (second, &beside))? => continue,
            Some(_) => OtherKeyDiffers::Bytes,
        };
        differences.push(OtherDifference { key, how });
    }
    differences.extend(b.into_keys().map(|key| OtherDifference { key, how: OtherKeyDiffers::OnlyInSecond }));
    differences.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(differences)
}

fn are_equal(first: (&Side, &Key), second: (&Side, &Key)) -> Result<bool> {
    let located = |(side, key): (&Side, &Key), error: zarr_store::Error| {
        in_store(&side.store, Error::from(error)).at(|location| location.key = Some(key.to_string()))
    };
    let size = |(side, key): (&Side, &Key)| side.store.size(key).map_err(|error| located((side, key), error));
    let (Some(size), other) = (size(first)?, size(second)?) else { return Ok(false) };
    if other != Some(size) {
        return Ok(false);
    }
    let mut at = 0;
    while at < size {
        let range = [ByteRange::Range(at..size.min(at + PIECE))];
        let piece = |(side, key): (&Side, &Key)| {
            side.store.get_ranges(key, &range).map_err(|error| located((side, key), error))
        };
        match (piece(first)?, piece(second)?) {
            (Some(a), Some(b)) if a.part(0) == b.part(0) => at += PIECE,
            _ => return Ok(false),
        }
    }
    Ok(true)
}
