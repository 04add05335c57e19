//! Keys of a node, of which a manifest has the values.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use zarr_hierarchy::node::{CONVERSION_JOURNAL, REPLACEMENTS, is_one_prefix};
use zarr_hierarchy::{Error, ErrorKind, Result, in_store, open_node};
use zarr_meta::{Dialect, NodePath};
use zarr_scan::lock;
use zarr_store::{ByteRange, GetOptions, Key, Prefix, Store, StoreExt};

/// Names of documents, of which each node has at least one.
const DOCUMENTS: [&str; 4] = ["zarr.json", ".zgroup", ".zarray", ".zattrs"];

/// Values by their names, with their sizes; `None` where a size costs a get of the value.
pub(super) type Sizes = BTreeMap<String, Option<u64>>;

/// Returns the prefix of all keys of the node at `path`.
pub(super) fn prefix_of(store: &dyn Store, path: &str, dialect: Option<Dialect>) -> Result<Prefix> {
    let found = open_node(store, path, dialect).map_err(|error| in_store(store, error))?;
    if !found.path.is_root() && !is_one_prefix(found.dialect, &found.path) {
        let message = format!("keys of a node of dialect {} do not all lie below its path", found.dialect);
        let error = Error::argument(message).with_hint("the root has a manifest of all keys").at_path(&found.path);
        return Err(in_store(store, error));
    }
    Ok(Prefix::new(&found.path.key_prefix())?)
}

/// Returns the prefix of all keys of the node at `path`, also if there is no node that can be opened; then with the error.
pub(super) fn prefix_of_copy(
    store: &dyn Store,
    path: &str,
    dialect: Option<Dialect>,
) -> Result<(Prefix, Option<Error>)> {
    let error = match prefix_of(store, path, dialect) {
        Ok(prefix) => return Ok((prefix, None)),
        Err(error) => error,
    };
    let is_of_caller =
        matches!(error.kind(), ErrorKind::Argument | ErrorKind::Path | ErrorKind::Cancelled | ErrorKind::Internal);
    if is_of_caller || (error.store_error().is_some() && !is_of_one_value(&error)) {
        return Err(error);
    }
    let Ok(path) = NodePath::parse(path) else { return Err(error) };
    Ok((Prefix::new(&path.key_prefix())?, Some(error)))
}

/// Whether an error is of one value, so that others may be read.
pub(super) fn is_of_one_value(error: &Error) -> bool {
    use zarr_store::ErrorKind as Kind;
    match error.store_error() {
        Some(error) => {
            !error.is_retryable() && !matches!(error.kind(), Kind::NotFound | Kind::Argument | Kind::Internal)
        }
        None => matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Limit),
    }
}

/// Lists the names of the values below `prefix`.
pub(super) fn listed(store: &dyn Store, prefix: &Prefix) -> Result<Sizes> {
    let start = prefix.as_str().len();
    let name = move |key: &Key| key.as_str().get(start..).map(str::to_owned);
    if !tells_sizes(store, prefix)? {
        return Ok(store.list_prefix(prefix)?.iter().filter_map(name).map(|name| (name, None)).collect());
    }
    let keys = Arc::new(Mutex::new(BTreeMap::new()));
    let found = Arc::clone(&keys);
    let visit: zarr_store::SizeVisitor = Arc::new(move |key: Key, size| {
        if let Some(name) = name(&key) {
            lock(&found).insert(name, Some(size));
        }
    });
    store.list_sizes(prefix, &visit)?;
    drop(visit);
    Ok(std::mem::take(&mut *lock(&keys)))
}

/// Whether the store tells the size of a value of which it reads a part. In other stores a list with sizes reads all values.
fn tells_sizes(store: &dyn Store, prefix: &Prefix) -> Result<bool> {
    for name in DOCUMENTS {
        // A document that cannot be read tells nothing. Its error comes when its value is read.
        if let Ok(Some(found)) = store.get(&prefix.join(name)?, &[ByteRange::First(1)], &GetOptions::default()) {
            return Ok(found.size.is_some());
        }
    }
    Ok(true)
}

/// Whether a value belongs to an unfinished change: a journal or temporary elements of a conversion, or a node that is to replace another.
pub(super) fn is_unfinished(name: &str) -> bool {
    name.split('/').any(|part| part == REPLACEMENTS || part.starts_with(CONVERSION_JOURNAL))
}
