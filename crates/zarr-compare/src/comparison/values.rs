//! Comparison of elements, slab by slab. Each chunk of both arrays is decoded once if memory suffices.
//!
//! Slabs consist of whole parts of one array; the parts of the other array are decoded as needed. Slabs in which neither array has a
//! stored chunk are not visited: their elements are counted, and the fill values are compared once.

use super::CompareOptions;
use super::elements::Elements;
use super::missing::Missing;
use crate::Progress;
use crate::progress::Reporter;
use std::ops::Range;
use std::sync::Mutex;
use zarr_array::{Array, View};
use zarr_dtype::Heap;
use zarr_grid::{ChunkGrid, Region};
use zarr_hierarchy::{Error, Result};
use zarr_json::Value;
use zarr_scan::{Division, Scan, Selected, lock};

/// Number of elements that are compared at once. They are compared one by one only if the run differs.
const RUN: usize = 1024;
/// Number of elements of a large slab that one thread compares at a time.
const PIECE: usize = RUN << 8;

/// Result of comparing the elements of two nodes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Values {
    /// Elements were not compared.
    NotCompared(NotCompared),
    /// Elements were compared.
    Compared(ValueDifferences),
}

/// Reason why elements were not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotCompared {
    /// The options exclude elements.
    NotAsked,
    /// Both nodes are groups.
    NoArrays,
    /// One node is a group, the other an array.
    Kinds,
    /// The shapes differ.
    Shapes,
    /// The data types differ, and at least one is not a type of real numbers.
    DataTypes,
    /// A data type, codec or other extension is unknown. Documents and stored bytes are equal, and therefore elements are equal.
    StoredAlike,
    /// A data type, codec or other extension is unknown, and documents or stored bytes differ.
    Unknown,
}

/// Differences between the elements of two arrays of the same shape.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ValueDifferences {
    /// Number of elements that were compared.
    pub compared: u128,
    /// Number of elements that differ.
    pub different: u128,
    /// Largest distance of two different numbers, as float64 (for complex numbers, the magnitude of the difference); `None` if no numbers
    /// differ, or none by a finite distance.
    pub max_abs: Option<f64>,
    /// Smallest box in the first array that contains all different elements, as an index range along each axis; `None` if no elements
    /// differ.
    pub bounds: Option<Vec<Range<u64>>>,
    /// First different elements, in C order.
    pub first: Vec<DifferentElement>,
}

/// Element that differs between two arrays.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DifferentElement {
    /// Index of the element in the first array, along each axis.
    pub index: Vec<u64>,
    /// Names of the dimensions with a coordinate, each with the label of the element, if the first array is a variable of a data set;
    /// otherwise empty. Times are in ISO 8601 notation.
    pub coordinates: Vec<(String, String)>,
    /// Element of the first array, in the JSON notation of fill values.
    pub first: Value,
    /// Element of the second array, in the JSON notation of fill values.
    pub second: Value,
}

impl Values {
    /// Returns whether no compared element differs. False if elements should have been compared and could not be.
    pub fn are_equal(&self) -> bool {
        match self {
            Self::Compared(values) => values.different == 0,
            Self::NotCompared(why) => !why.is_unknown(),
        }
    }
}

/// Returns the reason why the elements of two arrays cannot be compared, or [`Values::Compared`] without any counts if they can.
pub(super) fn comparable(a: &Selected, b: &Selected) -> Values {
    if a.shape() != b.shape() {
        return Values::NotCompared(NotCompared::Shapes);
    }
    match Elements::are_comparable(a.array().data_type(), b.array().data_type()) {
        true => Values::Compared(ValueDifferences::default()),
        false => Values::NotCompared(NotCompared::DataTypes),
    }
}

/// Compares the elements of two arrays or regions of the same shape.
pub(super) fn compare(
    a: &Selected,
    b: &Selected,
    options: &CompareOptions,
    reporter: &Reporter<'_>,
) -> Result<ValueDifferences> {
    let (shape, parts) = (a.shape(), b.part_shape());
    let grid = ChunkGrid::regular(&shape, &a.part_shape().iter().map(|&len| len.max(1)).collect::<Vec<_>>())?;
    let division = Division { boxes: &grid, cut: &grid, parts: &parts };
    let scan = Scan::plan([a.clone(), b.clone()], &division, options.memory)?;
    let [a, b] = scan.arrays();
    let compared = zarr_grid::total_size(&shape, 1);
    let comparing = Comparing {
        elements: Elements::new(a.array(), b.array(), options),
        found: Mutex::new(ValueDifferences { compared, ..ValueDifferences::default() }),
        first: options.first,
        a: a.array(),
        b: b.array(),
    };
    let done = |bytes: u128| reporter.report(Progress::Done(bytes));
    let slab = |region: &Region| {
        let [a, b] = scan.read(region)?;
        comparing.differences(region, &a.view()?, &b.view()?)
    };
    match scan.met() {
        None => scan.each(scan.slabs().all(), &done, &slab)?,
        Some(met) => {
            let missing = Missing::new(scan.slabs(), &met, &shape);
            comparing.missing(&missing)?;
            done(scan.size(missing.count()))?;
            scan.each(met.iter().cloned(), &done, &slab)?;
        }
    }
    let found = comparing.found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(found.within(a))
}

struct Comparing<'a> {
    a: &'a Array,
    b: &'a Array,
    elements: Elements,
    first: usize,
    found: Mutex<ValueDifferences>,
}

