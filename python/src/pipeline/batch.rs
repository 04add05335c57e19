//! Chunks of one read or write, as zarr-python names them: for each chunk a getter of its bytes, the selection within the chunk, and the
//! selection of the output.
//!
//! The chunks are treated as those of a separate array, so that a single selection of that array is read or written.
//!
//! ```text
//! zarr-python's batch                               array of the batch, of 2 x 2 chunks of 4 x 4
//! a/c/7/3: [2:4, 1:4] -> out[0:2, 0:3]              c/0/0 is a/c/7/3, c/0/1 is a/c/7/4 ...
//! a/c/7/4: [2:4, 0:1] -> out[0:2, 3:4]
//! a/c/8/3: [0:1, 1:4] -> out[2:3, 0:3]              [2:5, 1:5] -> out
//! a/c/8/4: [0:1, 0:1] -> out[2:3, 3:4]
//! ```

use crate::interrupt::Interrupt;
use crate::pipeline::parts::{self, Axis};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::ops::Range;
use zarr::Selection;
use zarr::grid::AxisSelection;

/// Chunk of a batch: its getter, its specification, the selection of the chunk, the selection of the output, and whether the whole chunk is
/// written.
pub(crate) type Item<'py> = Bound<'py, PyTuple>;

/// Batch of chunks, treated as the chunks of one array.
#[pyclass(frozen, name = "Batch", module = "zarr_rust._core")]
pub(crate) struct Batch {
    /// Objects that get and set the bytes of each chunk.
    pub(crate) getters: Vec<Py<PyAny>>,
    /// Whether, for each chunk, all elements that are within the array are written.
    pub(crate) complete: Vec<bool>,
    pub(crate) chunk_shape: Vec<u64>,
    /// Number of chunks along each axis. Chunks are in C order.
    pub(crate) grid: Vec<u64>,
    pub(crate) selection: Selection,
    parts: Parts,
    /// Shape of the result of the selection.
    #[pyo3(get)]
    pub(crate) shape: Vec<u64>,
    pub(crate) interrupt: Interrupt,
}

/// Places in the result of the elements of each chunk: a box that has all of them, or a range that begins with the first one.
enum Parts {
    /// For each axis of the result, the axis of the grid, and the indices in the result for each chunk along that axis.
    Axes(Vec<(usize, Vec<Range<u64>>)>),
    Points(Vec<Range<u64>>),
}

#[pymethods]
impl Batch {
    /// Returns the batch, if its chunks are those of an array of which it selects a box, lists or points; else `None`.
    #[staticmethod]
    fn regular(items: &Bound<'_, PyList>, drop_axes: Vec<usize>, chunk_shape: Vec<u64>) -> PyResult<Option<Self>> {
        let first: Item<'_> = items.get_item(0)?.cast_into()?;
        let found = match parts::are_points(&first, chunk_shape.len())? {
            true if drop_axes.is_empty() => points(items, &chunk_shape)?,
            true => None,
            false => product(items, &drop_axes, &chunk_shape)?,
        };
        let Some((grid, selection, shape, parts)) = found else { return Ok(None) };
        Self::of(items, chunk_shape, grid, selection, (shape, parts)).map(Some)
    }

    /// Returns a batch of single elements. `positions` has, for each axis, the positions in an array whose chunks follow each other along
    /// the first axis; `first` has the first point of each chunk.
    #[staticmethod]
    fn of_points(
        items: &Bound<'_, PyList>,
        chunk_shape: Vec<u64>,
        positions: Vec<PyReadonlyArray1<'_, i64>>,
        first: Vec<u64>,
    ) -> PyResult<Self> {
        if positions.len() != chunk_shape.len() || positions.is_empty() {
            return Err(PyValueError::new_err("a list of positions for each axis is expected"));
        }
        let positions: Vec<Vec<i64>> = positions.iter().map(|list| list.as_array().to_vec()).collect();
        let count = positions.first().map_or(0, Vec::len) as u64;
        let grid = in_a_row(items.len(), chunk_shape.len());
        let ends = first.iter().skip(1).copied().chain([count]);
        let parts = Parts::Points(first.iter().copied().zip(ends).map(|(start, end)| start..end).collect());
        Self::of(items, chunk_shape, grid, Selection::Coordinates(positions), (vec![count], parts))
    }

