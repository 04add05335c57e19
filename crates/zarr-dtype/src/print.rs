//! Conversion of one element to JSON and to text, and from JSON.

mod structure;

use crate::data_type::DataType;
use crate::float::{self, Format};
use crate::heap::content;
use crate::layout::Scalar;
use crate::time::NOT_A_TIME;
use crate::{Error, Heap, Layout, Spelling};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarr_json::Value;

/// Returns the element `item` as JSON, in the notation of fill values: strings unchanged, bytes of every kind as base64 strings, dates and
/// durations as counts or `"NaT"`, NaN as `"NaN"` or its bits, structs as objects, their array fields as nested lists; lists and JSON
/// values unchanged.
///
/// The content of elements of variable length is in `heap`. Invalid code points become U+FFFD. Bytes that are no element (of the wrong
/// size, or with content that is not in the heap) become `null`.
///
/// ```
/// # use zarr_dtype::{DataType, print};
/// # use zarr_json::json;
/// assert_eq!(print::to_json(&DataType::Float32, &0.1_f32.to_ne_bytes(), None), json!(0.1));
/// ```
pub fn to_json(data_type: &DataType, item: &[u8], heap: Option<&Heap>) -> Value {
    json(data_type, item, heap, RawBits::Base64).unwrap_or_default()
}

/// Form in which elements of the types `r8`, `r16`.. are written.
#[derive(Clone, Copy)]
enum RawBits {
    /// Base64 string, which readers accept as well.
    Base64,
    /// List of bytes, as the specification requires for fill values.
    List,
}

/// Returns the element `item` of fixed size as a fill value in a document.
pub(crate) fn to_fill_json(data_type: &DataType, item: &[u8]) -> Value {
    json(data_type, item, None, RawBits::List).unwrap_or_default()
}

fn json(data_type: &DataType, item: &[u8], heap: Option<&Heap>, raw: RawBits) -> Option<Value> {
    match data_type {
        _ if item.len() != data_type.item_size() => None,
        DataType::SmallFloat(small) => float_json(&small.format(), item),
        DataType::SmallComplex(part) => {
            item.chunks(1).map(|item| float_json(&part.format(), item)).collect::<Option<_>>().map(Value::Array)
        }
        DataType::DateTime64(_) | DataType::TimeDelta64(_) => {
            load(item).map(i64::from_ne_bytes).map(|count| match count {
                NOT_A_TIME => Value::from("NaT"),
                count => Value::from(count),
            })
        }
        DataType::FixedBytes { .. } => Some(base64_json(without_nuls(item))),
        DataType::RawBits(_) if matches!(raw, RawBits::List) => Some(Value::from(item.to_vec())),
        DataType::RawBits(_) | DataType::RawBytes { .. } => Some(base64_json(item)),
        DataType::FixedUtf32 { .. } => Some(Value::String(utf32_text(item))),
        DataType::Extension(extension) => {
            bytes_of(data_type, item, heap).map(|bytes| extension.meaning().to_json(bytes))
        }
        DataType::String | DataType::Bytes { .. } | DataType::VlenArray(_) | DataType::Object => {
            content(item, heap).map(|bytes| content_json(data_type, bytes))
        }
        DataType::Struct(fields) => structure::json(fields, item, raw),
        _ => match data_type.layout() {
            Layout::Fixed { scalar, count: 1 } => scalar_json(scalar, item),
            Layout::Fixed { scalar, .. } => item
                .chunks(scalar.size())
                .map(|part| scalar_json(scalar, part))
                .collect::<Option<_>>()
                .map(Value::Array),
            _ => None,
        },
    }
}

/// Returns the bytes of an element in memory form, or its content if its length varies.
fn bytes_of<'h>(data_type: &DataType, item: &'h [u8], heap: Option<&'h Heap>) -> Option<&'h [u8]> {
    if data_type.is_variable() { content(item, heap) } else { Some(item) }
}

