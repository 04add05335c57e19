//! Views of parts of elements: the fields of structs, and the numbers in elements.

use super::{Geometry, View, ViewMut};
use crate::Error;
use std::marker::PhantomData;
use zarr_dtype::SwapRun;

impl<'a> View<'a> {
    /// Returns a view of a part of each element, such as a field of structs. The part begins at byte `offset` of the element and consists
    /// of `shape` elements of `item_size` bytes in C order; the view gets the axes of `shape` as its last axes. No byte is moved.
    ///
    /// ```
    /// # use zarr_codec::View;
    /// let points = [1, 2, 3, 4, 5, 6];
    /// let view = View::new(&points, 3, &[2])?.part(1, 1, &[2])?;
    /// assert_eq!(view.shape(), [2, 2]);
    /// let mut items = Vec::new();
    /// view.append_to(&mut items)?;
    /// assert_eq!(items, [2, 3, 5, 6]);
    /// # Ok::<(), zarr_codec::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Buffer`] if an element has no such part.
    pub fn part(&self, offset: usize, item_size: usize, shape: &[usize]) -> Result<Self, Error> {
        let geometry = self.geometry.part(offset, item_size, shape)?;
        Ok(View { ptr: self.ptr.wrapping_add(offset), geometry, heap: None, life: PhantomData })
    }

    /// Returns a view of the numbers of `run` in each element, with a last axis over the numbers.
    pub(super) fn run(&self, run: &SwapRun) -> View<'a> {
        let geometry = self.geometry.run(run);
        View { ptr: self.ptr.wrapping_add(run.offset), geometry, heap: None, life: PhantomData }
    }
}

impl<'a> ViewMut<'a> {
    /// Returns a view of a part of each element, such as a field of structs. The part begins at byte `offset` of the element and consists
    /// of `shape` elements of `item_size` bytes in C order; the view gets the axes of `shape` as its last axes.
    ///
    /// # Errors
    /// [`Error::Buffer`] if an element has no such part.
    pub fn part(self, offset: usize, item_size: usize, shape: &[usize]) -> Result<Self, Error> {
        let geometry = self.geometry.part(offset, item_size, shape)?;
        let ptr = self.ptr.wrapping_add(offset);
        Ok(ViewMut { ptr, geometry, heap: None, stream: false, life: PhantomData })
    }

    /// Returns a view of the numbers of `run` in each element, with a last axis over the numbers.
    pub(super) fn run(self, run: &SwapRun) -> ViewMut<'a> {
        let geometry = self.geometry.run(run);
        let ptr = self.ptr.wrapping_add(run.offset);
        ViewMut { ptr, geometry, heap: None, stream: false, life: PhantomData }
    }
}

impl Geometry {
    /// Geometry of a part of each element. Parts are contiguous and within the elements, and disjoint if the elements are.
    fn part(&self, offset: usize, item: usize, shape: &[usize]) -> Result<Self, Error> {
        let fault = || Error::Buffer { found: self.item as u64, shape: shape.into(), item };
        let (part, size) = Self::contiguous(item, shape).ok_or_else(fault)?;
        if offset.checked_add(size).is_none_or(|end| end > self.item) {
            return Err(fault());
        }
        let mut geometry = self.clone();
        geometry.item = item;
        geometry.shape.extend_from_slice(&part.shape);
        geometry.strides.extend_from_slice(&part.strides);
        Ok(geometry)
    }

    /// Geometry of the numbers of `run` in each element. Numbers are within the elements, and disjoint if the elements are: their stride is
    /// at least their width.
    fn run(&self, run: &SwapRun) -> Self {
        let SwapRun { offset, width, count, stride } = *run;
        let last = count.checked_sub(1).and_then(|last| last.checked_mul(stride));
        let end = last.and_then(|last| last.checked_add(offset)?.checked_add(width));
        assert!(stride >= width && end.is_some_and(|end| end <= self.item), "{run:?} in items of {} bytes", self.item);
        let mut geometry = self.clone();
        geometry.item = width;
        geometry.shape.push(count);
        // With one number only the stride is never used.
        geometry.strides.push(if count > 1 { stride as isize } else { width as isize });
        geometry
    }
}
