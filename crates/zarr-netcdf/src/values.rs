//! Data types of netCDF, and values of attributes.

use zarr_dtype::{DataType, FillValue};
use zarr_json::{Value, json};

use crate::cursor::text;

/// Data type of netCDF-3.
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
    /// Returns the type with this number in a header; `None` if there is none. Numbers above 6 are valid in CDF-5 only, if `is_wide`.
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

    /// Returns the data type as a document of Zarr v3 names it.
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

    /// Returns the big-endian bytes of elements that were never written, unless the variable has the attribute `_FillValue` (`NC_FILL_*` in
    /// netcdf.h).
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

/// Estimate of the memory in bytes of a number in a document.
const NUMBER: u64 = 64;

/// Attribute of a file or variable. The elements of `bytes` are big-endian.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) nc_type: NcType,
    pub(crate) bytes: Vec<u8>,
}

impl Attribute {
    /// Returns the value of an attribute that has one element of type `nc_type`; `None` for other attributes.
    fn element(&self, nc_type: NcType) -> Option<FillValue> {
        let fits = self.nc_type == nc_type && self.bytes.len() as u64 == nc_type.size();
        if fits { element(nc_type, &self.bytes) } else { None }
    }

    /// Estimates the memory in bytes of the attribute in a document.
    pub(crate) fn cost(&self) -> u64 {
        let len = self.bytes.len() as u64;
        let values = if self.nc_type == NcType::Char { len } else { len / self.nc_type.size() * NUMBER };
        values.saturating_add(self.name.len() as u64).saturating_add(NUMBER)
    }

    /// Returns the value of the attribute as JSON: a string, a number, or an array of numbers.
    pub(crate) fn value(&self) -> Value {
        if self.nc_type == NcType::Char {
            // Some writers end a string with NUL, as C does, and count the NUL as a part of the value.
            let end = self.bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            return Value::from(text(self.bytes.get(..end).unwrap_or_default()));
        }
        let size = usize::try_from(self.nc_type.size()).unwrap_or(1);
        let mut numbers: Vec<Value> = self.bytes.chunks_exact(size).map(|bytes| number(self.nc_type, bytes)).collect();
        if numbers.len() == 1 { numbers.swap_remove(0) } else { Value::Array(numbers) }
    }
}

/// Returns the attribute `_FillValue` of a variable of type `nc_type` in the form of Zarr v3; `None` if its value is not one element of
/// this type.
pub(crate) fn fill_attribute(nc_type: NcType, attribute: &Attribute) -> Option<Value> {
    attribute.element(nc_type).map(|element| zarr_cf::fill::to_attribute(&nc_type.data_type(), &element))
}

/// Returns the fill value of an array as its document contains it: the attribute `_FillValue`, or the default of the type.
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

/// Returns the JSON number of a big-endian element of type `nc_type`.
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
