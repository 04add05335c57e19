//! Memory of numpy arrays whose elements refer to other memory: Python objects, and strings of `StringDType`.
//!
//! Its invariants, on which the `unsafe` code relies:
//!
//! - Elements are at the same places as those of a [`Memory`].
//! - An element of an array of `object` is a pointer to an object, to which the array has a reference, or null, which stands for `None`.
//!   While the interpreter's lock is held, no other code changes the element.
//! - An element of an array of `StringDType` is only read and written by numpy's own functions, while the allocator of the array's data
//!   type is locked. Strings that these functions lend are used only until the allocator is unlocked. No Python code is called meanwhile,
//!   since it could wait for the same lock.
//! - These functions have the same indices in numpy's table in each version since 2.0, as numpy promises for extensions.
#![expect(unsafe_code)]

use crate::memory::Memory;
use numpy::npyffi::{PyArray_Descr, is_numpy_2};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use std::ffi::{c_char, c_int, c_void};
use std::mem::{forget, size_of, transmute};
use std::ptr::{NonNull, null};

/// Allocator of the strings of arrays of one data type, which is locked while it is used. Its contents are private to numpy.
type Allocator = NonNull<c_void>;

/// String that numpy lends.
#[repr(C)]
struct Lent {
    size: usize,
    bytes: *const c_char,
}

type Load = unsafe extern "C" fn(Allocator, *const c_void, *mut Lent) -> c_int;
type Pack = unsafe extern "C" fn(Allocator, *mut c_void, *const c_char, usize) -> c_int;
type Acquire = unsafe extern "C" fn(*const PyArray_Descr) -> Option<Allocator>;
type Release = unsafe extern "C" fn(Allocator);

/// Functions of numpy for elements of `StringDType`.
#[derive(Clone, Copy)]
struct Functions {
    load: Load,
    pack: Pack,
    acquire: Acquire,
    release: Release,
}

/// Indices of these functions in numpy's table of functions (`NpyString_load` and so on in `__multiarray_api.h`).
const LOAD: usize = 313;
const PACK: usize = 314;
const ACQUIRE: usize = 316;
const RELEASE: usize = 318;

fn functions(py: Python<'_>) -> PyResult<Functions> {
    static FUNCTIONS: PyOnceLock<Functions> = PyOnceLock::new();
    let find = || {
        if !is_numpy_2(py) {
            return Err(PyRuntimeError::new_err("found numpy below 2.0, expected 2.0 or later, which has StringDType"));
        }
        let table = py.import("numpy._core._multiarray_umath")?.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?;
        let first = table.pointer_checked(None)?.cast::<*const c_void>();
        // The functions are used until the process ends.
        forget(table);
        // SAFETY: the table of numpy 2.0 and later, which has these functions there.
        unsafe {
            Ok(Functions {
                load: transmute::<*const c_void, Load>(first.add(LOAD).read()),
                pack: transmute::<*const c_void, Pack>(first.add(PACK).read()),
                acquire: transmute::<*const c_void, Acquire>(first.add(ACQUIRE).read()),
                release: transmute::<*const c_void, Release>(first.add(RELEASE).read()),
            })
        }
    };
    FUNCTIONS.get_or_try_init(py, find).copied()
}

/// Locked allocator of the strings of an array.
struct Locked {
    functions: Functions,
    allocator: Allocator,
}

impl Locked {
    fn new(array: &Bound<'_, PyUntypedArray>) -> PyResult<Self> {
        if !is_text(array) {
            return Err(PyTypeError::new_err(format!("elements of data type {}, expected texts", array.dtype())));
        }
        let functions = functions(array.py())?;
        // SAFETY: a data type of this kind is one of the type that the function takes.
        let allocator = unsafe { (functions.acquire)(array.dtype().as_dtype_ptr()) };
        let allocator = allocator.ok_or_else(|| PyRuntimeError::new_err("numpy has no allocator for these texts"))?;
        Ok(Self { functions, allocator })
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: it was acquired once, and is released once.
        unsafe { (self.functions.release)(self.allocator) }
    }
}

/// Returns whether the data type of an array is `StringDType`.
pub(crate) fn is_text(array: &Bound<'_, PyUntypedArray>) -> bool {
    array.dtype().kind() == b'T'
}

fn is_object(array: &Bound<'_, PyUntypedArray>) -> bool {
    array.dtype().kind() == b'O' && array.dtype().itemsize() == size_of::<*mut ffi::PyObject>()
}

/// Checks that the memory of an array is aligned, as functions of numpy and other C code require.
fn check_aligned(array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    if array.is_aligned() {
        return Ok(());
    }
    Err(PyValueError::new_err("found an array whose memory is not aligned, expected a copy of it that is"))
}

