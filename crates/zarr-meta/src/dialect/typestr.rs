//! numpy type strings, the data types of dialects up to version 2.
//!
//! `<f8`, `|S10`, `>M8[25s]`, or a list of fields `[["a", "<i4"], ["b", "<f8", [2, 2]]]`. In the model the byte order is
//! part of the codec `bytes`, not of the type.

mod model;
mod parse;

pub(crate) use model::{from_model, from_model_of_numpy};
pub(crate) use parse::without_order;

use crate::json::Value;

/// The byte order of an element, or of each part of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Endian {
    /// Single bytes.
    None,
    Little,
    Big,
    /// Of the fields of a struct.
    Fields(Vec<Endian>),
}

/// A type of numpy, without byte order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Dtype {
    /// A number or bool: the name in version 3, the letter of numpy, the size in bytes.
    Number(&'static Number),
    /// `M8`, `m8`.
    Time { is_span: bool, unit: &'static str, scale: u32 },
    /// `S`: the size in bytes.
    Bytes(u64),
    /// `U`: the length in code points.
    Text(u64),
    /// `V`: the size in bytes.
    Raw(u64),
    /// `O`: what it is depends on a codec.
    Object,
    /// Fields.
    Struct(Vec<Field>),
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) dtype: Dtype,
    /// The shape if the field is an array; empty if not.
    pub(crate) shape: Vec<u64>,
}

/// A type that is a number or bool.
#[derive(Debug, PartialEq)]
pub(crate) struct Number {
    pub(crate) name: &'static str,
    /// The letter of numpy; `'\0'` for the types that TensorStore writes by name.
    pub(crate) letter: char,
    pub(crate) size: u64,
    pub(crate) class: Class,
}

/// What its values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
}

const fn number(name: &'static str, letter: char, size: u64, class: Class) -> Number {
    Number { name, letter, size, class }
}

/// The numbers of numpy, then those that TensorStore 0.1 adds to version 2.
pub(crate) static NUMBERS: [Number; 30] = [
    number("bool", 'b', 1, Class::Bool),
    number("int8", 'i', 1, Class::Signed),
    number("int16", 'i', 2, Class::Signed),
    number("int32", 'i', 4, Class::Signed),
    number("int64", 'i', 8, Class::Signed),
    number("uint8", 'u', 1, Class::Unsigned),
    number("uint16", 'u', 2, Class::Unsigned),
    number("uint32", 'u', 4, Class::Unsigned),
    number("uint64", 'u', 8, Class::Unsigned),
    number("float16", 'f', 2, Class::Float),
    number("float32", 'f', 4, Class::Float),
    number("float64", 'f', 8, Class::Float),
    number("complex64", 'c', 8, Class::Complex),
    number("complex128", 'c', 16, Class::Complex),
    number("bfloat16", '\0', 2, Class::Float),
    number("int4", '\0', 1, Class::Signed),
    number("int2", '\0', 1, Class::Signed),
    number("uint4", '\0', 1, Class::Unsigned),
    number("uint2", '\0', 1, Class::Unsigned),
    number("float8_e3m4", '\0', 1, Class::Float),
    number("float8_e4m3", '\0', 1, Class::Float),
    number("float8_e4m3b11fnuz", '\0', 1, Class::Float),
    number("float8_e4m3fn", '\0', 1, Class::Float),
    number("float8_e4m3fnuz", '\0', 1, Class::Float),
    number("float8_e5m2", '\0', 1, Class::Float),
    number("float8_e5m2fnuz", '\0', 1, Class::Float),
    number("float8_e8m0fnu", '\0', 1, Class::Float),
    number("float6_e2m3fn", '\0', 1, Class::Float),
    number("float6_e3m2fn", '\0', 1, Class::Float),
    number("float4_e2m1fn", '\0', 1, Class::Float),
];

/// The units of time of numpy.
pub(crate) const UNITS: [&str; 14] = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"];

impl Dtype {
    /// The size of an element in bytes; `None` for objects, and for structs beyond 64 bits.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number.size),
            Self::Time { .. } => Some(8),
            Self::Bytes(size) | Self::Raw(size) => Some(*size),
            Self::Text(len) => len.checked_mul(4),
            Self::Object => None,
            Self::Struct(fields) => fields
                .iter()
                .try_fold(0_u64, |sum, field| sum.checked_add(field.dtype.size()?.checked_mul(field.len()?)?)),
        }
    }

    /// Whether numpy has it by itself.
    pub(crate) fn is_of_numpy(&self) -> bool {
        match self {
            Self::Number(number) => number.letter != '\0',
            Self::Struct(fields) => fields.iter().all(|field| field.dtype.is_of_numpy()),
            _ => true,
        }
    }

    /// Whether elements consist of parts wider than a byte, so that they have a byte order.
    fn is_wide(&self) -> bool {
        match self {
            Self::Number(number) => number.size > 1,
            Self::Time { .. } | Self::Text(_) => true,
            Self::Bytes(_) | Self::Raw(_) | Self::Object => false,
            Self::Struct(fields) => fields.iter().any(|field| field.dtype.is_wide()),
        }
    }
}

impl Field {
    /// How many items the field has.
    pub(crate) fn len(&self) -> Option<u64> {
        self.shape.iter().try_fold(1_u64, |product, &length| product.checked_mul(length))
    }
}

impl Endian {
    /// The one byte order of all parts that have one; `None` if they differ.
    pub(crate) fn uniform(&self) -> Option<&'static str> {
        fn visit(endian: &Endian, seen: &mut [bool; 2]) {
            match endian {
                Endian::None => {}
                Endian::Little => seen[0] = true,
                Endian::Big => seen[1] = true,
                Endian::Fields(fields) => fields.iter().for_each(|field| visit(field, seen)),
            }
        }
        let mut seen = [false; 2];
        visit(self, &mut seen);
        match seen {
            [true, true] => None,
            [false, true] => Some("big"),
            _ => Some("little"),
        }
    }

    /// The form in the configuration of the codec `bytes`, member `field_endian`.
    fn to_value(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Little => Value::from("little"),
            Self::Big => Value::from("big"),
            Self::Fields(fields) => Value::Array(fields.iter().map(Self::to_value).collect()),
        }
    }

    /// The inverse of [`to_value`](Self::to_value).
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(Self::None),
            Value::String(word) if word == "little" => Some(Self::Little),
            Value::String(word) if word == "big" => Some(Self::Big),
            Value::Array(fields) => fields.iter().map(Self::from_value).collect::<Option<_>>().map(Self::Fields),
            _ => None,
        }
    }

    /// Little-endian for all parts that have a byte order.
    pub(crate) fn all_little(dtype: &Dtype) -> Self {
        Self::all(dtype, "little")
    }

    /// The byte order of the type if all its parts have the same, given as a word.
    pub(crate) fn all(dtype: &Dtype, word: &str) -> Self {
        match dtype {
            Dtype::Struct(fields) => Self::Fields(fields.iter().map(|field| Self::all(&field.dtype, word)).collect()),
            dtype if !dtype.is_wide() => Self::None,
            _ if word == "big" => Self::Big,
            _ => Self::Little,
        }
    }
}
