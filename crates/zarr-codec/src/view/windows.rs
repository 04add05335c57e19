//! Grid of windows on a view.

use super::{AxisWindows, Geometry, ViewMut};
use crate::Dims;
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::sync::Arc;
use zarr_dtype::Heap;

/// Iterator of disjoint windows of one view, in C order of the grid along which the view was divided.
///
/// The iterator stores only the windows per axis, so that a million windows cost the sum of the axes and not their product. Windows
/// can be [split off](Self::split_at) and moved to another thread.
#[derive(Debug)]
pub struct Windows<'a> {
    ptr: *mut u8,
    geometry: Geometry,
    heap: Option<Arc<Heap>>,
    stream: bool,
    /// Windows of each axis, which were checked to be disjoint and within the view.
    axes: Arc<[AxisWindows]>,
    next: usize,
    end: usize,
    life: PhantomData<&'a mut [u8]>,
}

// SAFETY: the windows `next..end` are exclusive borrows of plain bytes, and belong to this value alone.
unsafe impl Send for Windows<'_> {}

impl<'a> Windows<'a> {
    /// Divides `view`; `None` if the number of axes differs, or if windows overlap or reach out of the view.
    pub(super) fn new(view: ViewMut<'a>, axes: Vec<AxisWindows>) -> Option<Self> {
        let fits =
            axes.len() == view.shape().len() && axes.iter().zip(view.shape()).all(|(windows, &len)| windows.check(len));
        let end = axes.iter().try_fold(1usize, |count, windows| count.checked_mul(windows.len()))?;
        fits.then(|| Self {
            ptr: view.ptr,
            geometry: view.geometry,
            heap: view.heap,
            stream: view.stream,
            axes: axes.into(),
            next: 0,
            end,
            life: PhantomData,
        })
    }

    /// Returns the number, in C order of the whole grid, of the window that [`next`](Iterator::next) returns next.
    pub fn position(&self) -> usize {
        self.next
    }

    /// Returns the next windows along the last axis as one view whose first axis counts the windows: up to `most` consecutive windows of
    /// equal length. `None` if no window is left.
    pub fn next_row(&mut self, most: usize) -> Option<ViewMut<'a>> {
        let last = self.axes.last().filter(|windows| windows.len() > 0);
        let (_, step, alike) = last.map_or((0, 0, 1), |windows| windows.get(self.next % windows.len()));
        let count = alike.min(most).min(self.end - self.next).max(1);
        let mut row = self.next()?.with_axis(0);
        if count > 1 {
            // The windows `next - 1..next - 1 + count` are given away at once. The elements of window `i` lie `i` times
            // the distance behind the elements of the first.
            row.geometry.shape[0] = count;
            row.geometry.strides[0] = step as isize * self.geometry.strides[self.geometry.strides.len() - 1];
            self.next += count - 1;
        }
        Some(row)
    }

    /// Splits off the first `count` windows, or all if fewer are left, and returns both parts.
    pub fn split_at(mut self, count: usize) -> (Self, Self) {
        let middle = self.next.saturating_add(count).min(self.end);
        let rest = Self {
            ptr: self.ptr,
            geometry: self.geometry.clone(),
            heap: self.heap.clone(),
            stream: self.stream,
            axes: Arc::clone(&self.axes),
            next: middle,
            end: self.end,
            life: PhantomData,
        };
        self.end = middle;
        (self, rest)
    }
}

impl<'a> Iterator for Windows<'a> {
    type Item = ViewMut<'a>;

    fn next(&mut self) -> Option<ViewMut<'a>> {
        if self.next == self.end {
            return None;
        }
        let mut rest = self.next;
        self.next += 1;
        let mut shape: Dims = SmallVec::from_elem(0, self.axes.len());
        let mut offset = 0isize;
        for (axis, windows) in self.axes.iter().enumerate().rev() {
            let (start, len, _) = windows.get(rest % windows.len());
            rest /= windows.len();
            shape[axis] = len;
            offset += start as isize * self.geometry.strides[axis];
        }
        let geometry = Geometry { item: self.geometry.item, shape, strides: self.geometry.strides.clone() };
        // The window is disjoint from all others: along at least one axis its elements are (checked in `new`), and each
        // number in `next..end` is given once, by this value alone (`split_at` divides the range).
        let ptr = self.ptr.wrapping_offset(offset);
        Some(ViewMut { ptr, geometry, heap: self.heap.clone(), stream: self.stream, life: PhantomData })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.end - self.next, Some(self.end - self.next))
    }
}

impl ExactSizeIterator for Windows<'_> {}
