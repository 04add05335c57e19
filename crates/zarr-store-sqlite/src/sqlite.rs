//! Stores whose values are in an SQLite file.

mod failure;
mod list;
#[cfg(unix)]
mod locks;
mod options;
mod pool;
mod read;
mod schema;
mod write;

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use zarr_store::{
    AccessProfile, Answer, Call, Capabilities, Error, Operation, Result, Store, backoff, fallback_blocking, lend_values,
};

use failure::Fault;
use pool::{Held, Pool, Reader};
use schema::Found;

pub use options::{Journal, SqliteOptions};

/// A store in one SQLite file, which several processes may write: each value is a row of the table
/// `zarr(k TEXT PRIMARY KEY, v BLOB)`, as in files of `zarr.SQLiteStore` of zarr-python 2, which reads and writes these files as well.
///
/// # Guarantees
/// - Each set is a transaction: a value is replaced as a whole or not at all, even if the write fails, the process is killed or other
///   processes read meanwhile. [`set_many`](zarr_store::StoreExt::set_many) (much faster for many small values), [`set_partial`](zarr_store::StoreExt::set_partial), [`erase_prefix`](zarr_store::StoreExt::erase_prefix)
///   and [`rename_prefix`](zarr_store::StoreExt::rename_prefix) are transactions as well.
/// - All ranges of one get are of one state of the value. A range of a large value is read without the rest: directly in files that this
///   library creates, which have `auto_vacuum` for that; in other files SQLite steps through the pages before the range.
/// - With [`Journal::Rollback`] a set is on the disk when it returns, whatever its [`zarr_store::Durability`]. With [`Journal::Wal`] a loss
///   of power loses at most the last changes since [`flush`](zarr_store::StoreExt::flush) or a set with [`zarr_store::Durability::Full`], and keeps all changes
///   before the first lost change.
/// - [`zarr_store::Precondition`]s hold between all connections and processes. A version is a random number that is drawn at each set,
///   stored in the table `zarr_version(k TEXT PRIMARY KEY, n INTEGER)` by triggers on `zarr`, so that sets of other programs change it,
///   too. The first change of a file of another program adds this table. Before that, and for older values, a version is a hash of the
///   bytes, for which the whole value has to be read. Programs that write parts of a value by SQLite's incremental I/O (not zarr-python)
///   do not change the number. Hashes alone would need no table, but then several gets of parts of a shard would each read all of it.
/// - A store that is opened on a file without write permission, or with [`SqliteOptions::read_only`], writes nothing. (With
///   [`Journal::Wal`] SQLite itself creates or needs the files `-wal` and `-shm`.)
/// - Strings that are no keys are not listed. A value stored as `TEXT` consists of the UTF-8 bytes of its string.
/// - The file does not shrink when values are erased: new values reuse their space. `VACUUM` in SQLite makes the file smaller.
/// - [`try_lock`](zarr_store::StoreExt::try_lock) excludes other processes on Unix, by the lock of an empty file beside the SQLite file that exists while the lock
///   is held (its name is that of the SQLite file, `-lock-` and 16 hexadecimal digits). On other systems, and if no file can be created
///   there, it excludes only other threads of this process.
///
/// The path must not be a hard link, since SQLite would not find its journal under another name.
///
/// # Example
/// ```
/// use zarr_store::{Key, StoreExt};
/// use zarr_store_sqlite::SqliteStore;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("x.sqlite");
/// let store = SqliteStore::create(path)?;
/// store.set_all(&Key::new("g/zarr.json")?, b"{}")?;
/// assert_eq!(store.list()?, [Key::new("g/zarr.json")?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    pool: Arc<Pool>,
    path: PathBuf,
    options: SqliteOptions,
}

/// Description of a file that is a store, for messages.
const EXPECTED: &str = "a SQLite file with the table zarr(k TEXT PRIMARY KEY, v BLOB)";
/// Page size of new files in bytes: a row of 1 KiB wastes less space than in pages of 4 KiB, and changes fewer bytes than in larger pages.
const PAGE_SIZE: u32 = 8192;
/// Number of attempts to set the journal of a new file while other processes create the same file.
const ATTEMPTS: u32 = 64;

