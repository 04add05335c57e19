//! The values in a zip file.

mod directory;
mod entry;
mod expand;
mod file;
mod get;
mod inflate;
mod not_blocking;
mod opened;
mod opening;
mod plan;
mod update;
mod write;

#[cfg(test)]
mod archive;
#[cfg(test)]
mod over;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opened::Archive;
use opening::Opening;
use update::Update;
use write::{Content, Session};
use zarr_store::{
    AccessProfile, ByteRange, Bytes, Capabilities, Error, Fetched, GetOptions, Key, Listing, Lock, Operation, Prefix,
    Result, SetOptions, SetStream, SizeVisitor, Store, Version,
};

pub use not_blocking::AsyncZipStore;

/// A store of the entries of a zip file: the key is the entry's name.
///
/// The zip file is a local one, which is read ([`ZipStore::open`]) or written ([`ZipStore::create`], [`ZipStore::append`],
/// [`ZipStore::update`]), or a value of another store ([`ZipStore::over`]), of which ranges are read; [`AsyncZipStore`] is over stores that do not block.
///
/// # Reading
/// The central directory is read once, when the store is opened: with the last 64 KiB of the file, and by one or two more requests
/// if it is longer than that. A get of ranges of an entry that is stored as it is reads these ranges; the first one of each entry reads
/// its local header too, at once where the zip file is in another store. Compressed entries (by deflate, and with the features `bz2` and `lzma` by
/// bzip2 and LZMA) are read whole and decoded for every get. Bytes before and behind the archive are passed over; such a file is not written.
/// The checksum of whole reads is compared.
///
/// The store is of one state of the zip file. A local file stays open; of a value of another store the version is
/// remembered, and every get requires it. If the value was replaced, gets fail with [`ZipFault::Replaced`](crate::ZipFault::Replaced), and
/// the store has to be opened again. Where the other store tells no versions, only another size is noticed.
///
/// # Writing
/// Values are appended as entries that are stored as they are, in the order in which they are set, with the time 1980-01-01 and the
/// mode 644, so that the same values make the same bytes. Numbers are those of zip64 where they need to be.
///
/// A value that was set, erased or replaced is so in the zip file after [`Store::flush`] or [`ZipStore::close`], all of them at once. Until then the
/// file at the path is as it was, or not there. So it stays if the process is killed, and if the store is dropped: work that fails leaves no
/// file that looks whole. The new file is written under the name `.NAME.zarr-tmp` beside it, which is removed with the store, or by the next
/// writer.
///
/// So the first set after [`ZipStore::append`] or after a flush copies the zip file, which takes as much space on the disk again until the
/// store is closed, and the time of a copy: on one machine 7 s and more for 2 GiB, with the wait for the disk when it is closed. File systems
/// with shared blocks (Btrfs, XFS) do it at once and without space. It cannot be done in the file itself: while entries are
/// appended, it has no directory at its end, and no other reader opens it, for ever if the process is killed then.
/// Many values in one session are written much faster than the same in many sessions.
///
/// A key is set once. Setting it to the same bytes again does nothing; replacing and erasing are
/// [`ZipFault::Kept`](crate::ZipFault::Kept), unless [`ZipOptions::replace`] permits them. The bytes of the old values stay in the file
/// until [`ZipStore::repack`], which a warning tells ([`Store::take_warnings`]), or until no value is left.
///
/// A value that is set piece by piece ([`Store::begin_set`]) is in a file of its own until it is whole, and not in memory.
///
/// One store writes to a zip file at a time, by an advisory lock of the file `.NAME.zarr-lock` beside it; another one is
/// [`ZipFault::Locked`](crate::ZipFault::Locked). What other software has changed meanwhile is not overwritten, but is
/// [`ZipFault::Replaced`](crate::ZipFault::Replaced) when the store is flushed. Readers need no lock. [`SetOptions::durability`] is of no
/// effect: what is not flushed is lost with the process.
///
/// # Format
/// Zip64 is read and written; encrypted and spanned archives are not. A store that reads takes no writes: they are [`Error::ReadOnly`].
///
/// The last entry in the central directory counts where several have one name, as zarr-python's `ZipStore` leaves them when a value is set
/// again. A file is refused when it is opened if an entry's name is no key (`../x`, `/x`), or if
/// entries overlap or lie outside the file, since such files mean different things to different readers.
///
/// # Example
/// ```
/// use zarr_store::{Key, StoreExt};
/// use zarr_store_zip::ZipStore;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("x.zarr.zip");
/// let store = ZipStore::create(&path)?;
/// store.set_all(&Key::new("zarr.json")?, b"{}")?;
/// store.close()?;
/// assert_eq!(ZipStore::open(&path)?.list()?, [Key::new("zarr.json")?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// PKWARE, APPNOTE.TXT 6.3.10.
pub struct ZipStore {
    access: Access,
    /// As it was given.
    path: Option<PathBuf>,
}

