//! Names, types and attribute values in CDL.

use crate::Result;
use std::fmt::Write;
use zarr_array::Array;
use zarr_cf::fill::{FILL_VALUE, Fill, from_attribute};
use zarr_dtype::DataType;
use zarr_json::{Number, Value};
use zarr_meta::text::is_control;

/// Attributes whose numbers have the type of the variable, by the CF conventions.
const OF_VARIABLE: [&str; 8] = [
    "_FillValue",
    "missing_value",
    "valid_min",
    "valid_max",
    "valid_range",
    "actual_range",
    "flag_values",
    "flag_masks",
];

/// Data type in CDL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Byte,
    UByte,
    Short,
    UShort,
    Int,
    UInt,
    Int64,
    UInt64,
    Float,
    Double,
    Char,
    String,
    /// Data type that netCDF lacks: its name, and its size in bytes; 0 for a variable length.
    Other(String, usize),
}

impl Type {
    /// Returns the type of elements of `data_type`.
    pub(super) fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Int8 => Self::Byte,
            // netCDF has no bools.
            DataType::UInt8 | DataType::Bool => Self::UByte,
            DataType::Int16 => Self::Short,
            DataType::UInt16 => Self::UShort,
            DataType::Int32 => Self::Int,
            DataType::UInt32 => Self::UInt,
            DataType::Int64 => Self::Int64,
            DataType::UInt64 => Self::UInt64,
            DataType::Float32 => Self::Float,
            DataType::Float64 => Self::Double,
            DataType::FixedBytes { len: 1 } => Self::Char,
            DataType::String | DataType::FixedUtf32 { .. } | DataType::FixedBytes { .. } => Self::String,
            other => {
                let size = if other.is_variable() { 0 } else { other.item_size() };
                Self::Other(other.to_config().name.clone(), size)
            }
        }
    }

    /// Returns the type that NCZarr stored for an attribute: `<i4`; `None` for strings and unknown types.
    fn of_nczarr(text: &str) -> Option<Self> {
        Some(match text.trim_start_matches(['<', '>', '|']) {
            "i1" => Self::Byte,
            "u1" => Self::UByte,
            "i2" => Self::Short,
            "u2" => Self::UShort,
            "i4" => Self::Int,
            "u4" => Self::UInt,
            "i8" => Self::Int64,
            "u8" => Self::UInt64,
            "f4" => Self::Float,
            "f8" => Self::Double,
            _ => return None,
        })
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Byte => "byte",
            Self::UByte => "ubyte",
            Self::Short => "short",
            Self::UShort => "ushort",
            Self::Int => "int",
            Self::UInt => "uint",
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
            Self::Float => "float",
            Self::Double => "double",
            Self::Char => "char",
            Self::String => "string",
            Self::Other(other, _) => return name(other),
        }
        .to_owned()
    }

    /// Returns the declaration of a type that netCDF lacks; `None` for types of netCDF.
    pub(super) fn declaration(&self) -> Option<String> {
        match self {
            Self::Other(other, 0) => Some(format!("ubyte(*) {}", name(other))),
            Self::Other(other, size) => Some(format!("opaque({size}) {}", name(other))),
            _ => None,
        }
    }

    /// Returns `number` as a literal of this type; `None` if the type has no such number.
    fn number(&self, number: &Number) -> Option<String> {
        let integer = |least: i128, greatest: i128, suffix: &str| {
            let value = number.to_i128()?;
            (least..=greatest).contains(&value).then(|| format!("{value}{suffix}"))
        };
        match self {
            Self::Byte => integer(i8::MIN.into(), i8::MAX.into(), "b"),
            Self::UByte => integer(0, u8::MAX.into(), "UB"),
            Self::Short => integer(i16::MIN.into(), i16::MAX.into(), "s"),
            Self::UShort => integer(0, u16::MAX.into(), "US"),
            Self::Int => integer(i32::MIN.into(), i32::MAX.into(), ""),
            Self::UInt => integer(0, u32::MAX.into(), "U"),
            Self::Int64 => integer(i64::MIN.into(), i64::MAX.into(), "LL"),
            Self::UInt64 => integer(0, u64::MAX.into(), "ULL"),
            Self::Float => Some(float(number.as_f64() as f32)),
            Self::Double => Some(double(number.as_f64())),
            Self::Char | Self::String | Self::Other(..) => None,
        }
    }
}

/// Value of an attribute in CDL.
#[derive(Clone, Debug)]
pub(super) struct AttributeValue {
    /// Whether the type `string` is declared in front of the attribute. Literals of other types show their type.
    pub(super) is_string_type: bool,
    pub(super) text: String,
}

