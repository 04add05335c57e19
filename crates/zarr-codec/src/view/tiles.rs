//! A view cut into a grid of windows.

use super::{Dims, Geometry, ViewMut};
use crate::Error;
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::sync::Arc;
use zarr_dtype::Heap;

/// Disjoint windows of one view, in C order of the grid they were cut along.
///
/// Nothing is held for a window until it is taken, so a plan over a million chunks costs the sum of the axes. A run of
/// windows can be [split off](Self::split_at) and given to another thread.
#[derive(Debug)]
pub struct Tiles<'a> {
    ptr: *mut u8,
    geometry: Geometry,
    heap: Option<Arc<Heap>>,
    stream: bool,
    /// Per axis the first item and the length of each window: checked to be disjoint and within the view.
    bounds: Arc<[Vec<(usize, usize)>]>,
    next: usize,
    end: usize,
    life: PhantomData<&'a mut [u8]>,
}

// SAFETY: the windows `next..end` are exclusive borrows of plain bytes, and belong to this value alone.
unsafe impl Send for Tiles<'_> {}

impl<'a> Tiles<'a> {
    pub(super) fn new(view: ViewMut<'a>, bounds: Vec<Vec<(usize, usize)>>) -> Result<Self, Error> {
        let ordered = |windows: &Vec<(usize, usize)>, len: usize| {
            let mut free = 0usize;
            windows.iter().all(|&(start, width)| {
                let end = start.checked_add(width);
                let good = start >= free && end.is_some_and(|end| end <= len);
                free = end.unwrap_or(usize::MAX);
                good
            })
        };
        let fits = bounds.len() == view.shape().len()
            && bounds.iter().zip(view.shape()).all(|(windows, &len)| ordered(windows, len));
        let count = bounds.iter().try_fold(1usize, |count, windows| count.checked_mul(windows.len()));
        match count {
            Some(end) if fits => Ok(Self {
                ptr: view.ptr,
                geometry: view.geometry,
                heap: view.heap,
                stream: view.stream,
                bounds: bounds.into(),
                next: 0,
                end,
                life: PhantomData,
            }),
            _ => Err(Error::Tiles { shape: view.geometry.shape }),
        }
    }

    /// The number, in C order of the whole grid, of the window that [`next`](Iterator::next) gives.
    pub fn position(&self) -> usize {
        self.next
    }

    /// The next windows along the last axis as one view, with a further axis in front that counts them: at most `most`, and
    /// as many as have the same length and lie at the same distance. `None` if there are none.
    pub fn next_row(&mut self, most: usize) -> Option<ViewMut<'a>> {
        let bounds = Arc::clone(&self.bounds);
        let windows = bounds.last().map_or(&[][..], Vec::as_slice);
        let place = self.next.checked_rem(windows.len()).unwrap_or(0);
        let windows = windows.get(place..).unwrap_or_default();
        let step = match windows {
            [(first, _), (second, _), ..] => second - first,
            _ => 0,
        };
        let same =
            |at: &usize| windows.get(*at) == windows.first().map(|&(start, len)| (start + at * step, len)).as_ref();
        let count = (1..most.min(self.end - self.next)).take_while(same).count() + 1;
        let mut row = self.next()?.with_axis(0);
        if count > 1 {
            // The windows `next - 1..next - 1 + count` are given away at once. The items of window `i` lie `i` times the
            // distance behind those of the first.
            row.geometry.shape[0] = count;
            row.geometry.strides[0] = step as isize * self.geometry.strides[self.geometry.strides.len() - 1];
            self.next += count - 1;
        }
        Some(row)
    }

    /// The first `count` windows (or all), and the others.
    pub fn split_at(mut self, count: usize) -> (Self, Self) {
        let middle = self.next.saturating_add(count).min(self.end);
        let rest = Self {
            ptr: self.ptr,
            geometry: self.geometry.clone(),
            heap: self.heap.clone(),
            stream: self.stream,
            bounds: Arc::clone(&self.bounds),
            next: middle,
            end: self.end,
            life: PhantomData,
        };
        self.end = middle;
        (self, rest)
    }
}

impl<'a> Iterator for Tiles<'a> {
    type Item = ViewMut<'a>;

    fn next(&mut self) -> Option<ViewMut<'a>> {
        if self.next == self.end {
            return None;
        }
        let mut rest = self.next;
        self.next += 1;
        let mut shape: Dims = SmallVec::from_elem(0, self.bounds.len());
        let mut offset = 0isize;
        for (axis, windows) in self.bounds.iter().enumerate().rev() {
            let (start, len) = windows[rest % windows.len()];
            rest /= windows.len();
            shape[axis] = len;
            offset += start as isize * self.geometry.strides[axis];
        }
        let geometry = Geometry { item: self.geometry.item, shape, strides: self.geometry.strides.clone() };
        // The window is disjoint from all others: along at least one axis its bounds are (checked in `new`), and each
        // number in `next..end` is given once, by this value alone (`split_at` divides the range).
        let ptr = self.ptr.wrapping_offset(offset);
        Some(ViewMut { ptr, geometry, heap: self.heap.clone(), stream: self.stream, life: PhantomData })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.end - self.next, Some(self.end - self.next))
    }
}

impl ExactSizeIterator for Tiles<'_> {}