/// How the zip file is read or written.
enum Access {
    File(File, Archive),
    Value(Arc<dyn Store>, Key, Archive),
    Write(Box<Session>),
    Update(Box<Update>),
}

/// The options of a [`ZipStore`] that writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZipOptions {
    /// Whether values can be replaced and erased, which leaves their bytes in the file until [`ZipStore::repack`].
    pub replace: bool,
    /// Whether others may write to the zip file after each flush. The next write begins with what they left, and until then reads see it.
    pub release: bool,
}

/// An order of entries, and a comment of the zip file, that readers expect. See [`ZipStore::arranged`].
#[derive(Clone, Copy, Debug)]
pub struct ZipArrangement {
    /// The name of values that come first, those with fewer names above them before others: `zarr.json` comes before `a/zarr.json`.
    pub first: &'static str,
    /// The comment, by the value at the key `first`; `None` for the one that the file has.
    pub comment: fn(&[u8]) -> Option<Vec<u8>>,
}

impl ZipOptions {
    /// With this [`replace`](Self::replace).
    #[must_use]
    pub const fn replace(self, replace: bool) -> Self {
        Self { replace, ..self }
    }

    /// With this [`release`](Self::release).
    #[must_use]
    pub const fn release(self, release: bool) -> Self {
        Self { release, ..self }
    }
}

