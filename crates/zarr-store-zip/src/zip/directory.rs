//! The central directory: entries and their offsets.

use std::ops::Range;
use std::sync::OnceLock;

use zarr_store::{Bytes, Key};

use crate::ZipFault;

use super::entry::{DEFLATED, Entry, STORED};

pub(super) const END: u32 = 0x0605_4b50;
const END_SIZE: usize = 22;
pub(super) const LOCATOR: u32 = 0x0706_4b50;
const LOCATOR_SIZE: usize = 20;
pub(super) const END64: u32 = 0x0606_4b50;
const END64_SIZE: usize = 56;
pub(super) const HEADER: u32 = 0x0201_4b50;
const HEADER_SIZE: usize = 46;
/// Size of the local header without its name and extra field.
pub(super) const LOCAL_SIZE: u64 = 30;
/// Identifier of the extra field with numbers that do not fit into 32 bits.
pub(super) const ZIP64: u16 = 1;
/// Greatest expansion factor of a deflate stream (zlib's documentation, "Maximum expansion factor").
const MAX_EXPANSION: u64 = 1032;

/// Greatest size of the end of a file: records of fixed size and a comment.
pub(super) const TAIL: u64 = (END_SIZE + u16::MAX as usize + LOCATOR_SIZE) as u64;

/// Contents of the end records: position of the central directory, and comment.
pub(super) struct End {
    entries: u64,
    pub(super) offset: u64,
    size: u64,
    /// Comment of the file.
    pub(super) comment: Bytes,
    /// Offset of the records at the end of the archive.
    records: u64,
    /// Number of bytes before the archive. Offsets in the archive count from its beginning.
    before: u64,
    /// Number of bytes after the archive.
    behind: u64,
}

impl End {
    /// Checks that the file consists only of the archive, since a write keeps nothing else.
    pub(super) fn check_alone(&self) -> Result<(), ZipFault> {
        let Self { before, behind, .. } = *self;
        if before == 0 && behind == 0 { Ok(()) } else { Err(ZipFault::Surrounded { before, behind }) }
    }
}

/// Entry of the central directory.
pub(super) struct Header<'a> {
    pub(super) name: &'a [u8],
    pub(super) made_by: u16,
    pub(super) needed: u16,
    pub(super) flags: u16,
    pub(super) method: u16,
    /// Time in DOS format: the time of day in the lower half, the date in the upper half.
    pub(super) modified: u32,
    pub(super) crc: u32,
    pub(super) compressed: u64,
    pub(super) size: u64,
    pub(super) internal: u16,
    pub(super) external: u32,
    pub(super) offset: u64,
    pub(super) extra: &'a [u8],
    pub(super) comment: &'a [u8],
}

/// Pieces of the file that were read so far.
pub(super) struct Pieces {
    /// Size of the file.
    pub(super) size: u64,
    pub(super) pieces: Vec<(u64, Bytes)>,
}

/// Reason why the pieces do not suffice.
pub(super) enum Lack {
    /// This range of the file is missing.
    Bytes(Range<u64>),
    /// The file is faulty.
    Fault(ZipFault),
}

impl From<ZipFault> for Lack {
    fn from(fault: ZipFault) -> Self {
        Self::Fault(fault)
    }
}

impl Pieces {
    /// Returns `len` bytes at the offset `at`. If they are not inside the file, the error names the record `what`.
    fn get(&self, at: u64, len: u64, what: &'static str) -> Result<Bytes, Lack> {
        let end = at.checked_add(len).filter(|end| *end <= self.size).ok_or(ZipFault::Record { what, at })?;
        let found = self.pieces.iter().find_map(|(start, bytes)| {
            let from = usize::try_from(at.checked_sub(*start)?).ok()?;
            let to = from.checked_add(usize::try_from(len).ok()?)?;
            (to <= bytes.len()).then(|| bytes.slice(from..to))
        });
        found.ok_or(Lack::Bytes(at..end))
    }
}

/// Parsed central directory.
pub(super) struct Directory {
    /// Entries that are values, sorted by key.
    pub(super) entries: Vec<Entry>,
    pub(super) end: End,
    /// Bytes of the directory.
    pub(super) bytes: Bytes,
}

