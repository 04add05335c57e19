//! Data types of the drafts: names, type strings of numpy, and extension objects with fallbacks.
//!
//! ```json
//! {"extension": "https://purl.org/zarr/spec/extensions/data-types/datetime/1.0", "type": "<M8[ns]", "fallback": "int64"}
//! ```

use crate::dialect::typestr;
use crate::dialect::uri::spec_uri;
use crate::error::{Error, ErrorKind, Result};
use zarr_dtype::{ByteOrder, Class, NumpyType};
use zarr_json::pointer::At;
use zarr_json::{Map, NamedConfig, Value};

/// Spellings of data types that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accept {
    /// Names of version 3 (`float64`, `r16`) and type strings of numbers; extensions are named by their URI.
    Names,
    /// Type strings of any type; extensions are named by their type, which is one of numpy, whatever their URI.
    TypeStrings,
}

/// Data type that was read.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    /// Numpy type of the elements.
    pub(crate) dtype: NumpyType,
    /// Byte order that the type gives; little-endian if it gives none.
    pub(crate) endian: ByteOrder,
    /// Error about the unknown type, if `dtype` is its fallback; else `None`.
    pub(crate) fallback: Option<Error>,
}

/// Reads the data type at `at`.
///
/// # Errors
/// Fails with [`ErrorKind::UnknownExtension`] if neither the type nor a fallback is known.
pub(crate) fn parse(at: &At<'_>, accept: Accept) -> Result<Elements> {
    let known = |(dtype, endian)| Elements { dtype, endian, fallback: None };
    let unknown = |expected: &str| Err(Error::about(at, ErrorKind::UnknownExtension, expected));
    if at.value().as_object().is_none() {
        if at.value().as_str().is_none() && !(accept == Accept::TypeStrings && at.value().as_array().is_some()) {
            return Err(at.invalid("a data type").into());
        }
        let found = named(at, accept).map(known);
        return found.map_or_else(|| unknown("a data type that is known, such as \"float64\""), Ok);
    }
    // The drafts require the URI of an extension; its content is of no use without the type.
    if accept == Accept::Names {
        at.member("extension")?.text()?;
    }
    at.member("type")?;
    if let Some(found) = extension(at, accept) {
        return Ok(known(found));
    }
    let mut fallbacks = Vec::new();
    match at.get_non_null("fallback") {
        Some(list) if list.value().as_array().is_some() && named(&list, accept).is_none() => {
            fallbacks.extend(list.items()?);
        }
        one => fallbacks.extend(one),
    }
    let one = |at: &At<'_>| if at.value().as_object().is_some() { extension(at, accept) } else { named(at, accept) };
    let Some((dtype, endian)) = fallbacks.iter().find_map(one) else {
        return unknown("a data type that is known, or has a fallback that is");
    };
    let fallback = Error::about(at, ErrorKind::UnknownExtension, "a data type that is known");
    Ok(Elements { dtype, endian, fallback: Some(fallback) })
}

/// Returns the data type of an extension object, see [`data_type_of_extension`](crate::data_type_of_extension).
pub(crate) fn of_extension(object: &Value) -> Result<(NamedConfig, ByteOrder)> {
    let at = At::root(object);
    at.member("extension")?.text()?;
    at.member("type")?;
    let found = extension(&at, Accept::Names).or_else(|| extension(&at, Accept::TypeStrings));
    let Some((dtype, endian)) = found else {
        let uri = at.member("extension")?;
        return Err(Error::about(&uri, ErrorKind::UnknownExtension, "a data type that is known"));
    };
    Ok((dtype.to_config(), endian))
}

/// Returns the type for a name or a type string; `None` if it is unknown or not accepted.
fn named(at: &At<'_>, accept: Accept) -> Option<(NumpyType, ByteOrder)> {
    if let Some(dtype) = at.value().as_str().and_then(by_name) {
        let endian = dtype.all_in(&ByteOrder::Little);
        return Some((dtype, endian));
    }
    let (dtype, endian) = typestr::parse(at).ok()?;
    let number = matches!(&dtype, NumpyType::Number(_)) && dtype.is_of_numpy();
    (number || accept == Accept::TypeStrings).then_some((dtype, endian))
}

fn by_name(name: &str) -> Option<NumpyType> {
    if let Some(number) = NumpyType::named(name).filter(NumpyType::is_of_numpy) {
        return Some(number);
    }
    let digits = name.strip_prefix('r').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let bits: u64 = digits.parse().ok()?;
    (bits > 0 && bits.is_multiple_of(8)).then_some(NumpyType::Raw(bits / 8))
}

