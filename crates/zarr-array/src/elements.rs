//! Memory of the caller from which elements are written and into which they are read.

use crate::{ArrayData, Error, Result, selected_memory};
use std::borrow::Cow;
use std::sync::Arc;
use zarr_codec::{Dims, ElementSpec, View, ViewMut};
use zarr_dtype::{DataType, Element, Heap, WriteElement};
use zarr_grid::Resolved;

/// Source of elements to write: a slice, a vector or a Rust array of elements in C order, an [`ArrayData`], a [`View`] of bytes, and with
/// the feature `ndarray` arrays and views of the crate `ndarray`, with any strides.
///
/// Elements are of any type that implements [`WriteElement`].
#[diagnostic::on_unimplemented(
    message = "no elements can be written from `{Self}`",
    note = "slices, vectors and Rust arrays of elements can; arrays of `ndarray` with the feature `ndarray`",
    note = "a single value for all of a selection: `Array::fill`"
)]
pub trait WriteFrom {
    /// Returns the elements in the form in which they are written to an array of `data_type`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the elements are not values of `data_type`.
    fn elements(&self, data_type: &DataType) -> Result<Elements<'_>>;
}

/// Memory to read elements into: a slice, a vector or a Rust array for elements in C order, a [`ViewMut`] of bytes, and with the feature
/// `ndarray` arrays and views of the crate `ndarray`, with any strides.
///
/// Elements are of any type that implements [`Element`].
#[diagnostic::on_unimplemented(
    message = "no elements can be read into `{Self}`",
    note = "slices, vectors and Rust arrays of elements can; arrays and mutable views of `ndarray` with the feature `ndarray`"
)]
pub trait ReadInto {
    /// Returns the memory into which elements of `data_type` are decoded directly; `None` if the elements have to be converted
    /// ([`assign`](Self::assign)).
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if elements of `data_type` do not fit the type of this memory.
    fn destination(&mut self, data_type: &DataType) -> Result<Option<Destination<'_>>>;

    /// Converts the elements in `data`, which has the shape of the selection, and stores them in this memory.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the memory has another shape, or an element does not fit its type.
    fn assign(&mut self, data: &ArrayData) -> Result<()>;
}

/// Elements to write to an array, made by [`WriteFrom`].
#[derive(Debug)]
pub struct Elements<'a>(Repr<'a>);

#[derive(Debug)]
enum Repr<'a> {
    /// Elements with their own shape and strides.
    View(View<'a>),
    /// Elements in C order of the selection, and the heap of those of variable length.
    Items(Cow<'a, [u8]>, Option<Arc<Heap>>),
    /// Elements in C order with their own shape, and the heap of those of variable length.
    Shaped(Vec<u8>, Dims, Arc<Heap>),
}

impl<'a> Elements<'a> {
    /// Makes elements of a view, whose shape must be the shape of the selection.
    pub fn from_view(view: View<'a>) -> Self {
        Self(Repr::View(view))
    }

    /// Makes elements of a slice in C order, whose length must be the number of selected elements.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the elements are not values of `data_type`.
    pub fn from_slice<T: WriteElement>(data_type: &DataType, elements: &'a [T]) -> Result<Self> {
        T::check_written(data_type)?;
        if let Some(items) = T::borrow_items(elements) {
            return Ok(Self(Repr::Items(Cow::Borrowed(items), None)));
        }
        let heap = Arc::new(Heap::new());
        let items = T::make_items(data_type, elements, &heap)?;
        Ok(Self(Repr::Items(Cow::Owned(items), Some(heap))))
    }

    /// Converts a slice in C order into elements of `shape`, which must be the shape of the selection.
    ///
    /// # Errors
    /// The errors of [`from_slice`](Self::from_slice).
    pub fn from_shaped<T: WriteElement>(data_type: &DataType, shape: &[usize], elements: &[T]) -> Result<Self> {
        let heap = Arc::new(Heap::new());
        Ok(Self(Repr::Shaped(T::make_items(data_type, elements, &heap)?, shape.into(), heap)))
    }

    /// Returns a view of the elements in the output shape of the selection `resolved`.
    pub(crate) fn selected(&self, element: &ElementSpec, resolved: &Resolved) -> Result<View<'_>> {
        match &self.0 {
            Repr::View(view) => selected_memory::view_with_all_axes(view.clone(), element, resolved),
            Repr::Items(items, heap) => {
                selected_memory::check_len(resolved, items.len() / element.item_size().max(1))?;
                selected_memory::input(items, element, resolved, heap.clone())
            }
            Repr::Shaped(items, shape, heap) => {
                let view = View::new(items, element.item_size(), shape)?.with_heap(Some(Arc::clone(heap)));
                selected_memory::view_with_all_axes(view, element, resolved)
            }
        }
    }

    /// Returns a view of the elements as a block to append along `axis` to an array of `shape`.
    pub(crate) fn appended(&self, element: &ElementSpec, shape: &[u64], axis: usize) -> Result<View<'_>> {
        let (items, heap) = match &self.0 {
            Repr::View(view) => return Ok(view.clone()),
            Repr::Shaped(items, shape, heap) => {
                return Ok(View::new(items, element.item_size(), shape)?.with_heap(Some(Arc::clone(heap))));
            }
            Repr::Items(items, heap) => (items, heap),
        };
        let count = items.len() / element.item_size().max(1);
        let refused = |expected: &str| {
            Error::argument(format!(
                "{count} elements to append along dimension {axis} of {shape:?}, expected {expected}"
            ))
        };
        let mut dims = selected_memory::dims(shape)?;
        let len = dims.get_mut(axis).ok_or_else(|| refused("a dimension of the array"))?;
        *len = 1;
        let one = dims.iter().try_fold(1_usize, |product, &len| product.checked_mul(len));
        let one = one.ok_or_else(|| refused("fewer elements along the others"))?;
        let Some(added) = count.checked_div(one) else {
            return Err(refused("data with a shape, since another dimension has no elements"));
        };
        if added * one != count {
            return Err(refused(&format!("a multiple of {one}")));
        }
        if let Some(len) = dims.get_mut(axis) {
            *len = added;
        }
        Ok(View::new(items, element.item_size(), &dims)?.with_heap(heap.clone()))
    }
}

