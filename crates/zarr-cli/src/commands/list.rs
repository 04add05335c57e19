//! `zarr ls`: the nodes directly below a group.

use super::describe;
use super::tree::Row;
use crate::args::List;
use crate::context::Context;
use crate::failure::Result;
use crate::{escape, output, report};
use zarr::meta::json::Value;
use zarr::meta::{Found, Node};

pub(crate) fn run(context: &Context, args: &List) -> Result<()> {
    let place = context.place(&args.node)?;
    let found = place.found()?;
    let walk = context.walked(
        &place,
        match &found.node {
            Node::Array(_) => zarr::Walk { nodes: vec![found], ..zarr::Walk::default() },
            Node::Group(_) => zarr::children(&*place.store, &place.path.to_string(), place.format)?,
        },
    );
    if context.global.json {
        let list: Vec<Value> = walk.nodes.iter().map(|node| Value::from(describe::facts(node))).collect();
        output::json(&Value::Array(list))?;
    } else {
        output::print(&text(&walk.nodes, args.long))?;
    }
    report::all(walk.broken.into_iter().chain(walk.bad_copies), context.global.json)
}

fn text(nodes: &[Found], long: bool) -> String {
    let names: Vec<String> = nodes.iter().map(super::tree::label).collect();
    let width = if long { names.iter().map(|name| name.chars().count()).max().unwrap_or(0) } else { 0 };
    let line = |(node, name): (&Found, &String)| {
        let name = if long { name.as_str() } else { name.trim_end_matches("  (implied)") };
        match node.node.as_array().filter(|_| long) {
            Some(array) => format!("{name:<width$}  {}\n", escape::line(&Row::new(array).in_full())),
            None => format!("{name}\n"),
        }
    };
    nodes.iter().zip(&names).map(line).collect()
}
