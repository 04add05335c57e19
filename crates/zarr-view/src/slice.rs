//! Values that are read to be shown.

use crate::cut::Cut;
use crate::samples::Samples;
use crate::{Error, Result};
use zarr_array::Array;
use zarr_dtype::{Cast, Class, DataType, cast_items};

/// How much may be read for a picture: parts (chunks, inner chunks of shards) and bytes of decoded elements of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Parts that are read at most; one is always read.
    pub parts: u64,
    /// Bytes of the decoded parts at most, if these are more than one.
    pub bytes: u64,
}

impl Default for Budget {
    /// 4096 parts of 64 MiB together.
    fn default() -> Self {
        Self { parts: 4096, bytes: 64 << 20 }
    }
}

impl Budget {
    /// No bounds.
    pub const UNLIMITED: Self = Self { parts: u64::MAX, bytes: u64::MAX };
}

/// Values of a plane or a line, or of a single element: in C order of the axes that are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// The samples along each axis that is shown: rows and columns.
    pub samples: Vec<Samples>,
    /// The values; NaN is missing. Integers above 2^53 are rounded.
    pub values: Vec<f64>,
    /// What the elements are.
    pub numbers: Numbers,
    /// Whether fewer samples were read than the picture has pixels, since more would have gone beyond the budget.
    pub is_cut: bool,
}

/// What elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// True and false.
    Bools,
    /// Integers, all of which are exact.
    Integers,
    /// Floats, or integers of which some were rounded.
    Floats,
}

impl Numbers {
    /// What elements of a data type are; `None` if they are no numbers that are shown.
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
    /// Reads what a cut shows, at most so many samples along each of its axes: every k-th element of each, see [`Samples::thinned`]. If
    /// these lie in more parts than the budget has, fewer.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the elements are no numbers and no bools, or there are none; as
    /// [`Array::read_data`].
    pub fn read(array: &Array, cut: &Cut, most: &[u64], budget: &Budget) -> Result<Self> {
        let Some(numbers) = Numbers::of(array.data_type()) else {
            let message = format!("found elements of {}, expected numbers or bools", array.data_type());
            return Err(locate(array, Error::argument(message)));
        };
        let all = cut.samples();
        if all.iter().any(|samples| samples.count == 0) {
            return Err(locate(array, Error::argument("the selection is empty")));
        }
        let (samples, is_cut) = Self::samples(array, cut, most, budget);
        let data = array.read_data(cut.selection(&samples))?;
        let values = cast_items::<f64>(data.data_type(), data.items(), Cast::Lossy).map_err(Error::from)?;
        let values = if is_transposed(cut) { transposed(&values, &samples) } else { values };
        let is_exact = |value: &f64| value.abs() <= MOST_EXACT;
        let numbers = match numbers {
            Numbers::Integers if !values.iter().all(is_exact) => Numbers::Floats,
            numbers => numbers,
        };
        Ok(Self { samples, values, numbers, is_cut })
    }

    /// The samples that are read, and whether the budget makes them fewer.
    fn samples(array: &Array, cut: &Cut, most: &[u64], budget: &Budget) -> (Vec<Samples>, bool) {
        let all = cut.samples();
        let parts = array.part_shape();
        let item = u128::try_from(array.data_type().item_size()).unwrap_or(u128::MAX);
        let part_bytes = parts.iter().fold(item, |bytes, &len| bytes.saturating_mul(u128::from(len)));
        let mut counts: Vec<u64> =
            all.iter().zip(most).map(|(samples, &most)| samples.count.min(most.max(1))).collect();
        let mut is_cut = false;
        loop {
            let samples: Vec<Samples> = all.iter().zip(&counts).map(|(all, &most)| all.thinned(most)).collect();
            let met: Vec<u64> = cut
                .shown()
                .iter()
                .zip(&samples)
                .map(|(&axis, samples)| samples.parts(parts.get(axis).copied().unwrap_or(1)))
                .collect();
            let total = met.iter().fold(1_u128, |total, &met| total.saturating_mul(u128::from(met)));
            let fits =
                total <= u128::from(budget.parts) && total.saturating_mul(part_bytes) <= u128::from(budget.bytes);
            // Of parts that are not compressed, fewer bytes may be read than they have: the plan of the read knows.
            let fits =
                fits || (!is_cut && total <= u128::from(budget.parts) && is_partial(array, cut, &samples, budget));
            // Of the axis along which most parts are met.
            let longest = met.iter().enumerate().max_by_key(|(_, met)| **met).filter(|(_, met)| **met > 1);
            match longest.and_then(|(axis, met)| Some((counts.get_mut(axis)?, *met))) {
                Some((count, met)) if !fits && *count > 1 => {
                    // Parts get fewer only if samples are further apart than parts are long.
                    *count = (*count).min(met) * 7 / 8;
                    *count = (*count).max(1);
                    is_cut = true;
                }
                _ => return (samples, is_cut),
            }
        }
    }

    /// The number of rows; 1 of a line.
    pub fn rows(&self) -> usize {
        match self.samples.as_slice() {
            [rows, _] => usize::try_from(rows.count).unwrap_or(usize::MAX),
            _ => 1,
        }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.samples.last().map_or(1, |columns| usize::try_from(columns.count).unwrap_or(usize::MAX))
    }

    /// The values of a row.
    pub fn row(&self, row: usize) -> &[f64] {
        let start = row.saturating_mul(self.columns());
        self.values.get(start..start.saturating_add(self.columns())).unwrap_or_default()
    }

    /// The same with the last row first.
    pub fn upside_down(&self) -> Self {
        let rows = (0..self.rows()).rev().flat_map(|row| self.row(row).to_vec());
        let mut samples = self.samples.clone();
        if let [rows, _] = samples.as_mut_slice() {
            rows.start = rows.index(rows.count.saturating_sub(1));
            rows.step = rows.step.saturating_neg();
        }
        Self { values: rows.collect(), samples, ..self.clone() }
    }
}

/// Whether the bytes that a read decodes are within the budget, by its plan. Plans of shards read their indexes, and are not made.
fn is_partial(array: &Array, cut: &Cut, samples: &[Samples], budget: &Budget) -> bool {
    let plan = (!array.is_sharded()).then(|| array.plan(cut.selection(samples)));
    plan.and_then(Result::ok).and_then(|plan| plan.decoded_bytes).is_some_and(|bytes| bytes <= budget.bytes)
}

/// Integers up to this one are exact as `f64`.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether the columns come first in the array.
fn is_transposed(cut: &Cut) -> bool {
    matches!(cut.shown(), [rows, columns] if rows > columns)
}

/// Values in C order of columns and rows, in C order of rows and columns.
fn transposed(values: &[f64], samples: &[Samples]) -> Vec<f64> {
    let count = |at: usize| samples.get(at).map_or(1, |samples| usize::try_from(samples.count).unwrap_or(usize::MAX));
    let (rows, columns) = (count(0), count(1));
    let all = (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row));
    all.map(|at| values.get(at).copied().unwrap_or(f64::NAN)).collect()
}

/// An error with the array that it is about.
fn locate(array: &Array, error: Error) -> Error {
    let (store, path) = (array.store().to_string(), array.path().to_string());
    error.at(|location| {
        location.store = Some(store);
        location.path = Some(path);
    })
}
