//! Reading of points: elements that are selected along several axes at once, in one dimension.

use crate::indexer::Indexer;
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;
use zarr_array::{Array, ArrayData};
use zarr_codec::{View, ViewMut};
use zarr_dtype::Heap;
use zarr_grid::{AxisSelection, Selection};

/// Reads the elements of `array` that `indexers` select, one indexer per axis. The dimension of points takes the place of its first axis.
///
/// Each chunk that the selection touches is fetched and decoded once.
///
/// # Errors
/// The errors of reading arrays.
pub(crate) fn read(array: &Array, indexers: &[Indexer]) -> Result<ArrayData> {
    if !indexers.iter().any(|indexer| matches!(indexer, Indexer::Points { .. })) {
        return array.read_data(Selection::Axes(indexers.iter().map(Indexer::to_axis).collect()));
    }
    let dimensions = dimensions(indexers);
    let (listed, whole): (Vec<&Dimension<'_>>, Vec<_>) = dimensions.iter().partition(|dimension| dimension.is_listed);
    let shape: Vec<u64> = dimensions.iter().map(|dimension| dimension.len).collect();
    let count = product(listed.iter().map(|dimension| dimension.len))?;
    let rest = product(whole.iter().map(|dimension| dimension.len))?;
    let item = array.data_type().item_size();
    let size = count.checked_mul(rest).and_then(|len| len.checked_mul(item)).ok_or_else(too_large)?;
    let heap = array.data_type().is_variable().then(|| Arc::new(Heap::new()));
    if size == 0 {
        return ArrayData::from_items(array.data_type(), &shape, &[], heap);
    }
    // Only single elements are selected: they are read as coordinates.
    if whole.is_empty() {
        let data = array.read_data(Selection::Coordinates(coordinates(indexers, &listed, count)?))?;
        return ArrayData::from_items(array.data_type(), &shape, data.items(), data.heap().cloned());
    }
    // All elements of the other dimensions at one point, point after point.
    let mut items = zeros(size)?;
    let part_shape: Vec<usize> = whole
        .iter()
        .map(|dimension| usize::try_from(dimension.len))
        .collect::<Result<_, _>>()
        .map_err(|_| too_large())?;
    let mut regions: Vec<AxisSelection> = indexers.iter().map(Indexer::to_axis).collect();
    let mut parts = Vec::new();
    parts.try_reserve_exact(count).map_err(|_| too_large())?;
    for (number, out) in items.chunks_exact_mut(rest * item).enumerate() {
        for (axis, index) in indices(&listed, number) {
            if let Some(region) = regions.get_mut(axis) {
                *region = AxisSelection::Index(index as i64);
            }
        }
        let out = ViewMut::new(out, item, &part_shape)?.with_heap(heap.clone());
        parts.push((Selection::Axes(regions.clone()), out));
    }
    array.read_many(parts)?;
    let items = ordered(items, item, &dimensions)?;
    ArrayData::from_items(array.data_type(), &shape, &items, heap)
}

/// Dimension of the result of a read.
pub(crate) struct Dimension<'i> {
    len: u64,
    /// Whether single indices are selected along the dimension: points or a list.
    is_listed: bool,
    axes: Vec<(usize, &'i Indexer)>,
}

impl<'i> Dimension<'i> {
    /// Returns the number of elements along the dimension.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the axes of the array with their indexers: several axes for points, one axis otherwise.
    pub(crate) fn axes(&self) -> &[(usize, &'i Indexer)] {
        &self.axes
    }
}

/// Returns the dimensions of the result of reading `indexers`.
pub(crate) fn dimensions(indexers: &[Indexer]) -> Vec<Dimension<'_>> {
    let mut dimensions: Vec<Dimension<'_>> = Vec::new();
    for (axis, indexer) in indexers.iter().enumerate() {
        let Some(len) = indexer.len() else { continue };
        let known = dimensions.iter_mut().find(|known| {
            indexer.points().is_some() && known.axes.iter().any(|(_, other)| other.points() == indexer.points())
        });
        match known {
            Some(known) => known.axes.push((axis, indexer)),
            None => {
                let is_listed = !matches!(indexer, Indexer::Strided { .. });
                dimensions.push(Dimension { len, is_listed, axes: vec![(axis, indexer)] });
            }
        }
    }
    dimensions
}

/// Returns, for element `number` in C order of the listed dimensions, each axis of these dimensions with its index.
fn indices(listed: &[&Dimension<'_>], number: usize) -> impl Iterator<Item = (usize, u64)> {
    let mut left = number as u64;
    listed.iter().rev().flat_map(move |dimension| {
        let at = left % dimension.len.max(1);
        left /= dimension.len.max(1);
        dimension.axes.iter().map(move |(axis, indexer)| (*axis, indexer.get(at)))
    })
}

/// Returns the coordinates of all elements along each axis.
fn coordinates(indexers: &[Indexer], listed: &[&Dimension<'_>], count: usize) -> Result<Vec<Vec<i64>>> {
    let mut coordinates = Vec::with_capacity(indexers.len());
    for indexer in indexers {
        let mut along = Vec::new();
        along.try_reserve_exact(count).map_err(|_| too_large())?;
        // The only index of removed axes; indices along other axes are set below.
        along.resize(count, indexer.get(0) as i64);
        coordinates.push(along);
    }
    for number in 0..count {
        for (axis, index) in indices(listed, number) {
            if let Some(coordinate) = coordinates.get_mut(axis).and_then(|along| along.get_mut(number)) {
                *coordinate = index as i64;
            }
        }
    }
    Ok(coordinates)
}

/// Reorders items, whose listed dimensions come first, to the order of `dimensions`.
fn ordered(items: Vec<u8>, item: usize, dimensions: &[Dimension<'_>]) -> Result<Vec<u8>> {
    let mut order: Vec<usize> = (0..dimensions.len()).collect();
    order.sort_by_key(|&at| dimensions.get(at).is_none_or(|dimension| !dimension.is_listed));
    if order.is_sorted() {
        return Ok(items);
    }
    let shape: Vec<usize> = order
        .iter()
        .filter_map(|&at| dimensions.get(at).and_then(|dimension| usize::try_from(dimension.len).ok()))
        .collect();
    let mut back = vec![0; order.len()];
    for (now, &then) in order.iter().enumerate() {
        if let Some(back) = back.get_mut(then) {
            *back = now;
        }
    }
    let mut ordered = Vec::new();
    View::new(&items, item, &shape)?.permuted(&back).append_to(&mut ordered)?;
    Ok(ordered)
}

fn product(lens: impl Iterator<Item = u64>) -> Result<usize> {
    let mut product = 1_usize;
    for len in lens {
        let len = usize::try_from(len).map_err(|_| too_large())?;
        product = product.checked_mul(len).ok_or_else(too_large)?;
    }
    Ok(product)
}

fn zeros(size: usize) -> Result<Vec<u8>> {
    let mut items = Vec::new();
    items.try_reserve_exact(size).map_err(|_| too_large())?;
    items.resize(size, 0);
    Ok(items)
}

fn too_large() -> Error {
    Error::new(ErrorKind::Limit, "no memory for the selected points")
}
