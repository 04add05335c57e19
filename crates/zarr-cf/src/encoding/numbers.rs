//! Types of numbers by data type, for [packing](crate::packed).

use super::{Encoding, with_sign};
use crate::AttributeError;
use crate::packed::{Packer, Unpacker};
use zarr_dtype::{DataType, Layout, Scalar};

/// Returns the scalar of numbers, and their number of parts: 2 for complex numbers, else 1. `None` for other elements, and for bfloat16 and
/// small floats.
fn numbers(data_type: &DataType) -> Option<(Scalar, usize)> {
    let data_type = data_type.storage();
    let is_small = matches!(data_type, DataType::SmallFloat(_) | DataType::SmallComplex(_));
    match data_type.layout() {
        Layout::Fixed { scalar, count: count @ (1 | 2) } if !is_small && scalar != Scalar::BF16 => {
            data_type.class().map(|_| (scalar, count as usize))
        }
        _ => None,
    }
}

/// Returns the scalar of real numbers and bools, which can be written; `None` for other elements.
#[must_use]
pub fn number(data_type: &DataType) -> Option<Scalar> {
    numbers(data_type).filter(|(_, parts)| *parts == 1).map(|(scalar, _)| scalar)
}

impl Encoding {
    /// Returns the conversion from elements of `data_type` to values; `None` if the elements are no numbers.
    ///
    /// # Errors
    /// Fails for complex numbers with a scale factor or an offset.
    pub fn unpacker(&self, data_type: &DataType) -> Result<Option<Unpacker>, AttributeError> {
        let Some((scalar, parts)) = numbers(data_type).filter(|(scalar, _)| *scalar != Scalar::Bool) else {
            return Ok(None);
        };
        for (name, factor) in [("scale_factor", self.scale), ("add_offset", self.offset)] {
            if parts == 2 && factor.is_some() {
                return Err(AttributeError::of(name, "an array of complex numbers", "an array of real numbers"));
            }
        }
        let stored = self.unsigned.map_or(scalar, |unsigned| with_sign(scalar, unsigned));
        Ok(Unpacker::new(stored, parts, &self.packed()))
    }

    /// Returns the conversion from values of type `values` to elements of `stored`, the inverse of [`unpacker`](Self::unpacker); `has_nat`
    /// as in [`Packer::new`]. `None` if the elements are no numbers.
    #[must_use]
    pub fn packer(&self, values: Scalar, has_nat: bool, stored: &DataType) -> Option<Packer> {
        let scalar = number(stored)?;
        let stored = self.unsigned.map_or(scalar, |unsigned| with_sign(scalar, unsigned));
        Packer::new(values, has_nat, stored, &self.packed())
    }
}

/// Returns the data type of values that `unpacker` makes from elements of type `stored`.
#[must_use]
pub fn unpacked(unpacker: &Unpacker, stored: &DataType) -> DataType {
    match unpacker.result() {
        result if Some(result) == stored.layout().scalar() => stored.clone(),
        Scalar::I8 => DataType::Int8,
        Scalar::I16 => DataType::Int16,
        Scalar::I32 => DataType::Int32,
        Scalar::I64 => DataType::Int64,
        Scalar::U8 => DataType::UInt8,
        Scalar::U16 => DataType::UInt16,
        Scalar::U32 => DataType::UInt32,
        Scalar::U64 => DataType::UInt64,
        Scalar::F16 => DataType::Float16,
        Scalar::F32 => DataType::Float32,
        _ => DataType::Float64,
    }
}
