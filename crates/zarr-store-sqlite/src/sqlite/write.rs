//! Changes of values, each in one transaction.

use rusqlite::{Connection, TransactionBehavior, params};
use zarr_store::{Durability, Error, ErrorKind, Key, Operation, Precondition, Prefix, Result, SetOptions, Version};

use super::SqliteStore;
use super::failure::Fault;
use super::list::end_of;
use super::read::{SIZE_ALONE, find};
use super::schema::install_versions;

/// Greatest size of a value in bytes in any build of SQLite.
const LONGEST: u64 = i32::MAX as u64;
/// Size in bytes above which values are changed in place, so that only the pages of the parts are written.
const IN_PLACE: u64 = 64 << 10;

const SET: &str = "INSERT INTO zarr(k, v) VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v";

impl SqliteStore {
    /// Executes `work` as one transaction of the writer, for which other writers wait. Nothing is changed if it fails.
    fn change<T>(
        &self,
        operation: Operation,
        key: &str,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T> {
        if self.pool.is_read_only() {
            return Err(Error::ReadOnly { store: self.to_string(), operation });
        }
        let change = || -> Result<T, Fault> {
            let mut writer = self.pool.writer(durability)?;
            let transaction = writer.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            install_versions(&transaction)?;
            let outcome = work(&transaction)?;
            transaction.commit()?;
            Ok(outcome)
        };
        change().map_err(|fault| self.fault(operation, key, fault))
    }

    pub(super) fn set_value(&self, key: &Key, value: &[u8], options: &SetOptions) -> Result<Version> {
        self.change(Operation::Set, key.as_str(), options.durability, |connection| {
            if options.when != Precondition::None {
                let due = match &options.when {
                    Precondition::Version(version) => Some(version),
                    _ => None,
                };
                let found = find(connection, &mut true, key, SIZE_ALONE, |stored| stored.version(due))?;
                options.when.check(self, key, found.as_ref())?;
            }
            set(connection, key, value)?;
            version(connection, key)
        })
    }

    pub(super) fn set_values(&self, values: &[(&Key, &[u8])]) -> Result<()> {
        let at = values.first().map_or("", |(key, _)| key.as_str());
        let outcome = self.change(Operation::Set, at, Durability::None, |connection| {
            for (key, value) in values {
                match set(connection, key, value) {
                    // The values before it are set, unless SQLite has undone the transaction.
                    Err(fault) if !connection.is_autocommit() => return Ok(Err((key.as_str(), fault))),
                    outcome => outcome?,
                }
            }
            Ok(Ok(()))
        })?;
        outcome.map_err(|(key, fault)| self.fault(Operation::Set, key, fault))
    }

    pub(super) fn erase_value(&self, key: &Key) -> Result<()> {
        self.change(Operation::Erase, key.as_str(), Durability::None, |connection| {
            connection.prepare_cached("DELETE FROM zarr WHERE k = ?1")?.execute([key.as_str()])?;
            Ok(())
        })
    }

    pub(super) fn erase_under(&self, prefix: &Prefix) -> Result<()> {
        self.change(Operation::Erase, prefix.as_str(), Durability::None, |connection| {
            match end_of(prefix) {
                Some(end) => {
                    connection.execute("DELETE FROM zarr WHERE k >= ?1 AND k < ?2", [prefix.as_str(), &end])?
                }
                None => connection.execute("DELETE FROM zarr", [])?,
            };
            Ok(())
        })
    }

    pub(super) fn rename(&self, from: &Prefix, to: &Prefix) -> Result<bool> {
        self.change(Operation::Set, from.as_str(), Durability::None, |connection| {
            let (Some(end), Some(to_end)) = (end_of(from), end_of(to)) else { return Ok(false) };
            if from.as_str().starts_with(to.as_str()) || to.as_str().starts_with(from.as_str()) {
                return Ok(false);
            }
            let mut any = connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM zarr WHERE k >= ?1 AND k < ?2)")?;
            if any.query_row([to.as_str(), &to_end], |row| row.get(0))? {
                return Ok(false);
            }
            let renamed = connection.execute(
                "UPDATE zarr SET k = ?3 || substr(k, length(?1) + 1) WHERE k >= ?1 AND k < ?2",
                [from.as_str(), &end, to.as_str()],
            )?;
            Ok(renamed > 0)
        })
    }

