//! Conversion of numbers to bits, least significant first.

use zarr_dtype::{DataType, Scalar, SmallFloat};

/// Numbers of a data type, as the codec sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// Number of bytes of a number in memory.
    pub(crate) size: usize,
    /// Number of numbers in an element: 2 for complex numbers, else 1.
    pub(crate) count: u32,
    /// Number of significant bits of a number.
    pub(crate) bits: u32,
    pub(crate) signed: bool,
}

impl Numbers {
    /// Returns the numbers of a data type; `None` if elements are not numbers, or have numbers of more than 64 bits.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::SmallFloat(float) => return Some(Self::of_small(*float, 1)),
            DataType::SmallComplex(part) => return Some(Self::of_small(*part, 2)),
            DataType::FixedUtf32 { .. } => return None,
            _ => {}
        }
        let zarr_dtype::Layout::Fixed { scalar, count } = data_type.layout() else { return None };
        let size = scalar.size();
        let signed = scalar.range().is_some_and(|(least, _)| least < 0);
        let bits = match scalar {
            Scalar::Bool => 1,
            Scalar::I2 | Scalar::U2 => 2,
            Scalar::I4 | Scalar::U4 => 4,
            _ => u32::try_from(size).ok()? * 8,
        };
        (bits <= 64).then_some(Self { size, count, bits, signed })
    }

    fn of_small(float: SmallFloat, count: u32) -> Self {
        let bits = match float {
            SmallFloat::Float4E2M1Fn => 4,
            SmallFloat::Float6E2M3Fn | SmallFloat::Float6E3M2Fn => 6,
            _ => 8,
        };
        Self { size: 1, count, bits, signed: false }
    }
}

/// Range of bits of each number that is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// Number of bytes of a number in memory.
    pub(crate) size: usize,
    /// Lowest stored bit, counted from 0.
    pub(crate) first: u32,
    /// Number of stored bits, 1 to 64.
    pub(crate) width: u32,
    /// Whether the highest stored bit is the sign.
    pub(crate) signed: bool,
}

impl Field {
    /// Appends the bits of numbers to `out`, with zeros that fill up the last byte.
    pub(crate) fn pack(&self, items: &[u8], out: &mut Vec<u8>) {
        if self.size == 1 && self.width == 1 && self.first == 0 {
            let byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | (bit & 1));
            out.extend(items.chunks(8).map(byte));
            return;
        }
        // Less than 8 bits wait for their byte.
        let (mut waiting, mut count) = (0_u128, 0);
        for item in items.chunks_exact(self.size) {
            waiting |= u128::from(load(item) >> self.first & ones(self.width)) << count;
            count += self.width;
            while count >= 8 {
                out.push(waiting as u8);
                waiting >>= 8;
                count -= 8;
            }
        }
        if count > 0 {
            out.push(waiting as u8);
        }
    }

    /// Writes the numbers whose bits are consecutive in `packed`, from bit `at` on, to `items`.
    pub(crate) fn unpack(&self, packed: &[u8], at: u64, items: &mut [u8]) {
        let width = u64::from(self.width);
        if self.size > 1 || self.width > 1 || self.first > 0 || self.signed {
            for (item, number) in items.chunks_exact_mut(self.size).zip(0..) {
                self.unpack_one(packed, at + number * width, item);
            }
            return;
        }
        // Up to the next whole byte one by one, then eight at a time.
        let lead = (at.next_multiple_of(8) - at).min(items.len() as u64);
        let (first, others) = items.split_at_mut(lead as usize);
        for (item, number) in first.chunks_exact_mut(1).zip(0..) {
            self.unpack_one(packed, at + number, item);
        }
        let start = usize::try_from(at.div_ceil(8)).unwrap_or(usize::MAX);
        expand(packed.get(start..).unwrap_or_default(), |byte| byte, others);
    }

    /// Writes the number whose bits begin at bit `at` of `packed` to `item`.
    #[inline(always)]
    fn unpack_one(&self, packed: &[u8], at: u64, item: &mut [u8]) {
        let start = usize::try_from(at / 8).unwrap_or(usize::MAX);
        let shift = (at % 8) as u32;
        let bytes = packed.get(start..).unwrap_or_default();
        let bits = match bytes.first_chunk() {
            Some(eight) if shift + self.width <= 64 => u64::from_le_bytes(*eight) >> shift,
            // At most 7 bits and a number of 64 bits: 9 bytes.
            _ => {
                let mut wide = [0; 16];
                let needed = (shift + self.width).div_ceil(8) as usize;
                for (to, from) in wide.iter_mut().zip(bytes).take(needed) {
                    *to = *from;
                }
                (u128::from_le_bytes(wide) >> shift) as u64
            }
        };
        let bits = bits & ones(self.width);
        // Up to the highest bit, and down again: the bits above the field become its sign or 0.
        let unused = 64 - self.width;
        let number = if self.signed { ((bits << unused).cast_signed() >> unused).cast_unsigned() } else { bits };
        store(number << self.first, item);
    }
}

/// Writes the bits of `packed`, least significant first, to `out` as bytes of 0 or 1. `order` is applied to each byte before.
pub(crate) fn expand(packed: &[u8], order: impl Fn(u8) -> u8, out: &mut [u8]) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let eight = |byte: u8| {
        // Of a copy of the byte for each bit that bit alone, which makes the highest bit of its byte 1.
        let bits = (u64::from(order(byte)) * EACH) & 0x8040_2010_0804_0201;
        (((bits + 0x7f * EACH) >> 7) & EACH).to_le_bytes()
    };
    let (whole, rest) = out.as_chunks_mut::<8>();
    let (bytes, last) = packed.split_at(whole.len().min(packed.len()));
    for (to, &byte) in whole.iter_mut().zip(bytes) {
        *to = eight(byte);
    }
    if let Some(&byte) = last.first() {
        rest.iter_mut().zip(eight(byte)).for_each(|(to, bit)| *to = bit);
    }
}

/// Returns a number whose lowest `count` bits are set, 1 to 64.
fn ones(count: u32) -> u64 {
    u64::MAX >> (64 - count)
}

/// Returns the number stored in `item`, in the byte order of the machine.
#[inline(always)]
fn load(item: &[u8]) -> u64 {
    let mut wide = [0; 8];
    let used = if cfg!(target_endian = "little") { wide.get_mut(..item.len()) } else { wide.get_mut(8 - item.len()..) };
    if let Some(used) = used {
        used.copy_from_slice(item);
    }
    u64::from_ne_bytes(wide)
}

/// Writes the lowest bytes of a number to `item`, in the byte order of the machine.
#[inline(always)]
fn store(number: u64, item: &mut [u8]) {
    let wide = number.to_ne_bytes();
    let used = if cfg!(target_endian = "little") { wide.get(..item.len()) } else { wide.get(8 - item.len()..) };
    if let Some(used) = used {
        item.copy_from_slice(used);
    }
}
