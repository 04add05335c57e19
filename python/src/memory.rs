//! Memory of numpy arrays as views of bytes.
//!
//! With `variable_memory.rs` the only `unsafe` code of this package. Its invariant: element `(i0, i1, ..)` of a numpy array lies at
//! `data + i0 * strides[0] + ..`, `itemsize` bytes long, inside memory that the array keeps alive, and the array does not move it while
//! it has references, of which a [`Memory`] is one. An array that may be written to takes any bytes as elements: its data type is compared
//! with that of the Zarr array, which has no references to objects. As with numpy's own functions that release the lock of the
//! interpreter, it is for the caller to keep other threads from the elements meanwhile.
#![expect(unsafe_code)]

use numpy::npyffi::NPY_ARRAY_WRITEABLE;
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use zarr::codec::{View, ViewMut};

/// Array of numpy whose elements are those of a Zarr array.
pub(crate) struct Memory<'py>(Bound<'py, PyUntypedArray>);

impl<'py> Memory<'py> {
    /// Returns the memory of an array, which must have this data type.
    ///
    /// # Errors
    /// `TypeError` if it is no numpy array, or of another data type.
    pub(crate) fn new(array: &Bound<'py, PyAny>, data_type: &Bound<'py, PyArrayDescr>) -> PyResult<Self> {
        let array = array.cast::<PyUntypedArray>().map_err(|_| {
            let found = array.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!("found {found}, expected a numpy.ndarray"))
        })?;
        let found = array.dtype();
        if !found.is_equiv_to(data_type) || found.has_object() {
            return Err(PyTypeError::new_err(format!("memory of data type {found}, expected {data_type}")));
        }
        Ok(Self(array.clone()))
    }

    /// Returns the memory of an array of any data type, which will only be read.
    pub(crate) fn to_be_read(array: &Bound<'py, PyUntypedArray>) -> Self {
        Self(array.clone())
    }

    fn first(&self) -> *mut u8 {
        // SAFETY: the pointer to a numpy array that is referred to, whose fields do not change while this thread has the lock of the
        // interpreter, as `Bound` shows.
        unsafe { (*self.0.as_array_ptr()).fields.data.cast() }
    }

    /// Returns the addresses of the first byte and of the byte after the last; `None` for an empty array.
    fn extent(&self) -> Option<(usize, usize)> {
        if self.is_empty() {
            return None;
        }
        let first = self.first() as usize;
        let ends =
            self.0.strides().iter().zip(self.0.shape()).map(|(&stride, &len)| stride.saturating_mul(len as isize - 1));
        let (mut low, mut high) = (first, first.saturating_add(self.0.dtype().itemsize()));
        for end in ends {
            if end < 0 {
                low = low.saturating_sub(end.unsigned_abs());
            } else {
                high = high.saturating_add(end.unsigned_abs());
            }
        }
        Some((low, high))
    }

    fn is_writeable(&self) -> bool {
        // SAFETY: as in `first`.
        let flags = unsafe { (*self.0.as_array_ptr()).fields.flags };
        flags & NPY_ARRAY_WRITEABLE != 0
    }

    fn is_empty(&self) -> bool {
        self.0.shape().contains(&0) || self.0.dtype().itemsize() == 0
    }

    /// Returns a view of the elements to read.
    ///
    /// # Errors
    /// `ValueError` if the shape has more bytes than memory.
    pub(crate) fn view(&self) -> PyResult<View<'_>> {
        let (item, shape) = (self.0.dtype().itemsize(), self.0.shape());
        if self.is_empty() {
            return View::new(&[], item, shape).map_err(|error| PyValueError::new_err(error.to_string()));
        }
        // SAFETY: by the invariant of this module; the reference in `self` keeps the array for the lifetime of the view.
        Ok(unsafe { View::from_raw(self.first(), item, shape, self.0.strides()) })
    }

    /// Returns a view of the elements to write.
    ///
    /// # Errors
    /// `ValueError` if the array is read-only, or if its elements may overlap. `TypeError` if not all bytes are valid elements.
    pub(crate) fn view_mut(&mut self) -> PyResult<ViewMut<'_>> {
        if self.0.dtype().has_object() {
            return Err(PyTypeError::new_err(format!("memory of data type {}, expected plain bytes", self.0.dtype())));
        }
        // SAFETY: any bytes are elements.
        unsafe { self.view_mut_of_any() }
    }

    /// Returns a view of the elements to write, like [`view_mut`](Self::view_mut), also for elements that refer to other memory, such as
    /// objects.
    ///
    /// # Safety
    /// The caller writes valid elements of the data type, and releases the references of the elements that it replaces.
    ///
    /// # Errors
    /// `ValueError` if the array is read-only, or if its elements may overlap.
    pub(crate) unsafe fn view_mut_of_any(&mut self) -> PyResult<ViewMut<'_>> {
        let (item, shape, strides) = (self.0.dtype().itemsize(), self.0.shape(), self.0.strides());
        if !self.is_writeable() {
            return Err(PyValueError::new_err("found a read-only array, expected one that can be written to"));
        }
        if self.is_empty() {
            return ViewMut::new(&mut [], item, shape).map_err(|error| PyValueError::new_err(error.to_string()));
        }
        if !are_apart(item, shape, strides) {
            return Err(PyValueError::new_err(format!(
                "elements of the array lie upon each other: shape {shape:?}, strides {strides:?}"
            )));
        }
        // SAFETY: by the invariant of this module, and elements are apart; the exclusive borrow of `self` goes on in the view.
        Ok(unsafe { ViewMut::from_raw(self.first(), item, shape, strides) })
    }
}

