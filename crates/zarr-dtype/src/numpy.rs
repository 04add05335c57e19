//! Types of numpy as type strings and lists of fields: `<f8`, `|S10`, `>M8[25s]`, `[["a", "<i4"], ["b", "<f8", [2, 2]]]`.

mod config;
mod parse;
mod print;

pub use parse::NumpyTypeError;

use crate::{ByteOrder, Class, DataType, TimeUnit};

/// Type of numpy without its byte order, or a type that TensorStore 0.1 adds to Zarr v2.
///
/// It covers more than [`DataType`], as documents do: elements may have any size, even 0, and the type of objects depends on a codec.
/// [`to_config`](Self::to_config) returns the name of the data type; [`DataType::from_config`] checks the limits.
///
/// ```
/// use zarr_dtype::{ByteOrder, DataType, NumpyType};
/// use zarr_json::{json, pointer::At};
///
/// let (numpy, order) = NumpyType::parse(&At::root(&json!(">f4"))).expect("a type string");
/// assert_eq!((&numpy, &order), (&NumpyType::Number(DataType::Float32), &ByteOrder::Big));
/// assert_eq!(numpy.to_config().name, "float32");
/// assert_eq!(numpy.to_value(&order), json!(">f4"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum NumpyType {
    /// Number or bool, with its data type.
    Number(DataType),
    /// Point in time (`M8`) or duration (`m8`).
    Time {
        /// Whether it is a duration.
        is_span: bool,
        /// Unit in which time is counted.
        unit: TimeUnit,
    },
    /// Byte string (`S`), with its size in bytes.
    Bytes(u64),
    /// String (`U`), with its length in code points.
    Text(u64),
    /// Raw bytes (`V`), with the size in bytes.
    Raw(u64),
    /// Objects (`O`), whose type depends on a codec.
    Object,
    /// Struct, with its fields.
    Struct(Vec<NumpyField>),
}

/// Field of a numpy struct.
#[derive(Clone, Debug, PartialEq)]
pub struct NumpyField {
    /// Name of the field.
    pub name: String,
    /// Type of the field, or of its inner elements if the field is an array.
    pub numpy: NumpyType,
    /// Shape if the field is an array; empty if not.
    pub shape: Vec<u64>,
}

impl NumpyType {
    /// Returns the size of an element in bytes; `None` for objects, and for sizes beyond 64 bits.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Number(number) => u64::try_from(number.item_size()).ok(),
            Self::Time { .. } => Some(8),
            Self::Bytes(size) | Self::Raw(size) => Some(*size),
            Self::Text(len) => len.checked_mul(4),
            Self::Object => None,
            Self::Struct(fields) => fields
                .iter()
                .try_fold(0_u64, |sum, field| sum.checked_add(field.numpy.size()?.checked_mul(field.count()?)?)),
        }
    }

    /// Returns the class of the values; `None` if they are neither numbers nor bools.
    pub fn class(&self) -> Option<Class> {
        if let Self::Number(number) = self { number.class() } else { None }
    }

    /// Returns whether the type is built into numpy.
    pub fn is_of_numpy(&self) -> bool {
        match self {
            Self::Number(number) => letter(number).is_some(),
            Self::Struct(fields) => fields.iter().all(|field| field.numpy.is_of_numpy()),
            _ => true,
        }
    }

    /// Returns whether elements have parts wider than a byte, so that they have a byte order.
    pub fn has_byte_order(&self) -> bool {
        match self {
            Self::Number(number) => number.item_size() > 1,
            Self::Time { .. } | Self::Text(_) => true,
            Self::Bytes(_) | Self::Raw(_) | Self::Object => false,
            Self::Struct(fields) => fields.iter().any(|field| field.numpy.has_byte_order()),
        }
    }

    /// Returns the byte order of elements of this type if all parts with a byte order have `order`.
    pub fn all_in(&self, order: &ByteOrder) -> ByteOrder {
        match self {
            Self::Struct(fields) => ByteOrder::Fields(fields.iter().map(|field| field.numpy.all_in(order)).collect()),
            _ if self.has_byte_order() => order.clone(),
            _ => ByteOrder::Irrelevant,
        }
    }
}

impl NumpyField {
    /// Returns the number of values in the field: 1, or the number of inner elements if it is an array; `None` beyond 64 bits.
    pub fn count(&self) -> Option<u64> {
        self.shape.iter().try_fold(1_u64, |product, &length| product.checked_mul(length))
    }
}

/// Numbers that numpy has, each with its letter.
const NUMBERS: &[(char, DataType)] = &[
    ('b', DataType::Bool),
    ('i', DataType::Int8),
    ('i', DataType::Int16),
    ('i', DataType::Int32),
    ('i', DataType::Int64),
    ('u', DataType::UInt8),
    ('u', DataType::UInt16),
    ('u', DataType::UInt32),
    ('u', DataType::UInt64),
    ('f', DataType::Float16),
    ('f', DataType::Float32),
    ('f', DataType::Float64),
    ('c', DataType::Complex64),
    ('c', DataType::Complex128),
];

/// Returns numpy's letter for a number; `None` for numbers that numpy lacks.
fn letter(number: &DataType) -> Option<char> {
    NUMBERS.iter().find(|(_, known)| known == number).map(|(letter, _)| *letter)
}
