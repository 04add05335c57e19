//! Laws of zip files that were opened.

use super::super::zip::{CENTRAL, END, LOCAL, number};
use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Signature of the end record with numbers of 64 bits.
const END64: [u8; 4] = *b"PK\x06\x06";

/// Value of a field of a record if the number is in another record.
const WIDE: usize = u32::MAX as usize;

/// Returns the archive in a file, without the bytes before it, which its offsets do not count, and those after it.
pub(in crate::fuzz) fn archive(file: &[u8]) -> &[u8] {
    let begins = |at: usize, mark: &[u8]| file.get(at..).is_some_and(|rest| rest.starts_with(mark));
    let ends = || (0..file.len().saturating_sub(21)).rev().filter(|at| begins(*at, &END));
    let behind = |at: usize| file.len().checked_sub(at + 22 + number(file, at + 20, 2));
    let end = ends().find(|at| behind(*at) == Some(0)).or_else(|| ends().find(|at| behind(*at).is_some()));
    let end = end.expect("a record of the end");
    let [count, size, start] = [(10, 2), (12, 4), (16, 4)].map(|(at, len)| number(file, end + at, len));
    let is_wide = count == usize::from(u16::MAX) || size == WIDE || start == WIDE;
    let wide = (0..end).rev().find(|at| is_wide && begins(*at, &END64));
    let (records, size, start) = match wide {
        Some(at) => (at, number(file, at + 40, 8), number(file, at + 48, 8)),
        None => (end, size, start),
    };
    let shift = records.saturating_sub(start.saturating_add(size));
    // A directory of nothing begins with no signature, and ends where the records begin.
    let is_moved = size == 0 || (!begins(start, &CENTRAL) && begins(start.saturating_add(shift), &CENTRAL));
    file.get(if is_moved { shift } else { 0 }..file.len() - behind(end).unwrap_or_default()).unwrap_or_default()
}

/// Checks the directory of a file without numbers of 64 bits: it must have the stated number of entries, each of which points to a record
/// before the directory that shares no byte with others. Returns the starts of the records, and that of the directory at the end.
pub(in crate::fuzz) fn directory(file: &[u8]) -> Vec<usize> {
    let is_end = |at: &usize| file.get(*at..).is_some_and(|rest| rest.starts_with(&END));
    let fits = |at: &usize| at + 22 + number(file, at + 20, 2) == file.len();
    let end = (0..file.len()).rev().filter(is_end).find(fits).expect("a record of the end");
    let [count, size, start] = [(10, 2), (12, 4), (16, 4)].map(|(at, len)| number(file, end + at, len));
    if count == usize::from(u16::MAX) || size == WIDE || start == WIDE {
        return Vec::new();
    }
    assert!(start + size <= end, "a directory behind the end");
    let (mut at, mut found, mut ranges) = (start, 0, Vec::new());
    while at < start + size {
        assert!(file.get(at..).is_some_and(|rest| rest.starts_with(&CENTRAL)), "no entry at {at}");
        let [stored, name, extra, comment, local] =
            [(20, 4), (28, 2), (30, 2), (32, 2), (42, 4)].map(|(index, len)| number(file, at + index, len));
        // Neither encrypted nor with a directory that is.
        assert_eq!(number(file, at + 8, 2) & 0x2041, 0, "flags of the entry at {at}");
        if stored != WIDE && local != WIDE {
            ranges.push(local..local + 30 + name + stored);
        }
        (at, found) = (at + 46 + name + extra + comment, found + 1);
    }
    assert_eq!((at, found), (start + size, count), "the end of the directory and its entries");
    ranges.sort_by_key(|range| range.start);
    assert!(ranges.iter().all(|range| range.end <= start), "an entry in the directory");
    assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "entries that share bytes");
    ranges.iter().map(|range| range.start).chain([start]).collect()
}

/// Returns whether the deflate stream after the record at `local` is as long as the entry says.
fn is_stream(file: &[u8], local: usize, stored: usize) -> bool {
    let start = local + 30 + number(file, local + 26, 2) + number(file, local + 28, 2);
    let Some(stream) = file.get(start..).and_then(|rest| rest.get(..stored)) else { return stored == WIDE };
    let (mut inflate, mut passed) = (Decompress::new(false), vec![0; 64 << 10]);
    loop {
        let rest = stream.get(inflate.total_in() as usize..).unwrap_or_default();
        match inflate.decompress(rest, &mut passed, FlushDecompress::None) {
            Ok(Status::Ok) => {}
            Ok(Status::StreamEnd) => return inflate.total_in() == stored as u64,
            _ => return false,
        }
    }
}

/// Checks that an entry of the directory has the name, the size and the checksum of a value, and points to a record of the same name whose
/// bytes end before the next of the positions `begins`.
pub(in crate::fuzz) fn value(file: &[u8], name: &str, value: &[u8], begins: &[usize]) {
    let mut crc = Crc::new();
    crc.update(value);
    let is_named = |at: usize, len: usize| {
        file.get(at..).is_some_and(|rest| rest.starts_with(name.as_bytes()) && len == name.len())
    };
    // The record itself says how long its extra field is.
    let is_apart = |local: usize, stored: usize| {
        let data = local + 30 + number(file, local + 26, 2) + number(file, local + 28, 2);
        let end = data.saturating_add(stored);
        stored == WIDE || begins.iter().find(|begin| **begin > local).is_none_or(|next| end <= *next)
    };
    let is_one = |at: usize| {
        let (size, local) = (number(file, at + 24, 4), number(file, at + 42, 4));
        // First, as the bytes at `local` are read below.
        (local == WIDE || file.get(local..).is_some_and(|rest| rest.starts_with(&LOCAL)))
            && number(file, at + 16, 4) == crc.sum() as usize
            && (number(file, at + 10, 2) != 8 || local == WIDE || is_stream(file, local, number(file, at + 20, 4)))
            && (size == value.len() || size == WIDE)
            && is_named(at + 46, number(file, at + 28, 2))
            && (local == WIDE
                || is_apart(local, number(file, at + 20, 4)) && is_named(local + 30, number(file, local + 26, 2)))
    };
    let found = file.windows(4).enumerate().any(|(at, bytes)| bytes == CENTRAL && is_one(at));
    assert!(found, "{name}: no entry of {} bytes with checksum {:08x}", value.len(), crc.sum());
}
