//! Packed bytes of elements, for fill values of structs: the fields one after another, each in its own byte order.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;
use zarr_dtype::{ByteOrder, DataType, FillValue, Layout, NumpyType, Scalar, print};
use zarr_json::{Map, Value};

/// Returns the element in `bytes` in the notation of version 3; `None` if `bytes` are not one element.
pub(crate) fn unpack(dtype: &NumpyType, endian: &ByteOrder, bytes: &[u8]) -> Option<Value> {
    if u64::try_from(bytes.len()).ok()? != dtype.size()? {
        return None;
    }
    Some(match dtype {
        NumpyType::Number(number) => item_value(number, endian, bytes),
        NumpyType::Time { .. } => item_value(&DataType::Int64, endian, bytes),
        NumpyType::Bytes(_) => {
            let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            Value::from(STANDARD.encode(bytes.get(..len)?))
        }
        NumpyType::Text(_) => {
            let item = in_order(&CODE_POINT, endian, bytes);
            let point = |part: &[u8]| char::from_u32(u32::from_ne_bytes(part.try_into().ok()?));
            let text: String = item.chunks_exact(4).map(point).collect::<Option<_>>()?;
            Value::from(text.trim_end_matches('\0'))
        }
        NumpyType::Raw(_) => Value::from(STANDARD.encode(bytes)),
        NumpyType::Object => return None,
        NumpyType::Struct(fields) => {
            let mut rest = bytes;
            let mut object = Map::new();
            for (index, field) in fields.iter().enumerate() {
                let size = field.numpy.size()?.checked_mul(field.count()?)?;
                let (items, behind) = rest.split_at_checked(usize::try_from(size).ok()?)?;
                let item = |item: &[u8]| unpack(&field.numpy, field_endian(endian, index), item);
                object.insert(field.name.as_str(), nested(&field.shape, items, &item)?);
                rest = behind;
            }
            Value::Object(object)
        }
    })
}

/// Returns the packed bytes of an element: the inverse of [`unpack`].
pub(crate) fn pack(dtype: &NumpyType, endian: &ByteOrder, value: &Value) -> Option<Vec<u8>> {
    Some(match dtype {
        NumpyType::Number(number) => item_bytes(number, endian, value)?,
        // As a type of times also takes "NaT".
        NumpyType::Time { unit, .. } => item_bytes(&DataType::TimeDelta64(*unit), endian, value)?,
        NumpyType::Bytes(size) => padded(STANDARD.decode(value.as_str()?).ok()?, *size)?,
        NumpyType::Text(len) => {
            let points: Vec<u8> = value.as_str()?.chars().flat_map(|c| u32::from(c).to_ne_bytes()).collect();
            padded(in_order(&CODE_POINT, endian, &points).into_owned(), len.checked_mul(4)?)?
        }
        NumpyType::Raw(size) => {
            let bytes = match value {
                Value::String(text) => STANDARD.decode(text).ok()?,
                _ => byte_list(value)?,
            };
            (u64::try_from(bytes.len()).ok()? == *size).then_some(bytes)?
        }
        NumpyType::Object => return None,
        NumpyType::Struct(fields) => {
            let mut bytes = Vec::new();
            for (index, field) in fields.iter().enumerate() {
                let mut item = |item: &Value| {
                    bytes.extend(pack(&field.numpy, field_endian(endian, index), item)?);
                    Some(())
                };
                each(&field.shape, value.get(&field.name)?, &mut item)?;
            }
            bytes
        }
    })
}

/// Returns the inner elements of a field with `shape` as nested lists; the value itself for a field that is no array.
fn nested(shape: &[u64], items: &[u8], one: &impl Fn(&[u8]) -> Option<Value>) -> Option<Value> {
    let Some((&len, inner)) = shape.split_first() else { return one(items) };
    let size = items.len().checked_div(usize::try_from(len).ok()?).filter(|&size| size > 0);
    // An array without inner elements has no bytes.
    let Some(size) = size else { return Some(Value::Array(Vec::new())) };
    items.chunks(size).map(|part| nested(inner, part, one)).collect::<Option<_>>().map(Value::Array)
}

/// Calls `one` with each inner element of nested lists of the given `shape`.
fn each(shape: &[u64], value: &Value, one: &mut impl FnMut(&Value) -> Option<()>) -> Option<()> {
    let Some((&len, inner)) = shape.split_first() else { return one(value) };
    let parts = value.as_array()?;
    // An array without inner elements is an empty list, however many axes it has.
    let empty = shape.contains(&0) && parts.is_empty();
    (empty || u64::try_from(parts.len()).ok()? == len).then_some(())?;
    parts.iter().try_for_each(|part| each(inner, part, one))
}

fn field_endian(endian: &ByteOrder, index: usize) -> &ByteOrder {
    match endian {
        ByteOrder::Fields(fields) => fields.get(index).unwrap_or(&ByteOrder::Irrelevant),
        whole => whole,
    }
}

