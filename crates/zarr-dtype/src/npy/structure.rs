//! Structured types of numpy: lists of fields.

use super::npy_descr;
use crate::{ByteOrder, DataType, Error, NumpyType};
use std::fmt::Write;
use zarr_json::Value;
use zarr_json::pointer::At;

/// Returns the type as a Python literal for the header of a `.npy` file: `'<f4'`, or for structs `[('a', '<i4'), ('b', '<f8', (2, 3))]`.
/// All numbers are little-endian. `None` for types that numpy lacks.
///
/// The literal is ASCII: other characters in the names of fields are escaped.
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
    for (index, field) in fields.fields().iter().enumerate() {
        into.push_str(if index == 0 { "(" } else { ", (" });
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

/// Appends a string as a Python literal to `into`.
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

/// Returns the data type and byte order for the descr in the header of a `.npy` file, with tuples as lists: a type string, or for structs a
/// list of fields `[name, type]` or `[name, type, shape]`.
///
/// As in numpy, a field without a name, which is padding, is named `f` and its index; a field with a title and a name has the name.
///
/// # Errors
/// [`Error::Unknown`] for a type that this crate lacks, [`Error::Invalid`] for a value that is no list of fields, and [`Error::Limit`] for
/// elements above 64 MiB.
///
/// # Example
/// ```
/// # use zarr_dtype::{ByteOrder, DataType, from_npy_value};
/// # use zarr_json::json;
/// let (data_type, order) = from_npy_value(&json!([["a", "<i4"], ["b", ">f8", [2]]]))?;
/// assert_eq!(data_type.item_size(), 20);
/// assert_eq!(order, ByteOrder::Fields([ByteOrder::Little, ByteOrder::Big].into()));
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
pub fn from_npy_value(descr: &Value) -> Result<(DataType, ByteOrder), Error> {
    let (numpy, order) = NumpyType::parse(&At::root(descr))?;
    Ok((super::known(&numpy)?, order))
}
