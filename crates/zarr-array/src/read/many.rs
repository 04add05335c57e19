//! Read of several regions at once. Each chunk (inner chunk, if the array is sharded) that the regions meet is read once, and copied to
//! every output that needs a part of it; to the output itself if it has nothing else, and nothing else needs the chunk.

use super::span::ReadContext;
use super::staged_boxes::{StagedBoxes, lies_in};
use super::{ArrayRead, ReadJob, ReadPart};
use crate::Result;
use crate::advanced_selection::finest_grid;
use crate::buffer::Buffer;
use crate::core::ArrayCore;
use crate::drive::Drive;
use std::collections::BTreeMap;
use std::ops::Range;
use zarr_codec::{View, ViewMut};
use zarr_grid::{AxisRange, ChunkIndex, Region};

/// Size of a batch in bytes: from the start of the range the batch ends at the next chunk of the array, and from its end anywhere.
const BATCH_SIZE: Range<u128> = 64 << 20..256 << 20;
/// Size of a batch for each thread if requests are fast. Batches of this size are in memory that was touched before.
const BATCH_OF_THREAD: u128 = 4 << 20;

/// Regions of one read, as boxes of chunks, sorted by chunk of the array, and the copies from each box to the outputs.
#[derive(Debug)]
pub(crate) struct ManyRegions {
    boxes: Vec<ChunkBox>,
    item: usize,
}

/// Box of a chunk that contains all parts of the chunk that regions meet.
#[derive(Debug)]
struct ChunkBox {
    /// Index of the chunk of the array (the shard, if it is sharded).
    chunk: ChunkIndex,
    /// Box as a region of the array: the smallest region that has all parts.
    region: Region,
    copies: Vec<BoxCopy>,
    /// Output whose elements are those of the box, all of them and in the same order. It is the only one, so that the box is read there.
    direct: Option<usize>,
}

/// Copy of a part of a box to an output.
#[derive(Debug)]
struct BoxCopy {
    output: usize,
    /// Part, as a region of the box.
    from: Region,
    to: Region,
}

impl ManyRegions {
    pub(crate) fn new<'r>(core: &ArrayCore, regions: impl IntoIterator<Item = &'r Region>) -> Result<Self> {
        let grid = finest_grid(core)?;
        let mut met: BTreeMap<ChunkIndex, Vec<(usize, Region, Region)>> = BTreeMap::new();
        for (output, region) in regions.into_iter().enumerate() {
            for overlap in &grid.intersect(region) {
                let to = overlap.output();
                met.entry(overlap.index).or_default().push((output, overlap.region, to));
            }
        }
        let mut boxes = Vec::with_capacity(met.len());
        for (index, parts) in met {
            let bounds = bounds(parts.iter().map(|(_, region, _)| region))?;
            let inside = |region: &Region| {
                let axes = region.axes().iter().zip(bounds.axes());
                Region::new(axes.map(|(axis, bound)| AxisRange {
                    start: (axis.start - bound.start) / bound.step,
                    len: axis.len,
                    step: axis.step.div_ceil(bound.step),
                }))
            };
            let copies = parts
                .iter()
                .map(|(output, region, to)| Ok(BoxCopy { output: *output, from: inside(region)?, to: to.clone() }));
            let copies = copies.collect::<Result<Vec<_>>>()?;
            let start = grid.chunk_region(&index);
            let axes = start.axes().iter().zip(bounds.axes());
            let region =
                Region::new(axes.map(|(chunk, bound)| AxisRange { start: chunk.start + bound.start, ..*bound }))?;
            let chunk = core.grid.intersect(&region).get(0).index;
            boxes.push(ChunkBox { chunk, region, copies, direct: None });
        }
        // Elements of variable length of all boxes go into one heap.
        if !core.data_type().is_variable() {
            find_direct(&mut boxes);
        }
        // Inner chunks of one shard come together, so that its index is asked for once.
        boxes.sort_by(|a, b| a.chunk.cmp(&b.chunk));
        Ok(Self { boxes, item: core.element().item_size() })
    }

    /// Size of a batch of a read with `threads` threads, in a store whose requests take long or not.
    fn batch_size(threads: usize, is_remote: bool) -> Range<u128> {
        let least = if is_remote { u128::MAX } else { BATCH_OF_THREAD.saturating_mul(threads as u128) };
        least.clamp(2 * BATCH_OF_THREAD, BATCH_SIZE.start)..BATCH_SIZE.end
    }

    /// Whether all boxes are read together, in any store, into a staging buffer.
    pub(crate) fn is_staged_at_once(&self) -> bool {
        self.batch(0, &Self::batch_size(1, false)).len() == self.boxes.len()
            && self.boxes.iter().all(|one| one.direct.is_none())
    }

    /// Range of the boxes, beginning with `start`, that are read together, of `due` bytes; empty at the end.
    fn batch(&self, start: usize, due: &Range<u128>) -> Range<usize> {
        let mut size = 0_u128;
        let mut end = start;
        while let Some(next) = self.boxes.get(end) {
            let is_other =
                end.checked_sub(1).and_then(|last| self.boxes.get(last)).is_none_or(|last| last.chunk != next.chunk);
            if end > start && ((is_other && size >= due.start) || size >= due.end) {
                break;
            }
            size += zarr_grid::total_size(&next.region.shape(), self.item as u64);
            end += 1;
        }
        start..end
    }
}

