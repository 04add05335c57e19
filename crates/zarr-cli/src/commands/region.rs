//! Region of a data set that `--sel` and `--isel` choose for a verb.

use super::read::groups_above;
use super::read::select::ByDimension;
use crate::context::{Context, NodeLocation};
use crate::failure::Result;
use std::collections::BTreeMap;
use zarr::convert::{ConvertOptions, PlannedNode};
use zarr::dataset::{DatasetOptions, DimensionSelection};
use zarr::grid::Region;
use zarr::meta::NodePath;

/// Limits the options of a conversion to the chosen region of the source node and all nodes below it.
pub(crate) fn taken(
    context: &Context,
    source: &NodeLocation,
    chosen: &ByDimension,
    options: ConvertOptions,
) -> Result<ConvertOptions> {
    if chosen.is_empty() {
        return Ok(options);
    }
    // What is not copied is not looked at.
    let selection = chosen.selection()?.exclude(options.exclude.clone()).arrays(options.arrays.clone());
    let regions = regions(context, source, selection).map_err(|failure| chosen.hinted(failure))?;
    Ok(options.regions(regions))
}

/// Returns the chosen region of each array at or below a node.
pub(crate) fn of_node(
    context: &Context,
    source: &NodeLocation,
    chosen: &ByDimension,
) -> Result<BTreeMap<NodePath, Region>> {
    regions(context, source, chosen.selection()?).map_err(|failure| chosen.hinted(failure))
}

fn regions(
    context: &Context,
    source: &NodeLocation,
    selection: DimensionSelection,
) -> Result<BTreeMap<NodePath, Region>> {
    if selection.is_empty() {
        return Ok(BTreeMap::new());
    }
    let selection = selection.dialect(source.dialect).above(groups_above(context, &source.address));
    // Read the documents of the nodes themselves, not consolidated metadata, if the store can list.
    let ignore = source.store.capabilities().list;
    let options = DatasetOptions::default().arrays(context.options()).ignore_consolidated(ignore);
    let regions = selection.regions(&source.store, &source.path, &context.registry, &options);
    // Verbs with two stores need the store in the error.
    let store = || source.store.to_string();
    let located = |error: zarr::Error| error.at(|location| _ = location.store.get_or_insert_with(store));
    regions.map_err(|error| source.with_near(located(error)))
}

/// Returns the chosen region as part of a line: `, the region time=2020, lat=30..60`; empty if no region is chosen.
pub(crate) fn told(chosen: &ByDimension) -> String {
    match chosen.is_empty() {
        true => String::new(),
        false => format!(", the region {}", chosen.text()),
    }
}

/// Returns the region of a node in the plan of a conversion: `[0:31, 10:20] of [730, 180]`; `None` without a region.
pub(crate) fn planned(node: &PlannedNode) -> Option<String> {
    let (region, array) = (node.region.as_ref()?, node.source.node.as_array()?);
    let lengths: Vec<String> = array.shape.iter().map(ToString::to_string).collect();
    Some(format!("{} of [{}]", region, lengths.join(", ")))
}
