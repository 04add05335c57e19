//! Codecs on the command line: `gzip`, `zstd(3)`, `transpose(1,0),blosc(lz4,5,shuffle)`, as `tree` prints them, or JSON.
//!
//! A name without arguments gets the configuration that Zarr v3 demands: not all readers have defaults.

use crate::failure::{Failure, Result};
use crate::near::{near, question};
use crate::object::object;
use zarr::meta::json::{Map, Value};
use zarr::registry::Registry;

/// The `codecs` of a Zarr v3 document that `text` stands for, if `registry` has them. `none` is an empty array; JSON stays as it
/// is.
pub(crate) fn expand(text: &str, registry: &Registry) -> Result<String> {
    let text = text.trim();
    if text.starts_with('[') {
        return Ok(text.to_owned());
    }
    let list = split(text).into_iter().filter(|name| !name.is_empty() && *name != "none");
    Ok(Value::Array(list.map(|text| codec(text, registry)).collect::<Result<_>>()?).to_string())
}

/// The short names of the codecs that `registry` has.
fn names(registry: &Registry) -> Vec<&'static str> {
    let mut names: Vec<_> = registry.codecs.iter().map(|entry| entry.short_name()).collect();
    names.sort_unstable();
    names
}

/// Splits at the commas outside of parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_comma = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    text.split(is_comma).map(str::trim).collect()
}

fn codec(text: &str, registry: &Registry) -> Result<Value> {
    let (name, arguments) = match text.split_once('(') {
        None => (text, Vec::new()),
        Some((name, rest)) => {
            let inner = rest
                .strip_suffix(')')
                .ok_or_else(|| Failure::usage(format!("codec {text:?} lacks a closing parenthesis")))?;
            (name.trim(), inner.split(',').map(str::trim).filter(|argument| !argument.is_empty()).collect())
        }
    };
    let known = registry.codecs.typed(name);
    if known.is_none() {
        let hint = match registry.codecs.hint(name) {
            Some(hint) => hint.to_owned(),
            None => {
                let names = names(registry);
                let all = format!("known codecs are {}", names.join(", "));
                near(name, names).map_or_else(|| all.clone(), |near| format!("{} {all}", question(near)))
            }
        };
        let mut failure = Failure::usage(format!("unknown codec {name:?}")).with_hint(hint);
        failure.kind = "unknown-extension";
        return Err(failure);
    }
    // A full name stays if other software reads it.
    let full_name = match known {
        Some(codec) if !codec.aliases.contains(&name) || codec.short_name() == name => codec.name,
        _ => name,
    };
    let mut members = Map::new();
    let mut arguments = arguments.into_iter();
    if full_name == "transpose" {
        members.insert("order", arguments.by_ref().map(value).collect::<Vec<_>>());
    }
    for (member, default) in known.map(|codec| codec.arguments).unwrap_or_default() {
        let default = default.and_then(|json| Value::from_json(json).ok());
        if let Some(value) = arguments.next().map(value).or(default) {
            members.insert(*member, value);
        }
    }
    if let Some(more) = arguments.next() {
        let failure = Failure::usage(format!("codec {text:?}: {more:?} is one argument too many"));
        return Err(failure.with_hint("give the codecs as the JSON array of a Zarr v3 document"));
    }
    let mut codec = object! { "name": full_name };
    if !members.is_empty() {
        codec.insert("configuration", members);
    }
    Ok(Value::Object(codec))
}

/// A number, `true` or `false`, or a word.
fn value(text: &str) -> Value {
    let plain = |value: &Value| value.as_number().is_some() || matches!(value, Value::Bool(_));
    Value::from_json(text).ok().filter(plain).unwrap_or_else(|| Value::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_for_unknown_names_list_the_known_ones() {
        let failure = codec("zlid", &zarr::registry::default()).unwrap_err();
        let hint = failure.hint.clone().unwrap_or_default();
        for name in ["bz2", "shuffle", "pcodec", "lz4", "zlib", "crc32", "packbits", "base64"] {
            assert!(hint.contains(name), "{hint}");
        }
        assert!(!hint.contains("szip"), "{hint}");
        assert!(
            codec("pickle", &zarr::registry::default())
                .unwrap_err()
                .hint
                .as_deref()
                .unwrap_or_default()
                .contains("pickles")
        );
    }

    #[test]
    fn names_become_documents() {
        let check =
            |text: &str, json: &str| assert_eq!(expand(text, &zarr::registry::default()).unwrap(), json, "{text}");
        check("none", "[]");
        check("", "[]");
        check("gzip", r#"[{"name":"gzip","configuration":{"level":5}}]"#);
        check(
            "transpose(1, 0), zstd(3)",
            r#"[{"name":"transpose","configuration":{"order":[1,0]}},{"name":"zstd","configuration":{"level":3,"checksum":false}}]"#,
        );
        check(
            "blosc(zstd,9)",
            r#"[{"name":"blosc","configuration":{"cname":"zstd","clevel":9,"shuffle":"shuffle","blocksize":0}}]"#,
        );
        check("crc32c", r#"[{"name":"crc32c"}]"#);
        check("zlib", r#"[{"name":"numcodecs.zlib","configuration":{"level":1}}]"#);
        check("lz4", r#"[{"name":"numcodecs.lz4","configuration":{"acceleration":1}}]"#);
        check("numcodecs.zstd", r#"[{"name":"numcodecs.zstd","configuration":{"level":0,"checksum":false}}]"#);
        check("bitround(3)", r#"[{"name":"numcodecs.bitround","configuration":{"keepbits":3}}]"#);
        check(
            "delta, shuffle(4), adler32",
            r#"[{"name":"numcodecs.delta"},{"name":"numcodecs.shuffle","configuration":{"elementsize":4}},{"name":"numcodecs.adler32"}]"#,
        );
        check(r#" ["mine"] "#, r#"["mine"]"#);
        for text in ["gzip(1", "gzip(1,2)", "crc32c(1)"] {
            assert!(expand(text, &zarr::registry::default()).is_err(), "{text}");
        }
    }
}
