//! Counts of the inner chunks of shards, from the indexes of the shards.

use std::sync::{Arc, Mutex};
use zarr_array::{Array, Error, ErrorKind, Result, element_spec};
use zarr_codec::{Access, Pipeline, Step, ViewMut, Warnings};
use zarr_grid::{ChunkIndex, Region, Shape, total_size};
use zarr_scan::{lock, visit_stored};
use zarr_store::{ByteRange, Bytes, Key, Store, StoreExt};

/// Number of shards whose indexes are fetched together.
const BATCH: usize = 1024;
/// Maximum depth of shards within shards.
const DEPTH: usize = 8;

/// Counts of the stored inner chunks of a sharded array; for shards within shards, of the innermost inner chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InnerChunks {
    /// Number of stored inner chunks.
    pub stored: u64,
    /// Number of bytes of all stored inner chunks.
    pub bytes: u64,
    /// Number of all inner chunks of the array, stored or not.
    pub possible: u128,
}

/// Shard: a part of a stored value, or the whole value.
struct ValuePart<'a> {
    store: &'a dyn Store,
    key: &'a Key,
    start: u64,
    /// Number of bytes of the part; `None` for the whole value.
    len: Option<u64>,
    /// Number of bytes of the part; for a whole value, as it was listed.
    size: u64,
}

impl ValuePart<'_> {
    /// Gets ranges of the part; `None` if the value no longer exists.
    fn get(&self, ranges: &[ByteRange]) -> Result<Option<Vec<Bytes>>> {
        let ranges: Vec<ByteRange> = match self.len {
            None => ranges.to_vec(),
            Some(len) => {
                let moved = |range: &ByteRange| {
                    let range = range.resolve(len).filter(|range| range.end <= len)?;
                    let (start, end) = (self.start.checked_add(range.start)?, self.start.checked_add(range.end)?);
                    Some(ByteRange::Range(start..end))
                };
                let beyond = || self.broken("an index of an inner shard that lies outside of it");
                ranges.iter().map(moved).collect::<Option<_>>().ok_or_else(beyond)?
            }
        };
        let fetched = self.store.get_ranges(self.key, &ranges)?;
        Ok(fetched.map(|fetched| (0..ranges.len()).map(|number| fetched.to_bytes(number)).collect()))
    }

    fn broken(&self, what: &str) -> Error {
        Error::new(ErrorKind::ShardIndex, what.to_owned()).at(|location| location.key = Some(self.key.to_string()))
    }

    /// Counts the stored inner chunks of a shard, and their bytes.
    fn inner(&self, codecs: &Pipeline, shape: &[u64], depth: usize) -> Result<(u64, u64)> {
        let locate =
            |error: zarr_codec::Error| Error::from(error).at(|location| location.key = Some(self.key.to_string()));
        let partial = codecs.partial(shape, &Region::whole(shape), &Access::default());
        let Some(mut decode) = partial.filter(|_| depth < DEPTH) else {
            return Err(self.broken("a shard whose index cannot be fetched on its own"));
        };
        let dims: Vec<usize> = shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
        // Nothing is decoded.
        let mut nothing = [];
        let mut out = ViewMut::new(&mut nothing, 0, &dims).map_err(locate)?;
        let mut got: Vec<Bytes> = Vec::new();
        loop {
            let slices: Vec<&[u8]> = got.iter().map(|bytes| &**bytes).collect();
            let split = match decode.step(&slices, &mut out).map_err(locate)? {
                Step::Need(ranges) => match self.get(&ranges)? {
                    Some(bytes) => {
                        got = bytes;
                        continue;
                    }
                    // Erased meanwhile.
                    None => return Ok((0, 0)),
                },
                Step::Split(split) => split,
                Step::Done => return Ok((0, 0)),
            };
            let inner = split.overlaps.cursor().overlap().map(|overlap| overlap.shape.clone()).unwrap_or_default();
            let is_sharded = split.codecs.part_shape(&inner).is_some();
            let (mut count, mut bytes) = (0_u64, 0_u64);
            for range in split.index.iter() {
                let Some(range) = range.map_err(locate)? else { continue };
                // The size of the value was listed, or is that of the part.
                let (start, len) = (range.start, range.end.saturating_sub(range.start));
                if range.end > self.size {
                    return Err(self.broken(&format!(
                        "an index has bytes {start}..{} of a value of {} bytes",
                        range.end, self.size
                    )));
                }
                let (more, size) = match is_sharded {
                    false => (1, len),
                    true => {
                        let start = self.start.saturating_add(start);
                        let part = ValuePart { store: self.store, key: self.key, start, len: Some(len), size: len };
                        part.inner(&split.codecs, &inner, depth + 1)?
                    }
                };
                (count, bytes) = (count.saturating_add(more), bytes.saturating_add(size));
            }
            return Ok((count, bytes));
        }
    }
}

impl InnerChunks {
    /// Counts the inner chunks of an array; `None` if the array is not sharded, or if the indexes of its shards cannot be fetched alone.
    /// Costs a listing, and a request for the index of each stored shard. The keys of all shards are in memory.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if the store fails or cannot list; [`ErrorKind::ShardIndex`] and [`ErrorKind::ChecksumMismatch`] for a broken
    /// index.
    pub fn of(array: &Array) -> Result<Option<Self>> {
        let locate = |error: Error| {
            error.at(|location| {
                location.store = Some(array.store().to_string());
                location.path = Some(array.path().to_string());
            })
        };
        let (metadata, registry) = (array.metadata(), array.registry());
        let element = element_spec(metadata, array.dialect(), &registry.data_types).map_err(locate)?;
        let (largest, limits) = (array.chunk_shape(), &array.options().limits);
        let codecs = registry.codecs.pipeline(&metadata.codecs, &element, &largest, limits, &Warnings::default());
        let codecs = codecs.map_err(|error| locate(error.into()))?;
        if !codecs.is_sharded(&largest) {
            return Ok(None);
        }
        let grid = array.shape().iter().zip(array.part_shape()).map(|(&len, part)| len.div_ceil(part.max(1)));
        let possible = total_size(&grid.collect::<Shape>(), 1);
        let mut inner = Self { possible, ..Self::default() };
        let shards: Arc<Mutex<Vec<(Key, ChunkIndex, u64)>>> = Arc::default();
        let visited = Arc::clone(&shards);
        visit_stored(array, move |key, chunk, size| {
            let shard = (key.clone(), ChunkIndex::from_slice(chunk), size);
            lock(&visited).push(shard);
        })?;
        let shards = std::mem::take(&mut *lock(&shards));
        for batch in shards.chunks(BATCH) {
            let of_shard = |(key, chunk, size): &(Key, ChunkIndex, u64)| {
                let part = ValuePart { store: &**array.store(), key, start: 0, len: None, size: *size };
                let counted = part.inner(&codecs, &array.chunk_grid().chunk_shape(chunk), 0);
                counted.map_err(|error| locate(error.at(|location| location.chunk = Some(chunk.clone()))))
            };
            for counted in array.map_parallel(batch.iter().collect(), of_shard)? {
                let (count, bytes) = counted?;
                inner.stored = inner.stored.saturating_add(count);
                inner.bytes = inner.bytes.saturating_add(bytes);
            }
        }
        Ok(Some(inner))
    }
}
