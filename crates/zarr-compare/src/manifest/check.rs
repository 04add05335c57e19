//! Comparison of a manifest with the values of a node.

use std::fmt;
use std::sync::Arc;
use zarr_hierarchy::{IntoFlow, Result};
use zarr_store::Store;

use super::{Manifest, ManifestOptions, computed, listed, prefix_of};
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
}

impl ManifestDifference {
    /// Name of the value: its key below the path of the node.
    pub fn name(&self) -> &str {
        match self {
            Self::Different(name) | Self::Missing(name) | Self::NotListed(name) => name,
        }
    }

    /// Kind of the difference: `different`, `missing` or `not-listed`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Different(_) => "different",
            Self::Missing(_) => "missing",
            Self::NotListed(_) => "not-listed",
        }
    }
}

impl fmt::Display for ManifestDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::Different(_) => "differs",
            Self::Missing(_) => "is missing",
            Self::NotListed(_) => "is not in the manifest",
        };
        write!(f, "{}: {what}", self.name())
    }
}

impl Manifest {
    /// Compares the manifest with the values of the node at `path`, in the order of their names. In a store that does not list keys, values
    /// that the manifest lacks are not found.
    ///
    /// # Errors
    /// The errors of [`of`](Self::of), but that of a store that does not list keys.
    pub fn check<F: IntoFlow>(
        &self,
        store: &Arc<dyn Store>,
        path: &str,
        options: &ManifestOptions,
        progress: impl Fn(Progress<'_>) -> F + Sync,
    ) -> Result<Vec<ManifestDifference>> {
        let report = |event: Progress<'_>| progress(event).into_flow();
        let reporter = Reporter::new(&report);
        let prefix = prefix_of(store, path)?;
        let mut differences = Vec::new();
        let mut names: Vec<String> = self.entries.keys().cloned().collect();
        if store.capabilities().list {
            let there = listed(store, &prefix)?;
            let unknown = there.keys().filter(|name| !self.entries.contains_key(*name));
            differences.extend(unknown.cloned().map(ManifestDifference::NotListed));
            let (known, missing): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| there.contains_key(name));
            differences.extend(missing.into_iter().map(ManifestDifference::Missing));
            reporter.report(Progress::Total(known.iter().map(|name| u128::from(there[name])).sum()))?;
            names = known;
        }
        for (name, found) in computed(store, &prefix, self.form, names, options, &reporter)? {
            match found {
                None => differences.push(ManifestDifference::Missing(name)),
                Some(found) if self.entries.get(&name).is_none_or(|entry| entry.checksum != found.checksum) => {
                    differences.push(ManifestDifference::Different(name));
                }
                Some(_) => {}
            }
        }
        differences.sort_unstable_by(|a, b| a.name().cmp(b.name()));
        Ok(differences)
    }
}
