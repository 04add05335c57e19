//! Attributes of CF in the metadata of arrays, and the errors that name them.

use crate::{Error, ErrorKind, Result};
use zarr_array::Array;
use zarr_cf::AttributeError;
use zarr_cf::encoding::{Encoding, FillPlace};
pub(crate) use zarr_cf::fill::FILL_VALUE;
use zarr_dtype::{DataType, FillValue};
use zarr_json::Map;
use zarr_meta::Dialect;

/// An error that names an attribute.
pub(crate) fn invalid(attribute: &str, found: &str, expected: &str) -> Error {
    let pointer = format!("/attributes/{}", attribute.replace('~', "~0").replace('/', "~1"));
    Error::new(ErrorKind::InvalidMetadata, format!("attribute {attribute}: found {found}, expected {expected}"))
        .at(|location| location.pointer = Some(pointer))
}

/// The error about an attribute in the metadata of an array.
pub(crate) fn in_metadata(error: AttributeError) -> Error {
    invalid(&error.attribute, &error.found, &error.expected)
}

/// The error about a value that a program gave for an attribute.
pub(crate) fn given(error: AttributeError) -> Error {
    Error::argument(error.to_string())
}

/// The error for a missing value that nothing marks.
pub(crate) fn unmarked(index: usize, stored: &DataType) -> Error {
    Error::argument(format!("value {index} is missing, and {stored} has no value for missing data"))
        .with_hint(format!("{FILL_VALUE} marks missing data"))
}

/// The encoding of an array with these attributes; the attributes left are the user's. In Zarr v2 the fill value of the array is
/// `_FillValue`: see [`Dialect::fill_value_marks_missing`].
///
/// # Errors
/// [`ErrorKind::InvalidMetadata`] for an attribute that is none of its kind, with its name.
pub(crate) fn take_encoding(array: &Array, attributes: &mut Map) -> Result<Encoding> {
    let fill = array.metadata().fill_value.is_some().then(|| array.fill_value());
    encoding_of(array.data_type(), array.dialect(), fill, attributes)
}

/// As [`take_encoding`], of elements of `data_type` in an array of `dialect` whose document has this fill value.
///
/// # Errors
/// As there.
pub(crate) fn encoding_of(
    data_type: &DataType,
    dialect: Dialect,
    fill: Option<&FillValue>,
    attributes: &mut Map,
) -> Result<Encoding> {
    let place = match dialect.fill_value_marks_missing() {
        true => FillPlace::FillValue(fill),
        false => FillPlace::Attribute,
    };
    Encoding::take(data_type, place, attributes).map_err(in_metadata)
}