/// Parses and checks the central directory.
pub(super) fn parse(file: &Pieces) -> Result<Directory, Lack> {
    let mut end = find_end(file)?;
    let mut bytes = file.get(end.offset, end.size, "central directory")?;
    // As of Python: the directory ends where the records begin, if it is not where it is said to be.
    let shift = end.records.saturating_sub(end.offset.saturating_add(end.size));
    if shift > 0 && bytes.is_empty() {
        // An archive of nothing, behind other bytes.
        (end.offset, end.before) = (end.offset + shift, shift);
    } else if shift > 0 && u32_at(&bytes, 0) != Some(HEADER) {
        let shifted = file.get(end.offset + shift, end.size, "central directory")?;
        if u32_at(&shifted, 0) == Some(HEADER) {
            (bytes, end.offset, end.before) = (shifted, end.offset + shift, shift);
        }
    }
    let mut headers = Vec::new();
    let mut rest = &*bytes;
    while !rest.is_empty() {
        let bad =
            || ZipFault::Record { what: "central directory entry", at: end.offset + (bytes.len() - rest.len()) as u64 };
        let (mut header, after) = header(rest).ok_or_else(bad)?;
        header.offset = header.offset.saturating_add(end.before);
        headers.push(header);
        rest = after;
    }
    if headers.len() as u64 != end.entries {
        return Err(ZipFault::Count { found: headers.len() as u64, expected: end.entries }.into());
    }
    let mut by_offset: Vec<_> = headers.iter().enumerate().collect();
    by_offset.sort_by_key(|(_, header)| header.offset);

    let mut entries = Vec::with_capacity(headers.len());
    for (i, (index, header)) in by_offset.iter().enumerate() {
        let limit = by_offset.get(i + 1).map_or(end.offset, |(_, next)| next.offset.min(end.offset));
        entries.extend(entry(header, limit)?.map(|entry| (entry, *index)));
    }
    // zarr-python's ZipStore appends an entry whenever a value is set again; as there, the last in the directory counts.
    entries.sort_unstable_by(|(a, a_index), (b, b_index)| a.key.cmp(&b.key).then(b_index.cmp(a_index)));
    entries.dedup_by(|(later, _), (earlier, _)| later.key == earlier.key);
    Ok(Directory { entries: entries.into_iter().map(|(entry, _)| entry).collect(), end, bytes })
}

/// Checks an entry of the directory; `None` if it is a folder.
fn entry(header: &Header<'_>, limit: u64) -> Result<Option<Entry>, ZipFault> {
    let Ok(name) = str::from_utf8(header.name) else {
        return Err(ZipFault::NotUtf8 { name: String::from_utf8_lossy(header.name).into_owned() });
    };
    let owned = || name.to_owned();
    let is_folder = name.ends_with('/');
    if let Some(fault) = Key::fault(if is_folder { &name[..name.len() - 1] } else { name }) {
        return Err(ZipFault::Name { name: owned(), fault });
    }
    // Bit 0: encrypted, 6: strongly, 13: the directory too.
    if header.flags & 0x2041 != 0 {
        return Err(ZipFault::Encrypted { name: owned() });
    }
    // The extra field of the local header is not known yet; with it the end is checked when the entry is read.
    let fixed = LOCAL_SIZE + header.name.len() as u64;
    let end = header.offset.checked_add(fixed).and_then(|data| data.checked_add(header.compressed));
    if end.is_none_or(|end| end > limit) {
        return Err(ZipFault::Overlap { name: owned() });
    }
    let possible = match header.method {
        STORED => header.size == header.compressed,
        DEFLATED => header.size <= header.compressed.saturating_mul(MAX_EXPANSION),
        _ => true,
    };
    if !possible || (is_folder && header.size != 0) {
        return Err(ZipFault::Size { name: owned(), found: header.compressed, expected: header.size });
    }
    if is_folder {
        return Ok(None);
    }
    let Ok(key) = Key::new(name) else { return Ok(None) };
    Ok(Some(Entry {
        key,
        method: header.method,
        crc: header.crc,
        compressed: header.compressed,
        size: header.size,
        header: header.offset,
        limit,
        data: OnceLock::new(),
    }))
}

