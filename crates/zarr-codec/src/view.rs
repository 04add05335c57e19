//! Strided views of bytes: memory that chunks are decoded to and encoded from.
//!
//! A read ends in a [`ViewMut`] of the caller's memory. Dividing it into [`Windows`] gives each chunk its own window, so that
//! chunks decode in parallel, each to where its data goes. Permuting axes changes strides and moves no byte.
//!
//! This module and its parts are the only `unsafe` code of the crate. Its invariant: element `(i0, i1, ..)` of a view lies at
//! `ptr + i0 * strides[0] + i1 * strides[1] + ..`, `item` bytes long, inside one allocation that is borrowed for the view's
//! lifetime; for a `ViewMut` the borrow is exclusive and different elements do not overlap. Every constructor establishes
//! it, and every operation derives views whose elements are elements of the view it began with.
#![expect(unsafe_code)]

mod axis_windows;
mod copy;
mod copy_element;
mod part;
mod raw;
mod swap;
mod transform;
mod transpose;
mod windows;

pub use axis_windows::AxisWindows;
pub use windows::Windows;

use crate::{Dims, Error, Strides};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::sync::Arc;
use zarr_dtype::Heap;
use zarr_grid::Region;

/// Layout of the elements of a view in memory: item size, shape and strides in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Geometry {
    item: usize,
    shape: Dims,
    strides: Strides,
}

impl Geometry {
    /// Returns the geometry of elements in C order without gaps, and their size in bytes; `None` if the size overflows.
    fn contiguous(item: usize, shape: &[usize]) -> Option<(Self, usize)> {
        let mut strides: Strides = SmallVec::from_elem(0, shape.len());
        let mut size = item;
        for (stride, &len) in strides.iter_mut().zip(shape).rev() {
            *stride = isize::try_from(size).ok()?;
            // Zero-length axes must not hide an overflow of the others' strides.
            size = size.checked_mul(len.max(1))?;
        }
        isize::try_from(size).ok()?;
        let total = if shape.contains(&0) { 0 } else { size };
        Some((Self { item, shape: shape.into(), strides }, total))
    }

    fn len(&self) -> usize {
        // The other lengths of an empty view are unbounded, and so are all lengths if elements have no bytes.
        if self.is_empty() { 0 } else { self.shape.iter().fold(1, |count: usize, &len| count.saturating_mul(len)) }
    }

    fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    fn permuted(mut self, order: &[usize]) -> Self {
        assert!(is_permutation(order, self.shape.len()), "order {order:?} of {} axes", self.shape.len());
        self.shape = order.iter().map(|&axis| self.shape[axis]).collect();
        self.strides = order.iter().map(|&axis| self.strides[axis]).collect();
        self
    }

    /// Returns the byte offset of the first element of `region`, and the geometry of `region`.
    fn window(mut self, region: &Region) -> (isize, Self) {
        assert_eq!(region.axes().len(), self.shape.len(), "a region of the view's rank");
        let mut offset = 0isize;
        let empty = region.axes().iter().any(|axis| axis.len == 0);
        for ((len, stride), axis) in self.shape.iter_mut().zip(&mut self.strides).zip(region.axes()) {
            if axis.len > 0 {
                // Checks without overflow that the last element of the region is in the view.
                let room = (*len as u64).checked_sub(1).and_then(|last| last.checked_sub(axis.start));
                let fits = room.is_some_and(|room| room / axis.step.max(1) >= axis.len - 1);
                assert!(fits && axis.step > 0, "axis range {axis:?} within {len} items");
                if !empty {
                    offset += axis.start as isize * *stride;
                }
            }
            *len = axis.len as usize;
            // With fewer than two elements the stride is never used, and may overflow.
            *stride = if axis.len > 1 { *stride * axis.step as isize } else { *stride };
        }
        (offset, self)
    }

    fn is_contiguous(&self) -> bool {
        if self.is_empty() {
            return true;
        }
        let mut expected = self.item as isize;
        for (&len, &stride) in self.shape.iter().zip(&self.strides).rev() {
            if len > 1 && stride != expected {
                return false;
            }
            expected *= len as isize;
        }
        true
    }
}

fn is_permutation(order: &[usize], rank: usize) -> bool {
    order.len() == rank && (0..rank).all(|axis| order.contains(&axis))
}

/// Shared strided view of bytes, with `shape` elements of `item_size` bytes.
#[derive(Clone)]
pub struct View<'a> {
    ptr: *const u8,
    geometry: Geometry,
    heap: Option<Arc<Heap>>,
    life: PhantomData<&'a [u8]>,
}

// SAFETY: a `View` is a shared borrow of plain bytes.
unsafe impl Send for View<'_> {}
// SAFETY: as above.
unsafe impl Sync for View<'_> {}

