//! Coordinate labels of elements that differ, if their array is a variable of a data set.

use super::values::DifferentElement;
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr_array::{Array, Group, Registry};
use zarr_dataset::{Dataset, DatasetOptions, Variable};
use zarr_grid::AxisSelection;
use zarr_hierarchy::{Result, open_node};

/// Adds to `elements` the labels of coordinates along the dimensions of `array`. Coordinates that cannot be read are left out, since labels
/// only help people.
pub(super) fn add(array: &Array, registry: &Arc<Registry>, elements: &mut [DifferentElement]) {
    if elements.is_empty() || array.shape().is_empty() {
        return;
    }
    let Some((dataset, name)) = dataset(array, registry) else { return };
    let Ok(variable) = dataset.variable(&name) else { return };
    let dimensions: Vec<&str> = variable.dimensions().collect();
    if dimensions.len() != array.shape().len() {
        return;
    }
    for (axis, dimension) in dimensions.into_iter().enumerate().filter(|(_, dimension)| *dimension != name) {
        let is_coordinate = |variable: &Variable| variable.dimensions().eq([dimension]);
        if !dataset.variable(dimension).is_ok_and(is_coordinate) {
            continue;
        }
        let Ok(labels) = labels(&dataset, dimension, axis, elements) else { continue };
        for element in &mut *elements {
            if let Some(label) = element.index.get(axis).and_then(|at| labels.get(at)) {
                element.coordinates.push((dimension.to_owned(), label.clone()));
            }
        }
    }
}

/// Returns the data set with the array as a variable and its coordinates, and the name of the variable.
fn dataset(array: &Array, registry: &Arc<Registry>) -> Option<(Dataset, String)> {
    let parent = array.path().parent()?;
    let name = array.path().as_relative().rsplit('/').next()?.to_owned();
    let found = open_node(&**array.store(), &parent.to_string(), Some(array.dialect())).ok()?;
    let group = Group::from_found(array.store(), found, registry).ok()?;
    let options = DatasetOptions::default().arrays(array.options().clone());
    Some((Dataset::open_variables(&group, &[&name], &options).ok()?, name))
}

/// Returns the labels of `dimension` by position, at the positions of `elements` along `axis`.
fn labels(
    dataset: &Dataset,
    dimension: &str,
    axis: usize,
    elements: &[DifferentElement],
) -> Result<BTreeMap<u64, String>> {
    let at = |element: &DifferentElement| element.index.get(axis).copied();
    let mut labels: BTreeMap<u64, String> =
        elements.iter().filter_map(at).map(|position| (position, String::new())).collect();
    let positions: Vec<i64> = labels.keys().filter_map(|&position| i64::try_from(position).ok()).collect();
    let selected = dataset.isel(dimension, AxisSelection::Indices(positions))?;
    let values = selected.variable(dimension)?.read()?;
    for (number, label) in labels.values_mut().enumerate() {
        *label = values.text(number);
    }
    Ok(labels)
}
