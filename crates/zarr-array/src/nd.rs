//! Arrays of the crate `ndarray` as memory from which elements are written and into which they are read.
//!
//! This module has the only `unsafe` code on views in this crate. Its invariant: element `(i0, i1, ..)` of an `ndarray` view lies at
//! `as_ptr() + i0 * strides()[0] + ..`, in elements, inside one allocation. In a mutable view, elements do not overlap, and nobody else
//! accesses them while the view lives. Elements are treated as bytes only if their type itself gives the bytes of a slice of elements: then
//! all bytes are initialized, and any bytes are a valid value.
#![expect(unsafe_code)]

use crate::elements::{Destination, Elements, ReadInto, WriteFrom};
use crate::{Array, ArrayData, AsyncArray, Error, Result};
use ndarray::{ArrayBase, ArrayD, ArrayView, ArrayViewMut, Data, DataMut, Dimension};
use zarr_codec::{View, ViewMut};
use zarr_dtype::{DataType, Element, WriteElement};
use zarr_grid::IntoSelection;

/// Converts strides in elements of type `T` to strides in bytes.
fn byte_strides<T>(strides: &[isize]) -> Vec<isize> {
    // They lie in one allocation, which is at most `isize::MAX` bytes long. Strides of axes of one element are never
    // used.
    strides.iter().map(|stride| stride.wrapping_mul(size_of::<T>() as isize)).collect()
}

/// Returns the elements of an `ndarray` view as a view of bytes; `None` if the bytes of a `T` are not the bytes of an element of an array.
fn view_of<'a, T: WriteElement, D: Dimension>(data: &ArrayView<'a, T, D>) -> Option<View<'a>> {
    let Some(first) = data.first() else {
        return View::new(&[], size_of::<T>(), data.shape()).ok();
    };
    let bytes = T::borrow_items(std::slice::from_ref(first))?;
    let is_itself = bytes.len() == size_of::<T>() && bytes.as_ptr() == std::ptr::from_ref(first).cast();
    // SAFETY: by the invariant of this module, with the shape and strides of the view; it is borrowed for 'a.
    is_itself.then(|| unsafe {
        View::from_raw(data.as_ptr().cast(), size_of::<T>(), data.shape(), &byte_strides::<T>(data.strides()))
    })
}

/// Returns the elements of a mutable `ndarray` view as a mutable view of bytes; `None` if the bytes of a `T` are not the bytes of an
/// element of an array.
fn view_mut_of<T: Element, D: Dimension>(mut data: ArrayViewMut<'_, T, D>) -> Option<ViewMut<'_>> {
    let (shape, strides) = (data.shape().to_vec(), byte_strides::<T>(data.strides()));
    let Some(first) = data.first_mut() else {
        return ViewMut::new(&mut [], size_of::<T>(), &shape).ok();
    };
    let own: *const u8 = std::ptr::from_ref(first).cast();
    let bytes = T::as_bytes_mut(std::slice::from_mut(first))?;
    let is_itself = bytes.len() == size_of::<T>() && bytes.as_ptr() == own;
    // SAFETY: by the invariant of this module, with the shape and strides of the view, whose exclusive borrow goes on in the result.
    is_itself.then(|| unsafe { ViewMut::from_raw(data.as_mut_ptr().cast(), size_of::<T>(), &shape, &strides) })
}

fn elements<'a, T: WriteElement, D: Dimension>(
    data: &ArrayView<'a, T, D>,
    data_type: &DataType,
) -> Result<Elements<'a>> {
    T::check_written(data_type)?;
    match view_of(data) {
        Some(view) => Ok(Elements::from_view(view)),
        None => Elements::from_shaped(data_type, data.shape(), &data.iter().cloned().collect::<Vec<_>>()),
    }
}

impl<T: WriteElement, D: Dimension> WriteFrom for ArrayView<'_, T, D> {
    fn elements(&self, data_type: &DataType) -> Result<Elements<'_>> {
        elements(self, data_type)
    }
}

impl<T: WriteElement, S: Data<Elem = T>, D: Dimension> WriteFrom for &ArrayBase<S, D> {
    fn elements(&self, data_type: &DataType) -> Result<Elements<'_>> {
        elements(&self.view(), data_type)
    }
}