impl SqliteStore {
    /// Opens the store in the existing file at `path`.
    ///
    /// # Errors
    /// [`Error::NoStore`] if the file does not exist, [`Error::NotAStore`] if it is no SQLite file or lacks the table, [`Error::Format`]
    /// with a [`crate::SqliteFault`] if the table has another form.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, SqliteOptions::default())
    }

    /// Opens the store in the existing file at `path`, with options.
    ///
    /// # Errors
    /// The errors of [`SqliteStore::open`].
    pub fn open_with(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self> {
        Self::open_path(path.as_ref(), options)
    }

    /// Opens the store in the file at `path`. Creates the table if the file is missing or empty, and creates missing directories above
    /// it.
    ///
    /// # Errors
    /// The errors of [`SqliteStore::open`]. A file with other tables is not changed.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::create_with(path, SqliteOptions::default())
    }

    /// Opens or creates the store in the file at `path` as [`SqliteStore::create`] does, with options.
    ///
    /// # Errors
    /// The errors of [`SqliteStore::create`].
    pub fn create_with(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self> {
        Self::create_path(path.as_ref(), options)
    }

    /// Returns the options of the store.
    #[must_use]
    pub fn options(&self) -> &SqliteOptions {
        &self.options
    }

    /// Returns the path of the file, as the caller gave it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn open_path(path: &Path, options: SqliteOptions) -> Result<Self> {
        let name = path.display();
        let fail = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::NoStore { store: name.to_string() },
            _ => Error::io(&name, Operation::Open, "/", source),
        };
        // SQLite opens it again and again, wherever the process goes.
        let absolute = fs::canonicalize(path).map_err(fail)?;
        // The file is never opened but by SQLite: to close it would give back the locks of SQLite's.
        if !fs::metadata(&absolute).map_err(fail)?.is_file() {
            return Err(Error::NotAStore { store: name.to_string(), found: "no file", expected: EXPECTED });
        }
        let open = || -> Result<(Connection, Found, bool), Fault> {
            let connection = pool::connect(&absolute, pool::access(options.read_only), options.busy_timeout)?;
            let found = schema::check(&connection)?;
            let read_only = connection.is_readonly("main")?;
            connection.pragma_update(None, "query_only", true)?;
            Ok((connection, found, read_only))
        };
        let not_a_store = |found| Error::NotAStore { store: name.to_string(), found, expected: EXPECTED };
        match open() {
            Ok((connection, Found::Store, read_only)) => {
                let pool = Pool::new(absolute, connection, read_only, options.busy_timeout);
                Ok(Self { pool: Arc::new(pool), path: path.to_owned(), options })
            }
            Ok((_, Found::Nothing, _)) => Err(not_a_store("an empty database")),
            Ok((_, Found::Others, _)) => Err(not_a_store("a database without that table")),
            Err(Fault::Sqlite(error)) if is_of(&error, &[ErrorCode::NotADatabase]) => Err(not_a_store("another file")),
            Err(fault) => Err(fault.of(&name, Operation::Open, "", options.busy_timeout)),
        }
    }

    fn create_path(path: &Path, options: SqliteOptions) -> Result<Self> {
        let name = path.display();
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        if let Some(above) = above {
            fs::create_dir_all(above).map_err(|source| Error::io(&name, Operation::Open, "/", source))?;
        }
        match Self::open_path(path, options) {
            Err(Error::NoStore { .. } | Error::NotAStore { found: "an empty database", .. }) => {}
            outcome => return outcome,
        }
        let absolute = std::path::absolute(path).map_err(|source| Error::io(&name, Operation::Open, "/", source))?;
        let mut attempt = 0;
        loop {
            match make(&absolute, options) {
                Ok(()) => return Self::open_path(path, options),
                // Others make it as well: SQLite does not wait for them everywhere.
                Err(error) if is_of(&error, &BUSY) && attempt < ATTEMPTS => {
                    attempt += 1;
                    std::thread::sleep(backoff(attempt));
                }
                Err(error) => return Err(Fault::from(error).of(&name, Operation::Open, "", options.busy_timeout)),
            }
        }
    }

    fn fault(&self, operation: Operation, key: &str, fault: Fault) -> Error {
        fault.of(self, operation, key, self.options.busy_timeout)
    }

    fn reader(&self, operation: Operation, key: &str) -> Result<Held<'_, Reader>> {
        self.pool.reader().map_err(|error| self.fault(operation, key, error.into()))
    }
}

