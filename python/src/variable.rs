//! Elements of variable length, to and from arrays of numpy.
//!
//! Strings are in arrays of `StringDType`, of `str` objects, or of strings of a fixed number of characters; bytes are objects. Other
//! elements are passed as a list of `bytes`, which the Python part encodes and decodes (`zarr_rust/_values.py`).

use crate::data_type::Form;
use crate::errors::OrException;
use crate::memory::Memory;
use crate::variable_memory::{for_each_object, for_each_text, is_text, set_objects, set_texts};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyInt, PyList, PyMemoryView, PyString, PyTuple};
use std::sync::Arc;
use zarr::ArrayData;
use zarr::codec::View;
use zarr::dtype::{DataType, Heap, HeapRef};
use zarr::json::Value;

/// Elements that Python passes.
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    /// Strings or bytes in an array of numpy.
    Array(Bound<'py, PyUntypedArray>),
    /// Bytes of each element, in C order.
    Encoded(Vec<PyBackedBytes>),
}

/// Meaning of an element that is neither a string nor bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// The element is an error.
    Refused,
    /// `None` and 0 stand for an empty element, as in numcodecs: arrays of objects have them if they are created without values.
    Empty,
}

impl Absent {
    fn takes(self, element: &Bound<'_, PyAny>) -> bool {
        let is_zero = || element.is_exact_instance_of::<PyInt>() && element.extract::<i64>().is_ok_and(|it| it == 0);
        self == Self::Empty && (element.is_none() || is_zero())
    }
}

/// Elements that are appended one after the other.
struct Elements {
    bytes: Vec<u8>,
    items: Vec<u8>,
    /// Number of the first element that is too long; `None` if there is none.
    too_long: Option<usize>,
}

impl Elements {
    /// Returns an empty list of elements, with memory for `count` elements.
    fn new(count: usize) -> PyResult<Self> {
        let mut elements = Self { bytes: Vec::new(), items: Vec::new(), too_long: None };
        elements.reserve(count)?;
        Ok(elements)
    }

    fn reserve(&mut self, count: usize) -> PyResult<()> {
        let reserved = self.items.try_reserve_exact(count.saturating_mul(HeapRef::SIZE));
        reserved.map_err(|_| PyMemoryError::new_err(format!("there is no memory for {count} elements")))
    }

    /// Returns the number of elements.
    fn count(&self) -> usize {
        self.items.len() / HeapRef::SIZE
    }

    #[inline]
    fn push(&mut self, element: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(element);
        self.end(start);
    }

    /// Ends an element: its bytes are those beginning at `start`.
    #[inline]
    fn end(&mut self, start: usize) {
        let item = self.reference(start);
        self.items.extend_from_slice(&item.to_bytes());
    }

    fn reference(&mut self, start: usize) -> HeapRef {
        match u32::try_from(self.bytes.len() - start) {
            Ok(0) => HeapRef::default(),
            // All elements are in the first block of the heap.
            Ok(len) => HeapRef { block: 1, len, offset: start as u64 },
            Err(_) => {
                self.too_long.get_or_insert(self.count());
                HeapRef::default()
            }
        }
    }

    /// Replaces the elements of these numbers by `element`.
    fn replace(&mut self, numbers: &[usize], element: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(element);
        let item = self.reference(start).to_bytes();
        let items = self.items.as_chunks_mut::<{ HeapRef::SIZE }>().0;
        for &number in numbers {
            if let Some(old) = items.get_mut(number) {
                *old = item;
            }
        }
    }

    /// Returns the elements of an array of `count` elements that are all equal to the single element of this list.
    fn repeated(mut self, count: usize) -> PyResult<Self> {
        let item = std::mem::take(&mut self.items);
        self.reserve(count)?;
        (0..count).for_each(|_| self.items.extend_from_slice(&item));
        Ok(self)
    }

    fn into_data(self, py: Python<'_>, data_type: &DataType, shape: &[u64]) -> PyResult<ArrayData> {
        if let Some(number) = self.too_long {
            return Err(PyValueError::new_err(format!("element {number} has more than 4 GiB")));
        }
        let heap = Heap::new();
        heap.add(self.bytes);
        ArrayData::from_items(data_type, shape, &self.items, Some(Arc::new(heap))).or_exception(py)
    }
}

/// Converts elements that Python passes, in C order of a shape.
///
/// # Errors
/// `TypeError` for elements of another type, `ValueError` if their number does not fit the shape or one is not a value of the data type,
/// and the exceptions of objects that cannot be encoded.
pub(crate) fn from_python(
    py: Python<'_>,
    data_type: &DataType,
    shape: &[u64],
    given: &Given<'_>,
    absent: Absent,
) -> PyResult<ArrayData> {
    match given {
        Given::Encoded(elements) => from_bytes(data_type, elements)?,
        Given::Array(array) => match the_one(array)? {
            Some(one) => from_array(data_type, &one, absent)?.repeated(array.len())?,
            None => from_array(data_type, array, absent)?,
        },
    }
    .into_data(py, data_type, shape)
}

