//! Values in files.

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
    AccessProfile, ByteRange, Bytes, Capabilities, Durability, Error, Fetched, GetInto, GetOptions, Key, Leftover,
    Listing, Lock, Operation, Prefix, Result, SetOptions, SetStream, SizeVisitor, Store, Version,
};

/// A store of files in a directory: the key `g/a/0.0` is the file `g/a/0.0`.
///
/// # Guarantees
/// - A value is replaced as a whole or not at all, whatever fails and whoever reads: it is written to a file of its
///   own in the same directory. Where nothing is to be replaced and the system can, that file gets its name only then;
///   else it is renamed. Such files are named `.`, 32 hexadecimal digits, `.zarr-tmp` (names that cannot be keys here)
///   and are never listed. One that a killed process left behind is removed by the next store that
///   writes to the directory: its owner held a lock on it, or it is older than a day where there are no locks. A value that is set
///   piece by piece ([`Store::begin_set`]) has such a file until it is finished; if others erase its whole prefix meanwhile, that is an error.
/// - All pieces that one get brings are of one state of the value, and so are the pieces of several gets with a
///   [`zarr_store::Snapshot`], for which the file is held open (of the files that the process may have open a quarter at most; else
///   it is opened again and compared). A writer that does not rename but writes into the file is noticed by its length and
///   time, unless both stay the same within the granularity of the file system's clock.
/// - Writes survive the end of the process. They survive a loss of power after [`Store::flush`], or as [`FilesystemOptions::durability`] and
///   [`SetOptions::durability`] say.
/// - [`zarr_store::Precondition::NotExists`] holds between processes too where the file system has hard links.
///   [`zarr_store::Precondition::Version`] holds between all threads of this process, and by advisory locks (`flock`) between all
///   processes that set on a condition. Another process that replaces the value without one, in the moment between the
///   comparison and the renaming, is not noticed. Where a file system refuses locks, [`Store::take_warnings`] says so; on NFS
///   and Lustre mount options may make them local to a machine, which cannot be detected. On Windows there are none.
///   [`FilesystemOptions::locks`] turns them off. A version is the file's inode, its time of
///   change and its length. The time is set to the nanosecond and never twice the same in a process, since file
///   systems stamp files with a coarser clock.
/// - Symbolic links are followed as long as they stay in the directory; a key that leads out of it is listed, and
///   to get it is an [`Error::Escape`]. A link to nothing is listed too, and to get it is an error that names the link: what it stands
///   for was stored once, and is not as if it had never been. Erasing a link removes the link and nothing of its target. The directory itself may be a link. It
///   is looked up once: a store stays with its directory if that is moved.
/// - A directory is never a value, and a file never a prefix. Files whose names are no keys are not
///   listed; of names that are not UTF-8 [`Store::take_warnings`] tells.
/// - Removing a key removes the directories that become empty by that. A prefix is removed by renaming its directory first, so
///   that all its keys vanish at once.
/// - Two prefixes are exchanged by one rename of the system (`RENAME_EXCHANGE`, on Linux). Where the system or the file system has none,
///   by three: one of the directories has no name for a moment, and if the process is killed then, it has lost its name.
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

/// The options of a [`FilesystemStore`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilesystemOptions {
    /// The least durability of all sets and erases.
    pub durability: Durability,
    /// Whether a higher [`SetOptions::durability`] is obeyed, as that of metadata; whether [`Store::barrier`] waits for the disk; and
    /// whether the name of an erased prefix vanishes from the disk before the values under it. If false, only `durability` and
    /// [`Store::flush`] wait for the disk: for very many small nodes.
    pub sync_on_request: bool,
    /// Whether conditional sets and [`Store::try_lock`] exclude other processes by advisory locks (`flock`).
    pub locks: bool,
}

impl Default for FilesystemOptions {
    fn default() -> Self {
        Self { durability: Durability::default(), sync_on_request: true, locks: true }
    }
}

impl FilesystemOptions {
    /// With this [`durability`](Self::durability).
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// With this [`sync_on_request`](Self::sync_on_request).
    #[must_use]
    pub fn sync_on_request(self, sync_on_request: bool) -> Self {
        Self { sync_on_request, ..self }
    }

    /// With these [`locks`](Self::locks).
    #[must_use]
    pub fn locks(self, locks: bool) -> Self {
        Self { locks, ..self }
    }
}

