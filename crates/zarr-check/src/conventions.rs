//! The conventions of xarray: dimensions that agree by name, coordinates that are there, times whose units can be read.

use crate::hierarchy::Hierarchy;
use crate::images::is_image;
use crate::sink::Sink;
use crate::{Code, Finding};
use std::collections::{HashMap, HashSet};
use zarr_cf::time::{Calendar, TimeUnits};
use zarr_json::{Map, Value};
use zarr_meta::{ArrayMetadata, Node, StoredNode};

/// Looks at all groups.
pub(crate) fn check(hierarchy: &Hierarchy, sink: &Sink<'_>) {
    let mut sizes: HashMap<(String, &str), (u64, &StoredNode)> = HashMap::new();
    let images: HashSet<String> = hierarchy
        .nodes
        .iter()
        .filter(|node| is_image(node.node.attributes()))
        .map(|node| node.path.to_string())
        .collect();
    for found in &hierarchy.nodes {
        let Node::Array(array) = &found.node else { continue };
        let group = found.path.parent().map_or_else(String::new, |group| group.to_string());
        if !images.contains(&group) {
            dimensions(found, array, &group, &mut sizes, sink);
        }
        let attributes = &array.attributes;
        coordinates(hierarchy, found, attributes, sink);
        units(found, attributes, sink);
    }
}

fn dimensions<'n>(
    found: &'n StoredNode,
    array: &'n ArrayMetadata,
    group: &str,
    sizes: &mut HashMap<(String, &'n str), (u64, &'n StoredNode)>,
    sink: &Sink<'_>,
) {
    let names = array.dimension_names.iter().flatten();
    for (name, &size) in names.zip(&array.shape).filter_map(|(name, size)| Some((name.as_deref()?, size))) {
        let (known, first) = *sizes.entry((group.to_owned(), name)).or_insert((size, found));
        if known != size {
            let message = format!("dimension {name:?} has {size} elements, and {known} in {}", first.path);
            sink.find(at_document(Finding::new(Code::DimensionSizes, message), found, "/shape"));
        }
    }
}

/// The attribute `coordinates` names arrays in the group, or in groups above.
fn coordinates(hierarchy: &Hierarchy, found: &StoredNode, attributes: &Map, sink: &Sink<'_>) {
    let Some(listed) = attributes.get("coordinates").and_then(Value::as_str) else { return };
    for name in listed.split_whitespace() {
        let is_at = |group: zarr_meta::NodePath| group.join(name).is_ok_and(|path| hierarchy.node(&path).is_some());
        if !found.path.ancestors().any(is_at) {
            let message = format!("names {name:?}, and there is no such array in the group or above");
            sink.find(at_attribute(Finding::new(Code::MissingCoordinate, message), found, "/attributes/coordinates"));
        }
    }
}

fn units(found: &StoredNode, attributes: &Map, sink: &Sink<'_>) {
    let Some(units) = attributes.get("units").and_then(Value::as_str).filter(|units| TimeUnits::is_units(units)) else {
        return;
    };
    // Sentences may contain the word; times are counted in a unit of time.
    let calendar = attributes.get("calendar").and_then(Value::as_str).unwrap_or("standard");
    let (pointer, error) = match Calendar::parse(calendar) {
        Err(error) => ("/attributes/calendar", error),
        Ok(calendar) => match TimeUnits::parse(units, calendar) {
            Err(error) => ("/attributes/units", error),
            Ok(_) => return,
        },
    };
    sink.find(at_attribute(Finding::new(Code::BadUnits, error.to_string()), found, pointer));
}

/// A finding in the attributes of a node; `pointer` is below `/attributes`, as in the documents of version 3.
pub(crate) fn at_attribute(finding: Finding, found: &StoredNode, pointer: &str) -> Finding {
    let finding = finding.at_path(&found.path);
    let below = pointer.strip_prefix("/attributes").filter(|below| !below.is_empty());
    let name = below.and_then(|below| below.split('/').nth(1)).unwrap_or_default();
    // Attributes are members of a document of their own in some dialects.
    let has_member = |key: &&str| {
        let text = found.documents.get(key).and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.and_then(|text| Value::from_json(text).ok()).is_some_and(|document| document.get(name).is_some())
    };
    let own = found.own_documents().find(has_member);
    let pointer = below.filter(|_| own.is_some()).unwrap_or(pointer).to_owned();
    let key = own.or_else(|| found.document_key()).map(str::to_owned);
    Finding { key, pointer: Some(pointer), ..finding }
}

fn at_document(finding: Finding, found: &StoredNode, pointer: &str) -> Finding {
    let finding = finding.at_path(&found.path);
    Finding { key: found.document_key().map(str::to_owned), pointer: Some(found.document_pointer(pointer)), ..finding }
}
