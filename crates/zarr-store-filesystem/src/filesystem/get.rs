//! Reading of values.

use std::fs::File;
use std::io;
use std::sync::Arc;

use zarr_store::{
    ByteRange, Error, Fetched, GetInto, GetOptions, Key, Operation, Precondition, Result, Snapshot, Version, backoff,
};

use super::install::split;
use super::names::{is_temporary, modified, version};
use super::open_value::{OpenValue, is_out_of_files};
use super::vfs::{Kind, Stat, Vfs, read_full_at};
use super::{FilesystemStore, is_absent};

/// Greatest number of bytes of reads that do not look up the size of the file first; memory is then allocated as the caller asks.
const TRUSTED: u64 = 1 << 20;
/// Number of attempts to open a file while the process has too many open files, since other threads close theirs.
const ATTEMPTS: u32 = 64;

impl FilesystemStore {
    /// Returns the error for a value that does not have the required version.
    fn changed(&self, key: &Key, due: &Version, found: Version) -> Error {
        let expected = Precondition::Version(due.clone());
        Error::Precondition { store: self.to_string(), key: key.clone(), expected, found: Some(found) }
    }

    /// Reads ranges of a value: from the open file of a snapshot, or from the newest file, if it has the required version.
    pub(super) fn read(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        if let Some(state) = &options.if_match
            && let (Some(open), Some(due)) = (state.handle::<OpenValue>(), state.version())
        {
            return self.read_state(key, open.file(), open.stat(), due, ranges).map(Some);
        }
        if ranges.is_empty() && !options.snapshot {
            return self.look_up(key, options);
        }
        let Some(file) = self.open_value(key)? else { return Ok(None) };
        if options.is_default() {
            return self.read_newest(key, &file, ranges);
        }
        let stat = self.vfs.stat_file(&file).map_err(|error| self.fail(Operation::Get, key.as_str(), error))?;
        if !self.is_value(key, &stat)? {
            return Ok(None);
        }
        let found = version(&stat);
        options.check_version(self, key, Some(&found))?;
        if options.has(Some(&found)) {
            return Ok(Some(Fetched::unchanged(found)));
        }
        let mut fetched = self.read_state(key, &file, &stat, &found, ranges)?;
        if options.snapshot {
            fetched.snapshot = Some(match OpenValue::keep(file, stat) {
                Some(open) => Snapshot::of_handle(Some(found), Arc::new(open)),
                None => Snapshot::of_version(found),
            });
        }
        Ok(Some(fetched))
    }

    /// Returns whether the entry at a key is a value. A directory is none. A pipe, device or socket is an error, since someone put it
    /// there.
    fn is_value(&self, key: &Key, stat: &Stat) -> Result<bool> {
        match stat.kind {
            Kind::File => Ok(true),
            Kind::Other => {
                let error = io::Error::other("found a pipe, a device or a socket, expected a file");
                Err(self.fail(Operation::Get, key.as_str(), error))
            }
            _ => Ok(false),
        }
    }

    /// Looks up the size and version of a value without opening its file.
    fn look_up(&self, key: &Key, options: &GetOptions) -> Result<Option<Fetched>> {
        if is_temporary(key) {
            return Ok(None);
        }
        let stat = match self.vfs.stat(key.as_str()) {
            Ok(stat) if self.is_value(key, &stat)? => stat,
            Ok(_) => return Ok(None),
            Err(error) if is_absent(&error) => return self.no_link_to_nothing(key).map(|()| None),
            Err(error) => return Err(self.fail(Operation::Get, key.as_str(), error)),
        };
        let mut fetched = Fetched::new();
        fetched.size = Some(stat.len);
        (fetched.version, fetched.modified) = (Some(version(&stat)), modified(&stat));
        options.check(self, key, &mut fetched)?;
        Ok(Some(fetched))
    }

    /// Reads ranges of a file in the state `stat`, which is the version `due`.
    ///
    /// A file that other processes replace by renaming keeps its contents. A write in place is detected by the time and size of the file
    /// afterwards, within the granularity of the file system's clock.
    fn read_state(&self, key: &Key, file: &File, stat: &Stat, due: &Version, ranges: &[ByteRange]) -> Result<Fetched> {
        let mut fetched = Fetched::new();
        let read = self.read_ranges(key, file, Some(stat.len), ranges, &mut fetched);
        let now = self.vfs.stat_file(file).map_err(|error| self.fail(Operation::Get, key.as_str(), error))?;
        if (now.len, now.modified) != (stat.len, stat.modified) {
            return Err(self.changed(key, due, version(&now)));
        }
        read?;
        fetched.size = Some(stat.len);
        (fetched.version, fetched.modified) = (Some(due.clone()), modified(stat));
        Ok(fetched)
    }

