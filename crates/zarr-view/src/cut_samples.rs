//! Choice of the elements of a cut that are read, within a budget.

use crate::cut::Cut;
use crate::located::in_array;
use crate::samples::Samples;
use crate::{Error, ErrorKind, Result};
use zarr_array::Array;
use zarr_grid::{AxisOverlaps, AxisRange, Region, total_size};
use zarr_meta::text::{grouped, size};

/// Limits for a read of a picture: number of parts (chunks, or inner chunks of shards) and size of the decoded parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Greatest number of parts that are read. One part is always read, unless the budget is strict.
    pub parts: u64,
    /// Greatest size of the decoded parts and of the indexes of their shards, in bytes; of a single part only if the budget is strict.
    pub bytes: u64,
    /// Whether a read that exceeds the budget even with the fewest samples is an error.
    pub is_strict: bool,
}

impl Default for Budget {
    /// Returns a budget of 4096 parts and 64 MiB in total.
    fn default() -> Self {
        Self { parts: 4096, bytes: 64 << 20, is_strict: false }
    }
}

impl Budget {
    /// Budget without limits.
    pub const UNLIMITED: Self = Self { parts: u64::MAX, bytes: u64::MAX, is_strict: false };

    /// Returns the samples of a cut of `array`, or the error that they exceed a strict budget.
    pub(crate) fn checked(&self, array: &Array, thinned: CutSamples) -> Result<CutSamples> {
        if thinned.fits || !self.is_strict {
            return Ok(thinned);
        }
        let part = total_size(&array.part_shape(), array.data_type().item_size() as u64);
        let part = size(u64::try_from(part).unwrap_or(u64::MAX));
        let (parts, most) = (grouped(thinned.parts), grouped(self.parts));
        let message = format!(
            "found a read of {parts} chunks of {part}, expected at most {most} chunks and {} in all",
            size(self.bytes)
        );
        Err(in_array(array, Error::new(ErrorKind::Limit, message)))
    }

    /// Returns an equal share of the budget for each of `count` reads: at least one part. A budget without limits has no shares.
    pub fn shared(&self, count: usize) -> Self {
        let share = |whole: u64| if whole == u64::MAX { whole } else { (whole / count.max(1) as u64).max(1) };
        Self { parts: share(self.parts), bytes: share(self.bytes), ..*self }
    }
}

/// Elements of a cut that are read: every k-th along each axis that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CutSamples {
    /// Elements along each axis that is shown.
    pub samples: Vec<Samples>,
    /// Greatest number of parts (chunks, or inner chunks of shards) that contain the elements.
    pub parts: u64,
    /// Whether fewer elements are read than requested, because of the budget.
    pub is_cut: bool,
    /// Whether the read keeps to the budget. False if a single part exceeds it.
    pub fits: bool,
}

/// Assumed size of an element of variable length, in bytes.
const VARIABLE: usize = 64;
/// Size of a shard index per inner chunk, in bytes.
const INDEX_ENTRY: u128 = 16;
/// Greatest number of chunks of different lengths that are counted with their own lengths; if there are more, each counts as the longest.
const MOST_LENGTHS: u64 = 1 << 16;

impl Cut {
    /// Chooses the elements of `array` that are read: at most `most` along each shown axis, see [`Samples::thinned`]. The cut must be made
    /// for the shape of `array`. If the elements lie in more parts than the budget allows, fewer are read, first along the axis with most
    /// parts.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, NewArray, Registry, Selection, Store};
    /// use zarr_view::{Budget, Cut};
    ///
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// # let new = NewArray::new(&[3, 400, 600], "float32").chunks(&[1, 100, 100]).codecs("bytes")?;
    /// # let array = Array::create(&store, "/a", new, &Arc::new(registry))?;
    /// // An array of 3 x 400 x 600, in chunks of 1 x 100 x 100: columns, then rows.
    /// let cut = Cut::new(array.shape(), &"1".parse::<Selection>()?, Some(&[2, 1]))?;
    /// let thinned = cut.thinned(&array, &[60, 40], &Budget::default())?;
    /// assert_eq!((thinned.parts, thinned.is_cut, thinned.fits), (24, false, true));
    /// let data = array.read_as::<f32>(cut.selection(&thinned.samples), zarr_array::Cast::Exact)?;
    /// assert_eq!(cut.transposed(data, &thinned.samples).len(), 60 * 40);
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if indices exceed 64 bits.
    pub fn thinned(&self, array: &Array, most: &[u64], budget: &Budget) -> Result<CutSamples> {
        let all = self.samples();
        let mut counts: Vec<u64> =
            all.iter().zip(most).map(|(samples, &most)| samples.count.min(most.max(1))).collect();
        // Frames get fewer only where nothing else can.
        let frames = self.shown().len().saturating_sub(2);
        let mut is_cut = false;
        loop {
            let samples: Vec<Samples> = all.iter().zip(&counts).map(|(all, &most)| all.thinned(most)).collect();
            let cost = Cost::new(array, &self.region(&samples)?);
            let fits = cost.is_within(budget) || (!is_cut && self.is_partial(array, &samples, cost.parts, budget));
            let met = |axis: &usize| cost.along.get(*axis).copied().unwrap_or(1);
            let mut longest = None;
            for range in [frames..counts.len(), 0..frames] {
                let axes = self.shown().iter().enumerate().filter(|(number, _)| range.contains(number));
                let axes = axes.map(|(number, axis)| (number, met(axis)));
                let reducible = axes.filter(|&(number, met)| met > 1 && counts.get(number).is_some_and(|&it| it > 1));
                longest = longest.or(reducible.max_by_key(|(_, met)| *met));
            }
            match longest.and_then(|(number, met)| Some((counts.get_mut(number)?, met))) {
                Some((count, met)) if !fits => {
                    // Parts get fewer only if samples are further apart than parts are long.
                    let fewer = (*count).min(met);
                    *count = (fewer - fewer.div_ceil(8)).max(1);
                    is_cut = true;
                }
                _ => {
                    let fits = fits || self.is_partial(array, &samples, cost.parts, budget);
                    return Ok(CutSamples { samples, parts: cost.parts, is_cut, fits });
                }
            }
        }
    }

