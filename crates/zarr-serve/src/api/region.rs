//! Regions that questions request, and the samples of them that are read within a budget.

use crate::address::Query;
use crate::request_error::RequestError;
use zarr_array::Array;
use zarr_grid::{AxisSelection, Selection, total_size};
use zarr_json::{Value, json};
use zarr_meta::text::size;
use zarr_view::{Budget, Cut, CutSamples, Samples};

/// Region of an array that a question requests.
#[derive(Clone, Debug)]
pub(crate) struct RequestedRegion {
    /// Axis of the array from top to bottom; `None` for a single row.
    pub(crate) y: Option<usize>,
    /// Axis of the array from left to right; `None` for a single column.
    pub(crate) x: Option<usize>,
    /// Selection along each axis of the array: a range for `y` and `x`, an index for other axes.
    axes: Vec<AxisSelection>,
    /// Greatest number of elements along `y`. `width` is that along `x`.
    pub(crate) height: u64,
    pub(crate) width: u64,
}

/// Samples of a region that are read.
pub(crate) struct SampledRegion {
    pub(crate) cut: Cut,
    thinned: CutSamples,
    y: Option<usize>,
    x: Option<usize>,
}

impl RequestedRegion {
    /// Parses the query parameters `y` and `x` (axes), `y0`, `y1`, `x0`, `x1` (their ranges) and `at` (indices of all axes), with at most
    /// `most` elements along an axis.
    pub(crate) fn parse(query: &Query, shape: &[u64], most: u64) -> Result<Self, RequestError> {
        let (y, x): (Option<usize>, Option<usize>) = (query.optional("y")?, query.optional("x")?);
        if y.is_some() && y == x {
            return Err(RequestError::argument("y and x are the same axis"));
        }
        if let Some(axis) = [y, x].into_iter().flatten().find(|axis| *axis >= shape.len()) {
            return Err(RequestError::argument(format!("found axis {axis}, expected one below {}", shape.len())));
        }
        let mut axes = indices(query, shape)?;
        for (axis, name) in [(y, "y"), (x, "x")] {
            let Some((axis, &len)) = axis.and_then(|axis| Some((axis, shape.get(axis)?))) else { continue };
            let start = query.number(&format!("{name}0"), 0)?;
            let stop = query.number(&format!("{name}1"), len)?;
            if let Some(selected) = axes.get_mut(axis) {
                *selected = range(axis, (start, stop, 1), len)?;
            }
        }
        Ok(Self { y, x, axes, height: most, width: most })
    }

    /// Reduces the numbers of elements to the parameters `height` and `width`, if these are smaller.
    pub(crate) fn sized(self, query: &Query) -> Result<Self, RequestError> {
        let (height, width) = (query.number("height", self.height)?, query.number("width", self.width)?);
        Ok(Self { height: height.min(self.height), width: width.min(self.width), ..self })
    }

    /// Selects all elements along an axis that is neither `y` nor `x`, in place of the index `at`.
    pub(crate) fn whole_along(mut self, axis: Option<usize>) -> Self {
        let others = axis.filter(|axis| ![self.y, self.x].contains(&Some(*axis)));
        if let Some(selected) = others.and_then(|axis| self.axes.get_mut(axis)) {
            *selected = AxisSelection::Range { start: None, stop: None, step: 1 };
        }
        self
    }

    /// Creates the region of all elements along one axis, at most `most`, at the indices `at` of the other axes.
    pub(crate) fn line(query: &Query, shape: &[u64], axis: usize, most: u64) -> Result<Self, RequestError> {
        let mut axes = indices(query, shape)?;
        let (Some(selected), Some(&len)) = (axes.get_mut(axis), shape.get(axis)) else {
            return Err(RequestError::argument(format!("found axis {axis}, expected one below {}", shape.len())));
        };
        *selected = range(axis, (0, len, 1), len)?;
        Ok(Self { y: None, x: Some(axis), axes, height: 1, width: most })
    }

    /// Creates the region of `count` elements along the first axis, at distance `step`, and of all elements along other axes.
    pub(crate) fn of_coordinate(shape: &[u64], (start, step, count): (u64, u64, u64)) -> Result<Self, RequestError> {
        let stop = start.saturating_add(step.saturating_mul(count));
        let axes = shape.iter().enumerate().map(|(axis, &len)| match axis {
            0 => range(axis, (start.min(len), stop.min(len), step), len),
            _ => range(axis, (0, len, 1), len),
        });
        Ok(Self { y: None, x: Some(0), axes: axes.collect::<Result<_, _>>()?, height: 1, width: count })
    }

    /// Shortens each range to its first `most` elements.
    pub(crate) fn few(mut self, most: u64) -> Self {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        for selected in &mut self.axes {
            if let AxisSelection::Range { start: Some(start), stop: Some(stop), .. } = selected {
                *stop = (*stop).min(start.saturating_add(most));
            }
        }
        self
    }

    /// Returns the region as a selection.
    pub(crate) fn selection(&self) -> Selection {
        Selection::Axes(self.axes.clone())
    }

    /// Returns the cut of an array of this shape that shows the region.
    pub(crate) fn cut(&self, shape: &[u64]) -> zarr_view::Result<Cut> {
        let shown: Vec<usize> = self.y.into_iter().chain(self.x).collect();
        Cut::new(shape, &self.selection(), (!shown.is_empty()).then_some(&shown))
    }

