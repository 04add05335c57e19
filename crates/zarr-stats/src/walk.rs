//! An array in parts that fit the memory, each chunk in one of them alone.

use crate::source::Source;
use crate::stored::stored_among;
use zarr_array::{Array, Error, ErrorKind, Result};
use zarr_grid::{AxisRange, ChunkOverlap, ChunkOverlaps, Region, total_size};

/// Parts that are read at the same time.
const MOST_PARTS: usize = 4096;
/// Bytes of elements that are read at the same time: more gains nothing.
const COMFORT: u64 = 64 << 20;

/// The parts of a region of an array, in batches.
pub(crate) struct Parts {
    overlaps: ChunkOverlaps,
    grid: zarr_grid::ChunkGrid,
    /// The numbers of the overlaps with stored chunks; `None`: all may be stored.
    stored: Option<Vec<u64>>,
    /// The next overlap, or the index of the next one in `stored`.
    next: u64,
    /// Parts of a chunk that were not given yet, the last one first.
    rest: Vec<Region>,
    /// Where that chunk begins.
    origin: Vec<u64>,
    part: Vec<u64>,
    item: u64,
    /// Bytes of a batch.
    batch: u64,
    /// Whether bytes of elements are only guessed, until some were read.
    is_guessed: bool,
    results: Results,
    /// Bytes of the results of a batch.
    most_results: u64,
}

/// The memory that what is known of a part takes, until it is merged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Results {
    /// The axis of rows, and bytes of a row.
    pub(crate) rows: Option<(usize, u64)>,
    /// Bytes of a table of counts.
    pub(crate) counts: u64,
    /// Bytes for each element.
    pub(crate) element: u64,
}

impl Results {
    fn size(&self, part: &Region) -> u64 {
        let len = part.len_checked().unwrap_or(u64::MAX);
        let elements = len.saturating_mul(self.element);
        // Of few values, the values are kept.
        let counts = self.counts.min(len.saturating_mul(8));
        let rows = self.rows.and_then(|(axis, row)| Some(part.axes().get(axis)?.len.saturating_mul(row)));
        elements.saturating_add(counts).saturating_add(rows.unwrap_or(0))
    }
}

impl Parts {
    /// The parts of `region`, for reads in so much memory, which have such results.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if the memory is too small for a chunk.
    pub(crate) fn new(source: &Source<'_>, region: &Region, memory: u64, results: Results) -> Result<Self> {
        let array = source.array();
        let (grid, item) = (source.grid().clone(), source.item_size());
        let overlaps = grid.intersect(region);
        let stored = if source.has_chunks() { stored_among(array, &overlaps)? } else { None };
        let part = part_shape(array, source, item, memory)?;
        let batch = (memory / 4).clamp(1, COMFORT);
        Ok(Self {
            overlaps,
            grid,
            stored,
            next: 0,
            rest: Vec::new(),
            origin: Vec::new(),
            part,
            item,
            batch,
            is_guessed: array.data_type().is_variable(),
            results,
            most_results: (memory / 4).max(1),
        })
    }

    /// Whether it is known which chunks are stored.
    pub(crate) fn are_listed(&self) -> bool {
        self.stored.is_some()
    }

    /// How many elements of the region lie in chunks that are not stored, and the first of these chunks.
    pub(crate) fn unstored(&self, region: &Region) -> (u128, Option<Region>) {
        let Some(stored) = &self.stored else { return (0, None) };
        let size = |overlap: &ChunkOverlap| total_size(&overlap.out_shape, 1);
        let held: u128 = stored.iter().map(|&number| size(&self.overlaps.get(number))).sum();
        let all = total_size(&region.shape(), 1);
        let gap = (0..).zip(stored).find(|(number, stored)| number != *stored).map(|(number, _)| number);
        let first = gap.unwrap_or(stored.len() as u64);
        let first = (first < self.overlaps.len()).then(|| self.region(&self.overlaps.get(first)));
        (all.saturating_sub(held), first)
    }

    /// The parts that are read next, at the same time; none at the end.
    pub(crate) fn next_batch(&mut self) -> Vec<Region> {
        let mut batch = Vec::new();
        let (mut bytes, mut results) = (0_u64, 0_u64);
        // How long texts are is known after the first part.
        let most = if self.is_guessed { 1 } else { MOST_PARTS };
        while batch.len() < most {
            let Some(part) = self.next_part() else { break };
            bytes = bytes.saturating_add(self.size(&part));
            results = results.saturating_add(self.results.size(&part));
            if (bytes > self.batch || results > self.most_results) && !batch.is_empty() {
                self.rest.push(part);
                break;
            }
            batch.push(part);
        }
        batch
    }

    /// Says how many bytes the elements of a part took that was read.
    pub(crate) fn learn(&mut self, elements: u64, bytes: u64) {
        self.is_guessed = false;
        self.item = self.item.max(bytes.div_ceil(elements.max(1)));
    }

    fn size(&self, part: &Region) -> u64 {
        part.len_checked().and_then(|len| len.checked_mul(self.item)).unwrap_or(u64::MAX)
    }

    /// The next part: a chunk, or some of its inner chunks.
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

    /// The selected part of the next chunk.
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

    /// Both halves of a part, cut between inner chunks; `None` if it meets one alone.
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

    /// The selected part of a chunk, in the axes of the array.
    fn region(&self, overlap: &ChunkOverlap) -> Region {
        let chunk = self.grid.chunk_region(&overlap.index);
        let axes = chunk.axes().iter().zip(overlap.region.axes());
        let moved = axes.map(|(chunk, range)| AxisRange { start: chunk.start + range.start, ..*range });
        // It lies in a region that was checked.
        Region::new(moved).unwrap_or_default()
    }
}

/// The shape of the parts that are decoded on their own.
fn part_shape(array: &Array, source: &Source<'_>, item: u64, memory: u64) -> Result<Vec<u64>> {
    let part = source.part_shape();
    let bytes = total_size(&part, item);
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
    Err(error.with_hint(format!("give it at least {needed} MiB")).at(|location| {
        location.store = Some(array.store().to_string());
        location.path = Some(array.path().to_string());
    }))
}
