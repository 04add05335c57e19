//! Conditions for joining a variable of several files.

use std::collections::BTreeMap;

use zarr_hierarchy::{Error, ErrorKind};
use zarr_json::{Map, Value};
use zarr_meta::{ArrayMetadata, NodePath};

/// Attributes that define the meaning of elements, and must be the same in all files.
const OF_ELEMENTS: [&str; 11] = [
    "scale_factor",
    "add_offset",
    "_FillValue",
    "missing_value",
    "_Unsigned",
    "units",
    "calendar",
    "flag_values",
    "flag_masks",
    "flag_meanings",
    "dtype",
];

/// Attributes of [`OF_ELEMENTS`] that may differ if times are converted to the units of the first file.
const OF_TIMES: [&str; 2] = ["units", "calendar"];

/// Prefixes of the attributes of places on Earth, of which the module `places` takes care.
const OF_PLACES: [&str; 2] = ["proj:", "spatial:"];

/// Returns the error that the variable at `path` in `file` cannot be joined. `what` says what was found and what was expected.
pub(crate) fn refused(file: &str, path: &NodePath, what: impl Into<String>) -> Error {
    Error::new(ErrorKind::NotExpressible, what).at(|location| {
        (location.store, location.path) = (Some(file.to_owned()), Some(path.to_string()));
    })
}

/// Checks that the metadata of `other` agrees with that of `first`, the array in the first file. Lengths along `axis` may differ. The
/// attributes of [`OF_TIMES`] may differ if `are_times`. Chunks and codecs are not checked here.
pub(crate) fn check_members(
    first: &ArrayMetadata,
    other: &ArrayMetadata,
    axis: Option<usize>,
    are_times: bool,
) -> Result<(), String> {
    let names = |array: &ArrayMetadata| {
        let names = array.dimension_names.clone().unwrap_or_default();
        names.iter().map(|name| name.clone().unwrap_or_default()).collect::<Vec<_>>()
    };
    if names(first) != names(other) || first.shape.len() != other.shape.len() {
        let shown = |array: &ArrayMetadata| format!("({})", names(array).join(", "));
        return Err(format!("found the dimensions {}, expected {} as in the first file", shown(other), shown(first)));
    }
    let rest = |array: &ArrayMetadata| {
        let axes = array.shape.iter().enumerate().filter(|(at, _)| Some(*at) != axis);
        axes.map(|(_, length)| *length).collect::<Vec<_>>()
    };
    if rest(first) != rest(other) {
        let along = if axis.is_some() { " along the other axes" } else { "" };
        return Err(format!(
            "found the shape {:?}, expected {:?} as in the first file{along}",
            other.shape, first.shape
        ));
    }
    let (found, expected) = (other.data_type.to_value(), first.data_type.to_value());
    if !found.semantically_eq(&expected) {
        return Err(format!(
            "found the data type {}, expected {} as in the first file",
            found.excerpt(),
            expected.excerpt()
        ));
    }
    for name in OF_ELEMENTS.into_iter().filter(|name| !are_times || !OF_TIMES.contains(name)) {
        let values = (first.attributes.get(name), other.attributes.get(name));
        if !are_equal(values.0, values.1) {
            let shown = |value: Option<&Value>| value.map_or_else(|| "none".to_owned(), Value::excerpt);
            let (found, expected) = (shown(values.1), shown(values.0));
            return Err(format!("found the attribute {name} {found}, expected {expected} as in the first file"));
        }
    }
    let fill = |array: &ArrayMetadata| array.fill_value.clone().unwrap_or_default();
    if axis.is_some() && !fill(first).semantically_eq(&fill(other)) {
        let (found, expected) = (fill(other).excerpt(), fill(first).excerpt());
        return Err(format!("found the fill value {found}, expected {expected} as in the first file"));
    }
    Ok(())
}

fn are_equal(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.semantically_eq(b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Attributes that differ from those in the first file, by node and name, with the number of files in which they differ.
#[derive(Debug, Default)]
pub(crate) struct Differences(BTreeMap<(NodePath, String), usize>);

impl Differences {
    /// Counts the attributes of the node at `path` that differ between `first` and `other`, except those of [`OF_TIMES`] and places on Earth.
    pub(crate) fn note(&mut self, path: &NodePath, first: &Map, other: &Map) {
        let more = other.keys().filter(|name| !first.contains_key(name));
        let names = first.keys().chain(more).filter(|name| !OF_TIMES.contains(name));
        let names: Vec<&str> = names.filter(|name| !OF_PLACES.iter().any(|prefix| name.starts_with(prefix))).collect();
        for name in names.into_iter().filter(|name| !are_equal(first.get(name), other.get(name))) {
            *self.0.entry((path.clone(), name.to_owned())).or_default() += 1;
        }
    }

    /// Returns a message for each node with different attributes. `first` is the name of the first file.
    pub(crate) fn lines(&self, first: &str) -> Vec<String> {
        let mut of_nodes: BTreeMap<&NodePath, Vec<&str>> = BTreeMap::new();
        for (path, name) in self.0.keys() {
            of_nodes.entry(path).or_default().push(name);
        }
        let line = |(path, names): (&NodePath, Vec<&str>)| {
            format!("{path}: attributes that differ among the files are those of {first}: {}", names.join(", "))
        };
        of_nodes.into_iter().map(line).collect()
    }
}
