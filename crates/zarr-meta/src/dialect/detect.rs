//! Detection of the dialect of a document.

use super::Dialect;
use crate::Documents;
use crate::documents::parse_document;
use crate::error::{Error, ErrorKind, Result};
use zarr_json::{ParseOptions, Value};

/// Key of the document of an array of version 0.
pub(crate) const V0_ARRAY: &str = "__zmeta__";
/// Key of the document of an array of version 1.
pub(crate) const V1_ARRAY: &str = "meta";
/// Key of the document with the attributes of an array of version 1.
pub(crate) const V1_ATTRIBUTES: &str = "attrs";

/// Returns the dialect that `zarr_format` in a `zarr.json` names; `None` for an unknown one.
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
        "v3#array" | "v3#group" => Some(Dialect::V3Provisional2023),
        _ if uri.strip_prefix("core/3.").is_some_and(is_minor) => Some(Dialect::V3Draft2022),
        _ if uri.strip_prefix("protocol/core/3.").is_some_and(is_minor) => Some(Dialect::V3Protocol2020),
        _ => None,
    }
}

/// Returns the dialect that the document at `key` shows. `key` is one of [`DETECTION_KEYS`], or another key that the probe requests. `None`
/// if there is no document, or if it shows no dialect or a self-contained one.
///
/// # Errors
/// Fails with [`ErrorKind::UnsupportedVersion`] for a version that is not read, or a dialect that this build lacks.
pub(crate) fn of_entry(key: &str, documents: &mut Documents) -> Result<Option<Dialect>> {
    let Some(dialect) = shown(key, documents)? else { return Ok(None) };
    supported(key, dialect).map(Some)
}

/// Returns `dialect`, the dialect of the document at `key`, if this build supports it.
///
/// # Errors
/// Fails with [`ErrorKind::UnsupportedVersion`] for a dialect that this build lacks.
pub(crate) fn supported(key: &str, dialect: Dialect) -> Result<Dialect> {
    dialect.check_supported().map(|()| dialect).map_err(|error| error.in_document(key))
}

/// Returns the dialect that the document at `key` shows, as [`of_entry`] does, including dialects that this build lacks.
fn shown(key: &str, documents: &mut Documents) -> Result<Option<Dialect>> {
    // Whether it is well-formed in its dialect is for the rules of that to say.
    let Some(value) = documents.json_anyhow(key)? else { return Ok(None) };
    let format = value.get("zarr_format");
    let found = format.map_or_else(String::new, |format| format!("zarr_format {}", format.excerpt()));
    let unsupported_as = |pointer: &str, found: &str, expected: &str| {
        Err(Error::new(ErrorKind::UnsupportedVersion, pointer, found, expected).in_document(key))
    };
    let dialect = match key {
        "zarr.json" => match of_zarr_json(&value) {
            Some(dialect @ (Dialect::V3Protocol2020 | Dialect::V3Draft2022)) => dialect,
            // A version of its own, of which nodes below are, too.
            None if format.is_some_and(|format| format.as_str().is_some()) => {
                return Err(unsupported_zarr_json(&value).in_document(key));
            }
            _ => return Ok(None),
        },
        "meta" if format.and_then(Value::as_u64) == Some(1) => Dialect::V1,
        "meta" if format.is_some_and(|format| format.as_number().is_some()) => {
            return unsupported_as("/zarr_format", &found, "1");
        }
        key if is_document_key(key) => Dialect::V3Protocol2019,
        "__zmeta__" => {
            check_is_json(documents.get(key).unwrap_or_default())?;
            Dialect::V0
        }
        _ => return Ok(None),
    };
    Ok(Some(dialect))
}

/// Keys of the documents that detect hierarchies of dialects which are not self-contained.
pub const DETECTION_KEYS: [&str; 5] = ["zarr.json", "meta/group.json", "meta/array.json", "meta", "__zmeta__"];

/// Returns the dialects that are not self-contained and that the documents at [`DETECTION_KEYS`] show, newest first, each with the key of
/// the document, or the error of such a document.
pub fn detected_dialects(documents: &Documents) -> Vec<Result<(&'static str, Dialect)>> {
    let mut documents = documents.clone();
    let (mut all, mut found) = (Vec::new(), Vec::new());
    for key in DETECTION_KEYS {
        // The root of a hierarchy of 2022 has its document at these keys, too.
        if key.starts_with("meta/") && found.contains(&Dialect::V3Draft2022) {
            continue;
        }
        match shown(key, &mut documents) {
            Ok(None) => {}
            Ok(Some(dialect)) if found.contains(&dialect) => {}
            Ok(Some(dialect)) => {
                found.push(dialect);
                all.push(supported(key, dialect).map(|dialect| (key, dialect)));
            }
            Err(error) => all.push(Err(error)),
        }
    }
    all
}

