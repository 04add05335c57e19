//! Compression of blosclz streams, to the same bytes as c-blosc 1.21: it chooses the same matches, and stops at the same point if the
//! output is too long.

use super::{FAR, MAX_LITERALS};
use zarr_kernels::Matches;

/// Smallest distance that is too far for a match.
const TOO_FAR: usize = 65_535 + FAR - 1;

/// Number of bits of a hash; `PROBE_BITS` is that of a hash in the probe.
const HASH_BITS: u32 = 14;
const PROBE_BITS: u32 = 12;

/// Number of bytes at the end of the input that are not searched for matches.
const TAIL: usize = 12;

/// Minimum size of the input for compression; `MIN_ROOM` is the minimum size of the output buffer.
const MIN_INPUT: usize = 16;
const MIN_ROOM: usize = 66;

/// Minimum ratio that the probe must predict at each level; data that shrinks less is not worth its decompression time.
const MIN_RATIO: [f64; 10] = [0.0, 2.0, 1.5, 1.2, 1.2, 1.2, 1.2, 1.15, 1.1, 1.0];

/// Compresses `plain` at `level` 1 to 9 into `out`, and returns the compressed size. `None` if it does not fit or is not worth it. `split`
/// says whether `plain` is one of several streams of a block, which repeat more.
pub(crate) fn compress(plain: &[u8], out: &mut [u8], level: u8, split: bool) -> Option<usize> {
    let ratio = probe(plain.get(plain.len() - plain.len() / 4..)?);
    if plain.len() < MIN_INPUT || out.len() < MIN_ROOM || ratio < *MIN_RATIO.get(usize::from(level))? {
        return None;
    }
    // Shorter matches cost time when they are decompressed, and are taken where long ones are rare.
    let rules = if !split || ratio < 4.0 { Rules { cut: 0, min: 5 } } else { Rules { cut: 1, min: 6 } };
    let bits = match level {
        1 => HASH_BITS - 2,
        2 => HASH_BITS - 1,
        _ => HASH_BITS,
    };
    let mut table = [0; 1 << HASH_BITS];
    let mut matches = Matches::<_, false>::new(plain, &mut table, bits)?;
    let mut tokens = Tokens { out, len: 0 };
    // A stream begins with literals.
    let (mut pending, mut at) = (0, 4);
    let end = plain.len() - TAIL;
    loop {
        // Beyond so many literals there is no room.
        let stop = end.min(pending + tokens.most_literals() + 1);
        let Some((found, distance, len)) = next_match(&mut matches, at, stop, plain.len(), &rules) else { break };
        tokens.literals(plain.get(pending..)?, found - pending)?;
        tokens.copy(distance, len)?;
        at = found + len;
        pending = at;
        if at >= end {
            break;
        }
        // Of the bytes within a match only the last are remembered. Of the very last, the hash is of three bytes.
        let last = matches.word(at - 2);
        matches.note(last, at - 2);
        if level == 9 {
            matches.note(last >> 8, at - 1);
        }
    }
    tokens.literals(plain.get(pending..)?, plain.len() - pending)?;
    *tokens.out.first_mut()? |= 32;
    Some(tokens.len)
}

/// Returns the next match to use between `at` and `stop`: its position, distance and length. `size` is the size of the input.
#[inline(always)]
fn next_match<const N: usize>(
    matches: &mut Matches<'_, N>,
    mut at: usize,
    stop: usize,
    size: usize,
    rules: &Rules,
) -> Option<(usize, usize, usize)> {
    loop {
        let (found, before) = matches.find(at, stop, TOO_FAR)?;
        // The last two bytes are left to literals, as c-blosc does.
        let (distance, end) = (found - before, size - 1);
        let len = matches.common(found, before, end).min(end - found - 1) - rules.cut;
        if len >= rules.min && (len > 7 || distance <= FAR) {
            return Some((found, distance, len));
        }
        at = found + 1;
    }
}

/// Rules for the choice and length of matches.
struct Rules {
    /// Number of bytes cut off at the end of a match.
    cut: usize,
    /// Minimum length of a match in bytes, after the cut.
    min: usize,
}

/// Estimates the compression ratio of the beginning of `plain`: compresses it without writing the output.
fn probe(plain: &[u8]) -> f64 {
    let plain = plain.get(..1 << PROBE_BITS).unwrap_or(plain);
    let mut table = [0; 1 << PROBE_BITS];
    let Some(mut matches) = Matches::<_, false>::new(plain, &mut table, PROBE_BITS) else { return 0.0 };
    let rules = Rules { cut: 0, min: 5 };
    let (mut at, mut literals, mut size) = (0, 4, 5);
    let end = plain.len().saturating_sub(TAIL);
    while at < end {
        let found = next_match(&mut matches, at, end, plain.len(), &rules);
        let next = found.map_or(end, |(found, ..)| found);
        // A token for each 32 of them.
        let count = literals + next - at;
        size += next - at + count / MAX_LITERALS;
        (literals, at) = (count % MAX_LITERALS, next);
        if let Some((_, distance, len)) = found {
            size -= usize::from(literals == 0);
            literals = 0;
            size += if len >= 9 { (len - 9) / 255 + 1 } else { 0 } + if distance > FAR { 4 } else { 2 };
            at += len;
            // The token of the literals to come.
            size += 1;
            if at < end {
                matches.note(matches.word(at - 2), at - 2);
            }
        }
    }
    at as f64 / size as f64
}

/// Output buffer with the tokens written so far.
struct Tokens<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl Tokens<'_> {
    /// Returns the number of literals that fit: c-blosc requires room for two bytes before each token.
    fn most_literals(&self) -> usize {
        let Some(room) = self.out.len().checked_sub(self.len + 3) else { return 0 };
        room / (MAX_LITERALS + 1) * MAX_LITERALS + (room % (MAX_LITERALS + 1)).min(MAX_LITERALS - 1) + 1
    }

    fn push(&mut self, byte: u8) -> Option<()> {
        *self.out.get_mut(self.len)? = byte;
        self.len += 1;
        Some(())
    }

    /// Writes the first `count` bytes of `from` as literals. `None` if they do not fit.
    fn literals(&mut self, from: &[u8], count: usize) -> Option<()> {
        if count > self.most_literals() {
            return None;
        }
        let (mut from, mut left) = (from, count);
        while left > 0 {
            let part = left.min(MAX_LITERALS);
            self.push(part as u8 - 1)?;
            match (from.first_chunk::<MAX_LITERALS>(), self.out.get_mut(self.len..)?.first_chunk_mut()) {
                // The next bytes overwrite the bytes copied beyond the end.
                (Some(from), Some(to)) => *to = *from,
                _ => self.out.get_mut(self.len..self.len + part)?.copy_from_slice(from.get(..part)?),
            }
            self.len += part;
            left -= part;
            from = from.get(part..)?;
        }
        Some(())
    }

    fn copy(&mut self, distance: usize, len: usize) -> Option<()> {
        let (code, near) = (len - 2, distance - 1);
        let (high, low) = if distance > FAR { (31, 255) } else { (near >> 8, near & 255) };
        self.push((code.min(7) << 5 | high) as u8)?;
        if code >= 7 {
            let mut more = code - 7;
            while more >= 255 {
                self.push(255)?;
                more -= 255;
            }
            self.push(more as u8)?;
        }
        self.push(low as u8)?;
        if distance > FAR {
            let [high, low] = ((near - FAR) as u16).to_be_bytes();
            self.push(high)?;
            self.push(low)?;
        }
        // Room for the next token is asked for at once.
        (self.len < self.out.len()).then_some(())
    }
}
