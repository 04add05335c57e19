//! Checks of the conventions of CF and xarray: dimensions that agree by name, arrays that exist where attributes name them, times with
//! valid units, values that can be decoded.

mod names;
mod values;

use crate::attributes::AttributeDocuments;
use crate::hierarchy::Hierarchy;
use crate::ome::is_pyramid;
use crate::sink::Sink;
use crate::{Code, Finding, section};
use std::collections::{HashMap, HashSet};
use zarr_cf::time::{Calendar, TimeUnits};
use zarr_hierarchy::{ErrorKind, Result};
use zarr_json::{Map, Value};
use zarr_meta::{ArrayMetadata, Node, NodePath, StoredNode};
use zarr_store::Store;

/// Maximum number of paths of coordinates that are looked up outside of the checked node.
const MOST_ABOVE: usize = 1000;

/// Checks the conventions of CF and xarray in all groups. Returns whether an array has attributes of CF.
pub(crate) fn check(store: &dyn Store, hierarchy: &Hierarchy, sink: &Sink<'_>) -> Result<bool> {
    let mut above = NodesAbove { store, seen: HashMap::new() };
    let mut is_any = false;
    let mut sizes: HashMap<(String, &str), (u64, &StoredNode)> = HashMap::new();
    let pyramids: HashSet<String> = hierarchy
        .nodes
        .iter()
        .filter(|node| is_pyramid(node.node.attributes()))
        .map(|node| node.path.to_string())
        .collect();
    for (number, found) in hierarchy.nodes.iter().enumerate() {
        let Node::Array(array) = &found.node else { continue };
        let group = found.path.parent().map_or_else(String::new, |group| group.to_string());
        if !pyramids.contains(&group) {
            dimensions(found, array, &group, &mut sizes, sink);
        }
        let attributes = &array.attributes;
        is_any |= is_cf(attributes);
        names::check(hierarchy, &mut above, found, array, sink)?;
        units(found, attributes, sink);
        values::check(found, hierarchy.array(number), sink);
        sink.go_on()?;
    }
    Ok(is_any)
}

/// Whether attributes of an array are some that only CF has.
fn is_cf(attributes: &Map) -> bool {
    const OWN: [&str; 8] = [
        "standard_name",
        "units",
        "calendar",
        "scale_factor",
        "add_offset",
        "flag_meanings",
        "grid_mapping_name",
        "cell_methods",
    ];
    OWN.into_iter().chain(names::ATTRIBUTES).any(|name| attributes.contains_key(name))
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

/// Nodes outside of the checked node, above and beside it, which the walk has not seen.
struct NodesAbove<'s> {
    store: &'s dyn Store,
    seen: HashMap<NodePath, bool>,
}

impl NodesAbove<'_> {
    /// Whether there is a node at `path`, or may be: it is broken, or too many paths were looked up already.
    fn may_have(&mut self, path: &NodePath) -> bool {
        if let Some(known) = self.seen.get(path) {
            return *known;
        }
        // Each costs a request.
        if self.seen.len() >= MOST_ABOVE {
            return true;
        }
        let opened = zarr_hierarchy::open_node(self.store, &path.to_string(), None);
        let may_have = opened.map_or_else(|error| error.kind() != ErrorKind::NotFound, |_| true);
        self.seen.insert(path.clone(), may_have);
        may_have
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
    sink.find(AttributeDocuments::new(found).at(Finding::new(Code::BadUnits, error.to_string()), pointer));
}

fn at_document(finding: Finding, found: &StoredNode, pointer: &str) -> Finding {
    let section = section::of(finding.code, "");
    let finding = finding.at_path(&found.path);
    Finding {
        section,
        key: found.document_key().map(str::to_owned),
        pointer: Some(found.document_pointer(pointer)),
        ..finding
    }
}
