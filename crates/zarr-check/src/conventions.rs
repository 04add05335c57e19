//! Checks of the conventions of xarray: dimensions that agree by name, coordinates that exist, times with valid units.

use crate::attributes::AttributeDocuments;
use crate::hierarchy::Hierarchy;
use crate::ome::is_pyramid;
use crate::sink::Sink;
use crate::{Code, Finding};
use std::collections::{HashMap, HashSet};
use zarr_cf::time::{Calendar, TimeUnits};
use zarr_hierarchy::{ErrorKind, Result};
use zarr_json::{Map, Value};
use zarr_meta::{ArrayMetadata, Node, NodePath, StoredNode};
use zarr_store::Store;

/// Maximum number of paths of coordinates that are looked up outside of the checked node.
const MOST_ABOVE: usize = 1000;

/// Checks the conventions of xarray in all groups.
pub(crate) fn check(store: &dyn Store, hierarchy: &Hierarchy, sink: &Sink<'_>) -> Result<()> {
    let mut above = NodesAbove { store, seen: HashMap::new() };
    let mut sizes: HashMap<(String, &str), (u64, &StoredNode)> = HashMap::new();
    let pyramids: HashSet<String> = hierarchy
        .nodes
        .iter()
        .filter(|node| is_pyramid(node.node.attributes()))
        .map(|node| node.path.to_string())
        .collect();
    for found in &hierarchy.nodes {
        let Node::Array(array) = &found.node else { continue };
        let group = found.path.parent().map_or_else(String::new, |group| group.to_string());
        if !pyramids.contains(&group) {
            dimensions(found, array, &group, &mut sizes, sink);
        }
        let attributes = &array.attributes;
        coordinates(hierarchy, &mut above, found, attributes, sink)?;
        units(found, attributes, sink);
        sink.go_on()?;
    }
    Ok(())
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

/// Checks that the arrays in the attribute `coordinates` exist, in the group or in groups above.
fn coordinates(
    hierarchy: &Hierarchy,
    above: &mut NodesAbove<'_>,
    found: &StoredNode,
    attributes: &Map,
    sink: &Sink<'_>,
) -> Result<()> {
    let Some(listed) = attributes.get("coordinates").and_then(Value::as_str) else { return Ok(()) };
    let Some(first) = hierarchy.nodes.first() else { return Ok(()) };
    let places = AttributeDocuments::new(found);
    for name in listed.split_whitespace() {
        let mut is_at = |group: NodePath| {
            let Ok(path) = group.join(name) else { return false };
            match path.is_within(&first.path) {
                true => hierarchy.node(&path).is_some() || hierarchy.is_broken(&path),
                false => above.may_have(&path),
            }
        };
        if !found.path.ancestors().any(&mut is_at) {
            let message = format!("names {name:?}, and there is no such array in the group or above");
            sink.find(places.at(Finding::new(Code::MissingCoordinate, message), "/attributes/coordinates"));
        }
        sink.go_on()?;
    }
    Ok(())
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
    let finding = finding.at_path(&found.path);
    Finding { key: found.document_key().map(str::to_owned), pointer: Some(found.document_pointer(pointer)), ..finding }
}
