//! Layout of elements in memory: the only facts about elements that codecs may depend on.

use crate::Error;
use std::sync::Arc;

/// Number in memory, in the byte order of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scalar {
    /// Bool: one byte, 0 or 1.
    Bool,
    /// Signed integer of two bits, sign-extended to one byte.
    I2,
    /// Signed integer of four bits, sign-extended to one byte.
    I4,
    /// Signed integer of 8 bits, two's complement.
    I8,
    /// Signed integer of 16 bits, two's complement.
    I16,
    /// Signed integer of 32 bits, two's complement.
    I32,
    /// Signed integer of 64 bits, two's complement.
    I64,
    /// Unsigned integer of two bits, in one byte whose upper bits are 0.
    U2,
    /// Unsigned integer of four bits, in one byte whose upper bits are 0.
    U4,
    /// Unsigned integer of 8 bits.
    U8,
    /// Unsigned integer of 16 bits.
    U16,
    /// Unsigned integer of 32 bits.
    U32,
    /// Unsigned integer of 64 bits.
    U64,
    /// Float of 16 bits: IEEE 754 binary16.
    F16,
    /// bfloat16: the upper half of an IEEE 754 binary32.
    BF16,
    /// Float of 32 bits: IEEE 754 binary32.
    F32,
    /// Float of 64 bits: IEEE 754 binary64.
    F64,
}

impl Scalar {
    /// Returns the size in memory, in bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::I2 | Self::I4 | Self::I8 | Self::U2 | Self::U4 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Returns the least and the greatest value of an integer type; `None` for bools and floats.
    pub fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::I2 => (-2, 1),
            Self::I4 => (-8, 7),
            Self::I8 => (i8::MIN.into(), i8::MAX.into()),
            Self::I16 => (i16::MIN.into(), i16::MAX.into()),
            Self::I32 => (i32::MIN.into(), i32::MAX.into()),
            Self::I64 => (i64::MIN.into(), i64::MAX.into()),
            Self::U2 => (0, 3),
            Self::U4 => (0, 15),
            Self::U8 => (0, u8::MAX.into()),
            Self::U16 => (0, u16::MAX.into()),
            Self::U32 => (0, u32::MAX.into()),
            Self::U64 => (0, u64::MAX.into()),
            Self::Bool | Self::F16 | Self::BF16 | Self::F32 | Self::F64 => return None,
        })
    }

    /// Returns the integer value of `item`, one scalar in memory form; `None` for bools, floats and bytes of another size.
    pub fn integer(self, item: &[u8]) -> Option<i128> {
        let (least, _) = self.range().filter(|_| item.len() == self.size())?;
        let digit = |value: i128, byte: &u8| value << 8 | i128::from(*byte);
        let is_big = cfg!(target_endian = "big");
        let value = if is_big { item.iter().fold(0, digit) } else { item.iter().rev().fold(0, digit) };
        let unused = i128::BITS - u32::try_from(8 * item.len()).ok()?;
        // The shifts bring the sign where that of the wide integer is, and back.
        Some(if least < 0 { value << unused >> unused } else { value })
    }

    /// Returns whether every bit pattern of [`size`](Self::size) bytes is a value in memory form, so that [`normalize`](Self::normalize)
    /// and [`check`](Self::check) do nothing.
    pub const fn takes_any_bits(self) -> bool {
        !matches!(self, Self::Bool | Self::I2 | Self::I4 | Self::U2 | Self::U4)
    }

    /// Converts bytes that were just decoded to memory form. The format ignores unused upper bits of two- and four-bit integers; here they
    /// are set to the sign or to 0. For types in which any bits are a value this does nothing.
    ///
    /// # Errors
    /// [`Error::Item`] for a bool that is neither 0 nor 1; its index counts scalars from the start of `bytes`.
    pub fn normalize(self, bytes: &mut [u8]) -> Result<(), Error> {
        let extend = |unused: u32, bytes: &mut [u8]| {
            bytes.iter_mut().for_each(|byte| *byte = ((byte.cast_signed() << unused) >> unused).cast_unsigned());
        };
        match self {
            Self::I2 => extend(6, bytes),
            Self::I4 => extend(4, bytes),
            Self::U2 => bytes.iter_mut().for_each(|byte| *byte &= 0x03),
            Self::U4 => bytes.iter_mut().for_each(|byte| *byte &= 0x0f),
            _ => self.check(bytes)?,
        }
        Ok(())
    }

    /// Checks that `bytes`, which a caller made, are in memory form. Used before encoding.
    ///
    /// # Errors
    /// [`Error::Item`] for a bool that is neither 0 nor 1 and for a two- or four-bit integer out of range; its index counts scalars from
    /// the start of `bytes`.
    pub fn check(self, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Self::Bool => all_below(bytes, "a bool: 0x00 or 0x01", 2, 0),
            Self::I2 => all_below(bytes, "an int2: -2 to 1", 4, 2),
            Self::I4 => all_below(bytes, "an int4: -8 to 7", 16, 8),
            Self::U2 => all_below(bytes, "a uint2: 0 to 3", 4, 0),
            Self::U4 => all_below(bytes, "a uint4: 0 to 15", 16, 0),
            _ => Ok(()),
        }
    }
}