impl FilesystemStore {
    /// The store in the directory at `path`, which must be there.
    ///
    /// # Errors
    /// [`Error::NoStore`] if nothing is there, [`Error::NotAStore`] if it is no directory.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_path(path.as_ref())
    }

    /// The store in the directory at `path`, which is made with its ancestors if it is not there.
    ///
    /// # Errors
    /// [`Error::NotAStore`] if something else is there.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::create_path(path.as_ref())
    }

    /// The same store with other options.
    #[must_use]
    pub fn with(self, options: FilesystemOptions) -> Self {
        Self { options, ..self }
    }

    /// The same store, which shares with others of the same directory where they looked for what killed processes left. Where a program opens a
    /// store for each write, each would look anew, and list directories for it.
    #[must_use]
    pub fn sharing(self, looked_through: &LookedThrough) -> Self {
        Self { looked_through: looked_through.clone(), ..self }
    }

    /// Its options.
    #[must_use]
    pub fn options(&self) -> &FilesystemOptions {
        &self.options
    }

    /// The directory, as it was given.
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
        // Values whose names are to be on the disk need the names of these, too.
        for above in path.ancestors().skip(1).take(missing) {
            let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
            vfs::sync_directory(above).map_err(failed)?;
        }
        Self::open_path(path)
    }

    /// The error for a failure of the file system.
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

/// The best access to files that this system has.
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

/// The target of a path that leads out of the store.
fn escape(error: &io::Error) -> Option<&Path> {
    error.get_ref()?.downcast_ref::<Escapes>().map(|escapes| escapes.0.as_path())
}

/// Whether nothing is at a path: it is not there, or a value is where a directory would have to be.
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
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        self.read(key, ranges, options)
    }

    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<GetInto> {
        self.read_into(key, into)
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Option<Version>> {
        self.install(key, &[value], &options.when, options.durability).map(Some)
    }

    fn set_pieces(&self, key: &Key, pieces: &[&[u8]], options: &SetOptions) -> Result<Option<Version>> {
        self.install(key, pieces, &options.when, options.durability).map(Some)
    }

    fn begin_set(&self, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
        self.begin_stream(key, head, options)
    }

    fn append_to_set(&self, key: &Key, stream: &SetStream, pieces: Vec<Bytes>) -> Result<()> {
        self.append_to_stream(key, stream, &pieces)
    }

    fn finish_set(&self, key: &Key, stream: &SetStream, head: Bytes) -> Result<Option<Version>> {
        self.finish_stream(key, stream, &head).map(Some)
    }

    fn set_many(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        self.install_many(values)
    }

    fn create_many(&self, values: &[(&Key, &[u8])], durability: Durability) -> Result<()> {
        self.create_together(values, durability)
    }

    fn erase(&self, key: &Key) -> Result<()> {
        self.remove(key, None).map(|_| ())
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Listing> {
        self.list_directory(prefix)
    }

    fn list_prefix(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        self.list_tree(prefix)
    }

    fn list_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
        self.visit_tree(prefix, visit)
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.remove_tree(prefix)
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        self.rename_tree(from, to)
    }

    fn exchange_prefixes(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        self.exchange_trees(a, b)
    }

    fn find_link(&self, prefix: &Prefix) -> Result<Option<String>> {
        let path = prefix.as_str().trim_end_matches('/');
        self.first_link(path).map_err(|error| self.fail(Operation::List, path, error))
    }

    fn leftovers(&self, prefix: &Prefix, remove: bool) -> Result<Vec<Leftover>> {
        self.find_leftovers(prefix, remove)
    }

    fn parent(&self) -> Option<(Arc<dyn Store>, String)> {
        let name = self.path.file_name()?.to_str()?.to_owned();
        let parent = Self::open(self.path.parent()?).ok()?;
        Some((Arc::new(parent), name))
    }

    fn pin(&self, prefix: &Prefix) -> Result<Option<Arc<dyn Store>>> {
        self.pin_directory(prefix)
    }

    fn is_in_place(&self) -> Result<bool> {
        self.vfs.is_in_place().map_err(|error| self.fail(Operation::Get, "", error))
    }

    fn try_lock(&self, prefix: &Prefix) -> Result<Option<Lock>> {
        self.lock_prefix(prefix)
    }

    fn take_warnings(&self) -> Vec<String> {
        self.refused.take_warning(self).into_iter().chain(self.unnamed.take_warnings(self)).collect()
    }

    fn flush(&self) -> Result<()> {
        self.vfs.sync_all().map_err(|error| self.fail(Operation::Flush, "", error))
    }

    fn barrier(&self) -> Result<()> {
        if self.options.sync_on_request { self.flush() } else { Ok(()) }
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
