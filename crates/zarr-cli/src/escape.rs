//! Strings of unknown origin, made safe to print: names, attributes and elements of stores, arguments, messages that quote them.
//!
//! No character that [controls](is_control) a terminal is printed raw, in any output.

use std::borrow::Cow;
use std::fmt::Write;
use zarr::meta::json::Value;
use zarr::meta::text::is_control;
pub(crate) use zarr::meta::text::line;

/// Replaces control characters of JSON by escapes such as `\u001b`. Line feeds stay: a raw line feed is never inside a JSON string.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    replace(text, |c| c != '\n' && is_control(c), push_json)
}

/// Returns the compact JSON of a value, with control characters escaped.
pub(crate) fn json_value(value: &Value) -> String {
    let text = value.to_string();
    let escaped = match json(&text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(escaped) => Some(escaped),
    };
    escaped.unwrap_or(text)
}

/// Returns the content of a table cell for a string. A string with a character that is unsafe in a cell becomes a JSON string with its
/// quotes, as does a string that looks like a JSON string, so that [`from_cell`] gives back each string.
///
/// Line feeds, pairs of a carriage return and a line feed, and tabs are unchanged, since they are common in tables.
pub(crate) fn cell(text: &str) -> Cow<'_, str> {
    if !is_unsafe_cell(text) && from_cell(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    escaped.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            c if is_control(c) => push_json(c, &mut escaped),
            c => escaped.push(c),
        }
    }
    escaped.push('"');
    Cow::Owned(escaped)
}

/// Returns the string that [`cell`] wrote as a JSON string; `None` for any other content, which is the string itself.
pub(crate) fn from_cell(content: &str) -> Option<String> {
    if !(content.starts_with('"') && content.ends_with('"') && content.contains("\\u")) {
        return None;
    }
    match Value::from_json(content) {
        Ok(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn is_unsafe_cell(text: &str) -> bool {
    text.char_indices().any(|(at, c)| match c {
        '\n' | '\t' => false,
        '\r' => text.get(at + 1..).is_none_or(|rest| !rest.starts_with('\n')),
        c => is_control(c),
    })
}

fn push_json(c: char, escaped: &mut String) {
    // Writing to a string does not fail.
    let _ = write!(escaped, "\\u{:04x}", u32::from(c));
}

fn replace(text: &str, unsafe_char: impl Fn(char) -> bool, push: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let Some(first) = text.find(&unsafe_char) else { return Cow::Borrowed(text) };
    let (safe, rest) = text.split_at(first);
    let mut escaped = String::with_capacity(text.len() + 8);
    escaped.push_str(safe);
    for c in rest.chars() {
        if unsafe_char(c) { push(c, &mut escaped) } else { escaped.push(c) }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_are_shown() {
        let value = Value::from("a\n\u{7f}\u{85}\u{2067}");
        assert_eq!(json_value(&value), r#""a\n\u007f\u0085\u2067""#);
        assert_eq!(Value::from_json(&json_value(&value)).unwrap(), value);
    }

    #[test]
    fn cells_have_json_strings_only_where_they_need_them() {
        for text in ["plain", "", "say \"x\"", "\"quoted\"", "two\r\nlines\tand more\n", r"C:\users", r#""C:\\u""#] {
            let is_taken_for_json = text == r#""C:\\u""#;
            assert_eq!(cell(text) == text, !is_taken_for_json, "{text}");
        }
        assert_eq!(cell("a\u{1b}\"b\n"), r#""a\u001b\"b\u000a""#);
        assert_eq!(cell("over\rwritten"), r#""over\u000dwritten""#);
        assert_eq!(from_cell(r#""\ud800""#), None);
    }

    proptest! {
        #[test]
        fn cells_come_back(text in r#"(["\\u01bdn\n\r\ta]|\u{1b}|\u{85}|\u{202e}|\PC){0,12}"#) {
            let content = cell(&text).into_owned();
            prop_assert_eq!(from_cell(&content).unwrap_or_else(|| content.clone()), text);
            prop_assert!(!is_unsafe_cell(&content));
        }
    }
}