impl AttributeValue {
    fn plain(text: String) -> Self {
        Self { is_string_type: false, text }
    }

    /// Returns the value of an attribute. `kind` is the type of the variable, and `stored` the type that NCZarr stored for the attribute. A
    /// value that netCDF lacks becomes a string with its JSON, as in NCZarr.
    pub(super) fn new(attribute: &str, value: &Value, stored: Option<&str>, kind: Option<&Type>) -> Self {
        if let Value::String(text) = value {
            return Self::plain(string(text));
        }
        let items = value.as_array().unwrap_or(std::slice::from_ref(value));
        let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        let numbers: Option<Vec<&Number>> = items.iter().map(Value::as_number).collect();
        match (items, texts, numbers) {
            ([], _, _) => Self::plain(string("")),
            (_, Some(texts), _) => {
                let texts: Vec<String> = texts.into_iter().map(string).collect();
                Self { is_string_type: true, text: texts.join(", ") }
            }
            (_, _, Some(numbers)) => {
                let of_variable = kind.filter(|_| OF_VARIABLE.contains(&attribute)).cloned();
                let is_whole = numbers.iter().all(|number| number.is_integer());
                let guessed: &[Type] = if is_whole { &[Type::Int, Type::Int64, Type::UInt64] } else { &[] };
                let candidates = stored.and_then(Type::of_nczarr).into_iter().chain(of_variable);
                let candidates = candidates.chain(guessed.iter().cloned()).chain([Type::Double]);
                let printed = |kind: Type| numbers.iter().map(|number| kind.number(number)).collect::<Option<Vec<_>>>();
                Self::plain(candidates.filter_map(printed).next().unwrap_or_default().join(", "))
            }
            _ => Self::plain(string(&value.to_string())),
        }
    }
}

/// Returns the `_FillValue` of an array if the attribute does not have it as a number: in Zarr v3, floats are stored as base64 of 64 bits;
/// in v2, the fill value of the array is the `_FillValue` of xarray, but not of NCZarr.
pub(super) fn fill_value(array: &Array) -> Result<Option<AttributeValue>> {
    let attributes = array.attributes()?;
    let kind = Type::of(array.data_type());
    if let Some(value) = attributes.get(FILL_VALUE) {
        return Ok(match from_attribute(array.data_type(), value) {
            Ok(Fill::Float(value)) => float_text(&kind, value).map(AttributeValue::plain),
            _ => None,
        });
    }
    let mut members = attributes.keys().chain(array.metadata().extra.keys());
    let is_nczarr = members.any(|name| name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("_nczarr")));
    let has_fill = array.metadata().fill_value.is_some();
    if !array.dialect().fill_value_marks_missing() || !has_fill || is_nczarr {
        return Ok(None);
    }
    let (data_type, bytes) = (array.data_type(), array.fill_value().bytes());
    let integer = data_type.layout().scalar().and_then(|scalar| scalar.integer(bytes));
    let integer = integer.and_then(|integer| kind.number(&Number::parse(&integer.to_string())?));
    Ok(integer.or_else(|| float_text(&kind, data_type.to_f64(bytes)?)).map(AttributeValue::plain))
}

fn float_text(kind: &Type, value: f64) -> Option<String> {
    match kind {
        Type::Float => Some(float(value as f32)),
        Type::Double => Some(double(value)),
        _ => None,
    }
}

fn float(value: f32) -> String {
    match general(f64::from(value), 7) {
        Some(text) => format!("{text}f"),
        None => format!("{}f", special(value.into())),
    }
}

fn double(value: f64) -> String {
    general(value, 15).unwrap_or_else(|| special(value).to_owned())
}

fn special(value: f64) -> &'static str {
    match value {
        value if value.is_nan() => "NaN",
        value if value > 0.0 => "Infinity",
        _ => "-Infinity",
    }
}

/// Formats a number as `%.15g` of C does (with `digits` for 15), with a decimal point; `None` for NaN and infinities.
fn general(value: f64, digits: usize) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    let text = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let plain = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').to_owned(),
        false => format!("{text}."),
    };
    let last = i32::try_from(digits).ok()?;
    if (-4..last).contains(&exponent) {
        return Some(plain(&format!("{value:.*}", usize::try_from(last - 1 - exponent).ok()?)));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    Some(format!("{}e{sign}{:02}", plain(mantissa), exponent.abs()))
}

