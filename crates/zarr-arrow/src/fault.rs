//! Errors of values that a type of Arrow cannot hold, with the element.

use crate::{Error, ErrorKind};

/// Error while an array is made.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) error: Error,
    /// Number of the element whose value is at fault; `None` for other errors.
    pub(crate) element: Option<usize>,
}

/// Result of making an array.
pub(crate) type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    /// Adds the number of an element to an error of its value.
    pub(crate) fn at(element: usize, error: Error) -> Self {
        let is_of_value = matches!(error.kind(), ErrorKind::CorruptChunk | ErrorKind::NotExpressible);
        Self { element: is_of_value.then_some(element), error }
    }

    /// Adds the name of the field of a struct that has the value.
    pub(crate) fn in_field(self, name: &str) -> Self {
        let error = Error::new(self.error.kind(), format!("field {name}: {}", self.error.message()));
        Self { error, ..self }
    }

    /// Replaces an element of lists of `len` elements by the element that has the list.
    pub(crate) fn in_lists(self, len: usize) -> Self {
        Self { element: self.element.and_then(|element| element.checked_div(len)), ..self }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self { error, element: None }
    }
}
