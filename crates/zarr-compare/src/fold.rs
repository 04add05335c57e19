//! Floats that count as equal: all NaNs of a type, and both zeros.

use zarr_dtype::float::{self, Format};
use zarr_dtype::{DataType, Field};

/// Choice of floats that count as equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fold {
    /// Whether all NaNs become the quiet NaN without sign and payload.
    pub(crate) nan: bool,
    /// Whether negative zero becomes positive zero.
    pub(crate) zero: bool,
}

impl Fold {
    /// Returns whether the choice affects no element of this type.
    pub(crate) fn is_idle(self, data_type: &DataType) -> bool {
        !(self.nan || self.zero) || !has_floats(data_type)
    }

    /// Changes elements, or inner elements, so that those that count as equal have equal bytes. `items` are in memory form.
    pub(crate) fn apply(self, data_type: &DataType, items: &mut [u8]) {
        if self.is_idle(data_type) {
            return;
        }
        match data_type.storage() {
            DataType::Struct(fields) => {
                for item in items.chunks_exact_mut(fields.item_size().max(1)) {
                    for (range, field) in fields.placed() {
                        self.apply(&field.data_type, item.get_mut(range).unwrap_or_default());
                    }
                }
            }
            other => match format(other) {
                Some((format, 4)) if format == float::F32 => each(items, |bytes: [u8; 4]| {
                    let bits = u32::from_ne_bytes(bytes);
                    let magnitude = bits & 0x7fff_ffff;
                    let bits = if self.nan && magnitude > 0x7f80_0000 { 0x7fc0_0000 } else { bits };
                    (if self.zero && magnitude == 0 { 0 } else { bits }).to_ne_bytes()
                }),
                Some((format, 8)) if format == float::F64 => each(items, |bytes: [u8; 8]| {
                    let bits = u64::from_ne_bytes(bytes);
                    let magnitude = bits & !(1 << 63);
                    let bits = if self.nan && magnitude > 0x7ff0 << 48 { 0x7ff8 << 48 } else { bits };
                    (if self.zero && magnitude == 0 { 0 } else { bits }).to_ne_bytes()
                }),
                Some((format, 2)) => each(items, |bytes: [u8; 2]| {
                    // Bits of a format of two bytes fit.
                    (self.bits(&format, u16::from_ne_bytes(bytes).into()) as u16).to_ne_bytes()
                }),
                Some((format, _)) => {
                    each(items, |[byte]: [u8; 1]| [self.bits(&format, byte.into()) as u8]);
                }
                None => {}
            },
        }
    }

    /// Returns whether elements, or inner elements, count as equal. Copies nothing.
    pub(crate) fn are_same(self, data_type: &DataType, a: &[u8], b: &[u8]) -> bool {
        if a == b {
            return true;
        }
        if a.len() != b.len() || self.is_idle(data_type) {
            return false;
        }
        match data_type.storage() {
            DataType::Struct(fields) => {
                let size = fields.item_size().max(1);
                a.chunks_exact(size).zip(b.chunks_exact(size)).all(|(a, b)| {
                    fields.placed().all(|(range, field)| {
                        let [a, b] = [a, b].map(|item| item.get(range.clone()).unwrap_or_default());
                        self.are_same(&field.data_type, a, b)
                    })
                })
            }
            other => match format(other) {
                Some((format, size)) => {
                    a.chunks_exact(size).zip(b.chunks_exact(size)).all(|(a, b)| a == b || self.are_equal(&format, a, b))
                }
                None => false,
            },
        }
    }

    /// Returns whether two floats with different bits count as equal.
    fn are_equal(self, format: &Format, a: &[u8], b: &[u8]) -> bool {
        let [a, b] = [a, b].map(|item| load(item).map(|bits| format.value(bits)));
        let Some((a, b)) = a.zip(b) else { return false };
        (self.nan && a.is_nan() && b.is_nan()) || (self.zero && a == 0.0 && b == 0.0)
    }

    fn bits(self, format: &Format, bits: u64) -> u64 {
        let value = format.value(bits);
        if self.nan && value.is_nan() {
            format.nan(false).unwrap_or(bits)
        } else if self.zero && value == 0.0 {
            0
        } else {
            bits
        }
    }
}

fn each<const N: usize>(items: &mut [u8], fold: impl Fn([u8; N]) -> [u8; N]) {
    items.as_chunks_mut::<N>().0.iter_mut().for_each(|item| *item = fold(*item));
}