/// Returns an element as JSON. `bytes` are its memory form, or its content if its length varies.
pub(crate) fn bytes_to_json(data_type: &DataType, bytes: &[u8]) -> Value {
    match data_type {
        DataType::Extension(extension) => extension.meaning().to_json(bytes),
        _ if data_type.is_variable() => content_json(data_type, bytes),
        _ => to_json(data_type, bytes, None),
    }
}

/// Returns an element as text. `bytes` are its memory form, or its content if its length varies.
pub(crate) fn bytes_to_text(data_type: &DataType, bytes: &[u8]) -> String {
    match data_type {
        DataType::Extension(extension) => extension.meaning().to_text(bytes),
        _ if data_type.is_variable() => content_text(data_type, bytes),
        _ => to_text(data_type, bytes, None),
    }
}

/// Returns an element of variable length as JSON; `bytes` are its content.
fn content_json(data_type: &DataType, bytes: &[u8]) -> Value {
    match data_type {
        DataType::String => Value::String(String::from_utf8_lossy(bytes).into_owned()),
        DataType::Object => {
            std::str::from_utf8(bytes).ok().and_then(|text| Value::from_json(text).ok()).unwrap_or_default()
        }
        DataType::VlenArray(inner) => {
            Value::Array(bytes.chunks(inner.item_size().max(1)).map(|item| to_json(inner, item, None)).collect())
        }
        _ => base64_json(bytes),
    }
}

/// Returns the element `item` as text for users: dates in ISO 8601 as precise as their unit, durations with their unit,
/// `null_terminated_bytes` as text with escapes (`a\x00\\`), other bytes as hexadecimal digits, complex numbers as `1.5-2.0j`, strings
/// unchanged, structs as `(1, 2.5, "text")`, lists as `[1, 2]`, JSON values as JSON text.
///
/// The content of elements of variable length is in `heap`. Bytes that are no element become the empty string.
///
/// ```
/// # use zarr_dtype::{DataType, TimeUnit, Unit, print};
/// let data_type = DataType::DateTime64(TimeUnit::new(Unit::Second));
/// assert_eq!(print::to_text(&data_type, &(-1_i64).to_ne_bytes(), None), "1969-12-31T23:59:59");
/// ```
pub fn to_text(data_type: &DataType, item: &[u8], heap: Option<&Heap>) -> String {
    let count = || load(item).map(i64::from_ne_bytes);
    let text = match data_type {
        _ if item.len() != data_type.item_size() => None,
        DataType::DateTime64(unit) => count().map(|count| unit.date_text(count)),
        DataType::TimeDelta64(unit) => count().map(|count| unit.delta_text(count)),
        DataType::FixedBytes { .. } => Some(escaped(without_nuls(item))),
        DataType::RawBits(_) | DataType::RawBytes { .. } => Some(hex(item)),
        DataType::Extension(extension) => {
            bytes_of(data_type, item, heap).map(|bytes| extension.meaning().to_text(bytes))
        }
        DataType::String | DataType::Bytes { .. } | DataType::VlenArray(_) | DataType::Object => {
            content(item, heap).map(|bytes| content_text(data_type, bytes))
        }
        DataType::SmallComplex(part) => complex_text(&part.format(), item),
        DataType::ComplexFloat16 => complex_text(&float::F16, item),
        DataType::ComplexBFloat16 => complex_text(&float::BF16, item),
        DataType::Complex64 => complex_text(&float::F32, item),
        DataType::Complex128 => complex_text(&float::F64, item),
        // A NaN is one to people, whatever its bits.
        DataType::SmallFloat(small) => float_text(&small.format(), item),
        DataType::Float16 => float_text(&float::F16, item),
        DataType::BFloat16 => float_text(&float::BF16, item),
        DataType::Float32 => float_text(&float::F32, item),
        DataType::Float64 => float_text(&float::F64, item),
        DataType::Struct(fields) => Some(structure::text(fields, item)),
        _ => match to_json(data_type, item, heap) {
            Value::Null => None,
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        },
    };
    text.unwrap_or_default()
}