/// Finds the outputs that have one box, which no other output needs.
fn find_direct(boxes: &mut [ChunkBox]) {
    let outputs = boxes.iter().flat_map(|one| &one.copies).map(|copy| copy.output + 1).max().unwrap_or(0);
    let mut counts = vec![0_usize; outputs];
    for copy in boxes.iter().flat_map(|one| &one.copies) {
        counts[copy.output] += 1;
    }
    for one in boxes {
        if let [copy] = &one.copies[..]
            && counts[copy.output] == 1
        {
            one.direct = Some(copy.output);
        }
    }
}

/// Boxes that are read together: those that have an output of their own, and the others.
#[derive(Debug)]
struct Batch<'o> {
    staged: StagedBoxes,
    direct: Vec<(Region, ViewMut<'o>)>,
    /// Whether each box is one of `direct`, in the order of the boxes.
    are_direct: Vec<bool>,
}

impl ReadPart for Batch<'_> {
    fn job<'a>(&'a mut self, context: &'a ReadContext<'a>, chunks: Option<&[ChunkIndex]>) -> Result<ReadJob<'a>> {
        let mut staged = self.staged.views()?.into_iter();
        let mut direct = self.direct.iter_mut().map(|(region, out)| (region.clone(), out.reborrow()));
        // In their order, since neighbours may lie side by side in the store.
        let boxes =
            self.are_direct.iter().filter_map(|is_direct| if *is_direct { direct.next() } else { staged.next() });
        ReadJob::regions(context, boxes.filter(|(region, _)| lies_in(context, region, chunks)).collect())
    }
}

/// Returns the smallest region that has all `regions`: the region itself if all are equal, else a box of step 1.
fn bounds<'r>(mut regions: impl Iterator<Item = &'r Region>) -> Result<Region> {
    let Some(first) = regions.next() else { return Ok(Region::default()) };
    let mut bounds = first.clone();
    for region in regions.filter(|region| *region != first) {
        let axes = bounds.axes().iter().zip(region.axes());
        bounds = Region::new(axes.map(|(a, b)| {
            let start = a.start.min(b.start);
            let last = a.last().max(b.last()).unwrap_or(start);
            AxisRange::new(start, last - start + 1)
        }))?;
    }
    Ok(bounds)
}

impl<D: Drive> ArrayRead<'_, D> {
    /// Reads several regions into outputs that have their shapes.
    pub(crate) async fn many(&self, regions: &ManyRegions, outputs: Vec<ViewMut<'_>>) -> Result<()> {
        // Elements of variable length of all outputs go into one heap.
        let heap = outputs.iter().find_map(|out| out.heap().cloned());
        let mut outputs: Vec<_> = outputs.into_iter().map(Some).collect();
        let size = ManyRegions::batch_size(crate::drive::threads(self.context.core), self.context.is_remote());
        let mut memory = Buffer::default();
        let mut range = 0..0;
        loop {
            range = regions.batch(range.end, &size);
            let boxes = regions.boxes.get(range.clone()).unwrap_or_default();
            if boxes.is_empty() {
                return Ok(());
            }
            let staged = || boxes.iter().filter(|one| one.direct.is_none());
            let own = |one: &ChunkBox| Some((one.region.clone(), outputs.get_mut(one.direct?)?.take()?));
            let direct = boxes.iter().filter_map(own).collect();
            let are_direct = boxes.iter().map(|one| one.direct.is_some()).collect();
            let staging = staged().map(|one| one.region.clone());
            let staging = StagedBoxes::within(memory, staging, regions.item, heap.clone())?;
            let mut batch = Batch { staged: staging, direct, are_direct };
            self.part(&mut batch, None).await?;
            for (one, bytes) in staged().zip(batch.staged.bytes()) {
                let shape = one.region.shape().iter().map(|&len| len as usize).collect::<Vec<_>>();
                let source = View::new(bytes, regions.item, &shape)?;
                for part in &one.copies {
                    if let Some(Some(out)) = outputs.get_mut(part.output) {
                        out.reborrow().window(&part.to).copy_from(&source.window(&part.from));
                    }
                }
            }
            memory = batch.staged.into_memory();
        }
    }
}

#[cfg(test)]
mod tests;
