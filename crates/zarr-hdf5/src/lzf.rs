//! The filter LZF of h5py.

/// Decodes a chunk that LZF compressed, to at most `limit` bytes; returns `None` if `input` is invalid or too large.
///
/// A control byte below 32 precedes that number of bytes plus one, which are stored as they are. Any other control byte copies earlier
/// output: its upper three bits are the length minus 2 (7: the next byte is added), and its lower five bits are the upper bits of the
/// distance, whose lower eight bits follow.
pub(crate) fn expand(input: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = Vec::with_capacity(limit.min(input.len().saturating_mul(4)));
    let mut rest = input;
    while let Some((&control, behind)) = rest.split_first() {
        rest = behind;
        let control = usize::from(control);
        if control < 32 {
            let (plain, behind) = rest.split_at_checked(control + 1)?;
            out.extend_from_slice(plain);
            rest = behind;
        } else {
            let mut count = control >> 5;
            if count == 7 {
                let (&more, behind) = rest.split_first()?;
                count += usize::from(more);
                rest = behind;
            }
            let (&low, behind) = rest.split_first()?;
            rest = behind;
            let distance = ((control & 31) << 8) + usize::from(low) + 1;
            let from = out.len().checked_sub(distance)?;
            if out.len() + count + 2 > limit {
                return None;
            }
            for at in from..from + count + 2 {
                out.push(*out.get(at)?);
            }
        }
        if out.len() > limit {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_again() {
        // "abc", then 4 bytes from 3 before, then 9 + 3 bytes from 1 before.
        let input = [2, b'a', b'b', b'c', 0x40, 2, 0xe0, 3, 0];
        assert_eq!(expand(&input, 19).as_deref(), Some(&b"abcabcaaaaaaaaaaaaa"[..]));
        assert_eq!(expand(&input, 18), None);
        assert_eq!(expand(&input[..8], 19), None);
        assert_eq!(expand(&[0x20, 0], 3), None);
        assert_eq!(expand(&[], 0), Some(Vec::new()));
    }
}
