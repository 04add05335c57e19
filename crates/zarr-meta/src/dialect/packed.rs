//! Elements as bytes, for the fill values of structs: fields one after the other, each in its byte order.

use super::typestr::{Class, Dtype, Endian, Number};
use crate::json::{Map, Number as JsonNumber, Value};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The element in the notation of version 3; `None` if `bytes` are not one.
pub(crate) fn unpack(dtype: &Dtype, endian: &Endian, bytes: &[u8]) -> Option<Value> {
    if u64::try_from(bytes.len()).ok()? != dtype.size()? {
        return None;
    }
    Some(match dtype {
        Dtype::Number(number) if number.class == Class::Complex => {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            let parts = [re, im].map(|part| float_value(unsigned(part, endian), part.len(), number));
            Value::Array(parts.into())
        }
        Dtype::Number(number) => match number.class {
            Class::Bool => Value::from(bytes.iter().any(|&byte| byte != 0)),
            Class::Signed => integer(sign_extended(unsigned(bytes, endian), bytes.len())),
            Class::Unsigned => Value::from(unsigned(bytes, endian)),
            _ => float_value(unsigned(bytes, endian), bytes.len(), number),
        },
        Dtype::Time { .. } => integer(sign_extended(unsigned(bytes, endian), bytes.len())),
        Dtype::Bytes(_) => {
            let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            Value::from(STANDARD.encode(bytes.get(..len)?))
        }
        Dtype::Text(_) => {
            let point = |part: &[u8]| u32::try_from(unsigned(part, endian)).ok().and_then(char::from_u32);
            let text: String = bytes.chunks_exact(4).map(point).collect::<Option<_>>()?;
            Value::from(text.trim_end_matches('\0'))
        }
        Dtype::Raw(_) => Value::from(STANDARD.encode(bytes)),
        Dtype::Object => return None,
        Dtype::Struct(fields) => {
            let mut rest = bytes;
            let mut object = Map::new();
            for (place, field) in fields.iter().enumerate() {
                let size = field.dtype.size()?.checked_mul(field.len()?)?;
                let (items, behind) = rest.split_at_checked(usize::try_from(size).ok()?)?;
                let item = |item: &[u8]| unpack(&field.dtype, field_endian(endian, place), item);
                object.insert(field.name.as_str(), nested(&field.shape, items, &item)?);
                rest = behind;
            }
            Value::Object(object)
        }
    })
}

/// The bytes of an element: the inverse of [`unpack`].
pub(crate) fn pack(dtype: &Dtype, endian: &Endian, value: &Value) -> Option<Vec<u8>> {
    Some(match dtype {
        Dtype::Number(number) if number.class == Class::Complex => {
            let size = usize::try_from(number.size / 2).ok()?;
            let parts = value.as_array().filter(|parts| parts.len() == 2)?;
            let part = |part: &Value| Some(ordered(float_bits(part, size, number)?, size, endian));
            parts.iter().map(part).collect::<Option<Vec<_>>>()?.concat()
        }
        Dtype::Number(number) => {
            let size = usize::try_from(number.size).ok()?;
            let bits = match number.class {
                Class::Bool => u64::from(value.as_bool()?),
                Class::Signed => signed_bits(value, size)?,
                Class::Unsigned => value.as_u64().filter(|&bits| size >= 8 || bits >> (8 * size) == 0)?,
                _ => float_bits(value, size, number)?,
            };
            ordered(bits, size, endian)
        }
        Dtype::Time { .. } if value.as_str() == Some("NaT") => ordered(1 << 63, 8, endian),
        Dtype::Time { .. } => ordered(signed_bits(value, 8)?, 8, endian),
        Dtype::Bytes(size) => padded(STANDARD.decode(value.as_str()?).ok()?, *size)?,
        Dtype::Text(len) => {
            let point = |c: char| ordered(u64::from(u32::from(c)), 4, endian);
            padded(value.as_str()?.chars().flat_map(point).collect(), len.checked_mul(4)?)?
        }
        Dtype::Raw(size) => {
            let bytes = match value {
                Value::String(text) => STANDARD.decode(text).ok()?,
                _ => byte_list(value)?,
            };
            (u64::try_from(bytes.len()).ok()? == *size).then_some(bytes)?
        }
        Dtype::Object => return None,
        Dtype::Struct(fields) => {
            let mut bytes = Vec::new();
            for (place, field) in fields.iter().enumerate() {
                let mut item = |item: &Value| {
                    bytes.extend(pack(&field.dtype, field_endian(endian, place), item)?);
                    Some(())
                };
                each(&field.shape, value.get(&field.name)?, &mut item)?;
            }
            bytes
        }
    })
}

