//! The differences of elements, found slab by slab. Each chunk of both arrays is decoded once if memory suffices.
//!
//! Slabs are of whole parts of one array, and the parts of the other are decoded. Those in which neither array has a stored chunk are
//! not gone through: their elements are counted, and the fill values are compared once.

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

/// As many elements are compared at once, and one by one only if some of them differ.
const RUN: usize = 1024;
/// As many elements of a large slab are compared by one thread at a time.
const PIECE: usize = RUN << 8;

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
    /// The nodes are groups.
    NoArrays,
    /// One of the nodes is a group, the other an array.
    Kinds,
    /// Shapes differ.
    Shapes,
    /// Data types differ, and one of them at least is none of real numbers.
    DataTypes,
    /// A data type, a codec or another extension is not known; documents and stored bytes are the same, and so are elements.
    StoredAlike,
    /// A data type, a codec or another extension is not known, and documents or stored bytes differ.
    Unknown,
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
    /// The smallest box of the first array that has all elements that differ, as a range along each axis; `None` if none differ.
    pub bounds: Option<Vec<Range<u64>>>,
    /// The first elements that differ, in C order.
    pub first: Vec<DifferentElement>,
}

/// An element that differs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DifferentElement {
    /// Its index along each axis, in the first array.
    pub index: Vec<u64>,
    /// The names of the dimensions that have a coordinate, and the label of the element there, if the first array is a variable of a data
    /// set. Times are in the notation of ISO 8601.
    pub coordinates: Vec<(String, String)>,
    /// The element of the first array, in the notation of fill values.
    pub first: Value,
    /// The element of the second array.
    pub second: Value,
}

impl Values {
    /// Whether no element differs, as far as was asked; false if elements could not be compared.
    pub fn are_equal(&self) -> bool {
        match self {
            Self::Compared(values) => values.different == 0,
            Self::NotCompared(why) => !why.is_unknown(),
        }
    }
}

/// Whether the elements of two arrays can be compared: if so, as compared with none compared yet.
pub(super) fn comparable(a: &Selected, b: &Selected) -> Values {
    if a.shape() != b.shape() {
        return Values::NotCompared(NotCompared::Shapes);
    }
    match Elements::are_comparable(a.array().data_type(), b.array().data_type()) {
        true => Values::Compared(ValueDifferences::default()),
        false => Values::NotCompared(NotCompared::DataTypes),
    }
}

/// Compares the elements of two arrays that are as many along each axis.
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
    /// Compares the elements of slabs that are not stored: all are the fill values, which are compared once.
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

    /// Compares elements of a region, of which the first is this one in C order.
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

    /// How far two elements are apart, see [`Elements::difference`].
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

/// Puts the index in the array of an element of a region, which is counted in C order.
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
    /// The same by indices of the array that has the elements.
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

    /// Counts an element that differs.
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
