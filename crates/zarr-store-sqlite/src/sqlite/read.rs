//! Reading of values.

use std::fmt::Write as _;
use std::sync::LazyLock;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, Row, blob::Blob};
use sha2::{Digest, Sha256};
use zarr_store::{ByteRange, ByteRangeExt, Error, Fetched, GetInto, GetOptions, Key, Operation, Result, Version};

use super::SqliteStore;
use super::failure::{Fault, code};
use super::pool::Reader;
use super::schema::HAS_VERSIONS;
use crate::SqliteFault;

/// Greatest size in bytes of values that the query returns. Larger values are read in parts, directly into the memory of the reply.
const INLINE: i64 = 64 << 10;
/// Limit at which the query returns no value, for reading only the size.
pub(super) const SIZE_ALONE: i64 = -1;
/// Number of bytes that are hashed at a time.
const HASHED: usize = 256 << 10;

/// Query for the row of a value with its version, if it has a valid one.
static ROW_WITH_VERSION: LazyLock<String> = LazyLock::new(|| {
    row_with(&format!(
        "CASE WHEN {} THEN (SELECT n FROM zarr_version WHERE zarr_version.k = zarr.k) END",
        *HAS_VERSIONS
    ))
});
/// Query for the row of a value in a file without versions. In place of the version, it returns whether there are versions by now.
static ROW: LazyLock<String> = LazyLock::new(|| row_with(&HAS_VERSIONS));

fn row_with(last: &str) -> String {
    format!(
        "SELECT rowid, typeof(v), octet_length(v), \
         CASE WHEN octet_length(v) <= ?2 THEN v END, {last} FROM zarr WHERE k = ?1"
    )
}

/// Value in a row, which SQLite keeps unchanged while the row is read.
pub(super) struct Stored<'r> {
    connection: &'r Connection,
    pub(super) rowid: i64,
    /// Whether the value is stored as bytes, and not as a string.
    pub(super) is_blob: bool,
    /// Bytes of the value, if the query returned them.
    inline: Option<&'r [u8]>,
    pub(super) size: u64,
    /// Number of the version; `None` if there is none.
    number: Option<i64>,
}

/// Finds the row of a key, and calls `work` with its value, in one state of the file; `None` if the key does not exist.
pub(super) fn find<T>(
    connection: &Connection,
    has_versions: &mut bool,
    key: &Key,
    inline: i64,
    work: impl FnOnce(&Stored<'_>) -> Result<T, Fault>,
) -> Result<Option<T>, Fault> {
    if *has_versions {
        let found = connection.prepare_cached(&ROW_WITH_VERSION).map(Some);
        match found.or_else(|error| if is_of_sql(&error) { Ok(None) } else { Err(error) })? {
            Some(mut statement) => {
                let mut rows = statement.query((key.as_str(), inline))?;
                match rows.next() {
                    Ok(Some(row)) => return work(&stored(connection, key, row, row.get(4)?)?).map(Some),
                    Ok(None) => return Ok(None),
                    Err(error) if is_of_sql(&error) => *has_versions = false,
                    Err(error) => return Err(error.into()),
                }
            }
            None => *has_versions = false,
        }
    }
    let mut statement = connection.prepare_cached(&ROW)?;
    let mut rows = statement.query((key.as_str(), inline))?;
    let Some(row) = rows.next()? else { return Ok(None) };
    *has_versions = row.get(4)?;
    work(&stored(connection, key, row, None)?).map(Some)
}

/// Returns whether an error means that a query does not fit the tables: the table of versions is missing or has another form.
fn is_of_sql(error: &rusqlite::Error) -> bool {
    code(error).is_some_and(|(code, _)| code == ErrorCode::Unknown)
}

fn stored<'r>(
    connection: &'r Connection,
    key: &Key,
    row: &'r Row<'_>,
    number: Option<i64>,
) -> Result<Stored<'r>, Fault> {
    let class: String = row.get(1)?;
    if class != "blob" && class != "text" {
        let found = class.to_uppercase();
        return Err(SqliteFault::ValueType { key: key.to_string(), found }.into());
    }
    let inline = match row.get_ref(3)? {
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => Some(bytes),
        _ => None,
    };
    let size: i64 = row.get(2)?;
    let is_blob = class == "blob";
    Ok(Stored { connection, rowid: row.get(0)?, is_blob, inline, size: u64::try_from(size).unwrap_or(0), number })
}

