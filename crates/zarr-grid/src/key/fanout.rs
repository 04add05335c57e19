//! Chunk keys that limit the number of entries per directory.

use super::number;
use crate::shape::ChunkIndex;

/// Returns the base of the digits: `max_children` minus 1, since a directory also has a marker `d<axis>` or `c`; at least 2, so that the
/// number of digits is finite.
fn base(max_children: u64) -> u64 {
    max_children.saturating_sub(1).max(2)
}

pub(super) fn write(max_children: u64, index: &[u64], into: &mut String) {
    let base = base(max_children);
    for (axis, &number) in index.iter().enumerate() {
        into.push('d');
        number::write(axis as u64, into);
        into.push('/');
        // Base 2 has the most digits: 64.
        let mut digits = [0; 64];
        let (mut from, mut rest) = (digits.len() - 1, number);
        while rest >= base {
            digits[from] = rest % base;
            rest /= base;
            from -= 1;
        }
        digits[from] = rest;
        for &digit in &digits[from..] {
            number::write(digit, into);
            into.push('/');
        }
    }
    into.push('c');
}

pub(super) fn parse(max_children: u64, key: &str, rank: usize) -> Option<ChunkIndex> {
    let base = base(max_children);
    let mut parts = key.strip_suffix('c')?.split_terminator('/').peekable();
    let mut index = ChunkIndex::new();
    for axis in 0..rank {
        let marker = parts.next()?.strip_prefix('d')?;
        (number::parse(marker)? == axis as u64).then_some(())?;
        let mut value = digit(parts.next()?, base)?;
        while let Some(part) = parts.next_if(|part| !part.starts_with('d')) {
            // A leading zero digit would be a second spelling of the same number.
            let leading = Some(value).filter(|&value| value > 0)?;
            value = leading.checked_mul(base)?.checked_add(digit(part, base)?)?;
        }
        index.push(value);
    }
    // The prefixes are required: `d0/1c` is no key.
    let whole = rank == 0 && key == "c" || rank > 0 && key.ends_with("/c");
    (whole && parts.next().is_none()).then_some(index)
}

fn digit(text: &str, base: u64) -> Option<u64> {
    number::parse(text).filter(|&digit| digit < base)
}
