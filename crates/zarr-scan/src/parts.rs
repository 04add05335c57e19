//! Division of an array into parts that fit into memory. Each chunk, or inner chunk of a large shard, is in one part only.

use crate::location::at;
use crate::slabs::COMFORT;
use crate::stored::stored_among;
use zarr_array::{Array, Error, ErrorKind, Result};
use zarr_grid::{AxisRange, ChunkGrid, ChunkOverlap, ChunkOverlaps, Region, total_size};

/// Maximum number of parts of a batch, which are read at the same time.
const MOST_PARTS: usize = 4096;

/// Layout of the chunks in which elements are read: the chunks of an array, or of values that are composed of its elements.
#[derive(Clone, Debug)]
pub struct Layout<'a> {
    /// Array that is read, and that errors name.
    pub array: &'a Array,
    /// Chunk grid of the elements.
    pub grid: &'a ChunkGrid,
    /// Whether `grid` is the grid of the array, so that a listing shows which of its chunks are stored.
    pub is_stored: bool,
    /// Shape of the parts of a chunk that are decoded at once: inner chunks, if the array is sharded.
    pub part: Vec<u64>,
    /// Number of bytes of an element in memory, or an estimate of it.
    pub item: u64,
}

/// Parts of a region of an array, in batches that fit into memory. A part is a stored chunk, or some inner chunks of a shard.
///
/// ```
/// # use std::sync::Arc;
/// use zarr_array::{Array, NewArray, Registry, Store};
/// use zarr_grid::Region;
/// use zarr_scan::{ChunkParts, Layout};
///
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// let new = NewArray::new(&[1000], "int8").chunks(&[100]).codecs("bytes")?;
/// let array = Array::create(&store, "/", new, &Arc::new(registry))?;
/// array.write(150..420, &[1_i8; 270])?;
/// let (grid, part) = (array.chunk_grid(), array.part_shape().to_vec());
/// let layout = Layout { array: &array, grid, is_stored: true, part, item: 1 };
/// let region = Region::from_ranges(&[0..250]);
/// let mut parts = ChunkParts::new(&layout, &region, 1 << 20, |_| 0)?;
/// assert_eq!(parts.unstored(&region).0, 100);
/// assert_eq!(parts.next_batch(), [100..200, 200..250].map(|range| Region::from_ranges(&[range])));
/// assert!(parts.next_batch().is_empty());
/// # Ok::<(), zarr_array::Error>(())
/// ```
pub struct ChunkParts<'r> {
    overlaps: ChunkOverlaps,
    grid: ChunkGrid,
    /// Numbers of the overlaps whose chunks are stored; `None` if all chunks may be stored.
    stored: Option<Vec<u64>>,
    /// Number of the next overlap, or its index in `stored` if that is known.
    next: u64,
    /// Remaining parts of the current chunk, in reverse order.
    rest: Vec<Region>,
    /// Index of the first element of the current chunk.
    origin: Vec<u64>,
    part: Vec<u64>,
    item: u64,
    /// Maximum number of bytes of the elements of a batch, unless it has a single part.
    batch: u64,
    /// Whether `item` is an estimate that no read has confirmed yet.
    is_guessed: bool,
    /// Function that returns the number of bytes of the result of a part, until the result is merged.
    result: Box<dyn Fn(&Region) -> u64 + Send + 'r>,
    /// Maximum number of bytes of the results of a batch, unless it has a single part.
    most_results: u64,
}

impl<'r> ChunkParts<'r> {
    /// Divides `region` into parts for reads in `memory` bytes: a quarter of the memory for elements, and a quarter for the results of
    /// parts until they are merged. `result` returns the number of bytes of the result of a part.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if the memory is too small for a chunk; the errors of [`stored_among`].
    pub fn new(
        layout: &Layout<'_>,
        region: &Region,
        memory: u64,
        result: impl Fn(&Region) -> u64 + Send + 'r,
    ) -> Result<Self> {
        let (array, grid, item) = (layout.array, layout.grid.clone(), layout.item);
        let overlaps = grid.intersect(region);
        let stored = if layout.is_stored { stored_among(array, &overlaps)? } else { None };
        Ok(Self {
            overlaps,
            grid,
            stored,
            next: 0,
            rest: Vec::new(),
            origin: Vec::new(),
            part: part_shape(layout, memory)?,
            item,
            batch: (memory / 4).clamp(1, COMFORT),
            is_guessed: array.data_type().is_variable(),
            result: Box::new(result),
            most_results: (memory / 4).max(1),
        })
    }

