//! Parser of data types in the spellings of callers.

use crate::{Error, ErrorKind, Result};
use zarr_dtype::{ByteOrder, DataType, DataTypes, from_npy_descr, from_npy_value};
use zarr_json::{NamedConfig, Value};

/// Names of data types in Python and C, with their names in Zarr v3, as `numpy.dtype` takes them on nearly all machines.
const PYTHON_TYPES: [(&str, &str); 8] = [
    ("int", "int64"),
    ("uint", "uint64"),
    ("float", "float64"),
    ("complex", "complex128"),
    ("half", "float16"),
    ("single", "float32"),
    ("double", "float64"),
    ("str", "string"),
];

/// Returns `text` as JSON if it is an object of a draft that names a data type and has fallback types.
pub(super) fn with_fallback(text: &str) -> Option<Value> {
    let value =
        Some(text).filter(|text| text.trim_start().starts_with('{')).and_then(|text| Value::from_json(text).ok())?;
    let has_fallback = value.get("fallback").is_some_and(|fallback| !fallback.is_null());
    (value.get("name").is_none() && has_fallback).then_some(value)
}

/// Parses a data type by name, JSON or numpy's spelling. Returns also the byte order of numpy's spelling, little-endian by default.
pub(super) fn parse_data_type(text: &str, types: &DataTypes) -> Result<(DataType, ByteOrder)> {
    let in_type =
        |error: zarr_dtype::Error| Error::from(error).at(|location| location.pointer = Some("/data_type".to_owned()));
    if text.trim_start().starts_with('{') {
        let value = Value::from_json(text).map_err(|error| Error::argument(format!("data type: {error}")))?;
        if value.get("name").is_none() && value.get("extension").is_some() {
            let (config, order) = zarr_meta::data_type_of_extension(&value)
                .map_err(|error| Error::from(error).at(|location| location.pointer = Some("/data_type".to_owned())))?;
            return Ok((types.from_config(&config).map_err(in_type)?, order));
        }
        let config = NamedConfig::from_value(&value)
            .ok_or_else(|| Error::argument("data type: expected an object with a name, or an extension and a type"))?;
        return Ok((types.from_config(&config).map_err(in_type)?, ByteOrder::Little));
    }
    if text.trim_start().starts_with('[') {
        let value = Value::from_json(text).map_err(|error| Error::argument(format!("data type: {error}")))?;
        return from_npy_value(&value).map_err(in_type);
    }
    if let Some(native) = text.strip_prefix('=') {
        return from_npy_descr(native).map_err(in_type);
    }
    if text.starts_with(['<', '>', '|']) {
        return from_npy_descr(text).map_err(in_type);
    }
    let of_python = PYTHON_TYPES.iter().find(|(name, _)| *name == text).map_or(text, |(_, named)| named);
    let named = match (types.from_config(&NamedConfig::new(of_python)), from_npy_descr(text)) {
        (Ok(named), _) => (named, ByteOrder::Little),
        // numpy without a byte order: little-endian, as nearly all machines.
        (Err(_), Ok(shorthand)) => shorthand,
        (Err(error), Err(_)) => {
            let hint = "names are as in Zarr v3 (float32) or numpy (f4)";
            return Err(in_type(error).with_kind(ErrorKind::Argument).with_hint(hint));
        }
    };
    Ok(named)
}
