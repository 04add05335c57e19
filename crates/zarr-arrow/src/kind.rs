//! Arrow types of Zarr data types.

use crate::schema::Field;
use crate::{Error, ErrorKind, Result};
use std::ops::Range;
use zarr_dtype::{DataType, TimeUnit, Unit};

/// Kind of arrays of Arrow that elements of a data type become.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Elements that Arrow has in the same bytes, with the format of their type.
    Same(String),
    /// Floats that may be NaN, which Arrow has in the same bytes.
    Float(Float),
    /// Floats that become float32.
    Widened(DataType),
    /// Bools, which become bits.
    Bool,
    /// Times or time spans: the format of the type, and the number by which a count is multiplied.
    Time { format: &'static str, factor: i64 },
    /// Strings (`is_text`) or bytes of any length, as views into the blocks that they were decoded to (`is_view`), or one after another.
    Variable { is_text: bool, is_view: bool },
    /// Bytes that end with NULs.
    FixedBytes,
    /// Strings of code points that end with NULs.
    FixedUtf32,
    /// Elements that become text, as they are printed.
    Printed(DataType),
    /// Fields with their names and places in an element, and the data type of complex numbers, which are null where both parts are NaN.
    Fields { fields: Vec<(String, Range<usize>, Kind)>, complex: Option<DataType> },
    /// Lists of this many elements.
    List(usize, Box<Kind>),
    /// Elements that are null if their byte at `present` is 0, with the place of the value.
    Optional { present: usize, place: Range<usize>, kind: Box<Kind> },
}

/// Size of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Float {
    Half,
    Single,
    Double,
}

/// Names of the data type of elements that may be missing: structs of a bool, which is false for missing elements, and a value.
const OPTIONAL: [&str; 2] = ["optional", "zarrs.optional"];

impl Kind {
    /// Returns the kind of arrays for a data type.
    ///
    /// # Errors
    /// [`ErrorKind::NotExpressible`] for a data type without a type of Arrow.
    pub(crate) fn of(data_type: &DataType) -> Result<Self> {
        if zarr_dataset::calendar_of(data_type).is_some() {
            return Ok(Self::Printed(data_type.clone()));
        }
        if let DataType::Extension(extension) = data_type {
            return match extension.config().name.as_str() {
                name if OPTIONAL.contains(&name) => Self::optional(data_type),
                _ => Self::of(data_type.storage()),
            };
        }
        let same = |format: &str| Ok(Self::Same(format.to_owned()));
        match data_type {
            DataType::Bool => Ok(Self::Bool),
            DataType::Int2 | DataType::Int4 | DataType::Int8 => same("c"),
            DataType::Int16 => same("s"),
            DataType::Int32 => same("i"),
            DataType::Int64 => same("l"),
            DataType::UInt2 | DataType::UInt4 | DataType::UInt8 => same("C"),
            DataType::UInt16 => same("S"),
            DataType::UInt32 => same("I"),
            DataType::UInt64 => same("L"),
            DataType::Float16 => Ok(Self::Float(Float::Half)),
            DataType::Float32 => Ok(Self::Float(Float::Single)),
            DataType::Float64 => Ok(Self::Float(Float::Double)),
            DataType::BFloat16 | DataType::SmallFloat(_) => Ok(Self::Widened(data_type.clone())),
            DataType::ComplexFloat16 => Self::complex(data_type, &DataType::Float16),
            DataType::ComplexBFloat16 => Self::complex(data_type, &DataType::BFloat16),
            DataType::Complex64 => Self::complex(data_type, &DataType::Float32),
            DataType::Complex128 => Self::complex(data_type, &DataType::Float64),
            DataType::SmallComplex(float) => Self::complex(data_type, &DataType::SmallFloat(*float)),
            DataType::RawBits(len) | DataType::RawBytes { len } => same(&format!("w:{len}")),
            DataType::FixedBytes { .. } => Ok(Self::FixedBytes),
            DataType::FixedUtf32 { .. } => Ok(Self::FixedUtf32),
            DataType::DateTime64(unit) => Self::time(data_type, *unit, ["tss:", "tsm:", "tsu:", "tsn:"]),
            DataType::TimeDelta64(unit) => Self::time(data_type, *unit, ["tDs", "tDm", "tDu", "tDn"]),
            DataType::String | DataType::Object => Ok(Self::Variable { is_text: true, is_view: true }),
            DataType::Bytes { .. } => Ok(Self::Variable { is_text: false, is_view: true }),
            DataType::Struct(fields) => {
                let mut kinds = Vec::new();
                for (place, field) in fields.placed() {
                    let mut kind = Self::of(&field.data_type).map_err(|error| {
                        Error::new(error.kind(), format!("field {}: {}", field.name, error.message()))
                    })?;
                    for &len in field.shape.iter().rev() {
                        kind = Self::List(usize::try_from(len).unwrap_or(usize::MAX), Box::new(kind));
                    }
                    kinds.push((field.name.clone(), place, kind));
                }
                Ok(Self::Fields { fields: kinds, complex: None })
            }
            _ => Err(unsupported(data_type)),
        }
    }

