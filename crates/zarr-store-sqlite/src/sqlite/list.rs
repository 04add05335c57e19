//! Listing of keys in their order.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use zarr_store::{Key, Listing, Operation, Prefix, Result, SizeVisitor};

use super::SqliteStore;
use super::failure::Fault;
use super::schema::class;
use crate::SqliteFault;

/// Returns a string after all keys under a prefix, and before all later keys; `None` for the root, which needs none.
pub(super) fn end_of(prefix: &Prefix) -> Option<String> {
    // `0` is the character after `/`.
    prefix.as_str().strip_suffix('/').map(|text| format!("{text}0"))
}

impl SqliteStore {
    pub(super) fn list_directly(&self, prefix: &Prefix) -> Result<Listing> {
        self.list_by(prefix, |connection| directly_under(connection, prefix))
    }

    pub(super) fn list_all(&self, prefix: &Prefix) -> Result<Vec<Key>> {
        self.list_by(prefix, |connection| {
            let mut keys = Vec::new();
            scan(connection, prefix, prefix.as_str(), |text| {
                // Texts that are no keys are not listed.
                keys.extend(Key::new(text).ok());
                None
            })?;
            Ok(keys)
        })
    }

    pub(super) fn visit_all(&self, prefix: &Prefix, visit: &SizeVisitor) -> Result<()> {
        self.list_by(prefix, |connection| {
            let end = end_of(prefix);
            let query = match end {
                Some(_) => "SELECT k, octet_length(v) FROM zarr WHERE k >= ?1 AND k < ?2 ORDER BY k",
                None => "SELECT k, octet_length(v) FROM zarr WHERE k >= ?1 ORDER BY k",
            };
            let mut statement = connection.prepare_cached(query)?;
            let mut rows = match &end {
                Some(end) => statement.query([prefix.as_str(), end])?,
                None => statement.query([prefix.as_str()])?,
            };
            while let Some(row) = rows.next()? {
                let size: Option<i64> = row.get(1)?;
                if let Ok(key) = Key::new(text(row)?) {
                    // A null has no size, and is listed nevertheless: a get of it is an error.
                    visit(key, size.and_then(|size| u64::try_from(size).ok()).unwrap_or(0));
                }
            }
            Ok(())
        })
    }

    fn list_by<T>(&self, prefix: &Prefix, list: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T> {
        let list = || -> Result<T, Fault> {
            let reader = self.pool.reader()?;
            // All queries are of one state of the file.
            let transaction = reader.connection.unchecked_transaction()?;
            let listed = list(&transaction)?;
            transaction.commit()?;
            Ok(listed)
        };
        list().map_err(|fault| self.fault(Operation::List, prefix.as_str(), fault))
    }
}

/// Returns the keys and prefixes directly under `prefix`. Keys further down are skipped by a new query for each prefix.
fn directly_under(connection: &Connection, prefix: &Prefix) -> Result<Listing, Fault> {
    let (mut keys, mut prefixes) = (Vec::new(), Vec::new());
    let mut from = Some(prefix.as_str().to_owned());
    while let Some(start) = from {
        from = scan(connection, prefix, &start, |text| {
            let rest = &text[prefix.as_str().len()..];
            match rest.find('/') {
                None => {
                    keys.extend(Key::new(text).ok());
                    None
                }
                Some(at) => {
                    let below = &text[..prefix.as_str().len() + at];
                    prefixes.push(format!("{below}/"));
                    Some(format!("{below}0"))
                }
            }
        })?;
    }
    let mut listed = Vec::new();
    for below in prefixes.iter().filter_map(|below| Prefix::new(below).ok()) {
        listed.push(below);
    }
    Ok(Listing::new(keys, listed))
}

/// Calls `take` for each string under `prefix` from `start` on, in order, until it returns the string from which to continue.
fn scan(
    connection: &Connection,
    prefix: &Prefix,
    start: &str,
    mut take: impl FnMut(&str) -> Option<String>,
) -> Result<Option<String>, Fault> {
    let end = end_of(prefix);
    // With no end there come also keys that are no texts, which are behind all texts.
    let query = match end {
        Some(_) => "SELECT k FROM zarr WHERE k >= ?1 AND k < ?2 ORDER BY k",
        None => "SELECT k FROM zarr WHERE k >= ?1 ORDER BY k",
    };
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = match &end {
        Some(end) => statement.query([start, end])?,
        None => statement.query([start])?,
    };
    while let Some(row) = rows.next()? {
        if let Some(next) = take(text(row)?) {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

fn text<'r>(row: &'r Row<'_>) -> Result<&'r str, Fault> {
    match row.get_ref(0)? {
        ValueRef::Text(bytes) => str::from_utf8(bytes)
            .map_err(|_| SqliteFault::KeyText { key: String::from_utf8_lossy(bytes).into_owned() }.into()),
        other => Err(SqliteFault::KeyType { found: class(other.data_type()) }.into()),
    }
}
