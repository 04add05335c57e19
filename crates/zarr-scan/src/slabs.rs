//! Slabs: the parts in which an array is read and written, chosen so that they fit into memory and little is decoded twice. Pure
//! arithmetic.

use std::ops::Range;
use zarr_grid::{AxisRange, ChunkGrid, ChunkIndex, Region, lcm};

/// Size in bytes up to which slabs and batches of chunks grow if memory allows but larger ones save no decoding. This gives all threads
/// work; larger ones gain nothing.
pub const COMFORT: u64 = 64 << 20;

/// Division of an array into slabs. Each slab is a box of whole chunks of a grid: the chunks with which the array is written, or the boxes
/// in which its elements are processed.
///
/// ```
/// use zarr_scan::Slabs;
/// use zarr_grid::ChunkGrid;
///
/// // Boxes of 6 elements out of chunks of 4: every 12 elements their bounds meet.
/// let boxes = ChunkGrid::regular(&[1000], &[6])?;
/// let slabs = Slabs::plan(&boxes, &[4], 1, 23).expect("23 bytes have room for 6 elements of one byte");
/// assert_eq!(slabs.region(&[0]).shape()[..], [12]);
/// assert_eq!(slabs.decoding(&[4]), 1.0);
/// # Ok::<(), zarr_grid::Error>(())
/// ```
#[derive(Debug)]
pub struct Slabs {
    grid: ChunkGrid,
    /// Number of chunks of a slab along each axis.
    chunks: Vec<u64>,
    /// Grid of the slabs: a chunk of one element for each slab.
    slab_grid: ChunkGrid,
}

/// Axis of an array while slabs are planned. Lengths are in elements.
#[derive(Clone, Copy, Debug)]
struct Axis {
    /// Length of the array along the axis.
    len: u64,
    /// Length of the longest chunk of the grid along the axis.
    chunk: u64,
    /// Length along the axis of the largest part that is decoded at once.
    part: u64,
    /// Number of chunks along the axis.
    count: u64,
    /// Number of chunks of a slab along the axis.
    taken: u64,
}

impl Slabs {
    /// Plans slabs of at most `budget` bytes, for elements of `item` bytes; `None` if a single chunk has more.
    ///
    /// `parts` is the shape of the parts that are decoded at once. Slabs grow along the axes where growth saves most decoding for the
    /// memory it costs, until each part lies in one slab or memory is used up.
    pub fn plan(grid: &ChunkGrid, parts: &[u64], item: u64, budget: u64) -> Option<Self> {
        Self::plan_up_to(grid, parts, item, budget, COMFORT)
    }

    /// Plans slabs as [`plan`](Self::plan) does, but if larger slabs save no decoding, they grow only up to `comfort` bytes instead of 64
    /// MiB. `comfort` should give all threads work in one slab.
    pub fn plan_up_to(grid: &ChunkGrid, parts: &[u64], item: u64, budget: u64, comfort: u64) -> Option<Self> {
        let axis = |((axis, (&len, &chunk)), &part): ((usize, (&u64, &u64)), &u64)| Axis {
            len,
            chunk,
            part: part.max(1),
            count: grid.chunk_count(axis),
            taken: 1,
        };
        let largest = grid.largest_chunk_shape();
        let mut axes: Vec<Axis> = grid.shape().iter().zip(&largest).enumerate().zip(parts).map(axis).collect();
        if size(&axes, item) > budget {
            return None;
        }
        while let Some((position, taken)) = best_growth(&axes, item, budget) {
            if let Some(axis) = axes.get_mut(position) {
                axis.taken = taken;
            }
        }
        grow_to_comfort(&mut axes, item, budget.min(comfort));
        let counts: Vec<u64> = axes.iter().map(|axis| axis.count.div_ceil(axis.taken)).collect();
        let slab_grid = ChunkGrid::regular(&counts, &vec![1; counts.len()]).ok()?;
        Some(Self { grid: grid.clone(), chunks: axes.iter().map(|axis| axis.taken).collect(), slab_grid })
    }

    /// Iterates over the indices of all slabs, in C order.
    pub fn all(&self) -> impl Iterator<Item = ChunkIndex> {
        let overlaps = self.slab_grid.intersect(&Region::whole(self.slab_grid.shape()));
        (0..overlaps.len()).map(move |slab| overlaps.get(slab).index)
    }

    /// Iterates over the indices of the slabs that have elements of a region, in C order.
    pub fn meeting(&self, region: &Region) -> impl Iterator<Item = ChunkIndex> + Send {
        let met = self.grid.intersect(region);
        // Chunks are in C order, so that the first and the last have the least and the greatest index along each axis.
        let ends = met.len().checked_sub(1).map(|last| (met.get(0).index, met.get(last).index));
        let (first, last) = ends.unwrap_or_default();
        let range = |((first, last), taken): ((&u64, &u64), &u64)| first / taken..last / taken + 1;
        let ranges: Vec<_> = first.iter().zip(&last).zip(&self.chunks).map(range).collect();
        let slabs = (!met.is_empty()).then(|| self.slab_grid.intersect(&Region::from_ranges(&ranges)));
        slabs.into_iter().flat_map(|slabs| (0..slabs.len()).map(move |slab| slabs.get(slab).index))
    }