/// Exclusive strided view of bytes, with `shape` elements of `item_size` bytes.
///
/// Views of variable-length elements hold 16-byte references into a [`Heap`], which travels with the view.
pub struct ViewMut<'a> {
    ptr: *mut u8,
    geometry: Geometry,
    heap: Option<Arc<Heap>>,
    /// Whether copies to the view bypass the caches.
    stream: bool,
    life: PhantomData<&'a mut [u8]>,
}

// SAFETY: a `ViewMut` is an exclusive borrow of plain bytes.
unsafe impl Send for ViewMut<'_> {}
// SAFETY: a shared `ViewMut` gives no access to its bytes but reading through `as_view`.
unsafe impl Sync for ViewMut<'_> {}

macro_rules! debug_view {
    ($($view:ident),*) => { $(
        impl std::fmt::Debug for $view<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({:?} x {} bytes, strides {:?})", stringify!($view), self.geometry.shape,
                    self.geometry.item, self.geometry.strides)
            }
        }
    )* };
}
debug_view!(View, ViewMut);

macro_rules! accessors {
    () => {
        /// Returns the number of items per axis.
        pub fn shape(&self) -> &[usize] {
            &self.geometry.shape
        }

        /// Returns the distance in bytes between neighbouring elements, per axis.
        pub fn strides(&self) -> &[isize] {
            &self.geometry.strides
        }

        /// Returns the number of bytes of an element.
        pub fn item_size(&self) -> usize {
            self.geometry.item
        }

        /// Returns the number of elements.
        pub fn len(&self) -> usize {
            self.geometry.len()
        }

        /// Whether the view has no elements.
        pub fn is_empty(&self) -> bool {
            self.geometry.is_empty()
        }

        /// Returns the number of bytes of all elements together.
        pub fn size(&self) -> usize {
            self.geometry.len() * self.geometry.item
        }

        /// Returns the heap with the bytes of variable-length elements; `None` if the view has no heap.
        pub fn heap(&self) -> Option<&Arc<Heap>> {
            self.heap.as_ref()
        }

        /// Sets the heap with the bytes of variable-length elements.
        pub fn with_heap(mut self, heap: Option<Arc<Heap>>) -> Self {
            self.heap = heap;
            self
        }

        /// Permutes the axes: axis `i` of the result is axis `order[i]` of this view.
        ///
        /// # Panics
        /// If `order` is no permutation of the axes: orders come from codecs, which check theirs when built.
        pub fn permuted(mut self, order: &[usize]) -> Self {
            self.geometry = self.geometry.permuted(order);
            self
        }

        /// Reverses the order of elements along `axis`.
        ///
        /// # Panics
        /// If there is no such axis.
        pub fn flipped(mut self, axis: usize) -> Self {
            let (len, stride) = (self.geometry.shape[axis], self.geometry.strides[axis]);
            if !self.is_empty() {
                self.ptr = self.ptr.wrapping_offset((len - 1) as isize * stride);
            }
            if len > 1 {
                self.geometry.strides[axis] = -stride;
            }
            self
        }

        /// Inserts an axis of length 1 at position `axis`.
        ///
        /// # Panics
        /// If `axis` is beyond the rank.
        pub fn with_axis(mut self, axis: usize) -> Self {
            self.geometry.shape.insert(axis, 1);
            self.geometry.strides.insert(axis, self.geometry.item as isize);
            self
        }
    };
}

impl<'a> View<'a> {
    /// Returns a view of all of `bytes` as elements in C order.
    ///
    /// # Errors
    /// [`Error::Buffer`] if `bytes` has not the length that `shape` and `item_size` ask for.
    pub fn new(bytes: &'a [u8], item_size: usize, shape: &[usize]) -> Result<Self, Error> {
        match Geometry::contiguous(item_size, shape) {
            Some((geometry, size)) if size == bytes.len() => {
                Ok(Self { ptr: bytes.as_ptr(), geometry, heap: None, life: PhantomData })
            }
            _ => Err(Error::Buffer { found: bytes.len() as u64, shape: shape.into(), item: item_size }),
        }
    }

    /// Returns a view of elements in `bytes`: the first one is at byte `offset`, and neighbours along each axis are `strides` bytes apart.
    ///
    /// # Errors
    /// [`Error::Buffer`] if an element would lie outside of `bytes`.
    pub fn from_strides(
        bytes: &'a [u8],
        item_size: usize,
        shape: &[usize],
        offset: usize,
        strides: &[isize],
    ) -> Result<Self, Error> {
        if !fits(bytes.len(), item_size, shape, offset, strides) {
            return Err(Error::Buffer { found: bytes.len() as u64, shape: shape.into(), item: item_size });
        }
        let geometry = Geometry { item: item_size, shape: shape.into(), strides: strides.into() };
        // Derived from the whole slice: strides may be negative, so elements may lie on both sides of the first one.
        let ptr = if geometry.is_empty() { bytes.as_ptr() } else { bytes.as_ptr().wrapping_add(offset) };
        Ok(Self { ptr, geometry, heap: None, life: PhantomData })
    }

