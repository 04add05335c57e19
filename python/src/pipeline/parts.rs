//! Selections within a chunk along one axis, and their places in the output.

use crate::pipeline::batch::Item;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PySlice, PyTuple};
use std::collections::HashMap;
use std::ops::Range;
use zarr::grid::AxisSelection;

/// Positions along an axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// Single position; the output lacks the axis.
    One(i64),
    Range {
        start: i64,
        len: i64,
        step: i64,
    },
    List(Vec<i64>),
}

impl Part {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Range { len, .. } => usize::try_from(*len).unwrap_or(0),
            Self::List(list) => list.len(),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> {
        (0..self.len()).map(|at| match self {
            Self::One(one) => *one,
            Self::Range { start, step, .. } => start + at as i64 * step,
            Self::List(list) => list.get(at).copied().unwrap_or(-1),
        })
    }

    /// Returns the positions if they are a range without gaps, else a range with the first position only.
    pub(crate) fn range(&self) -> Range<u64> {
        let start = self.iter().next().map_or(0, i64::unsigned_abs);
        match self {
            Self::Range { len, step: 1, .. } => start..start.saturating_add(len.unsigned_abs()),
            _ => start..start.saturating_add(u64::from(self.len() > 0)),
        }
    }

    fn is_inside(&self, len: i64) -> bool {
        let is_inside = |position: i64| (0..len).contains(&position);
        match self {
            Self::One(one) => is_inside(*one),
            Self::Range { len: 0, .. } => true,
            Self::Range { start, len: count, step } => is_inside(*start) && is_inside(start + (count - 1) * step),
            Self::List(list) => list.iter().copied().all(is_inside),
        }
    }
}

/// Selected part of a chunk along an axis, and its place in the output; `None` if the output lacks the axis.
pub(crate) type Projection = (Part, Option<Part>);

/// Selections along one axis, for each chunk along the axis.
#[derive(Debug, Default)]
pub(crate) struct Axis {
    projections: Vec<Projection>,
    numbers: HashMap<Projection, usize>,
    last: usize,
}

impl Axis {
    pub(crate) fn len(&self) -> usize {
        self.projections.len()
    }

    /// Returns the range of the output for the elements of each chunk.
    pub(crate) fn outputs(&self) -> Vec<Range<u64>> {
        self.projections.iter().map(|(_, out)| out.as_ref().map_or(0..1, Part::range)).collect()
    }

    /// Returns the number of the chunk with this projection along the axis; a new projection is added.
    pub(crate) fn number_of(&mut self, projection: Projection) -> usize {
        if self.projections.get(self.last) == Some(&projection) {
            return self.last;
        }
        let next = self.projections.len();
        self.last = *self.numbers.entry(projection.clone()).or_insert(next);
        if self.last == next {
            self.projections.push(projection);
        }
        self.last
    }

    /// Returns the selection along an axis of these chunks, and its length; `None` if outputs overlap or have gaps.
    pub(crate) fn selection(&self, chunk_len: u64) -> Option<(AxisSelection, u64)> {
        let chunk_len = i64::try_from(chunk_len).ok()?;
        if let [(part, None)] = &self.projections[..] {
            return Some((AxisSelection::Index(part.iter().next()?), 1));
        }
        if let Some(range) = self.range(chunk_len) {
            return Some(range);
        }
        let mut len = 0;
        for (part, out) in &self.projections {
            let out = out.as_ref()?;
            len += out.len();
            if part.len() != out.len() {
                return None;
            }
        }
        let mut positions = vec![-1; len];
        for (number, (part, out)) in self.projections.iter().enumerate() {
            let offset = (number as i64).checked_mul(chunk_len)?;
            for (position, at) in part.iter().zip(out.as_ref()?.iter()) {
                match positions.get_mut(usize::try_from(at).ok()?) {
                    Some(free) if *free < 0 => *free = offset + position,
                    _ => return None,
                }
            }
        }
        Some((AxisSelection::Indices(positions), len as u64))
    }

