//! How one axis of a view is cut into windows.

use super::{ViewMut, Windows};
use crate::Dims;
use crate::Error;
use smallvec::SmallVec;

/// Windows along one axis, in ascending order.
///
/// Windows of one length that lie one behind the other are one record, so that the windows of 10^18 chunks take no more
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
    /// They cannot be: there are more than can be counted, or there is no memory for them.
    fault: bool,
}

/// Windows of one length, one behind the other.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// How many windows lie before.
    first: usize,
    /// Where the first window begins.
    start: usize,
    /// The length of each window.
    width: usize,
    count: usize,
}

impl AxisWindows {
    /// Adds `count` windows of `width` elements each, the first of which begins at `start`.
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

    /// Checks that no two share an element and all lie within an axis of `len` elements.
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

    /// How many windows there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Where window `number` begins, its length, and how many of that length lie one behind the other from it on. The window is
    /// there.
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
    /// Windows of these beginnings and lengths.
    fn from_iter<I: IntoIterator<Item = (usize, usize)>>(windows: I) -> Self {
        let mut all = Self::default();
        windows.into_iter().for_each(|(start, width)| all.push(start, width, 1));
        all
    }
}

impl<'a> ViewMut<'a> {
    /// Cuts the view along every axis into windows that do not overlap.
    ///
    /// # Errors
    /// [`Error::Windows`] if windows overlap or reach out of the view.
    pub fn into_windows(self, axes: Vec<AxisWindows>) -> Result<Windows<'a>, Error> {
        let shape = Dims::from_slice(self.shape());
        Windows::new(self, axes).ok_or(Error::Windows { shape })
    }
}
