//! Stores whose values are files in a directory.

mod erase;
mod exchange;
mod get;
mod install;
mod leftovers;
mod list;
mod locks;
mod names;
mod open_value;
#[cfg(target_os = "linux")]
mod openat;
mod pinned;
mod plain;
mod rename;
mod retry;
mod stream;
mod together;
mod unnamed;
mod vfs;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod links;
#[cfg(test)]
mod power;
#[cfg(test)]
mod states;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use leftovers::LookedThrough;
use vfs::{Escapes, Vfs};
use zarr_store::{
    AccessProfile, Answer, Call, Capabilities, Durability, Error, Operation, Pinned, Result, Store, fallback_blocking,
    lend_values,
};

/// A store of files in a directory: the key `g/a/0.0` is the file `g/a/0.0`.
///
/// # Guarantees
/// - A value is replaced as a whole or not at all, even if the write fails or other processes read meanwhile: it is
///   written to a separate file in the same directory, which gets the name of the value when it is complete. If the value is
///   new and the system supports it, that file has no name before; otherwise it has a temporary name and is renamed.
///   Temporary names are `.`, 32 hexadecimal digits, `.zarr-tmp` (they cannot be keys here) and are never listed. A temporary
///   file that a killed process left behind is removed by the next store that writes to the directory: its owner held a lock
///   on it, or it is older than a day if there are no locks. A value that is set piece by piece ([`begin_set`](zarr_store::StoreExt::begin_set)) has a
///   temporary file until it is finished; if another process erases its whole prefix meanwhile, finishing it fails.
/// - All ranges of one get are of one state of the value, and so are the ranges of several gets with a
///   [`zarr_store::Snapshot`], for which the file is held open (at most a quarter of the files that the process may have open;
///   beyond that, the file is opened again and its version is compared). A write in place, without a rename, is detected by
///   the length and time of the file, unless both stay the same within the granularity of the file system's clock.
/// - Writes survive the end of the process. They survive a loss of power after [`flush`](zarr_store::StoreExt::flush), or as
///   [`FilesystemOptions::durability`] and [`SetOptions::durability`](zarr_store::SetOptions::durability) say.
/// - [`zarr_store::Precondition::NotExists`] holds between processes too if the file system has hard links.
///   [`zarr_store::Precondition::Version`] holds between all threads of this process, and by advisory locks (`flock`) between
///   all processes that set on a condition. A process that replaces the value without a condition, between the comparison and
///   the rename, is not detected. If a file system refuses locks, [`Store::take_warnings`] says so; on NFS and Lustre, mount
///   options may make locks local to a machine, which cannot be detected. Windows has no such locks.
///   [`FilesystemOptions::locks`] turns them off. A version is the inode of the file, its time of change and its length. The
///   time is set to the nanosecond and is unique in a process, since file systems stamp files with a coarser clock.
/// - Symbolic links are followed as long as they stay in the directory. A key that leads out of it is listed, and getting it
///   is an [`Error::Escape`]. A link to nothing is listed too, and getting it is an error that names the link: its target was
///   stored once, so the value is not merely missing. Erasing a link removes the link and nothing in its target. The
///   directory itself may be a link. It is resolved once: a store stays with its directory if that is moved.
/// - A directory is never a value, and a file never a prefix. Files whose names are no keys are not listed;
///   [`Store::take_warnings`] reports names that are not UTF-8.
/// - Erasing a key removes the directories that become empty. A prefix is erased by renaming its directory first, so
///   that all its keys vanish at once.
/// - Two prefixes are exchanged by one rename of the system (`RENAME_EXCHANGE`, on Linux). If the system or the file system
///   does not support it, they are exchanged by three renames: one of the directories has a temporary name for a moment, and
///   keeps it if the process is killed then.
///
/// # Example
/// ```
/// use zarr_store::{Key, StoreExt};
/// use zarr_store_filesystem::FilesystemStore;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("x.zarr");
/// let store = FilesystemStore::create(path)?;
/// store.set_all(&Key::new("g/zarr.json")?, b"{}")?;
/// assert_eq!(store.list()?, [Key::new("g/zarr.json")?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct FilesystemStore {
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    options: FilesystemOptions,
    replacing: Arc<install::Replacing>,
    looked_through: LookedThrough,
    refused: Arc<locks::Refused>,
    unnamed: Arc<unnamed::Unnamed>,
}

