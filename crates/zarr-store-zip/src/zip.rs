//! Stores whose values are the entries of a zip file.

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
    AccessProfile, Answer, ByteRange, Call, Capabilities, Error, Fetched, GetOptions, Key, Listing, Lock, Operation,
    Prefix, Result, SizeVisitor, Store, fallback_blocking,
};

pub use not_blocking::AsyncZipStore;

/// A store of the entries of a zip file: the key is the name of the entry.
///
/// The zip file is a local file, which is read ([`ZipStore::open`]) or written ([`ZipStore::create`], [`ZipStore::append`],
/// [`ZipStore::update`]), or a value of another store, which is read by ranges ([`ZipStore::over`]; [`AsyncZipStore`] for stores that
/// do not block).
///
/// # Reading
/// The central directory is read once, when the store is opened: with the last 64 KiB of the file, and by one or two more requests if
/// it is longer. A get of ranges of an uncompressed entry reads only these ranges. The first get of each entry also reads its local
/// header, in the same request if the zip file is in another store. Compressed entries (by deflate, and with the features `bz2` and
/// `lzma` by bzip2 and LZMA) are read whole and decoded for every get. Reads of whole values compare the checksum. Bytes before and
/// after the archive are ignored; such a file is not written.
///
/// The store is of one state of the zip file. A local file stays open. For a value of another store, every get requires the version
/// that the value had when the store was opened. If the value was replaced, gets fail with
/// [`ZipFault::Replaced`](crate::ZipFault::Replaced), and the store has to be opened again. If the other store has no versions, only
/// a change of the size is detected.
///
/// # Writing
/// Values are appended as uncompressed entries in the order in which they are set, with the time 1980-01-01 and the mode 644, so that
/// the same values result in the same bytes. Zip64 is used only if numbers require it.
///
/// All sets and erases take effect in the zip file together, by [`flush`](zarr_store::StoreExt::flush) or [`ZipStore::close`]. Until then the file at the
/// path is unchanged or missing. It stays so if the process is killed or the store is dropped: failed work leaves no file that looks
/// complete. The new file is written under the name `.NAME.zarr-tmp` beside the zip file. It is removed with the store, or by the
/// next writer.
///
/// Therefore the first set after [`ZipStore::append`] or after a flush copies the zip file. The copy takes as much space on the disk
/// until the store is closed, and time: on one machine 7 s and more for 2 GiB, including the wait for the disk at the close. File
/// systems with shared blocks (Btrfs, XFS) copy instantly and without space. Writing in place is not possible: while entries are
/// appended, the file has no directory at its end, so that other readers cannot open it, and never could if the process is killed
/// then. Many values in one session are written much faster than the same values in many sessions.
///
/// A key is set once. Setting it to the same bytes again does nothing. Replacing and erasing fail with
/// [`ZipFault::Kept`](crate::ZipFault::Kept), unless [`ZipOptions::replace`] permits them. The bytes of old values stay in the file
/// until [`ZipStore::repack`], or until no value is left; a warning tells their number ([`Store::take_warnings`]).
///
/// A value that is set piece by piece ([`begin_set`](zarr_store::StoreExt::begin_set)) is stored in a separate file until it is complete, not in memory.
///
/// One store writes to a zip file at a time, ensured by an advisory lock of the file `.NAME.zarr-lock` beside it; another store gets
/// [`ZipFault::Locked`](crate::ZipFault::Locked). Changes by other software meanwhile are not overwritten: the flush fails with
/// [`ZipFault::Replaced`](crate::ZipFault::Replaced). Readers need no lock. [`SetOptions::durability`](zarr_store::SetOptions::durability) has no effect: data that is
/// not flushed is lost with the process.
///
/// # Format
/// Zip64 is read and written; encrypted and spanned archives are not supported. A store that reads refuses writes with
/// [`Error::ReadOnly`].
///
/// If several entries have one name, the last one in the central directory counts; zarr-python's `ZipStore` writes such entries when
/// a value is set again. Opening refuses a file if the name of an entry is no key (`../x`, `/x`), or if entries overlap or lie
/// outside the file, since other readers may read such files differently.
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
    /// Path of the zip file, as the caller gave it; `None` for a value of another store.
    path: Option<PathBuf>,
}

