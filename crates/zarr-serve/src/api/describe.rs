//! What the nodes are: the store, the tree, the facts about a node, its attributes.

use super::answer::Answer;
use crate::address::Query;
use crate::fault::Fault;
use crate::nodes::{List, Nodes, Opened, is_numeric};
use std::sync::Arc;
use zarr_hierarchy::Walk;
use zarr_json::{Map, Value, json};
use zarr_meta::{Node, StoredNode, facts, kind};

/// Nodes that are listed at once, if not asked for fewer.
const PAGE: usize = 500;
/// Nodes that cannot be shown and are named.
const NAMED: usize = 20;

/// The store.
pub(super) fn store(nodes: &Nodes, _: &Query) -> Result<Answer, Fault> {
    let dialect = nodes.dialect.map_or(Value::Null, |dialect| Value::from(dialect.name()));
    let can_list = nodes.store.capabilities().list;
    Ok(Answer::Json(json!({
        "store": (nodes.store.to_string()),
        "dialect": dialect,
        "can_list": can_list,
        "version": (env!("CARGO_PKG_VERSION")),
    })))
}

/// The path that a question is about.
pub(super) fn path(query: &Query) -> &str {
    query.text("path").unwrap_or("/")
}

/// The nodes directly below a group, from `offset` on, at most `limit` of them.
pub(super) fn children(nodes: &Nodes, query: &Query) -> Result<Answer, Fault> {
    let opened = nodes.open(path(query))?;
    let path = opened.found.path.to_string();
    let offset: usize = query.number("offset", 0)?;
    let list = nodes.list(&path, offset > 0, || list(nodes, &path))?;
    let limit = query.number("limit", PAGE)?.min(PAGE);
    let page: Vec<Value> = list.nodes.iter().skip(offset).take(limit).cloned().collect();
    let broken: Vec<Value> = list.broken.iter().take(NAMED).map(|text| Value::from(text.as_str())).collect();
    Ok(Answer::Json(json!({
        "path": path,
        "total": (list.nodes.len()),
        "offset": offset,
        "nodes": (Value::Array(page)),
        "broken_total": (list.broken.len()),
        "broken": (Value::Array(broken)),
    })))
}

fn list(nodes: &Nodes, path: &str) -> Result<List, Fault> {
    let walk: Walk = zarr_hierarchy::children(&*nodes.store, path, nodes.dialect)?;
    let broken = walk.broken.iter().chain(&walk.bad_copies).map(ToString::to_string).collect();
    Ok(List { nodes: walk.nodes.iter().map(|node| Value::from(brief(node))).collect(), broken })
}

/// The facts about a node that the tree shows.
fn brief(found: &StoredNode) -> Map {
    let mut brief = facts(found);
    for name in ["attributes", "codecs", "fill_value", "implicit"] {
        brief.remove(name);
    }
    brief.insert("name", found.path.name().unwrap_or("/"));
    if let Some(units) = found.node.attributes().get("units").and_then(Value::as_str) {
        brief.insert("units", units);
    }
    brief
}

/// The facts about a node: the members that `zarr info --json` prints. Those that need a list of what is stored, only if asked for.
pub(super) fn info(nodes: &Nodes, query: &Query) -> Result<Answer, Fault> {
    let opened = nodes.open(path(query))?;
    let (found, with_sizes) = (&opened.found, query.flag("sizes"));
    let mut facts = facts(found);
    let warnings: Vec<Value> = match &found.node {
        Node::Group(_) => {
            if with_sizes {
                add_counts(nodes, found, &mut facts)?;
            }
            texts(&found.warnings)
        }
        Node::Array(_) => {
            facts.insert("metadata", found.node.to_value());
            add_array(nodes, &opened, with_sizes, &mut facts)?
        }
    };
    if let Some(error) = &found.attributes_error {
        facts.insert("attributes_error", error.to_string());
    }
    facts.insert("warnings", Value::Array(warnings));
    Ok(Answer::Json(Value::from(facts)))
}

fn texts(warnings: &[zarr_meta::Warning]) -> Vec<Value> {
    warnings.iter().map(|warning| Value::from(warning.to_string())).collect()
}

fn add_counts(nodes: &Nodes, found: &StoredNode, facts: &mut Map) -> Result<(), Fault> {
    let walk = zarr_hierarchy::walk(&*nodes.store, &found.path.to_string(), nodes.dialect)?;
    let below = || walk.nodes.iter().filter(|node| node.path != found.path);
    for (name, of_kind) in [("arrays", "array"), ("groups", "group")] {
        facts.insert(name, below().filter(|node| kind(node) == of_kind).count());
    }
    let children = below().filter(|node| node.path.parent().as_ref() == Some(&found.path));
    facts.insert("children", Value::Array(children.filter_map(|node| node.path.name()).map(Value::from).collect()));
    Ok(())
}

/// What an opened array shows, and how it can be looked at. An array that cannot be opened is described all the same.
fn add_array(nodes: &Nodes, opened: &Arc<Opened>, with_sizes: bool, facts: &mut Map) -> Result<Vec<Value>, Fault> {
    let array = match nodes.array(opened) {
        Ok(array) => array,
        Err(fault) => {
            facts.insert("error", fault.message);
            return Ok(texts(&opened.found.warnings));
        }
    };
    if with_sizes {
        for (name, value) in array.sizes()?.facts().iter() {
            facts.insert(name, value.clone());
        }
    }
    facts.insert("is_numeric", is_numeric(array));
    facts.insert("part_shape", Value::Array(array.part_shape().iter().map(|&len| Value::from(len)).collect()));
    let decoded = match nodes.variable(opened) {
        Err(why) => json!({"is_decoded": false, "why": (why.as_str())}),
        Ok(found) => {
            let decoded = found.decoded();
            let coordinates: Vec<Value> = found
                .variable
                .dimensions()
                .map(|name| found.coordinate(name).map_or(Value::Null, |it| Value::from(it.name())))
                .collect();
            match (decoded, found.variable.data_type()) {
                (Ok(decoded), Ok(data_type)) => json!({
                    "is_decoded": (decoded.is_some()),
                    "data_type": (data_type.to_config().short_value()),
                    "coordinates": (Value::Array(coordinates)),
                }),
                (Err(fault), _) => json!({"is_decoded": false, "why": (fault.message)}),
                (_, Err(error)) => json!({"is_decoded": false, "why": (error.to_string())}),
            }
        }
    };
    facts.insert("as_variable", decoded);
    Ok(texts(array.warnings()))
}

/// The attributes of a node.
pub(super) fn attributes(nodes: &Nodes, query: &Query) -> Result<Answer, Fault> {
    let opened = nodes.open(path(query))?;
    let attributes = opened.found.attributes().map_err(|error| zarr_hierarchy::Error::from(error.clone()))?;
    Ok(Answer::Json(Value::from(attributes.clone())))
}