/// Returns whether `key` can be the key of a node document of the first protocol draft: `meta/`, names that end in `.g` or `.a`, and
/// `array.json` or `group.json`.
pub(crate) fn is_document_key(key: &str) -> bool {
    let Some((names, document)) = key.strip_prefix("meta/").map(|rest| rest.rsplit_once('/').unwrap_or(("", rest)))
    else {
        return false;
    };
    let is_name = |name: &str| (name.ends_with(".g") || name.ends_with(".a")) && name.len() > 2;
    matches!(document, "array.json" | "group.json") && (names.is_empty() || names.split('/').all(is_name))
}

/// Returns an error if `bytes` are not a JSON object, such as the pickle of zarr-python 0.3.
pub(crate) fn check_is_json(bytes: &[u8]) -> Result<()> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None | Some(b'{') => Ok(()),
        Some(_) => {
            let found = "no JSON object (zarr-python 0.3 stored a pickle, which is not read since it may run code)";
            Err(Error::new(ErrorKind::UnsupportedVersion, "", found, "").in_document(V0_ARRAY))
        }
    }
}

/// Returns the error of a document `meta` beside `attrs`, which must be of version 1; `None` if it has no error.
pub(crate) fn fault(bytes: &[u8]) -> Option<Error> {
    let value = match parse_document(V1_ARRAY, bytes, ParseOptions::ALL, |_| true) {
        Ok((value, _)) => value,
        Err(error) => return Some(error),
    };
    let expected = "1, since a `meta` beside `attrs` is the document of an array of version 1";
    match value.get("zarr_format") {
        Some(_) => None,
        None => Some(Error::new(ErrorKind::InvalidMetadata, "/zarr_format", "nothing", expected).in_document(V1_ARRAY)),
    }
}

/// Returns the error for a `zarr.json` that was expected to be of version 3 but is not.
pub(crate) fn unsupported_zarr_json(document: &Value) -> Error {
    let format = document.get("zarr_format");
    let mut found = format.map_or("no zarr_format".to_owned(), |format| format!("zarr_format {}", format.excerpt()));
    if let Some(dialect) = of_zarr_json(document) {
        found.push_str(&format!(", which is of dialect {dialect}"));
    }
    Error::new(ErrorKind::UnsupportedVersion, "/zarr_format", found, "3")
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    #[test]
    fn by_the_marker() {
        for (format, dialect) in [
            (json!(3), Some(Dialect::V3)),
            (json!(4), None),
            (json!("3"), None),
            (json!("https://purl.org/zarr/spec/core/3.0"), Some(Dialect::V3Draft2022)),
            (json!("http://purl.org/zarr/spec/core/3.12"), Some(Dialect::V3Draft2022)),
            (json!("https://purl.org/zarr/spec/core/3."), None),
            (json!("https://purl.org/zarr/spec/core/4.0"), None),
            (json!("https://purl.org/zarr/spec/protocol/core/3.0"), Some(Dialect::V3Protocol2020)),
            (json!("https://purl.org/zarr/spec/v3#array"), Some(Dialect::V3Provisional2023)),
            (json!(null), None),
        ] {
            assert_eq!(of_zarr_json(&json!({"zarr_format": format})), dialect);
        }
        assert_eq!(of_zarr_json(&json!([])), None);
    }

    #[cfg(feature = "drafts")]
    #[test]
    fn several_hierarchies_in_one_store() {
        let documents: Documents = [
            ("zarr.json", r#"{"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0"}"#),
            ("meta/group.json", "{}"),
            ("meta/array.json", "{}"),
            ("meta", r#"{"zarr_format": 7}"#),
        ]
        .map(|(key, text)| (key.to_owned(), text.as_bytes().to_vec()))
        .into_iter()
        .collect();
        let all = detected_dialects(&documents);
        assert_eq!(all[0], Ok(("zarr.json", Dialect::V3Protocol2020)));
        assert_eq!(all[1], Ok(("meta/group.json", Dialect::V3Protocol2019)));
        assert_eq!(all[2].as_ref().unwrap_err().kind(), ErrorKind::UnsupportedVersion);
        assert_eq!(all.len(), 3);
    }

    #[cfg(feature = "drafts")]
    #[test]
    fn the_root_of_2022_is_none_of_2019() {
        let documents: Documents = [
            ("zarr.json", r#"{"zarr_format": "https://purl.org/zarr/spec/core/3.0"}"#),
            ("meta/array.json", r#"{"shape": [1]}"#),
        ]
        .map(|(key, text)| (key.to_owned(), text.into()))
        .into_iter()
        .collect();
        let detected: Vec<_> = detected_dialects(&documents).into_iter().flatten().collect();
        assert_eq!(detected, [("zarr.json", Dialect::V3Draft2022)]);
    }
}
