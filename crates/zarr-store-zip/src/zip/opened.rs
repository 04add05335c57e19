//! Opened zip file, independent of how it is read.

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

/// Capabilities of a store that reads a zip file.
pub(super) const CAPABILITIES: Capabilities = Capabilities::none().list(true).suffix_ranges(true);

/// Directory of a zip file, and parameters of reads of its values.
pub(super) struct Archive {
    name: String,
    pub(super) entries: Entries,
    access: Access,
    pub(super) profile: AccessProfile,
}

/// Access profile for local files. The file is open already, so that small reads cost no opening. A part of a compressed file costs the
/// decoding of the whole.
pub(super) const LOCAL: AccessProfile = AccessProfile::LOCAL.read_size(Some(256 << 10)).cheap_parts(false);

impl Archive {
    /// Creates the archive of an opened file. `below` is the profile of the store that has the file; `None` for a local file.
    pub(super) fn new(name: String, opened: Opened, below: Option<AccessProfile>) -> Self {
        let max_gap = below.map(|profile| profile.max_gap);
        Self {
            name,
            entries: Entries::new(opened.directory.entries),
            access: Access { max_gap, same_state: opened.same_state, size: below.map(|_| opened.size) },
            profile: below.map_or(LOCAL, |profile| profile.cheap_parts(false)),
        }
    }

    /// Gets a value. `read` executes the read.
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

    /// Begins a read of ranges of a value; `None` if there are no ranges.
    pub(super) fn begin<'a>(&'a self, entry: &'a Entry, ranges: &'a [ByteRange]) -> Result<Option<Getting<'a>>> {
        for range in ranges {
            range.check(self, &entry.key, entry.size)?;
        }
        Ok((!ranges.is_empty()).then(|| Getting::new(entry, ranges, &self.access)))
    }

    /// Completes the reply to a get. Entries have no versions, since the file has only one state.
    pub(super) fn end(&self, entry: &Entry, mut fetched: Fetched, options: &GetOptions) -> Result<Fetched> {
        (fetched.size, fetched.version, fetched.snapshot) = (Some(entry.size), None, None);
        options.check(self, &entry.key, &mut fetched)?;
        Ok(fetched)
    }

    /// Converts the fault of a failed get to an error.
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

/// Returns the name of the zip file at `key` of a store, in the form of an address.
pub(super) fn name(store: &dyn fmt::Display, key: &Key) -> String {
    let store = store.to_string();
    let between = if store.ends_with(['/', ':']) { "" } else { "/" };
    format!("{store}{between}{key}")
}

/// Returns the error for a local file that could not be opened.
pub(super) fn file_failed(source: io::Error, name: &str) -> Error {
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::NoStore { store: name.to_owned() },
        _ => Error::io(&name, Operation::Open, "/", source),
    }
}

/// Returns the error for a file that is no zip file, or could not be read.
pub(super) fn opening_failed(fault: Fault, name: String) -> Error {
    match fault {
        Fault::Zip(fault) => fault.of(name),
        Fault::Io(source) => Error::io(&name, Operation::Open, "/", source),
        Fault::Store(error) => error,
        Fault::Gone => Error::NoStore { store: name },
    }
}
