//! Move of a whole store that is a directory: the directory is renamed, and no empty directory is left behind.

use crate::failure::{Failure, Result};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use zarr::meta::NodePath;
use zarr::store::StoreAddress;

/// Suffixes of stores that are files, not directories.
const FILES: [&str; 2] = ["zip", "ozx"];

/// Returns the directory whose root node is moved; `None` if the address and path name anything else. A link to a directory is not renamed,
/// since the place of the link matters.
fn directory<'a>(address: &'a StoreAddress, path: &NodePath) -> Option<&'a Path> {
    let directory = address.path().filter(|_| path.is_root() && address.inner().is_none())?;
    fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir()).then_some(directory)
}

/// Returns whether a directory has the record of a conversion: a conversion at work there would continue in the renamed directory.
fn has_record(directory: &Path) -> bool {
    let is_record = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with(".zconversion");
    fs::read_dir(directory).map_or(true, |entries| entries.flatten().any(is_record))
}

/// Renames the directory `from` to `to`, which must not exist. Returns `false` if one of them is no directory, or they are on different
/// file systems; then the move has to copy.
pub(super) fn renamed(from: (&StoreAddress, &NodePath), to: (&StoreAddress, &NodePath)) -> Result<bool> {
    let target = to.0.path().filter(|_| to.1.is_root() && to.0.inner().is_none() && to.0.scheme() == from.0.scheme());
    let (Some(source), Some(target)) = (directory(from.0, from.1), target) else { return Ok(false) };
    let is_file = target.extension().is_some_and(|end| FILES.iter().any(|file| end.eq_ignore_ascii_case(file)));
    if is_file || fs::symlink_metadata(target).is_ok() || has_record(source) {
        return Ok(false);
    }
    if let Some(above) = target.parent().filter(|above| !above.as_os_str().is_empty()) {
        fs::create_dir_all(above).map_err(|error| Failure::output(to.0, &error))?;
    }
    match fs::rename(source, target) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::CrossesDevices => Ok(false),
        Err(error) => Err(Failure::output(to.0, &error)),
    }
}

/// Removes the directory whose root node was moved, if the directory is empty.
pub(super) fn remove_empty(address: &StoreAddress, path: &NodePath) {
    // This fails if the directory is not empty.
    if let Some(directory) = directory(address, path) {
        drop(fs::remove_dir(directory));
    }
}
