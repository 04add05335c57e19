//! The differences of elements, found slab by slab. Each chunk of both arrays is decoded once if memory suffices.

use super::CompareOptions;
use super::elements::Elements;
use crate::Progress;
use crate::block::{Buffers, Stored, lock};
use crate::memory::{Share, is_once, too_large};
use crate::progress::Reporter;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Mutex;
use zarr_array::{Array, View};
use zarr_convert::slabs::{Slabs, in_parallel, usual_item_size};
use zarr_dtype::Heap;
use zarr_grid::{ChunkGrid, Region};
use zarr_hierarchy::{Error, Result};
use zarr_json::Value;

/// As many elements are compared at once, and one by one only if some of them differ.
const RUN: usize = 1024;

/// The elements of two nodes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Values {
    /// They were not compared.
    NotCompared(NotCompared),
    /// They were compared.
    Compared(ValueDifferences),
}

/// Why elements were not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotCompared {
    /// It was not asked for.
    NotAsked,
    /// One of the nodes at least is a group.
    NoArrays,
    /// Shapes differ.
    Shapes,
    /// Data types differ, and one of them at least is none of real numbers.
    DataTypes,
}

/// How the elements of two arrays of one shape differ.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ValueDifferences {
    /// How many elements were compared.
    pub compared: u128,
    /// How many of them differ.
    pub different: u128,
    /// The largest difference of two numbers, as float64 (of complex ones: its magnitude); `None` if no numbers differ, or by no finite
    /// number.
    pub max_abs: Option<f64>,
    /// The smallest box that has all elements that differ, as a range along each axis; `None` if none differ.
    pub bounds: Option<Vec<Range<u64>>>,
    /// The first elements that differ, in C order.
    pub first: Vec<DifferentElement>,
}

/// An element that differs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DifferentElement {
    /// Its index along each axis.
    pub index: Vec<u64>,
    /// The element of the first array, in the notation of fill values.
    pub first: Value,
    /// The element of the second array.
    pub second: Value,
}

impl Values {
    /// Whether no element is known to differ.
    pub fn are_equal(&self) -> bool {
        match self {
            Self::Compared(values) => values.different == 0,
            Self::NotCompared(_) => true,
        }
    }
}

/// Whether the elements of two arrays can be compared: if so, as compared with none compared yet.
pub(super) fn comparable(a: &Array, b: &Array) -> Values {
    if a.shape() != b.shape() {
        return Values::NotCompared(NotCompared::Shapes);
    }
    match Elements::are_comparable(a.data_type(), b.data_type()) {
        true => Values::Compared(ValueDifferences::default()),
        false => Values::NotCompared(NotCompared::DataTypes),
    }
}