impl<T: Element, D: Dimension> ReadInto for ArrayViewMut<'_, T, D> {
    fn destination(&mut self, data_type: &DataType) -> Result<Option<Destination<'_>>> {
        data_type.as_taken_by::<T>()?;
        Ok(view_mut_of(self.view_mut()).map(Destination::from_view))
    }

    fn assign(&mut self, data: &ArrayData) -> Result<()> {
        let found: Vec<u64> = self.shape().iter().map(|&len| len as u64).collect();
        if found != data.shape() {
            return Err(Error::argument(format!("found memory of shape {found:?}, expected {:?}", data.shape())));
        }
        for (slot, element) in self.iter_mut().zip(data.to_vec::<T>()?) {
            *slot = element;
        }
        Ok(())
    }
}

impl<T: Element, S: DataMut<Elem = T>, D: Dimension> ReadInto for &mut ArrayBase<S, D> {
    fn destination(&mut self, data_type: &DataType) -> Result<Option<Destination<'_>>> {
        data_type.as_taken_by::<T>()?;
        Ok(view_mut_of(self.view_mut()).map(Destination::from_view))
    }

    fn assign(&mut self, data: &ArrayData) -> Result<()> {
        self.view_mut().assign(data)
    }
}

/// Makes an `ndarray` array with the dimensionality `D` from elements in C order.
fn shaped<T, D: Dimension>(shape: &[usize], elements: Vec<T>) -> Result<ndarray::Array<T, D>> {
    let array = ArrayD::from_shape_vec(shape, elements).map_err(|error| Error::internal(error.to_string()))?;
    array.into_dimensionality().map_err(|error| Error::internal(error.to_string()))
}

fn check_rank<D: Dimension>(shape: &[usize]) -> Result<()> {
    match D::NDIM {
        Some(rank) if rank != shape.len() => {
            Err(Error::argument(format!("found a selection of shape {shape:?}, expected {rank} dimensions")))
        }
        _ => Ok(()),
    }
}

impl Array {
    /// Reads a selection into an array of the crate `ndarray`, with a fixed number of dimensions, or as `IxDyn` with any number.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use ndarray::{Array1, Array2};
    /// use zarr_array::{Array, NewArray, Registry, Store};
    ///
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// # let registry = Arc::new(registry);
    /// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// let new = NewArray::new(&[4, 6], "int32").codecs(r#"["bytes"]"#)?;
    /// let array = Array::create(&store, "/a", new, &registry)?;
    /// let data = Array2::from_shape_fn((4, 6), |(y, x)| (10 * y + x) as i32);
    /// array.write(.., &data)?;
    /// let column: Array1<i32> = array.read_array((1..3, 5))?;
    /// assert_eq!(column.to_vec(), [15, 25]);
    ///
    /// // Into part of an array that is there.
    /// let mut larger = Array2::<i32>::zeros((10, 10));
    /// array.read_into(.., larger.slice_mut(ndarray::s![2..6, 1..7;-1]))?;
    /// assert_eq!(larger[[2, 6]], 0);
    /// assert_eq!(larger[[5, 1]], 35);
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`read`](Self::read), and [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the selection has another number of
    /// dimensions.
    pub fn read_array<T: Element, D: Dimension>(&self, selection: impl IntoSelection) -> Result<ndarray::Array<T, D>> {
        let selection = selection.into_selection()?;
        let shape = self.selected_shape(&selection)?;
        check_rank::<D>(&shape).map_err(|error| self.core.locate(error))?;
        shaped(&shape, self.read::<T>(selection)?)
    }
}

impl AsyncArray {
    /// Reads a selection into an array of the crate `ndarray`, as [`Array::read_array`] does.
    ///
    /// # Errors
    /// The errors of [`Array::read_array`].
    pub async fn read_array<T: Element, D: Dimension>(
        &self,
        selection: impl IntoSelection,
    ) -> Result<ndarray::Array<T, D>> {
        let selection = selection.into_selection()?;
        let shape = self.selected_shape(&selection)?;
        check_rank::<D>(&shape).map_err(|error| self.core.locate(error))?;
        shaped(&shape, self.read::<T>(selection).await?)
    }
}