    /// Returns the kind of arrays for elements that repeat: their strings follow each other, since few programs have views in dictionaries
    /// and runs.
    pub(crate) fn repeated(self) -> Self {
        match self {
            Self::Variable { is_text, .. } => Self::Variable { is_text, is_view: false },
            other => other,
        }
    }

    fn optional(data_type: &DataType) -> Result<Self> {
        let DataType::Struct(fields) = data_type.storage() else { return Err(unsupported(data_type)) };
        let mut placed = fields.placed();
        match (placed.next(), placed.next(), placed.next()) {
            (Some((present, _)), Some((place, value)), None) if value.shape.is_empty() => {
                let kind = Box::new(Self::of(&value.data_type)?);
                Ok(Self::Optional { present: present.start, place, kind })
            }
            _ => Err(unsupported(data_type)),
        }
    }

    fn complex(data_type: &DataType, part: &DataType) -> Result<Self> {
        let (size, kind) = (part.item_size(), Self::of(part)?);
        let fields = vec![("real".to_owned(), 0..size, kind.clone()), ("imag".to_owned(), size..2 * size, kind)];
        Ok(Self::Fields { fields, complex: Some(data_type.clone()) })
    }

    fn time(data_type: &DataType, unit: TimeUnit, formats: [&'static str; 4]) -> Result<Self> {
        let [seconds, milliseconds, microseconds, nanoseconds] = formats;
        let (format, factor) = match unit.unit {
            Unit::Week => (seconds, 7 * 86_400),
            Unit::Day => (seconds, 86_400),
            Unit::Hour => (seconds, 3_600),
            Unit::Minute => (seconds, 60),
            Unit::Second => (seconds, 1),
            Unit::Millisecond => (milliseconds, 1),
            Unit::Microsecond => (microseconds, 1),
            Unit::Nanosecond => (nanoseconds, 1),
            _ => return Err(unsupported(data_type)),
        };
        Ok(Self::Time { format, factor: factor * i64::from(unit.scale) })
    }

    /// Returns the name and the type of a column, or of a field, called `name`.
    pub(crate) fn field(&self, name: &str, may_miss: bool) -> Field {
        match self {
            Self::Same(format) => Field::new(name, format, may_miss),
            Self::Float(Float::Half) => Field::new(name, "e", true),
            Self::Float(Float::Single) | Self::Widened(_) => Field::new(name, "f", true),
            Self::Float(Float::Double) => Field::new(name, "g", true),
            Self::Bool => Field::new(name, "b", may_miss),
            Self::Time { format, .. } => Field::new(name, *format, true),
            Self::Variable { is_text: true, is_view: true } => Field::new(name, "vu", true),
            Self::Variable { is_text: false, is_view: true } => Field::new(name, "vz", true),
            Self::FixedBytes | Self::Variable { is_text: false, .. } => Field::new(name, "Z", true),
            Self::Variable { .. } | Self::FixedUtf32 | Self::Printed(_) => Field::new(name, "U", true),
            Self::Fields { fields, .. } => {
                let mut field = Field::new(name, "+s", true);
                field.children = fields.iter().map(|(name, _, kind)| kind.field(name, false)).collect();
                field
            }
            Self::List(len, kind) => {
                let mut field = Field::new(name, format!("+w:{len}"), false);
                field.children = vec![kind.field("item", false)];
                field
            }
            Self::Optional { kind, .. } => Field { is_nullable: true, ..kind.field(name, true) },
        }
    }

    /// Whether elements may be missing: numbers that are no floats always have a value.
    pub(crate) fn may_miss(&self) -> bool {
        !matches!(self, Self::Same(format) if !format.starts_with("w:"))
    }

    /// Estimated number of bytes of an element of `item_size` bytes, with what it becomes.
    pub(crate) fn bytes_per_element(&self, item_size: usize) -> u64 {
        let item = item_size as u64;
        match self {
            Self::Same(_) | Self::Float(_) => item,
            Self::Time { factor: 1, .. } => item,
            Self::Variable { .. } => 32 + item,
            Self::Printed(_) => item + 40,
            _ => item + item + 8,
        }
    }
}

fn unsupported(data_type: &DataType) -> Error {
    let name = zarr_dataset::type_name(data_type);
    Error::new(ErrorKind::NotExpressible, format!("found values of data type {name}, which have no type of Arrow here"))
}
