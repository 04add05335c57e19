//! Selection of the parts of an array that are converted if some chunks are missing. Pure arithmetic, whose time depends on the number of
//! stored chunks and not of missing ones.

use std::collections::BTreeSet;
use std::ops::Range;
use zarr_grid::{ChunkGrid, ChunkIndex, Region};
use zarr_scan::{SelectedGrid, Slabs};

/// Size in bytes up to which a part is read and written as a whole, even if chunks in it are missing: a search would not pay.
const SMALL: u64 = 256 << 10;
/// Greatest number of chunks of a part that is processed as a whole, since each chunk is looked at.
const FEW: u64 = 4096;

/// Boxes of whole chunks of the new array that contain all elements of the stored chunks.
///
/// The array is bisected repeatedly until a part lies in one slab and is either small or mostly stored. Parts that meet no stored
/// chunk are dropped at each step. The parts of a slab follow each other, and slabs come in C order.
#[derive(Debug)]
pub(super) struct SparseParts<'a> {
    source: &'a SelectedGrid,
    slabs: &'a Slabs,
    /// Size of an element in bytes.
    item: u64,
    /// Whether chunks that hold only the fill value need not be stored, so that a part may contain some.
    elides: bool,
    /// Parts still to be divided; the next one is at the end.
    rest: Vec<SparsePart>,
}

/// Box of chunks of the new array.
#[derive(Debug)]
pub(super) struct SparsePart {
    /// Range of chunk indices along each axis.
    chunks: Vec<Range<u64>>,
    /// Elements of the chunks.
    pub(super) region: Region,
    /// Stored chunks of the source that overlap the region, sorted.
    pub(super) stored: Vec<ChunkIndex>,
    /// Whether all chunks may be written: each meets a stored chunk, or is left out since it holds only the fill value.
    pub(super) is_whole: bool,
}

impl<'a> SparseParts<'a> {
    /// Creates the parts of an array with the stored chunks `stored` (sorted) that is written in `slabs` of elements of `item` bytes.
    pub(super) fn new(
        source: &'a SelectedGrid,
        stored: Vec<ChunkIndex>,
        slabs: &'a Slabs,
        item: u64,
        elides: bool,
    ) -> Self {
        let sink = slabs.grid();
        let all = SparsePart {
            chunks: sink.grid_shape().iter().map(|&count| 0..count).collect(),
            region: Region::whole(sink.shape()),
            stored,
            is_whole: false,
        };
        Self { source, slabs, item, elides, rest: vec![all] }
    }

    /// Shrinks a part to the box around its chunks that meet a stored chunk; `None` if there are none.
    fn around(&self, part: SparsePart) -> Option<SparsePart> {
        let mut ends: Option<Vec<Range<u64>>> = None;
        for chunk in &part.stored {
            let Some(common) = self.source.chunk_region(chunk).overlap(&part.region) else { continue };
            let ranges = common.axes().iter().map(|axis| axis.start..axis.start + axis.len);
            match &mut ends {
                None => ends = Some(ranges.collect()),
                Some(ends) => {
                    for (end, range) in ends.iter_mut().zip(ranges) {
                        *end = end.start.min(range.start)..end.end.max(range.end);
                    }
                }
            }
        }
        let ends = ends?;
        let sink = self.slabs.grid();
        let chunk = |end: &dyn Fn(&Range<u64>) -> u64| sink.chunk_at(&ends.iter().map(end).collect::<Vec<_>>()).ok();
        let (first, last) = (chunk(&|range| range.start)?, chunk(&|range| range.end - 1)?);
        let chunks: Vec<_> = first.iter().zip(&last).map(|(&first, &last)| first..last + 1).collect();
        let region = self.slabs.region_of(&chunks);
        Some(SparsePart { chunks, region, ..part })
    }

