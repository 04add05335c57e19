//! numpy's type strings, as the headers of `.npy` files have them.

mod structure;

pub use structure::{from_npy_value, npy_literal};

use crate::{ByteOrder, DataType, Error, TimeUnit, Unit};

/// numpy's type string for elements of `data_type` in little-endian order, such as `<f4`, `|b1`, `<M8[25s]`; `None` for
/// types that numpy lacks (bfloat16 and smaller floats, texts and bytes of variable length, extensions), and for structs,
/// which [`npy_literal`] spells.
///
/// Two- and four-bit integers lie in whole bytes, and are such to numpy.
pub fn npy_descr(data_type: &DataType) -> Option<String> {
    let time = |kind: char, time: &TimeUnit| match (time.unit, time.scale) {
        (Unit::Generic, _) => format!("<{kind}8"),
        (unit, 1) => format!("<{kind}8[{unit}]"),
        (unit, scale) => format!("<{kind}8[{scale}{unit}]"),
    };
    Some(match data_type {
        DataType::Bool => "|b1".to_owned(),
        DataType::Int2 | DataType::Int4 | DataType::Int8 => "|i1".to_owned(),
        DataType::Int16 => "<i2".to_owned(),
        DataType::Int32 => "<i4".to_owned(),
        DataType::Int64 => "<i8".to_owned(),
        DataType::UInt2 | DataType::UInt4 | DataType::UInt8 => "|u1".to_owned(),
        DataType::UInt16 => "<u2".to_owned(),
        DataType::UInt32 => "<u4".to_owned(),
        DataType::UInt64 => "<u8".to_owned(),
        DataType::Float16 => "<f2".to_owned(),
        DataType::Float32 => "<f4".to_owned(),
        DataType::Float64 => "<f8".to_owned(),
        DataType::Complex64 => "<c8".to_owned(),
        DataType::Complex128 => "<c16".to_owned(),
        DataType::RawBits(size) | DataType::RawBytes { len: size } => format!("|V{size}"),
        DataType::FixedBytes { len } => format!("|S{len}"),
        DataType::FixedUtf32 { len } => format!("<U{len}"),
        DataType::DateTime64(unit) => time('M', unit),
        DataType::TimeDelta64(unit) => time('m', unit),
        DataType::SmallFloat(_)
        | DataType::SmallComplex(_)
        | DataType::ComplexFloat16
        | DataType::ComplexBFloat16
        | DataType::BFloat16
        | DataType::String
        | DataType::Bytes { .. }
        | DataType::VlenArray(_)
        | DataType::Object
        | DataType::Struct(_)
        | DataType::Extension(_) => return None,
    })
}

/// The data type and byte order of numpy's type string. Bytes without a meaning, `V`, become `r8`, `r16`...
///
/// # Errors
/// [`Error::Unknown`] for a type that is none of ours: objects, long doubles, and what is no type string.
///
/// # Example
/// ```
/// # use zarr_dtype::{ByteOrder, DataType, from_npy_descr};
/// assert_eq!(from_npy_descr(">f4")?, (DataType::Float32, ByteOrder::Big));
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
pub fn from_npy_descr(descr: &str) -> Result<(DataType, ByteOrder), Error> {
    parse(descr).ok_or_else(|| Error::Unknown { name: descr.to_owned() })
}

fn parse(descr: &str) -> Option<(DataType, ByteOrder)> {
    let (order, rest) = match descr.chars().next()? {
        '<' => (ByteOrder::Little, descr.get(1..)?),
        '>' => (ByteOrder::Big, descr.get(1..)?),
        '|' => (ByteOrder::Irrelevant, descr.get(1..)?),
        _ => (ByteOrder::Little, descr),
    };
    let kind = rest.chars().next().filter(char::is_ascii)?;
    let size = rest.get(1..)?;
    let data_type = match (kind, size) {
        ('b', "1") => DataType::Bool,
        ('i', "1") => DataType::Int8,
        ('i', "2") => DataType::Int16,
        ('i', "4") => DataType::Int32,
        ('i', "8") => DataType::Int64,
        ('u', "1") => DataType::UInt8,
        ('u', "2") => DataType::UInt16,
        ('u', "4") => DataType::UInt32,
        ('u', "8") => DataType::UInt64,
        ('f', "2") => DataType::Float16,
        ('f', "4") => DataType::Float32,
        ('f', "8") => DataType::Float64,
        ('c', "8") => DataType::Complex64,
        ('c', "16") => DataType::Complex128,
        ('M', _) => DataType::DateTime64(time_unit(size)?),
        ('m', _) => DataType::TimeDelta64(time_unit(size)?),
        ('S', _) => DataType::FixedBytes { len: number(size)? },
        ('V', _) => DataType::RawBytes { len: number(size)? },
        ('U', _) => DataType::FixedUtf32 { len: number(size)? },
        _ => return None,
    };
    // The configuration knows the limits of sizes.
    let data_type = DataType::from_config(&data_type.to_config()).ok()?;
    let single_bytes = !matches!(data_type.layout(), crate::Layout::Fixed { scalar, .. } if scalar.size() > 1);
    match order {
        _ if single_bytes => Some((data_type, ByteOrder::Irrelevant)),
        ByteOrder::Irrelevant => Some((data_type, ByteOrder::Little)),
        order => Some((data_type, order)),
    }
}

/// `8[25s]`, or `8` alone for the generic unit.
fn time_unit(text: &str) -> Option<TimeUnit> {
    let text = text.strip_prefix('8')?;
    if text.is_empty() {
        return Some(TimeUnit::new(Unit::Generic));
    }
    let text = text.strip_prefix('[')?.strip_suffix(']')?;
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (scale, unit) = text.split_at_checked(digits)?;
    let scale = if scale.is_empty() { 1 } else { number(scale)? };
    Some(TimeUnit { unit: Unit::from_code(unit)?, scale })
}

/// A number in digits alone.
fn number(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_strings_come_back() {
        for descr in [
            "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16", "|V4",
            "|S5", "<U3", "<M8[25s]", "<m8[ns]", "<M8", "<M8[Y]",
        ] {
            let (data_type, _) = from_npy_descr(descr).unwrap();
            assert_eq!(npy_descr(&data_type).as_deref(), Some(descr));
        }
    }

    #[test]
    fn orders_are_reported() {
        let check = |descr: &str, order: ByteOrder| assert_eq!(from_npy_descr(descr).unwrap().1, order, "{descr}");
        check("<f4", ByteOrder::Little);
        check("f4", ByteOrder::Little);
        check(">U3", ByteOrder::Big);
        check(">M8[s]", ByteOrder::Big);
        check("<u1", ByteOrder::Irrelevant);
        check(">S3", ByteOrder::Irrelevant);
        check("|i2", ByteOrder::Little);
    }

    #[test]
    fn other_strings_are_refused() {
        for descr in [
            "",
            "<",
            "q",
            "O",
            "|O",
            "<f16",
            "<f3",
            "b2",
            "V",
            "V0",
            "V+4",
            "S99999999999",
            "V4294967295",
            "<M8[q]",
            "<M8[0s]",
            "<M8[s",
            "M4[s]",
            "\u{e9}4",
            "<\u{e9}4",
            "|S-1",
        ] {
            assert_eq!(from_npy_descr(descr), Err(Error::Unknown { name: descr.to_owned() }));
        }
    }
}
