//! The hashes of the boxes of an array. Each of its chunks is decoded once if memory suffices.
//!
//! Where slabs of whole boxes and whole chunks are small, each thread reads one and hashes its boxes while they are in the cache. Else
//! slabs cut boxes along one axis, the first along which boxes are longer than 1: what a slab has of a box is then a run of its elements in C
//! order, and a box whose end has not come yet keeps no elements, only the state of its hash.

use crate::Hash;
use crate::block::{Buffers, Stored, lock};
use crate::boxes::number;
use crate::element_hasher::ElementHasher;
use crate::fold::Fold;
use crate::hash::finished;
use crate::memory::{self, Share, is_once, too_large};
use crate::selected::Selected;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use zarr_array::{Array, View};
use zarr_convert::slabs::{Slabs, in_parallel, usual_item_size};
use zarr_dtype::Heap;
use zarr_grid::{AxisRange, ChunkGrid, ChunkIndex, Region, Shape};
use zarr_hierarchy::{Error, ErrorKind, Result};

/// The hashes of all boxes, in C order. Tells of bytes of elements that are done.
pub(crate) fn leaves(
    selected: &Selected,
    boxes: &ChunkGrid,
    fold: Fold,
    memory: u64,
    advance: &(dyn Fn(u128) -> Result<()> + Sync),
) -> Result<Vec<Hash>> {
    let counts = boxes.grid_shape();
    let count = zarr_grid::total_size(&counts, 1);
    if count.saturating_mul(32) > u128::from(memory / 2) {
        let message = format!("{count} boxes have hashes of more than half of the {memory} bytes of memory allowed");
        return Err(Error::new(ErrorKind::Limit, message).with_hint("allow more memory"));
    }
    let count = memory::count(count)?;
    let memory = memory - 32 * count as u64;
    let (selected, plan) = HashPlan::new(selected, boxes, memory)?;
    let stored = Stored::of(selected.array())?;
    let met = Met::new(&selected, &stored, boxes, &counts);
    let array = selected.array();
    let hashing = Hashing {
        array,
        selected: &selected,
        boxes,
        counts,
        stored,
        met,
        elements: ElementHasher::new(array.data_type(), fold),
        fills: Mutex::default(),
        buffers: Buffers::default(),
        scratches: Mutex::default(),
        leaves: Mutex::new(vec![Hash::new([0; 32]); count]),
        advance,
    };
    match plan.cut {
        None => in_parallel(plan.workers, plan.slabs.all(), &|slab| hashing.whole(&plan.slabs.region(&slab)))?,
        Some(axis) => columns(&plan.slabs, axis).try_for_each(|column| hashing.column(&plan.slabs, &column, axis))?,
    }
    Ok(hashing.leaves.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// In which slabs an array is read.
struct HashPlan {
    slabs: Slabs,
    /// The axis along which slabs cut boxes. They are then read one after another along it.
    cut: Option<usize>,
    /// So many slabs are read at the same time.
    workers: usize,
}

impl HashPlan {
    /// The plan, and the array with the threads for which memory suffices.
    fn new(selected: &Selected, boxes: &ChunkGrid, memory: u64) -> Result<(Selected, Self)> {
        let array = selected.array();
        let item = usual_item_size(array)?;
        let share = Share::new(&[(array, item)], array.options(), memory);
        let selected = selected.with(share.options(array.options()))?;
        let parts = selected.part_shape();
        let whole = match share.for_each_thread(boxes, &parts, item) {
            Some(slabs) if is_once(&slabs, &parts) => {
                let workers = share.threads.min(memory::count(zarr_grid::total_size(slabs.counts(), 1))?).max(1);
                return Ok((selected, Self { slabs, cut: None, workers }));
            }
            others => others,
        };
        let axis = boxes.largest_chunk_shape().iter().position(|&len| len > 1).unwrap_or_default();
        let mut lengths = boxes.largest_chunk_shape();
        if let (Some(len), Some(&part)) = (lengths.get_mut(axis), parts.get(axis)) {
            *len = part.max(1);
        }
        let grid = ChunkGrid::regular(boxes.shape(), &lengths)?;
        let cut = share.for_all_threads(&grid, &parts, item);
        let plan = match (whole, cut) {
            (Some(whole), Some(cut)) if whole.decoding(&parts) <= cut.decoding(&parts) => {
                Self { slabs: whole, cut: None, workers: share.threads }
            }
            (_, Some(cut)) => Self { slabs: cut, cut: Some(axis), workers: 1 },
            (Some(whole), None) => Self { slabs: whole, cut: None, workers: share.threads },
            (None, None) => return Err(too_large(array, memory)),
        };
        Ok((selected, plan))
    }
}

/// The first slab of each row of slabs along `axis`.
fn columns(slabs: &Slabs, axis: usize) -> impl Iterator<Item = ChunkIndex> {
    let all = slabs.all();
    all.filter(move |slab| slab.get(axis).is_none_or(|&at| at == 0))
}

/// The boxes that have elements of stored chunks; `None`: all, as far as is known.
struct Met(Option<HashSet<u64>>);

impl Met {
    fn new(selected: &Selected, stored: &Stored, boxes: &ChunkGrid, counts: &[u64]) -> Self {
        let of_chunk = |chunk: &ChunkIndex| {
            let met = selected.of_chunk(chunk).map(|part| boxes.intersect(&part));
            met.iter().flat_map(|met| met.iter()).map(|overlap| number(counts, &overlap.index)).collect::<Vec<_>>()
        };
        Self(stored.chunks().map(|chunks| chunks.iter().flat_map(of_chunk).collect()))
    }

    fn has(&self, number: u64) -> bool {
        self.0.as_ref().is_none_or(|met| met.contains(&number))
    }
}

/// What a slab has of a box.
struct Piece {
    number: u64,
    /// Where it is in the slab.
    within: Region,
    /// Elements of the whole box.
    len: u64,
    /// Whether it has the last elements of the box.
    is_last: bool,
}

struct Hashing<'a> {
    array: &'a Array,
    selected: &'a Selected,
    boxes: &'a ChunkGrid,
    /// Boxes along each axis.
    counts: Shape,
    stored: Stored,
    met: Met,
    elements: ElementHasher,
    /// The hashes of so many elements that are all the fill value.
    fills: Mutex<HashMap<u64, Hash>>,
    buffers: Buffers,
    scratches: Mutex<Vec<Vec<u8>>>,
    leaves: Mutex<Vec<Hash>>,
    advance: &'a (dyn Fn(u128) -> Result<()> + Sync),
}

impl Hashing<'_> {
    /// Hashes the boxes of a slab that cuts none.
    fn whole(&self, region: &Region) -> Result<()> {
        let (read, fill) = self.pieces(region)?;
        self.set_fills(&fill)?;
        if !read.is_empty() {
            let block = self.stored.read(self.selected, region, &self.buffers)?;
            let view = block.view()?;
            let leaf = |piece: &Piece| {
                let mut hasher = blake3::Hasher::new();
                self.update(&view.window(&piece.within), &mut hasher)?;
                Ok((piece.number, finished(&hasher)))
            };
            let done: Vec<(u64, Hash)> = read.iter().map(leaf).collect::<Result<_>>()?;
            self.set(&done)?;
        }
        self.advance(region)
    }

    /// Hashes the boxes of a row of slabs, which may cut boxes along `axis`.
    fn column(&self, slabs: &Slabs, first: &[u64], axis: usize) -> Result<()> {
        let mut states: HashMap<u64, blake3::Hasher> = HashMap::new();
        let steps = slabs.counts().get(axis).copied().unwrap_or(1);
        for step in 0..steps {
            let mut slab = first.to_vec();
            if let Some(at) = slab.get_mut(axis) {
                *at = step;
            }
            let region = slabs.region(&slab);
            let (read, fill) = self.pieces(&region)?;
            self.set_fills(&fill)?;
            if !read.is_empty() {
                let block = self.stored.read(self.selected, &region, &self.buffers)?;
                let view = block.view()?;
                let begun = read.into_iter().map(|piece| {
                    let hasher = states.remove(&piece.number).unwrap_or_default();
                    (piece, hasher)
                });
                let done = self.array.map_parallel(begun.collect(), |(piece, mut hasher)| {
                    self.update(&view.window(&piece.within), &mut hasher).map(|()| (piece, hasher))
                })?;
                let mut ended = Vec::new();
                for one in done {
                    let (piece, hasher) = one?;
                    if piece.is_last {
                        ended.push((piece.number, finished(&hasher)));
                    } else {
                        states.insert(piece.number, hasher);
                    }
                }
                self.set(&ended)?;
            }
            self.advance(&region)?;
        }
        Ok(())
    }

    /// What a region has of boxes: those with elements of stored chunks, and the others.
    fn pieces(&self, region: &Region) -> Result<(Vec<Piece>, Vec<Piece>)> {
        let (mut read, mut fill) = (Vec::new(), Vec::new());
        for overlap in self.boxes.intersect(region).iter() {
            let number = number(&self.counts, &overlap.index);
            let whole = self.boxes.chunk_region(&overlap.index);
            let len = whole.len_checked().ok_or_else(|| too_large_plan(self.boxes))?;
            let ends = |(part, whole): (&AxisRange, &AxisRange)| part.start + part.len >= whole.start + whole.len;
            let is_last = region.axes().iter().zip(whole.axes()).all(ends);
            let piece = Piece { number, within: overlap.output().clone(), len, is_last };
            if self.met.has(number) { read.push(piece) } else { fill.push(piece) }
        }
        Ok((read, fill))
    }

    fn update(&self, view: &View<'_>, hasher: &mut blake3::Hasher) -> Result<()> {
        let mut scratch = lock(&self.scratches).pop().unwrap_or_default();
        let done = self.elements.update(view, &mut scratch, hasher);
        lock(&self.scratches).push(scratch);
        done
    }

    /// Notes the hashes of boxes that are all fill value.
    fn set_fills(&self, pieces: &[Piece]) -> Result<()> {
        let last = pieces.iter().filter(|piece| piece.is_last);
        let hashes = last.map(|piece| Ok((piece.number, self.fill(piece.len)?))).collect::<Result<Vec<_>>>()?;
        self.set(&hashes)
    }

    /// The hash of so many elements that are all the fill value.
    fn fill(&self, len: u64) -> Result<Hash> {
        if let Some(hash) = lock(&self.fills).get(&len) {
            return Ok(*hash);
        }
        let heap = std::sync::Arc::new(Heap::new());
        let item = self.array.fill_value().item_in(&heap).into_owned();
        let dims = [usize::try_from(len).unwrap_or(usize::MAX)];
        let is_variable = self.array.data_type().is_variable();
        let view = View::from_strides(&item, item.len(), &dims, 0, &[0])?.with_heap(is_variable.then_some(heap));
        let mut hasher = blake3::Hasher::new();
        self.update(&view, &mut hasher)?;
        let hash = finished(&hasher);
        lock(&self.fills).insert(len, hash);
        Ok(hash)
    }

    fn set(&self, hashes: &[(u64, Hash)]) -> Result<()> {
        let mut leaves = lock(&self.leaves);
        for &(number, hash) in hashes {
            let leaf = usize::try_from(number).ok().and_then(|number| leaves.get_mut(number));
            *leaf.ok_or_else(|| Error::internal("a box beyond the array"))? = hash;
        }
        Ok(())
    }

    fn advance(&self, region: &Region) -> Result<()> {
        (self.advance)(zarr_grid::total_size(&region.shape(), self.array.data_type().item_size() as u64))
    }
}

fn too_large_plan(boxes: &ChunkGrid) -> Error {
    Error::internal(format!("no plan for boxes {:?}", boxes.largest_chunk_shape().as_slice()))
}