/// Compares the elements of two arrays of one shape.
pub(super) fn compare(
    a: &Array,
    b: &Array,
    options: &CompareOptions,
    reporter: &Reporter<'_>,
) -> Result<ValueDifferences> {
    let (a_item, b_item) = (usual_item_size(a)?, usual_item_size(b)?);
    let share = Share::new(&[(a, a_item), (b, b_item)], &options.options, options.memory);
    let (a, b) = (a.with(share.options(a.options()))?, b.with(share.options(b.options()))?);
    let grid = ChunkGrid::regular(a.shape(), &a.part_shape().iter().map(|&len| len.max(1)).collect::<Vec<_>>())?;
    let (parts, item) = (b.part_shape(), a_item.saturating_add(b_item));
    let small = share.for_each_thread(&grid, &parts, item);
    let (slabs, workers) = match small {
        Some(slabs) if is_once(&slabs, &parts) => (slabs, share.threads),
        small => match (small, share.for_all_threads(&grid, &parts, item)) {
            (Some(small), Some(large)) if small.decoding(&parts) <= large.decoding(&parts) => (small, share.threads),
            (_, Some(large)) => (large, 1),
            (Some(small), None) => (small, share.threads),
            (None, None) => return Err(too_large(&a, options.memory)),
        },
    };
    let compared = zarr_grid::total_size(a.shape(), 1);
    let (a_stored, b_stored) = (Stored::of(&a)?, Stored::of(&b)?);
    let comparing = Comparing {
        elements: Elements::new(&a, &b, options),
        met: met((&a, &a_stored), (&b, &b_stored), &slabs),
        stored: [a_stored, b_stored],
        found: Mutex::new(ValueDifferences { compared, ..ValueDifferences::default() }),
        buffers: Buffers::default(),
        first: options.first,
        a: &a,
        b: &b,
    };
    in_parallel(workers, slabs.all(), &|slab| {
        let region = slabs.region(&slab);
        if comparing.met.as_ref().is_none_or(|met| met.contains(&slabs.number(&slab))) {
            comparing.slab(&region)?;
        }
        let size = |array: &Array| zarr_grid::total_size(&region.shape(), array.data_type().item_size() as u64);
        reporter.report(Progress::Done(size(&a).saturating_add(size(&b))))
    })?;
    Ok(comparing.found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// The numbers of the slabs with elements of stored chunks; `None`: all, or elements that are not stored differ.
fn met(first: (&Array, &Stored), second: (&Array, &Stored), slabs: &Slabs) -> Option<HashSet<u64>> {
    let (a, b) = (first.0, second.0);
    if a.data_type().storage() != b.data_type().storage() || a.fill_value().bytes() != b.fill_value().bytes() {
        return None;
    }
    let mut met = HashSet::new();
    for (array, stored) in [first, second] {
        for chunk in stored.chunks()? {
            let region = array.chunk_grid().chunk_region(chunk);
            met.extend(slabs.meeting(&region).map(|slab| slabs.number(&slab)));
        }
    }
    Some(met)
}

struct Comparing<'a> {
    a: &'a Array,
    b: &'a Array,
    elements: Elements,
    stored: [Stored; 2],
    met: Option<HashSet<u64>>,
    buffers: Buffers,
    first: usize,
    found: Mutex<ValueDifferences>,
}

impl Comparing<'_> {
    fn slab(&self, region: &Region) -> Result<()> {
        let [a_stored, b_stored] = &self.stored;
        let a = a_stored.read(self.a, region, &self.buffers)?;
        let b = b_stored.read(self.b, region, &self.buffers)?;
        let found = self.differences(region, &a.view()?, &b.view()?)?;
        if found.different > 0 {
            lock(&self.found).add(found, self.first);
        }
        Ok(())
    }

    fn differences(&self, region: &Region, a: &View<'_>, b: &View<'_>) -> Result<ValueDifferences> {
        let lost = || Error::internal("an element to be compared is not in its block");
        let (a_items, b_items) = (a.as_contiguous().ok_or_else(lost)?, b.as_contiguous().ok_or_else(lost)?);
        let heaps = a.heap().zip(b.heap());
        let mut found = ValueDifferences::default();
        let (a_size, b_size) = (a.item_size().max(1), b.item_size().max(1));
        let runs = a_items.chunks(a_size * RUN).zip(b_items.chunks(b_size * RUN));
        for (run, (a_run, b_run)) in runs.enumerate() {
            if self.elements.same_type && heaps.is_none() && a_run == b_run {
                continue;
            }
            let pairs = a_run.chunks_exact(a_size).zip(b_run.chunks_exact(b_size));
            for (at, (a, b)) in pairs.enumerate() {
                let difference = match heaps {
                    None => self.elements.difference(a, b),
                    Some((a_heap, b_heap)) => {
                        self.elements.variable_difference((a, &**a_heap), (b, &**b_heap)).map_err(|()| lost())?
                    }
                };
                if let Some(distance) = difference {
                    let index = index_in(region, run * RUN + at);
                    self.note(&mut found, index, distance, (a, b), heaps.map(|(a, b)| (&**a, &**b)));
                }
            }
        }
        Ok(found)
    }

    fn note(
        &self,
        found: &mut ValueDifferences,
        index: Vec<u64>,
        distance: Option<f64>,
        (a, b): (&[u8], &[u8]),
        heaps: Option<(&Heap, &Heap)>,
    ) {
        found.different += 1;
        found.max_abs = larger(found.max_abs, distance);
        match &mut found.bounds {
            Some(bounds) => {
                for (range, &at) in bounds.iter_mut().zip(&index) {
                    *range = range.start.min(at)..range.end.max(at + 1);
                }
            }
            bounds => *bounds = Some(index.iter().map(|&at| at..at + 1).collect()),
        }
        if found.first.len() < self.first {
            let (a_heap, b_heap) = heaps.unzip();
            let first = zarr_dtype::print::to_json(self.a.data_type(), a, a_heap);
            let second = zarr_dtype::print::to_json(self.b.data_type(), b, b_heap);
            found.first.push(DifferentElement { index, first, second });
        }
    }
}

/// The index in the array of an element of a region, which is counted in C order.
fn index_in(region: &Region, position: usize) -> Vec<u64> {
    let mut rest = position as u64;
    let mut index: Vec<u64> = Vec::with_capacity(region.rank());
    for axis in region.axes().iter().rev() {
        let len = axis.len.max(1);
        index.push(axis.start + rest % len);
        rest /= len;
    }
    index.reverse();
    index
}

fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

impl ValueDifferences {
    /// Adds the differences of another slab; of the first elements `most` are kept.
    fn add(&mut self, other: Self, most: usize) {
        self.different += other.different;
        self.max_abs = larger(self.max_abs, other.max_abs);
        self.bounds = match (self.bounds.take(), other.bounds) {
            (Some(a), Some(b)) => {
                Some(a.into_iter().zip(b).map(|(a, b)| a.start.min(b.start)..a.end.max(b.end)).collect())
            }
            (a, b) => a.or(b),
        };
        self.first.extend(other.first);
        self.first.sort_by(|a, b| a.index.cmp(&b.index));
        self.first.truncate(most);
    }
}