    /// Interrupts the running operations of the batch: they end with an error at their next request.
    fn interrupt(&self) {
        self.interrupt.set();
    }
}

impl Batch {
    fn of(
        items: &Bound<'_, PyList>,
        chunk_shape: Vec<u64>,
        grid: Vec<u64>,
        selection: Selection,
        (shape, parts): (Vec<u64>, Parts),
    ) -> PyResult<Self> {
        let (mut getters, mut complete) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        for item in items.iter() {
            let item: Item<'_> = item.cast_into()?;
            getters.push(item.get_item(0)?.unbind());
            complete.push(item.get_item(4)?.is_truthy()?);
        }
        Ok(Self { getters, complete, chunk_shape, grid, selection, parts, shape, interrupt: Interrupt::default() })
    }

    /// Returns the box in the result with elements of chunk `number`, beginning with the first of them; `None` if there are none.
    pub(crate) fn part(&self, number: usize) -> Option<Vec<Range<u64>>> {
        match &self.parts {
            Parts::Points(parts) => Some(vec![parts.get(number)?.clone()]),
            Parts::Axes(axes) => {
                let index = index_of(number as u64, &self.grid);
                axes.iter().map(|(axis, parts)| parts.get(usize::try_from(*index.get(*axis)?).ok()?).cloned()).collect()
            }
        }
        .filter(|part: &Vec<Range<u64>>| {
            part.iter().zip(&self.shape).all(|(at, &len)| at.start < at.end && at.end <= len)
        })
    }

    /// Returns the position, in the array of the batch, of the first element of a part of the result.
    pub(crate) fn position(&self, part: &[Range<u64>]) -> Option<Vec<u64>> {
        let mut first = part.iter().map(|range| range.start);
        let of_list = |list: &Vec<i64>, at: u64| list.get(usize::try_from(at).ok()?).copied();
        let position = match &self.selection {
            Selection::Coordinates(lists) => {
                let at = first.next()?;
                lists.iter().map(|list| of_list(list, at)).collect::<Option<Vec<_>>>()
            }
            Selection::Axes(axes) => axes
                .iter()
                .map(|axis| match axis {
                    AxisSelection::Index(at) => Some(*at),
                    AxisSelection::Range { start: Some(start), step, .. } => {
                        i64::try_from(first.next()?).ok()?.checked_mul(*step)?.checked_add(*start)
                    }
                    AxisSelection::Indices(list) => of_list(list, first.next()?),
                    _ => None,
                })
                .collect(),
            _ => None,
        };
        position?.into_iter().map(|at| u64::try_from(at).ok()).collect()
    }

    /// Returns the keys of the chunks in the store of zarr-python, or their numbers if getters have no key.
    ///
    /// # Errors
    /// The exceptions of Python.
    pub(crate) fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let key = |(number, getter): (usize, &Py<PyAny>)| match getter.bind(py).getattr_opt(intern!(py, "path"))? {
            Some(path) => path.extract(),
            None => Ok(number.to_string()),
        };
        self.getters.iter().enumerate().map(key).collect()
    }
}

type Found = Option<(Vec<u64>, Selection, Vec<u64>, Parts)>;

/// Returns the grid of `count` chunks along the first axis.
fn in_a_row(count: usize, rank: usize) -> Vec<u64> {
    (0..rank).map(|axis| if axis == 0 { count as u64 } else { 1 }).collect()
}

