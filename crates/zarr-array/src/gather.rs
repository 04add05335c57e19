//! Selections that are no region: lists of positions, points, masks, descending order along some axes.
//!
//! Each chunk that holds a selected element is one part. The box around what is selected in it is read into a staging
//! buffer, and single runs are moved from there to the output. Parts are taken in batches, so that staging stays small.
//! Written are parts one by one, each among what its chunk holds at that time, so that a write changes no other element.

use crate::Result;
use crate::buffer::Buffer;
use crate::core::ArrayCore;
use crate::read::{Attempts, ReadJob, Tried, splits};
use std::sync::Arc;
use zarr_codec::{ElementSpec, View, ViewMut};
use zarr_dtype::Heap;
use zarr_grid::{AxisRange, Cell, ChunkGrid, ChunkIndex, Part, Parts, Region, Resolved};

/// Bytes staged at a time, but for single boxes that are larger.
const BATCH: u64 = 64 << 20;
/// Parts of a batch at most: each is a job, however few bytes it has.
const MAX_PARTS: usize = 1 << 14;

/// The parts of a selection.
#[derive(Debug)]
pub(crate) struct Gather {
    /// The grid that parts belong to: of inner chunks, where chunks are shards.
    grid: ChunkGrid,
    parts: Parts,
}

/// The same, batch by batch.
#[derive(Debug)]
pub(crate) struct Batches<'p> {
    gather: &'p Gather,
    heap: Option<Arc<Heap>>,
    next: u64,
}

/// Some parts of a selection, and memory for their boxes.
#[derive(Debug)]
pub(crate) struct Batch<'p> {
    grid: &'p ChunkGrid,
    parts: Vec<Part<'p>>,
    staged: Buffer,
    heap: Option<Arc<Heap>>,
    item: usize,
    tried: Tried,
}

impl Gather {
    pub(crate) fn new(core: &ArrayCore, resolved: &Resolved) -> Result<Self> {
        let grid = finest(core)?;
        Ok(Self { parts: resolved.parts(&grid)?, grid })
    }

    /// The parts, whose elements of `item` bytes are written from `data`, the C-order bytes of all. What is in those of variable
    /// length is in `heap`.
    pub(crate) fn picked<'a>(
        &'a self,
        item: usize,
        data: &'a [u8],
        heap: Option<&'a Arc<Heap>>,
    ) -> impl Iterator<Item = Picked<'a>> {
        self.parts.iter().map(move |part| Picked { grid: &self.grid, part, data, heap: heap.cloned(), item })
    }

    /// The parts from the first on. Elements of variable length go into `heap`.
    pub(crate) fn batches(&self, heap: Option<Arc<Heap>>) -> Batches<'_> {
        Batches { gather: self, heap, next: 0 }
    }
}

impl<'p> Batches<'p> {
    /// The next parts; `None` at the end.
    pub(crate) fn next_batch(&mut self, element: &ElementSpec) -> Result<Option<Batch<'p>>> {
        let item = element.item_size();
        let mut size = 0u64;
        let mut parts = Vec::new();
        while let Some(part) = self.gather.parts.get(self.next) {
            let part_size = box_size(&part.cell, item);
            if parts.len() >= MAX_PARTS || (!parts.is_empty() && size.saturating_add(part_size) > BATCH) {
                break;
            }
            size = size.saturating_add(part_size);
            parts.push(part);
            self.next += 1;
        }
        if parts.is_empty() {
            return Ok(None);
        }
        let staged = Buffer::zeroed(usize::try_from(size).unwrap_or(usize::MAX))?;
        Ok(Some(Batch { grid: &self.gather.grid, parts, staged, heap: self.heap.clone(), item, tried: Tried::Not }))
    }
}

fn box_size(cell: &Cell, item: usize) -> u64 {
    cell.out_shape.iter().fold(item as u64, |size, &len| size.saturating_mul(len))
}

/// The finest grid whose cells can be read on their own: a box around picks in a whole shard might span most of it.
fn finest(core: &ArrayCore) -> Result<ChunkGrid> {
    let Some(chunk) = core.grid.regular_chunk_shape() else { return Ok(core.grid.clone()) };
    match core.codecs.part_shape(chunk).filter(|_| splits(&core.codecs, chunk)) {
        Some(part) => Ok(ChunkGrid::regular(core.grid.shape(), &part)?),
        None => Ok(core.grid.clone()),
    }
}