    /// Returns the selection along an axis of these chunks, and its length, if the selection is a range.
    fn range(&self, chunk_len: i64) -> Option<(AxisSelection, u64)> {
        let (mut begin, mut stride, mut count) = (0, 1, 0);
        for (number, projection) in self.projections.iter().enumerate() {
            let (Part::Range { start, len, step }, Some(Part::Range { start: at, len: out_len, step: 1 })) = projection
            else {
                return None;
            };
            let position = (number as i64).checked_mul(chunk_len)?.checked_add(*start)?;
            if number == 0 {
                (begin, stride) = (position, *step);
            }
            let due = begin.checked_add(stride.checked_mul(count)?)?;
            if *at != count || position != due || *step != stride || len != out_len {
                return None;
            }
            count += len;
        }
        let stop = if count == 0 { begin } else { begin + (count - 1) * stride + 1 };
        Some((AxisSelection::Range { start: Some(begin), stop: Some(stop), step: stride }, count as u64))
    }
}

/// Returns whether the selection of the chunk is one of points: one-dimensional lists along several axes.
///
/// # Errors
/// The exceptions of Python.
pub(crate) fn are_points(item: &Item<'_>, rank: usize) -> PyResult<bool> {
    let selection = item.get_item(2)?;
    let Ok(selection) = selection.cast::<PyTuple>() else { return Ok(false) };
    Ok(rank > 1 && selection.len() == rank && selection.iter().all(|part| dimensions(&part) == Some(1)))
}

fn dimensions(part: &Bound<'_, PyAny>) -> Option<usize> {
    part.cast::<PyUntypedArray>().ok().map(|array| array.ndim())
}

/// Returns the positions along each axis of the points of a chunk, and their indices in the output; `None` if the selection is not one of
/// points.
///
/// # Errors
/// The exceptions of Python.
pub(crate) fn points(item: &Item<'_>, chunk_shape: &[u64]) -> PyResult<Option<(Vec<Vec<i64>>, Part)>> {
    let (selection, out) = (item.get_item(2)?, outputs(item)?);
    let Ok(selection) = selection.cast_into::<PyTuple>() else { return Ok(None) };
    if selection.len() != chunk_shape.len() || out.len() != 1 {
        return Ok(None);
    }
    let Some(out) = out_part(&out.get_item(0)?, At { rank: 1, axis: 0, is_alone: false })? else { return Ok(None) };
    let mut lists = Vec::with_capacity(chunk_shape.len());
    for (part, &len) in selection.iter().zip(chunk_shape) {
        let Some(list) = array(&part, At { rank: 1, axis: 0, is_alone: false })? else { return Ok(None) };
        let list = Part::List(list);
        if list.len() != out.len() || !list.is_inside(i64::try_from(len).unwrap_or(i64::MAX)) {
            return Ok(None);
        }
        if let Part::List(list) = list {
            lists.push(list);
        }
    }
    Ok(Some((lists, out)))
}

/// Returns the part of a chunk that is selected along each axis; `None` if the selection is no product of selections along axes.
///
/// # Errors
/// The exceptions of Python.
pub(crate) fn projections(
    item: &Item<'_>,
    drop_axes: &[usize],
    chunk_shape: &[u64],
) -> PyResult<Option<Vec<Projection>>> {
    let (selection, out) = (item.get_item(2)?, outputs(item)?);
    let Ok(selection) = selection.cast_into::<PyTuple>() else { return Ok(None) };
    let rank = chunk_shape.len();
    if selection.len() != rank {
        return Ok(None);
    }
    let mut found = Vec::with_capacity(rank);
    let mut dropped = 0;
    let is_alone = has_one_list(&selection);
    for (axis, (part, &len)) in selection.iter().zip(chunk_shape).enumerate() {
        let Some(part) = chunk_part(&part, At { rank, axis, is_alone }, len)? else { return Ok(None) };
        if !part.is_inside(i64::try_from(len).unwrap_or(i64::MAX)) {
            return Ok(None);
        }
        let is_dropped = drop_axes.contains(&axis) || matches!(part, Part::One(_));
        if is_dropped && part.len() != 1 {
            return Ok(None);
        }
        dropped += usize::from(is_dropped);
        found.push((part, is_dropped));
    }
    let kept = rank - dropped;
    if out.len() != kept {
        return Ok(None);
    }
    let is_alone_in_out = has_one_list(&out);
    let mut next = 0;
    let mut projections = Vec::with_capacity(rank);
    for (part, is_dropped) in found {
        if is_dropped {
            projections.push((part, None));
            continue;
        }
        let Some(out) = out_part(&out.get_item(next)?, At { rank: kept, axis: next, is_alone: is_alone_in_out })?
        else {
            return Ok(None);
        };
        if out.len() != part.len() {
            return Ok(None);
        }
        next += 1;
        projections.push((part, Some(out)));
    }
    Ok(Some(projections))
}

