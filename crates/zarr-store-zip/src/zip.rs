//! The values in a zip file.

mod directory;
mod entry;
mod file;
mod get;
mod inflate;
mod not_blocking;
mod opened;
mod opening;
mod plan;

#[cfg(test)]
mod archive;
#[cfg(test)]
mod over;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opened::Archive;
use opening::Opening;
use zarr_store::{
    AccessProfile, ByteRange, Capabilities, Error, Fetched, GetOptions, Key, Listing, Operation, Prefix, Result, Store,
};

pub use not_blocking::AsyncZipStore;

/// A read-only store of the entries of a zip file: the key is the entry's name.
///
/// The zip file is a local one ([`ZipStore::open`]) or a value of another store ([`ZipStore::over`]), of which ranges are read;
/// [`AsyncZipStore`] is over stores that do not block.
///
/// # Requests
/// The central directory is read once, when the store is opened: with the last 64 KiB of the file, and by one or two more requests
/// if it is longer than that. A get of ranges of an entry that is stored as it is reads these ranges; the first one of each entry reads its
/// local header too, at once where the zip file is in another store. Deflated entries are read whole and inflated for every get. The
/// checksum of whole reads is compared.
///
/// # Consistency
/// The store is of one state of the zip file. A local file stays open; of a value of another store the version is
/// remembered, and every get requires it. If the value was replaced, gets fail with [`ZipFault::Replaced`](crate::ZipFault::Replaced), and
/// the store has to be opened again. Where the other store tells no versions, only another size is noticed.
///
/// # Format
/// Zip64 is read; encrypted and spanned archives are not. Writes are [`Error::ReadOnly`].
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
    source: Source,
    archive: Archive,
}

/// Where the zip file is.
enum Source {
    File { file: File, path: PathBuf },
    Value { store: Arc<dyn Store>, key: Key },
}

impl ZipStore {
    /// The store in the zip file at `path`.
    ///
    /// # Errors
    /// [`Error::NoStore`] if nothing is there, [`Error::NotAStore`] for a directory, [`Error::Format`] with a
    /// [`ZipFault`](crate::ZipFault) if the file is no zip file or one that is refused. Its [`Error::kind`] is
    /// [`zarr_store::ErrorKind::Path`] for names that lead out of the store.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_path(path.as_ref())
    }

    /// The store in the zip file that is the value at `key` of another store.
    ///
    /// # Errors
    /// As [`ZipStore::open`], and the errors of the other store.
    ///
    /// # Example
    /// ```
    /// use std::sync::Arc;
    /// use zarr_store::{Key, MemoryStore, StoreExt};
    /// use zarr_store_zip::ZipStore;
    ///
    /// let below = Arc::new(MemoryStore::new());
    /// let key = Key::new("data/x.zarr.zip")?;
    /// // The end record of a zip file without entries.
    /// below.set_all(&key, &[&b"PK\x05\x06"[..], &[0; 18]].concat())?;
    /// assert_eq!(ZipStore::over(below, key)?.list()?, []);
    /// # Ok::<(), zarr_store::Error>(())
    /// ```
    pub fn over(store: Arc<dyn Store>, key: Key) -> Result<Self> {
        let name = opened::name(&store, &key);
        match plan::run(&(&*store, &key), Opening::new()) {
            Ok(opened) => {
                let archive = Archive::new(name, opened, Some(store.access_profile()));
                Ok(Self { source: Source::Value { store, key }, archive })
            }
            Err(fault) => Err(opened::opening_failed(fault, name)),
        }
    }

    /// The file, as it was given; `None` if the zip file is a value of another store.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::File { path, .. } => Some(path),
            Source::Value { .. } => None,
        }
    }

    fn open_path(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let fail = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::NoStore { store: name.clone() },
            _ => Error::io(&name, Operation::Open, "/", source),
        };
        let file = File::open(path).map_err(fail)?;
        if !file.metadata().map_err(fail)?.is_file() {
            return Err(Error::NotAStore { store: name, found: "no file", expected: "a zip file" });
        }
        match plan::run(&&file, Opening::new()) {
            Ok(opened) => {
                let archive = Archive::new(name, opened, None);
                Ok(Self { source: Source::File { file, path: path.to_owned() }, archive })
            }
            Err(fault) => Err(opened::opening_failed(fault, name)),
        }
    }

    fn refuse<T>(&self, operation: Operation) -> Result<T> {
        Err(Error::ReadOnly { store: self.to_string(), operation })
    }
}

impl fmt::Display for ZipStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.archive.fmt(f)
    }
}

impl fmt::Debug for ZipStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.archive.debug("ZipStore", f)
    }
}

impl Store for ZipStore {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        self.archive.get(key, ranges, options, |getting| match &self.source {
            Source::File { file, .. } => plan::run(&file, getting),
            Source::Value { store, key } => plan::run(&(&**store, key), getting),
        })
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        Ok(self.archive.entries.list_dir(prefix))
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        Ok(self.archive.entries.list_prefix(prefix))
    }

    // Refused although nothing may be there.
    fn erase_prefix(&self, _prefix: &Prefix) -> Result<()> {
        self.refuse(Operation::Erase)
    }

    fn set_partial(&self, _key: &Key, _parts: &[(u64, &[u8])]) -> Result<()> {
        self.refuse(Operation::Set)
    }

    fn take_warnings(&self) -> Vec<String> {
        match &self.source {
            Source::File { .. } => Vec::new(),
            Source::Value { store, .. } => store.take_warnings(),
        }
    }

    fn capabilities(&self) -> Capabilities {
        opened::CAPABILITIES
    }

    fn access_profile(&self) -> AccessProfile {
        self.archive.profile
    }
}