/// Finds the record at the end of the file, which only its comment may follow.
fn find_end(file: &Pieces) -> Result<End, Lack> {
    let tail_size = file.size.min(TAIL);
    let tail_at = file.size - tail_size;
    let tail = file.get(tail_at, tail_size, "end of the file")?;
    let left = |at: usize| {
        let comment = u16_at(&tail, at + 20).filter(|_| u32_at(&tail, at) == Some(END))?;
        tail.len().checked_sub(at + END_SIZE + usize::from(comment))
    };
    // Behind the comment there is nothing, as a rule.
    let ends = || (0..=tail.len().saturating_sub(END_SIZE)).rev();
    let (at, behind) = ends()
        .find_map(|at| left(at).filter(|left| *left == 0).map(|left| (at, left)))
        .or_else(|| ends().find_map(|at| left(at).map(|left| (at, left))))
        .ok_or(ZipFault::NoEnd)?;
    let bad = ZipFault::Record { what: "end of central directory record", at: tail_at + at as u64 };
    let short = || {
        let disks = u16_at(&tail, at + 4)? | u16_at(&tail, at + 6)?;
        let end = End {
            entries: u64::from(u16_at(&tail, at + 10)?),
            size: u64::from(u32_at(&tail, at + 12)?),
            offset: u64::from(u32_at(&tail, at + 16)?),
            // A copy: the end of the file is large.
            comment: Bytes::copy_from_slice(tail.get(at + END_SIZE..tail.len() - behind)?),
            records: tail_at + at as u64,
            before: 0,
            behind: behind as u64,
        };
        Some((disks, end))
    };
    let (disks, mut end) = short().ok_or_else(|| bad.clone())?;
    let locator = at.checked_sub(LOCATOR_SIZE).filter(|at| u32_at(&tail, *at) == Some(LOCATOR));
    let saturated =
        end.entries == u64::from(u16::MAX) || end.size == u64::from(u32::MAX) || end.offset == u64::from(u32::MAX);
    if let Some(locator) = locator.filter(|_| saturated) {
        let at = u64_at(&tail, locator + 8).ok_or_else(|| bad.clone())?;
        // Of an archive with bytes before it the record is not where it is said to be, but before the locator.
        let moved = (tail_at + locator as u64).saturating_sub(END64_SIZE as u64);
        let (at, record) = match read_end64(file, at) {
            Err(Lack::Fault(ZipFault::Record { .. })) if at < moved => (moved, read_end64(file, moved)?),
            record => (at, record?),
        };
        (end.entries, end.size, end.offset) = record;
        end.records = at;
    } else if disks != 0 {
        return Err(ZipFault::Spanned.into());
    }
    if end.offset.checked_add(end.size).is_none_or(|directory| directory > end.records) {
        return Err(bad.into());
    }
    Ok(end)
}

/// Reads the number of entries, and the size and offset of the directory, from the zip64 end record.
fn read_end64(file: &Pieces, at: u64) -> Result<(u64, u64, u64), Lack> {
    let what = "zip64 end of central directory record";
    let bytes = file.get(at, END64_SIZE as u64, what)?;
    let parse = || {
        let disks = u32_at(&bytes, 16)? | u32_at(&bytes, 20)?;
        let end = (u64_at(&bytes, 32)?, u64_at(&bytes, 40)?, u64_at(&bytes, 48)?);
        (u32_at(&bytes, 0)? == END64).then_some((disks, end))
    };
    match parse() {
        Some((0, end)) => Ok(end),
        Some(_) => Err(ZipFault::Spanned.into()),
        None => Err(ZipFault::Record { what, at }.into()),
    }
}

/// Parses the first entry of the directory, and returns it with the bytes after it.
pub(super) fn header(bytes: &[u8]) -> Option<(Header<'_>, &[u8])> {
    if u32_at(bytes, 0)? != HEADER {
        return None;
    }
    let name_end = HEADER_SIZE + usize::from(u16_at(bytes, 28)?);
    let extra_end = name_end + usize::from(u16_at(bytes, 30)?);
    let end = extra_end + usize::from(u16_at(bytes, 32)?);
    let mut header = Header {
        name: bytes.get(HEADER_SIZE..name_end)?,
        made_by: u16_at(bytes, 4)?,
        needed: u16_at(bytes, 6)?,
        flags: u16_at(bytes, 8)?,
        method: u16_at(bytes, 10)?,
        modified: u32_at(bytes, 12)?,
        crc: u32_at(bytes, 16)?,
        compressed: u64::from(u32_at(bytes, 20)?),
        size: u64::from(u32_at(bytes, 24)?),
        internal: u16_at(bytes, 36)?,
        external: u32_at(bytes, 38)?,
        offset: u64::from(u32_at(bytes, 42)?),
        extra: bytes.get(name_end..extra_end)?,
        comment: bytes.get(extra_end..end)?,
    };
    let mut wide = zip64(header.extra);
    // The extra field has the numbers that are saturated here, in this order.
    for number in [&mut header.size, &mut header.compressed, &mut header.offset] {
        if *number == u64::from(u32::MAX)
            && let Some(extra) = &mut wide
        {
            *number = u64_at(extra, 0)?;
            *extra = &extra[8..];
        }
    }
    Some((header, bytes.get(end..)?))
}

/// Returns the contents of the zip64 extra field; `None` if there is none.
fn zip64(mut extra: &[u8]) -> Option<&[u8]> {
    loop {
        let (id, size) = (u16_at(extra, 0)?, usize::from(u16_at(extra, 2)?));
        let content = extra.get(4..4 + size)?;
        if id == ZIP64 {
            return Some(content);
        }
        extra = &extra[4 + size..];
    }
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}
