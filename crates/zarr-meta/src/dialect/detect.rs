//! Which dialect a document is of.

use super::Dialect;
use super::table::rules;
use crate::error::{Error, ErrorKind, Result};
use crate::{Documents, NodePath};
use zarr_json::Value;

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
        "v3#array" | "v3#group" => Some(Dialect::V3Provisional2023),
        _ if uri.strip_prefix("core/3.").is_some_and(is_minor) => Some(Dialect::V3Draft2022),
        _ if uri.strip_prefix("protocol/core/3.").is_some_and(is_minor) => Some(Dialect::V3Protocol2020),
        _ => None,
    }
}

/// The keys of documents that detect dialects which are not self-contained, besides the keys of a node at `path` in the
/// self-contained dialects.
pub(crate) fn probed_keys(path: &NodePath) -> Vec<String> {
    let root = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    if path.is_root() {
        return root(&["meta/group.json", "meta/array.json", "meta", "__zmeta__"]);
    }
    // The first that is there decides. Other hierarchies may have documents at the keys of the first protocol draft.
    let mut keys: Vec<String> = root(&["zarr.json", "meta/group.json", "meta/array.json"]);
    keys.extend(rules(Dialect::V3Protocol2019).document_keys(path));
    keys
}

/// The dialect that the document at one of these keys names; `None` for none, or a self-contained one, or no document.
///
/// # Errors
/// [`ErrorKind::UnsupportedVersion`] for one that is not read.
pub(crate) fn of_entry(key: &str, documents: &mut Documents) -> Result<Option<Dialect>> {
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
        key if super::p2019::is_document_key(key) => Dialect::V3Protocol2019,
        "__zmeta__" => {
            super::v0::check_is_json(documents.get(key).unwrap_or_default())?;
            Dialect::V0
        }
        _ => return Ok(None),
    };
    Ok(Some(dialect))
}

/// The keys of documents that detect hierarchies of dialects which are not self-contained.
pub const DETECTION_KEYS: [&str; 5] = ["zarr.json", "meta/group.json", "meta/array.json", "meta", "__zmeta__"];

/// The dialects that are not self-contained and that the documents at [`DETECTION_KEYS`] show: newest first, each with
/// the key of the document; or the error of such a document.
pub fn detected_dialects(documents: &Documents) -> Vec<Result<(&'static str, Dialect)>> {
    let mut documents = documents.clone();
    let mut all: Vec<Result<(&'static str, Dialect)>> = Vec::new();
    for key in DETECTION_KEYS {
        // The root of a hierarchy of 2022 has its document at these keys, too.
        if key.starts_with("meta/") && all.iter().flatten().any(|(_, known)| *known == Dialect::V3Draft2022) {
            continue;
        }
        match of_entry(key, &mut documents) {
            Ok(None) => {}
            Ok(Some(dialect)) if all.iter().flatten().any(|(_, known)| *known == dialect) => {}
            Ok(Some(dialect)) => all.push(Ok((key, dialect))),
            Err(error) => all.push(Err(error)),
        }
    }
    all
}

/// The error for a `zarr.json` that is not of version 3, though it was taken for that.
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
