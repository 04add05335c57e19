//! Opening of a data set in steps: its arrays, the names of their dimensions, their attributes, its coordinates.

use crate::dimensions::{self, Axis, Sizes};
use crate::related;
use crate::variable::locate;
use crate::{DatasetOptions, DecodeCoords, Dimension, Error, Result, Variable};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zarr_array::{Array, Group, Registry};
use zarr_dtype::DataType;
use zarr_json::{Map, Value};
use zarr_meta::StoredNode;

/// Parts of a data set.
pub(crate) struct Parts {
    pub(crate) attributes: Map,
    pub(crate) dimensions: Vec<Dimension>,
    pub(crate) variables: BTreeMap<String, Variable>,
    /// Names of the variables that are coordinates.
    pub(crate) coordinates: BTreeSet<String>,
    pub(crate) broken: Vec<Error>,
}

/// Variable that is being opened.
struct Opened {
    name: String,
    array: Array,
    axes: Vec<Axis>,
    /// Attributes of the array, without attributes of xarray and NCZarr and without the attributes in `related`.
    attributes: Map,
    /// Attributes that name other variables, taken from `attributes`.
    related: Map,
}

/// Returns the parts of the data set of `group`. `nodes` are its children, and `broken` the errors of children that cannot be read.
/// `registry` must have the CF codec.
///
/// # Errors
/// [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) if an array has no names of its dimensions, or a dimension two sizes.
pub(crate) fn parts(
    group: &Group,
    nodes: impl IntoIterator<Item = StoredNode>,
    mut broken: Vec<Error>,
    options: &DatasetOptions,
    registry: &Arc<Registry>,
) -> Result<Parts> {
    let mut opened = variables(group, nodes, &mut broken, options)?;
    let mut sizes = Sizes::default();
    for variable in &opened {
        let added = sizes.add(&variable.name, &variable.axes, variable.array.shape());
        added.map_err(|error| locate(&variable.array, error))?;
    }
    join_characters(&mut opened);
    add_units_of_bounds(&mut opened);
    let mut attributes = match group.attributes() {
        Ok(attributes) => dimensions::of_user(attributes, group.dialect()),
        Err(error) => {
            broken.push(error);
            Map::new()
        }
    };
    let coordinates = coordinates(&mut opened, &mut attributes, options.decode_coords);
    let mut variables = BTreeMap::new();
    for Opened { name, array, axes, attributes, related } in opened {
        let variable = Variable::new(&name, array, axes, attributes, related, registry);
        variables.insert(name, variable);
    }
    let metadata = group.found().node.as_group();
    let listed = metadata.map_or_else(Vec::new, |group| dimensions::listed(&group.attributes, &group.extra));
    let kept: BTreeSet<&str> = variables.values().flat_map(Variable::dimensions).collect();
    let mut dimensions = sizes.finish(&listed);
    // The dimension of characters is left out.
    let is_listed = |name: &str| listed.iter().any(|dimension| dimension.name == name);
    dimensions.retain(|dimension| kept.contains(dimension.name.as_str()) || is_listed(&dimension.name));
    Ok(Parts { attributes, dimensions, variables, coordinates, broken })
}

/// Opens the arrays among `nodes`. Errors of single arrays are added to `broken`; dimensions without names are an error of the data set.
fn variables(
    group: &Group,
    nodes: impl IntoIterator<Item = StoredNode>,
    broken: &mut Vec<Error>,
    options: &DatasetOptions,
) -> Result<Vec<Opened>> {
    let mut opened = Vec::new();
    for found in nodes.into_iter().filter(|found| found.node.as_array().is_some()) {
        let name = found.path.to_string().rsplit('/').next().unwrap_or_default().to_owned();
        let array = Array::from_found(group.store(), found, group.registry(), options.arrays.clone());
        let read = array.and_then(|array| {
            let attributes =
                dimensions::of_user(array.attributes().map_err(|error| locate(&array, error))?, array.dialect());
            Ok((array, attributes))
        });
        match read {
            Ok((array, attributes)) => {
                let axes =
                    dimensions::axes(&array, options.number_dimensions).map_err(|error| locate(&array, error))?;
                opened.push(Opened { name, array, axes, attributes, related: Map::new() });
            }
            Err(error) => broken.push(error),
        }
    }
    Ok(opened)
}

/// Treats the last dimension of arrays of single characters as the characters of strings, unless another array uses that dimension for
/// something else.
fn join_characters(opened: &mut [Opened]) {
    let is_character = |array: &Array| *array.data_type() == DataType::FixedBytes { len: 1 };
    let mut dimensions = BTreeSet::new();
    for variable in opened.iter() {
        if let (true, Some(Axis::Named(last))) = (is_character(&variable.array), variable.axes.last()) {
            dimensions.insert(last.clone());
        }
    }
    dimensions.retain(|dimension| {
        let named = Axis::Named(dimension.clone());
        opened.iter().all(|Opened { name, array, axes, .. }| {
            let is_bytes = matches!(array.data_type(), DataType::FixedBytes { .. });
            let others = axes.len().saturating_sub(1);
            name != dimension
                && (!axes.contains(&named) || (is_bytes && !axes.iter().take(others).any(|axis| *axis == named)))
        })
    });
    for variable in opened.iter_mut().filter(|variable| is_character(&variable.array)) {
        if let Some(last) = variable.axes.last_mut()
            && matches!(last, Axis::Named(name) if dimensions.contains(name))
        {
            *last = Axis::Characters;
        }
    }
}

/// Copies the units and the calendar of times to the bounds of the times, which need not have them.
fn add_units_of_bounds(opened: &mut [Opened]) {
    let mut added = Vec::new();
    for Opened { attributes, .. } in opened.iter() {
        let units = attributes.get("units").filter(|units| units.as_str().is_some_and(|units| units.contains("since")));
        if let (Some(units), Some(bounds)) = (units, attributes.get("bounds").and_then(Value::as_str)) {
            added.push((bounds.to_owned(), units.clone(), attributes.get("calendar").cloned()));
        }
    }
    for (bounds, units, calendar) in added {
        if let Some(Opened { attributes, .. }) = opened.iter_mut().find(|variable| variable.name == bounds) {
            for (name, value) in [("units", Some(units)), ("calendar", calendar)] {
                if let Some(value) = value.filter(|_| !attributes.contains_key(name)) {
                    attributes.insert(name, value);
                }
            }
        }
    }
}

/// Returns the names of the coordinates, and removes the attributes that name them from the variables and from the group.
fn coordinates(opened: &mut [Opened], of_group: &mut Map, decode: DecodeCoords) -> BTreeSet<String> {
    let names: BTreeSet<String> = opened.iter().map(|variable| variable.name.clone()).collect();
    let of_dimensions =
        |variable: &&Opened| matches!(variable.axes.as_slice(), [Axis::Named(name)] if *name == variable.name);
    let mut found: BTreeSet<String> =
        opened.iter().filter(of_dimensions).map(|variable| variable.name.clone()).collect();
    if decode == DecodeCoords::None {
        return found;
    }
    for variable in opened {
        found.extend(related::take(&mut variable.attributes, &mut variable.related, &names, decode));
    }
    let listed = of_group.get("coordinates").and_then(Value::as_str);
    let listed: Option<Vec<String>> = listed.map(|listed| listed.split_whitespace().map(str::to_owned).collect());
    if let Some(listed) = listed {
        of_group.remove("coordinates");
        found.extend(listed.into_iter().filter(|name| names.contains(name)));
    }
    found
}
