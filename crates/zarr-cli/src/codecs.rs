//! Codecs on the command line: `gzip`, `zstd(3)`, `transpose(1,0),blosc(lz4,5,shuffle)`, as `tree` prints them, or JSON.
//!
//! Names alone are given the configuration that Zarr v3 demands of them: not all readers have defaults.

use crate::failure::{Failure, Result};
use zarr::meta::json::{Map, Value};

/// The JSON list of a Zarr v3 document that `text` stands for. `none` is an empty list; JSON stays as it is.
pub(crate) fn expand(text: &str) -> Result<String> {
    let text = text.trim();
    if text.starts_with('[') {
        return Ok(text.to_owned());
    }
    let list = split(text).into_iter().filter(|name| !name.is_empty() && *name != "none");
    Ok(Value::Array(list.map(codec).collect::<Result<_>>()?).to_string())
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

fn codec(text: &str) -> Result<Value> {
    let (name, arguments) = match text.split_once('(') {
        None => (text, Vec::new()),
        Some((name, rest)) => {
            let inner =
                rest.strip_suffix(')').ok_or_else(|| Failure::usage(format!("codec {text:?} lacks a closing )")))?;
            (name.trim(), inner.split(',').map(str::trim).filter(|argument| !argument.is_empty()).collect())
        }
    };
    let mut members = Map::new();
    let mut arguments = arguments.into_iter();
    let mut next = |default: Value| arguments.next().map_or(default, value);
    let full_name = match name {
        "gzip" => {
            members.insert("level", next(Value::from(5)));
            name
        }
        "zstd" => {
            members.insert("level", next(Value::from(0)));
            members.insert("checksum", false);
            name
        }
        "blosc" => {
            members.insert("cname", next(Value::from("lz4")));
            members.insert("clevel", next(Value::from(5)));
            members.insert("shuffle", next(Value::from("shuffle")));
            members.insert("blocksize", 0);
            name
        }
        "zlib" | "numcodecs.zlib" => {
            members.insert("level", next(Value::from(1)));
            "numcodecs.zlib"
        }
        "lz4" | "numcodecs.lz4" => {
            members.insert("acceleration", next(Value::from(1)));
            "numcodecs.lz4"
        }
        "bytes" => {
            members.insert("endian", next(Value::from("little")));
            name
        }
        "transpose" => {
            members.insert("order", arguments.by_ref().map(value).collect::<Vec<_>>());
            name
        }
        other => other,
    };
    if let Some(more) = arguments.next() {
        let failure = Failure::usage(format!("codec {text:?}: {more:?} is one argument too many"));
        return Err(failure.with_hint("give the codecs as the JSON list of a Zarr v3 document"));
    }
    let mut codec = Map::new();
    codec.insert("name", full_name);
    if !members.is_empty() {
        codec.insert("configuration", members);
    }
    Ok(Value::Object(codec))
}

/// A number, or a word.
fn value(text: &str) -> Value {
    Value::from_json(text).ok().filter(|value| value.as_number().is_some()).unwrap_or_else(|| Value::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_documents() {
        let check = |text: &str, json: &str| assert_eq!(expand(text).unwrap(), json, "{text}");
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
        check(r#" ["mine"] "#, r#"["mine"]"#);
        for text in ["gzip(1", "gzip(1,2)", "crc32c(1)"] {
            assert!(expand(text).is_err(), "{text}");
        }
    }
}
