//! Codecs as dialects other than version 3 write them: objects with an `id` or a URI.

use crate::dialect::{numcodecs, uri};
use crate::error::Result;
use zarr_json::pointer::At;
use zarr_json::{Map, NamedConfig, Value};

/// Returns the codecs of a `list` from a document of any dialect, in the vocabulary of version 3; `None` if `list` is not an array of names
/// and objects that name a codec.
///
/// A codec is a name or an object with a `name`, as in version 3; `{"id": "gzip", "level": 1}` as in version 2; an object with a URI in `type`
/// or `codec`, as in the drafts, and its parameters in `configuration` or beside the URI.
///
/// # Errors
/// Fails with [`ErrorKind::UnknownExtension`](crate::ErrorKind::UnknownExtension) for a URI that names no known codec.
///
/// ```
/// use zarr_json::json;
///
/// let stored = json!([{"type": "https://purl.org/zarr/spec/codecs/zlib/1.0", "configuration": {"level": 1}}]);
/// let codecs = zarr_meta::codecs_of_document(&stored)?.unwrap_or_default();
/// assert_eq!(codecs[0].to_value(), json!({"name": "numcodecs.zlib", "configuration": {"level": 1}}));
/// # Ok::<(), zarr_meta::Error>(())
/// ```
pub fn codecs_of_document(list: &Value) -> Result<Option<Vec<NamedConfig>>> {
    let Some(items) = list.as_array() else { return Ok(None) };
    let mut codecs = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let found = match NamedConfig::from_value(item) {
            Some(named) => Some(named),
            None => one(&At::new(item, &format!("/{index}")))?,
        };
        let Some(found) = found else { return Ok(None) };
        codecs.push(found);
    }
    Ok(Some(codecs))
}

fn one(at: &At<'_>) -> Result<Option<NamedConfig>> {
    let Some(object) = at.value().as_object() else { return Ok(None) };
    let named = ["id", "type", "codec"].into_iter().find_map(|member| Some((member, at.get(member)?)));
    let Some((member, name)) = named else { return Ok(None) };
    let id = if member == "id" { name.text()? } else { uri::id_at(&name)? };
    let parameters = match object.get("configuration").and_then(Value::as_object) {
        Some(configuration) if member != "id" => configuration.clone(),
        _ => object
            .iter()
            .filter(|(name, _)| *name != member)
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect::<Map>(),
    };
    if id == "endian" {
        return Ok(Some(NamedConfig::with("bytes", parameters)));
    }
    numcodecs::given(id, &parameters).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    #[test]
    fn objects_of_each_dialect() {
        let uri = "https://purl.org/zarr/spec/codecs";
        let gzip = json!({"name": "gzip", "configuration": {"level": 3}});
        let endian = json!({"type": (format!("{uri}/endian/1.0")), "configuration": {"endian": "big"}});
        let blosc = json!({"id": "blosc", "cname": "zstd", "clevel": 2, "shuffle": 2, "blocksize": 0});
        let shuffled = json!({"cname": "zstd", "clevel": 2, "shuffle": "bitshuffle", "blocksize": 0});
        for (stored, model) in [
            (gzip.clone(), gzip.clone()),
            (json!("gzip"), json!({"name": "gzip"})),
            (json!({"id": "gzip", "level": 3}), gzip.clone()),
            (json!({"type": (format!("{uri}/gzip/1.0")), "configuration": {"level": 3}}), gzip.clone()),
            (json!({"codec": (format!("{uri}/gzip/1.0")), "configuration": {"level": 3}}), gzip.clone()),
            (json!({"codec": (format!("{uri}/gzip")), "level": 3}), gzip),
            (endian, json!({"name": "bytes", "configuration": {"endian": "big"}})),
            (blosc, json!({"name": "blosc", "configuration": (shuffled)})),
            (
                json!({"id": "delta", "dtype": "<i4"}),
                json!({"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}}),
            ),
            (
                json!({"type": "https://example.org/x", "configuration": {"a": 1}}),
                json!({"name": "https://example.org/x", "configuration": {"a": 1}}),
            ),
        ] {
            let codecs = codecs_of_document(&json!([(stored.clone())])).unwrap().unwrap();
            assert_eq!(codecs.iter().map(NamedConfig::to_value).collect::<Vec<_>>(), [model], "{stored}");
        }
        for none in [json!({}), json!([1]), json!([{"level": 1}])] {
            assert!(codecs_of_document(&none).unwrap().is_none(), "{none}");
        }
        assert!(codecs_of_document(&json!([{"type": "gzip"}])).is_err());
    }
}
