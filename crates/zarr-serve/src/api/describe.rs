//! Answers that describe nodes: the store, the facts about a node, its attributes.

use super::answer::ApiAnswer;
use super::children::add_counts;
use super::image::add_image;
use super::picture::grid_facts;
use crate::address::Query;
use crate::nodes::{Nodes, OpenedNode};
use crate::request_error::RequestError;
use std::sync::Arc;
use zarr_array::Array;
use zarr_grid::total_size;
use zarr_json::{Map, Value, json};
use zarr_meta::{Node, facts};
use zarr_view::Numbers;

/// Greatest number of chunks in the grid of an array whose stored chunks are listed.
const LISTED: u128 = 1 << 20;

/// Describes the store.
pub(super) fn store(nodes: &Nodes, _: &Query) -> Result<ApiAnswer, RequestError> {
    let dialect = nodes.dialect.map_or(Value::Null, |dialect| Value::from(dialect.name()));
    let can_list = nodes.store.capabilities().list;
    Ok(ApiAnswer::Json(json!({
        "store": (nodes.store.to_string()),
        "dialect": dialect,
        "can_list": can_list,
        "version": (env!("CARGO_PKG_VERSION")),
    })))
}

/// Returns the facts about a node, as `zarr info --json` prints them. Facts that need a listing are only included on request.
pub(super) fn info(nodes: &Nodes, query: &Query) -> Result<ApiAnswer, RequestError> {
    let opened = nodes.open(query.path())?;
    let (found, with_sizes) = (&opened.found, query.flag("sizes"));
    let mut facts = facts(found);
    let warnings: Vec<Value> = match &found.node {
        Node::Group(_) => {
            if with_sizes {
                add_counts(nodes, found, &mut facts)?;
            }
            match nodes.image(&opened) {
                Ok(None) => match nodes.grid(&opened) {
                    Ok(grid) => {
                        facts.insert("grid", grid.as_ref().map_or(Value::Null, grid_facts));
                    }
                    Err(fault) => {
                        facts.insert("error", fault.message);
                    }
                },
                Ok(Some(image)) => add_image(image, &mut facts),
                Err(fault) => {
                    facts.insert("error", fault.message);
                }
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
    Ok(ApiAnswer::Json(Value::from(facts)))
}

fn texts(warnings: &[zarr_meta::Warning]) -> Vec<Value> {
    warnings.iter().map(|warning| Value::from(warning.to_string())).collect()
}

/// Adds the facts about an array, and the ways to view it. An array that cannot be opened is described with its error.
fn add_array(
    nodes: &Nodes,
    opened: &Arc<OpenedNode>,
    with_sizes: bool,
    facts: &mut Map,
) -> Result<Vec<Value>, RequestError> {
    let array = match nodes.array(opened) {
        Ok(array) => array,
        Err(fault) => {
            facts.insert("error", fault.message);
            return Ok(texts(&opened.found.warnings));
        }
    };
    if with_sizes {
        add_sizes(array, facts)?;
    }
    facts.insert("is_numeric", Numbers::of(array.data_type()).is_some());
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
                    "data_type": (zarr_dataset::type_name(&data_type)),
                    "coordinates": (Value::Array(coordinates)),
                }),
                (Err(fault), _) => json!({"is_decoded": false, "why": (fault.message)}),
                (_, Err(error)) => json!({"is_decoded": false, "why": (error.to_string())}),
            }
        }
    };
    facts.insert("as_variable", decoded);
    let mut warnings = texts(array.warnings());
    match nodes.place(opened) {
        Ok(Some(place)) => {
            let mut geo = place.facts();
            let lines = place.lines().into_iter().map(|(label, text)| Value::from(vec![label, text]));
            geo.insert("lines", Value::Array(lines.collect()));
            facts.insert("geo", geo);
        }
        Ok(None) => {}
        // The elements can be looked at all the same.
        Err(why) => warnings.push(Value::from(format!("the place of the elements is not known: {why}"))),
    }
    Ok(warnings)
}

/// Adds the size of an array, and how much of it is stored.
fn add_sizes(array: &Array, facts: &mut Map) -> Result<(), RequestError> {
    let chunks = total_size(&array.chunk_grid().grid_shape(), 1);
    if chunks > LISTED {
        let message =
            format!("{}: found a grid of {chunks} chunks, expected at most {LISTED} to be listed", array.path());
        return Err(RequestError::too_much(message).with_hint("zarr info lists them"));
    }
    for (name, value) in array.sizes()?.facts().iter() {
        facts.insert(name, value.clone());
    }
    Ok(())
}

/// Returns the attributes of a node.
pub(super) fn attributes(nodes: &Nodes, query: &Query) -> Result<ApiAnswer, RequestError> {
    let opened = nodes.open(query.path())?;
    let attributes = opened.found.attributes().map_err(|error| zarr_hierarchy::Error::from(error.clone()))?;
    Ok(ApiAnswer::Json(Value::from(attributes.clone())))
}
