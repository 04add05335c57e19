//! Conversion of data of a program to values of a variable.

use crate::values::Values;
use crate::{Error, Result, calendar_time};
use std::sync::Arc;
use zarr_array::ArrayData;
use zarr_cf::time::DateTime;
use zarr_dtype::{Heap, WriteElement};

/// Types that convert to values of a variable: a slice, a vector or a Rust array of elements along one dimension; a pair of a shape and
/// elements in C order; [`Values`] that were read; an [`ArrayData`]; with the feature `ndarray` arrays of that crate. Dates of a calendar
/// are converted by [`Values::of_dates`].
#[diagnostic::on_unimplemented(
    message = "no values of a variable can be made from `{Self}`",
    note = "slices, vectors and Rust arrays of elements can; of several dimensions a pair `([2, 3], elements)`",
    note = "arrays of `ndarray` can with the feature `ndarray`"
)]
pub trait IntoValues {
    /// Converts to values.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if elements have no data type, or if their number differs from that of the
    /// shape.
    fn into_values(self) -> Result<Values>;
}

impl Values {
    /// Returns the elements of `data` as values.
    pub fn of_data(data: ArrayData) -> Self {
        Self { dimensions: Vec::new(), data, missing: None }
    }

    /// Returns dates, all of one calendar, as values; `None` is a missing date (NaT).
    ///
    /// ```
    /// use zarr_dataset::Values;
    /// use zarr_dataset::cf::time::{Calendar, DateTime};
    ///
    /// let dates = [Some(DateTime::new(Calendar::Days360, 2000, 2, 30)?), None];
    /// assert_eq!(Values::of_dates(&dates)?.text(0), "2000-02-30 00:00:00");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if all dates are missing, if dates have several calendars, or if a date is more
    /// than 292,000 years from 2000.
    pub fn of_dates(dates: &[Option<DateTime>]) -> Result<Self> {
        let first = dates.iter().flatten().next();
        let calendar =
            first.ok_or_else(|| Error::argument("found no date, of which the calendar would be"))?.calendar();
        let mut items = Vec::with_capacity(dates.len() * 8);
        for (index, date) in dates.iter().enumerate() {
            if let Some(date) = date.as_ref().filter(|date| date.calendar() != calendar) {
                let (found, expected) = (date.calendar(), calendar);
                return Err(Error::argument(format!("date {index}: found calendar {found}, expected {expected}")));
            }
            let number = calendar_time::to_number(date.as_ref())
                .map_err(|what| Error::argument(format!("date {index}: {what}")))?;
            items.extend_from_slice(&number.to_ne_bytes());
        }
        let data_type = calendar_time::data_type(calendar)?;
        ArrayData::from_items(&data_type, &[dates.len() as u64], &items, None).map(Self::of_data)
    }
}

impl IntoValues for Values {
    fn into_values(self) -> Result<Values> {
        Ok(self)
    }
}

impl IntoValues for &Values {
    fn into_values(self) -> Result<Values> {
        Ok(self.clone())
    }
}

impl IntoValues for ArrayData {
    fn into_values(self) -> Result<Values> {
        Ok(Values::of_data(self))
    }
}

fn of_elements<T: WriteElement>(shape: &[u64], elements: &[T]) -> Result<Values> {
    let data_type = T::written_data_type()?;
    let heap = Arc::new(Heap::new());
    let items = T::make_items(&data_type, elements, &heap)?;
    let heap = data_type.is_variable().then_some(heap);
    ArrayData::from_items(&data_type, shape, &items, heap).map(Values::of_data)
}

impl<T: WriteElement> IntoValues for &[T] {
    fn into_values(self) -> Result<Values> {
        of_elements(&[self.len() as u64], self)
    }
}

impl<T: WriteElement, const N: usize> IntoValues for &[T; N] {
    fn into_values(self) -> Result<Values> {
        self.as_slice().into_values()
    }
}

impl<T: WriteElement, const N: usize> IntoValues for [T; N] {
    fn into_values(self) -> Result<Values> {
        self.as_slice().into_values()
    }
}

impl<T: WriteElement> IntoValues for &Vec<T> {
    fn into_values(self) -> Result<Values> {
        self.as_slice().into_values()
    }
}

impl<T: WriteElement> IntoValues for Vec<T> {
    fn into_values(self) -> Result<Values> {
        self.as_slice().into_values()
    }
}

impl<V: IntoValues, const N: usize> IntoValues for ([u64; N], V) {
    fn into_values(self) -> Result<Values> {
        let (shape, values) = self;
        let values = values.into_values()?;
        let data = values.data();
        let data = ArrayData::from_items(data.data_type(), &shape, data.items(), data.heap().cloned())?;
        Ok(Values { data, ..values })
    }
}

#[cfg(feature = "ndarray")]
impl<T: WriteElement, S: ndarray::Data<Elem = T>, D: ndarray::Dimension> IntoValues for &ndarray::ArrayBase<S, D> {
    fn into_values(self) -> Result<Values> {
        let shape: Vec<u64> = self.shape().iter().map(|&len| len as u64).collect();
        match self.as_slice() {
            Some(elements) => of_elements(&shape, elements),
            None => of_elements(&shape, &self.iter().cloned().collect::<Vec<T>>()),
        }
    }
}

#[cfg(feature = "ndarray")]
impl<T: WriteElement, S: ndarray::Data<Elem = T>, D: ndarray::Dimension> IntoValues for ndarray::ArrayBase<S, D> {
    fn into_values(self) -> Result<Values> {
        (&self).into_values()
    }
}
