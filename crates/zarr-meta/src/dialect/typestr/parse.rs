//! Reading and writing type strings.

use super::{Dtype, Endian, Field, NUMBERS, UNITS};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Value;
use crate::pointer::At;
use std::collections::HashSet;

/// How deep structs may nest.
const MAX_DEPTH: usize = 32;

impl Dtype {
    /// The type that a type string or a list of fields names, and its byte order.
    ///
    /// A missing byte order is little-endian, one on single bytes is ignored: netCDF-C writes `<u1`.
    pub(crate) fn parse(at: &At<'_>) -> Result<(Self, Endian)> {
        Self::parse_at_depth(at, 0)
    }

    fn parse_at_depth(at: &At<'_>, depth: usize) -> Result<(Self, Endian)> {
        match at.value() {
            Value::String(text) => {
                let unknown = || at.error(ErrorKind::UnknownExtension, "a type of numpy such as \"<f8\"");
                typestr(text).ok_or_else(unknown)
            }
            Value::Array(_) if depth < MAX_DEPTH => fields(at, depth),
            _ => Err(at.invalid("a type string or a list of fields")),
        }
    }

    /// The inverse of [`parse`](Self::parse).
    pub(crate) fn to_value(&self, endian: &Endian) -> Value {
        let order = match endian {
            Endian::Little => '<',
            Endian::Big => '>',
            _ => '|',
        };
        match (self, endian) {
            (Self::Number(number), _) if number.letter == '\0' => Value::from(number.name),
            (Self::Number(number), _) => Value::from(format!("{order}{}{}", number.letter, number.size)),
            (Self::Time { is_span, unit, scale }, _) => {
                let letter = if *is_span { 'm' } else { 'M' };
                let count = if *scale == 1 { String::new() } else { scale.to_string() };
                // numpy writes the generic unit without brackets.
                let unit = if *unit == "generic" { String::new() } else { format!("[{count}{unit}]") };
                Value::from(format!("{order}{letter}8{unit}"))
            }
            (Self::Bytes(size), _) => Value::from(format!("|S{size}")),
            (Self::Text(len), _) => Value::from(format!("{order}U{len}")),
            (Self::Raw(size), _) => Value::from(format!("|V{size}")),
            (Self::Object, _) => Value::from("|O"),
            (Self::Struct(fields), endian) => {
                let item = |(place, field): (usize, &Field)| {
                    let endian = match endian {
                        Endian::Fields(fields) => fields.get(place),
                        _ => None,
                    };
                    let dtype = field.dtype.to_value(endian.unwrap_or(&Endian::None));
                    let mut item = vec![Value::from(field.name.as_str()), dtype];
                    if !field.shape.is_empty() {
                        item.push(Value::from(field.shape.clone()));
                    }
                    Value::Array(item)
                };
                Value::Array(fields.iter().enumerate().map(item).collect())
            }
        }
    }
}

/// The warning of a type string without a byte order, or with that of the machine, at `at`.
pub(crate) fn without_order(at: &At<'_>) -> Option<(String, String)> {
    let text = at
        .value()
        .as_str()
        .filter(|text| NUMBERS.iter().all(|number| number.letter != '\0' || number.name != *text))?;
    let what = match text.chars().next()? {
        '<' | '>' | '|' => return None,
        '=' => "the byte order of the machine, read as little-endian",
        _ => "no byte order, read as little-endian",
    };
    Some((at.pointer(), format!("{text:?} says {what}")))
}

fn typestr(text: &str) -> Option<(Dtype, Endian)> {
    if let Some(number) = NUMBERS.iter().find(|number| number.letter == '\0' && number.name == text) {
        let endian = if number.size > 1 { Endian::Little } else { Endian::None };
        return Some((Dtype::Number(number), endian));
    }
    let order = text.chars().next()?;
    let (order, rest) = match order {
        '<' | '>' | '|' | '=' => (order, text.get(1..)?),
        _ => ('<', text),
    };
    let letter = rest.chars().next()?;
    let rest = rest.get(letter.len_utf8()..)?;
    let dtype = match letter {
        'O' if rest.is_empty() || rest == "8" => Dtype::Object,
        'm' | 'M' => time(letter == 'm', rest)?,
        'S' | 'a' => Dtype::Bytes(digits(rest)?),
        'U' => Dtype::Text(digits(rest)?),
        'V' => Dtype::Raw(digits(rest)?),
        _ => {
            let size = digits(rest)?;
            Dtype::Number(NUMBERS.iter().find(|number| number.letter == letter && number.size == size)?)
        }
    };
    // Sizes beyond 64 bits are no sizes.
    if dtype != Dtype::Object {
        dtype.size()?;
    }
    let word = if order == '>' { "big" } else { "little" };
    let endian = Endian::all(&dtype, word);
    Some((dtype, endian))
}

fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let size: u64 = if plain { text.parse().ok()? } else { return None };
    (size <= i64::MAX as u64).then_some(size)
}

/// `8[ns]`, `8[25s]`, `8`.
fn time(is_span: bool, text: &str) -> Option<Dtype> {
    let unit = text.strip_prefix('8')?;
    if unit.is_empty() {
        return Some(Dtype::Time { is_span, unit: "generic", scale: 1 });
    }
    let unit = unit.strip_prefix('[')?.strip_suffix(']')?;
    let count = unit.bytes().take_while(u8::is_ascii_digit).count();
    let (scale, unit) = unit.split_at_checked(count)?;
    let scale: u32 = if scale.is_empty() { 1 } else { scale.parse().ok()? };
    // The micro sign and the Greek letter.
    let unit = if matches!(unit, "\u{b5}s" | "\u{3bc}s") { "us" } else { unit };
    let unit = UNITS.into_iter().find(|known| *known == unit)?;
    (scale > 0 && i32::try_from(scale).is_ok()).then_some(Dtype::Time { is_span, unit, scale })
}

