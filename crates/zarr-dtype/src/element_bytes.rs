//! Check that bytes are an element of a data type.

use crate::{DataType, Error};
use zarr_json::Value;

/// Checks that `bytes` are one element of the storage of a data type: in memory form, or the content of an element of variable length.
///
/// # Errors
/// [`Error::Size`] if `bytes` is not exactly one element, [`Error::Item`] if it is no value of the type.
pub(crate) fn check_bytes(data_type: &DataType, bytes: &[u8]) -> Result<(), Error> {
    let data_type = data_type.storage();
    if data_type.is_variable() {
        let expected = match data_type {
            DataType::String if std::str::from_utf8(bytes).is_err() => Some("UTF-8"),
            DataType::Object if !bytes.is_empty() && !is_json(bytes) => Some("a JSON text"),
            DataType::VlenArray(item) => {
                let item_size = item.item_size();
                if !bytes.len().is_multiple_of(item_size) {
                    return Err(Error::Size { found: bytes.len(), item_size });
                }
                item.layout().check(bytes)?;
                None
            }
            _ => None,
        };
        if let Some(expected) = expected {
            let found = format!("bytes {}", bytes.escape_ascii());
            return Err(Error::Item { index: 0, found, expected: expected.to_owned() });
        }
    } else {
        let item_size = data_type.item_size();
        if bytes.len() != item_size {
            return Err(Error::Size { found: bytes.len(), item_size });
        }
        data_type.layout().check(bytes)?;
    }
    Ok(())
}

fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| Value::from_json(text).is_ok())
}
