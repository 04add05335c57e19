//! Tables of a file.

use std::sync::LazyLock;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension};

use super::failure::Fault;
use crate::SqliteFault;

/// Definition of the table of values, as in zarr-python 2.
pub(super) const VALUES: &str = "CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB)";

/// Names and definitions of the table of versions and the triggers that maintain it.
///
/// A version is a random number that is drawn whenever any program sets a value. So two versions are equal only if they are of the
/// same set, even after the file was replaced by an older copy. The triggers delete and insert, since `INSERT OR REPLACE` would
/// follow the conflict clause of the statement that fires them.
const VERSIONS: [(&str, &str); 4] = [
    ("zarr_version", "CREATE TABLE zarr_version(k TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID"),
    (
        "zarr_version_insert",
        "CREATE TRIGGER zarr_version_insert AFTER INSERT ON zarr BEGIN \
         DELETE FROM zarr_version WHERE k = new.k; \
         INSERT INTO zarr_version VALUES (new.k, random()); END",
    ),
    (
        "zarr_version_update",
        "CREATE TRIGGER zarr_version_update AFTER UPDATE ON zarr BEGIN \
         DELETE FROM zarr_version WHERE k = old.k OR k = new.k; \
         INSERT INTO zarr_version VALUES (new.k, random()); END",
    ),
    (
        "zarr_version_delete",
        "CREATE TRIGGER zarr_version_delete AFTER DELETE ON zarr BEGIN DELETE FROM zarr_version WHERE k = old.k; END",
    ),
];

/// SQL expression that is 1 if the table of versions and its triggers exist in the form of this library, and 0 otherwise: zarr-python 2
/// drops the table of values, and the triggers with it, when it clears a store.
pub(super) static HAS_VERSIONS: LazyLock<String> = LazyLock::new(|| {
    let list = |texts: [&str; 4]| texts.map(|text| format!("'{text}'")).join(", ");
    format!(
        "(SELECT count(*) FROM sqlite_schema WHERE name IN ({}) AND sql IN ({})) = {}",
        list(VERSIONS.map(|(name, _)| name)),
        list(VERSIONS.map(|(_, sql)| sql)),
        VERSIONS.len()
    )
});

/// Tables that exist in a file.
pub(super) enum Found {
    /// The table of values exists.
    Store,
    /// No tables exist.
    Nothing,
    /// Only other tables exist.
    Others,
}

/// Looks for the table of values, and checks that its keys are strings in the order of their UTF-8.
pub(super) fn check(connection: &Connection) -> Result<Found, Fault> {
    // One state for all questions: another process may make the table between two of them.
    let _state = connection.unchecked_transaction()?;
    let encoding: String = connection.query_row("PRAGMA encoding", [], |row| row.get(0))?;
    if encoding != "UTF-8" {
        return Err(SqliteFault::Encoding { found: encoding }.into());
    }
    let table = connection
        .query_row("SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = 'zarr'", [], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?))
        })
        .optional()?;
    let Some((kind, without_rowid)) = table else {
        let is_empty = connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))?;
        return Ok(if is_empty { Found::Nothing } else { Found::Others });
    };
    let table = |found: String| Fault::Format(SqliteFault::Table { found });
    if kind != "table" {
        return Err(table(format!("a {kind} of that name")));
    }
    let mut columns = Vec::new();
    let mut statement = connection.prepare("SELECT name, type, pk FROM pragma_table_xinfo('zarr')")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (name, kind, key): (String, String, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
        columns.push(format!("{name} {kind}{}", if key > 0 { " PRIMARY KEY" } else { "" }));
    }
    if columns.len() != 2 || !["k TEXT PRIMARY KEY", "v BLOB"].iter().eq(&columns) {
        return Err(table(format!("the columns {}", columns.join(", "))));
    }
    if without_rowid {
        return Err(table("a table WITHOUT ROWID".to_owned()));
    }
    let order: String = connection.query_row(
        "SELECT coll FROM pragma_index_list('zarr') AS i, pragma_index_xinfo(i.name) AS x WHERE i.origin = 'pk' AND x.key = 1",
        [],
        |row| row.get(0),
    )?;
    if order != "BINARY" {
        return Err(table(format!("keys in the order {order}")));
    }
    // Bytes come behind all texts, and nulls before them.
    for end in ["ASC", "DESC"] {
        let found = connection
            .query_row(&format!("SELECT k FROM zarr ORDER BY k {end} LIMIT 1"), [], |row| {
                Ok(row.get_ref(0)?.data_type())
            })
            .optional()?;
        if let Some(found) = found.filter(|found| *found != Type::Text) {
            return Err(SqliteFault::KeyType { found: class(found) }.into());
        }
    }
    Ok(Found::Store)
}

/// Returns the name of a storage class.
pub(super) fn class(found: Type) -> &'static str {
    match found {
        Type::Null => "NULL",
        Type::Integer => "INTEGER",
        Type::Real => "REAL",
        Type::Text => "TEXT",
        Type::Blob => "BLOB",
    }
}

/// Creates the missing parts of the table of versions and its triggers, in the transaction of a writer.
pub(super) fn install_versions(connection: &Connection) -> Result<(), Fault> {
    if connection.prepare_cached(&format!("SELECT {}", *HAS_VERSIONS))?.query_row([], |row| row.get(0))? {
        return Ok(());
    }
    let mut missing = Vec::new();
    for (name, sql) in VERSIONS {
        let found: Option<Option<String>> = connection
            .query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [name], |row| row.get(0))
            .optional()?;
        match found {
            None => missing.push(sql),
            Some(found) if found.as_deref() == Some(sql) => {}
            Some(_) => return Err(SqliteFault::Versions { name: name.to_owned() }.into()),
        }
    }
    // Values may have been set while there were no triggers: what the table says is of others.
    if !missing.iter().any(|sql| sql.starts_with("CREATE TABLE")) {
        connection.execute("DELETE FROM zarr_version", [])?;
    }
    for sql in missing {
        connection.execute_batch(sql)?;
    }
    Ok(())
}
