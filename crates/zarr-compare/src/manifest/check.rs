//! Comparison of a manifest with the values of a node.

use std::fmt;
use std::sync::{Arc, Mutex};
use zarr_hierarchy::{Error, IntoFlow, Result, in_store};
use zarr_scan::lock;
use zarr_store::{Prefix, Store};

use super::listing::{Sizes, is_left_out, is_of_one_value, is_silence, listed, prefix_of_copy};
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

/// Result of [`Manifest::check`].
#[derive(Debug)]
#[non_exhaustive]
pub struct ManifestCheck {
    /// Differences in the order of the names.
    pub differences: Vec<ManifestDifference>,
    /// Why the node cannot be opened; `None` if it can. Its documents are compared as other values are.
    pub fault: Option<Error>,
    /// Why values that the manifest lacks were not looked for; `None` if they were.
    pub unlisted: Option<Error>,
}

/// Greatest number of values that do not answer one after another before a check ends.
const MOST_SILENT: usize = 16;

/// Greatest number of differences in the error of a check that ended early.
const MOST_SAID: usize = 8;

/// Findings of a check, by all threads.
#[derive(Default)]
struct Findings {
    differences: Vec<ManifestDifference>,
    /// Number of values that did not answer since the last one that did.
    in_a_row: usize,
    /// Number of all values that did not answer.
    silent: usize,
    /// Number of values that have the kind of error that the node has.
    as_node: usize,
}

impl Manifest {
    /// Compares the manifest with the values of the node at `path`. A node whose metadata are missing or damaged is compared as well. Values
    /// of unfinished conversions, and others that [`of`](Self::of) leaves out, are compared if the manifest has them. If the keys cannot be
    /// listed, values that the manifest lacks are not found. Nothing may write to the node meanwhile.
    ///
    /// A value that cannot be read is a difference, [`Unreadable`](ManifestDifference::Unreadable). In memory are the names in the manifest
    /// and in the store, about 200 bytes and twice the length of the name for each value, and the differences.
    ///
    /// # Errors
    /// - [`Argument`](zarr_hierarchy::ErrorKind::Argument) if not all keys of the node lie below its path, as for [`of`](Self::of).
    /// - [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) if there is no node and none of the values.
    /// - [`Store`](zarr_hierarchy::ErrorKind::Store) if the node and all values fail with errors of one kind, such as a refused access, or if 16
    ///   values one after another get no answer. The hint names differences that were found before.
    /// - [`Limit`](zarr_hierarchy::ErrorKind::Limit) or [`Store`](zarr_hierarchy::ErrorKind::Store) if this process has not enough memory or
    ///   too many open files.
    /// - [`Cancelled`](zarr_hierarchy::ErrorKind::Cancelled) if `progress` cancels.
    pub fn check<F: IntoFlow>(
        &self,
        store: &Arc<dyn Store>,
        path: &str,
        options: &ManifestOptions,
        progress: impl Fn(Progress<'_>) -> F + Sync,
    ) -> Result<ManifestCheck> {
        let report = |event: Progress<'_>| progress(event).into_flow();
        let reporter = Reporter::new(&report);
        let (prefix, fault) = prefix_of_copy(&**store, path, options.dialect)?;
        let mut findings = Findings::default();
        let (sizes, unlisted) = self.sizes(&**store, &prefix, &mut findings.differences)?;
        let asked = sizes.len();
        let of_node = fault.as_ref().and_then(Error::store_error).map(zarr_store::Error::kind);
        let findings = Mutex::new(findings);
        let compared = computed(store, &prefix, self.form, sizes, options, &reporter, &|name, found| {
            let known = self.entries.get(&name);
            let findings = &mut *lock(&findings);
            let in_a_row = std::mem::take(&mut findings.in_a_row);
            findings.differences.push(match found {
                Err(error) if !is_of_one_value(&error) => return Err(error),
                Err(error) => {
                    findings.as_node += usize::from(of_node == error.store_error().map(zarr_store::Error::kind));
                    if is_silence(&error) {
                        findings.silent += 1;
                        findings.in_a_row = in_a_row + 1;
                        if findings.in_a_row >= MOST_SILENT || findings.silent == asked {
                            return Err(error);
                        }
                    }
                    ManifestDifference::Unreadable(name, error.message_with_causes())
                }
                Ok(None) => ManifestDifference::Missing(name),
                Ok(Some(found)) if known.is_none_or(|known| known.checksum != found.checksum) => {
                    ManifestDifference::Different(name)
                }
                Ok(Some(_)) => return Ok(()),
            });
            Ok(())
        });
        let Findings { mut differences, as_node, .. } = findings.into_inner().unwrap_or_default();
        differences.sort_unstable_by(|a, b| a.name().cmp(b.name()));
        compared.map_err(|error| with_findings(error, &differences))?;
        let is_missing = |difference: &ManifestDifference| matches!(difference, ManifestDifference::Missing(_));
        let has_nothing = differences.len() == self.entries.len() && differences.iter().all(is_missing);
        match fault {
            Some(error) if has_nothing && (error.is_not_found() || of_node.is_some()) => Err(error),
            Some(error) if of_node.is_some() && as_node == asked && asked > 0 => Err(error),
            fault => Ok(ManifestCheck { differences, fault, unlisted }),
        }
    }

    /// Returns the values of the manifest that are to be read, with their sizes, and why the keys cannot be listed. Adds the differences that
    /// a listing shows.
    fn sizes(
        &self,
        store: &dyn Store,
        prefix: &Prefix,
        differences: &mut Vec<ManifestDifference>,
    ) -> Result<(Sizes, Option<Error>)> {
        let listed = match store.capabilities().list {
            true => listed(store, prefix),
            false => Err(Error::argument("the store does not list its keys")),
        };
        let mut there = match listed {
            Ok(there) => there,
            Err(error) if store.capabilities().list && (is_silence(&error) || !is_of_one_value(&error)) => {
                return Err(in_store(store, error));
            }
            Err(error) => return Ok((self.entries.keys().map(|name| (name.clone(), None)).collect(), Some(error))),
        };
        let is_unknown = |name: &&String| !self.entries.contains_key(*name) && !is_left_out(self.form, prefix, name);
        differences.extend(there.keys().filter(is_unknown).cloned().map(ManifestDifference::NotListed));
        let missing = self.entries.keys().filter(|name| !there.contains_key(*name));
        differences.extend(missing.cloned().map(ManifestDifference::Missing));
        there.retain(|name, _| self.entries.contains_key(name));
        Ok((there, None))
    }
}

/// Adds the differences that were found before an error as its hint.
fn with_findings(error: Error, differences: &[ManifestDifference]) -> Error {
    if !is_silence(&error) || differences.is_empty() {
        return error;
    }
    let said: Vec<String> = differences.iter().take(MOST_SAID).map(ToString::to_string).collect();
    let more = if differences.len() > MOST_SAID { "; and more" } else { "" };
    error.with_hint(format!("until then the check found: {}{more}", said.join("; ")))
}
