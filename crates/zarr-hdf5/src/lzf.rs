//! The filter LZF of h5py.

/// Expands a chunk that LZF compressed, into at most `limit` bytes; `None` if it is no such thing.
///
/// A control byte below 32 stands in front of that many bytes and one more. Another one has the length of an earlier part in its upper three
/// bits (7: the next byte adds to it) and the upper bits of the distance to it in the others.
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