/// Returns the single element that an array repeats in memory, such as an array that was broadcast; `None` for other arrays.
fn the_one<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    let is_one = array.len() > 1 && array.strides().iter().zip(array.shape()).all(|(&by, &len)| by == 0 || len == 1);
    if !is_one {
        return Ok(None);
    }
    // With an ellipsis the result is an array without dimensions, not the element.
    let py = array.py();
    let zeros = array.shape().iter().map(|_| Ok(0_usize.into_pyobject(py)?.into_any()));
    let index = zeros.chain([Ok(py.Ellipsis().into_bound(py))]).collect::<PyResult<Vec<_>>>()?;
    Ok(Some(array.get_item(PyTuple::new(py, index)?)?.cast_into::<PyUntypedArray>()?))
}

fn from_array(data_type: &DataType, array: &Bound<'_, PyUntypedArray>, absent: Absent) -> PyResult<Elements> {
    match Form::of(data_type) {
        Form::String => match array.dtype().kind() {
            b'T' => from_texts(array, absent),
            b'U' => from_characters(array),
            _ => from_objects(array, absent, "str", |elements, object| {
                let Ok(text) = object.cast::<PyString>() else { return Ok(false) };
                elements.push(text.to_str()?.as_bytes());
                Ok(true)
            }),
        },
        Form::Bytes => from_objects(array, absent, "bytes", |elements, object| {
            if let Ok(bytes) = object.cast::<PyBytes>() {
                elements.push(bytes.as_bytes());
                return Ok(true);
            }
            let is_buffer = object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>();
            if is_buffer {
                let bytes = object.py().get_type::<PyBytes>().call1((object,))?.cast_into::<PyBytes>()?;
                elements.push(bytes.as_bytes());
            }
            Ok(is_buffer)
        }),
        _ => {
            let message =
                format!("elements of data type {}, expected them to be encoded as {data_type}", array.dtype());
            Err(PyTypeError::new_err(message))
        }
    }
}

fn from_bytes(data_type: &DataType, given: &[PyBackedBytes]) -> PyResult<Elements> {
    let mut elements = Elements::new(given.len())?;
    for element in given {
        check(data_type, element).map_err(PyValueError::new_err)?;
        elements.push(element);
    }
    Ok(elements)
}

fn check(data_type: &DataType, element: &[u8]) -> Result<(), String> {
    let text = || std::str::from_utf8(element).map_err(|error| format!("a text that is no UTF-8: {error}"));
    match data_type.storage() {
        DataType::String => text().map(drop),
        DataType::Object if element.is_empty() => Ok(()),
        DataType::Object => Value::from_json(text()?).map(drop).map_err(|error| error.to_string()),
        DataType::VlenArray(inner) if !element.len().is_multiple_of(inner.item_size().max(1)) => {
            Err(format!("a list of {} bytes, whose elements have {}", element.len(), inner.item_size()))
        }
        _ => Ok(()),
    }
}

fn from_objects<'py>(
    array: &Bound<'py, PyUntypedArray>,
    absent: Absent,
    expected: &str,
    mut push: impl FnMut(&mut Elements, &Bound<'py, PyAny>) -> PyResult<bool>,
) -> PyResult<Elements> {
    let mut elements = Elements::new(array.len())?;
    for_each_object(array, |object| {
        if push(&mut elements, &object)? {
            return Ok(());
        }
        if absent.takes(&object) {
            elements.push(&[]);
            return Ok(());
        }
        Err(wrong(&object, expected))
    })?;
    Ok(elements)
}

fn wrong(element: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let found = element.get_type().name().map_or_else(|_| "unknown".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("found an element of type {found}, expected {expected}"))
}

/// Reads the strings of an array of `StringDType`. The data type says what missing strings stand for, which may be a string.
fn from_texts(array: &Bound<'_, PyUntypedArray>, absent: Absent) -> PyResult<Elements> {
    let mut elements = Elements::new(array.len())?;
    let mut missing = Vec::new();
    for_each_text(array, |text| {
        if text.is_none() {
            missing.push(elements.count());
        }
        elements.push(text.unwrap_or_default());
    })?;
    if missing.is_empty() {
        return Ok(elements);
    }
    // Data types without `na_object` have empty strings for missing ones.
    if let Some(object) = array.dtype().getattr_opt("na_object")? {
        match object.cast::<PyString>() {
            Ok(text) => elements.replace(&missing, text.to_str()?.as_bytes()),
            Err(_) if absent.takes(&object) => {}
            Err(_) => return Err(wrong(&object, "str")),
        }
    }
    Ok(elements)
}

