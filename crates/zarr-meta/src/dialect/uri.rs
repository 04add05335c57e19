//! URIs by which the drafts of version 3, and documents of 2023, name extensions. Several spellings were in use.

use crate::error::{Error, ErrorKind, Result};
use zarr_json::pointer::At;

/// Returns whether a part of a URI is a version, such as `1.0`.
pub(crate) fn is_version(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Returns whether a version has the major version 1, the only one that extensions have. The minor version does not matter.
pub(crate) fn is_first_version(version: &str) -> bool {
    version.split('.').next() == Some("1")
}

/// Returns the parts of a URI after `purl.org/zarr/spec/`, without the version: `["codecs", "gzip"]`. `None` for any other string, and for
/// a major version other than 1.
pub(crate) fn spec_uri(uri: &str) -> Option<Vec<&str>> {
    let rest = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
    let mut parts: Vec<&str> = rest.strip_prefix("purl.org/zarr/spec/")?.split('/').collect();
    if parts.len() > 1
        && let Some(version) = parts.pop_if(|part| is_version(part))
        && !is_first_version(version)
    {
        return None;
    }
    parts.iter().all(|part| !part.is_empty()).then_some(parts)
}

/// Returns the numcodecs id in a URI, `gzip` in `https://purl.org/zarr/spec/codecs/gzip/1.0`.
pub(crate) fn id_of(uri: &str) -> Option<&str> {
    match spec_uri(uri)?.as_slice() {
        ["codec" | "codecs", id] => Some(id),
        _ => None,
    }
}

/// Returns the numcodecs id in the URI at `at`, or the whole URI if it is not of the Zarr specifications: codecs may be published anywhere.
///
/// # Errors
/// Fails with [`ErrorKind::UnknownExtension`] if the string is no URI.
pub(crate) fn id_at<'v>(at: &At<'v>) -> Result<&'v str> {
    let uri = at.text()?;
    let expected = "the URI of a codec, such as https://purl.org/zarr/spec/codecs/gzip/1.0";
    let own = Some(uri).filter(|uri| is_uri(uri));
    id_of(uri).or(own).ok_or_else(|| Error::about(at, ErrorKind::UnknownExtension, expected))
}

/// Returns whether a codec is named by a URI of its own instead of an id.
pub(crate) fn is_uri(id: &str) -> bool {
    id.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris() {
        for (uri, parts) in [
            ("https://purl.org/zarr/spec/codecs/gzip/1.0", Some(vec!["codecs", "gzip"])),
            ("http://purl.org/zarr/spec/codec/gzip", Some(vec!["codec", "gzip"])),
            ("https://purl.org/zarr/spec/codecs/gzip/1.7", Some(vec!["codecs", "gzip"])),
            ("https://purl.org/zarr/spec/codecs/gzip/2.0", None),
            ("https://purl.org/zarr/spec/codecs/gzip/10.0", None),
            ("https://purl.org/zarr/spec/codecs/", None),
            ("https://purl.org/zarr/spec/codecs//1.0", None),
            ("https://example.org/zarr/spec/codecs/gzip/1.0", None),
            ("gzip", None),
        ] {
            assert_eq!(spec_uri(uri), parts, "{uri}");
        }
    }

    // clause: d2022-85
    #[test]
    fn every_spelling_of_a_uri() {
        for uri in [
            "https://purl.org/zarr/spec/codecs/gzip/1.0",
            "https://purl.org/zarr/spec/codec/gzip/1.0",
            "https://purl.org/zarr/spec/codec/gzip",
            "http://purl.org/zarr/spec/codecs/gzip",
        ] {
            assert_eq!(id_of(uri), Some("gzip"), "{uri}");
        }
        for uri in ["gzip", "https://example.org/codecs/gzip/1.0", "https://purl.org/zarr/spec/extensions/gzip/1.0"] {
            assert_eq!(id_of(uri), None, "{uri}");
        }
    }
}
