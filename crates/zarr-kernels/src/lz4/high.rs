//! Slower compression to smaller blocks: the longest of several matches is chosen, unless a longer one begins at the next byte.
//!
//! The high-compression mode of LZ4 finds a few more matches by looking further ahead, so that its blocks differ and are a little shorter.

use super::write::{LAST_LITERALS, LAST_MATCH, Tokens};
use super::{MAX_DISTANCE, MAX_SIZE, MIN_MATCH};
use crate::Matches;

/// Number of entries in the table of positions by hash.
const HEADS: usize = 1 << 15;

/// Number of positions with a link to the previous position of the same hash: all positions within the greatest distance.
const LINKS: usize = MAX_DISTANCE + 1;

/// Tables for [`compress_high`], a quarter of a megabyte, which can be reused for further blocks.
#[derive(Debug)]
pub struct Chains {
    heads: [u32; HEADS],
    /// For each position, modulo `LINKS`, the distance back to the previous position with the same hash; 0 if there is none within the
    /// greatest distance.
    links: [u16; LINKS],
}

impl Chains {
    /// Returns empty tables.
    pub fn new() -> Self {
        Self { heads: [0; HEADS], links: [0; LINKS] }
    }
}

impl Default for Chains {
    fn default() -> Self {
        Self::new()
    }
}

/// Compresses `plain` into the beginning of `out`, like [`compress`](super::compress), but compares up to `attempts` earlier positions for
/// each match: 2 attempts compress little better, 256 are much slower.
pub fn compress_high(plain: &[u8], out: &mut [u8], attempts: usize, chains: &mut Chains) -> Option<usize> {
    let mut tokens = Tokens::new(out);
    if plain.len() > MAX_SIZE {
        return None;
    }
    let mut done = 0;
    if plain.len() > LAST_MATCH {
        let matches = Matches::new(plain, &mut chains.heads, HEADS.ilog2())?;
        let mut search = Search { plain, matches, links: &mut chains.links, noted: 0, attempts };
        done = search.sequences(&mut tokens)?;
    }
    tokens.last_literals(plain.get(done..)?)?;
    Some(tokens.len())
}

/// State of a compression: the input, and the tables of earlier positions.
#[derive(Debug)]
struct Search<'a> {
    plain: &'a [u8],
    matches: Matches<'a, HEADS>,
    links: &'a mut [u16; LINKS],
    /// Number of positions that are in the tables: all positions below it.
    noted: usize,
    attempts: usize,
}

impl Search<'_> {
    /// Writes all sequences except the last. Returns the number of bytes of the input that they cover.
    fn sequences(&mut self, tokens: &mut Tokens<'_>) -> Option<usize> {
        let (mut pending, mut at) = (0, 0);
        let stop = self.plain.len() - LAST_MATCH + 1;
        while at < stop {
            let Some((mut before, mut len)) = self.longest(at, MIN_MATCH - 1) else {
                at += 1;
                continue;
            };
            while at + 1 < stop
                && let Some(better) = self.longest(at + 1, len)
            {
                at += 1;
                (before, len) = better;
            }
            let back = self.matches.common_back(at, before, pending);
            let token = tokens.literals(self.plain.get(pending..)?, at - back - pending)?;
            tokens.copy(token, at - before, len + back)?;
            at += len;
            pending = at;
        }
        Some(pending)
    }

    /// Finds the longest match at `at` of more than `than` bytes. Returns its earlier position and its length.
    fn longest(&mut self, at: usize, than: usize) -> Option<(usize, usize)> {
        while self.noted < at {
            let position = self.noted;
            let distance = position - self.matches.exchange(position);
            self.links[position % LINKS] = u16::try_from(distance).unwrap_or(0);
            self.noted += 1;
        }
        let end = self.plain.len() - LAST_LITERALS;
        let (word, mut before) = (self.matches.word(at), self.matches.noted(at));
        let (mut best, mut longest) = (None, than);
        for _ in 0..self.attempts {
            if before >= at || at - before > MAX_DISTANCE || at + longest >= end {
                break;
            }
            // The byte that would make it longer is looked at first.
            if self.plain[before + longest] == self.plain[at + longest] && self.matches.word(before) == word {
                let len = MIN_MATCH + self.matches.common(at + MIN_MATCH, before + MIN_MATCH, end);
                if len > longest {
                    (best, longest) = (Some((before, len)), len);
                }
            }
            match self.links[before % LINKS] {
                0 => break,
                distance => before -= usize::from(distance),
            }
        }
        best
    }
}
