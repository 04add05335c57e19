//! Variables that are no data, and the variables that describe rounding.

use std::collections::{BTreeMap, BTreeSet};
use zarr::dataset::named_variables;
use zarr::meta::json::{Map, Value};
use zarr::meta::{NodePath, StoredNode};

/// Name of the variable that describes the rounding, as in the examples of CF 8.4.
const CONTAINER: &str = "quantization_info";
/// Standard names of coordinates.
const PLACES: [&str; 7] = [
    "grid_latitude",
    "grid_longitude",
    "latitude",
    "longitude",
    "projection_x_coordinate",
    "projection_y_coordinate",
    "time",
];
/// Attributes that name variables which are no data, beside those that data sets know; UGRID has those that end with `_coordinates`.
const NAMING: [&str; 2] = ["ancillary_variables", "nodes"];

/// Paths of arrays that are no data variables: those with the name of a dimension of an array in their group, those that attributes of arrays or
/// groups name, and those whose own attributes say that they are coordinates.
pub(in crate::commands) fn no_data_variables(nodes: &[StoredNode]) -> BTreeSet<NodePath> {
    let mut found = BTreeSet::new();
    for node in nodes {
        let (group, attributes, dimensions) = match node.node.as_array() {
            Some(array) => {
                let Some(group) = node.path.parent() else { continue };
                let dimensions: Vec<String> = array.dimension_names.iter().flatten().flatten().cloned().collect();
                (group, &array.attributes, dimensions)
            }
            None => match node.node.as_group() {
                Some(document) => (node.path.clone(), &document.attributes, Vec::new()),
                None => continue,
            },
        };
        if node.node.as_array().is_some() && is_coordinate(attributes) {
            found.insert(node.path.clone());
        }
        found.extend(dimensions.iter().filter_map(|name| group.join(name).ok()));
        let is_naming = |name: &str| NAMING.contains(&name) || name.ends_with("_coordinates") || name == "grid_mapping";
        let lists = attributes.iter().filter(|(name, _)| is_naming(name)).filter_map(|(_, value)| value.as_str());
        // Behind a colon: a grid mapping lists the coordinates that it is for.
        let others = lists.flat_map(str::split_whitespace).map(|word| word.trim_end_matches(':'));
        for name in named_variables(attributes).iter().map(String::as_str).chain(others) {
            // A name may be that of a variable of a group above.
            let groups: Vec<NodePath> = match name.strip_prefix('/') {
                Some(_) => vec![NodePath::root()],
                None => std::iter::once(group.clone()).chain(group.ancestors()).collect(),
            };
            let name = name.trim_start_matches('/');
            found.extend(groups.iter().filter_map(|group| group.join(name).ok()));
        }
    }
    found
}

/// Whether the attributes of a variable say that it is a coordinate: an axis, a place or a time.
fn is_coordinate(attributes: &Map) -> bool {
    let text = |name: &str| attributes.get(name).and_then(Value::as_str).unwrap_or_default();
    let units = text("units");
    // `degrees_north`, `degree_N`, `degreesE` and the like.
    let is_place = |units: &str| {
        let rest = units.strip_prefix("degree").map(|rest| rest.trim_start_matches('s').trim_start_matches('_'));
        matches!(rest, Some("north" | "east" | "n" | "e"))
    };
    !text("axis").is_empty()
        || !text("positive").is_empty()
        || units.contains(" since ")
        || is_place(&units.to_ascii_lowercase())
        || PLACES.contains(&text("standard_name"))
}

/// Whether a node describes rounding by bits. `implementation` is the software that must have rounded, if it matters.
pub(super) fn is_container(node: &StoredNode, implementation: Option<&str>) -> bool {
    let Some(array) = node.node.as_array() else { return false };
    let text = |name: &str| array.attributes.get(name).and_then(Value::as_str);
    text("algorithm") == Some("bitround") && implementation.is_none_or(|ours| text("implementation") == Some(ours))
}

/// Names of the variables that describe rounding, one for each group.
#[derive(Debug)]
pub(super) struct Containers<'a> {
    nodes: BTreeMap<&'a NodePath, &'a StoredNode>,
    implementation: &'a str,
}

impl<'a> Containers<'a> {
    /// Takes the nodes of the source, which may have variables of that name.
    pub(super) fn new(nodes: &'a [StoredNode], implementation: &'a str) -> Self {
        Self { nodes: nodes.iter().map(|node| (&node.path, node)).collect(), implementation }
    }

    /// Name of the variable that describes the rounding of the array at a path: one that the group does not have, or has for the same
    /// rounding. `None` for the root.
    pub(super) fn name(&self, path: &NodePath) -> Option<String> {
        let group = path.parent()?;
        let names = (1_u32..).map(|number| match number {
            1 => CONTAINER.to_owned(),
            number => format!("{CONTAINER}_{number}"),
        });
        let is_free = |name: &String| {
            let found = group.join(name).ok().and_then(|path| self.nodes.get(&path).copied());
            found.is_none_or(|node| is_container(node, Some(self.implementation)))
        };
        names.take(self.nodes.len() + 1).find(is_free)
    }
}
