//! Codecs on the command line: `gzip`, `zstd(3)`, `transpose(1,0),blosc(lz4,5,shuffle)`, as `tree` prints them, or JSON.

use crate::failure::{Exit, Failure, Result};
use zarr::codec::{CodecList, IntoCodecs};
use zarr::meta::json::{NamedConfig, Value};
use zarr::registry::Registry;

/// Parses a list of codecs, and checks that `registry` has each of them.
pub(crate) fn parse(text: &str, registry: &Registry) -> Result<CodecList> {
    let codecs = match of_document(text)? {
        Some(codecs) => codecs.into_codecs(),
        None => CodecList::parse(text),
    };
    codecs.and_then(|codecs| codecs.to_configs(&registry.codecs).map(|_| codecs)).map_err(|error| {
        let mut failure = Failure::from(zarr::Error::from(error));
        failure.exit = Exit::Usage;
        match text.split(',').find_map(with_colon) {
            Some(meant) => failure.with_hint(format!("is {meant} meant?")),
            None => failure,
        }
    })
}

/// Parses codecs as documents of v1 and v2 have them, in JSON; `None` if `text` is anything else.
fn of_document(text: &str) -> Result<Option<Vec<NamedConfig>>> {
    let Ok(list) = Value::from_json(text) else { return Ok(None) };
    // Documents of version 3 are parsed elsewhere, where errors have JSON pointers.
    let is_older = |item: &Value| item.as_object().is_some() && item.get("name").is_none();
    if !list.as_array().is_some_and(|items| items.iter().any(is_older)) {
        return Ok(None);
    }
    zarr::meta::codecs_of_document(&list).map_err(|error| {
        let mut failure = Failure::from(error);
        failure.exit = Exit::Usage;
        failure
    })
}

/// Returns `zstd(5)` for a codec that was given as `zstd:5` or `zstd=5`; `None` for all other strings.
fn with_colon(text: &str) -> Option<String> {
    let (name, argument) = text.trim().split_once([':', '='])?;
    let is_word = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
    };
    (is_word(name) && is_word(argument)).then(|| format!("{name}({argument})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_behind_a_colon_are_hinted() {
        for (text, hint) in [("zstd:5", "is zstd(5) meant?"), ("shuffle, gzip=9", "is gzip(9) meant?")] {
            assert_eq!(parse(text, &zarr::registry::default()).unwrap_err().hint.as_deref(), Some(hint), "{text}");
        }
    }

    #[test]
    fn unknown_names_are_answered_with_the_known_ones() {
        let failure = parse("zlid", &zarr::registry::default()).unwrap_err();
        let hint = failure.hint.clone().unwrap_or_default();
        for name in ["bz2", "shuffle", "pcodec", "lz4", "zlib", "crc32", "packbits", "base64"] {
            assert!(hint.contains(name), "{hint}");
        }
        assert!(!hint.contains("szip"), "{hint}");
        assert_eq!(failure.line, "unknown codec \"zlid\"");
        let pickle = parse("pickle", &zarr::registry::default()).unwrap_err();
        assert!(pickle.hint.as_deref().unwrap_or_default().contains("pickles"));
    }

    #[test]
    fn names_become_documents() {
        let registry = zarr::registry::default();
        let check = |text: &str, json: &str| {
            let codecs = parse(text, &registry).unwrap().to_configs(&registry.codecs).unwrap();
            let codecs: Vec<_> = codecs.iter().map(|codec| codec.to_value().to_string()).collect();
            assert_eq!(codecs.join(","), json, "{text}");
        };
        check("none", "");
        check("", "");
        check("gzip", r#"{"name":"gzip","configuration":{"level":5}}"#);
        check(
            "transpose(1, 0), zstd(3)",
            r#"{"name":"transpose","configuration":{"order":[1,0]}},{"name":"zstd","configuration":{"level":3,"checksum":false}}"#,
        );
        check(
            "blosc(zstd,9)",
            r#"{"name":"blosc","configuration":{"cname":"zstd","clevel":9,"shuffle":"shuffle","blocksize":0}}"#,
        );
        check("crc32c", r#"{"name":"crc32c"}"#);
        check("zlib", r#"{"name":"numcodecs.zlib","configuration":{"level":1}}"#);
        check("lz4", r#"{"name":"numcodecs.lz4","configuration":{"acceleration":1}}"#);
        check("numcodecs.zstd", r#"{"name":"numcodecs.zstd","configuration":{"level":0,"checksum":false}}"#);
        check("bitround(3)", r#"{"name":"numcodecs.bitround","configuration":{"keepbits":3}}"#);
        check(
            "delta, shuffle(4), adler32",
            r#"{"name":"numcodecs.delta"},{"name":"numcodecs.shuffle","configuration":{"elementsize":4}},{"name":"numcodecs.adler32"}"#,
        );
        check(r#" ["mine"] "#, r#"{"name":"mine"}"#);
        let gzip = r#"{"name":"gzip","configuration":{"level":1}}"#;
        check(r#"[{"id": "gzip", "level": 1}]"#, gzip);
        check(r#"[{"type": "https://purl.org/zarr/spec/codecs/gzip/1.0", "configuration": {"level": 1}}]"#, gzip);
        check(r#"[{"type": "https://example.org/x"}]"#, r#"{"name":"https://example.org/x"}"#);
        for text in ["gzip(1", "gzip(1,2)", "crc32c(1)"] {
            let failure = parse(text, &registry).unwrap_err();
            assert_eq!((failure.kind, failure.exit), ("argument", Exit::Usage), "{text}");
        }
    }
}
