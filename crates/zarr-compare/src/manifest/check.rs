//! Comparison of a manifest with the values of a node.

use std::fmt;
use std::sync::Arc;
use zarr_hierarchy::{IntoFlow, Result};
use zarr_store::Store;

use super::listing::{Sizes, is_unfinished, listed, prefix_of_copy};
use super::{Manifest, ManifestOptions, computed};
use crate::progress::{Progress, Reporter};

/// Difference between a manifest and the values of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ManifestDifference {
    /// The value with this name has another checksum.
    Different(String),
    /// There is no value with this name.
    Missing(String),
    /// The manifest has no value with this name.
    NotListed(String),
    /// The value with this name cannot be read: the second text says why.
    Unreadable(String, String),
}

impl ManifestDifference {
    /// Name of the value: its key below the path of the node.
    pub fn name(&self) -> &str {
        match self {
            Self::Different(name) | Self::Missing(name) | Self::NotListed(name) | Self::Unreadable(name, _) => name,
        }
    }

    /// Why the value cannot be read; `None` for another difference.
    pub fn cause(&self) -> Option<&str> {
        match self {
            Self::Unreadable(_, cause) => Some(cause),
            _ => None,
        }
    }

    /// Kind of the difference: `different`, `missing`, `not-listed` or `unreadable`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Different(_) => "different",
            Self::Missing(_) => "missing",
            Self::NotListed(_) => "not-listed",
            Self::Unreadable(..) => "unreadable",
        }
    }
}

impl fmt::Display for ManifestDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::Different(_) => "differs",
            Self::Missing(_) => "is missing",
            Self::NotListed(_) => "is not in the manifest",
            Self::Unreadable(_, cause) => return write!(f, "{}: cannot be read: {cause}", self.name()),
        };
        write!(f, "{}: {what}", self.name())
    }
}

impl Manifest {
    /// Compares the manifest with the values of the node at `path`, in the order of their names. A node whose metadata are missing or damaged
    /// is compared as well. In a store that does not list keys, values that the manifest lacks are not found. Values of an unfinished
    /// conversion, which [`of`](Self::of) leaves out, are compared if the manifest has them.
    ///
    /// # Errors
    /// The errors of [`of`](Self::of), but those of a store that does not list keys and of a single value, which is
    /// [`Unreadable`](ManifestDifference::Unreadable). [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) if there is no node and none of the
    /// values.
    pub fn check<F: IntoFlow>(
        &self,
        store: &Arc<dyn Store>,
        path: &str,
        options: &ManifestOptions,
        progress: impl Fn(Progress<'_>) -> F + Sync,
    ) -> Result<Vec<ManifestDifference>> {
        let report = |event: Progress<'_>| progress(event).into_flow();
        let reporter = Reporter::new(&report);
        let (prefix, fault) = prefix_of_copy(&**store, path, options.dialect)?;
        let mut differences = Vec::new();
        let mut sizes: Sizes = self.entries.keys().map(|name| (name.clone(), None)).collect();
        if store.capabilities().list {
            let mut there = listed(&**store, &prefix)?;
            let unknown = there.keys().filter(|name| !sizes.contains_key(*name) && !is_unfinished(name));
            differences.extend(unknown.cloned().map(ManifestDifference::NotListed));
            let missing = sizes.keys().filter(|name| !there.contains_key(*name));
            differences.extend(missing.cloned().map(ManifestDifference::Missing));
            there.retain(|name, _| sizes.contains_key(name));
            sizes = there;
        }
        for (name, found) in computed(store, &prefix, self.form, sizes, options, &reporter, true)? {
            match found {
                Err(error) => differences.push(ManifestDifference::Unreadable(name, error.message_with_causes())),
                Ok(None) => differences.push(ManifestDifference::Missing(name)),
                Ok(Some(found)) if self.entries.get(&name).is_none_or(|entry| entry.checksum != found.checksum) => {
                    differences.push(ManifestDifference::Different(name));
                }
                Ok(Some(_)) => {}
            }
        }
        let is_missing = |difference: &ManifestDifference| matches!(difference, ManifestDifference::Missing(_));
        let has_nothing = differences.len() == self.entries.len() && differences.iter().all(is_missing);
        if let Some(error) = fault.filter(|error| error.is_not_found() && has_nothing) {
            return Err(error);
        }
        differences.sort_unstable_by(|a, b| a.name().cmp(b.name()));
        Ok(differences)
    }
}