/// Returns the selection of the output as a tuple, also if it is a single part.
fn outputs<'py>(item: &Item<'py>) -> PyResult<Bound<'py, PyTuple>> {
    match item.get_item(3)?.cast_into::<PyTuple>() {
        Ok(parts) => Ok(parts),
        Err(error) => PyTuple::new(item.py(), [error.into_inner()]),
    }
}

/// Returns whether all parts but one are slices, so that a list has the same meaning as with [`numpy.ix_`](array).
fn has_one_list(parts: &Bound<'_, PyTuple>) -> bool {
    parts.iter().filter(|part| !part.is_instance_of::<PySlice>()).count() == 1
}

/// Place of a part in a selection.
#[derive(Clone, Copy)]
struct At {
    /// Number of parts of the selection.
    rank: usize,
    axis: usize,
    /// Whether all other parts are slices.
    is_alone: bool,
}

fn chunk_part(part: &Bound<'_, PyAny>, at: At, len: u64) -> PyResult<Option<Part>> {
    if let Ok(slice) = part.cast::<PySlice>() {
        let Ok(len) = isize::try_from(len) else { return Ok(None) };
        let indices = slice.indices(len)?;
        let (start, step) = (indices.start as i64, indices.step as i64);
        let len = indices.slicelength as i64;
        return Ok((step > 0).then_some(Part::Range { start, len, step }));
    }
    if part.is_instance_of::<PyInt>() {
        return part.extract().map(|one| Some(Part::One(one)));
    }
    match array(part, at)? {
        Some(list) => Ok(Some(Part::List(list))),
        None if dimensions(part).is_none() => Ok(part.extract().ok().map(Part::One)),
        None => Ok(None),
    }
}

fn out_part(part: &Bound<'_, PyAny>, at: At) -> PyResult<Option<Part>> {
    let Ok(slice) = part.cast::<PySlice>() else { return Ok(array(part, at)?.map(Part::List)) };
    let py = part.py();
    let start: Option<i64> = slice.getattr(intern!(py, "start"))?.extract()?;
    let stop: Option<i64> = slice.getattr(intern!(py, "stop"))?.extract()?;
    let step: Option<i64> = slice.getattr(intern!(py, "step"))?.extract()?;
    let (Some(start), Some(stop), None | Some(1)) = (start.or(Some(0)), stop, step) else { return Ok(None) };
    Ok((0 <= start && start <= stop).then_some(Part::Range { start, len: stop - start, step: 1 }))
}

/// Returns the integers of an array that extends along one axis only (`numpy.ix_`) or is the only array beside slices, or the positions of
/// a mask of one axis; `None` for other objects.
fn array(part: &Bound<'_, PyAny>, At { rank, axis, is_alone }: At) -> PyResult<Option<Vec<i64>>> {
    let Ok(untyped) = part.cast::<PyUntypedArray>() else { return Ok(None) };
    let shape = untyped.shape();
    let is_along_axis = shape.len() == rank && shape.iter().enumerate().all(|(at, &len)| at == axis || len == 1);
    if !(is_along_axis || is_alone && shape.len() == 1) {
        // A mask of one axis may be used beside slices.
        if shape.len() != 1 {
            return Ok(None);
        }
        return Ok(part.cast::<PyArrayDyn<bool>>().ok().map(|mask| positions(&mask.readonly().as_array())));
    }
    if let Ok(mask) = part.cast::<PyArrayDyn<bool>>() {
        return Ok((shape.len() == 1).then(|| positions(&mask.readonly().as_array())));
    }
    if let Ok(list) = part.cast::<PyArrayDyn<i64>>() {
        return Ok(Some(list.readonly().as_array().iter().copied().collect()));
    }
    let kind: String = part.getattr("dtype")?.getattr("kind")?.extract()?;
    if kind != "i" && kind != "u" {
        return Ok(None);
    }
    let list = part.call_method1("astype", ("int64",))?;
    let list = list.cast::<PyArrayDyn<i64>>()?;
    Ok(Some(list.readonly().as_array().iter().copied().collect()))
}

fn positions(mask: &numpy::ndarray::ArrayViewD<'_, bool>) -> Vec<i64> {
    mask.iter().enumerate().filter(|(_, is_selected)| **is_selected).map(|(at, _)| at as i64).collect()
}
