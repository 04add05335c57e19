//! The types of netCDF, and values of attributes.

use zarr_dtype::{DataType, FillValue};
use zarr_json::{Value, json};

use crate::cursor::text;

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NcType {
    Byte,
    Char,
    Short,
    Int,
    Float,
    Double,
    UByte,
    UShort,
    UInt,
    Int64,
    UInt64,
}

impl NcType {
    /// The type of a number in a header. Those above 6 are of CDF-5.
    pub(crate) fn of(number: u32, is_wide: bool) -> Option<Self> {
        const ALL: [NcType; 11] = [
            NcType::Byte,
            NcType::Char,
            NcType::Short,
            NcType::Int,
            NcType::Float,
            NcType::Double,
            NcType::UByte,
            NcType::UShort,
            NcType::UInt,
            NcType::Int64,
            NcType::UInt64,
        ];
        let known = if is_wide { &ALL[..] } else { &ALL[..6] };
        known.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
    }

    pub(crate) fn size(self) -> u64 {
        match self {
            Self::Byte | Self::Char | Self::UByte => 1,
            Self::Short | Self::UShort => 2,
            Self::Int | Self::Float | Self::UInt => 4,
            Self::Double | Self::Int64 | Self::UInt64 => 8,
        }
    }

    pub(crate) fn data_type(self) -> DataType {
        match self {
            Self::Byte => DataType::Int8,
            Self::Char => DataType::FixedBytes { len: 1 },
            Self::Short => DataType::Int16,
            Self::Int => DataType::Int32,
            Self::Float => DataType::Float32,
            Self::Double => DataType::Float64,
            Self::UByte => DataType::UInt8,
            Self::UShort => DataType::UInt16,
            Self::UInt => DataType::UInt32,
            Self::Int64 => DataType::Int64,
            Self::UInt64 => DataType::UInt64,
        }
    }

    /// The data type as documents have it.
    pub(crate) fn name(self) -> Value {
        Value::from(match self {
            Self::Byte => "int8",
            Self::Char => return json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 1}}),
            Self::Short => "int16",
            Self::Int => "int32",
            Self::Float => "float32",
            Self::Double => "float64",
            Self::UByte => "uint8",
            Self::UShort => "uint16",
            Self::UInt => "uint32",
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
        })
    }

    /// The value of elements that were never written, unless the variable has another one (`NC_FILL_*` in netcdf.h), big-endian.
    fn default_fill(self) -> Vec<u8> {
        const FLOAT: f32 = f32::from_bits(0x7cf0_0000);
        match self {
            Self::Byte => vec![0x81],
            Self::Char => vec![0],
            Self::Short => (-32_767_i16).to_be_bytes().to_vec(),
            Self::Int => (-2_147_483_647_i32).to_be_bytes().to_vec(),
            Self::Float => FLOAT.to_be_bytes().to_vec(),
            Self::Double => f64::from(FLOAT).to_be_bytes().to_vec(),
            Self::UByte => vec![u8::MAX],
            Self::UShort => u16::MAX.to_be_bytes().to_vec(),
            Self::UInt => u32::MAX.to_be_bytes().to_vec(),
            Self::Int64 => (-9_223_372_036_854_775_806_i64).to_be_bytes().to_vec(),
            Self::UInt64 => 18_446_744_073_709_551_614_u64.to_be_bytes().to_vec(),
        }
    }
}

/// Bytes of memory that a number in a document takes, about.
const NUMBER: u64 = 64;

/// An attribute: its elements are big-endian.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) nc_type: NcType,
    pub(crate) bytes: Vec<u8>,
}

impl Attribute {
    /// The element, native-endian, if there is one of this type.
    fn element(&self, nc_type: NcType) -> Option<FillValue> {
        let fits = self.nc_type == nc_type && self.bytes.len() as u64 == nc_type.size();
        if fits { element(nc_type, &self.bytes) } else { None }
    }

    /// Bytes of memory that its value takes, about.
    pub(crate) fn cost(&self) -> u64 {
        let len = self.bytes.len() as u64;
        let values = if self.nc_type == NcType::Char { len } else { len / self.nc_type.size() * NUMBER };
        values.saturating_add(self.name.len() as u64).saturating_add(NUMBER)
    }

    /// Its value: a text, a number, or a list of numbers.
    pub(crate) fn value(&self) -> Value {
        if self.nc_type == NcType::Char {
            // Some writers end a text with NUL, as C does, and count that as a part of it.
            let end = self.bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            return Value::from(text(self.bytes.get(..end).unwrap_or_default()));
        }
        let size = usize::try_from(self.nc_type.size()).unwrap_or(1);
        let mut numbers: Vec<Value> = self.bytes.chunks_exact(size).map(|bytes| number(self.nc_type, bytes)).collect();
        if numbers.len() == 1 { numbers.swap_remove(0) } else { Value::Array(numbers) }
    }
}

/// The attribute `_FillValue` of a variable of this type in the form of Zarr v3; `None` if it is no value of the type, and stays as it is.
pub(crate) fn fill_attribute(nc_type: NcType, attribute: &Attribute) -> Option<Value> {
    attribute.element(nc_type).map(|element| zarr_cf::fill::to_attribute(&nc_type.data_type(), &element))
}

/// The fill value of an array in its document.
pub(crate) fn fill_value(nc_type: NcType, attributes: &[Attribute]) -> Value {
    let own = attributes.iter().find(|attribute| attribute.name == zarr_cf::fill::FILL_VALUE);
    let own = own.and_then(|attribute| attribute.element(nc_type));
    let fill = own.or_else(|| element(nc_type, &nc_type.default_fill()));
    fill.map_or(Value::Null, |fill| fill.to_json(&nc_type.data_type()))
}

fn element(nc_type: NcType, bytes: &[u8]) -> Option<FillValue> {
    let mut native = bytes.to_vec();
    if cfg!(target_endian = "little") {
        native.reverse();
    }
    FillValue::from_bytes(&nc_type.data_type(), &native).ok()
}

/// A number, of as many bytes as the type has.
fn number(nc_type: NcType, bytes: &[u8]) -> Value {
    let unsigned = bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    // The bits above the number are copies of its sign.
    let unused = 64 - 8 * u32::try_from(bytes.len()).unwrap_or(8).min(8);
    let signed = (unsigned << unused).cast_signed() >> unused;
    match nc_type {
        NcType::Byte | NcType::Short | NcType::Int | NcType::Int64 => Value::from(signed),
        NcType::Char | NcType::UByte | NcType::UShort | NcType::UInt | NcType::UInt64 => Value::from(unsigned),
        NcType::Float => Value::from(f64::from(f32::from_bits(u32::try_from(unsigned).unwrap_or(0)))),
        NcType::Double => Value::from(f64::from_bits(unsigned)),
    }
}
