//! Records of a zip file in the form in which they are written.
//!
//! Numbers of 64 bits are written in the zip64 extra field only if they do not fit into 32 bits.

use crate::zip::directory::{END, END64, HEADER, Header, LOCATOR, ZIP64};
use crate::zip::entry::STORED;
use crate::zip::get::LOCAL;

/// Flag: the name is UTF-8.
const UTF8: u16 = 1 << 11;
/// Flag: sizes and checksum follow the data, and may be missing in the local header.
const DESCRIPTOR: u16 = 1 << 3;
/// Required version of the format: 2.0, or 4.5 (`WIDE`) for zip64.
const PLAIN: u16 = 20;
const WIDE: u16 = 45;
/// Marks entries as made on Unix, where the upper half of the external attributes is the mode: writable by the owner, readable by all.
const UNIX: u16 = 3 << 8;
const MODE: u32 = 0o100_644 << 16;
/// Time of entries: 1980-01-01 00:00:00, the earliest time of the format.
const MODIFIED: u32 = (1 << 5 | 1) << 16;

/// Entry without its name.
#[derive(Clone, Debug)]
pub(super) struct Record {
    made_by: u16,
    needed: u16,
    flags: u16,
    pub(super) method: u16,
    modified: u32,
    pub(super) crc: u32,
    pub(super) compressed: u64,
    pub(super) size: u64,
    internal: u16,
    external: u32,
    /// Offset of the local header.
    pub(super) offset: u64,
    /// Extra field without the part for zip64.
    extra: Box<[u8]>,
    comment: Box<[u8]>,
}

impl Record {
    /// Creates the record of an uncompressed value.
    pub(super) fn stored(name: &str, crc: u32, size: u64, offset: u64) -> Self {
        Self {
            made_by: UNIX | PLAIN,
            needed: PLAIN,
            flags: if name.is_ascii() { 0 } else { UTF8 },
            method: STORED,
            modified: MODIFIED,
            crc,
            compressed: size,
            size,
            internal: 0,
            external: MODE,
            offset,
            extra: Box::default(),
            comment: Box::default(),
        }
    }

    /// Creates the record of an entry of a directory.
    pub(super) fn of(header: &Header<'_>) -> Self {
        Self {
            made_by: header.made_by,
            needed: header.needed,
            flags: header.flags,
            method: header.method,
            modified: header.modified,
            crc: header.crc,
            compressed: header.compressed,
            size: header.size,
            internal: header.internal,
            external: header.external,
            offset: header.offset,
            extra: without_zip64(header.extra),
            comment: header.comment.into(),
        }
    }

    /// Returns the record with a new local header at `offset`, as [`Record::local`] writes it.
    pub(super) fn moved(&self, offset: u64) -> Self {
        Self { offset, flags: self.flags & !DESCRIPTOR, ..self.clone() }
    }

    /// Returns the record of a folder, which has no data, with a new local header at `offset`.
    pub(super) fn folder(&self, offset: u64) -> Self {
        Self { method: STORED, crc: 0, compressed: 0, size: 0, ..self.moved(offset) }
    }

    /// Returns the bytes of the local header.
    pub(super) fn local(&self, name: &[u8]) -> Vec<u8> {
        let wide = self.has_wide_sizes();
        let mut extra = Vec::new();
        if wide {
            put_zip64(&mut extra, &[self.size, self.compressed]);
        }
        let mut into = Vec::with_capacity(30 + name.len() + extra.len());
        put32(&mut into, LOCAL);
        self.put_common(&mut into, wide);
        put16(&mut into, len16(name));
        put16(&mut into, len16(&extra));
        into.extend_from_slice(name);
        into.extend_from_slice(&extra);
        into
    }