/// Memory into which elements are decoded, made by [`ReadInto`].
#[derive(Debug)]
pub struct Destination<'a>(Memory<'a>);

#[derive(Debug)]
enum Memory<'a> {
    /// Memory with its own shape and strides.
    View(ViewMut<'a>),
    /// Memory in C order of the selection.
    Items(&'a mut [u8]),
}

impl<'a> Destination<'a> {
    /// Makes a destination of a view, whose shape must be the shape of the selection.
    pub fn from_view(view: ViewMut<'a>) -> Self {
        Self(Memory::View(view))
    }

    /// Makes a destination of memory for elements in C order, whose length must be the number of selected elements.
    pub fn from_items(items: &'a mut [u8]) -> Self {
        Self(Memory::Items(items))
    }

    /// Returns a view of the memory in the output shape of the selection `resolved`.
    pub(crate) fn selected(self, element: &ElementSpec, resolved: &Resolved) -> Result<ViewMut<'a>> {
        match self.0 {
            Memory::View(view) => selected_memory::with_all_axes(view, element, resolved),
            Memory::Items(items) => {
                selected_memory::check_len(resolved, items.len() / element.item_size().max(1))?;
                selected_memory::output(items, element, resolved, None)
            }
        }
    }
}

impl<T: WriteElement> WriteFrom for &[T] {
    fn elements(&self, data_type: &DataType) -> Result<Elements<'_>> {
        Elements::from_slice(data_type, self)
    }
}

impl<T: WriteElement> WriteFrom for &Vec<T> {
    fn elements(&self, data_type: &DataType) -> Result<Elements<'_>> {
        Elements::from_slice(data_type, self)
    }
}

impl<T: WriteElement, const N: usize> WriteFrom for &[T; N] {
    fn elements(&self, data_type: &DataType) -> Result<Elements<'_>> {
        Elements::from_slice(data_type, *self)
    }
}

impl WriteFrom for View<'_> {
    /// Takes the bytes of the view as they are: native-endian items of the size of elements of `data_type`.
    fn elements(&self, _: &DataType) -> Result<Elements<'_>> {
        Ok(Elements::from_view(self.clone()))
    }
}

impl WriteFrom for &ArrayData {
    fn elements(&self, data_type: &DataType) -> Result<Elements<'_>> {
        if self.data_type().storage() != data_type.storage() {
            return Err(Error::argument(format!("found elements of {}, expected {data_type}", self.data_type())));
        }
        Ok(Elements::from_view(self.view()))
    }
}

impl<T: Element> ReadInto for &mut [T] {
    fn destination(&mut self, data_type: &DataType) -> Result<Option<Destination<'_>>> {
        data_type.as_taken_by::<T>()?;
        Ok(T::as_bytes_mut(self).map(Destination::from_items))
    }

    fn assign(&mut self, data: &ArrayData) -> Result<()> {
        if data.len() != self.len() {
            let message =
                format!("found memory for {} elements, expected {} for the selection", self.len(), data.len());
            return Err(Error::argument(message));
        }
        for (slot, element) in self.iter_mut().zip(data.to_vec::<T>()?) {
            *slot = element;
        }
        Ok(())
    }
}

macro_rules! as_slice {
    ($($memory:ty $(, $const:ident)?;)*) => { $(
        impl<T: Element $(, const $const: usize)?> ReadInto for &mut $memory {
            fn destination(&mut self, data_type: &DataType) -> Result<Option<Destination<'_>>> {
                data_type.as_taken_by::<T>()?;
                Ok(T::as_bytes_mut(self.as_mut_slice()).map(Destination::from_items))
            }

            fn assign(&mut self, data: &ArrayData) -> Result<()> {
                self.as_mut_slice().assign(data)
            }
        }
    )* };
}
as_slice! {
    Vec<T>;
    [T; N], N;
}

impl ReadInto for ViewMut<'_> {
    /// Takes the memory of the view as it is: native-endian items of the size of elements of `data_type`, with a heap if they are of
    /// variable length.
    fn destination(&mut self, _: &DataType) -> Result<Option<Destination<'_>>> {
        Ok(Some(Destination::from_view(self.reborrow())))
    }

    fn assign(&mut self, data: &ArrayData) -> Result<()> {
        if self.shape() != data.view().shape() {
            return Err(Error::argument(format!("found memory of {:?}, expected {:?}", self.shape(), data.shape())));
        }
        self.copy_from(&data.view());
        Ok(())
    }
}
