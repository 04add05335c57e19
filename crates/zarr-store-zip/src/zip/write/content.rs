//! Contents of values that are set.

use std::fs::File;
use std::io;

use zarr_store::{ByteRange, Fetched, Result};

use super::Session;
use super::target::copy_range;
use crate::zip::entry::{Entry, STORED};
use crate::zip::file::{read_exact_at, write_all_at};
use crate::zip::plan::Fault;
use zarr_store::Operation;

/// Greatest size in bytes of values that are written together with their local header by one call.
const TOGETHER: usize = 64 << 10;
/// Number of bytes that are compared at a time.
const PIECE: u64 = 1 << 20;

/// Contents of a value.
pub(in crate::zip) enum Content<'a> {
    /// Bytes with their checksum.
    Slice(&'a [u8], u32),
    /// `head` followed by the first `len` bytes of `file`, with the checksum of all.
    File { head: &'a [u8], file: &'a File, len: u64, crc: u32 },
}

impl<'a> Content<'a> {
    pub(in crate::zip) fn slice(value: &'a [u8]) -> Self {
        Self::Slice(value, crc32fast::hash(value))
    }

    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Slice(value, _) => value.len() as u64,
            Self::File { head, len, .. } => head.len() as u64 + len,
        }
    }

    pub(super) fn crc(&self) -> u32 {
        match self {
            Self::Slice(_, crc) | Self::File { crc, .. } => *crc,
        }
    }

    /// Writes a local header and the contents at an offset of a file.
    pub(super) fn write(&self, into: &File, mut local: Vec<u8>, at: u64) -> io::Result<()> {
        let data = at + local.len() as u64;
        match self {
            Self::Slice(value, _) if value.len() <= TOGETHER => {
                local.extend_from_slice(value);
                write_all_at(into, &local, at)
            }
            Self::Slice(value, _) => {
                write_all_at(into, &local, at)?;
                write_all_at(into, value, data)
            }
            Self::File { head, file, len, .. } => {
                local.extend_from_slice(head);
                write_all_at(into, &local, at)?;
                copy_range(file, 0..*len, into, data + head.len() as u64)
            }
        }
    }

    /// Returns whether the contents equal those that `read` reads of an entry of the same size and checksum.
    pub(super) fn is_read_by(
        &self,
        session: &Session,
        entry: &Entry,
        read: &dyn Fn(ByteRange) -> Result<Fetched>,
    ) -> Result<bool> {
        let (head, file) = match self {
            Self::Slice(value, _) => return Ok(read(ByteRange::Full)?.part(0) == *value),
            Self::File { head, file, .. } => (*head, *file),
        };
        // For compressed entries each piece would be inflated from the beginning.
        if entry.method != STORED {
            return Ok(false);
        }
        let (behind, size) = (head.len() as u64, self.size());
        if read(ByteRange::Range(0..behind))?.part(0) != head {
            return Ok(false);
        }
        let mut piece = Vec::new();
        let mut at = behind;
        while at < size {
            let end = size.min(at + PIECE);
            piece.resize((end - at) as usize, 0);
            read_exact_at(file, &mut piece, at - behind)
                .map_err(|source| session.fail(Fault::Io(source), Operation::Set, entry.key.as_str()))?;
            if read(ByteRange::Range(at..end))?.part(0) != &piece[..] {
                return Ok(false);
            }
            at = end;
        }
        Ok(true)
    }
}