/// Returns an element of variable length as text; `bytes` are its content.
fn content_text(data_type: &DataType, bytes: &[u8]) -> String {
    match data_type {
        DataType::String => String::from_utf8_lossy(bytes).into_owned(),
        DataType::VlenArray(inner) => {
            let items: Vec<String> =
                bytes.chunks(inner.item_size().max(1)).map(|one| to_text(inner, one, None)).collect();
            format!("[{}]", items.join(", "))
        }
        DataType::Object => content_json(data_type, bytes).to_string(),
        _ => hex(bytes),
    }
}

/// Parses an element from `value`, in the notation of [`to_json`], or for times also of [`to_text`]. Returns its memory form, or its
/// content for types of variable length.
///
/// # Errors
/// [`Error::Invalid`] if `value` is no element of the type, with the JSON pointer relative to `value`.
pub fn parse(data_type: &DataType, value: &Value) -> Result<Vec<u8>, Error> {
    crate::parse::element(data_type, value, Spelling::Readable)
}

fn scalar_json(scalar: Scalar, item: &[u8]) -> Option<Value> {
    match scalar {
        Scalar::Bool => Some(Value::from(item.first()? != &0)),
        Scalar::F16 => float_json(&float::F16, item),
        Scalar::BF16 => float_json(&float::BF16, item),
        Scalar::F32 => float_json(&float::F32, item),
        Scalar::F64 => float_json(&float::F64, item),
        _ => scalar.integer(item).map(Value::from),
    }
}

fn load<const N: usize>(item: &[u8]) -> Option<[u8; N]> {
    item.try_into().ok()
}

fn float_json(format: &Format, item: &[u8]) -> Option<Value> {
    format.load(item).map(|bits| format.to_json(bits))
}

fn float_text(format: &Format, item: &[u8]) -> Option<String> {
    format.load(item).map(|bits| format.to_text(bits))
}

fn complex_text(format: &Format, item: &[u8]) -> Option<String> {
    let (real, imaginary) = item.split_at_checked(format.size)?;
    let (real, imaginary) = (float_text(format, real)?, float_text(format, imaginary)?);
    let plus = if imaginary.starts_with('-') { "" } else { "+" };
    Some(format!("{real}{plus}{imaginary}j"))
}

fn base64_json(bytes: &[u8]) -> Value {
    Value::String(STANDARD.encode(bytes))
}

/// Returns the bytes without the NULs at the end.
pub(crate) fn without_nuls(item: &[u8]) -> &[u8] {
    let len = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    item.get(..len).unwrap_or(item)
}

