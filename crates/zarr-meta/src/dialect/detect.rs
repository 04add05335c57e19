//! Which dialect a document is of.

use super::{Dialect, rules};
use crate::NodePath;
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Leniency, Value, parse};

/// The dialect that `zarr_format` in a `zarr.json` names; `None` if it is none that is known.
pub(crate) fn of_zarr_json(document: &Value) -> Option<Dialect> {
    let format = document.get("zarr_format")?;
    if format.as_u64() == Some(3) {
        return Some(Dialect::V3);
    }
    let uri = format.as_str()?;
    let uri = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
    let uri = uri.strip_prefix("purl.org/zarr/spec/")?;
    let is_minor = |version: &str| !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    match uri {
        "v3#array" | "v3#group" => Some(Dialect::V3Of2023),
        _ if uri.strip_prefix("core/3.").is_some_and(is_minor) => Some(Dialect::D2022),
        _ if uri.strip_prefix("protocol/core/3.").is_some_and(is_minor) => Some(Dialect::P2020),
        _ => None,
    }
}

/// The keys of the documents by which dialects are told that are not self-contained, beside those of a node at `path` in the
/// self-contained ones.
pub(crate) fn entry_keys(path: &NodePath) -> Vec<String> {
    let mut keys: Vec<_> = ["meta/group.json", "meta/array.json"].map(str::to_owned).into();
    if path.is_root() {
        keys.extend(["meta", "__zmeta__"].map(str::to_owned));
    } else {
        keys.push("zarr.json".to_owned());
    }
    keys
}

/// The dialect that the document at one of these keys names; `None` for none, or a self-contained one.
///
/// # Errors
/// [`ErrorKind::UnsupportedVersion`] for one that is not read.
pub(crate) fn of_entry(key: &str, bytes: &[u8]) -> Result<Option<Dialect>> {
    Error::if_too_large(key, bytes.len())?;
    // Whether it is well-formed in its dialect is for the rules of that to say.
    let leniency = Leniency { bare_nan: true, duplicate_names: true, trailing_comma: true };
    let value = parse(bytes, leniency).map(|parsed| parsed.value).unwrap_or_default();
    let format = value.get("zarr_format");
    let found = format.map_or_else(String::new, |format| format!("zarr_format {}", format.excerpt()));
    let unsupported_as = |pointer: &str, found: &str, expected: &str| {
        Err(Error::new(ErrorKind::UnsupportedVersion, pointer, found, expected).in_document(key))
    };
    let dialect = match key {
        "zarr.json" => match of_zarr_json(&value) {
            Some(dialect @ (Dialect::P2020 | Dialect::D2022)) => dialect,
            _ => return Ok(None),
        },
        "meta" if format.and_then(Value::as_u64) == Some(1) => Dialect::V1,
        "meta" if format.is_some_and(|format| format.as_number().is_some()) => {
            return unsupported_as("/zarr_format", &found, "1");
        }
        "meta/group.json" | "meta/array.json" if value.as_object().is_some() => Dialect::P2019,
        "__zmeta__" if value.as_object().is_some() => Dialect::V0,
        "__zmeta__" => {
            let found = "no JSON object (zarr-python 0.3 stored a pickle, which is not read since it may run code)";
            return unsupported_as("", found, "");
        }
        _ => return Ok(None),
    };
    match rules(dialect) {
        Ok(_) => Ok(Some(dialect)),
        Err(_) => Err(unsupported(dialect, &found).in_document(key)),
    }
}

/// The error for a `zarr.json` of a dialect that is not read, or of none that is known.
pub(crate) fn unsupported_zarr_json(document: &Value) -> Error {
    let format = document.get("zarr_format");
    let found = format.map_or("no zarr_format".to_owned(), |format| format!("zarr_format {}", format.excerpt()));
    match of_zarr_json(document) {
        Some(dialect) => unsupported(dialect, &found),
        None => Error::new(ErrorKind::UnsupportedVersion, "/zarr_format", found, "3"),
    }
}

/// The error for a dialect that is known but not read.
pub(crate) fn unsupported(dialect: Dialect, found: &str) -> Error {
    let about = match dialect {
        Dialect::V0 => "the form of zarr-python 0.3 and 0.4",
        Dialect::V1 => "version 1",
        Dialect::P2019 => "the version 3 protocol draft of 2019",
        Dialect::P2020 => "a version 3 protocol draft of 2020 to 2024",
        Dialect::D2022 => "the version 3 core draft of 2022",
        Dialect::V2 | Dialect::V3Of2023 | Dialect::V3 => "a version that is read",
    };
    let pointer = if found.starts_with("zarr_format") { "/zarr_format" } else { "" };
    let found = if found.is_empty() { format!("dialect {dialect}") } else { format!("{found} (dialect {dialect})") };
    let expected = "a dialect that is read: v2, v3-2023 or v3";
    Error::new(ErrorKind::UnsupportedVersion, pointer, format!("{found}, {about}"), expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn by_the_marker() {
        for (format, dialect) in [
            (json!(3), Some(Dialect::V3)),
            (json!(4), None),
            (json!("3"), None),
            (json!("https://purl.org/zarr/spec/core/3.0"), Some(Dialect::D2022)),
            (json!("http://purl.org/zarr/spec/core/3.12"), Some(Dialect::D2022)),
            (json!("https://purl.org/zarr/spec/core/3."), None),
            (json!("https://purl.org/zarr/spec/core/4.0"), None),
            (json!("https://purl.org/zarr/spec/protocol/core/3.0"), Some(Dialect::P2020)),
            (json!("https://purl.org/zarr/spec/v3#array"), Some(Dialect::V3Of2023)),
            (json!(null), None),
        ] {
            assert_eq!(of_zarr_json(&json!({"zarr_format": format})), dialect);
        }
        assert_eq!(of_zarr_json(&json!([])), None);
    }
}
