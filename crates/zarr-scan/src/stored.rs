//! Stored chunks of an array and their sizes, from one listing.

use crate::location::at;
use crate::parallel::lock;
use std::sync::{Arc, Mutex};
use zarr_array::{Array, Result};
use zarr_grid::{ChunkIndex, ChunkOverlaps};
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_store::{ErrorKind, Key, Prefix, SizeVisitor, Store, StoreExt};

/// Collection of chunks under other keys than those that the metadata implies. A chunk may be stored under several keys, of which the first
/// one counts, as in reads. So chunks can be counted only after all keys were listed.
#[derive(Debug, Default)]
pub struct OtherKeys {
    chunks: Vec<(ChunkIndex, usize, u64)>,
    /// Whether some chunks are stored under the keys that the metadata implies.
    has_first: bool,
}

impl OtherKeys {
    /// Adds a listed chunk of `size` bytes if `key` is not the key that the metadata implies. Returns whether the chunk was added.
    pub fn keep(&mut self, keys: &ChunkKeys, key: &Key, chunk: &ChunkIndex, size: u64) -> bool {
        if keys.prefixes().nth(1).is_none() {
            return false;
        }
        let location = keys.keys_of(chunk).position(|other| other.is_ok_and(|other| other == *key)).unwrap_or(0);
        match location {
            0 => self.has_first = true,
            _ => self.chunks.push((chunk.clone(), location, size)),
        }
        location > 0
    }

    /// Calls `visit` with each collected chunk: its key, its index, the number of its bytes, and whether reads get this value.
    ///
    /// # Errors
    /// [`zarr_array::ErrorKind::Store`] if the store fails.
    pub fn visit(
        mut self,
        store: &dyn Store,
        keys: &ChunkKeys,
        mut visit: impl FnMut(&Key, &ChunkIndex, u64, bool),
    ) -> Result<()> {
        self.chunks.sort_unstable();
        let mut last: Option<&ChunkIndex> = None;
        for (chunk, location, size) in &self.chunks {
            let Some(key) = keys.keys_of(chunk).nth(*location) else { continue };
            let is_next = last != Some(chunk);
            let is_read = is_next && !(self.has_first && store.size(&keys.key(chunk)?)?.is_some());
            last = Some(chunk);
            visit(&key?, chunk, *size, is_read);
        }
        Ok(())
    }
}

/// Returns the prefixes that do not lie in another prefix, sorted.
///
/// ```
/// let prefixes = ["b/c/0/", "a/", "b/c/", "a/"].map(str::to_owned);
/// assert_eq!(zarr_scan::outermost(prefixes), ["a/", "b/c/"]);
/// ```
pub fn outermost(prefixes: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut prefixes: Vec<String> = prefixes.into_iter().collect();
    // One that another begins with comes before it.
    prefixes.sort_unstable();
    let mut apart: Vec<String> = Vec::new();
    for prefix in prefixes {
        if apart.last().is_none_or(|last| !prefix.starts_with(last.as_str())) {
            apart.push(prefix);
        }
    }
    apart
}

/// Calls `visit` for each stored chunk of an array, in any order, with its key, its index and the number of its bytes. Chunks under other
/// keys than those that the metadata implies come last, and are in memory until then.
///
/// # Errors
/// [`zarr_array::ErrorKind::Store`] if the store fails or cannot list.
pub fn visit_stored(array: &Array, visit: impl Fn(&Key, &[u64], u64) + Send + Sync + 'static) -> Result<()> {
    list_stored(array, visit)?.map_err(|error| at(array, error.into()))
}

/// Visits the stored chunks as [`visit_stored`] does. Returns an error of a listing as an error of the store, in the inner result.
fn list_stored(
    array: &Array,
    visit: impl Fn(&Key, &[u64], u64) + Send + Sync + 'static,
) -> Result<zarr_store::Result<()>> {
    let keys = Arc::new(ChunkKeys::new(array.found()).map_err(|error| at(array, error))?);
    let prefixes = outermost(keys.prefixes().map(str::to_owned));
    let (visit, others) = (Arc::new(visit), Arc::<Mutex<OtherKeys>>::default());
    let (listed, kept, visited) = (Arc::clone(&keys), Arc::clone(&others), Arc::clone(&visit));
    let visitor: SizeVisitor = Arc::new(move |key, size| {
        let Some(chunk) = listed.chunk_at(&key) else { return };
        let is_other = lock(&kept).keep(&listed, &key, &chunk, size);
        if !is_other {
            visited(&key, &chunk, size);
        }
    });
    let mut list = prefixes.iter().map(|prefix| array.store().list_sizes(&Prefix::new(prefix)?, &visitor));
    let listed = list.try_for_each(|listed| listed);
    if listed.is_ok() {
        let others = std::mem::take(&mut *lock(&others));
        let read = others.visit(&**array.store(), &keys, |key, chunk, size, is_read| {
            if is_read {
                visit(key, chunk, size);
            }
        });
        read.map_err(|error| at(array, error))?;
    }
    Ok(listed)
}

/// Whether an error says that the store does not list, such as a bucket that allows gets alone, or a directory with a link that leads out.
/// Each chunk has to be requested then.
fn is_refused(error: &zarr_store::Error) -> bool {
    matches!(error.kind(), ErrorKind::Denied | ErrorKind::Unsupported | ErrorKind::Path)
}

/// Lists the stored chunks of an array; `None` if the store does not list.
pub(crate) fn stored_chunks(array: &Array) -> Result<Option<Vec<ChunkIndex>>> {
    if !array.store().capabilities().list {
        return Ok(None);
    }
    match array.stored_chunks() {
        Err(error) if error.store_error().is_some_and(is_refused) => Ok(None),
        stored => stored.map(Some),
    }
}

/// Lists the stored chunks among `overlaps` by their numbers, sorted. Takes 8 bytes of memory for each. `None` if the store cannot list,
/// which includes a bucket that allows gets alone, and a directory with a link that leads out: each chunk has to be requested then.
///
/// # Errors
/// The errors of [`visit_stored`].
pub fn stored_among(array: &Array, overlaps: &ChunkOverlaps) -> Result<Option<Vec<u64>>> {
    if !array.store().capabilities().list {
        return Ok(None);
    }
    let found = Arc::new(Mutex::new(Vec::new()));
    let (overlaps, visited) = (overlaps.clone(), Arc::clone(&found));
    let listed = list_stored(array, move |_, chunk, _| {
        if let Some(number) = overlaps.position(chunk) {
            lock(&visited).push(number);
        }
    })?;
    if let Err(error) = listed {
        return if is_refused(&error) { Ok(None) } else { Err(at(array, error.into())) };
    }
    let mut found = std::mem::take(&mut *lock(&found));
    found.sort_unstable();
    found.dedup();
    Ok(Some(found))
}
