//! Sums of sums, after J. Fletcher.

use simd_adler32::Adler32;

/// Adler-32 as in zlib (RFC 1950, 8.2).
pub(crate) fn adler32(bytes: &[u8]) -> u32 {
    let mut sum = Adler32::new();
    sum.write(bytes);
    sum.finish()
}

/// Words that can be added before the sums of sums could overflow 32 bits.
const WORDS: usize = 360;

/// Fletcher's checksum as HDF5 and numcodecs have it: over big-endian words of 16 bits, a last odd byte being the upper
/// half of one.
pub(crate) fn fletcher32(bytes: &[u8]) -> u32 {
    let (words, odd) = bytes.as_chunks::<2>();
    let (mut sum, mut sums) = (0, 0);
    for run in words.chunks(WORDS) {
        for word in run {
            sum += u32::from(u16::from_be_bytes(*word));
            sums += sum;
        }
        (sum, sums) = (fold(sum), fold(sums));
    }
    if let [high] = odd {
        sum += u32::from(*high) << 8;
        sums += sum;
        (sum, sums) = (fold(sum), fold(sums));
    }
    // What the first folding carried over.
    (sum, sums) = (fold(sum), fold(sums));
    sums << 16 | sum
}

/// Adds the upper half to the lower one: the remainder by 65535, but for multiples of it.
fn fold(sum: u32) -> u32 {
    (sum & 0xffff) + (sum >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_values() {
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
        assert_eq!(adler32(&[]), 1);
        // What HDF5 stored for ten 64-bit integers: the vector of numcodecs' own test.
        let values = [1911i64, -2427, 1897, -2412, 2440, 873, -621, -829, 551, -2118];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(fletcher32(&bytes), u32::from_le_bytes([0xfd, 0x25, 0x86, 0x64]));
        assert_eq!(fletcher32(&[]), 0);
        assert_eq!(fletcher32(&[1]), 0x0100_0100);
        assert_eq!(fletcher32(&[1, 2, 3, 4]), 0x0508_0406);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        /// The remainder by 65535 of the sums, whose zero may also be 65535.
        #[test]
        fn sums_are_remainders(bytes in prop::collection::vec(prop_oneof![Just(0xffu8), any::<u8>()], 0..5000)) {
            let (mut sum, mut sums) = (0u64, 0u64);
            for word in bytes.chunks(2) {
                sum = (sum + u64::from(word[0]) * 256 + word.get(1).map_or(0, |&low| u64::from(low))) % 65535;
                sums = (sums + sum) % 65535;
            }
            let found = fletcher32(&bytes);
            prop_assert_eq!(u64::from(found & 0xffff) % 65535, sum);
            prop_assert_eq!(u64::from(found >> 16) % 65535, sums);
        }
    }
}
