//! Image file directories: the entries of each page.

use std::cell::Cell;

use zarr_store_virtual::Blocks;

use crate::fault::{Failure, TiffFault};
use crate::source::Source;
use crate::tags::Tag;

/// Maximum number of directories of a file.
pub(crate) const MAX_PAGES: usize = 1 << 20;
/// Maximum number of entries of a directory.
const MAX_ENTRIES: u64 = 4096;
/// Maximum number of bytes of a text, or of another value that is kept as it is.
const MAX_VALUE: u64 = 64 << 20;
/// Number of times that the bytes of a file may be read as values: entries of several pages may share one.
const SHARED: u64 = 4;
/// Number of bytes of values that may be read in any case.
const AT_LEAST: u64 = 1 << 20;
/// Number of bytes of directories and values that may be read of a file of any size.
const AT_MOST: u64 = 4 << 30;
/// Maximum number of entries of all directories that are kept.
const MAX_ENTRIES_OF_ALL: u64 = 1 << 24;
/// Maximum number of numbers of all tables of chunks and of other tags of numbers.
const MAX_NUMBERS: u64 = 1 << 27;

/// The order of bytes in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    fn u16(self, bytes: &[u8]) -> u16 {
        u16::try_from(self.number(bytes)).unwrap_or_default()
    }

    fn u32(self, bytes: &[u8]) -> u32 {
        u32::try_from(self.number(bytes)).unwrap_or_default()
    }

    /// The number in up to eight bytes.
    fn number(self, bytes: &[u8]) -> u64 {
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        match self {
            Self::Big => bytes.iter().fold(0, add),
            Self::Little => bytes.iter().rev().fold(0, add),
        }
    }
}

/// A file whose header was read.
pub(crate) struct Reader<'s> {
    pub(crate) source: &'s Source,
    blocks: &'s Blocks,
    pub(crate) order: Order,
    is_big: bool,
    /// Bytes of values that may still be read.
    left: Cell<u64>,
    /// Entries that may still be kept.
    entries_left: Cell<u64>,
    /// Numbers that may still be read.
    numbers_left: Cell<u64>,
}

/// An entry of a directory.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) tag: Tag,
    /// The offset of the entry in the file.
    pub(crate) at: u64,
    kind: u16,
    pub(crate) count: u64,
    /// The field with the value, or with the offset of the value.
    field: [u8; 8],
}

/// A directory.
#[derive(Clone, Debug)]
pub(crate) struct Ifd {
    /// The number of the page, for messages.
    pub(crate) page: usize,
    pub(crate) at: u64,
    entries: Vec<Entry>,
    pub(crate) next: u64,
}

impl<'s> Reader<'s> {
    /// Reads the header of a file. Returns the offset of the first directory as well.
    pub(crate) fn open(source: &'s Source, blocks: &'s Blocks) -> Result<(Self, u64), Failure> {
        let head = source.read(blocks, 0..source.size().min(16))?;
        let magic = || TiffFault::Magic { found: format!("{:?}", String::from_utf8_lossy(&head[..head.len().min(4)])) };
        let order = match head.get(..2) {
            Some(b"II") => Order::Little,
            Some(b"MM") => Order::Big,
            _ => return Err(magic().into()),
        };
        let version = head.get(2..4).map(|bytes| order.u16(bytes));
        let is_big = match version {
            Some(42) => false,
            Some(43) => true,
            _ => return Err(magic().into()),
        };
        let len = if is_big { 16 } else { 8 };
        let Some(rest) = head.get(4..len) else {
            return Err(TiffFault::structure(head.len() as u64, "the end of the file", "the rest of the header").into());
        };
        if is_big && (order.u16(&rest[..2]), order.u16(&rest[2..4])) != (8, 0) {
            let found = format!("offsets of {} bytes", order.u16(&rest[..2]));
            return Err(TiffFault::structure(4, found, "offsets of 8 bytes").into());
        }
        let first = if is_big { order.number(&rest[4..]) } else { order.number(rest) };
        let (entries_left, numbers_left) = (Cell::new(MAX_ENTRIES_OF_ALL), Cell::new(MAX_NUMBERS));
        let left = Cell::new(most_bytes(source.size()));
        Ok((Self { source, blocks, order, is_big, left, entries_left, numbers_left }, first))
    }

    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>, Failure> {
        let size = self.source.size();
        let end = at.checked_add(len).filter(|end| *end <= size).ok_or_else(|| {
            TiffFault::structure(
                at,
                format!("{len} bytes to be read from here"),
                format!("at most the {size} of the file"),
            )
        })?;
        Ok(self.source.read(self.blocks, at..end)?)
    }

