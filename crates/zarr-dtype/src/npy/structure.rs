//! numpy's structured types: lists of fields.

use super::{from_npy_descr, npy_descr};
use crate::structure::MAX_DEPTH;
use crate::{ByteOrder, DataType, Error, Field, StructType};
use std::collections::HashSet;
use std::fmt::Write;
use zarr_meta::json::Value;

/// The type as the header of a `.npy` file has it, a literal of Python: `'<f4'`, or for structs
/// `[('a', '<i4'), ('b', '<f8', (2, 3))]`. All numbers are little-endian. `None` for types that numpy lacks.
///
/// The literal is ASCII, whatever the names of fields: other characters are escaped.
///
/// ```
/// # use zarr_dtype::{DataType, Field, StructType, npy_literal};
/// let fields = StructType::new(vec![Field::array("a", DataType::Int16, &[2])])?;
/// assert_eq!(npy_literal(&DataType::Struct(fields)).as_deref(), Some("[('a', '<i2', (2,))]"));
/// assert_eq!(npy_literal(&DataType::Bool).as_deref(), Some("'|b1'"));
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
pub fn npy_literal(data_type: &DataType) -> Option<String> {
    let mut text = String::new();
    write_literal(data_type, &mut text)?;
    Some(text)
}

fn write_literal(data_type: &DataType, into: &mut String) -> Option<()> {
    let DataType::Struct(fields) = data_type else {
        quote(&npy_descr(data_type)?, into);
        return Some(());
    };
    into.push('[');
    for (place, field) in fields.fields().iter().enumerate() {
        into.push_str(if place == 0 { "(" } else { ", (" });
        quote(&field.name, into);
        into.push_str(", ");
        write_literal(&field.data_type, into)?;
        if !field.shape.is_empty() {
            let lengths: Vec<String> = field.shape.iter().map(u64::to_string).collect();
            let comma = if lengths.len() == 1 { "," } else { "" };
            into.push_str(&format!(", ({}{comma})", lengths.join(", ")));
        }
        into.push(')');
    }
    into.push(']');
    Some(())
}

/// A text as a literal of Python.
fn quote(text: &str, into: &mut String) {
    into.push('\'');
    for c in text.chars() {
        // Writing to a text does not fail.
        let _ = match (c, u32::from(c)) {
            ('\\' | '\'', _) => write!(into, "\\{c}"),
            (' '..='~', _) => write!(into, "{c}"),
            (_, code @ ..=0xff) => write!(into, "\\x{code:02x}"),
            (_, code @ ..=0xffff) => write!(into, "\\u{code:04x}"),
            (_, code) => write!(into, "\\U{code:08x}"),
        };
    }
    into.push('\'');
}

/// The data type and byte order of what numpy has in the header of a file, tuples as lists: a type string, or for structs a
/// list of fields `[name, type]` or `[name, type, shape]`.
///
/// As numpy does, a field without a name, which is padding, is named `f` and its place; one with a title and a name goes by
/// the name.
///
/// # Errors
/// [`Error::Unknown`] for a type that is none of ours, [`Error::Invalid`] for what is no list of fields, and
/// [`Error::Limit`] for elements above 64 MiB.
///
/// # Example
/// ```
/// # use zarr_dtype::{ByteOrder, DataType, from_npy_value};
/// # use zarr_meta::json;
/// let (data_type, order) = from_npy_value(&json!([["a", "<i4"], ["b", ">f8", [2]]]))?;
/// assert_eq!(data_type.item_size(), 20);
/// assert_eq!(order, ByteOrder::Fields([ByteOrder::Little, ByteOrder::Big].into()));
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
pub fn from_npy_value(descr: &Value) -> Result<(DataType, ByteOrder), Error> {
    parse(descr, 0)
}

