//! Views of memory that another library describes by a pointer and strides.

use super::{Geometry, View, ViewMut};
use std::marker::PhantomData;

impl<'a> View<'a> {
    /// Returns a view of elements of `item_size` bytes at `first`, with neighbours `strides` bytes apart per axis; strides may be negative
    /// or 0.
    ///
    /// # Safety
    /// Every item `(i0, i1, ..)` below `shape` lies at `first + i0 * strides[0] + ..` inside one allocation, `item_size` initialized
    /// bytes long, and no byte of it is changed during `'a`.
    ///
    /// # Panics
    /// If there are not as many strides as axes.
    pub unsafe fn from_raw(first: *const u8, item_size: usize, shape: &[usize], strides: &[isize]) -> Self {
        assert_eq!(shape.len(), strides.len(), "a stride for each axis");
        let geometry = Geometry { item: item_size, shape: shape.into(), strides: strides.into() };
        Self { ptr: first, geometry, heap: None, life: PhantomData }
    }
}

impl<'a> ViewMut<'a> {
    /// Returns a view of elements of `item_size` bytes at `first`, with neighbours `strides` bytes apart per axis; strides may be negative.
    ///
    /// # Safety
    /// Every item `(i0, i1, ..)` below `shape` lies at `first + i0 * strides[0] + ..` inside one allocation, `item_size` initialized
    /// bytes long; different items share no byte, any bytes are a valid item, and nobody else reads or changes one during `'a`.
    ///
    /// # Panics
    /// If there are not as many strides as axes.
    pub unsafe fn from_raw(first: *mut u8, item_size: usize, shape: &[usize], strides: &[isize]) -> Self {
        assert_eq!(shape.len(), strides.len(), "a stride for each axis");
        let geometry = Geometry { item: item_size, shape: shape.into(), strides: strides.into() };
        Self { ptr: first, geometry, heap: None, stream: false, life: PhantomData }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_where_pointer_and_strides_say() {
        let mut bytes = [0_u8, 1, 2, 3, 4, 5];
        // Two rows of three, columns from the last to the first.
        // SAFETY: the six items are the six bytes.
        let view = unsafe { View::from_raw(bytes.as_ptr().add(2), 1, &[2, 3], &[3, -1]) };
        let mut seen = Vec::new();
        view.append_to(&mut seen).unwrap();
        assert_eq!(seen, [2, 1, 0, 5, 4, 3]);
        // SAFETY: as above, and the bytes are borrowed exclusively.
        let mut view = unsafe { ViewMut::from_raw(bytes.as_mut_ptr().add(2), 1, &[2, 3], &[3, -1]) };
        view.copy_from(&View::new(&[0, 1, 2, 3, 4, 5], 1, &[2, 3]).unwrap());
        assert_eq!(bytes, [2, 1, 0, 5, 4, 3]);
    }
}
