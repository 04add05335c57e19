//! The common parts of the drafts of version 3 (2019 to 2022).
//!
//! Extensions are named by URIs, of which several spellings were in use; elements are of the types of numpy, whatever they
//! are called; shards are made by a storage transformer, in the same bytes as the later codec makes.

pub(crate) mod codec;
pub(crate) mod data_type;
pub(crate) mod fill;
pub(crate) mod members;
pub(crate) mod sharding;
pub(crate) mod unknown;

/// Whether part of a URI is a version, as `1.0` is.
pub(crate) fn is_version(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Whether a version has the major version 1, the only one that extensions have. Another minor one may be read.
pub(crate) fn is_first_version(version: &str) -> bool {
    version.split('.').next() == Some("1")
}

/// The parts of a URI of the Zarr specifications behind `purl.org/zarr/spec/`, the version left out: `["codecs", "gzip"]`.
/// `None` for any other text, and for another major version than 1.
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
}
