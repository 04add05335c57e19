//! Laws of JSON, checked with another parser.

use serde::de::IgnoredAny;
use zarr_json::Value;

/// Greatest depth of nested values: 128 levels, and an empty value inside.
const MAX_DEPTH: usize = 129;

/// Checks a string that was parsed without lenient options.
pub(in crate::fuzz) fn strict(text: &str, value: &Value) {
    assert!(depth(value) <= MAX_DEPTH, "values that lie deeper than {MAX_DEPTH} levels");
    let other = serde_json::from_str::<IgnoredAny>(text);
    assert!(other.is_ok(), "taken, though serde_json says {other:?}");
    assert_eq!(members(value), colons(text), "as many members as names in the text");
}

/// Checks a value that was parsed with lenient options.
pub(in crate::fuzz) fn lenient(value: &Value) {
    assert!(depth(value) <= MAX_DEPTH, "values that lie deeper than {MAX_DEPTH} levels");
}

/// Returns the greatest number of nested lists and objects in a value.
pub(in crate::fuzz) fn depth(value: &Value) -> usize {
    let below = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(members) => members.iter().map(|(_, item)| depth(item)).max(),
        _ => None,
    };
    below.map_or(0, |below| below + 1)
}

fn members(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(members).sum(),
        Value::Object(map) => map.len() + map.iter().map(|(_, item)| members(item)).sum::<usize>(),
        _ => 0,
    }
}

/// Returns the number of colons outside of strings in a JSON text.
fn colons(text: &str) -> usize {
    let (mut in_text, mut escaped, mut count) = (false, false, 0);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b':' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}