    /// Returns the axis along which a part is to be divided, and the index of the first chunk of the second half; `None` if the part is
    /// converted as it is.
    fn cut(&self, part: &mut SparsePart) -> Option<(usize, u64)> {
        let slabs = |(range, &taken): (&Range<u64>, &u64)| (range.start / taken, range.end.saturating_sub(1) / taken);
        let slabs = part.chunks.iter().zip(self.slabs.chunks()).map(slabs);
        // The first axis of several slabs, so that slabs come in C order.
        if let Some((axis, (first, last))) = slabs.enumerate().find(|(_, (first, last))| last > first) {
            // At the end of a slab, where as little is decoded twice as may be.
            let taken = self.slabs.chunks().get(axis).copied().unwrap_or(1);
            return Some((axis, (first + (last - first).div_ceil(2)) * taken));
        }
        let len = |range: &Range<u64>| range.end - range.start;
        let count = part.chunks.iter().fold(1_u64, |count, range| count.saturating_mul(len(range)));
        let met = self.source.count(&part.region);
        let stored = part.stored.len() as u64;
        part.is_whole = count == 1 || stored >= met || (self.elides && stored >= met / 2);
        let size = part.region.len_checked().map_or(u64::MAX, |len| len.saturating_mul(self.item));
        if part.is_whole || (size <= SMALL && count <= FEW) {
            return None;
        }
        let (axis, range) = part.chunks.iter().enumerate().max_by_key(|(_, range)| len(range))?;
        Some((axis, range.start + len(range) / 2))
    }

    /// Divides a part in two. `at` is the index of the first chunk of the second half along `axis`.
    fn halves(&self, part: SparsePart, axis: usize, at: u64) -> [SparsePart; 2] {
        let half = |range: Range<u64>| {
            let mut chunks = part.chunks.clone();
            if let Some(old) = chunks.get_mut(axis) {
                *old = range;
            }
            let region = self.slabs.region_of(&chunks);
            SparsePart { chunks, region, stored: Vec::new(), is_whole: false }
        };
        let whole = part.chunks.get(axis).cloned().unwrap_or_default();
        let (mut first, mut second) = (half(whole.start..at), half(at..whole.end));
        let middle = second.region.axes().get(axis).map_or(0, |range| range.start);
        for chunk in part.stored {
            let extent = self.source.chunk_region(&chunk).axes().get(axis).copied();
            let extent = extent.map_or(0..0, |extent| extent.start..extent.start + extent.len);
            match (extent.start < middle, extent.end > middle) {
                (true, true) => {
                    first.stored.push(chunk.clone());
                    second.stored.push(chunk);
                }
                (true, false) => first.stored.push(chunk),
                (false, _) => second.stored.push(chunk),
            }
        }
        [first, second]
    }
}

impl Iterator for SparseParts<'_> {
    type Item = SparsePart;

    fn next(&mut self) -> Option<SparsePart> {
        while let Some(part) = self.rest.pop() {
            let Some(mut part) = self.around(part) else { continue };
            let Some((axis, at)) = self.cut(&mut part) else { return Some(part) };
            let [first, second] = self.halves(part, axis, at);
            self.rest.extend([second, first]);
        }
        None
    }
}

impl SparsePart {
    /// Returns the index of the slab that contains the part.
    pub(super) fn slab(&self, slabs: &Slabs) -> ChunkIndex {
        self.chunks.iter().zip(slabs.chunks()).map(|(range, &taken)| range.start / taken).collect()
    }

    /// Returns the number of chunks of the new array in the part.
    pub(super) fn count(&self) -> u64 {
        self.chunks.iter().fold(1, |count, range| count.saturating_mul(range.end - range.start))
    }

