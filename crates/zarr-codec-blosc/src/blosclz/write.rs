//! Compressing.

use super::{FAR, MAX_LITERALS};

/// The longest distance that a match can have.
const MAX_DISTANCE: usize = FAR + 1 + 0xffff;

/// Bits of a hash, and of one for the probe.
const HASH_BITS: u32 = 14;
const PROBE_BITS: u32 = 12;

/// Input at the end that is not searched for matches.
const TAIL: usize = 12;

/// The ratio that the probe must promise at each level; what shrinks less is not worth its decompression.
const MIN_RATIO: [f64; 10] = [0.0, 2.0, 1.5, 1.2, 1.2, 1.2, 1.2, 1.15, 1.1, 1.0];

/// Compresses `plain` at `level` 1 to 9 into `out`, and returns how many bytes that took. `None` if it does not fit or is
/// not worth it. `split` says whether `plain` is one of several streams of a block: they hold more that repeats.
pub(crate) fn compress(plain: &[u8], out: &mut [u8], level: u8, split: bool) -> Option<usize> {
    let ratio = probe(plain.get(plain.len() - plain.len() / 4..)?);
    if plain.len() < 16 || out.len() < 66 || ratio < *MIN_RATIO.get(usize::from(level))? {
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
    let mut tokens = Tokens { out, len: 0 };
    let mut pending = 0;
    // A stream begins with literals.
    let mut at = 4;
    while at + TAIL < plain.len() {
        let found = find(plain, at, &mut table, bits).and_then(|distance| rules.keep(plain, at, distance));
        let Some((distance, len)) = found else {
            at += 1;
            continue;
        };
        tokens.literals(plain.get(pending..at)?)?;
        tokens.copy(distance, len)?;
        at += len;
        pending = at;
        // Of the bytes within a match only the last are remembered.
        remember(plain, at - 2, &mut table, bits);
        if level == 9 {
            remember(plain, at - 1, &mut table, bits);
        }
    }
    tokens.literals(plain.get(pending..)?)?;
    *tokens.out.first_mut()? |= 32;
    Some(tokens.len)
}

/// Which matches are taken, and how much of them.
struct Rules {
    /// Bytes left off at the end.
    cut: usize,
    /// Bytes of the shortest match that is taken, after the cut.
    min: usize,
}

impl Rules {
    /// The distance and length to copy, for a match of at least 4 bytes.
    fn keep(&self, plain: &[u8], at: usize, distance: usize) -> Option<(usize, usize)> {
        let len = match_len(plain, at, distance) - self.cut;
        let short = len < self.min || (len <= 7 && distance > FAR);
        (!short).then_some((distance, len))
    }
}

/// How much the beginning of `plain` shrinks, about: it is compressed without being written.
fn probe(plain: &[u8]) -> f64 {
    let plain = plain.get(..1 << PROBE_BITS).unwrap_or(plain);
    let mut table = [0; 1 << PROBE_BITS];
    let rules = Rules { cut: 0, min: 5 };
    let (mut at, mut literals, mut size) = (0, 4, 5);
    while at + TAIL < plain.len() {
        let found = find(plain, at, &mut table, PROBE_BITS).and_then(|distance| rules.keep(plain, at, distance));
        if let Some((distance, len)) = found {
            size += if len >= 9 { (len - 9) / 255 + 1 } else { 0 } + if distance > FAR { 4 } else { 2 };
            size += usize::from(literals > 0);
            at += len;
            literals = 0;
            remember(plain, at - 2, &mut table, PROBE_BITS);
        } else {
            at += 1;
            size += 1;
            literals += 1;
            if literals == MAX_LITERALS {
                literals = 0;
                size += 1;
            }
        }
    }
    at as f64 / size as f64
}

#[inline(always)]
fn read(plain: &[u8], at: usize) -> Option<u32> {
    plain.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Fibonacci hashing, as LZ4 does.
#[inline(always)]
fn hash(bytes: u32, bits: u32) -> usize {
    (bytes.wrapping_mul(2_654_435_761) >> (32 - bits)) as usize
}

#[inline(always)]
fn remember(plain: &[u8], at: usize, table: &mut [u32], bits: u32) {
    if let Some(bytes) = read(plain, at)
        && let Some(place) = table.get_mut(hash(bytes, bits))
    {
        *place = at as u32;
    }
}

/// How far back the four bytes at `at` were last, if they were within reach. Remembers them.
#[inline(always)]
fn find(plain: &[u8], at: usize, table: &mut [u32], bits: u32) -> Option<usize> {
    let bytes = read(plain, at)?;
    let place = table.get_mut(hash(bytes, bits))?;
    let before = std::mem::replace(place, at as u32) as usize;
    let distance = at - before;
    (distance > 0 && distance <= MAX_DISTANCE && read(plain, before)? == bytes).then_some(distance)
}

/// How many bytes at `at` equal those `distance` before. The last byte is left to a literal: c-blosc refuses streams that
/// end with a match.
#[inline(always)]
fn match_len(plain: &[u8], at: usize, distance: usize) -> usize {
    let end = plain.len() - 1;
    let (here, before) = (plain.get(at..end).unwrap_or_default(), plain.get(at - distance..).unwrap_or_default());
    let mut len = 0;
    for (here, before) in here.as_chunks::<8>().0.iter().zip(before.as_chunks::<8>().0) {
        let differ = u64::from_le_bytes(*here) ^ u64::from_le_bytes(*before);
        if differ != 0 {
            return len + (differ.trailing_zeros() / 8) as usize;
        }
        len += 8;
    }
    let rest = here.get(len..).unwrap_or_default().iter().zip(before.get(len..).unwrap_or_default());
    len + rest.take_while(|(here, before)| here == before).count()
}

/// The tokens written so far.
struct Tokens<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl Tokens<'_> {
    fn push(&mut self, byte: u8) -> Option<()> {
        *self.out.get_mut(self.len)? = byte;
        self.len += 1;
        Some(())
    }

    fn literals(&mut self, bytes: &[u8]) -> Option<()> {
        for bytes in bytes.chunks(MAX_LITERALS) {
            self.push((bytes.len() - 1) as u8)?;
            self.out.get_mut(self.len..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
            self.len += bytes.len();
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
        Some(())
    }
}
