//! Table of the rules of each dialect, and the facts that the rules state.

#[cfg(not(feature = "drafts"))]
use super::absent::{V0, V1, V3Draft2022, V3Protocol2019, V3Protocol2020};
use super::rules::Rules;
use super::v2::V2;
use super::v3::V3;
use super::{Dialect, dialects};
#[cfg(feature = "drafts")]
use crate::drafts::{V0, V1, V3Draft2022, V3Protocol2019, V3Protocol2020};
use crate::{Error, ErrorKind, NodePath, Result, Warning};
use zarr_json::NamedConfig;

macro_rules! rules_of {
    ($($(#[$doc:meta])* $variant:ident $name:literal $rules:ident,)*) => {
        /// Returns the rules of a dialect.
        pub(crate) fn rules(dialect: Dialect) -> &'static dyn Rules {
            match dialect {
                $(Dialect::$variant => &$rules,)*
            }
        }
    };
}
dialects!(rules_of);

/// Returns the rules of all dialects, newest first; dialects with the same rules are counted once.
pub(crate) fn all_rules() -> impl DoubleEndedIterator<Item = &'static dyn Rules> {
    Dialect::alone().map(rules)
}

/// Returns the key of the document that gives the dialect of a whole hierarchy and the form of its keys; `None` for dialects whose nodes
/// are detected by their own documents.
///
/// Before creating a node, read the document at this key and pass it to [`documents`](crate::documents) among the previous documents, so
/// that the new node uses the same form of keys.
pub fn entry_point_key(dialect: Dialect) -> Option<&'static str> {
    rules(dialect).entry_point_key()
}

impl Dialect {
    /// Returns the dialects of this build that have rules of their own, newest first. Of dialects with the same rules only the newest is
    /// included.
    pub(crate) fn alone() -> impl DoubleEndedIterator<Item = Self> {
        let stands_alone =
            |dialect: &Self| dialect.is_supported() && rules(*dialect).dialects().first() == Some(dialect);
        Self::ALL.into_iter().rev().filter(stands_alone)
    }

    /// Returns the dialects whose documents lie at the path of their node, newest first. Of dialects with the same rules only one is
    /// included.
    pub fn at_paths() -> impl DoubleEndedIterator<Item = Self> {
        Self::alone().filter(|dialect| dialect.has_documents_at_paths())
    }

    /// Returns whether documents are of version 3 (final or of 2023): `zarr.json` at the path of each node.
    pub fn is_v3(self) -> bool {
        rules(self).dialects().contains(&Self::V3)
    }

    /// Returns whether the documents of a node lie below its path, as in versions 2 and 3, so that one node may have documents of both.
    pub fn has_documents_at_paths(self) -> bool {
        rules(self).is_self_contained()
    }

    /// Returns whether the dialect is older than the drafts of version 3, with chunk keys of version 2.
    pub fn precedes_v3(self) -> bool {
        rules(self).precedes_v3()
    }

    /// Returns whether a fill value other than null marks missing data in data sets, as xarray reads version 2. In the other dialects, in
    /// which every array has a fill value, only the attribute [`FILL_VALUE`](crate::conventions::FILL_VALUE) does, in the form that xarray
    /// writes in version 3.
    pub fn fill_value_marks_missing(self) -> bool {
        rules(self).fill_value_marks_missing()
    }

    /// Returns whether the document of an array has dimension names. In the other dialects the attribute
    /// [`ARRAY_DIMENSIONS`](crate::conventions::ARRAY_DIMENSIONS) has them, by the convention of xarray.
    pub fn has_dimension_names(self) -> bool {
        rules(self).has_dimension_names()
    }

    /// Returns the dialects whose hierarchies may share a store with a hierarchy that has an entry point document: dialects with documents
    /// at paths first, then dialects of one array.
    pub fn beside_entry_point() -> impl Iterator<Item = Self> {
        let root = NodePath::root();
        let mut all: Vec<_> =
            all_rules().filter(|rules| !rules.document_keys(&root).iter().any(|key| key == "zarr.json")).collect();
        all.sort_by_key(|rules| (!rules.is_self_contained(), !rules.holds_one_array()));
        all.into_iter().filter_map(|rules| rules.dialects().first().copied())
    }

    /// Returns whether attributes of new documents may hold the literals `NaN`, `Infinity` and `-Infinity`, as Python writes them. In the
    /// other dialects, literals that a document already has are preserved.
    pub fn allows_nan_literals(self) -> bool {
        rules(self).allows_nan_literals()
    }

    /// Returns whether every path above a node is a group, so that groups need not be created.
    ///
    /// In these dialects (the drafts of version 3) the documents of all nodes are separate from chunks, so that one listing of all keys
    /// below the [`listing_prefix`](crate::listing_prefix) of a group shows all nodes below it; see
    /// [`document_path`](crate::document_path).
    pub fn implies_groups(self) -> bool {
        rules(self).implies_groups()
    }

    /// Returns whether a store of the dialect holds exactly one array, without other nodes.
    pub fn holds_one_array(self) -> bool {
        rules(self).holds_one_array()
    }

    /// Returns whether chunks may be shards.
    pub fn has_shards(self) -> bool {
        rules(self).has_shards()
    }

    /// Returns whether the indexes of shards may have a checksum. The storage transformer of the drafts has indexes without.
    pub fn has_index_checksums(self) -> bool {
        rules(self).has_index_checksums()
    }

    /// Returns whether a group at `path` may have consolidated metadata.
    pub fn may_consolidate(self, path: &NodePath) -> bool {
        rules(self).consolidation().at(path)
    }

    /// Returns the codecs for new arrays if the user gives none; `None` if the dialect has no default of its own.
    pub fn default_codecs(self) -> Option<Vec<NamedConfig>> {
        rules(self).default_codecs()
    }

    /// Returns the names of the node, or of an ancestor, whose documents or chunks lie in a `directory` below `meta/` or `data/`; `None`
    /// for dialects without these directories.
    pub fn names_in_directory<'n>(self, directory: &[&'n str]) -> Option<Vec<&'n str>> {
        rules(self).names_in_directory(directory)
    }

    /// Checks that a node may be written at `path`. Reading accepts any safe name.
    ///
    /// Returns a warning for each name that is allowed but unwise.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Path`] for a name that the dialect forbids.
    pub fn check_path(self, path: &NodePath) -> Result<Vec<Warning>> {
        let rules = rules(self);
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