/// Returns the type of an extension object, without its fallback.
fn extension(at: &At<'_>, accept: Accept) -> Option<(NumpyType, ByteOrder)> {
    let dtype = at.get("type")?;
    if accept == Accept::TypeStrings {
        // A full type string or a list, so that the words of others are not taken for types.
        let is_full = |text: &str| text.starts_with(['<', '>', '|']);
        let is_list = dtype.value().as_array().is_some();
        return (is_list || dtype.value().as_str().is_some_and(is_full)).then(|| typestr::parse(&dtype).ok()).flatten();
    }
    let kind = extension_kind(at.get("extension")?.value().as_str()?)?;
    let (dtype, endian) = typestr::parse(&dtype).ok()?;
    (kind == kind_of(&dtype)?).then_some((dtype, endian))
}

/// Returns the kind in the URI of an extension: `datetime` in `https://purl.org/zarr/spec/extensions/data-types/datetime/1.0`, or in the
/// older `https://purl.org/zarr/spec/protocol/extensions/datetime-dtypes/1.0`.
fn extension_kind(uri: &str) -> Option<&str> {
    match spec_uri(uri)?.as_slice() {
        ["extensions", "data-types", kind] => Some(kind),
        ["protocol", "extensions", kind] => kind.strip_suffix("-dtypes"),
        _ => None,
    }
}

/// Returns the kind of extension that a type belongs to; `None` for core types.
fn kind_of(dtype: &NumpyType) -> Option<&'static str> {
    Some(match dtype {
        NumpyType::Number(number) if number.class() == Some(Class::Complex) => "complex",
        NumpyType::Number(_) | NumpyType::Raw(_) => return None,
        NumpyType::Time { .. } => "datetime",
        NumpyType::Bytes(_) | NumpyType::Text(_) => "string",
        NumpyType::Struct(_) => "struct",
        NumpyType::Object => "object",
    })
}

/// Returns the type in the form of the core draft of 2022: a name, or an extension object.
///
/// `endian` only matters for structs whose fields have different byte orders; otherwise a codec gives the byte order.
///
/// # Errors
/// Fails with [`ErrorKind::NotExpressible`] for types that the draft lacks.
pub(crate) fn to_name(dtype: &NumpyType, endian: &ByteOrder) -> Result<Value> {
    match dtype {
        NumpyType::Number(number) if dtype.is_of_numpy() => return Ok(Value::from(number.to_string())),
        NumpyType::Raw(size) if *size > 0 => return Ok(Value::from(raw(*size))),
        _ => {}
    }
    let no = || {
        let found = format!("data type {}", dtype.to_config().short_value().excerpt());
        Error::new(ErrorKind::NotExpressible, "/data_type", found, "a data type that the draft has")
    };
    let kind = kind_of(dtype).ok_or_else(no)?;
    let endian = if endian.uniform().is_some() { &dtype.all_in(&ByteOrder::Little) } else { endian };
    let typestr = match dtype {
        NumpyType::Bytes(size) => Value::from(format!("S{size}")),
        NumpyType::Object => Value::from("O"),
        dtype => dtype.to_value(endian),
    };
    let mut map = Map::new();
    map.insert("extension", format!("https://purl.org/zarr/spec/extensions/data-types/{kind}/1.0"));
    map.insert("type", typestr);
    match (dtype, dtype.size()) {
        (NumpyType::Time { .. }, _) => drop(map.insert("fallback", "int64")),
        (_, Some(size)) if size > 0 => drop(map.insert("fallback", raw(size))),
        _ => {}
    }
    Ok(Value::Object(map))
}

fn raw(size: u64) -> String {
    format!("r{}", u128::from(size) * 8)
}