    /// Appends the entry of the central directory to `into`.
    pub(super) fn put_central(&self, name: &[u8], into: &mut Vec<u8>) {
        let mut numbers = Vec::new();
        if self.has_wide_sizes() {
            numbers.extend([self.size, self.compressed]);
        }
        if is_wide(self.offset) {
            numbers.push(self.offset);
        }
        let mut extra = Vec::new();
        if !numbers.is_empty() {
            put_zip64(&mut extra, &numbers);
        }
        // Too many bytes only if the numbers were written less widely before.
        if extra.len() + self.extra.len() <= usize::from(u16::MAX) {
            extra.extend_from_slice(&self.extra);
        }
        put32(into, HEADER);
        put16(into, self.made_by);
        self.put_common(into, !numbers.is_empty());
        put16(into, len16(name));
        put16(into, len16(&extra));
        put16(into, len16(&self.comment));
        put16(into, 0);
        put16(into, self.internal);
        put32(into, self.external);
        put32(into, narrow(self.offset));
        into.extend_from_slice(name);
        into.extend_from_slice(&extra);
        into.extend_from_slice(&self.comment);
    }

    /// Appends the numbers that both headers contain.
    fn put_common(&self, into: &mut Vec<u8>, wide: bool) {
        put16(into, if wide { self.needed.max(WIDE) } else { self.needed });
        put16(into, self.flags);
        put16(into, self.method);
        put32(into, self.modified);
        put32(into, self.crc);
        let saturated = self.has_wide_sizes();
        for size in [self.compressed, self.size] {
            put32(into, if saturated { u32::MAX } else { narrow(size) });
        }
    }

    fn has_wide_sizes(&self) -> bool {
        is_wide(self.size) || is_wide(self.compressed)
    }
}

/// Returns the records after the directory, which has `entries` entries and `size` bytes at `offset`. They include zip64 records if needed,
/// or always if `always_wide`.
pub(super) fn end(entries: u64, size: u64, offset: u64, comment: &[u8], always_wide: bool) -> Vec<u8> {
    let mut into = Vec::new();
    let count = u16::try_from(entries).unwrap_or(u16::MAX);
    if always_wide || count == u16::MAX || is_wide(size) || is_wide(offset) {
        put32(&mut into, END64);
        // The rest of this record.
        put64(&mut into, 44);
        put16(&mut into, UNIX | WIDE);
        put16(&mut into, WIDE);
        put32(&mut into, 0);
        put32(&mut into, 0);
        for number in [entries, entries, size, offset] {
            put64(&mut into, number);
        }
        put32(&mut into, LOCATOR);
        put32(&mut into, 0);
        put64(&mut into, offset + size);
        put32(&mut into, 1);
    }
    put32(&mut into, END);
    put16(&mut into, 0);
    put16(&mut into, 0);
    put16(&mut into, count);
    put16(&mut into, count);
    put32(&mut into, narrow(size));
    put32(&mut into, narrow(offset));
    put16(&mut into, len16(comment));
    into.extend_from_slice(comment);
    into
}

/// Returns an extra field without its zip64 part. Malformed bytes at its end are kept.
fn without_zip64(mut extra: &[u8]) -> Box<[u8]> {
    let mut kept = Vec::new();
    while let [a, b, c, d, rest @ ..] = extra
        && let Some((_, after)) = rest.split_at_checked(usize::from(u16::from_le_bytes([*c, *d])))
    {
        if u16::from_le_bytes([*a, *b]) != ZIP64 {
            kept.extend_from_slice(&extra[..extra.len() - after.len()]);
        }
        extra = after;
    }
    kept.extend_from_slice(extra);
    kept.into()
}

fn is_wide(number: u64) -> bool {
    number >= u64::from(u32::MAX)
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns a length that is known to fit into 16 bits.
fn len16(bytes: &[u8]) -> u16 {
    debug_assert!(bytes.len() <= usize::from(u16::MAX));
    u16::try_from(bytes.len()).unwrap_or(u16::MAX)
}

fn put_zip64(into: &mut Vec<u8>, numbers: &[u64]) {
    put16(into, ZIP64);
    put16(into, 8 * numbers.len() as u16);
    numbers.iter().for_each(|number| put64(into, *number));
}

fn put16(into: &mut Vec<u8>, number: u16) {
    into.extend_from_slice(&number.to_le_bytes());
}

fn put32(into: &mut Vec<u8>, number: u32) {
    into.extend_from_slice(&number.to_le_bytes());
}

fn put64(into: &mut Vec<u8>, number: u64) {
    into.extend_from_slice(&number.to_le_bytes());
}
