//! Byte and bit shuffle of blocks.

mod bits;
mod bytes;
mod interleave;
#[cfg(not(target_arch = "x86_64"))]
#[path = "shuffle/no_vector.rs"]
mod vector;
#[cfg(target_arch = "x86_64")]
mod vector;

use crate::Isa;
use interleave::Tile;

/// Greatest size in bytes of elements whose bits are shuffled.
const MAX_BITS: usize = 255;

/// Shuffles of blocks of elements of `type_size` bytes: of any size for bytes, of 1 to 255 for bits. Bytes at the end that form no whole
/// element are copied unchanged.
///
/// # Panics
/// All four functions panic if the buffers differ in size, or `type_size` is out of range.
impl Isa {
    /// Writes the first byte of each element, then the second byte of each element, and so on.
    pub fn shuffle_bytes(self, type_size: usize, from: &[u8], to: &mut [u8]) {
        let (from, to) = elements(type_size, from, to);
        bytes::split(self, type_size, from, to, from.len() / type_size, &mut Tile::new());
    }

    /// Reverses [`shuffle_bytes`](Self::shuffle_bytes).
    pub fn unshuffle_bytes(self, type_size: usize, from: &[u8], to: &mut [u8]) {
        let (from, to) = elements(type_size, from, to);
        bytes::join(self, type_size, from, from.len() / type_size, to, &mut Tile::new());
    }

    /// Writes the first (lowest) bit of the first byte of each element, then the second bit of each element, and so on. Elements after the
    /// last multiple of 8 are copied unchanged.
    pub fn shuffle_bits(self, type_size: usize, from: &[u8], to: &mut [u8]) {
        assert!(type_size <= MAX_BITS, "bits of elements of {type_size} bytes");
        let (from, to) = elements(8 * type_size, from, to);
        bits::shuffle(self, type_size, from, to);
    }

    /// Reverses [`shuffle_bits`](Self::shuffle_bits).
    pub fn unshuffle_bits(self, type_size: usize, from: &[u8], to: &mut [u8]) {
        assert!(type_size <= MAX_BITS, "bits of elements of {type_size} bytes");
        let (from, to) = elements(8 * type_size, from, to);
        bits::unshuffle(self, type_size, from, to);
    }
}

/// Returns the whole groups of `size` bytes of both slices, and copies the bytes after them.
fn elements<'a, 'b>(size: usize, from: &'a [u8], to: &'b mut [u8]) -> (&'a [u8], &'b mut [u8]) {
    assert!(from.len() == to.len() && size > 0, "{} bytes to {} in groups of {size}", from.len(), to.len());
    let whole = from.len() / size * size;
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
        let len = from.len() / size / 8 * 8;
        let mut to = from.to_vec();
        to[..len * size].fill(0);
        for element in 0..len {
            for bit in 0..size * 8 {
                let set = from[element * size + bit / 8] >> (bit % 8) & 1;
                let bit_index = bit * len + element;
                to[bit_index / 8] |= set << (bit_index % 8);
            }
        }
        to
    }

    fn check(size: usize, from: &[u8]) {
        let (bytes, bits) = (model_bytes(size, from), model_bits(size, from));
        let (mut to, mut back) = (vec![0; from.len()], vec![0; from.len()]);
        for isa in Isa::available() {
            let what = || format!("{}, {} bytes in elements of {size}", isa.name(), from.len());
            isa.shuffle_bytes(size, from, &mut to);
            assert!(to == bytes, "shuffle by {}", what());
            isa.unshuffle_bytes(size, &to, &mut back);
            assert!(back == from, "unshuffle by {}", what());
            if size > MAX_BITS {
                continue;
            }
            isa.shuffle_bits(size, from, &mut to);
            assert!(to == bits, "bit shuffle by {}", what());
            back.fill(0);
            isa.unshuffle_bits(size, &to, &mut back);
            assert!(back == from, "bit unshuffle by {}", what());
        }
    }

    fn noise(len: usize) -> Vec<u8> {
        (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    #[test]
    fn all_element_sizes_equal_the_model() {
        let noise = noise(255 * 82);
        for size in 1..=255 {
            for len in [0, 1, 7, 8, 9, 16, 17, 33, 64, 80] {
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

    #[test]
    fn large_elements_equal_the_model() {
        for size in [256, 257, 1024, 5000, 10_000] {
            for len in [0, 1, 2, 16, 19] {
                check(size, &noise(size * len + 3));
            }
        }
    }

    /// Checks buffers that end with an allocation, so that a checked allocator would notice an access beyond.
    #[test]
    fn all_lengths_equal_the_model() {
        for size in [1, 2, 3, 4, 7, 8, 15, 16, 24] {
            for len in 0..size * 70 {
                check(size, &noise(len));
            }
        }
    }

    #[test]
    #[should_panic(expected = "64 bytes to 62 in groups of 2")]
    fn buffers_of_different_sizes_are_refused() {
        Isa::best().shuffle_bytes(2, &[0; 64], &mut [0; 62]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_bytes_equal_the_model(size in 1usize..40, bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
            check(size, &bytes);
        }
    }
}
