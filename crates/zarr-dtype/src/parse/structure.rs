//! Parsing of structs from JSON.

use super::{Spelling, base64_bytes, is_zero};
use crate::{ByteOrder, DataType, Error, StructType};
use std::collections::HashSet;
use zarr_json::pointer::escaped;
use zarr_json::{Map, Value};

/// Returns the bytes of the struct that `value` describes: an object with every field, or the packed element as a base64 string, with
/// little-endian numbers.
pub(super) fn element(fields: &StructType, value: &Value, spelling: Spelling) -> Result<Vec<u8>, Error> {
    let size = fields.item_size();
    match value {
        Value::Object(members) => object(fields, members, value, spelling),
        Value::String(text) => packed(fields, text).ok_or_else(|| {
            Error::invalid(value, format!("an object, or a base64 string of the {size} bytes of an element"))
        }),
        _ if spelling == Spelling::Lenient && is_zero(value) => Ok(vec![0; size]),
        _ => Err(Error::invalid(value, "an object with a value for each field")),
    }
}

fn object(fields: &StructType, members: &Map, value: &Value, spelling: Spelling) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    for field in fields.fields() {
        let within = |error: Error| error.within(&format!("/{}", escaped(&field.name)));
        let Some(member) = members.get(&field.name) else {
            return Err(Error::invalid(value, format!("a value for the field {:?}", field.name)));
        };
        values(&field.data_type, &field.shape, member, spelling, &mut bytes).map_err(within)?;
    }
    if members.len() > fields.fields().len() {
        let known: HashSet<&str> = fields.fields().iter().map(|field| field.name.as_str()).collect();
        if let Some((name, member)) = members.iter().find(|(name, _)| !known.contains(name)) {
            return Err(Error::invalid(member, "no such field").within(&format!("/{}", escaped(name))));
        }
    }
    Ok(bytes)
}

/// Appends the values of a field to `into`: one value, or all values of nested lists.
fn values(
    data_type: &DataType,
    shape: &[u64],
    value: &Value,
    spelling: Spelling,
    into: &mut Vec<u8>,
) -> Result<(), Error> {
    let Some((&len, inner)) = shape.split_first() else {
        into.extend(super::element(data_type, value, spelling)?);
        return Ok(());
    };
    let list = value.as_array().filter(|list| u64::try_from(list.len()) == Ok(len));
    for (index, one) in list.ok_or_else(|| Error::invalid(value, format!("an array of {len}")))?.iter().enumerate() {
        values(data_type, inner, one, spelling, into).map_err(|error| error.within(&format!("/{index}")))?;
    }
    Ok(())
}

fn packed(fields: &StructType, text: &str) -> Option<Vec<u8>> {
    let mut bytes = base64_bytes(text).filter(|bytes| bytes.len() == fields.item_size())?;
    let layout = fields.layout();
    layout.swap(&ByteOrder::Little, &mut bytes);
    layout.normalize(&mut bytes).ok()?;
    Some(bytes)
}
