//! Options for opening a file.

use std::time::Duration;

/// Options of a [`crate::SqliteStore`].
///
/// ```
/// # use std::time::Duration;
/// # use zarr_store_sqlite::{Journal, SqliteOptions};
/// let options = SqliteOptions::default().journal(Journal::Wal).busy_timeout(Duration::from_secs(5));
/// assert!(!options.read_only);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqliteOptions {
    /// Time for which an operation waits while other connections have the file locked. Then it fails with
    /// [`zarr_store::ErrorKind::Throttled`], and has changed nothing. Default 60 s.
    pub busy_timeout: Duration,
    /// Whether the store refuses writes even if the file is writable. Default false.
    pub read_only: bool,
    /// Journal of a new file. An existing file keeps its journal.
    pub journal: Journal,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(60), read_only: false, journal: Journal::default() }
    }
}

impl SqliteOptions {
    /// Sets [`busy_timeout`](Self::busy_timeout).
    #[must_use]
    pub fn busy_timeout(self, busy_timeout: Duration) -> Self {
        Self { busy_timeout, ..self }
    }

    /// Sets [`read_only`](Self::read_only).
    #[must_use]
    pub fn read_only(self, read_only: bool) -> Self {
        Self { read_only, ..self }
    }

    /// Sets [`journal`](Self::journal).
    #[must_use]
    pub fn journal(self, journal: Journal) -> Self {
        Self { journal, ..self }
    }
}

/// Data that SQLite writes beside the file, so that a change takes effect as a whole or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Journal {
    /// Journal of the pages before the change, in a file that exists during the change: the default of SQLite and of zarr-python 2. Works
    /// on network file systems with locks, and on read-only media. Each set waits for the disk several times. While a writer changes the
    /// file, it waits until no process reads.
    #[default]
    Rollback,
    /// Journal of changes, which are appended to a second file and moved to the first file from time to time (`journal_mode=WAL`). A set
    /// does not wait for the disk, and readers and a writer do not wait for each other. All processes must be on one machine. While a
    /// process has the file open, or after a process was killed, the file is only valid together with the files of its name and `-wal` and
    /// `-shm`. A reader needs permission to create these files, or they must exist.
    Wal,
}
