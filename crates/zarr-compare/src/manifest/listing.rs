//! Keys of a node, of which a manifest has the values.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use zarr_hierarchy::node::{is_one_prefix, is_unfinished};
use zarr_hierarchy::{Error, ErrorKind, Result, in_store, open_node};
use zarr_meta::{Dialect, NodePath};
use zarr_scan::lock;
use zarr_store::{ByteRange, GetOptions, Key, Prefix, Store, StoreExt};

use super::ManifestForm;

/// Names of documents, of which each node has at least one.
const DOCUMENTS: [&str; 4] = ["zarr.json", ".zgroup", ".zarray", ".zattrs"];

/// Greatest number of values that are asked whether the store tells sizes.
const MOST_ASKED: usize = 16;

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

/// Whether an error is of one value or listing, so that other values may be read. The lack of memory and of open files is of the process.
pub(super) fn is_of_one_value(error: &Error) -> bool {
    use zarr_store::ErrorKind as Kind;
    match error.store_error() {
        Some(error) => {
            !matches!(error.kind(), Kind::NotFound | Kind::Argument | Kind::Internal) && !is_of_process(error)
        }
        None => matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Limit),
    }
}

/// Whether the process has no memory or no number of a file left.
fn is_of_process(error: &zarr_store::Error) -> bool {
    /// Numbers of the errors ENFILE and EMFILE of Unix.
    const TOO_MANY_FILES: [i32; 2] = [23, 24];
    match error {
        zarr_store::Error::Memory { .. } => true,
        zarr_store::Error::Failed { source, .. } => source.downcast_ref::<io::Error>().is_some_and(|error| {
            let is_of_files = |number| cfg!(unix) && TOO_MANY_FILES.contains(&number);
            error.kind() == io::ErrorKind::OutOfMemory || error.raw_os_error().is_some_and(is_of_files)
        }),
        _ => false,
    }
}

/// Whether an error tells that the store did not answer.
pub(super) fn is_silence(error: &Error) -> bool {
    error.store_error().is_some_and(zarr_store::Error::is_retryable)
}

/// Lists the names of the values below `prefix`.
pub(super) fn listed(store: &dyn Store, prefix: &Prefix) -> Result<Sizes> {
    let start = prefix.as_str().len();
    let name = move |key: &Key| key.as_str().get(start..).map(str::to_owned);
    let tells = match of_documents(store, prefix)? {
        Some(tells) => tells,
        None => {
            let keys = store.list_prefix(prefix)?;
            let tells = keys.iter().take(MOST_ASKED).find_map(|key| tells_size(store, key));
            if tells != Some(true) {
                return Ok(keys.iter().filter_map(name).map(|name| (name, None)).collect());
            }
            true
        }
    };
    if !tells {
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

/// Whether the store tells the size of a value of which it reads a part, by the documents of the node; `None` if there are none. In other
/// stores a list with sizes reads all values.
fn of_documents(store: &dyn Store, prefix: &Prefix) -> Result<Option<bool>> {
    for name in DOCUMENTS {
        if let Some(tells) = tells_size(store, &prefix.join(name)?) {
            return Ok(Some(tells));
        }
    }
    Ok(None)
}

/// Whether the store tells the size of the value at `key` with its first byte. `None` if there is no value, if it is empty, or if it cannot be
/// read: its error comes when its checksum is computed.
fn tells_size(store: &dyn Store, key: &Key) -> Option<bool> {
    let found = store.get(key, &[ByteRange::First(1)], &GetOptions::default()).ok().flatten()?;
    (!found.part(0).is_empty()).then_some(found.size.is_some())
}

/// Hash of the names and sizes in a listing, by which a change is found without a copy of the listing.
pub(super) fn state_of(sizes: &Sizes) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for (name, size) in sizes {
        let size = size.map_or([0xff; 16], |size| u128::from(size).to_le_bytes());
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes()).update(&size);
    }
    hasher.finalize()
}

/// Whether `of` leaves the value called `name` out of a manifest of the node below `prefix`: it belongs to an unfinished change, or, in the
/// form of DANDI, to git, DataLad or the client of DANDI.
pub(super) fn is_left_out(form: ManifestForm, prefix: &Prefix, name: &str) -> bool {
    let is_of_client = |part: &str| matches!(part, ".dandi" | ".datalad" | ".git" | ".gitattributes" | ".gitmodules");
    is_unfinished(name, prefix.as_str().is_empty())
        || (form == ManifestForm::Dandi && name.split('/').any(is_of_client))
}
