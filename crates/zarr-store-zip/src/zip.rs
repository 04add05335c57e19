//! The values in a zip file.

mod directory;
mod read;
mod read_exact;

#[cfg(test)]
mod archive;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::ZipFault;
use zarr_store::{
    AccessProfile, ByteRange, Capabilities, Error, Fetched, GetOptions, Key, Listing, Operation, Prefix, Result, Store,
};

/// A read-only store of the entries of a zip file: the key is the entry's name.
///
/// The central directory is read once, when the store is opened. Entries that are stored as they are give byte ranges
/// straight from the file; deflated ones are inflated for every get. The checksum of whole reads is compared. Zip64 is
/// read; encrypted and spanned archives are not. Writes are [`Error::ReadOnly`].
///
/// Of several entries with one name, as zarr-python's `ZipStore` leaves them where a value was set again, the last in the
/// central directory counts. A file is refused when it is opened if an entry's name is no key (`../x`, `/x`), or if
/// entries overlap or lie outside the file, since such files mean different things to different readers.
///
/// # Example
/// ```no_run
/// use zarr_store::StoreExt;
/// use zarr_store_zip::ZipStore;
/// for key in ZipStore::open("x.zarr.zip")?.list()? {
///     println!("{key}");
/// }
/// # Ok::<(), zarr_store::Error>(())
/// ```
///
/// PKWARE, APPNOTE.TXT 6.3.10.
pub struct ZipStore {
    file: File,
    path: PathBuf,
    /// Sorted by key.
    entries: Vec<Entry>,
}

/// One value.
#[derive(Debug)]
struct Entry {
    key: Key,
    method: u16,
    crc: u32,
    /// Bytes in the file.
    compressed: u64,
    /// Bytes of the value.
    size: u64,
    /// Where the local header begins.
    header: u64,
    /// Where the next entry, or the directory, begins: the data ends at or before.
    limit: u64,
    /// Where the data begins, once the local header was read.
    data: OnceLock<u64>,
}

/// Bytes as they are.
const STORED: u16 = 0;
/// RFC 1951.
const DEFLATED: u16 = 8;

impl ZipStore {
    /// The store in the zip file at `path`.
    ///
    /// # Errors
    /// [`Error::NoStore`] if nothing is there, [`Error::NotAStore`] for a directory, [`Error::Format`] with a [`ZipFault`] if the
    /// file is no zip file or one that is refused. Its [`Error::kind`] is [`zarr_store::ErrorKind::Path`] for names that lead out of the
    /// store.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_path(path.as_ref())
    }

    /// The file, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn open_path(path: &Path) -> Result<Self> {
        let store = || path.display().to_string();
        let fail = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::NoStore { store: store() },
            _ => Error::io(&store(), Operation::Open, "/", source),
        };
        let file = File::open(path).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        if !metadata.is_file() {
            return Err(Error::NotAStore { store: store(), found: "no file", expected: "a zip file" });
        }
        let entries = directory::read(&file, metadata.len()).map_err(|fault| match fault {
            Fault::Zip(fault) => fault.of(store()),
            Fault::Io(error) => fail(error),
            Fault::Store(error) => error,
        })?;
        Ok(Self { file, path: path.to_owned(), entries })
    }

    fn find(&self, key: &Key) -> Option<&Entry> {
        self.entries.binary_search_by(|entry| entry.key.cmp(key)).ok().and_then(|at| self.entries.get(at))
    }

    /// The entries from a key on.
    fn from(&self, from: Bound<&str>) -> impl Iterator<Item = &Key> {
        let at = self.entries.partition_point(|entry| match from {
            Bound::Included(from) => entry.key.as_str() < from,
            Bound::Excluded(from) => entry.key.as_str() <= from,
            Bound::Unbounded => false,
        });
        self.entries.iter().skip(at).map(|entry| &entry.key)
    }

    fn refuse<T>(&self, operation: Operation) -> Result<T> {
        Err(Error::ReadOnly { store: self.to_string(), operation })
    }
}

/// A failure before store and key are known.
#[derive(Debug)]
enum Fault {
    Zip(ZipFault),
    Io(io::Error),
    Store(Error),
}

impl From<ZipFault> for Fault {
    fn from(fault: ZipFault) -> Self {
        Self::Zip(fault)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl fmt::Display for ZipStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

impl fmt::Debug for ZipStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZipStore")
            .field("path", &self.path)
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}

impl Store for ZipStore {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        let Some(entry) = self.find(key) else { return Ok(None) };
        for range in ranges {
            range.check(self, key, entry.size)?;
        }
        let mut fetched = Fetched::new();
        if !ranges.is_empty() {
            entry.read(&self.file, ranges, &mut fetched).map_err(|fault| match fault {
                Fault::Zip(fault) => fault.of(self.to_string()),
                Fault::Io(source) => Error::io(self, Operation::Get, key.as_str(), source),
                Fault::Store(error) => error,
            })?;
        }
        fetched.size = Some(entry.size);
        options.check(self, key, &mut fetched)?;
        Ok(Some(fetched))
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        Ok(Listing::directly_under(prefix, |from| self.from(from).next()))
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        Ok(self.from(Bound::Included(prefix.as_str())).take_while(|key| prefix.contains(key)).cloned().collect())
    }

    // Refused although nothing may be there.
    fn erase_prefix(&self, _prefix: &Prefix) -> Result<()> {
        self.refuse(Operation::Erase)
    }

    fn set_partial(&self, _key: &Key, _parts: &[(u64, &[u8])]) -> Result<()> {
        self.refuse(Operation::Set)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().list(true).suffix_ranges(true)
    }

    fn access_profile(&self) -> AccessProfile {
        // The file is open: a smaller piece costs no opening.
        AccessProfile::LOCAL.read_size(Some(256 << 10))
    }
}