fn parse(descr: &Value, depth: usize) -> Result<(DataType, ByteOrder), Error> {
    match descr {
        Value::String(text) => from_npy_descr(text),
        Value::Array(items) if depth < MAX_DEPTH => {
            let mut names = HashSet::new();
            let (mut fields, mut orders) = (Vec::new(), Vec::new());
            for (place, item) in items.iter().enumerate() {
                let (mut field, order) =
                    field(item, place, depth).map_err(|error| error.within(&format!("/{place}")))?;
                if item.as_array().and_then(<[Value]>::first).and_then(Value::as_str) == Some("") {
                    while names.contains(&field.name) {
                        field.name.push('_');
                    }
                }
                names.insert(field.name.clone());
                fields.push(field);
                orders.push(order);
            }
            Ok((DataType::Struct(StructType::new(fields)?), ByteOrder::Fields(orders.into())))
        }
        _ => Err(Error::invalid(descr, "a type string or a list of fields")),
    }
}

fn field(item: &Value, place: usize, depth: usize) -> Result<(Field, ByteOrder), Error> {
    let invalid = || Error::invalid(item, "[name, type] or [name, type, shape]");
    let (name, descr, shape) = match item.as_array() {
        Some([name, descr]) => (name, descr, Some(Vec::new())),
        Some([name, descr, shape]) => (name, descr, lengths(shape)),
        _ => return Err(invalid()),
    };
    // A title, which is for people, and the name.
    let name = match name.as_array() {
        Some([_, name]) => name.as_str(),
        _ => name.as_str(),
    };
    let (data_type, order) = parse(descr, depth + 1).map_err(|error| error.within("/1"))?;
    let name = match name.ok_or_else(invalid)? {
        "" => format!("f{place}"),
        name => name.to_owned(),
    };
    Ok((Field { name, data_type, shape: shape.ok_or_else(invalid)? }, order))
}

/// A shape: a list, or a number for one dimension.
fn lengths(shape: &Value) -> Option<Vec<u64>> {
    match shape.as_array() {
        Some(lengths) => lengths.iter().map(Value::as_u64).collect(),
        None => Some(vec![shape.as_u64()?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_meta::json;

    #[test]
    fn fields_are_read_as_numpy_writes_them() {
        let check = |descr: Value, literal: &str| {
            let (data_type, _) = from_npy_value(&descr).unwrap();
            assert_eq!(npy_literal(&data_type).as_deref(), Some(literal), "{descr}");
        };
        check(json!("<f4"), "'<f4'");
        check(json!([["a", ">i4"]]), "[('a', '<i4')]");
        check(
            json!([["a", "|u1"], ["", "|V3"], ["c", [["x", "<f4", 2], ["y", "<M8[s]", [1, 2]]]]]),
            "[('a', '|u1'), ('f1', '|V3'), ('c', [('x', '<f4', (2,)), ('y', '<M8[s]', (1, 2))])]",
        );
        check(json!([["f1", "|u1"], ["", "|V3"]]), "[('f1', '|u1'), ('f1_', '|V3')]");
        check(json!([[["A title", "a"], "|b1"]]), "[('a', '|b1')]");
        check(json!([["it's \\ \u{e9}\u{6771}\n", "|b1"]]), r"[('it\'s \\ \xe9\u6771\x0a', '|b1')]");
    }

    #[test]
    fn what_are_no_fields_is_refused() {
        let check = |descr: Value, expected: &str| {
            assert_eq!(from_npy_value(&descr).unwrap_err().to_string(), expected, "{descr}");
        };
        check(json!(1), "found 1, expected a type string or a list of fields");
        check(json!([]), "/configuration/fields: found no fields, expected at least one");
        check(json!([["a"]]), "/0: found [\"a\"], expected [name, type] or [name, type, shape]");
        check(json!([["a", "|u1"], ["b", 2]]), "/1/1: found 2, expected a type string or a list of fields");
        check(json!([["a", "|O"]]), "unknown data type |O");
        check(
            json!([["a", "|u1"], ["a", "|u1"]]),
            "/configuration/fields/1/name: found \"a\" again, expected names that differ",
        );
        let deep = (0..40).fold(json!("|u1"), |inner, _| json!([["a", inner]]));
        assert!(from_npy_value(&deep).is_err());
    }
}
