//! The convention that the nodes of a hierarchy follow.

use super::ConvertOptions;
use zarr_meta::conventions::Conventions;
use zarr_meta::{ArrayMetadata, Node, StoredNode};

/// The arrays of a hierarchy, as far as they show what the others follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hierarchy {
    /// There are arrays whose dimensions have names.
    is_named: bool,
    /// There are arrays with dimensions that have none.
    is_unnamed: bool,
    /// Fill values stay, whatever they mean.
    pub(super) keeps_fill: bool,
    /// No chunk of the array in question is missing.
    pub(super) all_stored: bool,
}

impl Hierarchy {
    pub(super) fn of<'a>(arrays: impl Iterator<Item = &'a ArrayMetadata>) -> Self {
        let mut hierarchy = Self { is_named: false, is_unnamed: false, keeps_fill: false, all_stored: false };
        for array in arrays {
            match has_names(array) {
                true => hierarchy.is_named = true,
                false => hierarchy.is_unnamed |= !array.shape.is_empty(),
            }
        }
        hierarchy
    }

    /// The same, but fill values stay.
    pub(super) fn keeping_fill(self) -> Self {
        Self { keeps_fill: true, ..self }
    }

    /// The same for an array of which all chunks are stored, or not.
    pub(super) fn storing_all(self, all_stored: bool) -> Self {
        Self { all_stored, ..self }
    }

    /// Whether a node has a meaning by a convention.
    pub(super) fn is_followed(self, found: &StoredNode, options: &ConvertOptions) -> bool {
        match (options.conventions, &found.node) {
            (Conventions::Ignore, _) => false,
            (Conventions::Detect, Node::Group(_)) => self.is_named,
            (Conventions::Detect, Node::Array(array)) => has_names(array) || self.has_scalar(found, array),
            _ => true,
        }
    }

    /// Whether an array is a variable without dimensions, though these have no names: it lies in a group, and other arrays have names,
    /// or there is none that could. Up to version 2 names of no dimensions are the rule, so that nothing else shows a variable there.
    pub(super) fn has_scalar(self, found: &StoredNode, array: &ArrayMetadata) -> bool {
        let may_be_alone = !found.dialect.precedes_v3() && !self.is_unnamed;
        array.shape.is_empty() && !found.path.is_root() && (self.is_named || may_be_alone)
    }
}

/// Whether all dimensions have names; in version 2 an array may have names of no dimensions.
fn has_names(array: &ArrayMetadata) -> bool {
    array.dimension_names.as_ref().is_some_and(|names| names.iter().all(Option::is_some))
}
