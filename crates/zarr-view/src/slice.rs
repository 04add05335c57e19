//! Reading of values to be shown.
//!
//! A picture is one read of a region with steps: every k-th element along each shown axis, as many as the picture has pixels, and
//! fewer along the axis that meets most chunks if they exceed the budget. An OME-Zarr image is read from its coarsest level that
//! fills the picture, and a variable of a data set from its array of decoded values, so there is only one way to read. A slice, its
//! shading and its labels form a figure, which becomes pixels, terminal escapes or characters.

use crate::cut::Cut;
use crate::cut_samples::{Budget, CutSamples};
use crate::located::in_array;
use crate::samples::Samples;
use crate::{Error, Result};
use zarr_array::{Array, ArrayData};
use zarr_dtype::{Cast, Class, DataType, cast_items};

/// Values of a plane, a line or a single element, in C order of the shown axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Samples along each shown axis: rows and columns.
    pub samples: Vec<Samples>,
    /// Values; NaN if missing. Integers above 2^53 are rounded.
    pub values: Vec<f64>,
    /// Kind of the elements.
    pub numbers: Numbers,
    /// Whether fewer samples were read than the picture has pixels, because of the budget.
    pub is_cut: bool,
    /// Text of a single element, with all its digits; `None` for planes and lines.
    pub text: Option<String>,
}

/// Kind of elements that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Bools.
    Bools,
    /// Integers that are all exact as floats.
    Integers,
    /// Floats, or integers of which some were rounded.
    Floats,
}

impl Numbers {
    /// Returns the kind of the elements of a data type; `None` if it cannot be shown, such as complex numbers.
    pub fn of(data_type: &DataType) -> Option<Self> {
        match (data_type.storage(), data_type.class()?) {
            (DataType::Bool, _) => Some(Self::Bools),
            (_, Class::Signed | Class::Unsigned) => Some(Self::Integers),
            (_, Class::Float) => Some(Self::Floats),
            _ => None,
        }
    }
}

impl Slice {
    /// Reads the samples of a cut, at most `most` along each of its axes, from no more parts than the budget allows: see [`Cut::thinned`].
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the elements are neither numbers nor bools, or if no element is selected; the
    /// errors of [`Array::read_data`]; [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the read exceeds a strict budget.
    pub fn read(array: &Array, cut: &Cut, most: &[u64], budget: &Budget) -> Result<Self> {
        numbers(array, cut)?;
        Self::read_thinned(array, cut, budget.checked(array, cut.thinned(array, most, budget)?)?)
    }

    /// Reads integers or bools as [`read`](Self::read) does, each with its value. Also returns the samples.
    pub(crate) fn read_integers(
        array: &Array,
        cut: &Cut,
        most: &[u64],
        budget: &Budget,
    ) -> Result<(Vec<i128>, CutSamples)> {
        numbers(array, cut)?;
        let thinned = budget.checked(array, cut.thinned(array, most, budget)?)?;
        let data = array.read_data(cut.selection(&thinned.samples))?;
        let (data_type, items) = (data.data_type(), data.items());
        let values: Vec<i128> = match data_type.storage() {
            DataType::UInt64 => wide(cast_items::<u64>(data_type, items, Cast::Exact).map_err(Error::from)?),
            _ => wide(cast_items::<i64>(data_type, items, Cast::Exact).map_err(Error::from)?),
        };
        Ok((cut.transposed(values, &thinned.samples), thinned))
    }

    /// Reads the chosen samples of a cut.
    pub(crate) fn read_thinned(array: &Array, cut: &Cut, thinned: CutSamples) -> Result<Self> {
        let numbers = numbers(array, cut)?;
        let data = array.read_data(cut.selection(&thinned.samples))?;
        let text = cut.shown().is_empty().then(|| data.text(0));
        let (values, numbers) = values(&data, numbers)?;
        let values = cut.transposed(values, &thinned.samples);
        Ok(Self { samples: thinned.samples, values, numbers, is_cut: thinned.is_cut, text })
    }