/// Calls `each` with the bytes of every string of an array of `StringDType`, in C order; `None` is a missing string. Calls no Python code.
///
/// # Errors
/// `TypeError` for an array of another data type, and `MemoryError`.
pub(crate) fn for_each_text(array: &Bound<'_, PyUntypedArray>, mut each: impl FnMut(Option<&[u8]>)) -> PyResult<()> {
    check_aligned(array)?;
    let memory = Memory::to_be_read(array);
    let view = memory.view()?;
    let locked = Locked::new(array)?;
    let mut lent = Lent { size: 0, bytes: null() };
    let is_complete = view.all(|element| {
        // SAFETY: an element of an array whose allocator is locked.
        match unsafe { (locked.functions.load)(locked.allocator, element.as_ptr().cast(), &raw mut lent) } {
            0 if lent.size == 0 => each(Some(&[])),
            // SAFETY: numpy lends these bytes until the allocator is unlocked.
            0 => each(Some(unsafe { std::slice::from_raw_parts(lent.bytes.cast(), lent.size) })),
            1 => each(None),
            _ => return false,
        }
        true
    });
    drop(locked);
    if is_complete { Ok(()) } else { Err(PyMemoryError::new_err("numpy could not load a text")) }
}

/// Sets the strings of an array of `StringDType`, in C order, to those that `next` returns, until it returns `None`. Calls no Python code.
///
/// # Errors
/// `TypeError` for an array of another data type, `ValueError` for a read-only array, and `MemoryError`. Some strings may have been set.
pub(crate) fn set_texts<'t>(
    array: &Bound<'_, PyUntypedArray>,
    mut next: impl FnMut() -> Option<&'t str>,
) -> PyResult<()> {
    check_aligned(array)?;
    if !is_text(array) {
        return Err(PyTypeError::new_err(format!("memory of data type {}, expected texts", array.dtype())));
    }
    let mut memory = Memory::to_be_read(array);
    // SAFETY: elements are set by numpy's function, which makes them texts.
    let mut view = unsafe { memory.view_mut_of_any() }?;
    let locked = Locked::new(array)?;
    let mut has_memory = true;
    view.all_mut(|element| {
        let Some(text) = next() else { return false };
        let (bytes, size) = (text.as_ptr().cast(), text.len());
        // SAFETY: an element of an array whose allocator is locked.
        has_memory =
            unsafe { (locked.functions.pack)(locked.allocator, element.as_mut_ptr().cast(), bytes, size) == 0 };
        has_memory
    });
    drop(locked);
    if has_memory { Ok(()) } else { Err(PyMemoryError::new_err("there is no memory for the texts")) }
}

/// Calls `each` with every object of an array, in C order, until it fails.
///
/// # Errors
/// The error of `each`, and `TypeError` for an array of another data type.
pub(crate) fn for_each_object<'py>(
    array: &Bound<'py, PyUntypedArray>,
    mut each: impl FnMut(Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    if !is_object(array) {
        return Err(PyTypeError::new_err(format!("elements of data type {}, expected objects", array.dtype())));
    }
    let py = array.py();
    let memory = Memory::to_be_read(array);
    let mut result = Ok(());
    memory.view()?.all(|element| {
        // SAFETY: an element is a pointer, and the array has a reference of the object.
        let object = unsafe {
            let pointer: *mut ffi::PyObject = element.as_ptr().cast::<*mut ffi::PyObject>().read_unaligned();
            Bound::from_borrowed_ptr_or_opt(py, pointer)
        };
        result = each(object.unwrap_or_else(|| py.None().into_bound(py)));
        result.is_ok()
    });
    result
}

/// Sets the elements of a new array of objects, in C order, to those that `next` returns. No other code may have a reference to the array.
///
/// # Errors
/// The error of `next`, `TypeError` for an array of another data type, and `ValueError` for a read-only array. Some elements may have been
/// set.
pub(crate) fn set_objects<'py>(
    array: &Bound<'py, PyUntypedArray>,
    mut next: impl FnMut() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<()> {
    if !is_object(array) {
        return Err(PyTypeError::new_err(format!("memory of data type {}, expected objects", array.dtype())));
    }
    let py = array.py();
    let mut memory = Memory::to_be_read(array);
    // SAFETY: pointers to objects are set, of each of which the array gets a reference.
    let mut view = unsafe { memory.view_mut_of_any() }?;
    let mut result = Ok(());
    view.all_mut(|element| match next() {
        Ok(object) => {
            let at = element.as_mut_ptr().cast::<*mut ffi::PyObject>();
            // SAFETY: an element is a pointer; the reference that the array had of the object before is given up once it is not there.
            let before = unsafe {
                let before = at.read_unaligned();
                at.write_unaligned(object.into_ptr());
                Bound::from_owned_ptr_or_opt(py, before)
            };
            drop(before);
            true
        }
        Err(error) => {
            result = Err(error);
            false
        }
    });
    result
}
