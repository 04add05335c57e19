//! The convention that the nodes of a hierarchy follow.

use super::ConvertOptions;
use super::images::Images;
use std::sync::Arc;
use zarr_meta::conventions::Conventions;
use zarr_meta::{ArrayMetadata, Node, StoredNode};

/// The arrays of a hierarchy, as far as they show what the others follow.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy {
    /// There are arrays whose dimensions have names.
    is_named: bool,
    /// There are arrays with dimensions that have none.
    is_unnamed: bool,
    /// Fill values stay, whatever they mean.
    pub(super) keeps_fill: bool,
    /// No chunk of the array in question is missing.
    pub(super) all_stored: bool,
    /// The images of OME-Zarr.
    pub(super) images: Arc<Images>,
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
        Self { is_named, is_unnamed, keeps_fill: false, all_stored: false, images }
    }

    /// The same, but fill values stay.
    pub(super) fn keeping_fill(&self) -> Self {
        Self { keeps_fill: true, ..self.clone() }
    }

    /// The same for an array of which all chunks are stored, or not.
    pub(super) fn storing_all(&self, all_stored: bool) -> Self {
        Self { all_stored, ..self.clone() }
    }

    /// Whether a node has a meaning by a convention.
    pub(super) fn is_followed(&self, found: &StoredNode, options: &ConvertOptions) -> bool {
        match (options.conventions, &found.node) {
            (Conventions::Ignore, _) => false,
            (Conventions::Detect, Node::Group(_)) => self.is_named,
            (Conventions::Detect, Node::Array(array)) => has_names(array) || self.has_scalar(found, array),
            _ => true,
        }
    }

    /// Whether an array is a variable without dimensions, though these have no names: it lies in a group, and other arrays have names,
    /// or there is none that could. Up to version 2 names of no dimensions are the rule, so that nothing else shows a variable there.
    pub(super) fn has_scalar(&self, found: &StoredNode, array: &ArrayMetadata) -> bool {
        let may_be_alone = !found.dialect.precedes_v3() && !self.is_unnamed;
        array.shape.is_empty() && !found.path.is_root() && (self.is_named || may_be_alone)
    }
}

/// Whether all dimensions have names; in version 2 an array may have names of no dimensions.
fn has_names(array: &ArrayMetadata) -> bool {
    array.dimension_names.as_ref().is_some_and(|names| names.iter().all(Option::is_some))
}