/// Access to the zip file.
enum Access {
    File(File, Archive),
    Value(Arc<dyn Store>, Key, Archive),
    Write(Box<Session>),
    Update(Box<Update>),
}

/// Options of a [`ZipStore`] that writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZipOptions {
    /// Whether values can be replaced and erased, which leaves their bytes in the file until [`ZipStore::repack`]. Default false.
    pub replace: bool,
    /// Whether other stores may write to the zip file after each flush. The next write, and any read, then begins with the state that they
    /// left. Default false.
    pub release: bool,
}

/// Order of entries, and comment of the zip file, that readers expect. See [`ZipStore::arranged`].
#[derive(Clone, Copy, Debug)]
pub struct ZipArrangement {
    /// Name of the values that come first, ordered by the number of path segments above them: `zarr.json` comes before `a/zarr.json`.
    pub first: &'static str,
    /// Function that returns the comment for the value at the key `first`; `None` to keep the comment of the file.
    pub comment: fn(&[u8]) -> Option<Vec<u8>>,
}

impl ZipOptions {
    /// Sets [`replace`](Self::replace).
    #[must_use]
    pub const fn replace(self, replace: bool) -> Self {
        Self { replace, ..self }
    }

    /// Sets [`release`](Self::release).
    #[must_use]
    pub const fn release(self, release: bool) -> Self {
        Self { release, ..self }
    }
}

impl ZipStore {
    /// Opens the store in the zip file at `path` for reading.
    ///
    /// # Errors
    /// [`Error::NoStore`] if nothing exists at `path`, [`Error::NotAStore`] for a directory, [`Error::Format`] with a
    /// [`ZipFault`](crate::ZipFault) if the file is no zip file or is refused. Its [`Error::kind`] is [`zarr_store::ErrorKind::Path`] for
    /// names that lead out of the store.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_path(path.as_ref())
    }

    /// Opens the store in the zip file that is the value at `key` of another store, for reading.
    ///
    /// # Errors
    /// The errors of [`ZipStore::open`] and of the other store.
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

    /// Creates a new zip file at `path` for writing. Missing directories above it are created. No file of this name exists until the
    /// store is flushed or closed.
    ///
    /// # Errors
    /// [`Error::NotAStore`] if something exists at `path`; [`Error::Format`] with [`ZipFault::Locked`](crate::ZipFault::Locked) if
    /// another store creates the file.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self { access: Access::Write(Box::new(Session::create(path)?)), path: Some(path.to_owned()) })
    }

    /// Opens the store in the zip file at `path` for adding values.
    ///
    /// # Errors
    /// The errors of [`ZipStore::open`]; [`Error::Format`] with [`ZipFault::Locked`](crate::ZipFault::Locked) if another store writes to
    /// the zip file.
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

    /// Opens the store in the zip file at `path` for reading, and for adding values from the first write on, which begins as
    /// [`ZipStore::append`] does. Without a write it needs no lock and creates no file.
    ///
    /// # Errors
    /// The errors of [`ZipStore::open`]. Whether another store writes to the zip file shows with the first write.
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

    /// Returns the store with other options. They have no effect on a store that reads.
    #[must_use]
    pub fn with(self, options: ZipOptions) -> Self {
        match &self.access {
            Access::Write(session) => session.set_options(options),
            Access::Update(update) => update.set_options(options),
            Access::File(..) | Access::Value(..) => {}
        }
        self
    }

    /// Returns the store with an arrangement: each flush writes entries in the order that readers expect, in the file and in its directory,
    /// with the expected comment and with zip64 records. If the order changes, the file is written once more. Has no effect on a store that
    /// reads.
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

    /// Flushes everything that was written, as [`flush`](zarr_store::StoreExt::flush) does, and ends writing. Has no effect on a store that reads.
    ///
    /// # Errors
    /// The errors of [`flush`](zarr_store::StoreExt::flush). Then the store is not closed, and the call can be repeated.
    pub fn close(&self) -> Result<()> {
        self.session().map_or(Ok(()), Session::close)
    }

    /// Flushes, and rewrites the zip file with only the newest value of each key. Returns by how many bytes the file became smaller. All
    /// values are copied, which temporarily takes as much space on the disk.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] if the store is not for writing; the errors of [`flush`](zarr_store::StoreExt::flush). Then the file is unchanged.
    pub fn repack(&self) -> Result<u64> {
        self.written(Operation::Set)?.repack()
    }

    /// Returns the path of the file, as the caller gave it; `None` if the zip file is a value of another store.
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

    /// Returns the directory of a file that is read; `None` once the store has a session for writing.
    fn archive(&self) -> Option<&Archive> {
        match &self.access {
            Access::File(_, archive) | Access::Value(.., archive) => Some(archive),
            Access::Update(update) if update.session().is_none() => Some(update.archive()),
            Access::Write(_) | Access::Update(_) => None,
        }
    }

    /// Returns the session for writing. Begins it if necessary, and fails for a store that reads.
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

