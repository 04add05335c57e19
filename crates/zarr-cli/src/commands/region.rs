//! The region of a data set that a copy takes: `--sel` and `--isel`.

use super::read::groups_above;
use super::read::select::ByDimension;
use crate::context::{Context, NodeLocation};
use crate::failure::Result;
use zarr::convert::{ConvertOptions, PlannedNode};
use zarr::dataset::DatasetOptions;

/// The same options for the region that is chosen of a node, with all below it.
pub(crate) fn taken(
    context: &Context,
    source: &NodeLocation,
    chosen: &ByDimension,
    options: ConvertOptions,
) -> Result<ConvertOptions> {
    if chosen.is_empty() {
        return Ok(options);
    }
    let selection = chosen.selection()?.above(groups_above(context, &source.address));
    // A node is copied as it is there, not as a copy of its metadata says.
    let ignore = source.store.capabilities().list;
    let dataset_options = DatasetOptions::default().arrays(context.options()).ignore_consolidated(ignore);
    let regions = selection.regions(&source.store, &source.path, &context.registry, &dataset_options);
    Ok(options.regions(regions.map_err(|error| source.with_near(error))?))
}

/// The region in a line at the end: `, the region time=2020, lat=30..60`; nothing for all.
pub(crate) fn told(chosen: &ByDimension) -> String {
    match chosen.is_empty() {
        true => String::new(),
        false => format!(", the region {}", chosen.text()),
    }
}

/// The region of a node in a plan: `[0:31, 10:20] of [730, 180]`.
pub(crate) fn planned(node: &PlannedNode) -> Option<String> {
    let (region, array) = (node.region.as_ref()?, node.source.node.as_array()?);
    let lengths: Vec<String> = array.shape.iter().map(ToString::to_string).collect();
    Some(format!("{} of [{}]", region, lengths.join(", ")))
}
