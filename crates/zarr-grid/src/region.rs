use core::fmt;
use core::ops::Range;

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::shape::{Shape, element_count};

/// Range of `len` positions along one axis: `start`, `start + step`, ..
///
/// The step of a range with fewer than two positions has no meaning; [`Region`] sets it to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AxisRange {
    /// First position of the range.
    pub start: u64,
    /// Number of positions in the range.
    pub len: u64,
    /// Distance from one position to the next, at least 1.
    pub step: u64,
}

impl AxisRange {
    /// Creates a range of `len` consecutive positions from `start`.
    pub const fn new(start: u64, len: u64) -> Self {
        Self { start, len, step: 1 }
    }

    /// Creates a range of the positions `range.start..range.end`; empty if `range` is empty or reversed.
    pub const fn from_range(range: &Range<u64>) -> Self {
        Self::new(range.start, range.end.saturating_sub(range.start))
    }

    /// Returns the last position; `None` if there is none or if it exceeds 64 bits.
    pub const fn last(&self) -> Option<u64> {
        match self.len.checked_sub(1) {
            None => None,
            Some(n) => match n.checked_mul(self.step) {
                None => None,
                Some(offset) => self.start.checked_add(offset),
            },
        }
    }

    /// Returns whether there are no positions.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the positions before `end`. The step is the same unless fewer than two positions are left.
    pub fn before(&self, end: u64) -> Self {
        let len = end.saturating_sub(self.start).div_ceil(self.step.max(1)).min(self.len);
        Self { len, ..*self }.normal()
    }

    /// Sets the step to 1 if there are fewer than two positions, so that equal ranges are equal values.
    pub(crate) fn normal(self) -> Self {
        Self { step: if self.len <= 1 { 1 } else { self.step }, ..self }
    }
}

impl fmt::Display for AxisRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.last().map_or(self.start, |last| last.saturating_add(1));
        write!(f, "{}:{end}", self.start)?;
        if self.step != 1 {
            write!(f, ":{}", self.step)?;
        }
        Ok(())
    }
}

/// Box of elements with a step along each axis: the outer product of one [`AxisRange`] per axis.
///
/// A region does not know the array; [`Region::check`] checks whether it lies in one. Steps are at least 1 and every position fits 64 bits,
/// as [`Region::new`] verifies.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Region(pub(crate) SmallVec<[AxisRange; 6]>);

impl Region {
    /// Creates a region of the given ranges, outermost axis first.
    ///
    /// # Errors
    /// [`Error::ZeroStep`], or [`Error::Overflow`] if a position does not fit 64 bits.
    pub fn new(axes: impl IntoIterator<Item = AxisRange>) -> Result<Self> {
        let mut region = Self::default();
        for (axis, range) in axes.into_iter().enumerate() {
            if range.step == 0 {
                return Err(Error::ZeroStep { axis });
            }
            // The position behind the last one has to be representable as well.
            if !range.is_empty() && range.last().is_none_or(|last| last == u64::MAX) {
                return Err(Error::Overflow { what: "the end of a region" });
            }
            region.0.push(range.normal());
        }
        Ok(region)
    }

    /// Creates the region of all elements of an array of `shape`.
    pub fn whole(shape: &[u64]) -> Self {
        Self(shape.iter().map(|&len| AxisRange::new(0, len)).collect())
    }

    /// Creates the box of these ranges; a reversed range counts as empty.
    ///
    /// ```
    /// # use zarr_grid::Region;
    /// assert_eq!(Region::from_ranges(&[0..3, 5..9]).shape().as_slice(), [3, 4]);
    /// ```
    pub fn from_ranges(ranges: &[Range<u64>]) -> Self {
        Self(ranges.iter().map(AxisRange::from_range).collect())
    }

    /// Returns the ranges, one per axis.
    pub fn axes(&self) -> &[AxisRange] {
        &self.0
    }

    /// Returns the number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of elements along each axis.
    pub fn shape(&self) -> Shape {
        self.0.iter().map(|axis| axis.len).collect()
    }

    /// Returns the number of elements; `None` if it exceeds 64 bits.
    pub fn len_checked(&self) -> Option<u64> {
        element_count(&self.shape())
    }

    /// Returns whether the region has no elements. A 0-d region has one element.
    pub fn is_empty(&self) -> bool {
        self.0.iter().any(AxisRange::is_empty)
    }