impl ZipStore {
    /// The store in the zip file at `path`, which is read.
    ///
    /// # Errors
    /// [`Error::NoStore`] if nothing is there, [`Error::NotAStore`] for a directory, [`Error::Format`] with a
    /// [`ZipFault`](crate::ZipFault) if the file is no zip file or one that is refused. Its [`Error::kind`] is
    /// [`zarr_store::ErrorKind::Path`] for names that lead out of the store.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_path(path.as_ref())
    }

    /// The store in the zip file that is the value at `key` of another store; it is read.
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
                Ok(Self { access: Access::Value(store, key, archive), path: None })
            }
            Err(fault) => Err(opened::opening_failed(fault, name)),
        }
    }

    /// A new zip file at `path`, to which values are written. Directories above it are made if they are not there. There is no file of
    /// this name until the store is flushed or closed.
    ///
    /// # Errors
    /// [`Error::NotAStore`] if something is there already; [`Error::Format`] with [`ZipFault::Locked`](crate::ZipFault::Locked) if
    /// another store makes it.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self { access: Access::Write(Box::new(Session::create(path)?)), path: Some(path.to_owned()) })
    }

    /// The store in the zip file at `path`, to which values are added.
    ///
    /// # Errors
    /// As [`ZipStore::open`], and [`Error::Format`] with [`ZipFault::Locked`](crate::ZipFault::Locked) if another store writes to it.
    ///
    /// # Example
    /// ```
    /// # use zarr_store::{Key, StoreExt};
    /// # use zarr_store_zip::{ZipOptions, ZipStore};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("x.zarr.zip");
    /// # let key = Key::new("zarr.json")?;
    /// # let store = ZipStore::create(&path)?;
    /// # store.set_all(&key, b"{}")?;
    /// # store.close()?;
    /// let store = ZipStore::append(&path)?.with(ZipOptions::default().replace(true));
    /// store.set_all(&key, br#"{"zarr_format":3,"node_type":"group"}"#)?;
    /// store.repack()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self { access: Access::Write(Box::new(Session::append(path)?)), path: Some(path.to_owned()) })
    }

    /// The store in the zip file at `path`, to which values may be added: it is read as by [`ZipStore::open`] until the first write, which
    /// begins as [`ZipStore::append`] does. So it asks for no lock, and makes no file, as long as it is only read.
    ///
    /// # Errors
    /// As [`ZipStore::open`]. That another store writes to it shows with the first write.
    ///
    /// # Example
    /// ```
    /// # use zarr_store::{Key, Store, StoreExt};
    /// # use zarr_store_zip::ZipStore;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("x.zarr.zip");
    /// ZipStore::create(&path)?.close()?;
    /// let store = ZipStore::update(&path)?;
    /// assert_eq!(store.list()?, []);
    /// store.set_all(&Key::new("zarr.json")?, b"{}")?;
    /// store.flush()?;
    /// assert_eq!(ZipStore::open(&path)?.list()?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self { access: Access::Update(Box::new(Update::open(path)?)), path: Some(path.to_owned()) })
    }

    /// The same store with other options. They mean nothing to a store that reads.
    #[must_use]
    pub fn with(self, options: ZipOptions) -> Self {
        match &self.access {
            Access::Write(session) => session.set_options(options),
            Access::Update(update) => update.set_options(options),
            Access::File(..) | Access::Value(..) => {}
        }
        self
    }

    /// The same store, which flushes so that entries lie in an order that readers expect, in the file and in its directory, behind a
    /// comment that they expect, and with the records of zip64. Where that needs another order, the file is written once more. It means
    /// nothing to a store that reads.
    ///
    /// # Example
    /// ```
    /// # use zarr_store::{Key, StoreExt};
    /// # use zarr_store_zip::{ZipArrangement, ZipStore};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("x.ozx");
    /// let arrangement = ZipArrangement { first: "zarr.json", comment: |_| Some(b"a comment".to_vec()) };
    /// let store = ZipStore::create(&path)?.arranged(arrangement);
    /// store.set_all(&Key::new("a/c/0")?, b"1")?;
    /// store.set_all(&Key::new("zarr.json")?, b"{}")?;
    /// store.close()?;
    /// let bytes = std::fs::read(&path)?;
    /// assert!(bytes[30..].starts_with(b"zarr.json{}") && bytes.ends_with(b"a comment"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn arranged(self, arrangement: ZipArrangement) -> Self {
        match &self.access {
            Access::Write(session) => session.arrange(arrangement),
            Access::Update(update) => update.arrange(arrangement),
            Access::File(..) | Access::Value(..) => {}
        }
        self
    }

    /// Makes everything that was written a part of the zip file, as [`Store::flush`], and takes no more writes. A store that reads stays as
    /// it is.
    ///
    /// # Errors
    /// As [`Store::flush`]. The store is not closed then, and may be closed again.
    pub fn close(&self) -> Result<()> {
        self.session().map_or(Ok(()), Session::close)
    }

    /// Rewrites the zip file with the newest value of each key and nothing else, after a flush. Returns by how many bytes it became
    /// smaller. All values are copied, which takes as much space on the disk again for that time.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] if the store takes no writes; as [`Store::flush`]. The file is as it was then.
    pub fn repack(&self) -> Result<u64> {
        self.written(Operation::Set)?.repack()
    }

    /// The file, as it was given; `None` if the zip file is a value of another store.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn open_path(path: &Path) -> Result<Self> {
        let (file, archive) = opened::open_file(path)?;
        Ok(Self { access: Access::File(file, archive), path: Some(path.to_owned()) })
    }

    fn session(&self) -> Option<&Session> {
        match &self.access {
            Access::Write(session) => Some(session),
            Access::Update(update) => update.session(),
            Access::File(..) | Access::Value(..) => None,
        }
    }

    /// The directory of a file that is read.
    fn archive(&self) -> Option<&Archive> {
        match &self.access {
            Access::File(_, archive) | Access::Value(.., archive) => Some(archive),
            Access::Update(update) if update.session().is_none() => Some(update.archive()),
            Access::Write(_) | Access::Update(_) => None,
        }
    }

    /// The zip file, if it is written.
    fn written(&self, operation: Operation) -> Result<&Session> {
        match &self.access {
            Access::Write(session) => Ok(session),
            Access::Update(update) => update.begin(),
            Access::File(..) | Access::Value(..) => Err(Error::ReadOnly { store: self.to_string(), operation }),
        }
    }
}