    accessors!();

    /// Returns a view of the elements of `region`.
    ///
    /// # Panics
    /// If `region` reaches out of the view.
    pub fn window(&self, region: &Region) -> View<'a> {
        let (offset, geometry) = self.geometry.clone().window(region);
        View { ptr: self.ptr.wrapping_offset(offset), geometry, heap: self.heap.clone(), life: PhantomData }
    }

    /// Returns the bytes of all elements if the elements are contiguous in C order; `None` otherwise.
    pub fn as_contiguous(&self) -> Option<&'a [u8]> {
        if self.is_empty() {
            return Some(&[]);
        }
        // SAFETY: without gaps, the elements are the `size` bytes from the first one on, borrowed for 'a.
        self.geometry.is_contiguous().then(|| unsafe { std::slice::from_raw_parts(self.ptr, self.size()) })
    }

    /// Calls `visit` with each element in C order until `visit` returns `false`. Returns whether `visit` always returned `true`.
    pub fn all(&self, mut visit: impl FnMut(&'a [u8]) -> bool) -> bool {
        let item = self.geometry.item;
        copy::each(&self.geometry, |offset| {
            // SAFETY: `each` gives the offsets of the view's elements.
            visit(unsafe { std::slice::from_raw_parts(self.ptr.offset(offset), item) })
        })
    }

    /// Calls `visit` with runs of contiguous elements, each element once, in any order, until `visit` returns `false`. Returns whether
    /// `visit` always returned `true`.
    pub fn runs(&self, mut visit: impl FnMut(&'a [u8]) -> bool) -> bool {
        copy::runs(&self.geometry, |offset, len| {
            // SAFETY: `runs` gives the offsets and lengths of runs of the view's elements.
            visit(unsafe { std::slice::from_raw_parts(self.ptr.offset(offset), len) })
        })
    }

    /// Appends the elements in C order to `out`.
    ///
    /// # Errors
    /// [`Error::Allocation`] if memory for the result cannot be allocated.
    pub fn append_to(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.append_swapped(&[], out)
    }
}

impl<'a> ViewMut<'a> {
    /// Returns a view of all of `bytes` as elements in C order.
    ///
    /// # Errors
    /// [`Error::Buffer`] if `bytes` has not the length that `shape` and `item_size` ask for.
    pub fn new(bytes: &'a mut [u8], item_size: usize, shape: &[usize]) -> Result<Self, Error> {
        match Geometry::contiguous(item_size, shape) {
            Some((geometry, size)) if size == bytes.len() => {
                Ok(Self { ptr: bytes.as_mut_ptr(), geometry, heap: None, stream: false, life: PhantomData })
            }
            _ => Err(Error::Buffer { found: bytes.len() as u64, shape: shape.into(), item: item_size }),
        }
    }

    /// Returns a view of elements in `bytes`: the first one is at byte `offset`, and neighbours along each axis are `strides` bytes apart.
    ///
    /// # Errors
    /// [`Error::Buffer`] if an element would lie outside of `bytes` or overlap another element.
    pub fn from_strides(
        bytes: &'a mut [u8],
        item_size: usize,
        shape: &[usize],
        offset: usize,
        strides: &[isize],
    ) -> Result<Self, Error> {
        if !fits(bytes.len(), item_size, shape, offset, strides) || overlaps(item_size, shape, strides) {
            return Err(Error::Buffer { found: bytes.len() as u64, shape: shape.into(), item: item_size });
        }
        let geometry = Geometry { item: item_size, shape: shape.into(), strides: strides.into() };
        // Derived from the whole slice: strides may be negative, so elements may lie on both sides of the first one.
        let ptr = if geometry.is_empty() { bytes.as_mut_ptr() } else { bytes.as_mut_ptr().wrapping_add(offset) };
        Ok(Self { ptr, geometry, heap: None, stream: false, life: PhantomData })
    }

    accessors!();

    /// Sets whether copies to this view and to its windows bypass the processor's caches, if `stream`: whole cache lines are written.
    /// Worthwhile for outputs much larger than the caches, as overwritten lines are not read first.
    pub fn streamed(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// Returns a view of the same elements that borrows this view.
    pub fn reborrow(&mut self) -> ViewMut<'_> {
        let (geometry, heap) = (self.geometry.clone(), self.heap.clone());
        ViewMut { ptr: self.ptr, geometry, heap, stream: self.stream, life: PhantomData }
    }

    /// Returns a shared view of the elements.
    pub fn as_view(&self) -> View<'_> {
        View { ptr: self.ptr, geometry: self.geometry.clone(), heap: self.heap.clone(), life: PhantomData }
    }

    /// Returns a view of the elements of `region`.
    ///
    /// # Panics
    /// If `region` reaches out of the view.
    pub fn window(self, region: &Region) -> ViewMut<'a> {
        let (offset, geometry) = self.geometry.window(region);
        let ptr = self.ptr.wrapping_offset(offset);
        ViewMut { ptr, geometry, heap: self.heap, stream: self.stream, life: PhantomData }
    }

    /// Returns the bytes of all elements if the elements are contiguous in C order, so that decoders write into them directly; `None`
    /// otherwise.
    pub fn as_contiguous(&mut self) -> Option<&mut [u8]> {
        if self.is_empty() {
            return Some(&mut []);
        }
        // SAFETY: without gaps, the elements are the `size` bytes from the first one on, exclusively borrowed by `self`.
        self.geometry.is_contiguous().then(|| unsafe { std::slice::from_raw_parts_mut(self.ptr, self.size()) })
    }

    /// Calls `visit` with each element in C order until `visit` returns `false`. Returns whether `visit` always returned `true`.
    pub fn all_mut(&mut self, mut visit: impl FnMut(&mut [u8]) -> bool) -> bool {
        let (ptr, item) = (self.ptr, self.geometry.item);
        copy::each(&self.geometry, |offset| {
            // SAFETY: `each` gives the offsets of the view's elements, one at a time; `self` is borrowed exclusively.
            visit(unsafe { std::slice::from_raw_parts_mut(ptr.offset(offset), item) })
        })
    }

    /// Calls `visit` with mutable runs of contiguous elements, each element once, in any order, until `visit` returns `false`. Returns
    /// whether `visit` always returned `true`.
    pub fn runs_mut(&mut self, mut visit: impl FnMut(&mut [u8]) -> bool) -> bool {
        let ptr = self.ptr;
        copy::runs(&self.geometry, |offset, len| {
            // SAFETY: `runs` gives the offsets and lengths of runs of the view's elements, one at a time and none twice; `self` is
            // borrowed exclusively.
            visit(unsafe { std::slice::from_raw_parts_mut(ptr.offset(offset), len) })
        })
    }

    /// Sets every element to `value`.
    ///
    /// # Panics
    /// If `value` is not one element long.
    pub fn fill(&mut self, value: &[u8]) {
        copy::fill(self, value);
    }

    /// Copies the elements of `source`, which has the same shape and item size, to this view.
    ///
    /// # Panics
    /// If shapes or item sizes differ.
    pub fn copy_from(&mut self, source: &View<'_>) {
        self.copy_swapped(source, &[]);
    }
}

