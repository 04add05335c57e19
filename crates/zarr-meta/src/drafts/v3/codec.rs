//! Translation between codecs named by URI and codecs of numcodecs.
//!
//! `https://purl.org/zarr/spec/codecs/gzip/1.0` is the usual form; `http`, `codec` and a missing version occur in the drafts. The last name
//! is the id of the codec in numcodecs, and the configuration is that of numcodecs. The model names a codec with any other URI by the whole
//! URI.

use crate::codec_facts::NUMCODECS;
use crate::dialect::numcodecs::{OWN_ID, parameters};
use crate::dialect::uri::is_uri;
use crate::error::{Error, ErrorKind, Result};
use zarr_json::{Map, NamedConfig, Value};

/// Returns the URI of the codec with an id: `spec`, `id` and `version` joined. An `id` that is a URI itself is returned unchanged.
pub(crate) fn uri(spec: &str, id: &str, version: &str) -> String {
    if is_uri(id) { id.to_owned() } else { format!("{spec}{id}{version}") }
}

/// Renames codecs that were read under a URI of their own from `numcodecs.<URI>` to the URI.
pub(crate) fn name_by_uri(chain: &mut [NamedConfig]) {
    for codec in chain {
        if let Some(uri) = codec.name.strip_prefix(NUMCODECS).filter(|id| is_uri(id)) {
            codec.name = uri.to_owned();
        }
    }
}

/// Renames codecs that are named by a URI to `numcodecs.<URI>`: the inverse of [`name_by_uri`].
pub(crate) fn name_by_id(chain: &[NamedConfig]) -> Vec<NamedConfig> {
    let name = |codec: &NamedConfig| match is_uri(&codec.name) {
        true => NamedConfig { name: format!("{NUMCODECS}{}", codec.name), ..codec.clone() },
        false => codec.clone(),
    };
    chain.iter().map(name).collect()
}

/// Returns a codec in the form of numcodecs, `{"id": "gzip", "level": 1}`. A member `id` of `configuration` is a parameter if the codec is
/// named by a URI of its own; otherwise it repeats the codec's id and is dropped.
pub(crate) fn numcodecs_form<'c>(id: &str, configuration: impl IntoIterator<Item = (&'c str, &'c Value)>) -> Value {
    let mut map = Map::new();
    map.insert("id", id);
    for (name, value) in configuration.into_iter().filter(|(name, _)| *name != "id" || is_uri(id)) {
        map.insert(if name == "id" { OWN_ID } else { name }, value.clone());
    }
    Value::Object(map)
}

/// Splits a numcodecs object into its id (or URI) and its parameters.
///
/// # Errors
/// Fails with [`ErrorKind::NotExpressible`] if the id cannot be part of a URI.
pub(crate) fn id_and_configuration(codec: &Value) -> Result<(&str, Map)> {
    let id = codec.get("id").and_then(Value::as_str).unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_name = !id.is_empty() && id.chars().all(fits) && !id.bytes().all(|byte| byte.is_ascii_digit());
    if !is_name && !is_uri(id) {
        let expected = "a name that can be part of a URI";
        return Err(Error::new(ErrorKind::NotExpressible, "/codecs", format!("codec {id:?}"), expected));
    }
    Ok((id, codec.as_object().map(parameters).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    #[test]
    fn forms() {
        let value = numcodecs_form("zlib", json!({"id": "x", "level": 1}).as_object().unwrap().iter());
        assert_eq!(value, json!({"id": "zlib", "level": 1}));
        assert_eq!(id_and_configuration(&value).unwrap().0, "zlib");
        assert!(id_and_configuration(&json!({"id": "a/b"})).is_err());
        assert!(id_and_configuration(&json!({"id": "1"})).is_err());
    }
}
