//! Which chunks of an array are stored, and how large they are, from one listing.

use std::sync::{Arc, Mutex, PoisonError};
use zarr_array::{Array, Result};
use zarr_grid::ChunkOverlaps;
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_store::{Key, Prefix, SizeVisitor};

/// Gives `visit` the key of each chunk of an array that is stored, the chunk, and the bytes of its value, in any order.
///
/// # Errors
/// [`zarr_array::ErrorKind::Store`] if the store fails or cannot list.
pub(crate) fn visit_stored(array: &Array, visit: impl Fn(&Key, &[u64], u64) + Send + Sync + 'static) -> Result<()> {
    let locate = |error: zarr_array::Error| {
        error.at(|location| {
            location.store = Some(array.store().to_string());
            location.path = Some(array.path().to_string());
        })
    };
    let keys = Arc::new(ChunkKeys::new(array.found()).map_err(locate)?);
    let mut prefixes: Vec<String> = keys.prefixes().map(str::to_owned).collect();
    prefixes.sort_unstable();
    prefixes.dedup();
    // One prefix may lie in another.
    let all = prefixes.clone();
    prefixes.retain(|prefix| !all.iter().any(|other| other != prefix && prefix.starts_with(other)));
    let visitor: SizeVisitor = Arc::new(move |key, size| {
        if let Some(chunk) = keys.chunk_at(&key) {
            visit(&key, &chunk, size);
        }
    });
    for prefix in prefixes {
        let list = || array.store().list_sizes(&Prefix::new(&prefix)?, &visitor);
        list().map_err(|error| locate(error.into()))?;
    }
    Ok(())
}

/// The numbers of the chunks among `overlaps` that are stored, sorted; `None` if the store cannot list. Takes 8 bytes for each.
///
/// # Errors
/// As [`visit_stored`].
pub(crate) fn stored_among(array: &Array, overlaps: &ChunkOverlaps) -> Result<Option<Vec<u64>>> {
    if !array.store().capabilities().list {
        return Ok(None);
    }
    let found = Arc::new(Mutex::new(Vec::new()));
    let (overlaps, visited) = (overlaps.clone(), Arc::clone(&found));
    visit_stored(array, move |_, chunk, _| {
        if let Some(number) = overlaps.position(chunk) {
            visited.lock().unwrap_or_else(PoisonError::into_inner).push(number);
        }
    })?;
    let mut found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    found.sort_unstable();
    found.dedup();
    Ok(Some(found))
}