/// Checks that each of `bytes`, plus `shift`, is below `limit`, a power of two. The error has the index of the first byte that is not.
fn all_below(bytes: &[u8], expected: &str, limit: u8, shift: u8) -> Result<(), Error> {
    // Bad bytes are rare: all are judged at once by the bits that any of them has, which takes vector instructions.
    let bits = bytes.iter().fold(0, |bits, byte| bits | byte.wrapping_add(shift));
    if bits < limit {
        return Ok(());
    }
    match bytes.iter().enumerate().find(|(_, byte)| byte.wrapping_add(shift) >= limit) {
        Some((index, byte)) => {
            Err(Error::Item { index, found: format!("byte {byte:#04x}"), expected: expected.to_owned() })
        }
        None => Ok(()),
    }
}

/// Layout of the elements of a data type in memory, always in the byte order of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// `count` scalars side by side: complex64 is two `F32`, a date one `I64`, a string of fixed length one `U32` for each code point.
    Fixed {
        /// Type of each scalar of an element.
        scalar: Scalar,
        /// Number of scalars in one element.
        count: u32,
    },
    /// Bytes without a byte order.
    Bytes {
        /// Size of one element in bytes.
        size: u32,
    },
    /// [`HeapRef`](crate::HeapRef) into a [`Heap`](crate::Heap) with the content.
    Variable {
        /// Whether the content is a UTF-8 string.
        utf8: bool,
    },
    /// Fields side by side, without gaps.
    Struct {
        /// Fields of the struct, in memory order.
        fields: Arc<[FieldLayout]>,
        /// Size of one element in bytes.
        size: usize,
    },
}

/// Layout of a field of a struct in each element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldLayout {
    /// Offset of the field in the element, in bytes.
    pub offset: usize,
    /// Layout of each value of the field, never of variable length.
    pub layout: Layout,
    /// Number of values side by side: 1, or more for a field that is an array.
    pub count: usize,
}

impl FieldLayout {
    /// Returns the size of all values of the field in bytes.
    pub fn size(&self) -> usize {
        self.layout.item_size().saturating_mul(self.count)
    }

    /// Returns the range of the field in the bytes of an element.
    fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset.saturating_add(self.size())
    }
}

impl Layout {
    /// Returns the size of one element in memory, in bytes; 16 for elements of variable length.
    pub fn item_size(&self) -> usize {
        match *self {
            Self::Fixed { scalar, count } => scalar.size().saturating_mul(to_usize(count)),
            Self::Bytes { size } => to_usize(size),
            Self::Variable { .. } => crate::HeapRef::SIZE,
            Self::Struct { size, .. } => size,
        }
    }

    /// Returns the scalar that elements consist of; `None` unless all parts are scalars of one type.
    pub fn scalar(&self) -> Option<Scalar> {
        if let Self::Fixed { scalar, .. } = self { Some(*scalar) } else { None }
    }

    /// Returns whether elements are references into a heap.
    pub fn is_variable(&self) -> bool {
        matches!(self, Self::Variable { .. })
    }

    /// Returns whether any bytes of the right size are an element in memory form, so that [`normalize`](Self::normalize) and
    /// [`check`](Self::check) do nothing.
    pub fn takes_any_bits(&self) -> bool {
        match self {
            Self::Fixed { scalar, .. } => scalar.takes_any_bits(),
            Self::Bytes { .. } | Self::Variable { .. } => true,
            Self::Struct { fields, .. } => fields.iter().all(|field| field.layout.takes_any_bits()),
        }
    }

    /// Returns whether elements have parts wider than a byte, so that stored elements have a byte order.
    pub fn has_byte_order(&self) -> bool {
        match self {
            Self::Fixed { scalar, .. } => scalar.size() > 1,
            Self::Bytes { .. } | Self::Variable { .. } => false,
            Self::Struct { fields, .. } => fields.iter().any(|field| field.layout.has_byte_order()),
        }
    }

    /// Converts elements that were just decoded to memory form, see [`Scalar::normalize`].
    ///
    /// # Errors
    /// [`Error::Item`] as from [`Scalar::normalize`]; its index counts elements.
    pub fn normalize(&self, items: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Fixed { scalar, .. } => scalar.normalize(items).map_err(|error| self.in_elements(error)),
            Self::Struct { fields, size } if !self.takes_any_bits() => {
                for (index, item) in items.chunks_exact_mut((*size).max(1)).enumerate() {
                    for field in fields.iter().filter(|field| !field.layout.takes_any_bits()) {
                        let part = item.get_mut(field.range()).unwrap_or_default();
                        field.layout.normalize(part).map_err(|error| at(index, error))?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Checks that elements are in memory form, see [`Scalar::check`].
    ///
    /// # Errors
    /// [`Error::Item`] as from [`Scalar::check`]; its index counts elements.
    pub fn check(&self, items: &[u8]) -> Result<(), Error> {
        match self {
            Self::Fixed { scalar, .. } => scalar.check(items).map_err(|error| self.in_elements(error)),
            Self::Struct { fields, size } if !self.takes_any_bits() => {
                for (index, item) in items.chunks_exact((*size).max(1)).enumerate() {
                    for field in fields.iter().filter(|field| !field.layout.takes_any_bits()) {
                        let part = item.get(field.range()).unwrap_or_default();
                        field.layout.check(part).map_err(|error| at(index, error))?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn in_elements(&self, mut error: Error) -> Error {
        if let (Error::Item { index, .. }, Self::Fixed { count, .. }) = (&mut error, self) {
            *index = index.checked_div(to_usize(*count)).unwrap_or(*index);
        }
        error
    }
}

/// Sets the index of an error about a part of an element to that of the element.
pub(crate) fn at(index: usize, mut error: Error) -> Error {
    if let Error::Item { index: position, .. } = &mut error {
        *position = index;
    }
    error
}

/// Converts a size, which saturates on machines with less than 32 bits; they could not hold such an element.
pub(crate) fn to_usize(size: u32) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}