impl ZipStore {
    /// Returns ranges of a value, or of what was written of it.
    fn read(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        match &self.access {
            Access::File(file, archive) => archive.get(key, ranges, options, |getting| file::get(file, getting)),
            Access::Value(store, at, archive) => {
                archive.get(key, ranges, options, |getting| plan::run(&(&**store, at), getting))
            }
            Access::Write(session) => session.get(key, ranges, options),
            Access::Update(update) => update.get(key, ranges, options),
        }
    }

    /// Returns the keys and prefixes directly under `prefix`, also of what was written.
    fn list_directly(&self, prefix: &Prefix) -> Result<Listing> {
        match (self.archive(), self.session()) {
            (None, Some(session)) => session.list_dir(prefix),
            (archive, _) => Ok(archive.map(|archive| archive.entries.list_dir(prefix)).unwrap_or_default()),
        }
    }

    /// Returns all keys under `prefix`, also of what was written.
    fn list_all(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        match (self.archive(), self.session()) {
            (None, Some(session)) => session.list_prefix(prefix),
            (archive, _) => Ok(archive.map(|archive| archive.entries.list_prefix(prefix)).unwrap_or_default()),
        }
    }

    /// Passes all keys under `prefix` to `visit`, with the sizes of their values.
    fn visit_all(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
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

    /// Takes the lock of `prefix`; `None` if another holds it.
    fn lock_prefix(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        match &self.access {
            Access::File(..) | Access::Value(..) => Ok(Lock::in_process(self, prefix)),
            Access::Write(session) => session.try_lock(prefix),
            Access::Update(update) => update.begin()?.try_lock(prefix),
        }
    }
}

impl Store for ZipStore {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.read(&key, &ranges, &options)?),
            Call::ListDir { prefix } => Answer::Listing(self.list_directly(&prefix)?),
            Call::ListPrefix { prefix } => Answer::Keys(self.list_all(&prefix)?),
            Call::ListSizes { prefix, visit } => self.visit_all(&prefix, &visit)?.into(),
            Call::Set { key, value, options } => {
                Answer::Set(Some(self.written(Operation::Set)?.set(&key, &Content::slice(&value), &options)?))
            }
            Call::BeginSet { key, head, options } => {
                Answer::Begun(self.written(Operation::Set)?.begin_set(&key, head, &options)?)
            }
            Call::AppendToSet { key, stream, pieces } => {
                self.written(Operation::Set)?.append_to_set(&key, &stream, &pieces)?.into()
            }
            Call::FinishSet { key, stream, head } => {
                Answer::Set(Some(self.written(Operation::Set)?.finish_set(&key, &stream, &head)?))
            }
            Call::Erase { key } => self.written(Operation::Erase)?.erase(&key)?.into(),
            // Refused by a store that reads although nothing may be there.
            Call::ErasePrefix { prefix } => self.written(Operation::Erase)?.erase_prefix(&prefix)?.into(),
            Call::Lock { prefix } => Answer::Locked(self.lock_prefix(&prefix)?),
            Call::Flush => self.session().map_or(Ok(()), Session::flush)?.into(),
            // All writes take effect together at a flush.
            Call::Barrier => Answer::Done,
            call => return fallback_blocking(self, call),
        })
    }

    fn take_warnings(&self) -> Vec<String> {
        match &self.access {
            Access::File(..) => Vec::new(),
            Access::Value(store, ..) => store.take_warnings(),
            Access::Write(_) | Access::Update(_) => self.session().map(Session::take_warnings).unwrap_or_default(),
        }
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
