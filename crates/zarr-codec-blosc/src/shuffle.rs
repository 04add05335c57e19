//! Byte and bit shuffle of blocks.
//!
//! Bytes that are no whole element stay at the end as they are. All functions take input and output of the same size.

mod bits;
mod bytes;
mod interleave;

use interleave::Tile;

/// Whether a block of `size` bytes is bit-shuffled at all: c-blosc leaves blocks alone whose number of elements is not a
/// multiple of 8, although it sets the flag.
pub(crate) fn has_bits(type_size: usize, size: usize) -> bool {
    let len = size.checked_div(type_size).unwrap_or(0);
    len > 0 && len.is_multiple_of(8)
}

/// Puts the first byte of each element first, then the second of each, and so on.
pub(crate) fn shuffle_bytes(type_size: usize, from: &[u8], to: &mut [u8]) {
    let (from, to) = elements(type_size, from, to);
    bytes::shuffle(type_size, from, to);
}

/// Undoes [`shuffle_bytes`].
pub(crate) fn unshuffle_bytes(type_size: usize, from: &[u8], to: &mut [u8]) {
    let (from, to) = elements(type_size, from, to);
    bytes::unshuffle(type_size, from, to);
}

/// Puts the first (lowest) bit of the first byte of each element first, then the second of each, and so on. The number of
/// elements is a multiple of 8.
pub(crate) fn shuffle_bits(type_size: usize, from: &[u8], to: &mut [u8]) {
    let (from, to) = elements(type_size, from, to);
    bits::shuffle(type_size, from, to);
}

/// Undoes [`shuffle_bits`].
pub(crate) fn unshuffle_bits(type_size: usize, from: &[u8], to: &mut [u8]) {
    let (from, to) = elements(type_size, from, to);
    bits::unshuffle(type_size, from, to);
}

/// The whole elements of both; copies what comes after them.
fn elements<'a, 'b>(type_size: usize, from: &'a [u8], to: &'b mut [u8]) -> (&'a [u8], &'b mut [u8]) {
    let whole = from.len() / type_size * type_size;
    let (from, from_rest) = from.split_at(whole);
    let (to, to_rest) = to.split_at_mut(whole);
    to_rest.copy_from_slice(from_rest);
    (from, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn model_bytes(size: usize, from: &[u8]) -> Vec<u8> {
        let len = from.len() / size;
        let mut to = from.to_vec();
        for element in 0..len {
            for byte in 0..size {
                to[byte * len + element] = from[element * size + byte];
            }
        }
        to
    }

    fn model_bits(size: usize, from: &[u8]) -> Vec<u8> {
        let len = from.len() / size;
        let mut to = from.to_vec();
        to[..len * size].fill(0);
        for element in 0..len {
            for bit in 0..size * 8 {
                let set = from[element * size + bit / 8] >> (bit % 8) & 1;
                let place = bit * len + element;
                to[place / 8] |= set << (place % 8);
            }
        }
        to
    }

    fn check(size: usize, from: &[u8]) {
        let (mut to, mut back) = (vec![0; from.len()], vec![0; from.len()]);
        shuffle_bytes(size, from, &mut to);
        assert!(to == model_bytes(size, from), "shuffle {size}, {} bytes", from.len());
        unshuffle_bytes(size, &to, &mut back);
        assert!(back == from, "unshuffle {size}, {} bytes", from.len());
        if has_bits(size, from.len()) {
            shuffle_bits(size, from, &mut to);
            assert!(to == model_bits(size, from), "bit shuffle {size}, {} bytes", from.len());
            back.fill(0);
            unshuffle_bits(size, &to, &mut back);
            assert!(back == from, "bit unshuffle {size}, {} bytes", from.len());
        }
    }

    fn noise(len: usize) -> Vec<u8> {
        (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    #[test]
    fn all_element_sizes_equal_the_model() {
        let noise = noise(255 * 82);
        for size in 1..=255 {
            for len in [0, 1, 7, 8, 9, 64, 80] {
                check(size, &noise[..len * size]);
                check(size, &noise[..len * size + size / 2]);
            }
        }
    }

    #[test]
    fn many_tiles_equal_the_model() {
        let noise = noise(32 * 8 * 601);
        for size in [1, 2, 3, 4, 8, 12, 16, 17, 32] {
            check(size, &noise[..40_000]);
            check(size, &noise[..4096 * 3]);
            check(size, &noise[..size * 8 * 601]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_bytes_equal_the_model(size in 1usize..40, bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
            check(size, &bytes);
        }
    }
}