    pub(super) fn exchange(&self, a: &Prefix, b: &Prefix) -> Result<bool> {
        self.change(Operation::Set, a.as_str(), Durability::Full, |connection| {
            let (Some(a_end), Some(b_end)) = (end_of(a), end_of(b)) else { return Ok(false) };
            if a.as_str().starts_with(b.as_str()) || b.as_str().starts_with(a.as_str()) {
                return Ok(false);
            }
            let mut any = connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM zarr WHERE k >= ?1 AND k < ?2)")?;
            for (from, end) in [(a, &a_end), (b, &b_end)] {
                if !any.query_row([from.as_str(), end], |row| row.get(0))? {
                    return Ok(false);
                }
            }
            // No key begins with a slash.
            const ASIDE: (&str, &str) = ("/", "0");
            let mut rename = connection
                .prepare_cached("UPDATE zarr SET k = ?3 || substr(k, length(?1) + 1) WHERE k >= ?1 AND k < ?2")?;
            rename.execute([a.as_str(), &a_end, ASIDE.0])?;
            rename.execute([b.as_str(), &b_end, a.as_str()])?;
            rename.execute([ASIDE.0, ASIDE.1, b.as_str()])?;
            Ok(true)
        })
    }

    pub(super) fn set_parts(&self, key: &Key, parts: &[(u64, &[u8])]) -> Result<()> {
        let too_long = |size| {
            let source = format!("found {size} bytes, expected at most {LONGEST} in SQLite");
            Error::failed(self, Operation::Set, key.as_str(), ErrorKind::Limit, source)
        };
        let mut end = 0;
        for (offset, part) in parts {
            end = offset.checked_add(part.len() as u64).ok_or_else(|| too_long(u64::MAX))?.max(end);
        }
        if end > LONGEST {
            return Err(too_long(end));
        }
        self.change(Operation::Set, key.as_str(), Durability::None, |connection| {
            let value = find(connection, &mut true, key, SIZE_ALONE, |stored| {
                let in_place = stored.is_blob && stored.size > IN_PLACE && end <= stored.size;
                Ok(if in_place { Whole::InPlace(stored.rowid) } else { Whole::Spliced(stored.read_all()?) })
            })?;
            match value.unwrap_or(Whole::Spliced(Vec::new())) {
                Whole::InPlace(rowid) => {
                    let mut blob = connection.blob_open("main", "zarr", "v", rowid, false)?;
                    for (offset, part) in parts {
                        blob.write_all_at(part, index(*offset))?;
                    }
                    drop(blob);
                    // Writing to a blob fires no trigger, so a new version is set here.
                    let mut number = connection.prepare_cached("REPLACE INTO zarr_version VALUES (?1, random())")?;
                    number.execute([key.as_str()])?;
                }
                Whole::Spliced(mut value) => {
                    let len = index(end).max(value.len());
                    value.try_reserve_exact(len - value.len()).map_err(|_| Error::Memory { size: len as u64 })?;
                    value.resize(len, 0);
                    for (offset, part) in parts {
                        value[index(*offset)..][..part.len()].copy_from_slice(part);
                    }
                    set(connection, key, &value)?;
                }
            }
            Ok(())
        })
    }

    /// Waits until all changes are on the disk.
    pub(super) fn sync(&self) -> Result<()> {
        if self.pool.is_read_only() {
            return Ok(());
        }
        let sync = || -> Result<(), Fault> {
            let mut writer = self.pool.writer(Durability::Full)?;
            // Otherwise each change was on the disk before it ended.
            if writer.is_wal() {
                // A change that changes nothing: with it the journal is synced, and so all that was appended to it before.
                let transaction = writer.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let number: i32 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
                transaction.pragma_update(None, "user_version", number)?;
                transaction.commit()?;
            }
            Ok(())
        };
        sync().map_err(|fault| self.fault(Operation::Flush, "", fault))
    }
}

/// Value before parts of it are changed.
enum Whole {
    /// Row of a value that is changed in place.
    InPlace(i64),
    /// Copy of all bytes, which is changed and set.
    Spliced(Vec<u8>),
}

fn set(connection: &Connection, key: &Key, value: &[u8]) -> Result<(), Fault> {
    connection.prepare_cached(SET)?.execute(params![key.as_str(), value])?;
    Ok(())
}

/// Returns the version of a value that was just set.
fn version(connection: &Connection, key: &Key) -> Result<Version, Fault> {
    let found = find(connection, &mut true, key, SIZE_ALONE, |stored| stored.version(None))?;
    found.ok_or_else(|| Fault::Sqlite(rusqlite::Error::QueryReturnedNoRows))
}

/// Converts an offset that is at most [`LONGEST`].
fn index(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
