//! Selections, as the Python part of the package passes them.

use crate::errors;
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyInt, PySlice, PyTuple};
use zarr::grid::{AxisSelection, ChunkGrid, Resolved};
use zarr::{Array, Selection};

/// Converts a selection, given by its kind and a part for each axis, whose integers fit into 64 bits.
///
/// | kind | parts |
/// |---|---|
/// | `axes` | integers, slices, `...`, lists of positions as int64 arrays, masks of one axis as bool arrays |
/// | `blocks` | integers, slices and `...` |
/// | `points` | for each axis of the array an int64 array, all of one length |
/// | `mask` | one bool array with the shape of the array |
///
/// # Errors
/// `TypeError` for parts that do not fit the kind, `ValueError` for an unknown kind.
pub(crate) fn selection(kind: &str, parts: &Bound<'_, PyTuple>) -> PyResult<Selection> {
    let axes = || parts.iter().map(|part| axis(&part)).collect::<PyResult<Vec<_>>>();
    match kind {
        "axes" => Ok(Selection::Axes(axes()?)),
        "blocks" => Ok(Selection::Blocks(axes()?)),
        "points" => Ok(Selection::Coordinates(parts.iter().map(|part| positions(&part)).collect::<PyResult<_>>()?)),
        "mask" => {
            let mask: PyReadonlyArrayDyn<'_, bool> = parts.get_item(0)?.extract()?;
            let shape: Vec<u64> = mask.shape().iter().map(|&len| len as u64).collect();
            let elements = mask.as_array().iter().copied().collect();
            Selection::mask(&shape, elements).map_err(|error| errors::selection(parts.py(), &error))
        }
        _ => Err(PyValueError::new_err(format!("a selection of kind {kind:?}"))),
    }
}

/// Resolves a selection on the grid of an array.
///
/// # Errors
/// `IndexError` if the selection is outside the array.
pub(crate) fn resolved(py: Python<'_>, selection: &Selection, grid: &ChunkGrid) -> PyResult<Resolved> {
    selection.resolve_on(grid).map_err(|error| errors::selection(py, &error))
}

/// Returns the shape of the selected elements, and the greatest number of elements that are read for them: those of all chunks (inner
/// chunks if there are shards) with selected elements, or of the selection itself.
///
/// # Errors
/// The errors of [`resolved`].
pub(crate) fn shape_and_met(py: Python<'_>, selection: &Selection, array: &Array) -> PyResult<(Vec<u64>, u64)> {
    let resolved = resolved(py, selection, array.chunk_grid())?;
    let (chunk, lengths) = (array.part_shape(), resolved.output_shape());
    let chunks = array.shape().iter().zip(&chunk).map(|(&len, &chunk)| len.div_ceil(chunk.max(1)));
    let product = |sizes: &mut dyn Iterator<Item = u64>| sizes.fold(1, u64::saturating_mul);
    let count = match &resolved {
        Resolved::Box(selected) => product(&mut selected.region.axes().iter().zip(&chunk).map(|(range, &chunk)| {
            let last = range.start + range.len.saturating_sub(1).saturating_mul(range.step);
            let spanned = last / chunk.max(1) - range.start / chunk.max(1) + 1;
            spanned.min(range.len)
        })),
        Resolved::Orthogonal(_) => product(&mut lengths.iter().zip(chunks).map(|(&len, chunks)| len.min(chunks))),
        _ => product(&mut chunks.into_iter()).min(product(&mut lengths.iter().copied())),
    };
    let met = count.saturating_mul(product(&mut chunk.iter().copied()));
    // A list with repeated indices selects more elements than the chunks have.
    let met = met.max(product(&mut lengths.iter().copied()));
    Ok((resolved.result_shape().to_vec(), met))
}

fn positions(part: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let positions: PyReadonlyArray1<'_, i64> = part.extract()?;
    Ok(positions.as_array().to_vec())
}

fn axis(part: &Bound<'_, PyAny>) -> PyResult<AxisSelection> {
    if part.is_instance_of::<PyInt>() {
        return Ok(AxisSelection::Index(part.extract()?));
    }
    if let Ok(slice) = part.cast::<PySlice>() {
        let bound = |name| slice.getattr(name)?.extract::<Option<i64>>();
        return Ok(AxisSelection::Range {
            start: bound("start")?,
            stop: bound("stop")?,
            step: bound("step")?.unwrap_or(1),
        });
    }
    if part.is_instance_of::<PyEllipsis>() {
        return Ok(AxisSelection::Ellipsis);
    }
    if let Ok(mask) = part.extract::<PyReadonlyArray1<'_, bool>>() {
        return Ok(AxisSelection::Mask(mask.as_array().to_vec()));
    }
    match positions(part) {
        Ok(positions) => Ok(AxisSelection::Indices(positions)),
        Err(_) => Err(PyTypeError::new_err(format!("{part:?} is no part of a selection"))),
    }
}
