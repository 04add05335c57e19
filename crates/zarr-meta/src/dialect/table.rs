//! The rules of each dialect, and the facts that they state.

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
        /// The rules of one dialect.
        pub(crate) fn rules(dialect: Dialect) -> &'static dyn Rules {
            match dialect {
                $(Dialect::$variant => &$rules,)*
            }
        }
    };
}
dialects!(rules_of);

/// The rules of all dialects, newest first; dialects that are read alike have one.
pub(crate) fn all_rules() -> impl DoubleEndedIterator<Item = &'static dyn Rules> {
    Dialect::alone().map(rules)
}

/// The key of the document that says the dialect of a whole hierarchy and the form of the keys in it; `None` for
/// dialects whose nodes are detected by their own documents.
///
/// Before a node is created, the document there has to be read and given to [`documents`](crate::documents) as one of the
/// previous ones, so that the node fits in.
pub fn entry_point_key(dialect: Dialect) -> Option<&'static str> {
    rules(dialect).entry_point_key()
}

impl Dialect {
    /// The dialects of this build that have rules of their own, newest first; of several that are read alike, the newest.
    pub(crate) fn alone() -> impl DoubleEndedIterator<Item = Self> {
        let stands_alone =
            |dialect: &Self| dialect.is_supported() && rules(*dialect).dialects().first() == Some(dialect);
        Self::ALL.into_iter().rev().filter(stands_alone)
    }

    /// The dialects whose documents lie at the path of their node, by different names, newest first. One stands for all
    /// that are read alike.
    pub fn at_paths() -> impl DoubleEndedIterator<Item = Self> {
        Self::alone().filter(|dialect| dialect.has_documents_at_paths())
    }

    /// Whether documents are of version 3, in its final form or its form of 2023: `zarr.json` at the path of each node.
    pub fn is_v3(self) -> bool {
        rules(self).dialects().contains(&Self::V3)
    }

    /// Whether the documents of a node lie below its path, as they do in versions 2 and 3, so that both may be there for one node.
    pub fn has_documents_at_paths(self) -> bool {
        rules(self).is_self_contained()
    }

    /// Whether it is older than the drafts of version 3: chunks have the keys of version 2.
    pub fn precedes_v3(self) -> bool {
        rules(self).precedes_v3()
    }

    /// Whether the fill value of an array marks missing data in data sets, unless it is null, as in version 2 to xarray. In the other
    /// dialects, where every array has a fill value, the attribute [`FILL_VALUE`](crate::conventions::FILL_VALUE) alone does, in the
    /// form that xarray writes in version 3.
    pub fn fill_value_marks_missing(self) -> bool {
        rules(self).fill_value_marks_missing()
    }

    /// Whether the document of an array has the names of its dimensions. In the other dialects the attribute
    /// [`ARRAY_DIMENSIONS`](crate::conventions::ARRAY_DIMENSIONS) has them, by the convention of xarray.
    pub fn has_dimension_names(self) -> bool {
        rules(self).has_dimension_names()
    }

    /// The dialects whose hierarchies may lie beside one that has an entry point document: dialects with documents at
    /// paths first, then dialects of one array.
    pub fn beside_entry_point() -> impl Iterator<Item = Self> {
        let root = NodePath::root();
        let mut all: Vec<_> =
            all_rules().filter(|rules| !rules.document_keys(&root).iter().any(|key| key == "zarr.json")).collect();
        all.sort_by_key(|rules| (!rules.is_self_contained(), !rules.holds_one_array()));
        all.into_iter().filter_map(|rules| rules.dialects().first().copied())
    }

    /// Whether attributes of new documents may hold numbers that JSON does not have, as Python writes them: `NaN`, `Infinity` and
    /// `-Infinity`. In the others they stay where they are.
    pub fn allows_nan_literals(self) -> bool {
        rules(self).allows_nan_literals()
    }

    /// Whether there is a group at every path above a node, so that it need not be created.
    ///
    /// In these dialects (the drafts of version 3) the documents of all nodes lie apart from chunks, so that one listing of all
    /// keys below the [`listing_prefix`](crate::listing_prefix) of a group shows all nodes below it; see
    /// [`document_path`](crate::document_path).
    pub fn implies_groups(self) -> bool {
        rules(self).implies_groups()
    }

    /// Whether a store of the dialect is one array, with no nodes beside or below it.
    pub fn holds_one_array(self) -> bool {
        rules(self).holds_one_array()
    }

    /// Whether chunks may be shards.
    pub fn has_shards(self) -> bool {
        rules(self).has_shards()
    }

    /// Whether the indexes of shards may have a checksum. The storage transformer of the drafts has them without.
    pub fn has_index_checksums(self) -> bool {
        rules(self).has_index_checksums()
    }

    /// Whether a group at `path` may have consolidated metadata.
    pub fn may_consolidate(self, path: &NodePath) -> bool {
        rules(self).consolidation().at(path)
    }

    /// The codecs of new arrays for which none are given, where the dialect has a default of its own.
    pub fn default_codecs(self) -> Option<Vec<NamedConfig>> {
        rules(self).default_codecs()
    }

    /// The names of the node, or of a node above it, whose documents or chunks lie in a directory below `meta/` or `data/`; `None`
    /// for dialects without these directories.
    pub fn names_in_directory<'n>(self, directory: &[&'n str]) -> Option<Vec<&'n str>> {
        rules(self).names_in_directory(directory)
    }

    /// Checks that a node may be written at `path`; reading takes any name that is safe.
    ///
    /// The result holds a warning for each name that is allowed but unwise.
    ///
    /// # Errors
    /// [`ErrorKind::Path`] for a name that the dialect forbids.
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