/// Options of a [`FilesystemStore`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilesystemOptions {
    /// Least durability of all sets and erases.
    pub durability: Durability,
    /// Whether the store obeys a higher [`SetOptions::durability`](zarr_store::SetOptions::durability) (as for metadata), waits for the
    /// disk in [`barrier`](zarr_store::StoreExt::barrier), and removes the name of an erased prefix from the disk before the values under
    /// it. If false, only `durability` and [`flush`](zarr_store::StoreExt::flush) wait for the disk, for very many small nodes. Default
    /// true.
    pub sync_on_request: bool,
    /// Whether conditional sets and [`try_lock`](zarr_store::StoreExt::try_lock) exclude other processes by advisory locks (`flock`). Default true.
    pub locks: bool,
}

impl Default for FilesystemOptions {
    fn default() -> Self {
        Self { durability: Durability::default(), sync_on_request: true, locks: true }
    }
}

impl FilesystemOptions {
    /// Sets [`durability`](Self::durability).
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Sets [`sync_on_request`](Self::sync_on_request).
    #[must_use]
    pub fn sync_on_request(self, sync_on_request: bool) -> Self {
        Self { sync_on_request, ..self }
    }

    /// Sets [`locks`](Self::locks).
    #[must_use]
    pub fn locks(self, locks: bool) -> Self {
        Self { locks, ..self }
    }
}

impl FilesystemStore {
    /// Opens the store in the existing directory at `path`.
    ///
    /// # Errors
    /// [`Error::NoStore`] if nothing exists at `path`, [`Error::NotAStore`] if it is no directory.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_path(path.as_ref())
    }

    /// Opens the store in the directory at `path`. Creates a missing directory and its missing ancestors.
    ///
    /// # Errors
    /// [`Error::NotAStore`] if something other than a directory exists at `path`.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::create_path(path.as_ref())
    }

    /// Returns the store with other options.
    #[must_use]
    pub fn with(self, options: FilesystemOptions) -> Self {
        Self { options, ..self }
    }

    /// Returns the store with a shared record of the directories in which stores have looked for leftovers of killed processes. Useful for
    /// a program that opens a store for each write: otherwise each store would list the directories again.
    #[must_use]
    pub fn sharing(self, looked_through: &LookedThrough) -> Self {
        Self { looked_through: looked_through.clone(), ..self }
    }

    /// Returns the options of the store.
    #[must_use]
    pub fn options(&self) -> &FilesystemOptions {
        &self.options
    }

    /// Returns the path of the directory, as the caller gave it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn open_path(path: &Path) -> Result<Self> {
        let vfs = native(path).map_err(|source| opening(path, source))?;
        Ok(Self::on(vfs, path.to_owned()))
    }

    fn on(vfs: Arc<dyn Vfs>, path: PathBuf) -> Self {
        Self {
            vfs,
            path,
            options: FilesystemOptions::default(),
            replacing: Arc::default(),
            looked_through: LookedThrough::default(),
            refused: Arc::default(),
            unnamed: Arc::default(),
        }
    }

    fn create_path(path: &Path) -> Result<Self> {
        let failed = |source| opening(path, source);
        let missing = path.ancestors().take_while(|above| !above.as_os_str().is_empty() && !above.exists()).count();
        fs::create_dir_all(path).map_err(failed)?;
        // For the names of values to be durable, the names of new directories above must be durable too.
        for above in path.ancestors().skip(1).take(missing) {
            let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
            vfs::sync_directory(above).map_err(failed)?;
        }
        Self::open_path(path)
    }

    /// Converts an error of the file system to an error of the store.
    fn fail(&self, operation: Operation, key: &str, source: io::Error) -> Error {
        let store = self.to_string();
        let key = if key.is_empty() { "/".to_owned() } else { key.to_owned() };
        if let Some(target) = escape(&source) {
            return Error::Escape { store, operation, key, target: target.display().to_string() };
        }
        match source.kind() {
            io::ErrorKind::InvalidFilename => {
                Error::TooLong { store, operation, begin: key.chars().take(40).collect(), size: key.len() }
            }
            io::ErrorKind::ReadOnlyFilesystem => Error::ReadOnly { store, operation },
            _ => Error::io(self, operation, key, source),
        }
    }
}

/// Opens the best access to files that this system supports.
fn native(path: &Path) -> io::Result<Arc<dyn Vfs>> {
    #[cfg(target_os = "linux")]
    if let Some(files) = openat::OpenAt::open(path)? {
        return Ok(Arc::new(files));
    }
    Ok(Arc::new(plain::Plain::open(path)?))
}