/// Finds the selection of a batch whose chunks are the product of chunks along each axis, in C order, if chunks with the same index along
/// an axis have the same selection along that axis.
fn product(items: &Bound<'_, PyList>, drop_axes: &[usize], chunk_shape: &[u64]) -> PyResult<Found> {
    let rank = chunk_shape.len();
    if rank == 0 {
        return Ok(
            (items.len() == 1).then(|| (Vec::new(), Selection::Axes(Vec::new()), Vec::new(), Parts::Axes(Vec::new())))
        );
    }
    let mut axes: Vec<Axis> = chunk_shape.iter().map(|_| Axis::default()).collect();
    let mut numbers = Vec::with_capacity(items.len() * rank);
    for item in items.iter() {
        let item: Item<'_> = item.cast_into()?;
        let Some(projections) = parts::projections(&item, drop_axes, chunk_shape)? else { return Ok(None) };
        numbers.extend(axes.iter_mut().zip(projections).map(|(axis, projection)| axis.number_of(projection)));
    }
    let grid: Vec<u64> = axes.iter().map(|axis| axis.len() as u64).collect();
    if grid.iter().try_fold(1_u64, |size, &len| size.checked_mul(len)) != Some(items.len() as u64) {
        return Ok(None);
    }
    // Parts are numbered in the order of their first occurrence, so that only chunks in C order have these numbers.
    for (at, found) in numbers.chunks_exact(rank).enumerate() {
        let mut rest = at as u64;
        for (&number, &len) in found.iter().zip(&grid).rev() {
            if number as u64 != rest % len {
                return Ok(None);
            }
            rest /= len;
        }
    }
    let (mut selected, mut shape, mut parts) = (Vec::with_capacity(rank), Vec::with_capacity(rank), Vec::new());
    for (at, (axis, &chunk_len)) in axes.iter().zip(chunk_shape).enumerate() {
        let Some((selection, len)) = axis.selection(chunk_len) else { return Ok(None) };
        if !matches!(selection, AxisSelection::Index(_)) {
            shape.push(len);
            parts.push((at, axis.outputs()));
        }
        selected.push(selection);
    }
    Ok(Some((grid, Selection::Axes(selected), shape, Parts::Axes(parts))))
}

/// Finds the selection of a batch of points of each chunk, if the output has one axis.
fn points(items: &Bound<'_, PyList>, chunk_shape: &[u64]) -> PyResult<Found> {
    let rank = chunk_shape.len();
    let mut found = Vec::with_capacity(items.len());
    let mut count = 0_usize;
    for item in items.iter() {
        let item: Item<'_> = item.cast_into()?;
        let Some((lists, out)) = parts::points(&item, chunk_shape)? else { return Ok(None) };
        count += out.len();
        found.push((lists, out));
    }
    let parts = found.iter().map(|(_, out)| out.range()).collect();
    let mut positions = vec![vec![-1_i64; count]; rank];
    for (number, (lists, out)) in found.into_iter().enumerate() {
        for (axis, (list, positions)) in lists.into_iter().zip(&mut positions).enumerate() {
            let offset = if axis == 0 { number as i64 * chunk_shape.first().map_or(0, |&len| len as i64) } else { 0 };
            for (position, at) in list.into_iter().zip(out.iter()) {
                match usize::try_from(at).ok().and_then(|at| positions.get_mut(at)) {
                    Some(free) if *free < 0 => *free = offset + position,
                    _ => return Ok(None),
                }
            }
        }
    }
    // The points have different indices in the output, and their number is that of its elements, so that each element has a point.
    let shape = vec![count as u64];
    Ok(Some((in_a_row(items.len(), rank), Selection::Coordinates(positions), shape, Parts::Points(parts))))
}

/// Returns the number of a chunk in C order; `None` if its index is outside the grid.
pub(crate) fn number_of(index: &[u64], grid: &[u64]) -> Option<usize> {
    let number = index
        .iter()
        .zip(grid)
        .try_fold(0_u64, |number, (&at, &len)| if at < len { number.checked_mul(len)?.checked_add(at) } else { None });
    usize::try_from(number?).ok()
}

/// Returns the index of a chunk by its number in C order.
pub(crate) fn index_of(number: u64, grid: &[u64]) -> Vec<u64> {
    let mut rest = number;
    let mut index: Vec<u64> = grid
        .iter()
        .rev()
        .map(|&len| {
            let at = rest % len.max(1);
            rest /= len.max(1);
            at
        })
        .collect();
    index.reverse();
    index
}
