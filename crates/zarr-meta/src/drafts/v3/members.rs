//! Members of documents common to all drafts: grids and extensions.

use crate::dialect::layout;
use crate::error::{Error, ErrorKind, Result};
use zarr_json::pointer::At;
use zarr_json::{Map, NamedConfig, Value, json};

/// Returns the separator of chunk keys in a grid; `None` if the grid gives none.
///
/// # Errors
/// Fails with [`ErrorKind::InvalidMetadata`] if the separator is neither `/` nor `.`.
pub(crate) fn separator(grid: &At<'_>) -> Result<Option<&'static str>> {
    let Some(separator) = grid.get("separator") else { return Ok(None) };
    match separator.value().as_str() {
        Some("/") => Ok(Some("/")),
        Some(".") => Ok(Some(".")),
        _ => Err(separator.invalid("\"/\" or \".\"").into()),
    }
}

/// Reads the grid at `at`, `{"type": "regular", "chunk_shape": [..]}`, of an array of `shape` with elements of `size` bytes.
///
/// # Errors
/// Fails with [`ErrorKind::UnknownExtension`] for a grid that is not regular.
pub(crate) fn regular_grid(at: &At<'_>, shape: &[u64], size: u64) -> Result<NamedConfig> {
    let kind = at.member("type")?;
    if let Some(extension) = at.get("extension") {
        return Err(Error::about(
            &extension,
            ErrorKind::UnknownExtension,
            "a grid of type \"regular\" without an extension",
        ));
    }
    if kind.value().as_str() != Some("regular") {
        return Err(Error::about(&kind, ErrorKind::UnknownExtension, "the type \"regular\""));
    }
    layout::regular(&at.member("chunk_shape")?, shape, size)
}

/// Checks that all extensions in a list may be ignored.
///
/// # Errors
/// Fails with [`ErrorKind::UnknownExtension`] naming the URI of an extension that may not be ignored. No extension is known.
pub(crate) fn check_extensions(list: &At<'_>) -> Result<()> {
    for item in list.items()? {
        let uri = item.member("extension")?;
        uri.text()?;
        if item.value().get("must_understand") != Some(&Value::Bool(false)) {
            return Err(Error::about(&uri, ErrorKind::UnknownExtension, "extensions that may be ignored"));
        }
    }
    Ok(())
}

/// Returns the member `extensions` of an array or group, for the further members of the model, after checking that all extensions may be
/// ignored. Empty if there are no extensions.
///
/// # Errors
/// Fails in the same cases as [`check_extensions`].
pub(crate) fn extensions(document: &At<'_>) -> Result<Map> {
    let Some(list) = document.get_non_null("extensions") else { return Ok(Map::new()) };
    check_extensions(&list)?;
    let none = list.value().as_array().is_none_or(<[Value]>::is_empty);
    Ok(if none { Map::new() } else { [("extensions".to_owned(), list.value().clone())].into_iter().collect() })
}

/// Returns the list of extensions to be written.
pub(crate) fn extensions_of(extra: &Map) -> Value {
    extra.get("extensions").cloned().unwrap_or_else(|| json!([]))
}

/// Returns the members of an object that are not among `known`.
pub(crate) fn others<'v>(at: &At<'v>, known: &[&str]) -> Result<Vec<(&'v str, At<'v>)>> {
    Ok(at.members()?.filter(|(name, _)| !known.contains(name)).collect())
}

/// Checks the name of a node to be written: the drafts allow few characters in keys.
///
/// # Errors
/// Fails with the result of `error`, which is called with the fault and the expected form.
pub(crate) fn check_name(name: &str, error: &dyn Fn(&str, &str) -> Error) -> Result<Option<String>> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.chars().all(allowed) {
        return Ok(None);
    }
    Err(error("has characters that the draft does not allow in keys", "a name of a-z, A-Z, 0-9, -, _ and ."))
}

#[cfg(test)]
mod tests {
    use super::*;

    // clause: d2022-23, d2022-60, d2022-62, d2022-117, d2022-118
    #[test]
    fn grids() {
        let read = |grid: Value, shape: &[u64]| {
            let shape = regular_grid(&At::root(&grid), shape, 8)?;
            Ok::<_, Error>(shape.configuration.get("chunk_shape").unwrap().to_string())
        };
        assert_eq!(read(json!({"type": "regular", "chunk_shape": [2, 3]}), &[5, 0]).unwrap(), "[2,3]");
        assert_eq!(read(json!({"type": "regular", "chunk_shape": [2, 0]}), &[5, 0]).unwrap(), "[2,1]");
        for (grid, kind) in [
            (json!({"type": "regular", "chunk_shape": [0, 2]}), ErrorKind::InvalidMetadata),
            (json!({"type": "regular", "chunk_shape": [2]}), ErrorKind::InvalidMetadata),
            (json!({"type": "regular"}), ErrorKind::InvalidMetadata),
            (json!({"chunk_shape": [2, 2]}), ErrorKind::InvalidMetadata),
            (json!({"type": "rectilinear", "chunk_shape": [2, 2]}), ErrorKind::UnknownExtension),
            (json!({"extension": "x", "type": "regular", "chunk_shape": [2, 2]}), ErrorKind::UnknownExtension),
        ] {
            assert_eq!(read(grid, &[5, 0]).unwrap_err().kind(), kind);
        }
    }

    // clause: d2022-2, d2022-100, d2022-101, d2022-103, d2022-207
    #[test]
    fn extensions_must_be_ignorable() {
        let read = |list: Value| extensions(&At::root(&json!({"extensions": list})));
        assert!(read(json!([])).unwrap().is_empty());
        assert_eq!(read(json!([{"extension": "http://x", "must_understand": false}])).unwrap().len(), 1);
        for list in [
            json!([{"extension": "http://x", "must_understand": true}]),
            json!([{"extension": "http://x"}]),
            json!([{"extension": "http://x", "must_understand": "false"}]),
        ] {
            let error = read(list).unwrap_err();
            assert_eq!((error.kind(), error.found()), (ErrorKind::UnknownExtension, "\"http://x\""));
        }
        for list in [json!([1]), json!([{"must_understand": false}])] {
            assert_eq!(read(list).unwrap_err().kind(), ErrorKind::InvalidMetadata);
        }
        assert_eq!(read(json!({})).unwrap_err().kind(), ErrorKind::InvalidMetadata);
    }
}
