//! Fletcher and Adler checksums: sums of sums.

use simd_adler32::Adler32;

/// Returns the Adler-32 of zlib (RFC 1950, 8.2).
pub(crate) fn adler32(bytes: &[u8]) -> u32 {
    let mut sum = Adler32::new();
    sum.write(bytes);
    sum.finish()
}

/// Number of sums that are computed in parallel, so that no addition waits for the previous one.
const LANES: usize = 16;

/// Number of words of a lane that can be added before the sum of its sums could overflow 32 bits.
const WORDS: usize = 360;

/// Modulus of the sums.
const MODULUS: u64 = 65_535;

/// Returns Fletcher's checksum as in HDF5 and numcodecs: over big-endian words of 16 bits; an odd last byte is the upper half of a word.
pub(crate) fn fletcher32(bytes: &[u8]) -> u32 {
    let (words, odd) = bytes.as_chunks::<2>();
    let (whole, rest) = words.as_chunks::<LANES>();
    let (mut sum, mut sums) = (0, 0);
    for run in whole.chunks(WORDS) {
        let (of_lanes, sums_of_lanes) = add(run);
        // With `n` turns, lane `l` has added the word of turn `t` to its sums `n - t` times, which is due
        // `LANES * (n - t) - l` times.
        let (mut all, mut early) = (0, 0);
        for (lane, (lane_sum, lane_sums)) in (0..).zip(of_lanes.into_iter().zip(sums_of_lanes)) {
            sums += LANES as u64 * u64::from(lane_sums);
            early += lane * u64::from(lane_sum);
            all += u64::from(lane_sum);
        }
        sums = reduce(sums - early + sum * (run.len() * LANES) as u64);
        sum = reduce(sum + all);
    }
    let last = odd.iter().map(|high| u64::from(*high) << 8);
    for word in rest.iter().map(|word| u64::from(u16::from_be_bytes(*word))).chain(last) {
        sum = reduce(sum + word);
        sums = reduce(sums + sum);
    }
    // Both are at most `MODULUS`.
    (sums << 16 | sum) as u32
}

/// Returns, for each lane, the sum of its words and the sum of these sums.
fn add(run: &[[[u8; 2]; LANES]]) -> ([u32; LANES], [u32; LANES]) {
    let (mut sums, mut sums_of_sums) = ([0; LANES], [0; LANES]);
    for words in run {
        for ((sum, sum_of_sums), word) in sums.iter_mut().zip(&mut sums_of_sums).zip(words) {
            *sum += u32::from(u16::from_be_bytes(*word));
            *sum_of_sums += *sum;
        }
    }
    (sums, sums_of_sums)
}

/// Returns the remainder modulo [`MODULUS`], except that a positive multiple becomes the modulus itself: only 0 becomes 0, as if the upper
/// half were added to the lower half.
fn reduce(sum: u64) -> u64 {
    if sum == 0 { 0 } else { (sum - 1) % MODULUS + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_values() {
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
        assert_eq!(adler32(&[]), 1);
        // The checksum that HDF5 stored for ten 64-bit integers: the vector of numcodecs' own test.
        let values = [1911i64, -2427, 1897, -2412, 2440, 873, -621, -829, 551, -2118];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(fletcher32(&bytes), u32::from_le_bytes([0xfd, 0x25, 0x86, 0x64]));
        assert_eq!(fletcher32(&[]), 0);
        assert_eq!(fletcher32(&[1]), 0x0100_0100);
        assert_eq!(fletcher32(&[1, 2, 3, 4]), 0x0508_0406);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        /// The loop of HDF5 (`H5_checksum_fletcher32`).
        #[test]
        fn sums_equal_hdf5(bytes in prop::collection::vec(prop_oneof![Just(0xffu8), Just(0), any::<u8>()], 0..30_000)) {
            let fold = |sum: u32| (sum & 0xffff) + (sum >> 16);
            let (mut sum, mut sums) = (0, 0);
            for run in bytes.chunks(2 * 360) {
                for word in run.chunks(2) {
                    sum += u32::from(word[0]) << 8 | word.get(1).map_or(0, |&low| u32::from(low));
                    sums += sum;
                }
                (sum, sums) = (fold(sum), fold(sums));
            }
            prop_assert_eq!(fletcher32(&bytes), fold(sums) << 16 | fold(sum));
        }

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
