//! Values in pages: in plain encoding, and runs of small integers.

use super::Bad;

type Result<T> = std::result::Result<T, Bad>;

/// Decodes the first `count` integers of `width` bits from runs. A run is one value many times, or values in groups of eight.
pub(super) fn runs(mut bytes: &[u8], width: u32, count: usize, out: &mut Vec<u32>) -> Result<()> {
    if width > 32 {
        return Err(Bad::page(format!("integers of {width} bits"), "at most 32"));
    }
    out.clear();
    out.reserve(count);
    let cut_off = || Bad::page("runs that are cut off", &format!("{count} values"));
    // Integers of 0 bits are 0; some writers write no runs for them.
    if width == 0 && bytes.is_empty() {
        out.resize(count, 0);
    }
    while out.len() < count {
        let left = count - out.len();
        let header = varint(&mut bytes).ok_or_else(cut_off)?;
        let many = usize::try_from(header >> 1).unwrap_or(usize::MAX);
        if many == 0 {
            return Err(Bad::page("an empty run", "one of at least one value"));
        }
        if header & 1 == 0 {
            let value = bytes.split_at_checked(width.div_ceil(8) as usize);
            let (value, rest) = value.ok_or_else(cut_off)?;
            let value = value.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
            out.resize(out.len() + many.min(left), value);
            bytes = rest;
        } else {
            // The last group may have more values than needed, and some writers omit its end.
            let len = many.saturating_mul(width as usize).min(bytes.len());
            let (packed, rest) = bytes.split_at(len);
            let values = many.saturating_mul(8).min(left);
            unpack(packed, width, values, out).ok_or_else(cut_off)?;
            bytes = rest;
        }
    }
    Ok(())
}

/// Unpacks `count` integers of `width` bits, the lowest bits first; `None` if `packed` is too short.
fn unpack(packed: &[u8], width: u32, count: usize, out: &mut Vec<u32>) -> Option<()> {
    let (mut bits, mut held, mut bytes) = (0_u64, 0_u32, packed.iter());
    let mask = (1_u64 << width) - 1;
    for _ in 0..count {
        while held < width {
            bits |= u64::from(*bytes.next()?) << held;
            held += 8;
        }
        out.push(u32::try_from(bits & mask).ok()?);
        bits >>= width;
        held -= width;
    }
    Some(())
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Removes a string from the beginning of `bytes`, where its length in four bytes precedes it; `None` if `bytes` are too short.
pub(super) fn text<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    let (text, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*len)).ok()?)?;
    *bytes = rest;
    Some(text)
}

/// Removes an integer of four bytes, or eight if `is_long`, from the beginning of `bytes`; `None` if `bytes` are too short.
pub(super) fn integer(bytes: &mut &[u8], is_long: bool) -> Option<i64> {
    if is_long {
        let (value, rest) = bytes.split_first_chunk::<8>()?;
        *bytes = rest;
        Some(i64::from_le_bytes(*value))
    } else {
        let (value, rest) = bytes.split_first_chunk::<4>()?;
        *bytes = rest;
        Some(i32::from_le_bytes(*value).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], width: u32, count: usize) -> Result<Vec<u32>> {
        let mut out = Vec::new();
        runs(bytes, width, count, &mut out).map(|()| out)
    }

    #[test]
    fn runs_are_decoded() {
        // The example of the format: the numbers 0 to 7 in three bits each.
        let packed = [3, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(decoded(&packed, 3, 8).expect("runs"), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(decoded(&packed, 3, 5).expect("runs"), [0, 1, 2, 3, 4]);
        // Bytes behind the last value are cut off.
        assert_eq!(decoded(&packed[..3], 3, 5).expect("runs"), [0, 1, 2, 3, 4]);
        decoded(&packed[..3], 3, 6).expect_err("cut off");
        assert_eq!(decoded(&[6, 5, 1, 3, 2], 9, 3).expect("runs"), [261; 3]);
        assert_eq!(decoded(&[4, 7, 3, 1], 3, 6).expect_err("cut off").found, "runs that are cut off");
        assert_eq!(decoded(&[], 0, 3).expect("runs"), [0; 3]);
        assert_eq!(decoded(&[6], 0, 3).expect("runs"), [0; 3]);
        assert_eq!(decoded(&[3], 0, 3).expect("runs"), [0; 3]);
        for bytes in [&[][..], &[0, 1], &[0x80], &[0xff; 20]] {
            decoded(bytes, 1, 1).expect_err("no runs");
        }
        decoded(&[2, 1], 33, 1).expect_err("too wide");
        // A run gives no more values than are needed.
        assert_eq!(decoded(&[0xfe, 0xff, 0xff, 0xff, 0x0f, 1], 1, 3).expect("runs"), [1; 3]);
    }
}