impl Comparing<'_> {
    /// Compares the elements of slabs that are not stored: all are fill values, which are compared once.
    fn missing(&self, missing: &Missing<'_>) -> Result<()> {
        let different = missing.count();
        if different == 0 {
            return Ok(());
        }
        let (a_heap, b_heap) = (Heap::new(), Heap::new());
        let (a, b) = (self.a.fill_value().item_in(&a_heap), self.b.fill_value().item_in(&b_heap));
        let heaps = self.a.data_type().is_variable().then_some((&a_heap, &b_heap));
        let Some(max_abs) = self.difference(&a, &b, heaps)? else { return Ok(()) };
        let first = missing.first(self.first).into_iter().map(|index| self.element(index, (&a, &b), heaps));
        let (bounds, first) = (Some(missing.bounds()), first.collect());
        lock(&self.found).add(ValueDifferences { compared: 0, different, max_abs, bounds, first }, self.first);
        Ok(())
    }

    fn differences(&self, region: &Region, a: &View<'_>, b: &View<'_>) -> Result<()> {
        let (a_items, b_items) = (a.as_contiguous().ok_or_else(lost)?, b.as_contiguous().ok_or_else(lost)?);
        let heaps = a.heap().zip(b.heap()).map(|(a, b)| (&**a, &**b));
        let sizes = (a.item_size().max(1), b.item_size().max(1));
        let mut pieces = a_items.chunks(sizes.0 * PIECE).zip(b_items.chunks(sizes.1 * PIECE)).enumerate();
        let compare = |(piece, items)| self.piece(region, piece * PIECE, items, sizes, heaps);
        // A small slab is compared by the thread that read it, while it is in the cache.
        match a_items.len() / sizes.0 < 2 * PIECE {
            true => pieces.try_for_each(compare),
            false => self.a.map_parallel(pieces.collect(), compare)?.into_iter().collect(),
        }
    }

    /// Compares consecutive elements of a region; `start` is the position of the first one in C order.
    fn piece(
        &self,
        region: &Region,
        start: usize,
        (a_items, b_items): (&[u8], &[u8]),
        (a_size, b_size): (usize, usize),
        heaps: Option<(&Heap, &Heap)>,
    ) -> Result<()> {
        let mut found = ValueDifferences::default();
        let mut index = vec![0; region.rank()];
        let runs = a_items.chunks(a_size * RUN).zip(b_items.chunks(b_size * RUN));
        for (run, (a_run, b_run)) in runs.enumerate() {
            if self.elements.same_type && heaps.is_none() && a_run == b_run {
                continue;
            }
            let pairs = a_run.chunks_exact(a_size).zip(b_run.chunks_exact(b_size));
            for (at, (a, b)) in pairs.enumerate() {
                if let Some(distance) = self.difference(a, b, heaps)? {
                    index_in(region, start + run * RUN + at, &mut index);
                    found.note(&index, distance);
                    if found.first.len() < self.first {
                        found.first.push(self.element(index.clone(), (a, b), heaps));
                    }
                }
            }
        }
        if found.different > 0 {
            lock(&self.found).add(found, self.first);
        }
        Ok(())
    }

    /// Returns the distance of two elements as [`Elements::difference`] does; `heaps` are the heaps of elements of variable length.
    fn difference(&self, a: &[u8], b: &[u8], heaps: Option<(&Heap, &Heap)>) -> Result<Option<Option<f64>>> {
        match heaps {
            None => Ok(self.elements.difference(a, b)),
            Some((a_heap, b_heap)) => self.elements.variable_difference((a, a_heap), (b, b_heap)).map_err(|()| lost()),
        }
    }

    fn element(&self, index: Vec<u64>, (a, b): (&[u8], &[u8]), heaps: Option<(&Heap, &Heap)>) -> DifferentElement {
        let (a_heap, b_heap) = heaps.unzip();
        let first = zarr_dtype::print::to_json(self.a.data_type(), a, a_heap);
        let second = zarr_dtype::print::to_json(self.b.data_type(), b, b_heap);
        DifferentElement { index, coordinates: Vec::new(), first, second }
    }
}

fn lost() -> Error {
    Error::internal("an element to be compared is not in its block")
}

/// Sets `index` to the index in the array of the element at `position` of a region, in C order.
fn index_in(region: &Region, position: usize, index: &mut [u64]) {
    let mut rest = position as u64;
    for (at, axis) in index.iter_mut().zip(region.axes()).rev() {
        let len = axis.len.max(1);
        *at = axis.start + rest % len;
        rest /= len;
    }
}

fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

impl ValueDifferences {
    /// Converts indices in the region to indices in the array.
    fn within(mut self, selected: &Selected) -> Self {
        for element in &mut self.first {
            element.index = selected.index(&element.index);
        }
        if let Some(bounds) = &mut self.bounds {
            let starts = selected.index(&bounds.iter().map(|range| range.start).collect::<Vec<_>>());
            let lasts = selected.index(&bounds.iter().map(|range| range.end.saturating_sub(1)).collect::<Vec<_>>());
            *bounds = starts.into_iter().zip(lasts).map(|(start, last)| start..last + 1).collect();
        }
        self
    }

    /// Counts a different element, and extends the bounds.
    fn note(&mut self, index: &[u64], distance: Option<f64>) {
        self.different += 1;
        self.max_abs = larger(self.max_abs, distance);
        match &mut self.bounds {
            Some(bounds) => {
                for (range, &at) in bounds.iter_mut().zip(index) {
                    *range = range.start.min(at)..range.end.max(at + 1);
                }
            }
            bounds => *bounds = Some(index.iter().map(|&at| at..at + 1).collect()),
        }
    }

    /// Adds the differences of another slab, and keeps at most `most` of the first elements.
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
