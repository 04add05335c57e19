//! Lists from JSON.

use super::{Spelling, is_zero};
use crate::{DataType, Error};
use zarr_json::Value;

/// The bytes of the items that `value` is a list of.
pub(super) fn element(item: &DataType, value: &Value, spelling: Spelling) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    match value {
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                let parsed = super::element(item, value, spelling);
                bytes.extend(parsed.map_err(|error| error.within(&format!("/{index}")))?);
            }
        }
        _ if spelling == Spelling::Lenient && is_zero(value) => {}
        _ => return Err(Error::invalid(value, format!("an array of elements of type {item}"))),
    }
    Ok(bytes)
}
