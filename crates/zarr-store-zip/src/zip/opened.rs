//! A zip file that was opened, however it is read.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use zarr_store::{
    AccessProfile, ByteRange, ByteRangeExt, Capabilities, Error, Fetched, GetOptions, Key, Operation, Result,
};

use crate::ZipFault;

use super::entry::{Entries, Entry};
use super::get::{Access, Getting};
use super::opening::{Opened, Opening};
use super::plan::{self, Fault};

/// The capabilities of a store in a zip file that is read.
pub(super) const CAPABILITIES: Capabilities = Capabilities::none().list(true).suffix_ranges(true);

/// The directory of a zip file, and how its values are read.
pub(super) struct Archive {
    name: String,
    pub(super) entries: Entries,
    access: Access,
    pub(super) profile: AccessProfile,
}

/// How values of a local file are best read. The file is open: a smaller piece costs no opening.
pub(super) const LOCAL: AccessProfile = AccessProfile::LOCAL.read_size(Some(256 << 10));

impl Archive {
    /// Makes the archive of a file that was opened in a store with the profile `below`; `None` for a local file.
    pub(super) fn new(name: String, opened: Opened, below: Option<AccessProfile>) -> Self {
        let max_gap = below.map(|profile| profile.max_gap);
        Self {
            name,
            entries: Entries::new(opened.directory.entries),
            access: Access { max_gap, same_state: opened.same_state, size: below.map(|_| opened.size) },
            profile: below.unwrap_or(LOCAL),
        }
    }

    /// Gets a value; `read` does the reading.
    pub(super) fn get(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        options: &GetOptions,
        read: impl FnOnce(Getting<'_>) -> Result<Fetched, Fault>,
    ) -> Result<Option<Fetched>> {
        let Some(entry) = self.entries.find(key) else { return Ok(None) };
        let fetched = match self.begin(entry, ranges)? {
            Some(getting) => read(getting).map_err(|fault| self.fail(fault, key))?,
            None => Fetched::new(),
        };
        self.end(entry, fetched, options).map(Some)
    }

    /// The reading of ranges of a value; `None` if there are no ranges.
    pub(super) fn begin<'a>(&'a self, entry: &'a Entry, ranges: &'a [ByteRange]) -> Result<Option<Getting<'a>>> {
        for range in ranges {
            range.check(self, &entry.key, entry.size)?;
        }
        Ok((!ranges.is_empty()).then(|| Getting::new(entry, ranges, &self.access)))
    }

    /// The reply to a get. The file is of one state, and has no other.
    pub(super) fn end(&self, entry: &Entry, mut fetched: Fetched, options: &GetOptions) -> Result<Fetched> {
        (fetched.size, fetched.version, fetched.snapshot) = (Some(entry.size), None, None);
        options.check(self, &entry.key, &mut fetched)?;
        Ok(fetched)
    }

    /// The error for a get that failed.
    pub(super) fn fail(&self, fault: Fault, key: &Key) -> Error {
        match fault {
            Fault::Zip(fault) => fault.of(self.name.clone()),
            Fault::Io(source) => Error::io(self, Operation::Get, key.as_str(), source),
            Fault::Store(error) => error,
            Fault::Gone => {
                let expected = self.access.size.map_or_else(|| "a file".to_owned(), |size| format!("{size} bytes"));
                ZipFault::Replaced { found: "no file".to_owned(), expected }.of(self.name.clone())
            }
        }
    }
}

impl fmt::Display for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// Opens the zip file at a path.
pub(super) fn open_file(path: &Path) -> Result<(File, Archive)> {
    let name = path.display().to_string();
    let fail = |source| file_failed(source, &name);
    let file = File::open(path).map_err(fail)?;
    if !file.metadata().map_err(fail)?.is_file() {
        return Err(Error::NotAStore { store: name, found: "no file", expected: "a zip file" });
    }
    match plan::run(&&file, Opening::new()) {
        Ok(opened) => Ok((file, Archive::new(name, opened, None))),
        Err(fault) => Err(opening_failed(fault, name)),
    }
}

/// The name of the zip file at `key`, as an address.
pub(super) fn name(store: &dyn fmt::Display, key: &Key) -> String {
    let store = store.to_string();
    let between = if store.ends_with(['/', ':']) { "" } else { "/" };
    format!("{store}{between}{key}")
}

/// The error for a local file of this name that could not be opened.
pub(super) fn file_failed(source: io::Error, name: &str) -> Error {
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::NoStore { store: name.to_owned() },
        _ => Error::io(&name, Operation::Open, "/", source),
    }
}

/// The error for a file of this name that was no zip file, or could not be read.
pub(super) fn opening_failed(fault: Fault, name: String) -> Error {
    match fault {
        Fault::Zip(fault) => fault.of(name),
        Fault::Io(source) => Error::io(&name, Operation::Open, "/", source),
        Fault::Store(error) => error,
        Fault::Gone => Error::NoStore { store: name },
    }
}
