//! Checks of attributes that name other arrays: coordinates, bounds, grid mappings and others.

use super::NodesAbove;
use crate::attributes::AttributeDocuments;
use crate::hierarchy::Hierarchy;
use crate::sink::Sink;
use crate::{Code, Finding};
use zarr_hierarchy::Result;
use zarr_json::Value;
use zarr_meta::{ArrayMetadata, NodePath, StoredNode};

/// Form in which an attribute names arrays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One name.
    One,
    /// Names, separated by blanks.
    List,
    /// Names, each after a word with a colon that says its role: `area: cell_area`.
    Roles,
    /// One name, or names with a colon, each before the names of its coordinates: `crs: x y`.
    Mapping,
}

/// Attributes that name arrays, each with its form.
const NAMING: [(&str, Form); 12] = [
    ("coordinates", Form::List),
    ("bounds", Form::One),
    ("climatology", Form::One),
    ("grid_mapping", Form::Mapping),
    ("ancillary_variables", Form::List),
    ("cell_measures", Form::Roles),
    ("formula_terms", Form::Roles),
    ("geometry", Form::One),
    ("node_coordinates", Form::List),
    ("node_count", Form::One),
    ("part_node_count", Form::One),
    ("interior_ring", Form::One),
];

/// Attributes that name arrays, apart from `coordinates`, which other conventions have too.
pub(super) const ATTRIBUTES: [&str; 4] = ["bounds", "grid_mapping", "cell_measures", "formula_terms"];

/// Checks that the arrays that attributes name exist, and have the form that their role asks for.
pub(super) fn check(
    hierarchy: &Hierarchy,
    above: &mut NodesAbove<'_>,
    found: &StoredNode,
    array: &ArrayMetadata,
    sink: &Sink<'_>,
) -> Result<()> {
    let places = AttributeDocuments::new(found);
    for (attribute, form) in NAMING {
        let Some(text) = array.attributes.get(attribute).and_then(Value::as_str) else { continue };
        let pointer = format!("/attributes/{attribute}");
        let find = |code, message: String| sink.find(places.at(Finding::new(code, message), &pointer));
        let code = if attribute == "coordinates" { Code::MissingCoordinate } else { Code::MissingVariable };
        for name in named(text, form) {
            sink.go_on()?;
            let Some(path) = path_of(hierarchy, above, found, &name) else {
                if !is_external(hierarchy, found, attribute, &name) {
                    find(code, format!("names {name:?}, and there is no such array in the group or above"));
                }
                continue;
            };
            let Some(named) = hierarchy.node(&path).and_then(|node| node.node.as_array()) else { continue };
            match attribute {
                "bounds" | "climatology" => bounds(array, named, &find),
                "grid_mapping" => mapping(named, &name, &find),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Names of arrays in an attribute.
fn named(text: &str, form: Form) -> Vec<String> {
    // Some write `area : cell_area`.
    let text = text.replace(" :", ":");
    let words = text.split_whitespace().map(str::to_owned);
    let is_key = |word: &String| word.ends_with(':');
    match form {
        Form::One | Form::List => words.collect(),
        Form::Roles => words.filter(|word| !is_key(word)).collect(),
        Form::Mapping if text.contains(':') => {
            words.filter(is_key).map(|word| word.trim_end_matches(':').to_owned()).collect()
        }
        Form::Mapping => words.collect(),
    }
}

/// Path of the node that `name` leads to from the group of an array or one above it; `None` if there is none.
fn path_of(hierarchy: &Hierarchy, above: &mut NodesAbove<'_>, found: &StoredNode, name: &str) -> Option<NodePath> {
    let first = hierarchy.nodes.first()?;
    let mut exists = |path: &NodePath| match path.is_within(&first.path) {
        true => hierarchy.node(path).is_some() || hierarchy.is_broken(path),
        false => above.may_have(path),
    };
    if name.starts_with('/') {
        return NodePath::parse(name).ok().filter(|path| exists(path));
    }
    let groups = std::iter::successors(found.path.parent(), NodePath::parent);
    groups.filter_map(|group| relative(&group, name)).find(|path| exists(path))
}

/// Path that a name leads to from a group, in which `..` is the group above; `None` if it leads out of the hierarchy.
fn relative(group: &NodePath, name: &str) -> Option<NodePath> {
    name.split('/').try_fold(group.clone(), |group, step| match step {
        "." => Some(group),
        ".." => group.parent(),
        step => group.join(step).ok(),
    })
}

/// Whether a group above an array says that the array is in another file, as it may for cell measures.
fn is_external(hierarchy: &Hierarchy, found: &StoredNode, attribute: &str, name: &str) -> bool {
    let lists = |group: NodePath| {
        let attributes = hierarchy.node(&group).map(|group| group.node.attributes());
        let list = attributes.and_then(|attributes| attributes.get("external_variables")).and_then(Value::as_str);
        list.is_some_and(|list| list.split_whitespace().any(|listed| listed == name))
    };
    attribute == "cell_measures" && found.path.ancestors().any(lists)
}

/// Checks that bounds have the shape of the coordinate and one more dimension.
fn bounds(array: &ArrayMetadata, bounds: &ArrayMetadata, find: &impl Fn(Code, String)) {
    let is_right =
        bounds.shape.len() == array.shape.len() + 1 && bounds.shape.iter().zip(&array.shape).all(|(len, of)| len == of);
    if !is_right {
        let expected: Vec<String> = array.shape.iter().map(u64::to_string).chain(["corners".to_owned()]).collect();
        let message = format!("names bounds of shape {:?}, expected [{}]", bounds.shape, expected.join(", "));
        find(Code::BadBounds, message);
    }
}

/// Checks that a grid mapping says which it is.
fn mapping(named: &ArrayMetadata, name: &str, find: &impl Fn(Code, String)) {
    let has = |name: &str| named.attributes.get(name).is_some_and(|value| value.as_str().is_some());
    if !["grid_mapping_name", "crs_wkt", "spatial_ref"].into_iter().any(has) {
        find(Code::BadGridMapping, format!("names {name:?}, which has no grid_mapping_name and no crs_wkt"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_each_form() {
        assert_eq!(named("lat lon", Form::List), ["lat", "lon"]);
        assert_eq!(named("area: cell_area volume: v", Form::Roles), ["cell_area", "v"]);
        assert_eq!(named("area : cell_area", Form::Roles), ["cell_area"]);
        assert_eq!(named("crs: x y other: lat lon", Form::Mapping), ["crs", "other"]);
        assert_eq!(named("crs", Form::Mapping), ["crs"]);
    }

    #[test]
    fn names_lead_up() {
        let path = |text: &str| NodePath::parse(text).unwrap();
        for (name, expected) in [
            ("lat", Some("/a/b/lat")),
            ("../lat", Some("/a/lat")),
            (".././c/../lat", Some("/a/lat")),
            ("../../../lat", None),
            ("x//y", None),
        ] {
            assert_eq!(relative(&path("/a/b"), name), expected.map(path), "{name}");
        }
    }
}
