//! Labels of coordinates, as Python gives them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarr::dataset::{Label, Labels};

/// Label of a coordinate.
#[derive(FromPyObject)]
pub(crate) enum GivenLabel {
    Integer(i128),
    Number(f64),
    Text(String),
}

impl From<GivenLabel> for Label {
    fn from(label: GivenLabel) -> Self {
        match label {
            GivenLabel::Integer(value) => Self::Integer(value),
            GivenLabel::Number(value) => Self::Number(value),
            GivenLabel::Text(value) => Self::Text(value),
        }
    }
}

/// Returns the labels of a selection of this kind; `None` for all labels.
///
/// # Errors
/// `ValueError` if a kind that needs a label gets none.
pub(crate) fn labels_of(kind: &str, labels: Vec<Option<GivenLabel>>) -> PyResult<Option<Labels>> {
    let mut given = labels.into_iter().map(|label| label.map(Label::from));
    Ok(Some(match kind {
        "slice" => match (given.next().flatten(), given.next().flatten()) {
            (Some(first), Some(last)) => Labels::between(first, last),
            (Some(first), None) => Labels::from_first(first),
            (None, Some(last)) => Labels::to_last(last),
            (None, None) => return Ok(None),
        },
        "list" => Labels::from(given.flatten().collect::<Vec<_>>()),
        _ => match given.next().flatten() {
            Some(label) => Labels::from(label),
            None => return Err(PyValueError::new_err("a selection without a label")),
        },
    }))
}