/// Returns the bytes given by a list of numbers; `None` if `value` is no such list.
pub(crate) fn byte_list(value: &Value) -> Option<Vec<u8>> {
    value.as_array()?.iter().map(|item| u8::try_from(item.as_u64()?).ok()).collect()
}

/// Layout of one code point of a string of fixed length.
const CODE_POINT: Layout = Layout::Fixed { scalar: Scalar::U32, count: 1 };

/// Converts elements between the byte order `endian` and that of the machine, in either direction. Elements without a byte order are
/// little-endian.
fn in_order<'i>(layout: &Layout, endian: &ByteOrder, items: &'i [u8]) -> Cow<'i, [u8]> {
    let order = if *endian == ByteOrder::Big { ByteOrder::Big } else { ByteOrder::Little };
    if order == ByteOrder::NATIVE {
        return Cow::Borrowed(items);
    }
    let mut items = items.to_vec();
    layout.swap(&order, &mut items);
    Cow::Owned(items)
}

fn item_value(number: &DataType, endian: &ByteOrder, bytes: &[u8]) -> Value {
    print::to_json(number, &in_order(&number.layout(), endian, bytes), None)
}

fn item_bytes(number: &DataType, endian: &ByteOrder, value: &Value) -> Option<Vec<u8>> {
    let item = FillValue::parse(number, value).ok()?;
    Some(in_order(&number.layout(), endian, item.bytes()).into_owned())
}

/// Returns the type of the parts of a complex number; for another type the type itself.
pub(crate) fn part(number: &DataType) -> &DataType {
    match number {
        DataType::Complex64 => &DataType::Float32,
        DataType::Complex128 => &DataType::Float64,
        number => number,
    }
}

/// Returns a float without the notation `0x..`, which version 2 lacks; `None` for a NaN other than the usual one.
pub(crate) fn without_hex(value: &Value, number: &DataType) -> Option<Value> {
    let is_bits = |value: &Value| value.as_str().is_some_and(|text| text.starts_with("0x"));
    if !is_bits(value) {
        return Some(value.clone());
    }
    let part = part(number);
    let plain = FillValue::parse(part, value).ok()?.to_json(part);
    (!is_bits(&plain)).then_some(plain)
}

fn padded(mut bytes: Vec<u8>, size: u64) -> Option<Vec<u8>> {
    let size = usize::try_from(size).ok().filter(|&size| size >= bytes.len() && size <= 1 << 24)?;
    bytes.resize(size, 0);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::typestr;
    use proptest::prelude::*;
    use zarr_json::json;
    use zarr_json::pointer::At;

    #[test]
    fn floats_are_shortest_in_their_own_precision() {
        let dtype = json!([["a", "<f2"], ["b", ">f4"], ["c", "<f8"], ["d", "<c8"]]);
        let (dtype, endian) = typestr::parse(&At::root(&dtype)).unwrap();
        let half =
            |value: f64| pack(&NumpyType::Number(DataType::Float16), &ByteOrder::Little, &Value::from(value)).unwrap();
        let packed = |half: Vec<u8>, single: f32, double: f64| {
            let complex = [single.to_le_bytes(), (-single).to_le_bytes()].concat();
            [half, single.to_be_bytes().to_vec(), double.to_le_bytes().to_vec(), complex].concat()
        };
        for (bytes, text) in [
            (packed(half(0.1), 0.1, 0.1), r#"{"a":0.1,"b":0.1,"c":0.1,"d":[0.1,-0.1]}"#),
            (packed(half(65504.0), 1e-45, 5e-324), r#"{"a":65500.0,"b":1e-45,"c":5e-324,"d":[1e-45,-1e-45]}"#),
            (packed(half(-0.0), 16777216.0, 0.3), r#"{"a":-0.0,"b":16777216.0,"c":0.3,"d":[16777216.0,-16777216.0]}"#),
            (
                packed(half(f64::INFINITY), f32::MAX, f64::MAX),
                r#"{"a":"Infinity","b":3.4028235e38,"c":1.7976931348623157e308,"d":[3.4028235e38,-3.4028235e38]}"#,
            ),
        ] {
            let value = unpack(&dtype, &endian, &bytes).unwrap();
            assert_eq!(value.to_string(), text);
            assert_eq!(pack(&dtype, &endian, &value), Some(bytes));
        }
    }

    proptest! {
        #[test]
        fn packing_undoes_unpacking(bytes in proptest::collection::vec(any::<u8>(), 57)) {
            let dtype = json!([
                ["a", "<i4"], ["b", ">f8"], ["c", "|u1"], ["d", "<f2", [2, 1]], ["e", [["x", ">c8"], ["y", "|V3"]]],
                ["f", "<M8[s]"], ["g", ">i2"], ["h", ">u8"], ["i", "<f4"], ["j", "|i1"], ["k", "|S6"]
            ]);
            let (dtype, endian) = typestr::parse(&At::root(&dtype)).unwrap();
            prop_assert_eq!(dtype.size(), Some(57));
            let value = unpack(&dtype, &endian, &bytes).unwrap();
            prop_assert_eq!(pack(&dtype, &endian, &value).unwrap(), bytes);
        }
    }
}