    /// Returns the box common to the bounding boxes of both regions; `None` if they do not overlap. Steps are ignored.
    ///
    /// ```
    /// # use zarr_grid::Region;
    /// let (a, b) = (Region::from_ranges(&[0..3, 5..9]), Region::from_ranges(&[2..4, 0..6]));
    /// assert_eq!(a.overlap(&b), Some(Region::from_ranges(&[2..3, 5..6])));
    /// assert_eq!(a.overlap(&Region::from_ranges(&[3..4, 0..6])), None);
    /// ```
    pub fn overlap(&self, other: &Self) -> Option<Self> {
        let common = |(a, b): (&AxisRange, &AxisRange)| {
            let start = a.start.max(b.start);
            let len = a.last()?.min(b.last()?).checked_sub(start)?.checked_add(1)?;
            Some(AxisRange::new(start, len))
        };
        (self.rank() == other.rank())
            .then(|| self.0.iter().zip(&other.0).map(common).collect::<Option<_>>())
            .flatten()
            .map(Self)
    }

    /// Returns the numbers of the elements of this region that lie in the box `other`, as a range along each axis. Number `n` is the `n`-th
    /// position of this region along the axis.
    ///
    /// ```
    /// # use zarr_grid::{AxisRange, Region};
    /// let even = Region::new([AxisRange { start: 2, len: 5, step: 2 }])?;
    /// // 4 and 6, of 2, 4, 6, 8, 10.
    /// assert_eq!(even.numbers_in(&Region::from_ranges(&[3..8])), Region::from_ranges(&[1..3]));
    /// # Ok::<(), zarr_grid::Error>(())
    /// ```
    #[must_use]
    pub fn numbers_in(&self, other: &Self) -> Self {
        let numbers = |(axis, range): (&AxisRange, &AxisRange)| {
            let at = |end: u64| end.saturating_sub(axis.start).div_ceil(axis.step.max(1)).min(axis.len);
            let (start, end) = (at(range.start), at(range.start.saturating_add(range.len)));
            AxisRange::new(start, end.saturating_sub(start))
        };
        Self(self.0.iter().zip(&other.0).map(numbers).collect())
    }

    /// Returns the elements of the array for `numbers`, a region of numbers along each axis: the inverse of
    /// [`numbers_in`](Self::numbers_in).
    ///
    /// # Errors
    /// [`Error::Overflow`] if a position exceeds 64 bits, which cannot happen if `numbers` lie in the [shape](Self::shape).
    pub fn at_numbers(&self, numbers: &Self) -> Result<Self> {
        let overflow = Error::Overflow { what: "a position of a region" };
        let axes = self.0.iter().zip(&numbers.0).map(|(axis, range)| {
            let start = range.start.checked_mul(axis.step).and_then(|offset| axis.start.checked_add(offset));
            let step = range.step.checked_mul(axis.step);
            let (start, step) = start.zip(step).ok_or_else(|| overflow.clone())?;
            Ok(AxisRange { start, len: range.len, step })
        });
        Self::new(axes.collect::<Result<Vec<_>>>()?)
    }

    /// Returns whether the region has all elements of an array of `shape`.
    pub fn is_whole(&self, shape: &[u64]) -> bool {
        self.rank() == shape.len()
            && self
                .0
                .iter()
                .zip(shape)
                .all(|(axis, &len)| axis.len == len && (len == 0 || (axis.start == 0 && axis.step == 1)))
    }

    /// Returns whether every step is 1.
    pub fn is_contiguous_box(&self) -> bool {
        self.0.iter().all(|axis| axis.step == 1)
    }

    /// Returns the region of the transposed array: axis `i` of the result is axis `order[i]` of `self`.
    ///
    /// `order` must be a permutation of the axes; numbers that are no axis are skipped.
    pub fn permuted(&self, order: &[usize]) -> Self {
        Self(order.iter().filter_map(|&axis| self.0.get(axis).copied()).collect())
    }

    /// Checks that every element lies in an array of `shape`.
    ///
    /// # Errors
    /// [`Error::Rank`] or [`Error::OutOfBounds`].
    pub fn check(&self, shape: &[u64]) -> Result<()> {
        if self.rank() != shape.len() {
            return Err(Error::Rank { what: "region", found: self.rank(), expected: shape.len() });
        }
        for (axis, (range, &len)) in self.0.iter().zip(shape).enumerate() {
            if let Some(last) = range.last().filter(|&last| last >= len) {
                return Err(Error::OutOfBounds { what: "index", axis, found: last.into(), len });
            }
        }
        Ok(())
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (axis, range) in self.0.iter().enumerate() {
            let comma = if axis == 0 { "" } else { ", " };
            write!(f, "{comma}{range}")?;
        }
        f.write_str("]")
    }
}
