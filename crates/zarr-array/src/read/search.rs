//! Search for stored chunks before a read of very many chunks whose first ones are not stored: one listing tells all stored chunks.

use super::ArrayRead;
use crate::drive::Drive;
use crate::{MissingChunks, Result, jobs};
use zarr_codec::ViewMut;
use zarr_grid::{ChunkIndex, Region};

/// Minimum number of chunks of a read that begins with a search.
pub(super) const MANY: u64 = 1 << 16;
/// Number of chunks that are read before anything is listed. If one of them is stored, the array is not listed.
const FIRST: usize = 256;
/// Minimum ratio of the chunks of the region to the stored chunks at which the stored chunks are read one by one. If more chunks are
/// stored, a read of the whole region takes no longer.
const SPARSE: u64 = 8;
/// Maximum ratio of the chunks of the whole grid to the chunks of the region at which the array is listed: a listing names the stored
/// chunks of the whole array, and takes longer than it saves if the region is a small part of it.
const LISTED: u64 = 8;

impl<D: Drive> ArrayRead<'_, D> {
    /// Returns the stored chunks of a region, sorted, if the region has very many chunks of which few are stored; `out` then has the fill
    /// value. `None` if the region is to be read as a whole.
    pub(super) async fn find_stored(&self, region: &Region, out: &mut ViewMut<'_>) -> Result<Option<Vec<ChunkIndex>>> {
        let (core, context) = (self.context.core, &self.context);
        let overlaps = core.grid.intersect(region);
        let all = core.grid.grid_shape().iter().fold(1, |all: u64, count| all.saturating_mul(*count));
        let is_worth_it = overlaps.len() >= MANY && all / LISTED <= overlaps.len();
        // A search does not find the chunks that are missing.
        let is_allowed = self.log.is_none() && matches!(core.options.missing_chunks, MissingChunks::Fill);
        if !is_worth_it || !is_allowed || !self.drive.capabilities().list {
            return Ok(None);
        }
        let first: Vec<ChunkIndex> = overlaps.iter().take(FIRST).map(|overlap| overlap.index).collect();
        let done = self.part(&mut (region, out.reborrow()), Some(&first)).await;
        // An error of these chunks comes again in the read of all.
        if done.is_err() || context.known_missing() < first.len() {
            return Ok(None);
        }
        let mut prefixes: Vec<&str> = core.locations().map(|(_, prefix, _)| prefix).collect();
        prefixes.dedup();
        let mut stored = Vec::new();
        for prefix in prefixes {
            let listed = self.drive.run_pinned(self.pinned.as_ref(), core, jobs::keys_below(prefix)?).await;
            // Where the store cannot be listed after all, it is asked for each chunk.
            let Ok(keys) = listed else { return Ok(None) };
            let chunks = keys.iter().filter_map(|key| core.parse_key(key.as_str()));
            stored.extend(chunks.filter(|chunk| overlaps.position(chunk).is_some()));
        }
        stored.sort_unstable();
        stored.dedup();
        if stored.len() as u64 > overlaps.len() / SPARSE {
            return Ok(None);
        }
        // The others are not: also where only the cache said so of the first ones.
        context.note_asked();
        context.note_missing();
        context.fill(out)?;
        Ok(Some(stored))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Array, ChunkCache, MissingChunks, MissingReport, NewArray, Options, Registry, Store};
    use std::sync::Arc;
    use zarr_store::StoreExt;
    use zarr_store::{Counted, MemoryStore};

    /// Number of chunks of one element each, just enough for a search.
    const CHUNKS: u64 = super::MANY;

    fn array(options: Options) -> (Arc<Counted<MemoryStore>>, Array) {
        array_of(&[4, CHUNKS], options)
    }

    fn array_of(shape: &[u64], options: Options) -> (Arc<Counted<MemoryStore>>, Array) {
        let store = Arc::new(Counted::new(MemoryStore::new()));
        let mut registry = Registry::default();
        registry.codecs.add(zarr_codec_bytes::BYTES);
        let new = NewArray::new(shape, "uint8").chunks(&[1, 1]).fill(7).options(options);
        let new = new.codecs(r#"["bytes"]"#).unwrap();
        let array = Array::create(&(Arc::clone(&store) as Arc<dyn Store>), "/a", new, &Arc::new(registry)).unwrap();
        (store, array)
    }

    fn expected(stored: &[(u64, u8)]) -> Vec<u8> {
        let mut elements = vec![7; CHUNKS as usize];
        stored.iter().for_each(|&(at, element)| elements[at as usize] = element);
        elements
    }

    #[test]
    fn one_listing_answers_for_all_chunks() {
        let (store, array) = array(Options::default());
        let row = |row: u64| (row..row + 1, ..);
        store.take();
        assert_eq!(array.read::<u8>(row(0)).unwrap(), expected(&[]));
        let counts = store.take();
        assert!(counts.gets < 300 && counts.lists == 1, "{counts:?}");

        let stored = [(1000, 1_u8), (1001, 2), (CHUNKS - 1, 3)];
        for (at, element) in stored {
            array.write((1..2, at..at + 1), &[element]).unwrap();
            array.write((2..3, at..at + 1), &[9_u8]).unwrap();
        }
        store.take();
        assert_eq!(array.read::<u8>(row(1)).unwrap(), expected(&stored));
        let counts = store.take();
        assert!(counts.gets < 300 && counts.lists == 1, "{counts:?}");
        // Backwards.
        let backwards: Vec<u8> = expected(&stored).into_iter().rev().collect();
        assert_eq!(array.read::<u8>("1, ::-1").unwrap(), backwards);
        assert!(store.take().gets < 300);
        // Part of the chunks of the grid are stored, which are not of this row.
        assert_eq!(array.read::<u8>(row(3)).unwrap(), expected(&[]));
        assert_eq!(store.take().lists, 1);
    }

    #[test]
    fn an_array_whose_first_chunks_are_stored_is_not_listed() {
        let (store, array) = array(Options::default());
        array.write((0..1, 200..201), &[1_u8]).unwrap();
        store.take();
        assert_eq!(array.read::<u8>((0..1, ..)).unwrap(), expected(&[(200, 1)]));
        assert_eq!(store.take().lists, 0);
        // Nor is a small part of it.
        assert!(array.read::<u8>((1..2, ..CHUNKS - 1)).unwrap().iter().all(|&element| element == 7));
        assert_eq!(store.take().lists, 0);
    }

    /// A region of less than one chunk in [`LISTED`](super::LISTED) of the grid is not searched: a listing would name many more chunks than
    /// are read.
    #[test]
    fn a_small_part_of_a_far_larger_grid_is_not_searched() {
        let (store, array) = array_of(&[4 * super::LISTED, CHUNKS], Options::default());
        store.take();
        assert_eq!(array.read::<u8>((0..1, ..)).unwrap(), expected(&[]));
        let counts = store.take();
        assert!(counts.lists == 0 && counts.gets > CHUNKS, "{counts:?}");
    }

    #[test]
    fn many_stored_chunks_are_read_as_a_whole() {
        let (store, array) = array(Options::default());
        let half = CHUNKS / 2;
        array.write((0..1, half..CHUNKS), &vec![3_u8; half as usize]).unwrap();
        store.take();
        let elements = array.read::<u8>((0..1, ..)).unwrap();
        assert_eq!(elements.iter().filter(|&&element| element == 3).count() as u64, half);
        assert_eq!(elements.iter().position(|&element| element == 3), usize::try_from(half).ok());
        let counts = store.take();
        assert!(counts.lists == 1 && counts.gets >= CHUNKS, "{counts:?}");
    }

    #[test]
    fn missing_chunks_are_reported_each() {
        let report = MissingReport::default();
        let (store, array) = array(Options::default().missing_chunks(MissingChunks::Report(report.clone())));
        store.take();
        assert_eq!(array.read::<u8>((0..1, ..)).unwrap(), expected(&[]));
        assert_eq!((report.take().len() as u64, store.take().lists), (CHUNKS, 0));
    }

    /// A cache that has the first chunks as missing, and no others, does not prevent the search.
    #[test]
    fn a_sparse_read_is_searched_again_with_a_cache() {
        let (store, array) = array(Options::default());
        array.write((1..2, 1000..1001), &[1_u8]).unwrap();
        let array = array.with(array.options().clone().cache(ChunkCache::new(1 << 24))).unwrap();
        for _ in 0..3 {
            store.take();
            assert_eq!(array.read::<u8>((1..2, ..)).unwrap(), expected(&[(1000, 1)]));
            let counts = store.take();
            assert!(counts.gets < 300 && counts.lists == 1, "{counts:?}");
        }
        // What the listing says is that of the array which is there.
        store.erase_prefix(&zarr_store::Prefix::new("a/").unwrap()).unwrap();
        assert!(array.read::<u8>((1..2, ..)).unwrap_err().is_not_found());
    }

    /// An array that was erased meanwhile is an error, and not an array of fill values.
    #[test]
    fn an_array_that_is_gone_is_an_error() {
        let (store, array) = array(Options::default());
        store.erase_prefix(&zarr_store::Prefix::new("a/").unwrap()).unwrap();
        let error = array.read::<u8>((0..1, ..)).unwrap_err();
        assert!(error.is_not_found(), "{error}");
    }
}
