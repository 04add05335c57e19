//! Conversion of structs to JSON and to text.

use super::{RawBits, json as element_json, to_text};
use crate::{DataType, Field, StructType};
use zarr_json::{Map, Value};

/// Returns a struct as an object with every field.
pub(super) fn json(fields: &StructType, item: &[u8], raw: RawBits) -> Option<Value> {
    let mut members = Map::new();
    for (range, field) in fields.placed() {
        let one = |item: &[u8]| element_json(&field.data_type, item, None, raw);
        members.insert(field.name.as_str(), nested(&field.shape, item.get(range)?, &one)?);
    }
    Some(Value::Object(members))
}

/// Returns the values of a field: one value, or the inner elements as nested lists.
fn nested(shape: &[u64], items: &[u8], one: &impl Fn(&[u8]) -> Option<Value>) -> Option<Value> {
    match parts(shape, items) {
        None => one(items),
        Some((inner, parts)) => parts.map(|part| nested(inner, part, one)).collect::<Option<_>>().map(Value::Array),
    }
}

/// Returns the values of the fields as numpy prints them, with strings in quotes: `(1, "a", [2, 3])`.
pub(super) fn text(fields: &StructType, item: &[u8]) -> String {
    let field =
        |(range, field): (_, &Field)| nested_text(&field.shape, item.get(range).unwrap_or_default(), &field.data_type);
    let values: Vec<String> = fields.placed().map(field).collect();
    format!("({})", values.join(", "))
}

fn nested_text(shape: &[u64], items: &[u8], data_type: &DataType) -> String {
    match parts(shape, items) {
        None => {
            let text = to_text(data_type, items, None);
            let quoted = matches!(data_type, DataType::FixedUtf32 { .. } | DataType::FixedBytes { .. });
            if quoted { Value::from(text).to_string() } else { text }
        }
        Some((inner, parts)) => {
            let parts: Vec<String> = parts.map(|part| nested_text(inner, part, data_type)).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

/// Splits the inner elements of an array field along the first axis. Returns the shape of the parts, and the parts; `None` for a field that
/// is no array.
fn parts<'s, 'i>(shape: &'s [u64], items: &'i [u8]) -> Option<(&'s [u64], impl Iterator<Item = &'i [u8]>)> {
    let (&len, inner) = shape.split_first()?;
    let size = items.len().checked_div(usize::try_from(len).ok()?)?;
    Some((inner, items.chunks_exact(size.max(1))))
}