    /// Reads the samples of a cut at each selected index along `axis`, which is not shown, or at `most_frames` of them. Reads each part
    /// once. If all frames together would exceed the budget, planes are thinned first. Also returns the indices of the frames.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read); [`ErrorKind::Argument`](crate::ErrorKind::Argument) if `axis` is shown, or one index along it
    /// is selected.
    pub fn frames(
        array: &Array,
        cut: &Cut,
        axis: usize,
        most_frames: u64,
        most: &[u64],
        budget: &Budget,
    ) -> Result<(Samples, Vec<Self>)> {
        let numbers = numbers(array, cut)?;
        let all = cut.with_frames(axis)?;
        let most: Vec<u64> = std::iter::once(most_frames).chain(most.iter().copied()).collect();
        let CutSamples { samples, is_cut, .. } = budget.checked(array, all.thinned(array, &most, budget)?)?;
        let data = array.read_data(all.selection(&samples))?;
        let (values, numbers) = values(&data, numbers)?;
        drop(data);
        let values = all.transposed(values, &samples);
        let Some((frames, shown)) = samples.split_first() else {
            return Err(Error::argument("found no axis of frames"));
        };
        let each = values.len() / usize::try_from(frames.count).unwrap_or(usize::MAX).max(1);
        let frame =
            |values: &[f64]| Self { samples: shown.to_vec(), values: values.to_vec(), numbers, is_cut, text: None };
        Ok((*frames, values.chunks(each.max(1)).map(frame).collect()))
    }

    /// Returns the number of rows; 1 for a line.
    pub fn rows(&self) -> usize {
        match self.samples.as_slice() {
            [rows, _] => usize::try_from(rows.count).unwrap_or(usize::MAX),
            _ => 1,
        }
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.samples.last().map_or(1, |columns| usize::try_from(columns.count).unwrap_or(usize::MAX))
    }

    /// Returns the values of a row.
    pub fn row(&self, row: usize) -> &[f64] {
        let start = row.saturating_mul(self.columns());
        self.values.get(start..start.saturating_add(self.columns())).unwrap_or_default()
    }

    /// Returns the slice with its rows in reverse order.
    pub fn upside_down(&self) -> Self {
        let rows: Vec<f64> = (0..self.rows()).rev().flat_map(|row| self.row(row)).copied().collect();
        let mut samples = self.samples.clone();
        if let [rows, _] = samples.as_mut_slice() {
            rows.start = rows.index(rows.count.saturating_sub(1));
            rows.step = rows.step.saturating_neg();
        }
        Self { values: rows, samples, text: self.text.clone(), ..*self }
    }
}

/// Returns the kind of the elements of an array. Fails if they cannot be shown, or if the cut is empty.
fn numbers(array: &Array, cut: &Cut) -> Result<Numbers> {
    let Some(numbers) = Numbers::of(array.data_type()) else {
        let message = format!("found elements of {}, expected numbers or bools", array.data_type());
        return Err(in_array(array, Error::argument(message)));
    };
    if cut.is_empty() {
        return Err(in_array(array, Error::argument("the selection is empty")));
    }
    Ok(numbers)
}

/// Converts elements to floats. The kind becomes [`Numbers::Floats`] if integers are not exact.
fn values(data: &ArrayData, numbers: Numbers) -> Result<(Vec<f64>, Numbers)> {
    let values = cast_items::<f64>(data.data_type(), data.items(), Cast::Lossy).map_err(Error::from)?;
    Ok(match numbers {
        Numbers::Integers if !values.iter().all(|&value| is_exact(value)) => (values, Numbers::Floats),
        numbers => (values, numbers),
    })
}

fn wide<T: Into<i128>>(values: Vec<T>) -> Vec<i128> {
    values.into_iter().map(Into::into).collect()
}

/// Returns whether an integer of this value is exact as `f64`: below 2^53.
pub(crate) fn is_exact(integer: f64) -> bool {
    integer.abs() < 9_007_199_254_740_992.0
}
