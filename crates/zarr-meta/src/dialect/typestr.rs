//! Translation between numpy's types, used by dialects up to version 2, and data types of the model.
//!
//! In the model the byte order is part of the codec `bytes`, not of the type.

use super::codecs;
use crate::error::{Error, ErrorKind, Result};
use zarr_dtype::{ByteOrder, NumpyType, NumpyTypeError};
use zarr_json::pointer::At;
use zarr_json::{Map, NamedConfig, Value};

/// Returns the type that a type string or a list of fields names, and its byte order.
pub(crate) fn parse(at: &At<'_>) -> Result<(NumpyType, ByteOrder)> {
    NumpyType::parse(at).map_err(|error| match error {
        NumpyTypeError::Unknown { error, .. } => Error::from(error).with_kind(ErrorKind::UnknownExtension),
        NumpyTypeError::Invalid(error) => error.into(),
    })
}

/// Returns the deviations in the type string or list of fields at `at`, as JSON pointers and descriptions: a type string without a byte
/// order, with that of the machine, or with a byte order that the elements cannot have, and spellings other than numpy's.
pub(crate) fn deviations(at: &At<'_>) -> Vec<(String, String)> {
    if at.value().as_array().is_some() {
        let fields = at.items().unwrap_or_default();
        return fields
            .iter()
            .filter_map(|field| field.items().ok())
            .flat_map(|parts| parts.get(1).map(deviations))
            .flatten()
            .collect();
    }
    deviation(at).into_iter().collect()
}

fn deviation(at: &At<'_>) -> Option<(String, String)> {
    let text = at.value().as_str().filter(|text| NumpyType::named(text).is_none_or(|number| number.is_of_numpy()))?;
    let what = match text.chars().next()? {
        '<' | '>' | '|' => {
            let (dtype, endian) = parse(at).ok()?;
            let usual = dtype.to_value(&endian);
            return (usual != *at.value()).then(|| (at.pointer(), format!("{text:?}, read as {usual}")));
        }
        '=' => "the byte order of the machine, read as little-endian",
        _ => "no byte order, read as little-endian",
    };
    Some((at.pointer(), format!("{text:?} says {what}")))
}

/// Returns the codec `bytes` that stores elements of `dtype` in the byte order `endian`.
pub(crate) fn bytes_codec(dtype: &NumpyType, endian: &ByteOrder) -> NamedConfig {
    if !dtype.has_byte_order() {
        return codecs::bytes(None);
    }
    match endian.uniform() {
        Some(order) => codecs::bytes(Some(word(order))),
        None => {
            let fields = to_value(endian);
            NamedConfig::with("bytes", [("field_endian".to_owned(), fields)].into_iter().collect())
        }
    }
}

/// Returns the byte order in which a codec `bytes` with this configuration stores elements of `dtype`.
pub(crate) fn endian(dtype: &NumpyType, configuration: &Map) -> Result<ByteOrder> {
    if let Some(fields) = configuration.get("field_endian") {
        let unknown = || {
            let pointer = "/configuration/field_endian";
            Error::new(ErrorKind::NotExpressible, pointer, fields.excerpt(), "a byte order for each field")
        };
        return from_value(fields).ok_or_else(unknown);
    }
    match configuration.get("endian").map(Value::as_str) {
        None | Some(Some("little")) => Ok(dtype.all_in(&ByteOrder::Little)),
        Some(Some("big")) => Ok(dtype.all_in(&ByteOrder::Big)),
        _ => Err(Error::new(ErrorKind::NotExpressible, "/configuration/endian", "no byte order", "little or big")),
    }
}

/// Returns the byte order that `word` names; little-endian for an unknown word.
pub(crate) fn order(word: &str) -> ByteOrder {
    if word == "big" { ByteOrder::Big } else { ByteOrder::Little }
}

/// Returns the word for a byte order.
pub(crate) fn word(order: &ByteOrder) -> &'static str {
    if *order == ByteOrder::Big { "big" } else { "little" }
}

/// Returns a byte order as the member `field_endian` of the configuration of the codec `bytes`.
fn to_value(endian: &ByteOrder) -> Value {
    match endian {
        ByteOrder::Irrelevant => Value::Null,
        ByteOrder::Fields(fields) => Value::Array(fields.iter().map(to_value).collect()),
        order => Value::from(word(order)),
    }
}

/// Returns the byte order for a value of `field_endian`: the inverse of [`to_value`]; `None` for an invalid value.
fn from_value(value: &Value) -> Option<ByteOrder> {
    match value {
        Value::Null => Some(ByteOrder::Irrelevant),
        Value::String(text) if matches!(text.as_str(), "little" | "big") => Some(order(text)),
        Value::Array(fields) => fields.iter().map(from_value).collect::<Option<_>>().map(ByteOrder::Fields),
        _ => None,
    }
}

/// Returns the numpy type for a data type of the model; [`NumpyType::Object`] for types of variable length.
pub(crate) fn from_model(data_type: &NamedConfig) -> Result<NumpyType> {
    let no = || {
        let found = data_type.short_value().excerpt();
        Error::new(ErrorKind::NotExpressible, "", format!("data type {found}"), "a type of numpy")
    };
    NumpyType::from_config(data_type).ok_or_else(no)
}

/// Returns the numpy type for a data type of the model, as [`from_model`] does, but fails for the types that TensorStore adds to version 2.
pub(crate) fn from_model_of_numpy(data_type: &NamedConfig) -> Result<NumpyType> {
    let dtype = from_model(data_type)?;
    if dtype.is_of_numpy() {
        return Ok(dtype);
    }
    let found = format!("data type {}", data_type.short_value().excerpt());
    Err(Error::new(ErrorKind::NotExpressible, "", found, "a type of numpy"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    #[test]
    fn byte_orders_come_back() {
        for value in [
            json!("<f8"),
            json!("|b1"),
            json!(">U3"),
            json!("|S4"),
            json!("<M8[25s]"),
            json!([["a", "<i4"], ["b", ">f8", [2, 3]], ["c", [["x", "|u1"], ["y", ">u2"]]]]),
            json!([["a", ">i4"], ["b", "|S3"]]),
        ] {
            let (dtype, found) = parse(&At::root(&value)).unwrap();
            assert_eq!(endian(&dtype, &bytes_codec(&dtype, &found).configuration).unwrap(), found, "{value}");
        }
    }

    #[test]
    fn unknown_and_malformed_types() {
        let kind = |value: Value| parse(&At::root(&value)).unwrap_err().kind();
        assert_eq!(kind(json!("<f16")), ErrorKind::UnknownExtension);
        assert_eq!(kind(json!([["a", "|O"]])), ErrorKind::UnknownExtension);
        assert_eq!(kind(json!([["a"]])), ErrorKind::InvalidMetadata);
        assert_eq!(from_model(&NamedConfig::new("r7")).unwrap_err().kind(), ErrorKind::NotExpressible);
    }
}
