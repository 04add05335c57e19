//! Selection of regions of arrays.

use std::collections::BTreeMap;
use zarr_array::Array;
use zarr_grid::Region;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_meta::{NodePath, StoredNode};
use zarr_scan::Selected;

/// Returns the region of an array that `regions` chooses, or the whole array if there is none.
pub(crate) fn select(array: Array, regions: &BTreeMap<NodePath, Region>) -> Result<Selected> {
    let region = regions.get(array.path()).cloned();
    Selected::new(array, region)
}

/// Checks that each region names an existing array.
pub(crate) fn check<'n>(
    regions: &BTreeMap<NodePath, Region>,
    nodes: impl Iterator<Item = &'n StoredNode> + Clone,
) -> Result<()> {
    for path in regions.keys() {
        if !nodes.clone().any(|node| node.path == *path && node.node.as_array().is_some()) {
            let error = Error::new(ErrorKind::NotFound, "found no array to take a region of");
            return Err(error.at_path(path));
        }
    }
    Ok(())
}