    /// Returns whether a read decodes no more bytes than the budget allows, according to its plan: uncompressed parts may be read in part.
    /// Not checked for shards, whose plans would read their indexes.
    fn is_partial(&self, array: &Array, samples: &[Samples], parts: u64, budget: &Budget) -> bool {
        let plan = (parts <= budget.parts && !array.is_sharded()).then(|| array.plan(self.selection(samples)));
        plan.and_then(Result::ok).and_then(|plan| plan.decoded_bytes).is_some_and(|bytes| bytes <= budget.bytes)
    }
}

/// Cost of a read of a region.
struct Cost {
    /// Number of parts that the region meets along each axis of the array.
    along: Vec<u64>,
    parts: u64,
    bytes: u128,
}

impl Cost {
    fn new(array: &Array, region: &Region) -> Self {
        let data_type = array.data_type();
        let item = if data_type.is_variable() { VARIABLE } else { data_type.item_size() };
        let item = u128::try_from(item).unwrap_or(u128::MAX);
        let (chunk, part) = (array.chunk_grid().largest_chunk_shape(), array.part_shape());
        let is_regular = array.chunk_grid().regular_chunk_shape().is_some();
        let overlaps = array.chunk_grid().intersect(region);
        let (mut along, mut elements, mut inner_chunks) = (Vec::new(), 1_u128, 1_u128);
        for (axis, (overlaps, range)) in overlaps.axes().iter().zip(region.axes()).enumerate() {
            let len = |shape: &[u64]| shape.get(axis).copied().unwrap_or(1).max(1);
            let (chunk, part) = (len(&chunk), len(&part));
            let (parts, lengths) = match array.is_sharded() {
                true => {
                    let parts = inner(range, part).max(overlaps.len());
                    (parts, u128::from(parts) * u128::from(part))
                }
                false => (overlaps.len(), lengths(overlaps, chunk, is_regular)),
            };
            along.push(parts);
            elements = elements.saturating_mul(lengths);
            inner_chunks = inner_chunks.saturating_mul(u128::from(chunk.div_ceil(part)));
        }
        let indexes = match array.is_sharded() {
            true => u128::from(overlaps.len()).saturating_mul(inner_chunks).saturating_mul(INDEX_ENTRY),
            false => 0,
        };
        let parts = along.iter().fold(1_u64, |total, &met| total.saturating_mul(met));
        Self { along, parts, bytes: elements.saturating_mul(item).saturating_add(indexes) }
    }

    fn is_within(&self, budget: &Budget) -> bool {
        let has_bytes = budget.bytes == u64::MAX || self.bytes <= u128::from(budget.bytes);
        self.parts <= budget.parts && has_bytes
    }
}

/// Returns the number of inner chunks of length `part` that a range meets. Shards consist of whole inner chunks, so inner chunks are
/// adjacent from index 0.
fn inner(range: &AxisRange, part: u64) -> u64 {
    match range.last() {
        None => 0,
        Some(_) if range.step >= part => range.len,
        Some(last) => last / part - range.start / part + 1,
    }
}

/// Returns the total length of the chunks that a range meets.
fn lengths(overlaps: &AxisOverlaps, longest: u64, is_regular: bool) -> u128 {
    if is_regular || overlaps.len() > MOST_LENGTHS {
        return u128::from(overlaps.len()) * u128::from(longest);
    }
    overlaps.iter().map(|overlap| u128::from(overlap.chunk_len)).sum()
}

#[cfg(test)]
mod tests;