fn fields(at: &At<'_>, depth: usize) -> Result<(Dtype, Endian)> {
    let items = at.items()?;
    if items.is_empty() {
        return Err(at.invalid("at least one field"));
    }
    let mut fields: Vec<Field> = Vec::new();
    let mut names = HashSet::new();
    let mut endians = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let parts = item.items()?;
        let (name, dtype, shape) = match parts.as_slice() {
            [name, dtype] => (name.text()?, dtype, Vec::new()),
            [name, dtype, shape] => (name.text()?, dtype, field_shape(shape)?),
            _ => return Err(item.invalid("[name, type] or [name, type, shape]")),
        };
        let (dtype, endian) = Dtype::parse_at_depth(dtype, depth + 1)?;
        if dtype == Dtype::Object {
            return Err(item.error(ErrorKind::UnknownExtension, "fields of a fixed size"));
        }
        // Any number of them would fit into no bytes at all.
        if !shape.is_empty() && dtype.size() == Some(0) {
            return Err(item.invalid("items of at least one byte"));
        }
        // Padding has no name; numpy names such fields by their place.
        let mut name = if name.is_empty() { format!("f{place}") } else { name.to_owned() };
        if names.contains(&name) {
            if parts.first().is_none_or(|name| name.value().as_str() != Some("")) {
                return Err(item.invalid("fields of different names"));
            }
            while names.contains(&name) {
                name.push('_');
            }
        }
        names.insert(name.clone());
        fields.push(Field { name, dtype, shape });
        endians.push(endian);
    }
    let dtype = Dtype::Struct(fields);
    if dtype.size().is_none() {
        return Err(at.invalid("elements of at most 2^64-1 bytes"));
    }
    Ok((dtype, Endian::Fields(endians)))
}

/// The shape of a field: a list, or a number for one dimension.
fn field_shape(at: &At<'_>) -> Result<Vec<u64>, Error> {
    if at.value().as_u64().is_some() { Ok(vec![at.size()?]) } else { at.sizes() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn round_trip(value: Value) -> Value {
        let (dtype, endian) = Dtype::parse(&At::root(&value)).unwrap();
        dtype.to_value(&endian)
    }

    #[test]
    fn strict_spellings_stay() {
        for text in [
            "|b1",
            "|i1",
            "<i2",
            ">u8",
            "<f2",
            ">c16",
            "|S7",
            "<U12",
            ">U1",
            "|V5",
            "|O",
            "<M8[ns]",
            ">m8[25s]",
            "<M8",
            "bfloat16",
            "int4",
            "float8_e4m3fn",
        ] {
            assert_eq!(round_trip(json!(text)), json!(text));
        }
        let list = json!([["a", "<i4"], ["b", ">f8", [2, 3]], ["c", [["x", "|u1"], ["y", "<U2"]]]]);
        assert_eq!(round_trip(list.clone()), list);
    }

    #[test]
    fn loose_spellings_are_read() {
        for (loose, strict) in [
            ("<u1", "|u1"),
            (">b1", "|b1"),
            ("i4", "<i4"),
            ("S2", "|S2"),
            (">S1", "|S1"),
            ("|i2", "<i2"),
            ("=f8", "<f8"),
            ("<M8[\u{3bc}s]", "<M8[us]"),
            ("<m8[1\u{b5}s]", "<m8[us]"),
            ("<M8[generic]", "<M8"),
            ("O", "|O"),
        ] {
            assert_eq!(round_trip(json!(loose)), json!(strict));
        }
        let padded = json!([["a", "|u1"], ["", "|V3"], ["b", "<i4"], ["", "|V1"]]);
        assert_eq!(round_trip(padded).to_string(), r#"[["a","|u1"],["f1","|V3"],["b","<i4"],["f3","|V1"]]"#);
    }

    #[test]
    fn others_are_not() {
        for text in [
            "",
            "<",
            "q",
            "<q8",
            "f",
            "<f3",
            "<f16",
            "|S",
            "<U9999999999999999999",
            "<M8[fortnight]",
            "<M8[0s]",
            "<M8[s",
            "<M4[s]",
            "é",
            "<é1",
            "<i+4",
            "bfloat",
            "<U4611686018427387904",
        ] {
            let error = Dtype::parse(&At::root(&json!(text))).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnknownExtension, "{text}");
        }
        for list in [
            json!([]),
            json!([["a"]]),
            json!([["a", "<i4"], ["a", "<i4"]]),
            json!([["a", "|V9223372036854775807", [9]]]),
            json!([["a", "|V0", [9007199254740992_u64]]]),
        ] {
            assert_eq!(Dtype::parse(&At::root(&list)).unwrap_err().kind(), ErrorKind::InvalidMetadata, "{list}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "[<>|]?[bifucmMSUVO]?[0-9]{0,3}(\\[[0-9]?[a-z]{0,3}\\])?") {
            let value = json!(text);
            if let Ok((dtype, endian)) = Dtype::parse(&At::root(&value)) {
                let strict = dtype.to_value(&endian);
                proptest::prop_assert_eq!(round_trip(strict.clone()), strict);
            }
        }
    }
}