    /// Reads the directory at an offset.
    pub(crate) fn ifd(&self, at: u64, page: usize) -> Result<Ifd, Failure> {
        let (of_count, of_entry, of_offset) = if self.is_big { (8, 20, 8) } else { (2, 12, 4) };
        let count = self.order.number(&self.read(at, of_count)?);
        if count > MAX_ENTRIES {
            return Err(TiffFault::structure(at, format!("{count} entries"), format!("at most {MAX_ENTRIES}")).into());
        }
        self.charge(count * of_entry)?;
        let bytes = self.read(at + of_count, count * of_entry + of_offset)?;
        let (listed, next) = bytes.split_at((count * of_entry) as usize);
        let mut entries = Vec::new();
        for (number, entry) in (0_u64..).zip(listed.chunks_exact(of_entry as usize)) {
            let (count, value) =
                if self.is_big { (&entry[4..12], &entry[12..20]) } else { (&entry[4..8], &entry[8..12]) };
            let tag = Tag(self.order.u16(&entry[..2]));
            if !tag.is_known() {
                continue;
            }
            take(&self.entries_left, 1, "entries of directories", MAX_ENTRIES_OF_ALL)?;
            let mut field = [0; 8];
            field[..value.len()].copy_from_slice(value);
            entries.push(Entry {
                tag,
                at: at + of_count + number * of_entry,
                kind: self.order.u16(&entry[2..4]),
                count: self.order.number(count),
                field,
            });
        }
        Ok(Ifd { page, at, entries, next: self.order.number(next) })
    }

    /// The first `most` items of a value, which are as many bytes long.
    fn bytes(&self, ifd: &Ifd, entry: &Entry, item: u64, most: u64) -> Result<Vec<u8>, Failure> {
        let fault = |found: String, expected: String| TiffFault::tag(ifd.page, entry.tag, entry.at, found, expected);
        let size = self.source.size();
        let whole = entry.count.checked_mul(item).filter(|len| *len <= size);
        let whole = whole.ok_or_else(|| {
            fault(format!("{} values", entry.count), format!("no more than a file of {size} bytes has"))
        })?;
        let len = whole.min(item.saturating_mul(most));
        let room = if self.is_big { 8 } else { 4 };
        if whole <= room {
            return Ok(entry.field[..len as usize].to_vec());
        }
        let at = self.order.number(&entry.field[..room as usize]);
        if at.checked_add(whole).is_none_or(|end| end > size) {
            let found = format!("a value of {whole} bytes at byte {at}");
            return Err(fault(found, format!("one inside the file of {size} bytes")).into());
        }
        self.charge(len)?;
        self.read(at, len)
    }

    /// Counts bytes that are read of directories and values.
    fn charge(&self, len: u64) -> Result<(), TiffFault> {
        let what = "bytes of directories and values of tags, each counted as often as it is used";
        take(&self.left, len, what, most_bytes(self.source.size()))
    }

    /// Counts numbers that are kept.
    pub(crate) fn take_numbers(&self, count: u64) -> Result<(), TiffFault> {
        take(&self.numbers_left, count, "numbers in tables of chunks", MAX_NUMBERS)
    }

    /// The first `most` numbers of a tag, if it is there and they are not negative integers.
    pub(crate) fn numbers(&self, ifd: &Ifd, tag: Tag, most: u64) -> Result<Option<Vec<u64>>, Failure> {
        let Some(entry) = ifd.get(tag) else { return Ok(None) };
        let item = match entry.kind {
            1 => 1,
            3 => 2,
            4 | 13 => 4,
            16 | 18 => 8,
            kind => {
                let found = format!("values of type {kind}");
                return Err(TiffFault::tag(ifd.page, tag, entry.at, found, "integers that are not negative").into());
            }
        };
        self.take_numbers(entry.count.min(most))?;
        let bytes = self.bytes(ifd, entry, item, most)?;
        Ok(Some(bytes.chunks_exact(item as usize).map(|bytes| self.order.number(bytes)).collect()))
    }

