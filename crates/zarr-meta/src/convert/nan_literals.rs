//! Literals of NaN and infinities in attributes.
//!
//! Python writes the literals `NaN`, `Infinity` and `-Infinity`. Documents of version 3 and of some drafts are strict JSON, in which a
//! string stands for each of them.

use super::Note;
use zarr_json::pointer::escaped;
use zarr_json::{Map, Number, Value};

/// Replaces literals of NaN and infinities by strings, with a note for each attribute.
pub(super) fn to_texts(attributes: &mut Map, notes: &mut Vec<Note>) {
    for (name, value) in attributes.iter() {
        let what = match (value.count_nan_literals(), value) {
            (0, _) => continue,
            (_, Value::Number(number)) => format!("{number}, a number that JSON does not have, becomes a string"),
            (count, _) => format!("{count} times NaN or an infinity, numbers that JSON does not have, become strings"),
        };
        notes.push(Note::change(format!("/attributes/{}", escaped(name)), what));
    }
    *attributes = std::mem::take(attributes).without_nan_literals();
}

/// Returns JSON pointers into `attributes` to all literals of NaN and infinities.
pub(super) fn pointers(attributes: &Map) -> Vec<String> {
    let mut found = Vec::new();
    attributes.iter().for_each(|(name, value)| collect(value, format!("/{}", escaped(name)), &mut found));
    found
}

fn collect(value: &Value, pointer: String, found: &mut Vec<String>) {
    if value.count_nan_literals() == 0 {
        return;
    }
    match value {
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, item)| collect(item, format!("{pointer}/{index}"), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, item)| collect(item, format!("{pointer}/{}", escaped(name)), found));
        }
        _ => found.push(pointer),
    }
}

/// Replaces the string at `pointer` in `attributes` by the literal that it stands for. Does nothing if there is no such string any more.
pub(super) fn restore(attributes: &mut Map, pointer: &str) {
    let unescaped = |token: &str| token.replace("~1", "/").replace("~0", "~");
    let mut tokens = pointer.split('/').skip(1).map(unescaped);
    let mut value = tokens.next().and_then(|name| attributes.get_mut(&name));
    for token in tokens {
        value = match value {
            Some(Value::Array(items)) => token.parse().ok().and_then(|index: usize| items.get_mut(index)),
            Some(Value::Object(members)) => members.get_mut(&token),
            _ => None,
        };
    }
    let Some(value) = value else { return };
    let number = match value.as_str() {
        Some("NaN") => Number::NAN,
        Some("Infinity") => Number::INFINITY,
        Some("-Infinity") => Number::NEG_INFINITY,
        _ => return,
    };
    *value = Value::Number(number);
}