impl Stored<'_> {
    fn blob(&self) -> Result<Blob<'_>, Fault> {
        Ok(self.connection.blob_open("main", "zarr", "v", self.rowid, true)?)
    }

    /// Returns the version of the value: a number if there is one and `due` is not a hash, otherwise a hash of the bytes.
    pub(super) fn version(&self, due: Option<&Version>) -> Result<Version, Fault> {
        match self.number {
            Some(number) if !due.is_some_and(is_hash) => Ok(numbered(number)),
            _ => self.hash(),
        }
    }

    fn hash(&self) -> Result<Version, Fault> {
        let mut hasher = Sha256::new();
        match self.inline {
            Some(bytes) => hasher.update(bytes),
            None => {
                let blob = self.blob()?;
                let mut buffer = vec![0; HASHED.min(blob.len())];
                let mut at = 0;
                while at < blob.len() {
                    let part = buffer.len().min(blob.len() - at);
                    blob.read_at_exact(&mut buffer[..part], at)?;
                    hasher.update(&buffer[..part]);
                    at += part;
                }
            }
        }
        Ok(hashed(hasher))
    }

    /// Reads the whole value.
    pub(super) fn read_all(&self) -> Result<Vec<u8>, Fault> {
        if let Some(bytes) = self.inline {
            return Ok(bytes.to_vec());
        }
        let blob = self.blob()?;
        let mut value = Vec::new();
        value.try_reserve_exact(blob.len()).map_err(|_| Error::Memory { size: self.size })?;
        value.resize(blob.len(), 0);
        blob.read_at_exact(&mut value, 0)?;
        Ok(value)
    }

    /// Reads the whole value into memory of the same length.
    fn read_into(&self, into: &mut [u8]) -> Result<(), Fault> {
        match self.inline {
            Some(bytes) => into.copy_from_slice(bytes),
            None => self.blob()?.read_at_exact(into, 0)?,
        }
        Ok(())
    }

    fn fetch(
        &self,
        store: &SqliteStore,
        key: &Key,
        ranges: &[ByteRange],
        options: &GetOptions,
    ) -> Result<Fetched, Fault> {
        let due = options.if_match.as_ref().and_then(|state| state.version());
        let mut fetched = Fetched::new();
        if due.is_some() || self.number.is_some() || options.snapshot {
            fetched.version = Some(self.version(due)?);
        }
        options.check(store, key, &mut fetched)?;
        if let Some(version) = fetched.version.clone().filter(|version| options.has(Some(version))) {
            return Ok(Fetched::unchanged(version));
        }
        fetched.size = Some(self.size);
        let mut total = 0_u64;
        let mut whole = None;
        for (i, range) in ranges.iter().enumerate() {
            let at = range.check(store, key, self.size)?;
            let len = at.len() as u64;
            total = total.checked_add(len).ok_or(Error::Memory { size: u64::MAX })?;
            whole = whole.or((len == self.size).then_some(i));
        }
        fetched.reserve(usize::try_from(total).map_err(|_| Error::Memory { size: total })?)?;
        let blob = if self.inline.is_none() && total > 0 { Some(self.blob()?) } else { None };
        for range in ranges {
            let at = range.check(store, key, self.size)?;
            let into = fetched.buffer(at.len())?;
            match (self.inline, &blob) {
                (Some(bytes), _) => into.copy_from_slice(&bytes[at]),
                (None, Some(blob)) if !at.is_empty() => blob.read_at_exact(into, at.start)?,
                _ => {}
            }
        }
        if let (None, Some(whole)) = (&fetched.version, whole) {
            fetched.version = Some(hashed(Sha256::new_with_prefix(fetched.part(whole))));
        }
        Ok(fetched)
    }
}

impl SqliteStore {
    pub(super) fn read(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        let inline = if ranges.is_empty() { SIZE_ALONE } else { INLINE };
        self.with_value(key, inline, |stored| stored.fetch(self, key, ranges, options))
    }

    pub(super) fn read_into(&self, key: &Key, into: &mut [u8]) -> Result<GetInto> {
        let found = self.with_value(key, INLINE, |stored| {
            if stored.size == into.len() as u64 {
                stored.read_into(into)?;
            }
            Ok(stored.size)
        })?;
        Ok(found.map_or(GetInto::Missing, GetInto::Found))
    }

    fn with_value<T>(
        &self,
        key: &Key,
        inline: i64,
        work: impl FnOnce(&Stored<'_>) -> Result<T, Fault>,
    ) -> Result<Option<T>> {
        let mut reader = self.reader(Operation::Get, key.as_str())?;
        let Reader { connection, has_versions } = &mut *reader;
        find(connection, has_versions, key, inline, work)
            .map_err(|fault| self.fault(Operation::Get, key.as_str(), fault))
    }
}

/// Returns the version for a number.
pub(super) fn numbered(number: i64) -> Version {
    Version::new(&format!("n{:016x}", number.cast_unsigned()))
}

fn hashed(hasher: Sha256) -> Version {
    let mut text = String::from("h");
    for byte in hasher.finalize() {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    Version::new(&text)
}

fn is_hash(version: &Version) -> bool {
    version.as_str().starts_with('h')
}