    /// Number of a slab in the C order of all slabs.
    pub fn number(&self, slab: &[u64]) -> u64 {
        slab.iter().zip(self.counts()).fold(0, |number, (index, count)| number * count + index)
    }

    /// Shape of the largest slab, in elements.
    pub fn shape(&self) -> Vec<u64> {
        self.axes(&[]).map(|axis| axis.extent()).collect()
    }

    /// Average number of times that parts of the shape `parts` are decoded, if each slab decodes all parts that it meets.
    pub fn decoding(&self, parts: &[u64]) -> f64 {
        self.axes(parts).map(|axis| axis.decoded() as f64 / axis.len.div_ceil(axis.part).max(1) as f64).product()
    }

    /// Number of pieces into which the bounds of slabs and of parts of the shape `parts` divide the array.
    pub fn pieces(&self, parts: &[u64]) -> f64 {
        self.axes(parts).map(|axis| axis.decoded() as f64).product()
    }

    fn axes(&self, parts: &[u64]) -> impl Iterator<Item = Axis> {
        let largest = self.grid.largest_chunk_shape();
        let of = move |(axis, &taken): (usize, &u64)| Axis {
            len: self.grid.shape().get(axis).copied().unwrap_or_default(),
            chunk: largest.get(axis).copied().unwrap_or(1),
            part: parts.get(axis).map_or(1, |&part| part.max(1)),
            count: self.grid.chunk_count(axis),
            taken,
        };
        self.chunks.iter().enumerate().map(of)
    }

    /// Grid of whose chunks the slabs consist.
    pub fn grid(&self) -> &ChunkGrid {
        &self.grid
    }

    /// Number of chunks of a slab along each axis; the last slab along an axis may have fewer.
    pub fn chunks(&self) -> &[u64] {
        &self.chunks
    }

    /// Number of slabs along each axis.
    pub fn counts(&self) -> &[u64] {
        self.slab_grid.shape()
    }

    /// Range of the chunks of a slab along each axis.
    pub fn chunks_of(&self, slab: &[u64]) -> Vec<Range<u64>> {
        let range = |((axis, &slab), &taken): ((usize, &u64), &u64)| {
            slab * taken..((slab + 1) * taken).min(self.grid.chunk_count(axis))
        };
        slab.iter().enumerate().zip(&self.chunks).map(range).collect()
    }

    /// Region of the elements of a slab.
    pub fn region(&self, slab: &[u64]) -> Region {
        self.region_of(&self.chunks_of(slab))
    }

    /// Number of bytes of the elements of the largest slab, for elements of `item` bytes.
    pub fn size(&self, item: u64) -> u64 {
        size(&self.axes(&[]).collect::<Vec<_>>(), item)
    }

    /// Region of the elements of a box of chunks, given by a range of chunks along each axis.
    pub fn region_of(&self, chunks: &[Range<u64>]) -> Region {
        let corner =
            |position: fn(&Range<u64>) -> u64| self.grid.chunk_region(&chunks.iter().map(position).collect::<Vec<_>>());
        let (first, last) = (corner(|range| range.start), corner(|range| range.end.saturating_sub(1)));
        let range = |(first, last): (&AxisRange, &AxisRange)| first.start..last.start + last.len;
        Region::from_ranges(&first.axes().iter().zip(last.axes()).map(range).collect::<Vec<_>>())
    }
}

impl Axis {
    /// Length of a slab along the axis.
    fn extent(&self) -> u64 {
        self.chunk.saturating_mul(self.taken).min(self.len)
    }

    fn with(self, taken: u64) -> Self {
        Self { taken, ..self }
    }

    /// Number of parts that are decoded along the axis, slab by slab: the pieces into which the bounds of slabs and of parts divide the
    /// axis.
    fn decoded(&self) -> u64 {
        let slab = self.chunk.saturating_mul(self.taken);
        if self.len == 0 || slab == 0 {
            return 1;
        }
        let both = lcm(slab, self.part).map_or(0, |both| (self.len - 1) / both);
        self.len.div_ceil(slab) + self.len.div_ceil(self.part) - 1 - both
    }

    /// Numbers of chunks to which a slab could grow.
    fn candidates(&self) -> impl Iterator<Item = u64> {
        let aligned = lcm(self.chunk, self.part).map_or(self.count, |both| both / self.chunk.max(1)).max(1);
        let next = (self.taken + 1).checked_next_multiple_of(aligned).unwrap_or(self.count);
        let taken = self.taken;
        let doubled = self.taken.saturating_mul(2);
        [next, doubled, self.count].map(|taken| taken.min(self.count)).into_iter().filter(move |&more| more > taken)
    }
}

