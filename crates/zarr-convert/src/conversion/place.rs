//! Attributes of GeoZarr: those that the options give to nodes, and those of regions, which are elsewhere than the whole.

#[cfg(test)]
mod tests;

use super::{ConvertOptions, region};
use std::collections::{HashMap, HashSet};
use zarr_geo::Georeference;
use zarr_grid::{AxisRange, Region};
use zarr_hierarchy::{Error, Result};
use zarr_json::{Map, Value};
use zarr_meta::{ArrayMetadata, Node, NodePath, Note, StoredNode};

/// Attributes that say where the elements are.
pub(super) const OF_PLACE: [&str; 4] = ["spatial:bbox", "spatial:transform_type", "spatial:transform", "spatial:shape"];

/// Groups with a place on Earth, as it matters where regions are taken of arrays below them.
#[derive(Debug, Default)]
pub(super) struct GroupPlaces {
    /// Groups whose place is no longer that of all their arrays, since a region is taken of some: those that such an array is directly in,
    /// and those above with the levels of a pyramid.
    cut: HashSet<NodePath>,
    /// Names of the dimensions of y and x that groups give to arrays without own ones.
    dimensions: HashMap<NodePath, [String; 2]>,
}

impl GroupPlaces {
    /// Finds the groups; none if no region is taken.
    pub(super) fn of(found: &[StoredNode], options: &ConvertOptions) -> Self {
        let mut places = Self::default();
        if options.regions.is_empty() {
            return places;
        }
        let groups = found.iter().filter(|node| node.node.as_group().is_some());
        let groups: HashMap<&NodePath, Georeference> =
            groups.filter_map(|node| Some((&node.path, Georeference::read(node.node.attributes())?))).collect();
        for (path, read) in &groups {
            if let Some(names) = &read.dimensions {
                places.dimensions.insert((*path).clone(), names.clone());
            }
        }
        for node in found.iter().filter(|node| options.regions.contains_key(&node.path)) {
            // A region that does not fit its array is refused when the array is planned.
            let (Some(array), Ok(Some(region))) = (node.node.as_array(), region::of(node, options)) else { continue };
            let own = Georeference::read(&array.attributes).and_then(|own| own.dimensions);
            let names = own.or_else(|| places.dimensions_above(&node.path));
            let ranges = names.and_then(|names| ranges(array, &names, &region));
            let is_whole =
                ranges.is_some_and(|ranges| ranges.into_iter().all(|(range, len)| range == AxisRange::new(0, len)));
            for (distance, path) in std::iter::successors(node.path.parent(), NodePath::parent).enumerate() {
                let Some(read) = groups.get(&path) else { continue };
                if !is_whole && (distance == 0 || !read.levels.is_empty()) {
                    places.cut.insert(path);
                }
            }
        }
        places
    }

    /// Names of the dimensions of the closest group above a node that has some.
    fn dimensions_above(&self, path: &NodePath) -> Option<[String; 2]> {
        closest_dimensions(path, |group| Ok(self.dimensions.get(group).cloned())).ok().flatten()
    }
}

/// Returns the names of the dimensions of y and x of the closest group above a node that has some. `of_group` returns those of a group.
/// Groups at any distance count, since names say nothing about where the elements are.
pub(super) fn closest_dimensions(
    path: &NodePath,
    of_group: impl Fn(&NodePath) -> Result<Option<[String; 2]>>,
) -> Result<Option<[String; 2]>> {
    std::iter::successors(path.parent(), NodePath::parent).find_map(|group| of_group(&group).transpose()).transpose()
}

/// Gives a node the place that the options say, or else moves the place of an array to its region. What is no longer true is left out, of
/// an array and of a group that is cut.
pub(super) fn take(
    node: &mut Node,
    (found, region, places): (&StoredNode, Option<&Region>, &GroupPlaces),
    options: &ConvertOptions,
    notes: &mut Vec<Note>,
) -> Result<()> {
    if let Node::Group(group) = node
        && places.cut.contains(&found.path)
    {
        leave_out(&mut group.attributes, notes);
    }
    if let Some(place) = options.georeferences.get(&found.path) {
        let attributes = match node {
            Node::Array(array) => &mut array.attributes,
            Node::Group(group) => &mut group.attributes,
        };
        notes.retain(|note| !note.pointer.starts_with("/attributes/spatial:"));
        return place.write(attributes).map_err(|error| Error::from(zarr_meta::Error::from(error)));
    }
    let (Node::Array(array), Some(whole), Some(region)) = (node, found.node.as_array(), region) else { return Ok(()) };
    let Some(read) = Georeference::read(&array.attributes) else { return Ok(()) };
    let names = read.dimensions.clone().or_else(|| places.dimensions_above(&found.path));
    let ranges = names.and_then(|names| ranges(whole, &names, region));
    match ranges {
        Some(ranges) if ranges.iter().all(|(range, len)| *range == AxisRange::new(0, *len)) => Ok(()),
        Some([(y, _), (x, _)]) if read.transform.is_some() => {
            let place = read.region([y.start, x.start], [y.step, x.step], [y.len, x.len]);
            let written = place.write(&mut array.attributes);
            written.map_err(|error| Error::from(zarr_meta::Error::from(error)))?;
            notes.push(Note::change("/attributes/spatial:transform", "becomes that of the region"));
            Ok(())
        }
        _ => {
            leave_out(&mut array.attributes, notes);
            Ok(())
        }
    }
}

/// Returns the ranges of a region along dimensions, each with the length of the dimension; `None` if the array does not name both.
fn ranges(array: &ArrayMetadata, names: &[String; 2], region: &Region) -> Option<[(AxisRange, u64); 2]> {
    let known = array.dimension_names.as_deref()?;
    let range = |name: &String| {
        let axis = known.iter().position(|known| known.as_ref() == Some(name))?;
        Some((*region.axes().get(axis)?, *array.shape.get(axis)?))
    };
    let [y, x] = names;
    Some([range(y)?, range(x)?])
}

/// Removes what says where the elements are, also of levels.
fn leave_out(attributes: &mut Map, notes: &mut Vec<Note>) {
    let why = "it is that of the whole, of which a region is taken";
    for name in OF_PLACE {
        if attributes.remove(name).is_some() {
            notes.push(Note::loss(format!("/attributes/{name}"), why));
        }
    }
    let layout = attributes.get_mut("multiscales").and_then(|pyramid| match pyramid {
        Value::Object(pyramid) => pyramid.get_mut("layout"),
        _ => None,
    });
    let Some(Value::Array(levels)) = layout else { return };
    for (number, level) in levels.iter_mut().enumerate() {
        let Value::Object(level) = level else { continue };
        for name in OF_PLACE {
            if level.remove(name).is_some() {
                notes.push(Note::loss(format!("/attributes/multiscales/layout/{number}/{name}"), why));
            }
        }
    }
}
