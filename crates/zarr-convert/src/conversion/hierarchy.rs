//! Detection of the conventions that the nodes of a hierarchy follow.

use super::ConvertOptions;
use super::images::Images;
use super::place::GroupPlaces;
use std::sync::Arc;
use zarr_meta::conventions::Conventions;
use zarr_meta::{ArrayMetadata, Node, StoredNode};

/// Properties of the arrays of a hierarchy that show which convention other nodes follow.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy {
    /// Whether there are arrays whose dimensions have names.
    is_named: bool,
    /// Whether there are arrays whose dimensions have no names.
    is_unnamed: bool,
    /// Whether fill values are kept, whatever a convention says about them.
    pub(super) keeps_fill: bool,
    /// Whether no chunk of the array under conversion is missing.
    pub(super) all_stored: bool,
    /// The OME-Zarr images of the hierarchy.
    pub(super) images: Arc<Images>,
    /// Groups with a place on Earth, if regions are taken of arrays.
    pub(super) places: Arc<GroupPlaces>,
}

impl Hierarchy {
    pub(super) fn of(nodes: &[StoredNode]) -> Self {
        let images = Arc::new(Images::of(nodes));
        let (mut is_named, mut is_unnamed) = (false, false);
        for found in nodes {
            let Node::Array(array) = &found.node else { continue };
            match has_names(array) {
                // Which say nothing of xarray.
                true if images.name_alone(found, array) => {}
                true => is_named = true,
                false => is_unnamed |= !array.shape.is_empty(),
            }
        }
        Self { is_named, is_unnamed, keeps_fill: false, all_stored: false, images, places: Arc::default() }
    }

    /// Returns a copy of `self` that keeps fill values.
    pub(super) fn keeping_fill(&self) -> Self {
        Self { keeps_fill: true, ..self.clone() }
    }

    /// Returns a copy of `self` for an array of which all chunks are stored, or not.
    pub(super) fn storing_all(&self, all_stored: bool) -> Self {
        Self { all_stored, ..self.clone() }
    }

    /// Returns whether a node follows a convention that the conversion respects.
    pub(super) fn is_followed(&self, found: &StoredNode, options: &ConvertOptions) -> bool {
        match (options.conventions, &found.node) {
            (Conventions::Ignore, _) => false,
            (Conventions::Detect, Node::Group(_)) => self.is_named,
            (Conventions::Detect, Node::Array(array)) => has_names(array) || self.has_scalar(found, array),
            _ => true,
        }
    }

    /// Returns whether a scalar array is a variable of xarray, although it has no dimension names: it lies in a group, and either other
    /// arrays have names, or the format has names and no array lacks them. Up to version 2 an array may have names for no dimensions, so
    /// only other named arrays count there.
    pub(super) fn has_scalar(&self, found: &StoredNode, array: &ArrayMetadata) -> bool {
        let may_be_alone = !found.dialect.precedes_v3() && !self.is_unnamed;
        array.shape.is_empty() && !found.path.is_root() && (self.is_named || may_be_alone)
    }
}

/// Returns whether all dimensions have names. An array without dimensions may have an empty list of names in version 2.
fn has_names(array: &ArrayMetadata) -> bool {
    array.dimension_names.as_ref().is_some_and(|names| names.iter().all(Option::is_some))
}
