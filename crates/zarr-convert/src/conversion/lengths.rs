//! Shapes of chunks and shards that are given by dimension names, or chosen automatically.

use std::collections::{BTreeMap, BTreeSet};
use zarr_hierarchy::{Error, Result};
use zarr_meta::ArrayMetadata;

/// Approximate upper limit for the bytes of elements in an automatic shard.
const SHARD: u64 = 64 << 20;

/// Checks that each name in `lengths` is a dimension of some array, and that no length is 0. `what` names the option in errors.
pub(super) fn check<'a>(
    what: &str,
    lengths: &BTreeMap<String, u64>,
    arrays: impl Iterator<Item = &'a ArrayMetadata>,
) -> Result<()> {
    let known: BTreeSet<&str> = arrays.flat_map(names).flatten().collect();
    if let Some(name) = lengths.keys().find(|name| !known.contains(name.as_str())) {
        let all: Vec<&str> = known.into_iter().collect();
        let expected = if all.is_empty() { "none has a name".to_owned() } else { all.join(", ") };
        let message =
            format!("{what}: found dimension {name}, expected one of the dimensions of the arrays: {expected}");
        return Err(Error::argument(message));
    }
    match lengths.iter().find(|(_, length)| **length == 0) {
        Some((name, _)) => Err(Error::argument(format!("{what}: found length 0 along {name}, expected 1 or more"))),
        None => Ok(()),
    }
}

/// Returns the dimension names of an array.
fn names(array: &ArrayMetadata) -> impl Iterator<Item = Option<&str>> {
    array.dimension_names.iter().flatten().map(Option::as_deref)
}

/// Returns a chunk shape with the given lengths along named dimensions, no longer than the array, and the lengths of `now` along other
/// dimensions; `None` if the array has none of the named dimensions.
pub(super) fn by_name(lengths: &BTreeMap<String, u64>, array: &ArrayMetadata, now: &[u64]) -> Option<Vec<u64>> {
    let mut shape = now.to_vec();
    let mut is_named = false;
    for ((name, length), &size) in names(array).zip(&mut shape).zip(&array.shape) {
        if let Some(&wanted) = name.and_then(|name| lengths.get(name)) {
            *length = wanted.min(size.max(1));
            is_named = true;
        }
    }
    is_named.then_some(shape)
}

/// Returns a shard shape with the given lengths along named dimensions, rounded up to whole chunks, and one chunk long along other
/// dimensions; `None` if the array has none of the named dimensions.
pub(super) fn shards_by_name(
    lengths: &BTreeMap<String, u64>,
    array: &ArrayMetadata,
    chunk: &[u64],
) -> Option<Vec<u64>> {
    let shard = by_name(lengths, array, chunk)?;
    Some(shard.iter().zip(chunk).map(|(length, chunk)| length.next_multiple_of((*chunk).max(1))).collect())
}

/// Chooses a shard shape of whole chunks for an array with elements of `item` bytes: repeatedly doubles the shard along the dimension with
/// most shards, up to about 64 MiB. `None` if a shard would hold one chunk.
pub(super) fn chosen(shape: &[u64], chunk: &[u64], item: u64) -> Option<Vec<u64>> {
    chosen_up_to(shape, chunk, item, SHARD)
}

/// Chooses a shard shape as [`chosen`] does, of at most about `most` bytes, or 64 MiB if that is less.
pub(super) fn chosen_up_to(shape: &[u64], chunk: &[u64], item: u64, most: u64) -> Option<Vec<u64>> {
    let mut shard: Vec<u64> = chunk.iter().map(|length| (*length).max(1)).collect();
    let counts =
        |shard: &[u64]| shape.iter().zip(shard).map(|(size, length)| size.div_ceil(*length)).collect::<Vec<_>>();
    loop {
        let (axis, count) = counts(&shard).into_iter().enumerate().max_by_key(|(axis, count)| (*count, *axis))?;
        let bytes = shard.iter().fold(item.max(1), |bytes, length| bytes.saturating_mul(*length));
        if count < 2 || bytes > most.min(SHARD) / 2 {
            break;
        }
        *shard.get_mut(axis)? *= 2;
    }
    (shard.iter().ne(chunk)).then_some(shard)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chosen_shards_are_of_whole_chunks_and_bounded(
            dims in proptest::collection::vec((1_u64..100_000, 1_u64..5000), 1..4),
            item in 1_u64..16,
        ) {
            let (shape, chunk): (Vec<u64>, Vec<u64>) = dims.into_iter().unzip();
            let size = |shape: &[u64]| shape.iter().fold(item, |bytes, length| bytes.saturating_mul(*length));
            match chosen(&shape, &chunk, item) {
                Some(shard) => {
                    prop_assert!(shard.iter().zip(&chunk).all(|(shard, chunk)| shard % chunk == 0));
                    prop_assert!(size(&shard) <= SHARD && size(&shard) > size(&chunk));
                    // No dimension is twice as long as it need be.
                    prop_assert!(shard.iter().zip(&shape).zip(&chunk).all(|((shard, size), chunk)| shard == chunk || shard / 2 < *size));
                }
                None => prop_assert!(size(&chunk) > SHARD / 2 || shape.iter().zip(&chunk).all(|(size, chunk)| size <= chunk)),
            }
        }
    }
}
