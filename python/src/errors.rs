//! Errors as Python exceptions.

use pyo3::prelude::*;
use std::error::Error as _;
use std::fmt::Write;
use zarr::Error;

/// Returns the Python exception of an error. `zarr_rust/errors.py` has the class of each kind of error.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        // Writing to a string does not fail.
        let _ = write!(message, ": {inner}");
        source = inner.source();
    }
    let location = error.location();
    let chunk = location.chunk.as_ref().map(|chunk| chunk.to_vec());
    let store_error = error.store_error().map(|error| format!("{:?}", error.kind()));
    let parts = (
        message,
        error.kind().name(),
        store_error,
        error.hint(),
        (&location.store, &location.path, chunk, &location.key, &location.pointer),
    );
    match py.import("zarr_rust.errors").and_then(|module| module.call_method1("_of_parts", parts)) {
        Ok(made) => PyErr::from_value(made),
        Err(error) => error,
    }
}

/// Returns the Python exception for a selection outside the array.
pub(crate) fn selection(py: Python<'_>, error: &zarr::grid::Error) -> PyErr {
    match py.import("zarr_rust.errors").and_then(|module| module.call_method1("_of_selection", (error.to_string(),))) {
        Ok(made) => PyErr::from_value(made),
        Err(error) => error,
    }
}

/// Conversion of a result of the library to a result of Python.
pub(crate) trait OrException<T> {
    /// Returns the value, or the exception of the error.
    fn or_exception(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Error>> OrException<T> for Result<T, E> {
    fn or_exception(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error.into()))
    }
}
