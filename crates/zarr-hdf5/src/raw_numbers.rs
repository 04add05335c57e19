//! Checks of the numbers in an encoded data type: formats that `hdf5_reader` does not tell apart are refused.

use zarr_dtype::DataType;

use crate::fault::Refusal;

/// Supported float formats: number of bytes; bit position of the exponent, bits of the exponent, bits of the mantissa; bias; data type.
const FLOATS: [(u32, [u8; 3], u32, DataType); 4] = [
    (2, [10, 5, 10], 15, DataType::Float16),
    (2, [7, 8, 7], 127, DataType::BFloat16),
    (4, [23, 8, 23], 127, DataType::Float32),
    (8, [52, 11, 52], 1023, DataType::Float64),
];

/// Refuses the encoded data type `raw` if it contains, at any depth, an integer that does not use all its bits or a float of an unsupported
/// format.
pub(crate) fn check_numbers(raw: &[u8]) -> Result<(), Refusal> {
    check_within(raw, 0)?.map(drop).ok_or_else(|| Refusal::new("the description of its data type is cut off"))
}

/// Maximum nesting depth of data types, as in `hdf5_reader`.
const MAX_DEPTH: usize = 33;

/// Checks the encoded data type at the beginning of `raw`. Returns the bytes that follow it; `None` if it is cut off.
fn check_within(raw: &[u8], depth: usize) -> Result<Option<&[u8]>, Refusal> {
    let (Some((&class, _)), Some(size), Some(rest)) = (raw.split_first(), u32_at(raw, 4), raw.get(8..)) else {
        return Ok(None);
    };
    if depth > MAX_DEPTH {
        return Err(Refusal::new(format!("its data type is deeper than {MAX_DEPTH} types in each other")));
    }
    let (version, members) = (class >> 4, u16_at(raw, 1).map_or(0, usize::from));
    Ok(match class & 15 {
        0 | 4 => {
            if u16_at(rest, 0) != Some(0) || u16_at(rest, 2).map(u32::from) != size.checked_mul(8) {
                let bits = u16_at(rest, 2).unwrap_or_default();
                return Err(Refusal::new(format!("integers of {bits} bits in {size} bytes are not read")));
            }
            rest.get(4..)
        }
        1 => {
            if known_float(raw)? == DataType::BFloat16 {
                return Err(Refusal::new("bfloat16 in other types and in attributes is not read"));
            }
            rest.get(12..)
        }
        2 => rest.get(2..),
        3 | 7 => Some(rest),
        5 => rest.get(raw.get(1).map_or(0, |len| usize::from(*len)).next_multiple_of(8)..),
        6 => {
            let mut left = Some(rest);
            for _ in 0..members {
                let width = match (version, size) {
                    (0..3, _) | (_, 0x100_0000..) => 4,
                    (_, 0..0x100) => 1,
                    (_, 0x100..0x1_0000) => 2,
                    _ => 3,
                };
                let of_dimensions = if version == 1 { 28 } else { 0 };
                let behind = left.and_then(|left| behind_name(left, version)?.split_at_checked(width + of_dimensions));
                let Some((before, member)) = behind else { return Ok(None) };
                if before.get(width).is_some_and(|dimensions| *dimensions > 0) {
                    return Err(Refusal::new("fields that have dimensions in the form of old versions are not read"));
                }
                left = check_within(member, depth + 1)?;
            }
            left
        }
        8 => {
            let mut left = check_within(rest, depth + 1)?;
            for _ in 0..members {
                left = left.and_then(|left| behind_name(left, version));
            }
            let values = (size as usize).checked_mul(members);
            left.zip(values).and_then(|(left, values)| left.get(values..))
        }
        9 => check_within(rest, depth + 1)?,
        10 => {
            let Some(rank) = rest.first().map(|rank| usize::from(*rank)) else { return Ok(None) };
            let len = if version < 3 { 4 + 8 * rank } else { 1 + 4 * rank };
            let Some(base) = rest.get(len..) else { return Ok(None) };
            check_within(base, depth + 1)?
        }
        class => return Err(Refusal::new(format!("data types of class {class} are not read"))),
    })
}

/// Returns the bytes that follow the name of a member; versions before 3 pad the name to a multiple of 8 bytes.
fn behind_name(bytes: &[u8], version: u8) -> Option<&[u8]> {
    let len = bytes.iter().position(|byte| *byte == 0)? + 1;
    bytes.get(if version < 3 { len.next_multiple_of(8) } else { len }..)
}

pub(crate) fn known_float(raw: &[u8]) -> Result<DataType, Refusal> {
    let size = u32_at(raw, 4).unwrap_or_default();
    let rest = raw.get(8..).unwrap_or_default();
    let is_whole = u16_at(rest, 0) == Some(0) && u16_at(rest, 2).map(u32::from) == size.checked_mul(8);
    let form = rest.get(4..8).map(|form| ([form[0], form[1], form[3]], form[2]));
    let bias = u32_at(rest, 8);
    let known = FLOATS.iter().find(|(bytes, known, known_bias, _)| {
        *bytes == size && form == Some((*known, 0)) && bias == Some(*known_bias) && is_whole
    });
    // Bit 6 is set in the order of the VAX alone.
    match known.filter(|_| raw.get(1).is_some_and(|flags| flags & 0x40 == 0)) {
        Some((.., data_type)) => Ok(data_type.clone()),
        None => Err(Refusal::new(format!("floats of {size} bytes that are not those of IEEE 754 are not read"))),
    }
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}
