//! Arguments about the array and its storage.

use crate::commands::bar::Bar;
use crate::context::{Context, NodeLocation, node_path};
use crate::failure::{Failure, Result};
use zarr::stats::advise::Storage;
use zarr::store::{StoreAddress, StoreKind};
use zarr::{Array, Dialect};

/// Arguments about the store, and about the one to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'a> {
    pub(super) url: &'a str,
    /// Storage by its name or its numbers.
    pub(super) at: Option<&'a str>,
    /// Whether the storage is to be measured.
    pub(super) probe: bool,
    /// Dialect of the new array; `None` for the one that `zarr convert` writes.
    pub(super) dialect: Option<Dialect>,
}

impl Given<'_> {
    /// Dialect that is written for a source of a dialect.
    pub(super) fn dialect_for(&self, source: Dialect) -> Dialect {
        let kept = if source == Dialect::V2 { Dialect::V2 } else { Dialect::V3 };
        self.dialect.unwrap_or(kept)
    }
}

/// Returns the storage that an array is read from.
pub(super) fn storage(given: &Given, array: &Array) -> Result<Storage> {
    let is_far = array.store().access_profile().kind == StoreKind::Remote;
    Ok(match given.at {
        Some(text) => usage(text.parse())?,
        None if given.probe => Storage::probe(array)?,
        None if is_far => Storage::s3(),
        None => Storage::local(),
    })
}

/// Runs what measures codecs, with a bar.
pub(super) fn measured<T>(context: &Context, work: impl FnOnce() -> zarr::Result<T>) -> Result<T> {
    let bar = Bar::waiting("counting requests and measuring codecs", context.global.quiet);
    let done = work();
    bar.finish();
    usage(done)
}

/// Converts an error about an argument to one of usage.
pub(super) fn usage<T>(result: zarr::Result<T>) -> Result<T> {
    result.map_err(|error| match error.kind() {
        zarr::ErrorKind::Argument => Failure::usage(error.message()),
        _ => error.into(),
    })
}

/// Address of the store for the command that makes the layout: as it is given, but without the path of a node in it. `path` is the path that
/// is given beside it.
pub(super) fn source(given: &Given, location: &NodeLocation, path: &str) -> String {
    match node_path(path) {
        Ok(path) if path == location.path => given.url.to_owned(),
        _ => location.address.to_string(),
    }
}

/// Address of a store beside another, for the command that makes the layout.
pub(super) fn target(address: &StoreAddress) -> String {
    let text = address.inner().unwrap_or(address).to_string();
    let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    format!("{}-advised.zarr", if stem.is_empty() { "array" } else { stem })
}