    /// Reads ranges of a newly opened file. Looks up its size only if a range depends on it.
    fn read_newest(&self, key: &Key, file: &File, ranges: &[ByteRange]) -> Result<Option<Fetched>> {
        let mut fetched = Fetched::new();
        let mut known = None;
        if bounded(ranges).is_none_or(|total| total > TRUSTED.max(fetched.spare() as u64)) {
            let stat = self.vfs.stat_file(file).map_err(|error| self.fail(Operation::Get, key.as_str(), error))?;
            if !self.is_value(key, &stat)? {
                return Ok(None);
            }
            known = Some(stat);
        }
        match self.read_ranges(key, file, known.map(|stat| stat.len), ranges, &mut fetched) {
            Err(error) if error.io_kind() == Some(io::ErrorKind::IsADirectory) => return Ok(None),
            read => read?,
        }
        fetched.size = known.map(|stat| stat.len);
        (fetched.version, fetched.modified) = (known.map(|stat| version(&stat)), known.as_ref().and_then(modified));
        Ok(Some(fetched))
    }

    /// Reads each range by its offset. `size` may be `None` if no range depends on it.
    fn read_ranges(
        &self,
        key: &Key,
        file: &File,
        size: Option<u64>,
        ranges: &[ByteRange],
        into: &mut Fetched,
    ) -> Result<()> {
        let fail = |error| self.fail(Operation::Get, key.as_str(), error);
        let outside = |range: &ByteRange, size| Error::Range {
            store: self.to_string(),
            key: key.clone(),
            range: range.clone(),
            size,
        };
        let resolve = |range: &ByteRange| {
            let size = size.unwrap_or(u64::MAX);
            range.resolve(size).ok_or_else(|| outside(range, size))
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
            let read = read_full_at(|part, offset| self.vfs.read_at(file, part, offset), buffer, at.start);
            if read.map_err(fail)? < len {
                let size = self.vfs.stat_file(file).map_err(fail)?.len;
                return Err(match range.resolve(size) {
                    None => outside(range, size),
                    Some(_) => {
                        fail(io::Error::new(io::ErrorKind::UnexpectedEof, "the file was cut short while it was read"))
                    }
                });
            }
        }
        Ok(())
    }

    /// Opens the file of a value; `None` if there is none. The file may turn out to be a directory.
    pub(super) fn open_value(&self, key: &Key) -> Result<Option<File>> {
        if is_temporary(key) {
            return Ok(None);
        }
        let mut attempt = 0;
        loop {
            match self.vfs.open_unless_absent(key.as_str()) {
                Ok(file) => return Ok(file),
                Err(error) if is_absent(&error) => return self.no_link_to_nothing(key).map(|()| None),
                Err(error) if is_out_of_files(&error) && attempt < ATTEMPTS => {
                    attempt += 1;
                    std::thread::sleep(backoff(attempt));
                }
                Err(error) => return Err(self.fail(Operation::Get, key.as_str(), error)),
            }
        }
    }

    /// Checks, if nothing exists at a key, that neither the key nor a directory above is a symbolic link to a missing target: that is not
    /// the same as a value that was never written. Directories of git-annex and DataLad have such links until content is fetched, and so do
    /// links to a disk that is not mounted.
    fn no_link_to_nothing(&self, key: &Key) -> Result<()> {
        let mut path = key.as_str();
        while !path.is_empty() {
            match self.vfs.read_link(path) {
                // Nothing exists at this path: look at the directory above it.
                Err(error) if is_absent(&error) => path = split(path).0,
                Ok(target) if self.vfs.stat(path).is_err_and(|error| is_absent(&error)) => {
                    let text = format!("{path} is a symbolic link to {}, where there is nothing", target.display());
                    return Err(self.fail(Operation::Get, key.as_str(), io::Error::other(text)));
                }
                // A file or a directory, or a link to one.
                _ => break,
            }
        }
        Ok(())
    }

    /// Reads a whole value of the expected size: opens, reads and closes the file, and looks up its size only if it differs.
    pub(super) fn read_into(&self, key: &Key, into: &mut [u8]) -> Result<GetInto> {
        let fail = |error| self.fail(Operation::Get, key.as_str(), error);
        let Some(file) = self.open_value(key)? else { return Ok(GetInto::Missing) };
        match read_past(&*self.vfs, &file, into) {
            Ok(size) if size <= into.len() => Ok(GetInto::Found(size as u64)),
            Ok(_) => Ok(GetInto::Found(self.vfs.stat_file(&file).map_err(fail)?.len)),
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(GetInto::Missing),
            Err(error) => Err(fail(error)),
        }
    }
}

/// Reads a file from its beginning into `into`, and one more byte to detect a longer file. Returns the number of bytes read.
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
        // A short read: the end of the file, or an interruption.
        let due = came + rest.len();
        came += read_full_at(read, rest, came as u64)?;
        if came == due {
            came += read_full_at(read, &mut more, came as u64)?;
        }
    }
    Ok(came)
}

/// Returns the total length of the ranges, if a short read shows that a range exceeds the value; `None` otherwise.
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
