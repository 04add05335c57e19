//! Attributes by which a variable names other variables that belong to it, which are coordinates therefore.

use crate::DecodeCoords;
use std::collections::BTreeSet;
use zarr_json::{Map, Value};

/// Attributes that name variables which belong to a variable, apart from `coordinates`.
pub(crate) const RELATED: [&str; 10] = [
    "bounds",
    "grid_mapping",
    "climatology",
    "geometry",
    "node_coordinates",
    "node_count",
    "part_node_count",
    "interior_ring",
    "cell_measures",
    "formula_terms",
];

/// Moves the attributes that name other variables from `attributes` to `related`. Returns the names of coordinates in them that are in
/// `names`.
pub(crate) fn take(
    attributes: &mut Map,
    related: &mut Map,
    names: &BTreeSet<String>,
    decode: DecodeCoords,
) -> Vec<String> {
    let mut found = Vec::new();
    let text = |attributes: &Map, name: &str| attributes.get(name).and_then(Value::as_str).map(str::to_owned);
    if let Some(listed) = text(attributes, "coordinates") {
        found.extend(listed.split_whitespace().filter(|name| names.contains(*name)).map(str::to_owned));
        attributes.remove("coordinates");
        related.insert("coordinates", listed);
    }
    for attribute in RELATED.into_iter().filter(|_| decode == DecodeCoords::All) {
        // Some write `area : name`.
        let Some(text) = text(attributes, attribute).map(|text| text.replace(" :", ":")) else { continue };
        let Some(named) = named(attribute, &text) else { continue };
        if named.iter().all(|name| names.contains(*name)) {
            found.extend(named.into_iter().map(str::to_owned));
            attributes.remove(attribute);
            related.insert(attribute, text);
        }
    }
    found
}

/// Returns the names of variables that attributes of a variable or a group name as its coordinates, or in another role of the CF conventions:
/// bounds, grid mappings, cell measures, formula terms, the parts of geometries.
///
/// ```
/// use zarr_dataset::named_variables;
/// use zarr_json::Map;
/// let attributes = Map::from([("coordinates", "lat lon".into()), ("cell_measures", "area: cell_area".into())]);
/// assert_eq!(named_variables(&attributes), ["lat", "lon", "cell_area"]);
/// ```
#[must_use]
pub fn named_variables(attributes: &Map) -> Vec<String> {
    let mut found = Vec::new();
    for attribute in ["coordinates"].into_iter().chain(RELATED) {
        let Some(text) = attributes.get(attribute).and_then(Value::as_str) else { continue };
        let text = text.replace(" :", ":");
        found.extend(named(attribute, &text).unwrap_or_default().into_iter().map(str::to_owned));
    }
    found
}

/// Iterates over the words of a string.
pub(crate) fn words(text: &Value) -> impl Iterator<Item = &str> {
    text.as_str().unwrap_or_default().split_whitespace()
}

/// Returns the variables that an attribute names; `None` if the attribute has no valid form.
fn named<'t>(attribute: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let has_keys = matches!(attribute, "grid_mapping" | "cell_measures" | "formula_terms") && words.len() > 1;
    if !has_keys {
        return Some(words);
    }
    if !words.first().is_some_and(|first| first.contains(':')) {
        return None;
    }
    // `crs: lat lon` names the mapping and the coordinates that it is of; `area: cell_area` the role and the variable.
    let is_key = |word: &&str| word.contains(':');
    Some(match attribute {
        "grid_mapping" => words.into_iter().filter(is_key).map(|key| key.trim_matches(':')).collect(),
        _ => words.into_iter().filter(|word| !is_key(word)).collect(),
    })
}