/// Returns the string in a `fixed_length_utf32` element, without the NULs at the end; invalid code points become U+FFFD.
fn utf32_text(item: &[u8]) -> String {
    let mut text: String = code_points(item).map(|code| code.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    text.truncate(text.trim_end_matches('\0').len());
    text
}

/// Returns the code points of a `fixed_length_utf32` element, including the NULs at the end; an error has the number that is no code point.
pub(crate) fn code_points(item: &[u8]) -> impl Iterator<Item = Result<char, u32>> {
    item.chunks_exact(4).map(|code| {
        let code = load(code).map_or(0, u32::from_ne_bytes);
        char::from_u32(code).ok_or(code)
    })
}

/// Returns bytes as ASCII text with escapes as in Python; UTF-8 is not assumed.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BytesName, Element, HeapRef, SmallFloat, TimeUnit, Unit};
    use zarr_json::json;

    #[test]
    fn elements_are_json_and_text() {
        let heap = Heap::new();
        let check = |data_type: DataType, item: &[u8], json: Value, text: &str| {
            assert_eq!(to_json(&data_type, item, Some(&heap)), json, "{data_type}");
            assert_eq!(to_text(&data_type, item, Some(&heap)), text, "{data_type}");
        };
        check(DataType::Bool, &[1], json!(true), "true");
        check(DataType::Int4, &[0xf8], json!(-8), "-8");
        check(DataType::Float32, &0.1_f32.to_ne_bytes(), json!(0.1), "0.1");
        check(DataType::Float32, &0x7fc0_0001_u32.to_ne_bytes(), json!("0x7fc00001"), "NaN");
        check(DataType::Float64, &f64::NEG_INFINITY.to_ne_bytes(), json!("-Infinity"), "-Infinity");
        check(
            DataType::Complex64,
            &[1.5_f32.to_ne_bytes(), (-2.0_f32).to_ne_bytes()].concat(),
            json!([1.5, (-2.0)]),
            "1.5-2.0j",
        );
        check(
            DataType::Complex128,
            &[f64::NAN.to_ne_bytes(), 2.0_f64.to_ne_bytes()].concat(),
            json!(["NaN", 2.0]),
            "NaN+2.0j",
        );
        check(
            DataType::SmallComplex(SmallFloat::Float8E5M2),
            &[0x3c, 0xfc],
            json!([1.0, "-Infinity"]),
            "1.0-Infinityj",
        );
        let halves = [0x3e00_u16, 0x7e01].map(u16::to_ne_bytes).concat();
        check(DataType::ComplexFloat16, &halves, json!([1.5, "0x7e01"]), "1.5+NaNj");
        let halves = [0x3fc0_u16, 0xbf80].map(u16::to_ne_bytes).concat();
        check(DataType::ComplexBFloat16, &halves, json!([1.5, (-1.0)]), "1.5-1.0j");
        check(DataType::RawBits(2), &[0x12, 0xab], json!("Eqs="), "12ab");
        check(DataType::FixedBytes { len: 6 }, b"a\0\\\xff\n\0", json!("YQBc/wo="), r"a\x00\\\xff\n");
        let date = DataType::DateTime64(TimeUnit { unit: Unit::Second, scale: 25 });
        check(date.clone(), &2_i64.to_ne_bytes(), json!(2), "1970-01-01T00:00:50");
        check(date, &i64::MIN.to_ne_bytes(), json!("NaT"), "NaT");
        check(DataType::TimeDelta64(TimeUnit::new(Unit::Hour)), &3_i64.to_ne_bytes(), json!(3), "3 h");
        let code_points = [0x6771_u32, 0xd800, 0, 0].map(u32::to_ne_bytes).concat();
        check(DataType::FixedUtf32 { len: 4 }, &code_points, json!("\u{6771}\u{fffd}"), "\u{6771}\u{fffd}");

        let text = String::to_items(&DataType::String, &["a\n".to_owned()], &heap).unwrap();
        check(DataType::String, &text, json!("a\n"), "a\n");
        let bytes = DataType::Bytes { name: BytesName::Bytes };
        check(bytes.clone(), &text, json!("YQo="), "610a");
        check(bytes, &HeapRef::default().to_bytes(), json!(""), "");

        let values = Value::to_items(&DataType::Object, &[json!({"a": [1, null]}), json!("1")], &heap).unwrap();
        check(DataType::Object, &values[..16], json!({"a": [1, null]}), r#"{"a":[1,null]}"#);
        check(DataType::Object, &values[16..], json!("1"), r#""1""#);
        check(DataType::Object, &HeapRef::default().to_bytes(), json!(null), "null");
        let lists = DataType::VlenArray(Box::new(DataType::Float32));
        let list = Vec::<f32>::to_items(&lists, &[vec![0.5, f32::NAN]], &heap).unwrap();
        check(lists.clone(), &list, json!([0.5, "NaN"]), "[0.5, NaN]");
        check(lists, &HeapRef::default().to_bytes(), json!([]), "[]");
    }

    #[test]
    fn invalid_elements_are_printed_as_null() {
        assert_eq!(to_json(&DataType::Float32, &[0; 3], None), Value::Null);
        assert_eq!(to_text(&DataType::Float32, &[0; 5], None), "");
        let lost = HeapRef { block: 9, offset: 0, len: 1 }.to_bytes();
        assert_eq!(to_json(&DataType::String, &lost, Some(&Heap::new())), Value::Null);
        assert_eq!(to_text(&DataType::String, &lost, None), "");
    }
}