/// The items of a field that is an array as nested lists; of another one, its item.
fn nested(shape: &[u64], items: &[u8], item: &impl Fn(&[u8]) -> Option<Value>) -> Option<Value> {
    let Some((&len, inner)) = shape.split_first() else { return item(items) };
    let size = items.len().checked_div(usize::try_from(len).ok()?).filter(|&size| size > 0);
    // An array without items has no bytes.
    let Some(size) = size else { return Some(Value::Array(Vec::new())) };
    items.chunks(size).map(|part| nested(inner, part, item)).collect::<Option<_>>().map(Value::Array)
}

/// Calls `item` with each item of nested lists.
fn each(shape: &[u64], value: &Value, item: &mut impl FnMut(&Value) -> Option<()>) -> Option<()> {
    let Some((&len, inner)) = shape.split_first() else { return item(value) };
    let parts = value.as_array()?;
    // An array without items is an empty list, however many axes it has.
    let empty = shape.contains(&0) && parts.is_empty();
    (empty || u64::try_from(parts.len()).ok()? == len).then_some(())?;
    parts.iter().try_for_each(|part| each(inner, part, item))
}

fn field_endian(endian: &Endian, place: usize) -> &Endian {
    match endian {
        Endian::Fields(fields) => fields.get(place).unwrap_or(&Endian::None),
        whole => whole,
    }
}

/// A list of numbers that are bytes.
pub(crate) fn byte_list(value: &Value) -> Option<Vec<u8>> {
    value.as_array()?.iter().map(|item| u8::try_from(item.as_u64()?).ok()).collect()
}

/// A float without the notation `0x..`, which version 2 lacks; `None` if it says a NaN other than the common one.
pub(crate) fn without_hex(value: &Value, number: &Number) -> Option<Value> {
    let Some(digits) = value.as_str().and_then(|text| text.strip_prefix("0x")) else { return Some(value.clone()) };
    let parts = if number.class == Class::Complex { 2 } else { 1 };
    let plain = float_value(u64::from_str_radix(digits, 16).ok()?, usize::try_from(number.size / parts).ok()?, number);
    plain.as_str().is_none_or(|text| !text.starts_with("0x")).then_some(plain)
}

/// At most 8 bytes as a number.
fn unsigned(bytes: &[u8], endian: &Endian) -> u64 {
    let push = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
    if *endian == Endian::Big { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) }
}

fn ordered(bits: u64, size: usize, endian: &Endian) -> Vec<u8> {
    let mut bytes: Vec<u8> = bits.to_le_bytes().into_iter().take(size).collect();
    if *endian == Endian::Big {
        bytes.reverse();
    }
    bytes
}

fn padded(mut bytes: Vec<u8>, size: u64) -> Option<Vec<u8>> {
    let size = usize::try_from(size).ok().filter(|&size| size >= bytes.len() && size <= 1 << 24)?;
    bytes.resize(size, 0);
    Some(bytes)
}

fn sign_extended(bits: u64, size: usize) -> i64 {
    let unused = 64_usize.saturating_sub(8 * size);
    (bits << unused).cast_signed() >> unused
}

fn signed_bits(value: &Value, size: usize) -> Option<u64> {
    let bits = value.as_i64()?.cast_unsigned();
    (sign_extended(bits, size) == value.as_i64()?).then_some(bits)
}

/// The value of a float of numpy, little-endian.
pub(crate) fn float(bytes: &[u8], number: &Number) -> Option<f64> {
    wide(unsigned(bytes, &Endian::Little), bytes.len(), number)
}

/// The value of these bits of a float of numpy; `None` for another one.
fn wide(bits: u64, size: usize, number: &Number) -> Option<f64> {
    match size {
        2 if number.letter == 'f' => Some(half_value(bits)),
        4 => Some(f64::from(f32::from_bits(u32::try_from(bits).ok()?))),
        8 => Some(f64::from_bits(bits)),
        _ => None,
    }
}

fn integer(value: i64) -> Value {
    Value::from(value)
}