/// Whether all elements lie in a buffer of `size` bytes.
fn fits(size: usize, item: usize, shape: &[usize], offset: usize, strides: &[isize]) -> bool {
    if shape.len() != strides.len() {
        return false;
    }
    if shape.contains(&0) {
        return true;
    }
    let (Ok(first), Ok(size), Ok(item)) = (i128::try_from(offset), i128::try_from(size), i128::try_from(item)) else {
        return false;
    };
    let reach = |sign: bool| -> i128 {
        let axes = shape.iter().zip(strides).filter(|&(_, &stride)| (stride < 0) == sign);
        axes.map(|(&len, &stride)| (len as i128 - 1) * stride as i128).sum()
    };
    let total = shape.iter().try_fold(1usize, |total, &len| total.checked_mul(len));
    total.and_then(|total| isize::try_from(total).ok()).is_some()
        && first + reach(true) >= 0
        && first + reach(false) + item <= size
}

/// Whether two elements may share a byte. They cannot if, with axes sorted by stride, each axis steps over the span of the preceding axes.
///
/// Some interleavings that do not overlap are refused, too; no array library makes such views.
fn overlaps(item: usize, shape: &[usize], strides: &[isize]) -> bool {
    if shape.contains(&0) {
        return false;
    }
    let mut axes: SmallVec<[(usize, usize); 6]> = shape
        .iter()
        .zip(strides)
        .filter(|&(&len, _)| len > 1)
        .map(|(&len, &stride)| (stride.unsigned_abs(), len))
        .collect();
    axes.sort_unstable();
    let mut span = item as u128;
    for (stride, len) in axes {
        if (stride as u128) < span {
            return true;
        }
        span += stride as u128 * (len as u128 - 1);
    }
    false
}

#[cfg(test)]
mod tests;
