//! Consolidated metadata of the groups above a changed node. The change drops it, since it would be stale, and Python is warned.

use crate::location::Again;
use pyo3::prelude::*;
use std::sync::Arc;
use zarr::Store;
use zarr::hierarchy::consolidated_above;
use zarr::meta::NodePath;

/// Groups whose consolidated metadata was dropped.
#[derive(Debug, Default)]
pub(crate) struct Dropped {
    store: String,
    groups: Vec<NodePath>,
}

impl Dropped {
    /// Adds the groups of another change in the same store.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.store = if self.groups.is_empty() { other.store } else { self.store };
        self.groups.extend(other.groups);
        self.groups.sort();
        self.groups.dedup();
        self
    }

    /// Warns of each group. The warning says how to write its consolidated metadata again, in the store that `again` names.
    ///
    /// # Errors
    /// The warning, if the program turns warnings into exceptions.
    pub(crate) fn warn(&self, py: Python<'_>, again: &Again) -> PyResult<()> {
        if self.groups.is_empty() {
            return Ok(());
        }
        let groups: Vec<String> = self.groups.iter().map(ToString::to_string).collect();
        let (address, how) = match again {
            Again::Address(address) => (Some(address), "address"),
            Again::WithOptions(address) => (Some(address), "options"),
            Again::Object => (None, "object"),
            Again::Group => (None, "group"),
        };
        let told = (&self.store, groups, address, how);
        py.import("zarr_rust._warnings")?.call_method1("consolidated_was_dropped", told)?;
        Ok(())
    }
}

/// Runs `work`, and returns the groups at and above a path that lost their consolidated metadata. If the groups cannot be read, none are
/// returned; the work mostly fails too then.
pub(crate) fn watching<T>(store: &Arc<dyn Store>, path: &str, work: impl FnOnce() -> T) -> (T, Dropped) {
    let above = || consolidated_above(&**store, path).unwrap_or_default();
    let before = above();
    let done = work();
    if before.is_empty() {
        return (done, Dropped::default());
    }
    let after = above();
    let groups = before.into_iter().filter(|group| !after.contains(group)).collect();
    (done, Dropped { store: store.to_string(), groups })
}

/// Returns the path of the group above; `None` for the root.
pub(crate) fn parent(path: &str) -> Option<String> {
    let trimmed = path.trim_matches('/');
    (!trimmed.is_empty()).then(|| format!("/{}", trimmed.rsplit_once('/').map_or("", |(above, _)| above)))
}

/// Runs `work`, which creates, replaces or erases the node at a path, and returns the groups above it that lost their consolidated
/// metadata.
pub(crate) fn watching_above<T>(store: &Arc<dyn Store>, path: &str, work: impl FnOnce() -> T) -> (T, Dropped) {
    match parent(path) {
        Some(above) => watching(store, &above, work),
        None => (work(), Dropped::default()),
    }
}
