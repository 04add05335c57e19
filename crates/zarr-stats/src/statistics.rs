//! Statistics as they are computed.

use crate::kind::Kind;
use crate::moments::Moments;
use crate::part_statistics::RowTotals;
use crate::positions::AxisPositions;
use crate::present::{Present, Scalar};
use zarr_dtype::DataType;

/// Statistics of elements or values, computed in one pass in which each chunk is decoded once. Chunks that are not stored are counted
/// without being read, where the store can list. Neither holds of strings that a variable puts together of characters, nor where lists of
/// indices are selected: these are read as all else is.
///
/// # How exact it is
/// Counts, extremes and sums of integers are exact (sums as long as they fit 128 bits). Sums of floats are compensated, so that the mean
/// of values of one sign, and the standard deviation, are within a few units in the 16th digit of the true ones, however many values
/// there are; numpy's in float64 have about as many. Quantiles and histograms are exact for types of up to 16 bits, and as long as the
/// values fit a quarter of the memory, 8 bytes for each. Of more values samples are kept, and [`rank_error`](Numbers::rank_error) bounds
/// how far the rank of a quantile is off.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Statistics {
    /// The data type of the elements or values, or of the field.
    pub data_type: DataType,
    /// Kind of the values.
    pub kind: Kind,
    /// Whether values are decoded by the CF conventions.
    pub is_decoded: bool,
    /// The shape of the selection, without axes of single indices.
    pub shape: Vec<u64>,
    /// The elements that were selected.
    pub elements: u128,
    /// The values that were looked at: those of elements that are arrays count one by one.
    pub values: u128,
    /// Elements in chunks that are not stored; `None` if the store cannot list, where lists of indices are selected, and of strings that
    /// are put together of characters.
    pub unstored: Option<u128>,
    /// Values that are the fill value; `None` if they are decoded, or if there is none.
    pub fill: Option<u128>,
    /// Values that are NaN or NaT; where they are decoded, those that are missing.
    pub nan: u128,
    /// Statistics of numbers, times and bools, or of the lengths of strings and bytes.
    pub numbers: Numbers,
    /// Statistics of the values that are strings or bytes.
    pub texts: Option<Texts>,
    /// Statistics for each index along an axis, if they were asked for.
    pub rows: Option<Rows>,
}

/// Statistics of numbers: NaN and missing values are left out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Numbers {
    /// The number of values.
    pub count: u128,
    /// The number of values that are infinite.
    pub infinite: u128,
    /// The least value.
    pub min: Option<Extreme>,
    /// The greatest value.
    pub max: Option<Extreme>,
    /// The sum of integers; `None` of other numbers, or if it does not fit 128 bits.
    pub integer_sum: Option<i128>,
    /// The sum; NaN of times.
    pub sum: f64,
    /// The mean; `None` without values.
    pub mean: Option<Scalar>,
    /// The imaginary part of the mean of complex numbers, whose real part is `mean`.
    pub imaginary_mean: Option<Scalar>,
    /// The standard deviation of all values, as `numpy.std`; `None` without values.
    pub std: Option<Scalar>,
    /// The quantiles that were asked for; none without values.
    pub quantiles: Vec<Quantile>,
    /// Greatest error of the rank of a quantile, and of the number of values in the bins beside an edge of the histogram, as a share of
    /// all values: 0 where they are exact.
    pub rank_error: f64,
    /// The histogram, if there are finite values.
    pub histogram: Option<Histogram>,
}

/// The least or the greatest value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Extreme {
    /// The value.
    pub value: Scalar,
    /// Its index in the array, or in a variable with strings put together of characters: the first one in C order. `None` if lists of
    /// indices were selected.
    pub index: Option<Vec<u64>>,
}

/// A quantile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Quantile {
    /// The share of values below it.
    pub share: f64,
    /// The value of the quantile: between the two nearest ones linearly, as `numpy.quantile`; one of the values where ranks are not
    /// exact.
    pub value: Scalar,
}

/// Histogram: the numbers of finite values in bins of one width, from the least value to the greatest.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Histogram {
    /// The edges of the bins: one more than there are bins. Of times, and of integers of more than 53 bits, they are such values.
    /// A value on an edge is in the bin behind it, on the last edge in the last bin.
    pub edges: Vec<Scalar>,
    /// The values in each bin.
    pub counts: Vec<u128>,
}

/// Statistics of strings and bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Texts {
    /// The number of different values; `None` if they are more than are kept: up to 65,536 (in less memory than 256 MiB fewer), with
    /// bytes of a sixteenth of the memory.
    pub distinct: Option<usize>,
    /// The most common values, each with the least number of its occurrences.
    pub common: Vec<(Vec<u8>, u128)>,
    /// Number of further occurrences that each of the most common values may have: 0 if `distinct` is known.
    pub missed: u128,
}

/// Statistics for each index along an axis.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rows {
    /// The axis.
    pub axis: usize,
    pub(crate) places: AxisPositions,
    pub(crate) rows: Vec<RowTotals>,
    pub(crate) present: Present,
}

/// Statistics of the values at one index along an axis.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The index in the array.
    pub index: u64,
    /// Values that are not NaN.
    pub count: u128,
    /// Values that are NaN or NaT, or missing.
    pub nan: u128,
    /// The least value.
    pub min: Option<Scalar>,
    /// The greatest value.
    pub max: Option<Scalar>,
    /// The mean.
    pub mean: Option<Scalar>,
    /// The imaginary part of the mean of complex numbers.
    pub imaginary_mean: Option<Scalar>,
    /// The standard deviation.
    pub std: Option<Scalar>,
}

/// The mean, its imaginary part, and the standard deviation.
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
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows, in ascending order of their indices; of lists in the order of the list.
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
    /// A common text or byte string, in characters; bytes that are none are replaced.
    pub fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }
}