/// Memory of a numpy array that a thread without the interpreter's lock writes to, as rows along the first axis.
pub(crate) struct KeptMemory {
    /// Array that keeps the memory.
    _array: Py<PyUntypedArray>,
    first: *mut u8,
    item: usize,
    shape: Vec<usize>,
    strides: Vec<isize>,
}

// SAFETY: the pointer is to memory that the array keeps and does not move, and that only the view of this value writes to: see the module.
unsafe impl Send for KeptMemory {}

impl Memory<'_> {
    /// Returns the memory for another thread to write to.
    ///
    /// # Errors
    /// The errors of [`view_mut`](Self::view_mut), and `ValueError` for an array without dimensions.
    pub(crate) fn keep(mut self) -> PyResult<KeptMemory> {
        self.view_mut()?;
        let (item, shape, strides) = (self.0.dtype().itemsize(), self.0.shape().to_vec(), self.0.strides().to_vec());
        if shape.is_empty() {
            return Err(PyValueError::new_err("found an array without dimensions, expected rows"));
        }
        Ok(KeptMemory { first: self.first(), item, shape, strides, _array: self.0.unbind() })
    }
}

impl KeptMemory {
    /// Number of rows along the first axis.
    pub(crate) fn rows(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    /// Returns views of consecutive rows: the number of rows of each is in `counts`. Rows that are not there are an empty view.
    pub(crate) fn split(&mut self, counts: impl IntoIterator<Item = usize>) -> Vec<ViewMut<'_>> {
        let (rows, item, strides) = (self.rows(), self.item, &self.strides);
        let mut start = 0_usize;
        let view = |count: usize| {
            let count = count.min(rows - start);
            let mut shape = self.shape.clone();
            shape.iter_mut().take(1).for_each(|len| *len = count);
            if item == 0 || shape.contains(&0) {
                return ViewMut::new(&mut [], item, &shape).ok();
            }
            let offset = strides.first().map_or(0, |stride| stride * start as isize);
            start += count;
            // SAFETY: the rows `start..start + count` lie in the memory of the array; elements are apart, as `keep` has checked, and rows
            // of no other view; the exclusive borrow of `self` goes on in the views.
            Some(unsafe { ViewMut::from_raw(self.first.offset(offset), item, &shape, strides) })
        };
        counts.into_iter().filter_map(view).collect()
    }
}

/// Returns whether no two elements share a byte. May return `false` for unusual strides although none do.
fn are_apart(item: usize, shape: &[usize], strides: &[isize]) -> bool {
    let mut axes: Vec<(usize, usize)> =
        strides.iter().zip(shape).filter(|(_, len)| **len > 1).map(|(s, &len)| (s.unsigned_abs(), len)).collect();
    axes.sort_unstable();
    // Number of bytes from the first to the last element along the axes so far.
    let mut extent = item;
    axes.into_iter().all(|(stride, len)| {
        let apart = stride >= extent;
        extent = extent.saturating_add(stride.saturating_mul(len - 1));
        apart
    })
}

/// Returns views of the elements of several arrays, to write to all of them at the same time.
///
/// # Errors
/// The errors of [`Memory::view_mut`], and `ValueError` if the memory ranges of two arrays overlap.
pub(crate) fn views_mut<'m>(memories: &'m mut [Memory<'_>]) -> PyResult<Vec<ViewMut<'m>>> {
    let mut extents: Vec<(usize, usize)> = memories.iter().filter_map(Memory::extent).collect();
    extents.sort_unstable();
    if extents.iter().zip(extents.iter().skip(1)).any(|(one, next)| one.1 > next.0) {
        return Err(PyValueError::new_err(
            "the memory of two of the arrays lies upon each other or between each other's, expected arrays whose memory is apart",
        ));
    }
    memories.iter_mut().map(Memory::view_mut).collect()
}
