//! Reading of JSON with the names that Python has for NaN and infinity.

use crate::special::Special;
use std::borrow::Cow;
use zarr_json::Value;

/// Names of special numbers, with their values.
const NAMES: [(&str, f64); 3] = [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)];

/// Parses `text`, with names of special numbers read as objects ([`Special`]).
pub(super) fn list(text: &str) -> Result<Value, String> {
    Value::from_json(&without_names(text)).map_err(|error| error.to_string())
}

/// Returns `text` with the names of special numbers replaced by objects.
fn without_names(text: &str) -> Cow<'_, str> {
    let mut changed = String::new();
    let (mut copied, mut in_text, mut at) = (0, false, 0);
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if in_text => at += 1,
            b'"' => in_text = !in_text,
            b'N' | b'I' | b'-' if !in_text => {
                let rest = bytes.get(at..).unwrap_or_default();
                if let Some((name, value)) = NAMES.iter().find(|(name, _)| rest.starts_with(name.as_bytes())) {
                    changed.push_str(text.get(copied..at).unwrap_or_default());
                    changed.push_str(&Special::Float(*value).to_value().to_string());
                    at += name.len();
                    copied = at;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    changed.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    #[test]
    fn names_are_found_outside_of_texts() {
        let found = list(r#"[NaN,-Infinity,{"NaN":Infinity},"NaN \" -Infinity\\",-1]"#).unwrap();
        let infinity = json!({"$float": "Infinity"});
        let expected = json!([
            {"$float": "NaN"},
            {"$float": "-Infinity"},
            {"NaN": infinity},
            "NaN \" -Infinity\\",
            (-1)
        ]);
        assert_eq!(found, expected);
    }

    #[test]
    fn other_texts_are_errors() {
        for text in ["[1, 2", "[nan]", "[NaN1]", "{NaN: 1}", "", "[1] 2", "[\"\\"] {
            assert!(list(text).is_err(), "{text}");
        }
    }
}
