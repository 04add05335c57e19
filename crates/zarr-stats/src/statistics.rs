//! Results of statistics.

use crate::kind::Kind;
use crate::moments::Moments;
use crate::part_statistics::RowTotals;
use crate::positions::AxisPositions;
use crate::present::{Present, Scalar};
use zarr_dtype::DataType;

/// Statistics of elements or values, computed in one pass in which each chunk is decoded once. If the store can list, chunks that are not
/// stored are counted without being read. Neither applies to strings of variables that are composed of characters, nor to selections by
/// lists of indices: these are read like any other selection.
///
/// # How exact it is
/// Counts, extremes and sums of integers are exact (sums if they fit 128 bits). Sums of floats are compensated: the mean of values of one
/// sign, and the standard deviation, are within a few units in the 16th digit of the true ones, for any number of values, about as exact as
/// numpy's in float64. Quantiles and histograms are exact for types of up to 16 bits, and if the values, 8 bytes each, fit a quarter of the
/// memory. For more values they come from samples, and [`rank_error`](Numbers::rank_error) bounds the error of the rank of a quantile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Statistics {
    /// Data type of the elements or values, or of the field.
    pub data_type: DataType,
    /// Kind of the values.
    pub kind: Kind,
    /// Whether the values are decoded by the CF conventions.
    pub is_decoded: bool,
    /// Shape of the selection, without axes of single indices.
    pub shape: Vec<u64>,
    /// Number of selected elements.
    pub elements: u128,
    /// Number of values: an element that is an array counts as several values.
    pub values: u128,
    /// Number of elements in chunks that are not stored; `None` if the store cannot list, for selections by lists of indices, and for
    /// strings that are composed of characters.
    pub unstored: Option<u128>,
    /// Number of values that equal the fill value; `None` if values are decoded, or if there is no fill value.
    pub fill: Option<u128>,
    /// Number of values that are NaN or NaT; for decoded values, the number of missing values.
    pub nan: u128,
    /// Statistics of numbers, times and bools, or of the lengths of strings and bytes.
    pub numbers: Numbers,
    /// Statistics of strings or bytes; `None` for other values.
    pub texts: Option<Texts>,
    /// Statistics for each index along an axis; `None` if they were not requested.
    pub rows: Option<Rows>,
}

/// Statistics of numbers, without NaN and missing values.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Numbers {
    /// Number of values.
    pub count: u128,
    /// Number of infinite values.
    pub infinite: u128,
    /// Least value; `None` without values.
    pub min: Option<Extreme>,
    /// Greatest value; `None` without values.
    pub max: Option<Extreme>,
    /// Least and greatest finite value; `None` without finite values.
    pub finite: Option<[Scalar; 2]>,
    /// Exact sum of integers; `None` for other values, or if the sum overflows 128 bits.
    pub integer_sum: Option<i128>,
    /// Sum of the values; NaN for times.
    pub sum: f64,
    /// Mean of the values; `None` without values.
    pub mean: Option<Scalar>,
    /// Imaginary part of the mean of complex numbers, whose real part is `mean`; `None` for other values.
    pub imaginary_mean: Option<Scalar>,
    /// Standard deviation of all values, as `numpy.std` computes it; `None` without values.
    pub std: Option<Scalar>,
    /// Quantiles at the requested shares; empty without values.
    pub quantiles: Vec<Quantile>,
    /// Maximum error of the rank of a quantile, and of the number of values on either side of an edge of the histogram, as a share of all
    /// values; 0 if they are exact.
    pub rank_error: f64,
    /// Histogram of the finite values; `None` if there are none, or if it was not requested.
    pub histogram: Option<Histogram>,
}

/// Least or greatest value, and where it is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Extreme {
    /// Least or greatest value.
    pub value: Scalar,
    /// Index of the value in the array, or in the variable if its strings are composed of characters: the first such value in C order.
    /// `None` for selections by lists of indices.
    pub index: Option<Vec<u64>>,
}

/// Quantile of the values at a share.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Quantile {
    /// Share of values below the quantile, from 0 to 1.
    pub share: f64,
    /// Value of the quantile, interpolated linearly between the two nearest values as `numpy.quantile` does; one of the values if ranks are
    /// not exact.
    pub value: Scalar,
}

/// Histogram of finite values, in bins of equal width from the least value to the greatest.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Histogram {
    /// Edges of the bins, one more than there are bins. Edges for times, and for integers of more than 53 bits, are times and integers. A
    /// value on an edge is in the bin above the edge; a value on the last edge is in the last bin.
    pub edges: Vec<Scalar>,
    /// Number of values in each bin.
    pub counts: Vec<u128>,
}

/// Statistics of strings and bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Texts {
    /// Number of different values; `None` if there are too many to count: more than 65,536 (fewer with less memory than 256 MiB), or with
    /// more bytes than a sixteenth of the memory.
    pub distinct: Option<usize>,
    /// Most common values, each with the minimum number of its occurrences.
    pub common: Vec<(Vec<u8>, u128)>,
    /// Maximum number of further occurrences of each of the most common values; 0 if `distinct` is known.
    pub missed: u128,
}

/// Statistics for each index along an axis.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rows {
    /// Axis of the selection along which each index has a row.
    pub axis: usize,
    pub(crate) places: AxisPositions,
    pub(crate) rows: Vec<RowTotals>,
    pub(crate) present: Present,
}

/// Statistics of the values at one index along an axis.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    /// Index in the array along the axis.
    pub index: u64,
    /// Number of values that are not NaN, NaT or missing.
    pub count: u128,
    /// Number of values that are NaN, NaT or missing.
    pub nan: u128,
    /// Least value of the row; `None` without values.
    pub min: Option<Scalar>,
    /// Greatest value of the row; `None` without values.
    pub max: Option<Scalar>,
    /// Mean of the row; `None` without values.
    pub mean: Option<Scalar>,
    /// Imaginary part of the mean of complex numbers; `None` for other values.
    pub imaginary_mean: Option<Scalar>,
    /// Standard deviation of the row; `None` without values.
    pub std: Option<Scalar>,
}

/// Computes the mean, its imaginary part, and the standard deviation.
pub(crate) fn average(
    moments: &Moments,
    complex: Option<(&Moments, &Moments)>,
    present: &Present,
) -> (Option<Scalar>, Option<Scalar>, Option<Scalar>) {
    if moments.count == 0 {
        return (None, None, None);
    }
    match complex {
        None => {
            let mean = present.computed(moments.mean(), moments.nearest_mean());
            (Some(mean), None, Some(present.distance(moments.variance().sqrt())))
        }
        Some((real, imaginary)) => {
            let std = (real.variance() + imaginary.variance()).sqrt();
            let [mean, imaginary_mean] = [real, imaginary].map(|part| Some(present.computed(part.mean(), None)));
            (mean, imaginary_mean, Some(present.distance(std)))
        }
    }
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Iterates over the rows, in ascending order of their indices; for a list of indices in the order of the list.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row> + '_ {
        self.rows.iter().enumerate().map(|(number, row)| {
            let complex = row.imaginary.as_deref().map(|imaginary| (&row.moments, imaginary));
            let (mean, imaginary_mean, std) = average(&row.moments, complex, &self.present);
            Row {
                index: self.places.at(number as u64),
                count: row.moments.count,
                nan: row.nan,
                min: row.least.map(|key| self.present.key(key)),
                max: row.greatest.map(|key| self.present.key(key)),
                mean,
                imaginary_mean,
                std,
            }
        })
    }
}

impl Texts {
    /// Converts a value of [`common`](Self::common) to a string. Bytes that are not UTF-8 are replaced.
    pub fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }
}