    /// Whether a listing has shown which chunks are stored.
    pub fn are_listed(&self) -> bool {
        self.stored.is_some()
    }

    /// Number of elements of `region` that lie in chunks that are not stored, and the first of these chunks, as a region of the array. 0
    /// and `None` if it is not known which chunks are stored.
    pub fn unstored(&self, region: &Region) -> (u128, Option<Region>) {
        let Some(stored) = &self.stored else { return (0, None) };
        let size = |overlap: &ChunkOverlap| total_size(&overlap.out_shape, 1);
        let held: u128 = stored.iter().map(|&number| size(&self.overlaps.get(number))).sum();
        let all = total_size(&region.shape(), 1);
        let gap = (0..).zip(stored).find(|(number, stored)| number != *stored).map(|(number, _)| number);
        let first = gap.unwrap_or(stored.len() as u64);
        let first = (first < self.overlaps.len()).then(|| self.region(&self.overlaps.get(first)));
        (all.saturating_sub(held), first)
    }

    /// Returns the parts that are read next, at the same time; empty at the end.
    pub fn next_batch(&mut self) -> Vec<Region> {
        let mut batch = Vec::new();
        let (mut bytes, mut results) = (0_u64, 0_u64);
        // How long texts are is known after the first part.
        let most = if self.is_guessed { 1 } else { MOST_PARTS };
        while batch.len() < most {
            let Some(part) = self.next_part() else { break };
            bytes = bytes.saturating_add(self.size(&part));
            results = results.saturating_add((self.result)(&part));
            if (bytes > self.batch || results > self.most_results) && !batch.is_empty() {
                self.rest.push(part);
                break;
            }
            batch.push(part);
        }
        batch
    }

    /// Corrects the estimated size of an element, after a part with `elements` elements took `bytes` bytes.
    pub fn learn(&mut self, elements: u64, bytes: u64) {
        self.is_guessed = false;
        self.item = self.item.max(bytes.div_ceil(elements.max(1)));
    }

    fn size(&self, part: &Region) -> u64 {
        part.len_checked().and_then(|len| len.checked_mul(self.item)).unwrap_or(u64::MAX)
    }

    /// Returns the next part: a chunk, or some of its inner chunks.
    fn next_part(&mut self) -> Option<Region> {
        loop {
            let part = match self.rest.pop() {
                Some(part) => part,
                None => self.next_chunk()?,
            };
            match self.halves(&part).filter(|_| self.size(&part) > self.batch) {
                Some((first, second)) => self.rest.extend([second, first]),
                None => return Some(part),
            }
        }
    }

    /// Returns the part of the next chunk that lies in the region.
    fn next_chunk(&mut self) -> Option<Region> {
        let number = match &self.stored {
            Some(stored) => *stored.get(usize::try_from(self.next).ok()?)?,
            None if self.next < self.overlaps.len() => self.next,
            None => return None,
        };
        self.next += 1;
        let overlap = self.overlaps.get(number);
        self.origin = self.grid.chunk_region(&overlap.index).axes().iter().map(|range| range.start).collect();
        Some(self.region(&overlap))
    }

    /// Divides a part in two halves between inner chunks; `None` if the part meets one inner chunk only.
    fn halves(&self, part: &Region) -> Option<(Region, Region)> {
        for (axis, ((range, &len), &origin)) in part.axes().iter().zip(&self.part).zip(&self.origin).enumerate() {
            let last = range.last()?;
            let (first_part, last_part) = ((range.start - origin) / len.max(1), (last - origin) / len.max(1));
            if first_part == last_part {
                continue;
            }
            let cut = origin + (first_part + (last_part - first_part).div_ceil(2)) * len;
            let first = range.before(cut);
            let second =
                AxisRange { start: range.start + first.len * range.step, len: range.len - first.len, step: range.step };
            let with = |range| {
                let axes = part.axes().iter().enumerate();
                Region::new(axes.map(|(number, other)| if number == axis { range } else { *other })).ok()
            };
            // A step may reach over the cut.
            if !first.is_empty() && !second.is_empty() {
                return with(first).zip(with(second));
            }
        }
        None
    }