/// Returns a string literal in double quotes.
fn string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\'' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\u{b}' => quoted.push_str("\\v"),
            c if is_control(c) => c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| {
                // Writing to a string does not fail.
                let _ = write!(quoted, "\\{byte:03o}");
            }),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns a name with special characters escaped.
pub(super) fn name(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        escaped.push('\\');
    }
    for c in text.chars() {
        match c {
            c if is_control(c) => c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| {
                let _ = write!(escaped, "\\%{byte:02x}");
            }),
            '_' | '.' | '@' | '+' | '-' | '%' => escaped.push(c),
            c if c == ' ' || c.is_ascii_punctuation() => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers are printed as ncdump 4.9 prints them.
    #[test]
    fn numbers_are_those_of_ncdump() {
        let doubles = [
            1.0,
            2.5,
            1e10,
            1e-5,
            1e5,
            1_234_567.0,
            0.1,
            1.0 / 3.0,
            1e15,
            1e16,
            123_456_789_012_345_678.0,
            1e300,
            -0.0,
        ];
        let expected = "1. 2.5 10000000000. 1.e-05 100000. 1234567. 0.1 0.333333333333333 1.e+15 1.e+16 1.23456789012346e+17 1.e+300 -0.";
        assert_eq!(doubles.map(double).join(" "), expected);
        let floats = [1.0, 2.5, 1e10, 1e-5, 1e5, 1_234_567.0, 0.1, -0.0, 9.969_21e36, f32::NAN, f32::NEG_INFINITY];
        let expected = "1.f 2.5f 1.e+10f 1.e-05f 100000.f 1234567.f 0.1f -0.f 9.96921e+36f NaNf -Infinityf";
        assert_eq!(floats.map(float).join(" "), expected);
        assert_eq!([f64::NAN, f64::INFINITY].map(double), ["NaN", "Infinity"]);
    }

    #[test]
    fn names_and_strings_are_escaped() {
        assert_eq!(
            name("a!\"#$%&'()*+,-.:;<=>?@[\\]^_`{|}~"),
            "a\\!\\\"\\#\\$%\\&\\'\\(\\)\\*+\\,-.\\:\\;\\<\\=\\>\\?@\\[\\\\\\]\\^_\\`\\{\\|\\}\\~"
        );
        assert_eq!(name("3d t"), "\\3d\\ t");
        assert_eq!(name("é\u{1b}"), "é\\%1b");
        assert_eq!(string("a\"b\\c\nd\te\rf\u{8}g\u{1}h'i\u{7f}"), "\"a\\\"b\\\\c\\nd\\te\\rf\\bg\\001h\\'i\\177\"");
        assert_eq!(string("é→\u{202e}"), "\"é→\\342\\200\\256\"");
    }

    #[test]
    fn attributes_have_types() {
        let print = |attribute: &str, json: &str, stored: Option<&str>, kind: &Type| {
            let value = AttributeValue::new(attribute, &Value::from_json(json).unwrap(), stored, Some(kind));
            format!("{}{}", if value.is_string_type { "string " } else { "" }, value.text)
        };
        for (attribute, json, stored, kind, expected) in [
            ("n", "1", None, Type::Short, "1"),
            ("n", "[1, 3000000000]", None, Type::Short, "1LL, 3000000000LL"),
            ("n", "18446744073709551615", None, Type::Short, "18446744073709551615ULL"),
            ("n", "[1, 2.5]", None, Type::Short, "1., 2.5"),
            ("n", "1.0", None, Type::Short, "1."),
            ("flag_values", "[0, 1]", None, Type::Byte, "0b, 1b"),
            ("valid_range", "[0, 1]", None, Type::Float, "0.f, 1.f"),
            ("missing_value", "-999.5", None, Type::Short, "-999.5"),
            ("missing_value", "70000", None, Type::Short, "70000"),
            ("_FillValue", "-1", Some("<i4"), Type::Int64, "-1"),
            ("n", "1", Some("<f4"), Type::Short, "1.f"),
            ("n", "[1]", Some(">u2"), Type::Short, "1US"),
            ("n", r#""x""#, Some(">S1"), Type::Short, r#""x""#),
            ("n", r#"["x", "y"]"#, None, Type::Short, r#"string "x", "y""#),
            ("n", "[]", None, Type::Short, r#""""#),
            ("n", "true", None, Type::Short, r#""true""#),
            ("n", r#"{"a": [1, null]}"#, None, Type::Short, r#""{\"a\":[1,null]}""#),
        ] {
            assert_eq!(print(attribute, json, stored, &kind), expected, "{attribute} {json}");
        }
    }
}
