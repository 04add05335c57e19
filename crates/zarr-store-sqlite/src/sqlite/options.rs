//! How a file is opened.

use std::time::Duration;

/// The options of a [`crate::SqliteStore`].
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
    /// How long an operation waits while others have the file locked. Then it fails with an error of the kind
    /// [`zarr_store::ErrorKind::Throttled`], and has changed nothing. 60 seconds unless set.
    pub busy_timeout: Duration,
    /// Whether the store takes no writes, though the file could be written.
    pub read_only: bool,
    /// The journal of a file that is made. A file that is there keeps the one it has.
    pub journal: Journal,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(60), read_only: false, journal: Journal::default() }
    }
}

impl SqliteOptions {
    /// With this [`busy_timeout`](Self::busy_timeout).
    #[must_use]
    pub fn busy_timeout(self, busy_timeout: Duration) -> Self {
        Self { busy_timeout, ..self }
    }

    /// With this [`read_only`](Self::read_only).
    #[must_use]
    pub fn read_only(self, read_only: bool) -> Self {
        Self { read_only, ..self }
    }

    /// With this [`journal`](Self::journal).
    #[must_use]
    pub fn journal(self, journal: Journal) -> Self {
        Self { journal, ..self }
    }
}

/// Data that SQLite writes beside the file, so that a change is made as a whole or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Journal {
    /// The pages before the change, in a file that lasts as long as the change: SQLite's default, and that of zarr-python 2. It works on
    /// network file systems that have locks, and read-only media; each set waits for the disk several times. A writer waits until
    /// nobody reads, for the moment in which it changes the file.
    #[default]
    Rollback,
    /// Changes are appended to a second file, and moved to the first one from time to time (`journal_mode=WAL`). A set waits for no
    /// disk, and readers and a writer do not wait for each other. All processes have to be on one machine; the file belongs together
    /// with those of its name and `-wal` and `-shm` as long as a process has it open, or after one was killed; and who reads it needs
    /// the permission to make these, or they have to be there.
    Wal,
}