    /// Returns the chunks of the part that are to be written, in the grid of the new array; `None` for all.
    pub(super) fn met(&self, source: &SelectedGrid, sink: &ChunkGrid) -> Option<BTreeSet<ChunkIndex>> {
        let common = |chunk: &ChunkIndex| source.chunk_region(chunk).overlap(&self.region);
        let met = |common: Region| sink.intersect(&common).iter().map(|overlap| overlap.index).collect::<Vec<_>>();
        (!self.is_whole).then(|| self.stored.iter().filter_map(common).flat_map(met).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_have_the_chunks_that_overlap_a_stored_one(
            axes in proptest::collection::vec((1_u64..40, 1_u64..6, 1_u64..6), 0..3),
            stored in proptest::collection::vec(any::<proptest::sample::Index>(), 1..20),
            budget in 40_u64..1000,
            item in prop_oneof![Just(1), Just(100_000)],
            elides in any::<bool>(),
        ) {
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let chunks: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
            let others: Vec<u64> = axes.iter().map(|axis| axis.2).collect();
            let source = ChunkGrid::regular(&shape, &chunks).unwrap();
            let sink = ChunkGrid::regular(&shape, &others).unwrap();
            let slabs = Slabs::plan(&sink, &chunks, item, budget * item).unwrap();
            let whole = SelectedGrid::new(&source, None);
            let all: Vec<ChunkIndex> = source.intersect(&Region::whole(&shape)).iter().map(|overlap| overlap.index).collect();
            let stored: BTreeSet<ChunkIndex> = stored.iter().map(|one| one.get(&all).clone()).collect();
            let is_met = |chunk: &[u64]| {
                source.intersect(&sink.chunk_region(chunk)).iter().any(|overlap| stored.contains(&overlap.index))
            };

            let mut written = BTreeSet::new();
            let mut before: Option<ChunkIndex> = None;
            for part in SparseParts::new(&whole, stored.iter().cloned().collect(), &slabs, item, elides) {
                prop_assert!(part.region.len_checked().unwrap() <= budget);
                let slab = part.slab(&slabs);
                prop_assert!(before.is_none_or(|before| before <= slab), "slabs come in C order");
                before = Some(slab);
                let of_part: Vec<ChunkIndex> = source.intersect(&part.region).iter().map(|overlap| overlap.index).collect();
                let of_part: Vec<ChunkIndex> = of_part.into_iter().filter(|chunk| stored.contains(chunk)).collect();
                prop_assert_eq!(&part.stored, &of_part);
                let met = part.met(&whole, &sink);
                for overlap in sink.intersect(&part.region).iter() {
                    prop_assert!(sink.covers_chunk(&overlap), "a part has whole chunks");
                    match &met {
                        Some(met) => prop_assert_eq!(met.contains(&overlap.index), is_met(&overlap.index)),
                        None => prop_assert!(elides || is_met(&overlap.index)),
                    }
                    prop_assert!(written.insert(overlap.index), "a chunk is in one part");
                }
            }
            for overlap in sink.intersect(&Region::whole(&shape)).iter() {
                prop_assert!(written.contains(&overlap.index) || !is_met(&overlap.index));
            }
        }
    }

    /// The time for the plan depends on the number of stored chunks, not on the shape.
    #[test]
    fn few_parts_are_found_among_very_many_chunks() {
        let source = ChunkGrid::regular(&[1 << 62, 1 << 60], &[16, 16]).unwrap();
        let sink = ChunkGrid::regular(&[1 << 62, 1 << 60], &[1000, 10]).unwrap();
        let slabs = Slabs::plan(&sink, &[16, 16], 8, 64 << 20).unwrap();
        let stored = [[0, 0], [1 << 57, 1 << 55], [1 << 57, (1 << 55) + 1]].map(|chunk| ChunkIndex::from_slice(&chunk));
        let parts: Vec<SparsePart> =
            SparseParts::new(&SelectedGrid::new(&source, None), stored.to_vec(), &slabs, 8, true).collect();
        let sizes = parts.iter().map(|part| part.region.len_checked().unwrap());
        // 16 elements lie in 2 chunks of 10, and 32 in 4.
        assert_eq!(sizes.sum::<u64>(), 6 * 10_000);
    }
}
