//! Hierarchies that this library and others write: groups and arrays, with and without consolidated metadata.

use crate::interop::Peer;
use crate::interop::manifest::{self, Line};
use crate::interop::ours::{self, Target};
use crate::interop::random::Random;
use crate::interop::stores::Stores;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use zarr::hierarchy::{Node, Walk, open_node, walk, walk_consolidated};
use zarr::{Dialect, Group, NewGroup};
use zarr_json::{Map, Value};

/// Names of groups that services encode in different ways.
const NAMES: [&str; 6] = ["g", "a b", "a+b", "Gr\u{fc}\u{df}e", "x=1", "\u{6e29}\u{5ea6}"];

/// Nodes of a store, as `hierarchies.jsonl` lists them.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy {
    /// Name of the store.
    pub(super) store: String,
    /// Format of Zarr: 2 or 3.
    zarr_format: u64,
    /// Whether the root has consolidated metadata.
    consolidated: bool,
    /// Attributes of each group, and null for each array, by path.
    nodes: Map,
    /// Whether the server of the store can list.
    listed: bool,
}

impl Hierarchy {
    fn to_json(&self) -> Value {
        let mut line = Map::new();
        line.insert("store", self.store.as_str());
        line.insert("zarr_format", self.zarr_format);
        line.insert("consolidated", self.consolidated);
        line.insert("nodes", self.nodes.clone());
        line.insert("listed", self.listed);
        Value::Object(line)
    }

    fn from_json(text: &str) -> Option<Self> {
        let value = Value::from_json(text).ok()?;
        Some(Self {
            store: value.get("store")?.as_str()?.to_owned(),
            zarr_format: value.get("zarr_format")?.as_u64()?,
            consolidated: value.get("consolidated")?.as_bool()?,
            nodes: value.get("nodes")?.as_object()?.clone(),
            listed: value.get("listed").is_none_or(|listed| listed.as_bool() == Some(true)),
        })
    }

    /// Returns a description of the storage, for people.
    pub(super) fn about(&self) -> String {
        format!("v{}{}", self.zarr_format, if self.consolidated { ", consolidated" } else { "" })
    }

    /// Returns the differences of the nodes in a store.
    pub(super) fn differences(&self, stores: &Stores) -> Vec<String> {
        let mut found = Vec::new();
        if let Err(error) = self.compare(stores, &mut found) {
            found.push(error);
        }
        found
    }

    fn compare(&self, stores: &Stores, found: &mut Vec<String>) -> Result<(), String> {
        let store = stores.open(&self.store)?;
        let text = |error: zarr::Error| error.to_string();
        if store.capabilities().list {
            self.compare_walk("listed", &walk(&*store, "/", None).map_err(text)?, found);
        } else if !self.consolidated {
            // The store cannot list, so that only the expected nodes are opened.
            for (path, expected) in self.nodes.iter() {
                let opened = open_node(&*store, path, None).map_err(text)?;
                compare_node("opened", path, &opened.node, expected, found);
            }
        }
        if self.consolidated {
            let walked = walk_consolidated(&*store, "/", None).map_err(text)?;
            if walked.consolidated.is_none() {
                found.push("no consolidated metadata".to_owned());
            }
            self.compare_walk("consolidated", &walked, found);
        }
        Ok(())
    }

    fn compare_walk(&self, way: &str, walked: &Walk, found: &mut Vec<String>) {
        found.extend(walked.broken.iter().chain(&walked.bad_consolidated).map(|error| format!("{way}: {error}")));
        let actual: BTreeSet<String> = walked.nodes.iter().map(|node| node.path.to_string()).collect();
        let expected: BTreeSet<String> = self.nodes.keys().map(str::to_owned).collect();
        if actual != expected {
            found.push(format!("{way}: nodes {actual:?}, expected {expected:?}"));
        }
        for stored in &walked.nodes {
            let path = stored.path.to_string();
            if let Some(expected) = self.nodes.get(&path) {
                compare_node(way, &path, &stored.node, expected, found);
            }
            let dialect = if self.zarr_format == 2 { Dialect::V2 } else { Dialect::V3 };
            if stored.dialect != dialect {
                found.push(format!("{way}: {path}: dialect {}, expected {dialect}", stored.dialect));
            }
        }
    }
}

fn compare_node(way: &str, path: &str, node: &Node, expected: &Value, found: &mut Vec<String>) {
    let actual = node.as_group().map_or(Value::Null, |group| Value::Object(group.attributes.clone()));
    if !actual.semantically_eq(expected) {
        found.push(format!("{way}: {path}: {actual}, expected {expected}"));
    }
}

/// Writes `count` hierarchies into `stores` with this library, and lists them in `folder`. `listed` says whether the store can list when
/// they are read.
pub(super) fn write(folder: &Path, stores: &Stores, count: u64, seed: u64, listed: bool) -> Result<(), String> {
    let mut random = Random::new(seed);
    let (mut lines, mut hierarchies) = (Vec::new(), Vec::new());
    for number in 0..count {
        // Every fourth hierarchy has each pair of properties.
        let dialect = if number % 2 == 0 { Dialect::V2 } else { Dialect::V3 };
        let name = format!("ours-{number}");
        let nodes = write_one(folder, stores, &name, dialect, number / 2 % 2 == 0, &mut random, &mut lines)?;
        let zarr_format = 2 + number % 2;
        hierarchies.push(Hierarchy { store: name, zarr_format, consolidated: number / 2 % 2 == 0, nodes, listed });
    }
    manifest::write(folder, &lines)?;
    list(folder, &hierarchies)
}

fn write_one(
    folder: &Path,
    stores: &Stores,
    name: &str,
    dialect: Dialect,
    consolidated: bool,
    random: &mut Random,
    lines: &mut Vec<Line>,
) -> Result<Map, String> {
    let text = |error: zarr::Error| format!("{name}: {error}");
    let store = stores.create(name)?;
    let registry = zarr::registry::default();
    let mut groups = vec![String::new()];
    for _ in 0..=random.below(3) {
        let group = format!("{}/{}", random.pick(&groups), random.pick(&NAMES));
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let mut nodes = Map::new();
    for group in &groups {
        let attributes = random.attributes();
        let path = if group.is_empty() { "/" } else { group };
        let new = NewGroup::default().dialect(dialect).attributes(attributes.clone());
        Group::create(&store, path, new, &registry).map_err(text)?;
        nodes.insert(path, attributes);
    }
    let target = Target { folder, name, store: &store };
    for number in 0..2 + random.below(3) {
        let path = format!("{}/v{number}", random.pick(&groups));
        let plan = ours::plan(random, Peer::Zarr, dialect, stores.most_chunks);
        lines.push(ours::write_one(&target, &format!("{name}-{number}"), &path, plan, random)?);
        nodes.insert(path, Value::Null);
    }
    if consolidated {
        zarr::hierarchy::consolidate(&*store, "/", None).map_err(text)?;
    }
    Ok(nodes)
}

/// Writes the list of hierarchies into `folder`.
pub(super) fn list(folder: &Path, hierarchies: &[Hierarchy]) -> Result<(), String> {
    let path = folder.join("hierarchies.jsonl");
    let text: String = hierarchies.iter().map(|hierarchy| format!("{}\n", hierarchy.to_json())).collect();
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Reads the list of hierarchies in `folder`.
pub(super) fn read(folder: &Path) -> Result<Vec<Hierarchy>, String> {
    let path = folder.join("hierarchies.jsonl");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let line = |text| Hierarchy::from_json(text).ok_or_else(|| format!("{}: {text}", path.display()));
    text.lines().map(line).collect()
}
