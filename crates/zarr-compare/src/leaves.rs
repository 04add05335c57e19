//! Hashes of the boxes of an array. Each chunk is decoded once if memory suffices.
//!
//! If slabs of whole boxes and whole chunks are small, each thread reads one slab and hashes its boxes while they are in the cache.
//! Otherwise slabs cut boxes along one axis, the first axis along which boxes are longer than 1. The part of a box in a slab is then
//! a run of its elements in C order, and for an incomplete box only the state of its hash is stored.

use crate::Hash;
use crate::boxes::number;
use crate::element_hasher::ElementHasher;
use crate::fold::Fold;
use crate::hash::finished;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use zarr_array::{Array, View};
use zarr_dtype::Heap;
use zarr_grid::{AxisRange, ChunkGrid, Region, Shape};
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_scan::{Division, Scan, Selected, lock};

/// Returns the hashes of all boxes, in C order. Calls `advance` with the bytes of elements that are done.
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
    let count = usize::try_from(count).map_err(|_| Error::internal("more parts than memory has bytes"))?;
    let memory = memory - 32 * count as u64;
    let parts = selected.part_shape();
    // Slabs that cut boxes do so along one axis.
    let mut lengths = boxes.largest_chunk_shape();
    let axis = lengths.iter().position(|&len| len > 1).unwrap_or_default();
    if let (Some(len), Some(&part)) = (lengths.get_mut(axis), parts.get(axis)) {
        *len = part.max(1);
    }
    let cut = ChunkGrid::regular(boxes.shape(), &lengths)?;
    let scan = Scan::plan([selected.clone()], &Division { boxes, cut: &cut, parts: &parts }, memory)?;
    // With the threads for which memory suffices.
    let [selected] = scan.arrays();
    let array = selected.array();
    let hashing = Hashing {
        array,
        boxes,
        met: Met::new(&scan, boxes, &counts),
        counts,
        elements: ElementHasher::new(array.data_type(), fold),
        fills: Mutex::default(),
        scratches: Mutex::default(),
        leaves: Mutex::new(vec![Hash::new([0; 32]); count]),
        scan: &scan,
    };
    match scan.is_cut() {
        false => scan.each(scan.slabs().all(), advance, &|region| hashing.whole(region))?,
        true => {
            // The first slab of each row of slabs along the axis.
            let mut columns = scan.slabs().all().filter(|slab| slab.get(axis).is_none_or(|&at| at == 0));
            columns.try_for_each(|column| hashing.column(&column, axis, advance))?;
        }
    }
    Ok(hashing.leaves.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Positions of the boxes with elements of stored chunks; `None` if all boxes may have some.
struct Met(Option<HashSet<u64>>);

impl Met {
    fn new(scan: &Scan<1>, boxes: &ChunkGrid, counts: &[u64]) -> Self {
        let of_chunk = |part: Region| {
            let met = boxes.intersect(&part);
            met.iter().map(|overlap| number(counts, &overlap.index)).collect::<Vec<_>>()
        };
        Self(scan.stored().map(|parts| parts.flat_map(of_chunk).collect()))
    }

    fn has(&self, number: u64) -> bool {
        self.0.as_ref().is_none_or(|met| met.contains(&number))
    }
}

/// Part of a box that lies in a slab.
struct Piece {
    number: u64,
    /// Region of the part, relative to the slab.
    within: Region,
    /// Number of elements of the whole box.
    len: u64,
    /// Whether the part contains the last elements of the box.
    is_last: bool,
}

struct Hashing<'a> {
    array: &'a Array,
    boxes: &'a ChunkGrid,
    /// Number of boxes along each axis.
    counts: Shape,
    met: Met,
    elements: ElementHasher,
    /// Hashes of boxes that only contain the fill value, by the number of elements.
    fills: Mutex<HashMap<u64, Hash>>,
    scratches: Mutex<Vec<Vec<u8>>>,
    leaves: Mutex<Vec<Hash>>,
    scan: &'a Scan<1>,
}

impl Hashing<'_> {
    /// Hashes the boxes of a slab that cuts no box.
    fn whole(&self, region: &Region) -> Result<()> {
        let (read, fill) = self.pieces(region)?;
        self.set_fills(&fill)?;
        if !read.is_empty() {
            let [block] = self.scan.read(region)?;
            let view = block.view()?;
            let leaf = |piece: &Piece| {
                let mut hasher = blake3::Hasher::new();
                self.update(&view.window(&piece.within), &mut hasher)?;
                Ok((piece.number, finished(&hasher)))
            };
            let done: Vec<(u64, Hash)> = read.iter().map(leaf).collect::<Result<_>>()?;
            self.set(&done)?;
        }
        Ok(())
    }

    /// Hashes the boxes of a row of slabs, which may cut boxes along `axis`.
    fn column(&self, first: &[u64], axis: usize, advance: &(dyn Fn(u128) -> Result<()> + Sync)) -> Result<()> {
        let slabs = self.scan.slabs();
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
                let [block] = self.scan.read(&region)?;
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
            advance(self.scan.size(zarr_grid::total_size(&region.shape(), 1)))?;
        }
        Ok(())
    }

    /// Returns the parts of boxes in a region: parts of boxes with elements of stored chunks, and parts of other boxes.
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

    /// Sets the hashes of boxes that only contain the fill value.
    fn set_fills(&self, pieces: &[Piece]) -> Result<()> {
        let last = pieces.iter().filter(|piece| piece.is_last);
        let hashes = last.map(|piece| Ok((piece.number, self.fill(piece.len)?))).collect::<Result<Vec<_>>>()?;
        self.set(&hashes)
    }

    /// Returns the hash of `len` fill values.
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
}

fn too_large_plan(boxes: &ChunkGrid) -> Error {
    Error::internal(format!("no plan for boxes {:?}", boxes.largest_chunk_shape().as_slice()))
}
