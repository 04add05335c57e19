//! Integers and floats of Zarr: ranges and exact values.

use crate::number::Number;
use zarr_dtype::float::{BF16, F16, F32, F64, Format, OutOfRange, Rounding};
use zarr_dtype::{DataType, Scalar};

/// Type of real numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Real {
    Integer(Range),
    Float {
        format: Format,
        /// Size in memory, in bytes.
        size: usize,
    },
}

/// Range of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) scalar: Scalar,
    pub(crate) least: i128,
    pub(crate) most: i128,
}

/// Exact real number. Every float type here can be represented by float64.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Integer(i128),
    /// Float, which may be NaN or infinity.
    Float(f64),
}

impl Real {
    /// Returns the number type of a data type; `None` if its elements are no real numbers.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        let integers = |scalar: Scalar, bits: u32, signed: bool| {
            let most = (1 << if signed { bits - 1 } else { bits }) - 1;
            Self::Integer(Range { scalar, least: if signed { -1 - most } else { 0 }, most })
        };
        let float = |format: Format, size: usize| Self::Float { format, size };
        Some(match data_type {
            DataType::Int2 => integers(Scalar::I2, 2, true),
            DataType::Int4 => integers(Scalar::I4, 4, true),
            DataType::Int8 => integers(Scalar::I8, 8, true),
            DataType::Int16 => integers(Scalar::I16, 16, true),
            DataType::Int32 => integers(Scalar::I32, 32, true),
            DataType::Int64 => integers(Scalar::I64, 64, true),
            DataType::UInt2 => integers(Scalar::U2, 2, false),
            DataType::UInt4 => integers(Scalar::U4, 4, false),
            DataType::UInt8 => integers(Scalar::U8, 8, false),
            DataType::UInt16 => integers(Scalar::U16, 16, false),
            DataType::UInt32 => integers(Scalar::U32, 32, false),
            DataType::UInt64 => integers(Scalar::U64, 64, false),
            DataType::SmallFloat(small) => float(small.format(), 1),
            DataType::Float16 => float(F16, 2),
            DataType::BFloat16 => float(BF16, 2),
            DataType::Float32 => float(F32, 4),
            DataType::Float64 => float(F64, 8),
            _ => return None,
        })
    }

    /// Returns the size of a number in memory, in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Integer(range) => range.scalar.size(),
            Self::Float { size, .. } => *size,
        }
    }

    /// Returns the value of an element.
    #[inline(always)]
    pub(crate) fn load(&self, item: &[u8]) -> Value {
        match self {
            Self::Integer(range) => Value::Integer(range.load(item)),
            Self::Float { format, size } => Value::Float(match size {
                1 => format.value(u8::load(item).into()),
                2 => format.value(u16::load(item).into()),
                4 => f32::load(item).into(),
                _ => f64::load(item),
            }),
        }
    }

    /// Writes the bits of a number as an element.
    #[inline(always)]
    pub(crate) fn store(&self, bits: u64, item: &mut [u8]) {
        match self.size() {
            1 => (bits as u8).store(item),
            2 => (bits as u16).store(item),
            4 => (bits as u32).store(item),
            _ => bits.store(item),
        }
    }
}

impl Range {
    #[inline(always)]
    pub(crate) fn load(&self, item: &[u8]) -> i128 {
        match self.scalar {
            Scalar::I2 | Scalar::I4 | Scalar::I8 => i8::load(item).into(),
            Scalar::I16 => i16::load(item).into(),
            Scalar::I32 => i32::load(item).into(),
            Scalar::I64 => i64::load(item).into(),
            Scalar::U16 => u16::load(item).into(),
            Scalar::U32 => u32::load(item).into(),
            Scalar::U64 => u64::load(item).into(),
            _ => u8::load(item).into(),
        }
    }

    /// Returns whether the type has this number.
    #[inline(always)]
    pub(crate) fn contains(&self, value: i128) -> bool {
        self.least <= value && value <= self.most
    }

    /// Returns the number of the type that differs from `value` by a multiple of the number of values of the type.
    pub(crate) fn wrap(&self, value: i128) -> i128 {
        self.least + value.wrapping_sub(self.least).rem_euclid(self.most - self.least + 1)
    }
}

impl Value {
    /// Returns whether both are the same number; all NaNs are the same, and both zeros are.
    pub(crate) fn same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            _ => false,
        }
    }

    /// Returns the nearest float64, for sign and magnitude.
    pub(crate) fn approximate(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// Returns the bits in `format`; the value must not be NaN.
    pub(crate) fn round(self, format: Format, rounding: Rounding) -> Result<u64, OutOfRange> {
        match self {
            Self::Float(value) => format.round(value, rounding),
            Self::Integer(value) => {
                // Integers of all types here have at most 64 bits.
                format.round_exact(value < 0, value.unsigned_abs() as u64, 0, rounding)
            }
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
        }
    }
}
