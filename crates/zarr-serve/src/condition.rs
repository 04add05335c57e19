//! Entity tags, and requests that depend on them (RFC 9110, sections 8.8.3 and 13).

use hyper::HeaderMap;
use hyper::header::{IF_MATCH, IF_NONE_MATCH, IF_RANGE};
use zarr_store::Version;

/// Returns the strong entity tag of a version, with its quotes. Two versions have the same tag only if they are equal strings.
pub(crate) fn entity_tag(version: &Version) -> String {
    let mut tag = String::with_capacity(version.as_str().len() + 2);
    tag.push('"');
    for byte in version.as_str().bytes() {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'.' | b'_' => tag.push(char::from(byte)),
            _ => tag.push_str(&format!("%{byte:02x}")),
        }
    }
    tag.push('"');
    tag
}

/// Outcome of the conditions of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The request is answered.
    Answer,
    /// The client already has this state of the value: status 304.
    NotModified,
    /// The client requires another state of the value: status 412.
    Failed,
}

/// Evaluates `If-Match` and `If-None-Match` against the entity tag of the value (`None` if it has none).
pub(crate) fn evaluate(headers: &HeaderMap, tag: Option<&str>) -> Outcome {
    if headers.contains_key(IF_MATCH) && !names(headers, &IF_MATCH, tag, false) {
        return Outcome::Failed;
    }
    if names(headers, &IF_NONE_MATCH, tag, true) { Outcome::NotModified } else { Outcome::Answer }
}

/// Returns whether `If-Range` allows a range to be answered: the header is missing, or is exactly the strong tag. Dates never match.
pub(crate) fn ranges_apply(headers: &HeaderMap, tag: Option<&str>) -> bool {
    match headers.get(IF_RANGE) {
        None => true,
        Some(wanted) => tag.is_some_and(|tag| wanted.as_bytes().trim_ascii() == tag.as_bytes()),
    }
}

/// Returns whether a header contains the tag, or `*`, which matches any value.
fn names(headers: &HeaderMap, header: &hyper::header::HeaderName, tag: Option<&str>, is_weak: bool) -> bool {
    headers.get_all(header).iter().any(|value| {
        let Ok(text) = value.to_str() else { return false };
        text.split(',').map(str::trim).any(|known| {
            let known = if is_weak { known.strip_prefix("W/").unwrap_or(known) } else { known };
            known == "*" || Some(known) == tag
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{HeaderName, HeaderValue};

    fn with(name: HeaderName, value: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        headers
    }

    #[test]
    fn tags_are_as_different_as_versions() {
        assert_eq!(entity_tag(&Version::new("a-1.5")), "\"a-1.5\"");
        assert_eq!(entity_tag(&Version::new("\"x\",%")), "\"%22x%22%2c%25\"");
    }

    #[test]
    fn conditions() {
        let tag = Some("\"a\"");
        for (value, same) in [("\"a\"", true), ("W/\"a\"", true), ("\"b\", \"a\"", true), ("*", true), ("\"b\"", false)]
        {
            let expected = if same { Outcome::NotModified } else { Outcome::Answer };
            assert_eq!(evaluate(&with(IF_NONE_MATCH, value), tag), expected, "{value}");
        }
        assert_eq!(evaluate(&with(IF_MATCH, "\"b\""), tag), Outcome::Failed);
        assert_eq!(evaluate(&with(IF_MATCH, "W/\"a\""), tag), Outcome::Failed, "a weak tag names no bytes");
        assert_eq!(evaluate(&with(IF_MATCH, "\"a\""), tag), Outcome::Answer);
        assert_eq!(evaluate(&HeaderMap::new(), None), Outcome::Answer);
        assert!(ranges_apply(&with(IF_RANGE, "\"a\""), tag));
        assert!(!ranges_apply(&with(IF_RANGE, "W/\"a\""), tag));
        assert!(!ranges_apply(&with(IF_RANGE, "Sat, 29 Oct 1994 19:43:31 GMT"), tag));
        assert!(!ranges_apply(&with(IF_RANGE, "\"a\""), None));
    }
}