    /// The first number of a tag, or another one if the tag is not there.
    pub(crate) fn number(&self, ifd: &Ifd, tag: Tag, default: u64) -> Result<u64, Failure> {
        let numbers = self.numbers(ifd, tag, 1)?;
        Ok(numbers.and_then(|numbers| numbers.first().copied()).unwrap_or(default))
    }

    /// The first `most` numbers of a tag of floats or fractions, if it is there.
    pub(crate) fn floats(&self, ifd: &Ifd, tag: Tag, most: u64) -> Result<Option<Vec<f64>>, Failure> {
        let Some(entry) = ifd.get(tag) else { return Ok(None) };
        let Some(size) = type_size(entry.kind) else { return Ok(None) };
        let bytes = self.bytes(ifd, entry, size, most)?;
        let number = |bytes: &[u8]| -> f64 {
            let half = |at: usize| bytes.get(at..at + 4).map_or(0, |bytes| self.order.u32(bytes));
            match entry.kind {
                5 => f64::from(half(0)) / f64::from(half(4)),
                10 => f64::from(half(0).cast_signed()) / f64::from(half(4).cast_signed()),
                11 => f64::from(f32::from_bits(self.order.u32(bytes))),
                12 => f64::from_bits(self.order.number(bytes)),
                _ => self.order.number(bytes) as f64,
            }
        };
        Ok(Some(bytes.chunks_exact(size as usize).map(number).collect()))
    }

    /// The text of a tag up to its first NUL, if it is there.
    pub(crate) fn text(&self, ifd: &Ifd, tag: Tag) -> Result<Option<String>, Failure> {
        let Some(bytes) = self.raw(ifd, tag)? else { return Ok(None) };
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Ok(Some(decoded(&bytes[..end])))
    }

    /// The bytes of a tag, if it is there and has strings or bytes.
    pub(crate) fn raw(&self, ifd: &Ifd, tag: Tag) -> Result<Option<Vec<u8>>, Failure> {
        let Some(entry) = ifd.get(tag).filter(|entry| matches!(entry.kind, 1 | 2 | 6 | 7)) else { return Ok(None) };
        if entry.count > MAX_VALUE {
            let found = format!("{} bytes", entry.count);
            return Err(ifd.fault(tag, found, format!("at most {MAX_VALUE}, which is the limit")).into());
        }
        self.bytes(ifd, entry, 1, MAX_VALUE).map(Some)
    }
}

impl Ifd {
    pub(crate) fn get(&self, tag: Tag) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.tag == tag)
    }

    /// The fault that a tag has another value than it may have.
    pub(crate) fn fault(&self, tag: Tag, found: impl ToString, expected: impl ToString) -> TiffFault {
        let at = self.get(tag).map_or(self.at, |entry| entry.at);
        TiffFault::tag(self.page, tag, at, found, expected)
    }
}

/// Number of bytes of directories and values that may be read of a file.
fn most_bytes(size: u64) -> u64 {
    size.saturating_mul(SHARED).saturating_add(AT_LEAST).min(AT_MOST)
}

/// Takes something of what is left of a limit.
fn take(left: &Cell<u64>, count: u64, what: &'static str, limit: u64) -> Result<(), TiffFault> {
    left.set(left.get().checked_sub(count).ok_or(TiffFault::Limit { what, limit })?);
    Ok(())
}

/// The text of bytes: UTF-8, or else ISO 8859-1, whose bytes are the first code points.
pub(crate) fn decoded(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// Number of bytes of a value of a type; `None` for a type that the format does not have.
fn type_size(kind: u16) -> Option<u64> {
    match kind {
        1 | 2 | 6 | 7 => Some(1),
        3 | 8 => Some(2),
        4 | 9 | 11 | 13 => Some(4),
        5 | 10 | 12 | 16 | 17 | 18 => Some(8),
        _ => None,
    }
}
