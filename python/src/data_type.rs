//! Data types in numpy.

use numpy::PyArrayDescr;
use pyo3::prelude::*;
use zarr::dtype::{DataType, npy_literal};

/// Form of the elements of an array in numpy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Elements of fixed size, with the same bytes in numpy.
    Fixed,
    /// Strings of any length.
    String,
    /// Bytes of any length.
    Bytes,
    /// Arrays of any length.
    List,
    /// JSON values.
    Json,
    /// Elements that numpy does not support.
    Absent,
}

impl Form {
    /// Returns the form of the elements of a data type.
    pub(crate) fn of(data_type: &DataType) -> Self {
        match data_type.storage() {
            DataType::String => Self::String,
            DataType::Bytes { .. } => Self::Bytes,
            DataType::VlenArray(inner) if npy_literal(inner.storage()).is_some() => Self::List,
            DataType::Object => Self::Json,
            other if npy_literal(other).is_some() => Self::Fixed,
            _ => Self::Absent,
        }
    }

    /// Returns the name of the form for the Python part of the package.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::List => "list",
            Self::Json => "json",
            Self::Absent => "absent",
        }
    }
}

/// Returns the data type of numpy for the elements of [`Form::Fixed`], or for the items of the elements of [`Form::List`].
///
/// # Errors
/// `TypeError` for a data type that numpy lacks.
pub(crate) fn fixed<'py>(py: Python<'py>, data_type: &DataType) -> PyResult<Bound<'py, PyArrayDescr>> {
    let data_type = match data_type.storage() {
        DataType::VlenArray(inner) => inner.storage(),
        other => other,
    };
    let made =
        py.import("zarr_rust._values")?.call_method1("dtype_of", (npy_literal(data_type), data_type.to_string()))?;
    Ok(made.cast_into::<PyArrayDescr>()?)
}
