//! Ids of snapshots, manifests and chunks, and their names in Crockford's base 32.

use std::fmt;

/// Id of a snapshot, a manifest or a chunk: 12 bytes, whose name has 20 characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(pub(crate) [u8; 12]);

const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LEN: usize = 20;

impl Id {
    /// Returns the id with this name; `None` if `name` is not the name of an id.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        if name.len() != LEN {
            return None;
        }
        let (mut id, mut bits, mut count, mut len) = ([0; 12], 0_u32, 0, 0);
        for byte in name.bytes() {
            let digit = DIGITS.iter().position(|digit| *digit == byte)?;
            bits = (bits << 5 | u32::try_from(digit).ok()?) & 0xFFF;
            count += 5;
            if count >= 8 {
                count -= 8;
                *id.get_mut(len)? = u8::try_from(bits >> count & 0xFF).ok()?;
                len += 1;
            }
        }
        // The bits that pad the last digit are zeros.
        (bits & ((1 << count) - 1) == 0).then_some(Self(id))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut bits, mut count) = (0_u32, 0);
        let digit = |bits: u32| char::from(DIGITS[bits as usize & 31]);
        for byte in self.0 {
            bits = (bits << 8 | u32::from(byte)) & 0xFFFF;
            count += 8;
            while count >= 5 {
                count -= 5;
                fmt::Write::write_char(f, digit(bits >> count))?;
            }
        }
        if count > 0 {
            fmt::Write::write_char(f, digit(bits << (5 - count)))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_ids() {
        let first = Id([0x0b, 0x1c, 0xc8, 0xd6, 0x78, 0x75, 0x80, 0xf0, 0xe3, 0x3a, 0x65, 0x34]);
        assert_eq!(first.to_string(), "1CECHNKREP0F1RSTCMT0");
        for id in [first, Id([0; 12]), Id([255; 12]), Id(*b"abcdefghijkl")] {
            assert_eq!(Id::of_name(&id.to_string()), Some(id));
        }
        for name in
            ["", "main", "1CECHNKREP0F1RSTCMT1", "1CECHNKREP0F1RSTCMT", "1CECHNKREP0F1RSTCMU0", "1cechnkrep0f1rstcmt0"]
        {
            assert_eq!(Id::of_name(name), None, "{name}");
        }
    }
}
