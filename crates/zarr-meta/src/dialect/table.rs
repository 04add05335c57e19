//! The dialects that are read and written, and the facts that their rules state.

use super::rules::Rules;
use super::{Dialect, d2022, p2019, p2020, v0, v1, v2, v3};
use crate::{Error, ErrorKind, NodePath, Result, Warning};
use zarr_json::NamedConfig;

/// The rules of all dialects that are read and written, newest first.
pub(crate) static DIALECTS: &[&dyn Rules] =
    &[&v3::V3, &d2022::V3Draft2022, &p2020::V3Protocol2020, &p2019::V3Protocol2019, &v2::V2, &v1::V1, &v0::V0];

/// The rules of one dialect.
pub(crate) fn rules(dialect: Dialect) -> Result<&'static dyn Rules> {
    let known = DIALECTS.iter().find(|rules| rules.dialects().contains(&dialect)).copied();
    let expected = "a dialect with rules";
    known.ok_or_else(|| Error::new(ErrorKind::UnsupportedVersion, "", format!("dialect {dialect}"), expected))
}

impl Dialect {
    /// Whether there is a group at every path above a node, so that it need not be created.
    ///
    /// In these dialects (the drafts of version 3) the documents of all nodes lie apart from chunks, so that one listing of all
    /// keys below the [`listing_prefix`](crate::listing_prefix) of a group shows all nodes below it; see
    /// [`document_path`](crate::document_path).
    pub fn implies_groups(self) -> bool {
        rules(self).is_ok_and(Rules::implies_groups)
    }

    /// Whether a store of the dialect is one array, with no nodes beside or below it.
    pub fn holds_one_array(self) -> bool {
        rules(self).is_ok_and(Rules::holds_one_array)
    }

    /// Whether chunks may be shards.
    pub fn has_shards(self) -> bool {
        rules(self).is_ok_and(Rules::has_shards)
    }

    /// Whether the indexes of shards may have a checksum. The storage transformer of the drafts has them without.
    pub fn has_index_checksums(self) -> bool {
        rules(self).is_ok_and(Rules::has_index_checksums)
    }

    /// Whether a group at `path` may have consolidated metadata.
    pub fn may_consolidate(self, path: &NodePath) -> bool {
        rules(self).is_ok_and(|rules| rules.may_consolidate(path))
    }

    /// The codecs of new arrays for which none are given, where the dialect has a default of its own.
    pub fn default_codecs(self) -> Option<Vec<NamedConfig>> {
        rules(self).ok()?.default_codecs()
    }

    /// The names of the node, or of a node above it, whose documents or chunks lie in a directory below `meta/` or `data/`; `None`
    /// for dialects without these directories.
    pub fn names_in_directory<'n>(self, directory: &[&'n str]) -> Option<Vec<&'n str>> {
        rules(self).ok()?.names_in_directory(directory)
    }

    /// Checks that a node may be written at `path`; reading takes any name that is safe.
    ///
    /// The answer holds what is allowed but unwise.
    ///
    /// # Errors
    /// [`ErrorKind::Path`] for a name that the dialect forbids, [`ErrorKind::UnsupportedVersion`] for a dialect that cannot be
    /// written.
    pub fn check_path(self, path: &NodePath) -> Result<Vec<Warning>> {
        let rules = rules(self)?;
        let mut warnings = Vec::new();
        for name in path.names() {
            let error = |found: &str, expected: &str| {
                Error::new(ErrorKind::Path, "", format!("node name {name:?} {found}"), expected)
            };
            if let Some(what) = rules.check_name(name, &error)? {
                warnings.push(Warning::new(path.as_relative(), "", format!("node name {name:?} {what}")));
            }
        }
        Ok(warnings)
    }
}
