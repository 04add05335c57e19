//! Attributes of CF: their names, and the errors that name them.

use crate::{Error, ErrorKind, Result};
use zarr_json::Value;

/// The attribute that says which value marks missing data.
pub(crate) const FILL_VALUE: &str = "_FillValue";

/// An error that names an attribute.
pub(crate) fn invalid(attribute: &str, found: &str, expected: &str) -> Error {
    let pointer = format!("/attributes/{}", attribute.replace('~', "~0").replace('/', "~1"));
    Error::new(ErrorKind::InvalidMetadata, format!("attribute {attribute}: found {found}, expected {expected}"))
        .at(|location| location.pointer = Some(pointer))
}

/// The string that an attribute is.
///
/// # Errors
/// If it is none.
pub(crate) fn text(attribute: &str, value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| invalid(attribute, &value.excerpt(), "a string"))
}