    /// Converts the part of a chunk in `overlap` to a region of the array.
    fn region(&self, overlap: &ChunkOverlap) -> Region {
        let chunk = self.grid.chunk_region(&overlap.index);
        let axes = chunk.axes().iter().zip(overlap.region.axes());
        let moved = axes.map(|(chunk, range)| AxisRange { start: chunk.start + range.start, ..*range });
        // It lies in a region that was checked.
        Region::new(moved).unwrap_or_default()
    }
}

/// Returns the shape of the smallest parts into which chunks are divided; an error if such a part does not fit into memory.
fn part_shape(layout: &Layout<'_>, memory: u64) -> Result<Vec<u64>> {
    let (array, part) = (layout.array, layout.part.clone());
    let bytes = total_size(&part, layout.item);
    if bytes <= u128::from(memory / 4) {
        return Ok(part);
    }
    // Elements that are stored as they are can be read in any parts.
    let codecs = &array.metadata().codecs;
    if codecs.len() == 1 && codecs.iter().all(|codec| codec.name == "bytes") {
        return Ok(vec![1; part.len()]);
    }
    let message = format!(
        "a chunk of {part:?} has {bytes} bytes of elements, more than a quarter of the memory of {memory} bytes"
    );
    let error = Error::new(ErrorKind::Limit, message);
    let needed = bytes.saturating_mul(4).div_ceil(1 << 20);
    Err(at(array, error.with_hint(format!("give it at least {needed} MiB"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;
    use zarr_array::{NewArray, Registry, Store};
    use zarr_store::MemoryStore;

    fn array(shape: &[u64], chunks: &[u64]) -> Array {
        let mut registry = Registry::default();
        registry.codecs.add(zarr_codec_bytes::BYTES);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = NewArray::new(shape, "uint8").chunks(chunks).codecs("bytes").unwrap();
        Array::create(&store, "/", new, &Arc::new(registry)).unwrap()
    }

    /// Returns the indices of all elements of a region.
    fn elements(region: &Region) -> Vec<Vec<u64>> {
        region.axes().iter().fold(vec![Vec::new()], |all, axis| {
            let along =
                |index: Vec<u64>| (0..axis.len).map(move |at| [&index[..], &[axis.start + at * axis.step]].concat());
            all.into_iter().flat_map(along).collect()
        })
    }

    proptest! {
        #[test]
        fn each_element_of_stored_chunks_is_in_one_part(
            axes in proptest::collection::vec((1_u64..14, 1_u64..6, 0_u64..4, 1_u64..4), 1..3),
            written in proptest::collection::vec(any::<proptest::sample::Index>(), 0..4),
            memory in 4_u64..400,
        ) {
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let chunks: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
            let range = |axis: &(u64, u64, u64, u64)| {
                let start = axis.2.min(axis.0 - 1);
                AxisRange { start, len: (axis.0 - start).div_ceil(axis.3), step: axis.3 }
            };
            let region = Region::new(axes.iter().map(range)).unwrap();
            let array = array(&shape, &chunks);
            let all = elements(&Region::whole(&shape));
            let mut stored = BTreeSet::new();
            for index in &written {
                let at = index.get(&all);
                array.write(Region::from_ranges(&at.iter().map(|&at| at..at + 1).collect::<Vec<_>>()), &[1_u8]).unwrap();
                stored.insert(array.chunk_grid().chunk_at(at).unwrap());
            }
            let (grid, part) = (array.chunk_grid(), array.part_shape().to_vec());
            let layout = Layout { array: &array, grid, is_stored: true, part, item: 1 };
            let mut parts = ChunkParts::new(&layout, &region, memory, |_| 0).unwrap();
            let mut found: BTreeMap<Vec<u64>, u32> = BTreeMap::new();
            loop {
                let batch = parts.next_batch();
                let bytes: u64 = batch.iter().map(|part| part.len_checked().unwrap()).sum();
                prop_assert!(batch.len() == 1 || bytes <= memory / 4);
                if batch.is_empty() {
                    break;
                }
                batch.iter().flat_map(elements).for_each(|at| *found.entry(at).or_default() += 1);
            }
            let is_stored = |at: &Vec<u64>| stored.contains(&grid.chunk_at(at).unwrap());
            let (expected, others): (Vec<_>, Vec<_>) = elements(&region).into_iter().partition(is_stored);
            prop_assert_eq!(found, expected.into_iter().map(|at| (at, 1)).collect::<BTreeMap<_, _>>());
            prop_assert_eq!(parts.unstored(&region).0, others.len() as u128);
        }
    }
}
