//! Reading a value.

use std::fs::File;
use std::io;

use crate::{ByteRange, Error, Fetched, Key, Operation, Placed, Result};

use super::names::{is_temporary, version};
use super::vfs::{Kind, Vfs, read_full_at};
use super::{FilesystemStore, is_absent};

/// So much is read without asking for the size of the file first: the memory is taken on the word of whoever asks.
const TRUSTED: u64 = 1 << 20;

impl FilesystemStore {
    /// Opens the file once, asks for its size only if a range depends on it, and reads each range by its offset.
    pub(super) fn read(&self, key: &Key, ranges: &[ByteRange], into: &mut Fetched) -> Result<bool> {
        into.clear();
        let fail = |error| self.fail(Operation::Get, key.as_str(), error);
        let Some(file) = self.open_value(key)? else { return Ok(false) };
        let mut known = None;
        if bounded(ranges).is_none_or(|total| total > TRUSTED.max(into.spare() as u64)) {
            let stat = self.vfs.stat_file(&file).map_err(fail)?;
            if stat.kind == Kind::Directory {
                return Ok(false);
            }
            into.size = Some(stat.len);
            into.version = Some(version(&stat));
            known = Some(stat.len);
        }

        let outside = |range: &ByteRange, size| Error::Range {
            store: self.to_string(),
            key: key.clone(),
            range: range.clone(),
            size,
        };
        let resolve = |range: &ByteRange| match known {
            Some(size) => range.resolve(size).ok_or_else(|| outside(range, size)),
            // Only reached for ranges that do not depend on the size.
            None => range.resolve(u64::MAX).ok_or_else(|| outside(range, u64::MAX)),
        };
        let mut total = 0_u64;
        for range in ranges {
            let at = resolve(range)?;
            total = total.checked_add(at.end - at.start).ok_or(Error::Memory { size: u64::MAX })?;
        }
        into.reserve(usize::try_from(total).map_err(|_| Error::Memory { size: total })?)?;
        for range in ranges {
            let at = resolve(range)?;
            let len = usize::try_from(at.end - at.start).map_err(|_| Error::Memory { size: total })?;
            let buffer = into.buffer(len)?;
            match read_full_at(|part, offset| self.vfs.read_at(&file, part, offset), buffer, at.start) {
                Ok(read) if read == len => {}
                Ok(_) => {
                    let size = self.vfs.stat_file(&file).map_err(fail)?.len;
                    return Err(match range.resolve(size) {
                        None => outside(range, size),
                        Some(_) => fail(io::Error::new(
                            io::ErrorKind::UnexpectedEof,
                            "the file was cut short while it was read",
                        )),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                    into.clear();
                    return Ok(false);
                }
                Err(error) => return Err(fail(error)),
            }
        }
        Ok(true)
    }
}

impl FilesystemStore {
    /// Opens the file of a value. It may turn out to be a directory.
    fn open_value(&self, key: &Key) -> Result<Option<File>> {
        if is_temporary(key) {
            return Ok(None);
        }
        match self.vfs.open(key.as_str()) {
            Ok(file) => Ok(Some(file)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.fail(Operation::Get, key.as_str(), error)),
        }
    }

    /// Reads a whole value of the expected size: opens, reads and closes, and asks for the size only if it is another.
    pub(super) fn read_into(&self, key: &Key, into: &mut [u8]) -> Result<Placed> {
        let fail = |error| self.fail(Operation::Get, key.as_str(), error);
        let Some(file) = self.open_value(key)? else { return Ok(Placed::Missing) };
        match read_past(&*self.vfs, &file, into) {
            Ok(size) if size <= into.len() => Ok(Placed::Found(size as u64)),
            Ok(_) => Ok(Placed::Found(self.vfs.stat_file(&file).map_err(fail)?.len)),
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(Placed::Missing),
            Err(error) => Err(fail(error)),
        }
    }
}

/// Reads a file from its beginning into `into`, and one byte more to see whether it goes on: how many bytes came.
fn read_past(vfs: &dyn Vfs, file: &File, into: &mut [u8]) -> io::Result<usize> {
    let mut more = [0];
    let mut came = loop {
        match vfs.read_first(file, into, &mut more) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            came => break came?,
        }
    };
    let read = |part: &mut [u8], offset| vfs.read_at(file, part, offset);
    if let Some(rest) = into.get_mut(came..).filter(|rest| !rest.is_empty() || cfg!(not(unix))) {
        // Less than was asked for: that may be the end, or chance.
        let due = came + rest.len();
        came += read_full_at(read, rest, came as u64)?;
        if came == due {
            came += read_full_at(read, &mut more, came as u64)?;
        }
    }
    Ok(came)
}

/// The bytes of all ranges together, if reading them shows by itself whether they are inside the value.
fn bounded(ranges: &[ByteRange]) -> Option<u64> {
    let mut total = 0_u64;
    for range in ranges {
        let at = range.bounded()?;
        // An empty range reads nothing and so shows nothing, and no file reaches as far as an offset that the system
        // cannot take.
        let len = at.end.checked_sub(at.start).filter(|len| *len > 0 && at.end <= i64::MAX as u64)?;
        total = total.checked_add(len)?;
    }
    (total > 0).then_some(total)
}
