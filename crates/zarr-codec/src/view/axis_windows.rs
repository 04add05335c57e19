//! Windows along one axis of a view.

use super::{ViewMut, Windows};
use crate::Dims;
use crate::Error;
use smallvec::SmallVec;

/// Windows along one axis, in ascending order.
///
/// Consecutive windows of equal length are stored as one record, so that the windows of 10^18 chunks take no more
/// memory than the windows of ten.
///
/// ```
/// use zarr_codec::{ViewMut, AxisWindows};
///
/// let mut windows = AxisWindows::default();
/// windows.push(0, 1, 1);
/// windows.push(1, 2, 3);
/// let mut bytes = [0; 7];
/// let windows = ViewMut::new(&mut bytes, 1, &[7])?.into_windows(vec![windows])?;
/// assert_eq!(windows.map(|window| window.shape()[0]).collect::<Vec<_>>(), [1, 2, 2, 2]);
/// # Ok::<(), zarr_codec::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AxisWindows {
    runs: SmallVec<[Run; 3]>,
    len: usize,
    /// Whether windows are missing, because their number overflows or because memory for the windows cannot be allocated.
    fault: bool,
}

/// Consecutive windows of equal length.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Number of windows of the preceding runs.
    first: usize,
    /// Offset of the first window along the axis, in elements.
    start: usize,
    /// Length of each window in elements.
    width: usize,
    count: usize,
}

impl AxisWindows {
    /// Adds `count` consecutive windows of `width` elements each; the first one begins at element `start`.
    pub fn push(&mut self, start: usize, width: usize, count: usize) {
        let Some(len) = self.len.checked_add(count) else {
            self.fault = true;
            return;
        };
        let is_next = |last: &&mut Run| {
            let end = last.count.checked_mul(width).and_then(|size| size.checked_add(last.start));
            last.width == width && end == Some(start)
        };
        if let Some(last) = self.runs.last_mut().filter(is_next) {
            last.count += count;
        } else if self.runs.try_reserve(1).is_ok() {
            self.runs.push(Run { first: self.len, start, width, count });
        } else {
            self.fault = true;
        }
        self.len = len;
    }

    /// Whether the windows are disjoint and lie within an axis of `len` elements.
    pub(super) fn check(&self, len: usize) -> bool {
        let mut free = 0;
        let fits = |run: &Run| {
            let end = run.width.checked_mul(run.count).and_then(|size| size.checked_add(run.start));
            let good = run.start >= free && end.is_some_and(|end| end <= len);
            free = end.unwrap_or(usize::MAX);
            good
        };
        !self.fault && self.runs.iter().all(fits)
    }

    /// Number of windows.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the start and length of window `number`, and the number of consecutive windows of equal length that begin with it. `number`
    /// must be less than `len`.
    pub(super) fn get(&self, number: usize) -> (usize, usize, usize) {
        let run = match self.runs.as_slice() {
            [only] => only,
            all => &all[all.partition_point(|run| run.first <= number) - 1],
        };
        let nth = number - run.first;
        (run.start + nth * run.width, run.width, run.count - nth)
    }
}

impl FromIterator<(usize, usize)> for AxisWindows {
    /// Collects windows given as pairs of start and length.
    fn from_iter<I: IntoIterator<Item = (usize, usize)>>(windows: I) -> Self {
        let mut all = Self::default();
        windows.into_iter().for_each(|(start, width)| all.push(start, width, 1));
        all
    }
}

impl<'a> ViewMut<'a> {
    /// Divides the view along every axis into windows that do not overlap.
    ///
    /// # Errors
    /// [`Error::Windows`] if windows overlap or reach out of the view.
    pub fn into_windows(self, axes: Vec<AxisWindows>) -> Result<Windows<'a>, Error> {
        let shape = Dims::from_slice(self.shape());
        Windows::new(self, axes).ok_or(Error::Windows { shape })
    }
}