/// The box of a part as a region of the array.
fn region(grid: &ChunkGrid, cell: &Cell) -> Result<Region> {
    let chunk = grid.chunk_region(&cell.index);
    let shifted = chunk.axes().iter().zip(cell.region.axes()).map(|(chunk, inner)| AxisRange {
        start: chunk.start + inner.start,
        len: inner.len,
        step: inner.step,
    });
    Ok(Region::new(shifted)?)
}

impl Batch<'_> {
    /// Reads all boxes; `None` if they are read.
    pub(crate) fn read_job<'a>(&'a mut self, attempts: &'a Attempts<'a>) -> Result<Option<ReadJob<'a>>> {
        let Some(context) = self.tried.next(attempts) else { return Ok(None) };
        let mut picks = Vec::new();
        let item = self.item;
        let mut rest = self.staged.as_bytes_mut();
        for part in &self.parts {
            let (bytes, others) = rest.split_at_mut(box_size(&part.cell, item) as usize);
            rest = others;
            let region = region(self.grid, &part.cell)?;
            // A part lies in one chunk.
            let lies_in = |chunks: &[ChunkIndex]| chunks.contains(&context.core.grid.meet(&region).cell(0).index);
            if self.tried.only().is_none_or(lies_in) {
                picks.push((region, view(bytes, item, &part.cell, self.heap.clone())?));
            }
        }
        ReadJob::picks(context, picks).map(Some)
    }

    /// Takes what came of the last job: whether all boxes are read.
    ///
    /// # Errors
    /// The job's, unless it is to be done again.
    pub(crate) fn ended(&mut self, attempts: &Attempts<'_>, done: Result<()>) -> Result<bool> {
        self.tried.ended(attempts, done)?;
        Ok(self.tried == Tried::Done)
    }

    /// Moves what was read to `out`, the C-order bytes of the output.
    pub(crate) fn scatter(&self, out: &mut [u8]) {
        let item = self.item as u64;
        let mut start = 0;
        for part in &self.parts {
            let size = box_size(&part.cell, self.item) as usize;
            let bytes = self.staged.as_bytes().get(start..start + size).unwrap_or_default();
            start += size;
            part.moves(|run| {
                let (from, to, len) = ((run.from * item) as usize, (run.to * item) as usize, (run.len * item) as usize);
                if let (Some(to), Some(from)) = (out.get_mut(to..to + len), bytes.get(from..from + len)) {
                    to.copy_from_slice(from);
                }
            });
        }
    }
}

/// The elements of a part that are to be written.
#[derive(Clone, Debug)]
pub(crate) struct Picked<'a> {
    grid: &'a ChunkGrid,
    pub(crate) part: Part<'a>,
    /// The C-order bytes of all that is to be written.
    data: &'a [u8],
    heap: Option<Arc<Heap>>,
    item: usize,
}

impl Picked<'_> {
    /// The box of the part as a region of the array.
    pub(crate) fn region(&self) -> Result<Region> {
        region(self.grid, &self.part.cell)
    }

    /// Memory for the box.
    pub(crate) fn room(&self) -> Result<Buffer> {
        Buffer::zeroed(usize::try_from(box_size(&self.part.cell, self.item)).unwrap_or(usize::MAX))
    }

    /// The box in that memory.
    pub(crate) fn view_mut<'b>(&self, room: &'b mut Buffer) -> Result<ViewMut<'b>> {
        view(room.as_bytes_mut(), self.item, &self.part.cell, self.heap.clone())
    }

    /// The same, to be read.
    pub(crate) fn view<'b>(&self, room: &'b Buffer) -> Result<View<'b>> {
        Ok(View::new(room.as_bytes(), self.item, &dims(&self.part.cell))?.with_heap(self.heap.clone()))
    }

    /// Moves what is to be written into the box.
    pub(crate) fn collect(&self, room: &mut Buffer) {
        let (item, bytes) = (self.item as u64, room.as_bytes_mut());
        self.part.moves(|run| {
            let (to, from, len) = ((run.from * item) as usize, (run.to * item) as usize, (run.len * item) as usize);
            if let (Some(to), Some(from)) = (bytes.get_mut(to..to + len), self.data.get(from..from + len)) {
                to.copy_from_slice(from);
            }
        });
    }
}

fn view<'b>(bytes: &'b mut [u8], item: usize, cell: &Cell, heap: Option<Arc<Heap>>) -> Result<ViewMut<'b>> {
    Ok(ViewMut::new(bytes, item, &dims(cell))?.with_heap(heap))
}

fn dims(cell: &Cell) -> Vec<usize> {
    cell.out_shape.iter().map(|&len| len as usize).collect()
}
