//! Parsing of lists from JSON.

use super::{Spelling, is_zero};
use crate::{DataType, Error};
use zarr_json::Value;

/// Returns the inner elements of the list `value` as contiguous items.
pub(super) fn element(inner: &DataType, value: &Value, spelling: Spelling) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    match value {
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                let parsed = super::element(inner, value, spelling);
                bytes.extend(parsed.map_err(|error| error.within(&format!("/{index}")))?);
            }
        }
        _ if spelling == Spelling::Lenient && is_zero(value) => {}
        _ => return Err(Error::invalid(value, format!("an array of elements of type {inner}"))),
    }
    Ok(bytes)
}