/// Returns the bits of a float in memory.
fn load(item: &[u8]) -> Option<u64> {
    match *item {
        [byte] => Some(byte.into()),
        [a, b] => Some(u16::from_ne_bytes([a, b]).into()),
        [a, b, c, d] => Some(u32::from_ne_bytes([a, b, c, d]).into()),
        _ => item.try_into().ok().map(u64::from_ne_bytes),
    }
}

/// Returns whether elements are floats or contain floats.
fn has_floats(data_type: &DataType) -> bool {
    match data_type.storage() {
        DataType::Struct(fields) => fields.fields().iter().any(|Field { data_type, .. }| has_floats(data_type)),
        DataType::VlenArray(inner) => has_floats(inner),
        other => format(other).is_some(),
    }
}

/// Returns the format of the floats that elements consist of, and the size of one float in bytes; `None` if elements are no floats.
fn format(data_type: &DataType) -> Option<(Format, usize)> {
    Some(match data_type {
        DataType::SmallFloat(small) | DataType::SmallComplex(small) => (small.format(), 1),
        DataType::Float16 | DataType::ComplexFloat16 => (float::F16, 2),
        DataType::BFloat16 | DataType::ComplexBFloat16 => (float::BF16, 2),
        DataType::Float32 | DataType::Complex64 => (float::F32, 4),
        DataType::Float64 | DataType::Complex128 => (float::F64, 8),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_dtype::{SmallFloat, StructType};

    const IEEE: Fold = Fold { nan: true, zero: true };

    fn check<const N: usize>(data_type: DataType, from: [u8; N], to: [u8; N]) {
        let mut items = from;
        IEEE.apply(&data_type, &mut items);
        assert_eq!(items, to, "{data_type}");
        assert!(IEEE.are_same(&data_type, &from, &to), "{data_type}");
        assert_eq!(Fold::default().are_same(&data_type, &from, &to), from == to, "{data_type}");
        let mut other = to;
        other[N - 1] ^= 0x10;
        assert!(!IEEE.are_same(&data_type, &from, &other), "{data_type}");
        let mut items = from;
        Fold::default().apply(&data_type, &mut items);
        assert_eq!(items, from);
    }

    #[test]
    fn nans_and_zeros_are_folded() {
        check(DataType::Float32, 0xff80_0001_u32.to_ne_bytes(), 0x7fc0_0000_u32.to_ne_bytes());
        check(DataType::Float32, 0x8000_0000_u32.to_ne_bytes(), [0; 4]);
        check(DataType::Float32, 0xff80_0000_u32.to_ne_bytes(), 0xff80_0000_u32.to_ne_bytes());
        check(DataType::Float64, 0xfff8_0000_0000_0001_u64.to_ne_bytes(), 0x7ff8_0000_0000_0000_u64.to_ne_bytes());
        check(DataType::Float64, (-0.0_f64).to_ne_bytes(), [0; 8]);
        check(DataType::Float64, (-1.5_f64).to_ne_bytes(), (-1.5_f64).to_ne_bytes());
        check(DataType::Float16, 0xfe01_u16.to_ne_bytes(), 0x7e00_u16.to_ne_bytes());
        check(DataType::BFloat16, 0x8000_u16.to_ne_bytes(), [0; 2]);
        check(DataType::SmallFloat(SmallFloat::Float8E5M2), [0xff], [0x7e]);
        check(DataType::SmallComplex(SmallFloat::Float8E4M3Fnuz), [0x80, 0x01], [0x80, 0x01]);
        let fields = vec![Field::new("n", DataType::UInt8), Field::array("x", DataType::Float16, &[2])];
        let [[a, b], [c, d]] = [0x8000_u16, 0xffff].map(u16::to_ne_bytes);
        let [e, f] = 0x7e00_u16.to_ne_bytes();
        check(DataType::Struct(StructType::new(fields).unwrap()), [0x80, a, b, c, d], [0x80, 0, 0, e, f]);
    }

    #[test]
    fn integers_stay() {
        check(DataType::Int32, [0xff; 4], [0xff; 4]);
        assert!(IEEE.is_idle(&DataType::Int64) && !IEEE.is_idle(&DataType::VlenArray(Box::new(DataType::Float32))));
    }
}
