//! Decompressing.

use super::{Error, MAX_COUNT, MIN_MATCH};
use crate::{Fault, Output};

/// Decompresses a block into the beginning of `out`, and returns the number of decompressed bytes. The rest of `out` may be overwritten
/// with arbitrary bytes.
///
/// # Errors
/// An [`Error`] if `block` is invalid, or does not fit into `out`.
pub fn decompress(block: &[u8], out: &mut [u8]) -> Result<usize, Error> {
    let (mut rest, mut out) = (block, Output::new(out));
    loop {
        // Most sequences are short. Of sequences that do not lie at the end, all but the copy's length is read without
        // checks.
        while let Some((next, _)) = rest.split_first_chunk::<SHORT>() {
            let token = usize::from(next[0]);
            let literals = token >> 4;
            if literals == MAX_COUNT {
                break;
            }
            out.literals(&next[1..], literals).map_err(|fault| error(fault, 0, out.len()))?;
            let distance = usize::from(u16::from_le_bytes([next[1 + literals], next[2 + literals]]));
            rest = &rest[3 + literals..];
            copy(token, distance, &mut rest, &mut out)?;
        }
        let token = usize::from(byte(&mut rest)?);
        let literals = count(token >> 4, &mut rest)?;
        out.literals(rest, literals).map_err(|fault| error(fault, 0, out.len()))?;
        rest = rest.get(literals..).unwrap_or_default();
        let Some((distance, after)) = rest.split_first_chunk() else {
            return if rest.is_empty() { Ok(out.len()) } else { Err(Error::Truncated) };
        };
        rest = after;
        copy(token, usize::from(u16::from_le_bytes(*distance)), &mut rest, &mut out)?;
    }
}

/// Least number of remaining bytes of a block to read a short sequence without checks: the token, and 32 bytes that are copied at once as
/// literals.
const SHORT: usize = 33;

/// Copies the bytes of a sequence from `distance` bytes back; `rest` begins with the remainder of the length of the copy.
#[inline(always)]
fn copy(token: usize, distance: usize, rest: &mut &[u8], out: &mut Output<'_>) -> Result<(), Error> {
    let len = count(token & 15, rest)? + MIN_MATCH;
    out.repeat(distance, len).map_err(|fault| error(fault, distance, out.len()))
}

#[cold]
fn error(fault: Fault, distance: usize, written: usize) -> Error {
    match fault {
        Fault::Input => Error::Truncated,
        Fault::Room => Error::TooLong,
        Fault::Distance => Error::Distance { distance, written },
    }
}

#[inline(always)]
fn byte(rest: &mut &[u8]) -> Result<u8, Error> {
    let (&byte, after) = rest.split_first().ok_or(Error::Truncated)?;
    *rest = after;
    Ok(byte)
}

/// Reads a count that begins with the four bits `bits` of a token. The sum cannot overflow for the bytes of a block.
#[inline(always)]
fn count(bits: usize, rest: &mut &[u8]) -> Result<usize, Error> {
    let mut count = bits;
    if bits == MAX_COUNT {
        loop {
            let more = byte(rest)?;
            count += usize::from(more);
            if more != 255 {
                break;
            }
        }
    }
    Ok(count)
}