/// Floats as numbers or words; NaNs other than the quiet one with sign 0, and small floats, by their bits.
fn float_value(bits: u64, size: usize, number: &Number) -> Value {
    let by_bits = || Value::from(format!("0x{bits:0width$x}", width = 2 * size));
    let Some(value) = wide(bits, size, number) else { return by_bits() };
    if value.is_nan() {
        return if Some(bits) == quiet_nan(size) { Value::from("NaN") } else { by_bits() };
    }
    let value = match size {
        2 => shortest(value, |short, _| half_bits(short) == bits),
        // Readers find the same, whether they go by way of f64 or not.
        4 => match (value as f32).to_string().parse::<f64>() {
            Ok(short) if short as f32 == value as f32 => short,
            _ => shortest(value, |short, text| short as f32 == value as f32 && text.parse() == Ok(value as f32)),
        },
        _ => value,
    };
    match JsonNumber::from_f64(value) {
        Some(number) => Value::Number(number),
        None => Value::from(value),
    }
}

/// The number with the fewest digits that is read as the same as `value`.
fn shortest(value: f64, is_same: impl Fn(f64, &str) -> bool) -> f64 {
    let text = |digits: usize| format!("{value:.digits$e}");
    let shorter = |digits: usize| text(digits).parse().ok().filter(|short| is_same(*short, &text(digits)));
    (0..17).find_map(shorter).unwrap_or(value)
}

fn float_bits(value: &Value, size: usize, number: &Number) -> Option<u64> {
    if let Some(digits) = value.as_str().and_then(|text| text.strip_prefix("0x")) {
        return (digits.len() == 2 * size).then(|| u64::from_str_radix(digits, 16).ok())?;
    }
    let value = match value.as_str() {
        None => value.as_f64()?,
        Some("NaN") => return quiet_nan(size),
        Some("Infinity") => f64::INFINITY,
        Some("-Infinity") => f64::NEG_INFINITY,
        Some(_) => return None,
    };
    match size {
        2 if number.letter == 'f' => Some(half_bits(value)),
        4 => Some(u64::from((value as f32).to_bits())),
        8 => Some(value.to_bits()),
        _ => None,
    }
}

fn quiet_nan(size: usize) -> Option<u64> {
    match size {
        2 => Some(0x7e00),
        4 => Some(0x7fc0_0000),
        8 => Some(0x7ff8_0000_0000_0000),
        _ => None,
    }
}

/// The value of an IEEE 754 half.
fn half_value(bits: u64) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let mantissa = f64::from(u16::try_from(bits & 0x3ff).unwrap_or_default());
    sign * match i32::try_from(bits >> 10 & 0x1f).unwrap_or_default() {
        0 => mantissa * 2_f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (mantissa + 1024.0) * 2_f64.powi(exponent - 25),
    }
}

/// The nearest half, ties to even. `value` is no NaN.
fn half_bits(value: f64) -> u64 {
    let sign = u64::from(value.is_sign_negative()) << 15;
    let value = value.abs();
    // The largest half is 65504; from the middle between it and the next step on, the nearest is infinity.
    if value >= 65520.0 {
        return sign | 0x7c00;
    }
    let exponent = if value < 2_f64.powi(-14) { -14 } else { value.log2().floor() as i32 };
    // A mantissa of 1024 or more carries into the exponent by itself.
    let mantissa = (value / 2_f64.powi(exponent - 10)).round_ties_even() as u64;
    sign | (((exponent + 14).unsigned_abs() as u64) << 10).saturating_add(mantissa)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use crate::pointer::At;
    use proptest::prelude::*;

    #[test]
    fn halves() {
        for bits in 0..=0xffff_u64 {
            let value = half_value(bits);
            if !value.is_nan() {
                assert_eq!(half_bits(value), bits, "{value}");
            }
        }
        assert_eq!(half_bits(1.0 + 2_f64.powi(-11)), 0x3c00);
        assert_eq!(half_bits(1.0 + 3.0 * 2_f64.powi(-11)), 0x3c02);
        assert_eq!(half_bits(65519.9), 0x7bff);
    }

    #[test]
    fn floats_are_shortest_in_their_own_precision() {
        let dtype = json!([["a", "<f2"], ["b", ">f4"], ["c", "<f8"], ["d", "<c8"]]);
        let (dtype, endian) = Dtype::parse(&At::root(&dtype)).unwrap();
        let half = |value: f64| half_bits(value).to_le_bytes()[..2].to_vec();
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
                r#"{"a":"Infinity","b":3.4028235e+38,"c":1.7976931348623157e+308,"d":[3.4028235e+38,-3.4028235e+38]}"#,
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
            let (dtype, endian) = Dtype::parse(&At::root(&dtype)).unwrap();
            prop_assert_eq!(dtype.size(), Some(57));
            let value = unpack(&dtype, &endian, &bytes).unwrap();
            prop_assert_eq!(pack(&dtype, &endian, &value).unwrap(), bytes);
        }
    }
}
