//! Compression, to the same bytes as `LZ4_compress_fast` of LZ4 1.9 and 1.10 on machines of 64 bits.

use super::{MAX_COUNT, MAX_DISTANCE, MAX_SIZE, MIN_MATCH};
use crate::Matches;

/// Size in bytes below which an input uses the table with more entries, which take two bytes each in LZ4 (`LZ4_64Klimit`).
const SMALL: usize = (64 << 10) + 11;

/// Number of entries of the table for inputs of less than `SMALL` bytes. The next constant is for all other inputs.
const SMALL_TABLE: usize = 1 << 13;
const LARGE_TABLE: usize = 1 << 12;

/// Number of bytes at the end of a block that must be literals (`LASTLITERALS`). The next constant is the number of bytes at the end in
/// which no match may begin (`MFLIMIT`).
pub(super) const LAST_LITERALS: usize = 5;
pub(super) const LAST_MATCH: usize = 12;

/// Greatest acceleration that has an effect.
const MAX_ACCELERATION: usize = 65_537;

/// Number of bytes that are written at once if there is room.
const WIDE: usize = 32;

/// Returns the greatest size of the block that `size` bytes are compressed to (`LZ4_compressBound`).
pub fn max_compressed_size(size: usize) -> usize {
    size.saturating_add(size / 255).saturating_add(16)
}

/// Compresses `plain` into the beginning of `out`, and returns the size of the block. `None` if `out` has no room for the block, or `plain`
/// has more than [`MAX_SIZE`] bytes. [`max_compressed_size`] bytes are always enough room.
///
/// A larger `acceleration` makes compression faster and the block larger; values less than 1 count as 1.
pub fn compress(plain: &[u8], out: &mut [u8], acceleration: usize) -> Option<usize> {
    let acceleration = acceleration.clamp(1, MAX_ACCELERATION);
    let mut tokens = Tokens::new(out);
    let mut done = 0;
    if plain.len() > MAX_SIZE {
        return None;
    }
    if plain.len() > LAST_MATCH && plain.len() < SMALL {
        let mut table = [0; SMALL_TABLE];
        done = sequences::<SMALL_TABLE, false>(plain, &mut table, acceleration, &mut tokens)?;
    } else if plain.len() > LAST_MATCH {
        let mut table = [0; LARGE_TABLE];
        done = sequences::<LARGE_TABLE, true>(plain, &mut table, acceleration, &mut tokens)?;
    }
    tokens.last_literals(plain.get(done..)?)?;
    Some(tokens.len)
}

/// Writes all sequences except the last. Returns the number of bytes of the input that they cover.
#[inline(always)]
fn sequences<const N: usize, const LONG: bool>(
    plain: &[u8],
    table: &mut [u32; N],
    acceleration: usize,
    tokens: &mut Tokens<'_>,
) -> Option<usize> {
    let mut matches = Matches::<N, LONG>::new(plain, table, N.ilog2())?;
    let (mut pending, mut at) = (0, 1);
    let (end, stop) = (plain.len() - LAST_LITERALS, plain.len() - LAST_MATCH + 1);
    matches.exchange(0);
    loop {
        let Some((found, before)) = matches.find_in_steps(at, stop, MAX_DISTANCE, acceleration) else {
            return Some(pending);
        };
        let back = matches.common_back(found, before, pending);
        let mut before = before - back;
        at = found - back;
        let mut token = tokens.literals(plain.get(pending..)?, at - pending)?;
        loop {
            let len = MIN_MATCH + matches.common(at + MIN_MATCH, before + MIN_MATCH, end);
            tokens.copy(token, at - before, len)?;
            at += len;
            pending = at;
            if at >= stop {
                return Some(pending);
            }
            matches.exchange(at - 2);
            before = matches.exchange(at);
            if at - before > MAX_DISTANCE || matches.word(before) != matches.word(at) {
                break;
            }
            token = tokens.no_literals()?;
        }
        at += 1;
    }
}

/// Writer of sequences into a buffer.
pub(super) struct Tokens<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(out: &'a mut [u8]) -> Self {
        Self { out, len: 0 }
    }

    /// Returns the number of bytes written so far.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn room(&self) -> usize {
        self.out.len() - self.len
    }

    #[inline(always)]
    fn push(&mut self, byte: u8) -> Option<()> {
        *self.out.get_mut(self.len)? = byte;
        self.len += 1;
        Some(())
    }

    /// Writes the token of a sequence and its literals, the first `count` bytes of `from`. Returns the position of the token; `None` if
    /// there is no room.
    #[inline(always)]
    pub(super) fn literals(&mut self, from: &[u8], count: usize) -> Option<usize> {
        // LZ4 requires room behind the literals for a distance, a byte of a count, and the last literals.
        if 1 + count + (2 + 1 + LAST_LITERALS) + count / 255 > self.room() {
            return None;
        }
        let token = self.len;
        self.push((count.min(MAX_COUNT) << 4) as u8)?;
        if count >= MAX_COUNT {
            self.more(count - MAX_COUNT)?;
        }
        match (from.first_chunk::<WIDE>(), self.out.get_mut(self.len..)?.first_chunk_mut()) {
            // The next bytes overwrite the bytes copied beyond the end.
            (Some(from), Some(to)) if count <= WIDE => *to = *from,
            _ => self.out.get_mut(self.len..self.len + count)?.copy_from_slice(from.get(..count)?),
        }
        self.len += count;
        Some(token)
    }

    /// Writes the token of a sequence without literals. Returns the position of the token; `None` if there is no room.
    #[inline(always)]
    fn no_literals(&mut self) -> Option<usize> {
        self.push(0)?;
        Some(self.len - 1)
    }

    /// Writes the distance and the length of a copy, for the sequence whose token is at `token`. `None` if there is no room.
    #[inline(always)]
    pub(super) fn copy(&mut self, token: usize, distance: usize, len: usize) -> Option<()> {
        let count = len - MIN_MATCH;
        *self.out.get_mut(self.len..)?.first_chunk_mut()? = (distance as u16).to_le_bytes();
        self.len += 2;
        // Room for the rest of the count, and the last literals.
        if 1 + LAST_LITERALS + (count + 240) / 255 > self.room() {
            return None;
        }
        *self.out.get_mut(token)? |= count.min(MAX_COUNT) as u8;
        if count >= MAX_COUNT {
            self.more(count - MAX_COUNT)?;
        }
        Some(())
    }

    /// Writes the bytes of the part of a count that does not fit into the token.
    fn more(&mut self, mut count: usize) -> Option<()> {
        while count >= 255 {
            self.push(255)?;
            count -= 255;
        }
        self.push(count as u8)
    }

    /// Writes the last sequence, which consists of literals only.
    pub(super) fn last_literals(&mut self, from: &[u8]) -> Option<()> {
        if from.len() + 1 + (from.len() + 255 - MAX_COUNT) / 255 > self.room() {
            return None;
        }
        self.push((from.len().min(MAX_COUNT) << 4) as u8)?;
        if from.len() >= MAX_COUNT {
            self.more(from.len() - MAX_COUNT)?;
        }
        self.out.get_mut(self.len..self.len + from.len())?.copy_from_slice(from);
        self.len += from.len();
        Some(())
    }
}
