//! Elements of variable length, as lists of Python's `str` and `bytes`.

use crate::data_type::Form;
use crate::errors::OrException;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PyString};
use std::sync::Arc;
use zarr::ArrayData;
use zarr::dtype::{DataType, Heap, HeapRef};
use zarr::json::Value;

/// The elements as a list in C order, of texts or of bytes.
///
/// # Errors
/// `ValueError` for a text that is no UTF-8.
pub(crate) fn to_list<'py>(py: Python<'py>, data: &ArrayData) -> PyResult<Bound<'py, PyList>> {
    let is_text = Form::of(data.data_type()) == Form::String;
    let list = PyList::empty(py);
    for element in data.variable().into_iter().flatten() {
        if is_text {
            list.append(PyString::from_bytes(py, element)?)?;
        } else {
            list.append(PyBytes::new(py, element))?;
        }
    }
    Ok(list)
}

/// Elements of these bytes, in C order of a shape.
///
/// # Errors
/// `ValueError` if they are not as many as the shape says, or one is no value of the data type.
pub(crate) fn from_bytes(
    py: Python<'_>,
    data_type: &DataType,
    shape: &[u64],
    elements: &[PyBackedBytes],
) -> PyResult<ArrayData> {
    let heap = Heap::new();
    let mut block = Vec::with_capacity(elements.iter().map(|element| element.len()).sum());
    let mut items = Vec::with_capacity(elements.len().saturating_mul(HeapRef::SIZE));
    for element in elements {
        check(data_type, element).map_err(PyValueError::new_err)?;
        let len = u32::try_from(element.len()).map_err(|_| PyValueError::new_err("an element of more than 4 GiB"))?;
        // All are in one block, the first after the empty one.
        items.push(HeapRef { block: 1, len, offset: block.len() as u64 });
        block.extend_from_slice(element);
    }
    let number = heap.add(block);
    let items: Vec<u8> = items.into_iter().flat_map(|item| HeapRef { block: number, ..item }.to_bytes()).collect();
    ArrayData::from_items(data_type, shape, &items, Some(Arc::new(heap))).or_exception(py)
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