/// Reads strings of a fixed number of characters; characters of code 0 at the end are not part of a string.
fn from_characters(array: &Bound<'_, PyUntypedArray>) -> PyResult<Elements> {
    let py = array.py();
    if array.dtype().itemsize() == 0 {
        let mut elements = Elements::new(array.len())?;
        (0..array.len()).for_each(|_| elements.push(&[]));
        return Ok(elements);
    }
    let is_native = array.dtype().is_native_byteorder() != Some(false);
    let memory = Memory::to_be_read(array);
    let view = memory.view()?;
    let of_native = |bytes: [u8; 4]| u32::from_ne_bytes(bytes);
    let of_other = |bytes: [u8; 4]| u32::from_ne_bytes(bytes).swap_bytes();
    let elements = Elements::new(array.len())?;
    let encoded =
        py.detach(|| if is_native { encode(&view, elements, of_native) } else { encode(&view, elements, of_other) });
    encoded.map_err(|number| no_text(array, number).unwrap_or_else(|error| error))
}

/// Encodes the characters of elements as UTF-8. The error is the number of an element with invalid characters.
fn encode(view: &View<'_>, mut elements: Elements, character: impl Fn([u8; 4]) -> u32) -> Result<Elements, usize> {
    let is_text = view.all(|element| {
        let characters = element.as_chunks::<4>().0;
        let len = characters.iter().rposition(|bytes| *bytes != [0; 4]).map_or(0, |last| last + 1);
        let start = elements.bytes.len();
        for &bytes in characters.iter().take(len) {
            match character(bytes) {
                ascii @ ..0x80 => elements.bytes.push(ascii as u8),
                other => match char::from_u32(other) {
                    Some(other) => elements.bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
                    None => return false,
                },
            }
        }
        elements.end(start);
        true
    });
    if is_text { Ok(elements) } else { Err(elements.count()) }
}

/// Returns the Python exception for a string that cannot be encoded as UTF-8.
fn no_text(array: &Bound<'_, PyUntypedArray>, number: usize) -> PyResult<PyErr> {
    let encoded = array.getattr("flat")?.get_item(number)?.call_method0("encode");
    Ok(encoded.err().unwrap_or_else(|| PyValueError::new_err(format!("element {number} is no text"))))
}

/// Returns an empty array of a shape for elements of variable length: of `StringDType` for strings, if numpy has that type, else of
/// objects.
fn empty<'py>(py: Python<'py>, form: Form, shape: &[u64]) -> PyResult<Bound<'py, PyUntypedArray>> {
    let data_type = match form {
        Form::String => py.import("zarr_rust._values")?.getattr("STRING")?,
        _ => numpy::PyArrayDescr::object(py).into_any(),
    };
    let made = py.import("numpy")?.call_method1("empty", (PyTuple::new(py, shape)?, data_type))?;
    Ok(made.cast_into::<PyUntypedArray>()?)
}

/// Returns the elements: strings and bytes as an array of a shape, others as a list of their bytes, in C order.
///
/// # Errors
/// `ValueError` for a string that is no UTF-8, or if the shape has another number of elements.
pub(crate) fn to_python<'py>(py: Python<'py>, data: &ArrayData, shape: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    let form = Form::of(data.data_type());
    if !matches!(form, Form::String | Form::Bytes) {
        let elements: Vec<_> = data.variable().into_iter().flatten().map(|element| PyBytes::new(py, element)).collect();
        return Ok(PyList::new(py, elements)?.into_any());
    }
    let array = empty(py, form, shape)?;
    to_array(data, &array)?;
    Ok(array.into_any())
}

/// Copies strings or bytes into an array, in C order. An array of objects must be new.
///
/// # Errors
/// Errors of [`to_python`], and of memory that cannot be written to.
pub(crate) fn to_array(data: &ArrayData, array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    let py = array.py();
    if array.len() != data.len() {
        let message = format!("found memory of {} elements, expected {}", array.len(), data.len());
        return Err(PyValueError::new_err(message));
    }
    let mut elements = data.variable().into_iter().flatten();
    match (Form::of(data.data_type()), is_text(array)) {
        (Form::String, true) => {
            let mut failed = None;
            set_texts(array, || match std::str::from_utf8(elements.next().unwrap_or_default()) {
                Ok(text) => Some(text),
                Err(error) => {
                    failed = Some(error);
                    None
                }
            })?;
            match failed {
                None => Ok(()),
                Some(error) => Err(PyValueError::new_err(format!("a text that is no UTF-8: {error}"))),
            }
        }
        (Form::String, false) => {
            set_objects(array, || Ok(PyString::from_bytes(py, elements.next().unwrap_or_default())?.into_any()))
        }
        _ => set_objects(array, || Ok(PyBytes::new(py, elements.next().unwrap_or_default()).into_any())),
    }
}
