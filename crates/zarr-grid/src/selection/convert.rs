use core::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use super::{AxisSelection, Selection};
use crate::error::Result;
use crate::region::Region;

/// Conversion into a selection: for numbers, Rust ranges, lists of numbers and [`AxisSelection`]s, tuples of up to six of these, slices of
/// ranges, a [`Region`], strings, and [`Selection`] itself.
///
/// Numbers and ranges have the same meaning as in numpy: `-3..` are the last three positions, `0..1000` is clipped.
///
/// ```
/// # use zarr_grid::{IntoSelection, Selection};
/// let text: Selection = "0:10, 5, ...".parse()?;
/// assert_eq!((0..10, 5, zarr_grid::AxisSelection::Ellipsis).into_selection()?, text);
/// # Ok::<(), zarr_grid::Error>(())
/// ```
pub trait IntoSelection {
    /// Converts the value into a selection.
    ///
    /// # Errors
    /// [`Error::Parse`](crate::Error::Parse) for a string that is no selection.
    fn into_selection(self) -> Result<Selection>;
}

impl IntoSelection for Selection {
    fn into_selection(self) -> Result<Selection> {
        Ok(self)
    }
}

impl IntoSelection for &Selection {
    fn into_selection(self) -> Result<Selection> {
        Ok(self.clone())
    }
}

impl IntoSelection for Region {
    fn into_selection(self) -> Result<Selection> {
        Ok(Selection::Region(self))
    }
}

impl IntoSelection for &Region {
    fn into_selection(self) -> Result<Selection> {
        Ok(Selection::Region(self.clone()))
    }
}

impl IntoSelection for &str {
    fn into_selection(self) -> Result<Selection> {
        self.parse()
    }
}

impl IntoSelection for String {
    fn into_selection(self) -> Result<Selection> {
        self.parse()
    }
}

impl IntoSelection for &String {
    fn into_selection(self) -> Result<Selection> {
        self.parse()
    }
}

impl IntoSelection for () {
    fn into_selection(self) -> Result<Selection> {
        Ok(Selection::all())
    }
}

impl<T: Clone + Into<AxisSelection>> IntoSelection for &[T] {
    fn into_selection(self) -> Result<Selection> {
        Ok(Selection::Axes(self.iter().cloned().map(Into::into).collect()))
    }
}

impl<T: Clone + Into<AxisSelection>> IntoSelection for &Vec<T> {
    fn into_selection(self) -> Result<Selection> {
        self.as_slice().into_selection()
    }
}

impl<T: Into<AxisSelection>> IntoSelection for Vec<T> {
    fn into_selection(self) -> Result<Selection> {
        Ok(Selection::Axes(self.into_iter().map(Into::into).collect()))
    }
}

impl<T: Into<AxisSelection>, const N: usize> IntoSelection for [T; N] {
    fn into_selection(self) -> Result<Selection> {
        Ok(Selection::Axes(self.into_iter().map(Into::into).collect()))
    }
}

impl<T: Clone + Into<AxisSelection>, const N: usize> IntoSelection for &[T; N] {
    fn into_selection(self) -> Result<Selection> {
        self.as_slice().into_selection()
    }
}

/// Implements conversions of `$type` into an [`AxisSelection`] and, as a selection of the first axis, into a [`Selection`].
macro_rules! axis {
    ($type:ty, $value:pat => $axis:expr) => {
        impl From<$type> for AxisSelection {
            fn from($value: $type) -> Self {
                $axis
            }
        }

        impl IntoSelection for $type {
            fn into_selection(self) -> Result<Selection> {
                Ok(Selection::Axes(vec![self.into()]))
            }
        }
    };
}

macro_rules! integers {
    ($($int:ty)*) => { $(
        axis!($int, at => AxisSelection::Index(saturated(at as i128)));
        axis!(Range<$int>, range => between(Some(range.start as i128), Some(range.end as i128)));
        axis!(RangeFrom<$int>, range => between(Some(range.start as i128), None));
        axis!(RangeTo<$int>, range => between(None, Some(range.end as i128)));
        axis!(RangeInclusive<$int>, range => between(Some(*range.start() as i128), behind(*range.end() as i128)));
        axis!(RangeToInclusive<$int>, range => between(None, behind(range.end as i128)));
    )* };
}

integers!(i32 i64 isize u32 u64 usize);

impl From<RangeFull> for AxisSelection {
    fn from(_: RangeFull) -> Self {
        Self::All
    }
}

impl IntoSelection for RangeFull {
    /// Selects the whole array, for any number of dimensions.
    fn into_selection(self) -> Result<Selection> {
        Ok(Selection::all())
    }
}

impl From<Vec<i64>> for AxisSelection {
    fn from(indices: Vec<i64>) -> Self {
        Self::Indices(indices)
    }
}

impl From<&[i64]> for AxisSelection {
    fn from(indices: &[i64]) -> Self {
        Self::Indices(indices.to_vec())
    }
}

impl From<Vec<u64>> for AxisSelection {
    fn from(indices: Vec<u64>) -> Self {
        Self::Indices(indices.into_iter().map(|at| saturated(at.into())).collect())
    }
}

impl From<Vec<usize>> for AxisSelection {
    fn from(indices: Vec<usize>) -> Self {
        Self::Indices(indices.into_iter().map(|at| saturated(at as i128)).collect())
    }
}

impl From<Vec<bool>> for AxisSelection {
    fn from(mask: Vec<bool>) -> Self {
        Self::Mask(mask)
    }
}

impl IntoSelection for AxisSelection {
    fn into_selection(self) -> Result<Selection> {
        Ok(Selection::Axes(vec![self]))
    }
}

macro_rules! tuples {
    ($(($($name:ident)+))*) => { $(
        impl<$($name: Into<AxisSelection>),+> IntoSelection for ($($name,)+) {
            #[allow(non_snake_case, reason = "the type parameters name the fields")]
            fn into_selection(self) -> Result<Selection> {
                let ($($name,)+) = self;
                Ok(Selection::Axes(vec![$($name.into()),+]))
            }
        }
    )* };
}

tuples! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) }

fn between(start: Option<i128>, stop: Option<i128>) -> AxisSelection {
    AxisSelection::Range { start: start.map(saturated), stop: stop.map(saturated), step: 1 }
}

/// Returns the end of a range whose last position is `last`; `None` (the end of the axis) if `last` is -1.
fn behind(last: i128) -> Option<i128> {
    Some(last + 1).filter(|_| last != -1)
}

/// Converts a position to `i64`, with saturation. No axis is longer than `i64::MAX`, so the meaning stays: a range is clipped, an index is
/// out of bounds.
fn saturated(at: i128) -> i64 {
    i64::try_from(at).unwrap_or(if at < 0 { i64::MIN } else { i64::MAX })
}