/// Creates the table in a missing or empty file.
fn make(path: &Path, options: SqliteOptions) -> rusqlite::Result<()> {
    let flags = pool::access(false) | OpenFlags::SQLITE_OPEN_CREATE;
    let mut connection = pool::connect(path, flags, options.busy_timeout)?;
    connection.pragma_update(None, "page_size", PAGE_SIZE)?;
    // Where pages are is written down, so that a range of a large value is found without the pages before it.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "synchronous", "EXTRA")?;
    if options.journal == Journal::Wal {
        connection.pragma_update(None, "journal_mode", "WAL")?;
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have made the tables since.
    let is_empty: bool = transaction.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))?;
    if is_empty {
        transaction.execute_batch(schema::VALUES)?;
    }
    transaction.commit()
}

/// Error codes for a file that other connections have locked.
const BUSY: [ErrorCode; 2] = [ErrorCode::DatabaseBusy, ErrorCode::DatabaseLocked];

fn is_of(error: &rusqlite::Error, codes: &[ErrorCode]) -> bool {
    failure::code(error).is_some_and(|(code, _)| codes.contains(&code))
}

impl fmt::Display for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).field("options", &self.options).finish_non_exhaustive()
    }
}

impl Store for SqliteStore {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.read(&key, &ranges, &options)?),
            Call::GetInto { key, into } => Answer::GotInto(self.read_into(&key, into)?),
            Call::Set { key, value, options } => Answer::Set(Some(self.set_value(&key, &value, &options)?)),
            Call::SetMany { values } => self.set_values(&lend_values(&values))?.into(),
            Call::SetPartial { key, parts } => {
                let parts: Vec<(u64, &[u8])> = parts.iter().map(|(offset, part)| (*offset, &**part)).collect();
                self.set_parts(&key, &parts)?.into()
            }
            Call::Erase { key } => self.erase_value(&key)?.into(),
            Call::ErasePrefix { prefix } => self.erase_under(&prefix)?.into(),
            Call::RenamePrefix { from, to } => Answer::Is(self.rename(&from, &to)?),
            Call::ExchangePrefixes { a, b } => Answer::Is(self.exchange(&a, &b)?),
            Call::ListDir { prefix } => Answer::Listing(self.list_directly(&prefix)?),
            Call::ListPrefix { prefix } => Answer::Keys(self.list_all(&prefix)?),
            Call::ListSizes { prefix, visit } => self.visit_all(&prefix, &visit)?.into(),
            #[cfg(unix)]
            Call::Lock { prefix } => Answer::Locked(self.lock_prefix(&prefix)?),
            Call::Flush => self.sync()?.into(),
            // Nothing to do: changes are on the disk, or in order in a journal.
            Call::Barrier => Answer::Done,
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        let write = !self.pool.is_read_only();
        Capabilities::none()
            .write(write)
            .list(true)
            .suffix_ranges(true)
            .conditional(write)
            .durable(write)
            .erases_at_once(write)
            .exchanges(write)
    }

    fn access_profile(&self) -> AccessProfile {
        // To find a piece again costs more than in a file: all pieces at once. To name the state of a value may cost a hash of it.
        AccessProfile::LOCAL.read_size(None).cheap_parts(false)
    }
}
