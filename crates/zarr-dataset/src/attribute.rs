//! CF attributes in the metadata of arrays, and errors that name them.

use crate::{Error, ErrorKind, Result};
use zarr_array::Array;
use zarr_cf::AttributeError;
use zarr_cf::encoding::{Encoding, FillPlace};
pub(crate) use zarr_cf::fill::FILL_VALUE;
use zarr_dtype::{DataType, FillValue};
use zarr_json::Map;
use zarr_meta::Dialect;

/// Returns the error about an invalid value of the attribute `attribute`, with a JSON pointer to it.
pub(crate) fn invalid(attribute: &str, found: &str, expected: &str) -> Error {
    let pointer = format!("/attributes/{}", attribute.replace('~', "~0").replace('/', "~1"));
    Error::new(ErrorKind::InvalidMetadata, format!("attribute {attribute}: found {found}, expected {expected}"))
        .at(|location| location.pointer = Some(pointer))
}

/// Converts an error about an attribute in the metadata of an array: the document is to blame.
pub(crate) fn in_metadata(error: AttributeError) -> Error {
    invalid(&error.attribute, &error.found, &error.expected)
}

/// Converts an error about an attribute that a program gave: the argument is to blame.
pub(crate) fn given(error: AttributeError) -> Error {
    Error::argument(error.to_string())
}

/// Returns the error for a missing value at `index` if `stored` has no value that marks missing data.
pub(crate) fn unmarked(index: usize, stored: &DataType) -> Error {
    Error::argument(format!("value {index} is missing, and {stored} has no value for missing data"))
        .with_hint(format!("{FILL_VALUE} marks missing data"))
}

/// Takes the CF encoding of an array out of `attributes`; the remaining attributes are those of the user. In Zarr v2 the fill value of the
/// array is the `_FillValue`: see [`Dialect::fill_value_marks_missing`].
///
/// # Errors
/// [`ErrorKind::InvalidMetadata`] for an attribute with an invalid value, with its name.
pub(crate) fn take_encoding(array: &Array, attributes: &mut Map) -> Result<Encoding> {
    let fill = array.metadata().fill_value.is_some().then(|| array.fill_value());
    encoding_of(array.data_type(), array.dialect(), fill, attributes)
}

/// Takes the CF encoding of elements of `data_type` out of `attributes`; the remaining attributes are those of the user. `fill` is the fill
/// value in the array's document of `dialect`, if it has one.
///
/// # Errors
/// The errors of [`take_encoding`].
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
