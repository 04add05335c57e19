//! Connections to an SQLite file.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use zarr_store::Durability;

/// Greatest number of threads that read concurrently; other threads wait. A connection has a cache of up to 2 MiB.
const READERS: usize = 16;

/// Connections to one file: several for reading, one thread each, and one for writing.
pub(super) struct Pool {
    path: PathBuf,
    file: Option<FileId>,
    read_only: bool,
    busy_timeout: Duration,
    readers: [Mutex<Option<Reader>>; READERS],
    writer: Mutex<Option<Writer>>,
}

/// Connection for reading.
pub(super) struct Reader {
    pub(super) connection: Connection,
    /// Whether the file may have versions. A query for versions finds out.
    pub(super) has_versions: bool,
}

/// Connection for writing.
pub(super) struct Writer {
    pub(super) connection: Connection,
    journal: String,
    /// Whether each change is on the disk before it ends.
    syncs: bool,
}

/// Identity of a file, whatever its name: device and inode.
type FileId = (u64, u64);

/// Reason why there is no connection.
#[derive(Debug)]
pub(super) enum NoConnection {
    /// The path now belongs to another file.
    Replaced,
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for NoConnection {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Pool {
    /// Creates the pool of the file at the absolute path `path`, with its first connection.
    pub(super) fn new(path: PathBuf, connection: Connection, read_only: bool, busy_timeout: Duration) -> Self {
        let pool = Self {
            file: file_id(&path),
            path,
            read_only,
            busy_timeout,
            readers: [const { Mutex::new(None) }; READERS],
            writer: Mutex::new(None),
        };
        *lock(&pool.readers[home()]) = Some(Reader { connection, has_versions: true });
        pool
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Returns the path of the file.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are locks beside it on Unix alone"))]
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a connection for reading, which no other thread uses until it is dropped. A thread gets the same connection each time, if it
    /// is free.
    pub(super) fn reader(&self) -> Result<Held<'_, Reader>, NoConnection> {
        let home = home();
        let free = (0..READERS).find_map(|i| self.readers[(home + i) % READERS].try_lock().ok());
        let mut slot = free.unwrap_or_else(|| lock(&self.readers[home]));
        if slot.is_none() {
            let connection = self.connect()?;
            // A connection opened for reading only could not undo an unfinished change of a killed writer.
            connection.pragma_update(None, "query_only", true)?;
            *slot = Some(Reader { connection, has_versions: true });
        }
        Ok(Held(slot))
    }

    /// Returns the connection for writing, prepared for this durability.
    pub(super) fn writer(&self, durability: Durability) -> Result<Held<'_, Writer>, NoConnection> {
        let mut slot = lock(&self.writer);
        if slot.is_none() {
            let connection = self.connect()?;
            // The journal mode WAL cannot be changed by others while a connection is open.
            let journal: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
            connection.pragma_update(None, "synchronous", "EXTRA")?;
            *slot = Some(Writer { connection, journal, syncs: true });
        }
        let mut writer = Held(slot);
        let syncs = durability == Durability::Full || !writer.is_wal();
        if writer.syncs != syncs {
            // Without a sync, a loss of power takes the last changes from a journal of appended changes, and harms nothing else.
            writer.connection.pragma_update(None, "synchronous", if syncs { "EXTRA" } else { "NORMAL" })?;
            writer.syncs = syncs;
        }
        Ok(writer)
    }

    fn connect(&self) -> Result<Connection, NoConnection> {
        let connection = connect(&self.path, access(self.read_only), self.busy_timeout)?;
        if file_id(&self.path) == self.file { Ok(connection) } else { Err(NoConnection::Replaced) }
    }
}

impl Writer {
    pub(super) fn is_wal(&self) -> bool {
        self.journal == "wal"
    }
}

/// Connection that one thread uses.
pub(super) struct Held<'p, T>(MutexGuard<'p, Option<T>>);

#[expect(clippy::expect_used, reason = "`reader` and `writer` have filled it")]
impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("filled")
    }
}

#[expect(clippy::expect_used, reason = "`reader` and `writer` have filled it")]
impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("filled")
    }
}

/// Returns the flags for opening an existing file.
pub(super) fn access(read_only: bool) -> OpenFlags {
    let access = if read_only { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
    // Each connection has a mutex of ours.
    access | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// Opens a connection to the file at `path`, which must be absolute, since SQLite takes `file:...` for a URI.
pub(super) fn connect(path: &Path, flags: OpenFlags, busy_timeout: Duration) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(busy_timeout)?;
    // The file may be of others: its schema runs no function that does more than compute, and no change breaks the file itself.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// Returns the number of the thread, by which it chooses its connection.
fn home() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static HOME: Cell<usize> = Cell::new(NEXT.fetch_add(1, Ordering::Relaxed)));
    HOME.with(Cell::get) % READERS
}

// A statement that a panic interrupts is reset, and a transaction undone, where they are dropped.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn file_id(_path: &Path) -> Option<FileId> {
    // On these systems an open file cannot be replaced, so it needs no identity.
    None
}
