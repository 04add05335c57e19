//! Values of a variable that were read or are to be written.

use crate::calendar_time;
use crate::{Error, Result};
use zarr_array::ArrayData;
use zarr_cf::fill::parts;
use zarr_cf::time::DateTime;
use zarr_dtype::{DataType, Element};
use zarr_json::Value;

/// Values of a [`Variable`](crate::Variable), with the names of their dimensions.
#[derive(Clone, Debug)]
pub struct Values {
    pub(crate) dimensions: Vec<String>,
    pub(crate) data: ArrayData,
    /// Whether each value is missing, if the data type has no value that marks missing data.
    pub(crate) missing: Option<Vec<bool>>,
}

impl Values {
    /// Returns the names of the dimensions.
    pub fn dimensions(&self) -> &[String] {
        &self.dimensions
    }

    /// Returns the number of values along each dimension.
    pub fn shape(&self) -> &[u64] {
        self.data.shape()
    }

    /// Returns the data type: a float type if data may be missing, `numpy.datetime64` in nanoseconds for times.
    pub fn data_type(&self) -> &DataType {
        self.data.data_type()
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Returns the values as a block of elements. Missing strings, byte strings and bools have their stored value: see
    /// [`is_missing`](Self::is_missing).
    pub fn data(&self) -> &ArrayData {
        &self.data
    }

    /// Returns the values as Rust values, in C order.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](zarr_array::ErrorKind::Argument) if `T` does not fit the data type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.data.to_vec()
    }

    /// Returns the values as an array of the crate `ndarray`, with a fixed number of dimensions or, as `IxDyn`, any number.
    ///
    /// ```
    /// use ndarray::{Array2, array};
    /// use zarr_dataset::IntoValues;
    ///
    /// let values = ([2, 3], [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]).into_values()?;
    /// let grid: Array2<f64> = values.to_array()?;
    /// assert_eq!(grid, array![[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]]);
    /// # Ok::<(), zarr_dataset::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](zarr_array::ErrorKind::Argument) if `T` does not fit the data type, or `D` the number of dimensions.
    #[cfg(feature = "ndarray")]
    pub fn to_array<T: Element, D: ndarray::Dimension>(&self) -> Result<ndarray::Array<T, D>> {
        let shape = self.shape();
        if let Some(rank) = D::NDIM.filter(|&rank| rank != shape.len()) {
            return Err(Error::argument(format!("found values of shape {shape:?}, expected {rank} dimensions")));
        }
        let lengths = shape.iter().map(|&len| usize::try_from(len)).collect::<Result<Vec<_>, _>>();
        let lengths =
            lengths.map_err(|_| Error::argument(format!("found values of shape {shape:?}, more than memory has")))?;
        let array = ndarray::ArrayD::from_shape_vec(lengths, self.to_vec()?);
        let array = array.and_then(ndarray::ArrayBase::into_dimensionality);
        array.map_err(|error| Error::argument(error.to_string()))
    }

    /// Returns the values as dates, in C order; the data type is `numpy.datetime64` in nanoseconds or dates of a calendar. Missing dates
    /// are `None`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](zarr_array::ErrorKind::Argument) if the values are no times.
    pub fn to_dates(&self) -> Result<Vec<Option<DateTime>>> {
        let numbers = self.data.items().as_chunks::<8>().0.iter().map(|&item| i64::from_ne_bytes(item));
        match (self.data_type(), calendar_time::calendar(self.data_type())) {
            (_, Some(calendar)) => Ok(numbers.map(|number| calendar_time::from_number(number, calendar)).collect()),
            (DataType::DateTime64(unit), _) if unit.unit == zarr_dtype::Unit::Nanosecond && unit.scale == 1 => {
                Ok(numbers.map(|number| (number != i64::MIN).then(|| DateTime::from_nanoseconds(number))).collect())
            }
            (found, _) => {
                Err(Error::argument(format!("found values of data type {found}, expected times in nanoseconds")))
            }
        }
    }

    /// Returns whether each value is missing, in C order, if the data type has no value that marks missing data; `None` for other data
    /// types, and for variables that mark none. [`is_missing`](Self::is_missing) covers all data types.
    pub fn missing(&self) -> Option<&[bool]> {
        self.missing.as_deref()
    }

    /// Whether value `index` in C order is missing: NaN, NaT, or a string, byte string or bool that the variable marks as missing.
    pub fn is_missing(&self, index: usize) -> bool {
        if let Some(missing) = &self.missing {
            return missing.get(index).copied().unwrap_or(false);
        }
        let size = self.data_type().item_size();
        let item = index.checked_mul(size).and_then(|start| self.data.items().get(start..start + size));
        let Some(item) = item else { return false };
        match self.data_type() {
            DataType::DateTime64(_) | DataType::TimeDelta64(_) => item == i64::MIN.to_ne_bytes(),
            data_type if calendar_time::calendar(data_type).is_some() => item == i64::MIN.to_ne_bytes(),
            data_type => match parts(data_type, item) {
                Some((re, im)) => re.is_nan() && im.is_nan(),
                None => data_type.to_f64(item).is_some_and(f64::is_nan),
            },
        }
    }

    /// Returns value `index` in C order as text: times as dates, missing values as `NaN` or `NaT`.
    pub fn text(&self, index: usize) -> String {
        match &self.missing {
            Some(missing) if missing.get(index) == Some(&true) => "NaN".to_owned(),
            _ => self.data.text(index),
        }
    }

    /// Returns value `index` in C order as JSON; missing strings, byte strings and bools are `null`.
    pub fn json(&self, index: usize) -> Value {
        match &self.missing {
            Some(missing) if missing.get(index) == Some(&true) => Value::Null,
            _ => self.data.json(index),
        }
    }
}