    /// Chooses the samples of `array` that are read, by a cut of `array`.
    ///
    /// # Errors
    /// If even few samples exceed the budget.
    pub(crate) fn take(&self, array: &Array, cut: Cut, budget: &Budget) -> Result<SampledRegion, RequestError> {
        let most: Vec<u64> = [self.y.map(|_| self.height), self.x.map(|_| self.width)].into_iter().flatten().collect();
        let thinned = cut.thinned(array, &most, budget)?;
        if thinned.fits {
            return Ok(SampledRegion { cut, thinned, y: self.y, x: self.x });
        }
        let (path, parts) = (array.path(), thinned.parts);
        if parts > budget.parts {
            return Err(RequestError::too_much(format!(
                "{path}: a read of {parts} chunks, expected at most {}",
                budget.parts
            )));
        }
        let (chunk, most) = (size(part_bytes(array)), size(budget.bytes));
        let message = format!("{path}: a chunk has {chunk}, expected at most {most} to be decoded");
        Err(RequestError::too_much(message).with_hint("more detail (full=1) may decode 16 times as much"))
    }

    /// Chooses samples as [`take`](Self::take) does, and fails if they are not all elements of the region.
    pub(crate) fn take_all(&self, array: &Array, budget: &Budget) -> Result<SampledRegion, RequestError> {
        let taken = self.take(array, self.cut(array.shape())?, budget)?;
        match taken.is_reduced() {
            true => Err(RequestError::too_much(format!("{}: the elements lie in too many chunks", array.path()))),
            false => Ok(taken),
        }
    }
}

impl SampledRegion {
    /// Returns the greatest number of chunks (or inner chunks of shards) that are read.
    pub(crate) fn chunks(&self) -> u64 {
        self.thinned.parts
    }

    /// Returns whether fewer elements are read than requested, because of the budget.
    pub(crate) fn is_reduced(&self) -> bool {
        self.thinned.is_cut
    }

    /// Returns the samples along each shown axis.
    pub(crate) fn samples(&self) -> &[Samples] {
        &self.thinned.samples
    }

    /// Returns the selection of the samples.
    pub(crate) fn selection(&self) -> Selection {
        self.cut.selection(self.samples())
    }

    /// Returns the samples from top to bottom.
    fn down(&self) -> Option<&Samples> {
        self.y.and(self.samples().first())
    }

    /// Returns the samples from left to right.
    fn across(&self) -> Option<&Samples> {
        self.x.and(self.samples().last())
    }

    /// Returns the numbers of rows and columns.
    pub(crate) fn size(&self) -> (u64, u64) {
        let count = |samples: Option<&Samples>| samples.map_or(1, |samples| samples.count);
        (count(self.down()), count(self.across()))
    }

    /// Describes the samples along `y` and along `x` as JSON.
    pub(crate) fn described(&self, array: &Array) -> [Value; 2] {
        [(self.y, self.down()), (self.x, self.across())].map(|(axis, samples)| described(axis, samples, array))
    }
}

/// Describes the samples along an axis as JSON.
fn described(axis: Option<usize>, samples: Option<&Samples>, array: &Array) -> Value {
    let (Some(axis), Some(samples)) = (axis, samples) else { return Value::Null };
    let name = array.dimension_names().and_then(|names| names.get(axis)?.as_deref());
    json!({
        "axis": axis,
        "name": (name.map_or(Value::Null, Value::from)),
        "size": (array.shape().get(axis).copied().unwrap_or(0)),
        "start": (samples.start),
        "step": (samples.step),
        "count": (samples.count),
    })
}

/// Parses the parameter `at`, the indices along all axes; 0 if it is missing.
fn indices(query: &Query, shape: &[u64]) -> Result<Vec<AxisSelection>, RequestError> {
    let at: Vec<u64> = query.list("at")?;
    if !at.is_empty() && at.len() != shape.len() {
        return Err(RequestError::argument(format!("at: found {} indices, expected {}", at.len(), shape.len())));
    }
    let index = |axis: usize| at.get(axis).copied().unwrap_or(0);
    (0..shape.len()).map(|axis| Ok(AxisSelection::Index(signed(axis, index(axis))?))).collect()
}

/// Returns a range along an axis, after a check that it lies within `len`.
fn range(axis: usize, (start, stop, step): (u64, u64, u64), len: u64) -> Result<AxisSelection, RequestError> {
    if start > stop || stop > len {
        return Err(RequestError::argument(format!(
            "axis {axis}: found {start}:{stop}, expected a range within 0:{len}"
        )));
    }
    let step = i64::try_from(step.max(1)).unwrap_or(i64::MAX);
    Ok(AxisSelection::Range { start: Some(signed(axis, start)?), stop: Some(signed(axis, stop)?), step })
}

fn signed(axis: usize, index: u64) -> Result<i64, RequestError> {
    i64::try_from(index)
        .map_err(|_| RequestError::argument(format!("axis {axis}: found index {index}, expected one below 2^63")))
}

/// Returns the decoded size of a chunk, or of an inner chunk of a shard, in bytes.
fn part_bytes(array: &Array) -> u64 {
    u64::try_from(total_size(&array.part_shape(), array.data_type().item_size() as u64)).unwrap_or(u64::MAX)
}