fn size(axes: &[Axis], item: u64) -> u64 {
    axes.iter().fold(item, |size, axis| size.saturating_mul(axis.extent()))
}

/// Returns the growth that saves most decoding for the memory it costs: the number of the axis, and its new number of chunks. `None` if no
/// growth saves decoding within `budget` bytes.
fn best_growth(axes: &[Axis], item: u64, budget: u64) -> Option<(usize, u64)> {
    let now = size(axes, item) as f64;
    let mut best: Option<(f64, usize, u64)> = None;
    for (position, axis) in axes.iter().enumerate() {
        for taken in axis.candidates() {
            let grown = axis.with(taken);
            let (before, after) = (axis.decoded(), grown.decoded());
            let bytes = now / axis.extent().max(1) as f64 * grown.extent() as f64;
            if after >= before || bytes > budget as f64 {
                continue;
            }
            let saved = (before as f64 / after as f64).ln();
            let score = saved / (bytes / now).ln().max(f64::MIN_POSITIVE);
            if best.is_none_or(|(most, ..)| score > most) {
                best = Some((score, position, taken));
            }
        }
    }
    best.map(|(_, position, taken)| (position, taken))
}

/// Doubles slabs, innermost axis first, while they have at most `comfort` bytes and decode no more parts than before.
fn grow_to_comfort(axes: &mut [Axis], item: u64, comfort: u64) {
    for position in (0..axes.len()).rev() {
        loop {
            let now = size(axes, item);
            let Some(axis) = axes.get_mut(position) else { return };
            let doubled = axis.with(axis.taken.saturating_mul(2).min(axis.count));
            let fits = now / axis.extent().max(1) <= comfort / doubled.extent().max(1);
            if doubled.taken <= axis.taken || !fits || doubled.decoded() > axis.decoded() {
                break;
            }
            *axis = doubled;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// Counts the pieces of [`Axis::decoded`] one by one.
    fn decoded(axis: &Axis) -> u64 {
        let slab = axis.chunk * axis.taken;
        (0..axis.len).map(|at| (at / slab, at / axis.part)).collect::<HashSet<_>>().len() as u64
    }

    proptest! {
        #[test]
        fn decoding_is_counted_right(len in 1_u64..60, chunk in 1_u64..12, part in 1_u64..12, taken in 1_u64..6) {
            let axis = Axis { len, chunk, part, count: len.div_ceil(chunk), taken };
            prop_assert_eq!(axis.decoded(), decoded(&axis));
        }

        #[test]
        fn slabs_cover_everything_once(
            axes in proptest::collection::vec((0_u64..14, 1_u64..6, 1_u64..6), 0..4),
            budget in 1_u64..400,
        ) {
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let chunks: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
            let parts: Vec<u64> = axes.iter().map(|axis| axis.2).collect();
            let grid = ChunkGrid::regular(&shape, &chunks).unwrap();
            let Some(slabs) = Slabs::plan(&grid, &parts, 1, budget) else {
                let chunk: u64 = shape.iter().zip(&chunks).map(|(len, chunk)| len.min(chunk)).product();
                prop_assert!(chunk > budget);
                return Ok(());
            };
            let mut elements = 0;
            for slab in slabs.all() {
                let region = slabs.region(&slab);
                let len = region.len_checked().unwrap();
                prop_assert!(len > 0 && len <= budget);
                elements += len;
                for range in region.axes().iter().zip(&chunks).zip(&shape) {
                    let ((range, chunk), len) = range;
                    prop_assert!(range.start % chunk == 0);
                    prop_assert!((range.start + range.len) % chunk == 0 || range.start + range.len == *len);
                }
            }
            prop_assert_eq!(Some(elements), zarr_grid::element_count(&shape));
        }
    }

    fn extents(shape: &[u64], chunks: &[u64], parts: &[u64], budget: u64) -> Vec<u64> {
        let grid = ChunkGrid::regular(shape, chunks).unwrap();
        let slabs = Slabs::plan(&grid, parts, 1, budget).unwrap();
        slabs.region(&vec![0; shape.len()]).shape().to_vec()
    }

    #[test]
    fn slabs_hold_whole_parts_where_memory_allows() {
        // Maps into time series: all of time has to be there, and as much of space as fits.
        let whole = extents(&[1000, 100, 100], &[1000, 10, 10], &[1, 100, 100], 1000 * 100 * 100);
        assert_eq!(whole, [1000, 100, 100]);
        let half = extents(&[1000, 100, 100], &[1000, 10, 10], &[1, 100, 100], 500 * 100 * 100);
        assert_eq!(half.iter().product::<u64>(), 1000 * 40 * 100);
        // Chunks of 6 out of chunks of 4: every 12 elements their bounds meet.
        assert_eq!(extents(&[1 << 40], &[6], &[4], 23), [12]);
        // Shards out of chunks that divide them need nothing more.
        assert_eq!(extents(&[1 << 40], &[64], &[8], 100), [64]);
    }
}
