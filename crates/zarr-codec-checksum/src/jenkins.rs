//! Bob Jenkins' hash `lookup3`.

use zarr_codec::{Error, Scratch};

/// Returns `hashlittle` of `prefix` followed by `bytes`.
///
/// # Errors
/// [`Error::Allocation`] if there is no memory for the joined bytes.
pub(crate) fn lookup3(prefix: &[u8], bytes: &[u8], initval: u32) -> Result<u32, Error> {
    if prefix.is_empty() {
        return Ok(hashlittle(bytes, initval));
    }
    let size = prefix.len().saturating_add(bytes.len());
    let mut both = Scratch::empty();
    both.try_reserve(size).map_err(|_| Error::Allocation { size: size as u64 })?;
    both.extend_from_slice(prefix);
    both.extend_from_slice(bytes);
    Ok(hashlittle(&both, initval))
}

/// Number of bytes mixed at once: three words.
const BLOCK: usize = 12;

/// Returns the hash of <https://burtleburtle.net/bob/c/lookup3.c>, with words read bytewise, so that it is equal on all machines.
fn hashlittle(bytes: &[u8], initval: u32) -> u32 {
    // The length counts modulo 2^32.
    let len = (bytes.len() as u64 & u64::from(u32::MAX)) as u32;
    let mut state = [0xdead_beef_u32.wrapping_add(len).wrapping_add(initval); 3];
    if bytes.is_empty() {
        let [_, _, c] = state;
        return c;
    }
    // The last block, which is never empty, is mixed in another way.
    let (mut rest, mut block) = (bytes, [0; BLOCK]);
    while rest.len() > BLOCK
        && let Some((next, behind)) = rest.split_first_chunk()
    {
        state = mix(add(state, next));
        rest = behind;
    }
    block.iter_mut().zip(rest).for_each(|(to, &from)| *to = from);
    finish(add(state, &block))
}

fn add([a, b, c]: [u32; 3], block: &[u8; BLOCK]) -> [u32; 3] {
    let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3] = *block;
    [
        a.wrapping_add(u32::from_le_bytes([a0, a1, a2, a3])),
        b.wrapping_add(u32::from_le_bytes([b0, b1, b2, b3])),
        c.wrapping_add(u32::from_le_bytes([c0, c1, c2, c3])),
    ]
}

fn mix([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    for (first, second, third) in [(4, 6, 8), (16, 19, 4)] {
        a = a.wrapping_sub(c) ^ c.rotate_left(first);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(second);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(third);
        b = b.wrapping_add(a);
    }
    [a, b, c]
}

fn finish([mut a, mut b, mut c]: [u32; 3]) -> u32 {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // From the tests in lookup3.c.
        assert_eq!(hashlittle(b"", 0), 0xdead_beef);
        assert_eq!(hashlittle(b"", 0xdead_beef), 0xbd5b_7dde);
        assert_eq!(hashlittle(b"Four score and seven years ago", 0), 0x1777_0551);
        assert_eq!(hashlittle(b"Four score and seven years ago", 1), 0xcd62_8161);
        // From numcodecs' tests.
        assert_eq!(hashlittle(b"jenkins", 0), 202_276_345);
    }

    #[test]
    fn prefixes_are_hashed_in_front() {
        let whole = b"Four score and seven years ago";
        for cut in 0..=whole.len() {
            let (prefix, data) = whole.split_at(cut);
            assert_eq!(lookup3(prefix, data, 1).unwrap(), 0xcd62_8161, "{cut}");
        }
    }
}
