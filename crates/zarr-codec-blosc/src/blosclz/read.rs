//! Decompressing.

use super::{Error, FAR, MAX_LITERALS};

/// Bytes copied at once where there is room: a short copy of a fixed length is two instructions, of any other a call.
const WIDE: usize = 16;

/// Decompresses a whole stream into the beginning of `out`, and returns how many bytes it holds.
pub(crate) fn decompress(stream: &[u8], out: &mut [u8]) -> Result<usize, Error> {
    let Some(&first) = stream.first() else { return Ok(0) };
    let (mut token, mut at, mut len) = (first & 31, 1, 0);
    loop {
        if token < 32 {
            let count = usize::from(token) + 1;
            copy_literals(stream, at, out, len, count)?;
            at += count;
            len += count;
        } else {
            let found = Match::read(token, stream, &mut at)?;
            let end = len.checked_add(found.len).filter(|&end| end <= out.len()).ok_or(Error::TooLong)?;
            let Some(from) = len.checked_sub(found.distance) else {
                return Err(Error::Distance { distance: found.distance, written: len });
            };
            copy_match(out, from, len, end);
            len = end;
        }
        match stream.get(at) {
            Some(next) => token = *next,
            None => return Ok(len),
        }
        at += 1;
    }
}

/// Copies `count` bytes, 32 at most, from `stream[at..]` to `out[len..]`.
#[inline(always)]
fn copy_literals(stream: &[u8], at: usize, out: &mut [u8], len: usize, count: usize) -> Result<(), Error> {
    let (from, to) = (stream.get(at..).unwrap_or_default(), out.get_mut(len..).unwrap_or_default());
    if let (Some(from), Some(to)) = (from.first_chunk::<MAX_LITERALS>(), to.first_chunk_mut::<MAX_LITERALS>()) {
        // What is copied too much is overwritten by what comes next.
        *to = *from;
        return Ok(());
    }
    let from = from.get(..count).ok_or(Error::Truncated)?;
    to.get_mut(..count).ok_or(Error::TooLong)?.copy_from_slice(from);
    Ok(())
}

/// A copy of bytes that are there already.
struct Match {
    len: usize,
    distance: usize,
}

impl Match {
    #[inline(always)]
    fn read(token: u8, stream: &[u8], at: &mut usize) -> Result<Self, Error> {
        let mut byte = || {
            let byte = stream.get(*at).copied().ok_or(Error::Truncated)?;
            *at += 1;
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

/// Copies `out[from..]` to `out[to..end]` as if byte by byte: what was just written is copied again where both overlap.
/// `from < to <= end <= out.len()`.
#[inline(always)]
fn copy_match(out: &mut [u8], mut from: usize, mut to: usize, end: usize) {
    let distance = to - from;
    if distance >= WIDE && end - to <= 2 * WIDE && out.len() - to >= 2 * WIDE {
        out.copy_within(from..from + WIDE, to);
        if end - to > WIDE {
            out.copy_within(from + WIDE..from + 2 * WIDE, to + WIDE);
        }
    } else if distance == 1 {
        let byte = out[from];
        out[to..end].fill(byte);
    } else if distance < WIDE && end - to <= WIDE {
        while to < end {
            out[to] = out[from];
            (from, to) = (from + 1, to + 1);
        }
    } else {
        // The part that repeats doubles with each copy.
        while to < end {
            let count = (to - from).min(end - to);
            out.copy_within(from..from + count, to);
            to += count;
        }
    }
}
