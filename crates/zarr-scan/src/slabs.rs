//! In which parts an array is read and written, so that memory suffices and little is decoded twice. Pure arithmetic.

use std::ops::Range;
use zarr_grid::{AxisRange, ChunkGrid, ChunkIndex, Region};

/// Bytes up to which slabs and batches of chunks grow where memory allows and no decoding is saved by it: enough for all threads to have
/// something to do, and more gains nothing.
pub const COMFORT: u64 = 64 << 20;

/// Parts of an array, each a box of whole chunks of a grid: of the chunks that it is written with, or of the boxes that its elements are
/// looked at in.
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
    /// How many chunks a slab has along each axis.
    chunks: Vec<u64>,
    /// A grid with one chunk of one element for each slab.
    slab_grid: ChunkGrid,
}

/// One axis while slabs are being planned. Lengths in elements.
#[derive(Clone, Copy, Debug)]
struct Axis {
    /// Length of the array.
    len: u64,
    /// Length of the longest chunk to be written.
    chunk: u64,
    /// Length of the longest part that is decoded at once when reading.
    part: u64,
    /// Chunks along the axis.
    count: u64,
    /// Chunks of a slab.
    taken: u64,
}

impl Slabs {
    /// Slabs of at most `budget` bytes of elements of `item` bytes; `None` if a single chunk has more.
    ///
    /// `parts` is the shape of the parts that are decoded at once when reading. Slabs grow along the axes where that
    /// saves most decoding for the memory it costs, until each part lies in one slab or memory is used up.
    pub fn plan(grid: &ChunkGrid, parts: &[u64], item: u64, budget: u64) -> Option<Self> {
        Self::plan_up_to(grid, parts, item, budget, COMFORT)
    }

    /// As [`plan`](Self::plan), but where no decoding is saved by it, slabs grow only up to `comfort` bytes, which `plan` takes to be 64 MiB:
    /// enough for all threads to have something to do in one slab.
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

    /// All slabs, in C order.
    pub fn all(&self) -> impl Iterator<Item = ChunkIndex> {
        let overlaps = self.slab_grid.intersect(&Region::whole(self.slab_grid.shape()));
        (0..overlaps.len()).map(move |slab| overlaps.get(slab).index)
    }

    /// The slabs that have elements of a region, in C order.
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

    /// The number of a slab among all, in C order.
    pub fn number(&self, slab: &[u64]) -> u64 {
        slab.iter().zip(self.counts()).fold(0, |number, (index, count)| number * count + index)
    }

    /// The shape of the largest slab.
    pub fn shape(&self) -> Vec<u64> {
        self.axes(&[]).map(|axis| axis.extent()).collect()
    }

    /// How many times parts of this shape are decoded on average, if each slab decodes those that it meets.
    pub fn decoding(&self, parts: &[u64]) -> f64 {
        self.axes(parts).map(|axis| axis.decoded() as f64 / axis.len.div_ceil(axis.part).max(1) as f64).product()
    }

    /// Into how many pieces slabs and parts of this shape cut the array.
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

    /// The grid that the array is written with.
    pub fn grid(&self) -> &ChunkGrid {
        &self.grid
    }

    /// How many chunks a slab has along each axis, but for the last.
    pub fn chunks(&self) -> &[u64] {
        &self.chunks
    }

    /// How many slabs there are along each axis.
    pub fn counts(&self) -> &[u64] {
        self.slab_grid.shape()
    }

    /// The chunks of a slab along each axis.
    pub fn chunks_of(&self, slab: &[u64]) -> Vec<Range<u64>> {
        let range = |((axis, &slab), &taken): ((usize, &u64), &u64)| {
            slab * taken..((slab + 1) * taken).min(self.grid.chunk_count(axis))
        };
        slab.iter().enumerate().zip(&self.chunks).map(range).collect()
    }

    /// The elements of a slab.
    pub fn region(&self, slab: &[u64]) -> Region {
        self.region_of(&self.chunks_of(slab))
    }

    /// Bytes of the elements of the largest slab.
    pub fn size(&self, item: u64) -> u64 {
        size(&self.axes(&[]).collect::<Vec<_>>(), item)
    }

    /// The elements of a box of chunks, given along each axis.
    pub fn region_of(&self, chunks: &[Range<u64>]) -> Region {
        let corner =
            |position: fn(&Range<u64>) -> u64| self.grid.chunk_region(&chunks.iter().map(position).collect::<Vec<_>>());
        let (first, last) = (corner(|range| range.start), corner(|range| range.end.saturating_sub(1)));
        let range = |(first, last): (&AxisRange, &AxisRange)| first.start..last.start + last.len;
        Region::from_ranges(&first.axes().iter().zip(last.axes()).map(range).collect::<Vec<_>>())
    }
}

impl Axis {
    /// The length of a slab.
    fn extent(&self) -> u64 {
        self.chunk.saturating_mul(self.taken).min(self.len)
    }

    fn with(self, taken: u64) -> Self {
        Self { taken, ..self }
    }

    /// How many parts are decoded, slab by slab: the pieces into which the bounds of slabs and of parts cut the axis.
    fn decoded(&self) -> u64 {
        let slab = self.chunk.saturating_mul(self.taken);
        if self.len == 0 || slab == 0 {
            return 1;
        }
        let both = lcm(slab, self.part).map_or(0, |both| (self.len - 1) / both);
        self.len.div_ceil(slab) + self.len.div_ceil(self.part) - 1 - both
    }

    /// Numbers of chunks to which the slab could grow.
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

/// The growth that saves most decoding for the memory it costs: the axis, and its chunks.
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

/// Doubles slabs, innermost axis first, as long as they stay below `comfort`. Bounds that met the bounds of parts still
/// do.
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

/// The least common multiple; `None` beyond 64 bits.
fn lcm(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a.checked_div(x)?.checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// Counts the result of [`Axis::decoded`] one by one.
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
