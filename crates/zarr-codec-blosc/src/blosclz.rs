//! blosclz, the native compressor of blosc (c-blosc 1.21, `blosclz.c`; its format is that of FastLZ level 2).
//!
//! A stream is a list of tokens:
//!
//! ```text
//! 000LLLLL                    L + 1 bytes follow as they are
//! LLLDDDDD [255 ...] [l] d    copy L + 2 bytes (L > 0; where L is 7, more length bytes follow, up to one that is not 255)
//!                             from D * 256 + d + 1 bytes back
//! LLL11111 [255 ...] [l] 255 d d   the same from 8192 + d * 256 + d bytes back
//! ```
//!
//! The first token is literal bytes, with its upper bits meaning nothing (writers set bit 5).

mod read;
mod write;

pub(crate) use read::decompress;
pub(crate) use write::compress;

/// Distances above this one take two more bytes in a token.
const FAR: usize = 8191;

/// Maximum number of literal bytes of a token.
const MAX_LITERALS: usize = 32;

/// Error in the decompression of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    #[error("the stream ends within a token")]
    Truncated,
    #[error("the stream holds more bytes than the block")]
    TooLong,
    #[error("a copy from {distance} bytes back, where there are {written}")]
    Distance { distance: usize, written: usize },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(plain: &[u8]) -> Option<usize> {
        let mut best = None;
        for level in 1..=9 {
            for split in [false, true] {
                let mut stream = vec![0; plain.len()];
                let Some(size) = compress(plain, &mut stream, level, split) else { continue };
                let mut back = vec![0; plain.len()];
                assert_eq!(decompress(&stream[..size], &mut back), Ok(plain.len()), "level {level}");
                assert!(back == plain, "level {level}");
                assert_eq!(decompress(&stream[..size], &mut back[1..]), Err(Error::TooLong));
                best = best.min(Some(size)).or(Some(size));
            }
        }
        best
    }

    /// Decompresses a stream byte by byte, as a model for the fast decompressor.
    fn model(stream: &[u8], bound: usize) -> Result<Vec<u8>, Error> {
        let mut out = Vec::new();
        let mut stream = stream.iter().copied();
        let mut first = true;
        while let Some(token) = stream.next() {
            let token = if std::mem::take(&mut first) { token % 32 } else { token };
            let mut byte = || stream.next().ok_or(Error::Truncated);
            if token < 32 {
                let literals: Vec<u8> = stream.by_ref().take(usize::from(token) + 1).collect();
                if literals.len() <= token.into() {
                    return Err(Error::Truncated);
                }
                out.extend(literals);
            } else {
                let mut len = usize::from(token >> 5) + 2;
                let mut more = token >> 5 == 7;
                while more {
                    let length = byte()?;
                    len += usize::from(length);
                    more = length == 255;
                }
                let low = byte()?;
                let mut distance = usize::from(token % 32) * 256 + usize::from(low) + 1;
                if token % 32 == 31 && low == 255 {
                    distance = 8192 + usize::from(byte()?) * 256;
                    distance += usize::from(byte()?);
                }
                for _ in 0..len.min(bound + 1) {
                    let from =
                        out.len().checked_sub(distance).ok_or(Error::Distance { distance, written: out.len() })?;
                    out.push(out[from]);
                }
            }
            if out.len() > bound {
                return Err(Error::TooLong);
            }
        }
        Ok(out)
    }

    #[test]
    fn repetitions_are_compressed() {
        assert!(round_trip(&[3; 100_000]).expect("shrinks") < 500);
        for period in [2, 3, 5, 7, 8, 13, 16, 17, 100, 8191, 8192, 8193, 20_000] {
            let plain: Vec<u8> =
                (0..100_000).map(|i| ((i % period) as u32).wrapping_mul(0x9E37_79B1).to_le_bytes()[3]).collect();
            assert!(round_trip(&plain).expect("shrinks") < 60_000, "period {period}");
        }
        let words: Vec<u8> = (0..40_000u32).flat_map(|i| format!("{} ", i * i % 1000).into_bytes()).collect();
        assert!(round_trip(&words).expect("shrinks") < words.len() / 2);
    }

    #[test]
    fn gives_up_on_noise_and_on_little() {
        let noise: Vec<u8> =
            (0..100_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8 ^ (i % 251) as u8).collect();
        round_trip(&noise);
        for len in 0..200 {
            round_trip(&noise[..len]);
            round_trip(&vec![1; len]);
        }
    }

    #[test]
    fn lengths_that_do_not_fit_an_i32_are_refused() {
        // A length of 2³¹ and more made c-blosc 1.21.6 write before its buffer.
        let mut stream = vec![0, 7, 0xe0];
        stream.resize(8_500_000, 255);
        stream.extend([0, 0]);
        assert_eq!(decompress(&stream, &mut [0; 100]), Err(Error::TooLong));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn any_bytes_come_back(runs in prop::collection::vec((any::<u8>(), 1usize..50, 0usize..30), 0..60)) {
            let mut plain = Vec::new();
            for (byte, len, back) in runs {
                plain.resize(plain.len() + len, byte);
                let from = plain.len().saturating_sub(back * 7);
                plain.extend_from_within(from..);
            }
            round_trip(&plain);
        }

        #[test]
        fn any_stream_decodes_as_by_the_model(
            tokens in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..34), any::<bool>()), 0..40),
            bound in 0usize..2000,
        ) {
            let mut stream = Vec::new();
            for (token, bytes, good) in tokens {
                if good {
                    // A literal or a match of a distance that is likely there.
                    if token < 128 {
                        stream.push((bytes.len() % 32) as u8);
                        stream.extend(bytes.iter().chain(&[9; 32]).take(bytes.len() % 32 + 1));
                    } else {
                        stream.extend([token & 0xe0, token % 16, bytes.len() as u8]);
                    }
                } else {
                    stream.push(token);
                    stream.extend(bytes);
                }
            }
            let mut out = vec![0; bound];
            match (decompress(&stream, &mut out), model(&stream, bound)) {
                (Ok(len), Ok(due)) => prop_assert_eq!(&out[..len], &due[..]),
                (Err(_), Err(_)) => {}
                (found, due) => prop_assert!(false, "{:?}, expected {:?}", found, due),
            }
        }
    }
}
