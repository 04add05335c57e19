//! Decompression of blosclz streams.

use super::{Error, FAR};
use zarr_kernels::{Fault, Output};

/// Decompresses a whole stream into the beginning of `out`, and returns the number of decompressed bytes. The rest of `out` is arbitrary.
pub(crate) fn decompress(stream: &[u8], out: &mut [u8]) -> Result<usize, Error> {
    let Some((&first, mut rest)) = stream.split_first() else { return Ok(0) };
    let (mut token, mut out) = (first & 31, Output::new(out));
    loop {
        if token < 32 {
            let count = usize::from(token) + 1;
            out.literals(rest, count).map_err(|fault| Error::of(fault, 0, out.len()))?;
            rest = rest.get(count..).unwrap_or_default();
        } else {
            let found = Match::read(token, &mut rest)?;
            out.repeat(found.distance, found.len).map_err(|fault| Error::of(fault, found.distance, out.len()))?;
        }
        let Some((&next, after)) = rest.split_first() else { return Ok(out.len()) };
        (token, rest) = (next, after);
    }
}

impl Error {
    #[cold]
    fn of(fault: Fault, distance: usize, written: usize) -> Self {
        match fault {
            Fault::Input => Self::Truncated,
            Fault::Room => Self::TooLong,
            Fault::Distance => Self::Distance { distance, written },
        }
    }
}

/// Copy of bytes that were decompressed before.
struct Match {
    len: usize,
    distance: usize,
}

impl Match {
    #[inline(always)]
    fn read(token: u8, rest: &mut &[u8]) -> Result<Self, Error> {
        let mut byte = || {
            let (&byte, after) = rest.split_first().ok_or(Error::Truncated)?;
            *rest = after;
            Ok(byte)
        };
        // No sum of a stream's bytes overflows.
        let mut len = usize::from(token >> 5) + 2;
        if token >> 5 == 7 {
            loop {
                let more = byte()?;
                len += usize::from(more);
                if more != 255 {
                    break;
                }
            }
        }
        let (high, low) = (usize::from(token & 31), usize::from(byte()?));
        let mut distance = high * 256 + low + 1;
        if high == 31 && low == 255 {
            distance = FAR + 1 + usize::from(u16::from_be_bytes([byte()?, byte()?]));
        }
        Ok(Self { len, distance })
    }
}