impl fmt::Display for ZipStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.access {
            Access::File(_, archive) | Access::Value(.., archive) => archive.fmt(f),
            Access::Write(session) => session.fmt(f),
            Access::Update(update) => update.archive().fmt(f),
        }
    }
}

impl fmt::Debug for ZipStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.archive().map(|archive| archive.entries.len());
        let entries = entries.or_else(|| self.session().map(Session::entries)).unwrap_or(0);
        f.debug_struct("ZipStore")
            .field("name", &self.to_string())
            .field("entries", &entries)
            .field("is_written", &self.session().is_some())
            .finish_non_exhaustive()
    }
}

impl Store for ZipStore {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        match &self.access {
            Access::File(file, archive) => archive.get(key, ranges, options, |getting| file::get(file, getting)),
            Access::Value(store, at, archive) => {
                archive.get(key, ranges, options, |getting| plan::run(&(&**store, at), getting))
            }
            Access::Write(session) => session.get(key, ranges, options),
            Access::Update(update) => update.get(key, ranges, options),
        }
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        match (self.archive(), self.session()) {
            (None, Some(session)) => session.list_dir(prefix),
            (archive, _) => Ok(archive.map(|archive| archive.entries.list_dir(prefix)).unwrap_or_default()),
        }
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        match (self.archive(), self.session()) {
            (None, Some(session)) => session.list_prefix(prefix),
            (archive, _) => Ok(archive.map(|archive| archive.entries.list_prefix(prefix)).unwrap_or_default()),
        }
    }

    fn list_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
        match (self.archive(), self.session()) {
            (None, Some(session)) => session.visit_sizes(prefix, visit),
            (archive, _) => {
                if let Some(archive) = archive {
                    archive.entries.visit_sizes(prefix, visit);
                }
                Ok(())
            }
        }
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        self.written(Operation::Set)?.set(key, &Content::slice(value), options).map(Some)
    }

    fn begin_set(&self, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
        self.written(Operation::Set)?.begin_set(key, head, options)
    }

    fn append_to_set(&self, key: &Key, stream: &SetStream, pieces: Vec<Bytes>) -> Result<()> {
        self.written(Operation::Set)?.append_to_set(key, stream, &pieces)
    }

    fn finish_set(&self, key: &Key, stream: &SetStream, head: Bytes) -> Result<Option<Version>> {
        self.written(Operation::Set)?.finish_set(key, stream, &head).map(Some)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        self.written(Operation::Erase)?.erase(key)
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        // Refused by a store that reads although nothing may be there.
        self.written(Operation::Erase)?.erase_prefix(prefix)
    }

    fn try_lock(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        match &self.access {
            Access::File(..) | Access::Value(..) => Ok(Lock::in_process(self, prefix)),
            Access::Write(session) => session.try_lock(prefix),
            Access::Update(update) => update.begin()?.try_lock(prefix),
        }
    }

    fn take_warnings(&self) -> Vec<String> {
        match &self.access {
            Access::File(..) => Vec::new(),
            Access::Value(store, ..) => store.take_warnings(),
            Access::Write(_) | Access::Update(_) => self.session().map(Session::take_warnings).unwrap_or_default(),
        }
    }

    fn flush(&self) -> Result<()> {
        self.session().map_or(Ok(()), Session::flush)
    }

    /// Nothing: all writes become a part of the file at once.
    fn barrier(&self) -> Result<()> {
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        match &self.access {
            Access::File(..) | Access::Value(..) => opened::CAPABILITIES,
            Access::Write(_) | Access::Update(_) => write::CAPABILITIES,
        }
    }

    fn access_profile(&self) -> AccessProfile {
        self.archive().map_or(opened::LOCAL, |archive| archive.profile)
    }
}