/// Returns the type string in the form of the drafts before 2022: types of single bytes have no `|`.
pub(crate) fn to_typestr(dtype: &NumpyType, endian: &ByteOrder) -> Value {
    match dtype.to_value(endian) {
        Value::String(text) if text == "|b1" => Value::from("bool"),
        Value::String(text) if matches!(text.as_str(), "|i1" | "|u1") => Value::from(text.trim_start_matches('|')),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    fn read(value: &Value, accept: Accept) -> Option<Elements> {
        parse(&At::root(value), accept).ok()
    }

    // clause: d2022-21, d2022-45, d2022-47, d2022-52, d2022-55, d2022-56
    #[test]
    fn names_of_core_types_stay() {
        for name in [
            "bool",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "float16",
            "float32",
            "float64",
            "complex64",
            "complex128",
            "r8",
            "r16",
            "r24",
        ] {
            let elements = read(&json!(name), Accept::Names).unwrap();
            assert_eq!(to_name(&elements.dtype, &elements.endian).unwrap(), json!(name));
            assert!(elements.fallback.is_none());
        }
        for name in ["r0", "r7", "r", "r+8", "bfloat16", "int4", "S5", "<M8[ns]", "other", ""] {
            let error = parse(&At::root(&json!(name)), Accept::Names).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnknownExtension, "{name}");
        }
        assert_eq!(parse(&At::root(&json!(5)), Accept::Names).unwrap_err().kind(), ErrorKind::InvalidMetadata);
    }

    // clause: d2022-109
    #[test]
    fn type_strings_are_read() {
        for (text, name, big) in
            [("<f8", "float64", false), (">i4", "int32", true), ("u1", "uint8", false), ("|b1", "bool", false)]
        {
            let elements = read(&json!(text), Accept::Names).unwrap();
            assert_eq!(to_name(&elements.dtype, &elements.endian).unwrap(), json!(name));
            assert_eq!(elements.endian.uniform() == Some(&ByteOrder::Big), big);
        }
        for text in ["bool", "i1", "u1", "<f8", ">i4", "|S5", "<U3", "<M8[s]", "|V3"] {
            let elements = read(&json!(text), Accept::TypeStrings).unwrap();
            assert_eq!(to_typestr(&elements.dtype, &elements.endian), json!(text));
        }
    }

    // clause: d2022-21, d2022-110
    #[test]
    fn extensions_by_uri() {
        let uri = |kind: &str| format!("https://purl.org/zarr/spec/extensions/data-types/{kind}/1.0");
        for value in [
            json!({"extension": (uri("datetime")), "type": "<M8[ns]", "fallback": "int64"}),
            json!({"extension": (uri("string")), "type": "S5", "fallback": "r40"}),
            json!({"extension": (uri("string")), "type": "<U2", "fallback": "r64"}),
            json!({"extension": (uri("struct")), "type": [["a", "<i4"], ["b", ">f8"]], "fallback": "r96"}),
            json!({"extension": (uri("object")), "type": "O"}),
        ] {
            let elements = read(&value, Accept::Names).unwrap();
            assert_eq!(to_name(&elements.dtype, &elements.endian).unwrap(), value);
        }
        // Of another extension than the type is of, and of one that nobody knows.
        for (uri, fallback) in [(uri("string"), "int64"), ("https://example.org/1.0".to_owned(), "<i8")] {
            let value = json!({"extension": uri, "type": "<M8[ns]", "fallback": fallback});
            let elements = read(&value, Accept::Names).unwrap();
            assert!(elements.fallback.is_some());
            assert_eq!(to_name(&elements.dtype, &elements.endian).unwrap(), json!("int64"));
        }
        let complex =
            json!({"extension": "https://purl.org/zarr/spec/protocol/extensions/complex-dtypes/1.0", "type": "<c8"});
        assert_eq!(read(&complex, Accept::Names).unwrap().dtype.size(), Some(8));
    }

    // clause: d2022-48, d2022-112, d2022-113, d2022-210
    #[test]
    fn fallbacks_are_taken_in_order() {
        let at = |fallback: Value| json!({"extension": "http://example.org", "type": {"m": 2}, "fallback": fallback});
        let size = |value: Value| read(&value, Accept::Names).map(|elements| elements.dtype.size().unwrap());
        assert_eq!(size(at(json!("int16"))), Some(2));
        assert_eq!(size(at(json!(["other", "r32"]))), Some(4));
        let object =
            json!({"extension": "https://purl.org/zarr/spec/extensions/data-types/datetime/1.0", "type": "<M8[s]"});
        assert_eq!(size(at(json!([{"extension": "x", "type": "y"}, object, "r32"]))), Some(8));
        for none in [json!([]), json!(null), json!("other"), json!(["r7"])] {
            assert_eq!(size(at(none)), None);
        }
    }

    #[test]
    fn extensions_by_type() {
        for (kind, found) in [("|O", true), ("<c8", true), ("mystery", false), ("q", false), ("i4", false)] {
            let value = json!({"extension": "TODO: object array protocol URL", "type": kind, "fallback": null});
            assert_eq!(read(&value, Accept::TypeStrings).is_some(), found, "{kind}");
        }
    }
}
