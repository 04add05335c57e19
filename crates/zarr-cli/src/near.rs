//! Known names that are similar to an unknown one.

use std::path::Path;
pub(crate) use zarr::json::nearest_name as near;
use zarr::store::StoreAddress;

/// Greatest number of files that are searched for a name similar to that of a store that does not exist.
const MOST_FILES: usize = 10_000;

/// Returns the question whether `name` was meant.
pub(crate) fn question(name: &str) -> String {
    format!("is {name:?} meant?")
}

/// Adds a hint to the error about a store that does not exist: the name of a file in the same directory that is similar to the name of the
/// store.
pub(crate) fn beside(error: zarr::Error, address: &StoreAddress) -> zarr::Error {
    let path = address.path().filter(|_| error.is_not_found() && error.hint().is_none());
    let beside = path.and_then(|path| {
        // Of two letters nearly any name is near.
        let name = path.file_name()?.to_str().filter(|name| name.len() > 2)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let names = std::fs::read_dir(folder).ok()?.take(MOST_FILES);
        let names: Vec<String> = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        let known = near(name, names.iter().map(String::as_str))?;
        Some(path.with_file_name(known).display().to_string())
    });
    match beside {
        Some(known) => error.with_hint(question(&known)),
        None => error,
    }
}