fn opening(path: &Path, source: io::Error) -> Error {
    let store = path.display().to_string();
    match source.kind() {
        io::ErrorKind::NotFound => Error::NoStore { store },
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            Error::NotAStore { store, found: "a file", expected: "a directory" }
        }
        _ => Error::io(&store, Operation::Open, "/", source),
    }
}

/// Returns the target of a path that leads out of the store; `None` for other errors.
fn escape(error: &io::Error) -> Option<&Path> {
    error.get_ref()?.downcast_ref::<Escapes>().map(|escapes| escapes.0.as_path())
}

/// Returns whether an error means that nothing exists at a path: no entry, or a file in place of a directory.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl fmt::Display for FilesystemStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A path that is not UTF-8 is shown with replacement characters.
        match self.path.to_str() {
            Some(path) => f.pad(path),
            None => self.path.display().fmt(f),
        }
    }
}

impl fmt::Debug for FilesystemStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilesystemStore")
            .field("path", &self.path)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Store for FilesystemStore {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.read(&key, &ranges, &options)?),
            Call::GetInto { key, into } => Answer::GotInto(self.read_into(&key, into)?),
            Call::Set { key, value, options } => {
                Answer::Set(Some(self.install(&key, &[&value], &options.when, options.durability)?))
            }
            Call::SetPieces { key, pieces, options } => {
                Answer::Set(Some(self.install(&key, &pieces.slices(), &options.when, options.durability)?))
            }
            Call::BeginSet { key, head, options } => Answer::Begun(self.begin_stream(&key, head, &options)?),
            Call::AppendToSet { key, stream, pieces } => self.append_to_stream(&key, &stream, &pieces)?.into(),
            Call::FinishSet { key, stream, head } => Answer::Set(Some(self.finish_stream(&key, &stream, &head)?)),
            Call::SetMany { values } => self.install_many(&lend_values(&values))?.into(),
            Call::CreateMany { values, durability } => self.create_together(&lend_values(&values), durability)?.into(),
            Call::Erase { key } => {
                self.remove(&key, None)?;
                Answer::Done
            }
            Call::ListDir { prefix } => Answer::Listing(self.list_directory(&prefix)?),
            Call::ListPrefix { prefix } => Answer::Keys(self.list_tree(&prefix)?),
            Call::ListSizes { prefix, visit } => self.visit_tree(&prefix, &visit)?.into(),
            Call::ErasePrefix { prefix } => self.remove_tree(&prefix)?.into(),
            Call::RenamePrefix { from, to } => Answer::Is(self.rename_tree(&from, &to)?),
            Call::ExchangePrefixes { a, b } => Answer::Is(self.exchange_trees(&a, &b)?),
            Call::FindLink { prefix } => {
                let path = prefix.as_str().trim_end_matches('/');
                Answer::Link(self.first_link(path).map_err(|error| self.fail(Operation::List, path, error))?)
            }
            Call::Leftovers { prefix, remove } => Answer::Leftovers(self.find_leftovers(&prefix, remove)?),
            Call::Pin { prefix } => Answer::Pinned(self.pin_directory(&prefix)?.map(Pinned::Blocking)),
            Call::IsInPlace => {
                Answer::Is(self.vfs.is_in_place().map_err(|error| self.fail(Operation::Get, "", error))?)
            }
            Call::Lock { prefix } => Answer::Locked(self.lock_prefix(&prefix)?),
            Call::Barrier if !self.options.sync_on_request => Answer::Done,
            Call::Flush | Call::Barrier => {
                self.vfs.sync_all().map_err(|error| self.fail(Operation::Flush, "", error))?.into()
            }
            call @ (Call::GetMany { .. } | Call::SetPartial { .. } | Call::Copy { .. }) => {
                return fallback_blocking(self, call);
            }
        })
    }

    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        let name = self.path.file_name()?.to_str()?.to_owned();
        let parent = Self::open(self.path.parent()?).ok()?;
        Some((Arc::new(parent), name))
    }

    fn take_warnings(&self) -> Vec<String> {
        self.refused.take_warning(self).into_iter().chain(self.unnamed.take_warnings(self)).collect()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none()
            .write(true)
            .list(true)
            .suffix_ranges(true)
            .conditional(true)
            .durable(true)
            .erases_at_once(true)
            .exchanges(true)
            .streams(true)
    }

    fn access_profile(&self) -> AccessProfile {
        AccessProfile::LOCAL
    }
}
