//! `zarr ls`: the nodes directly below a group.

use super::describe;
use super::tree::{self, Row};
use crate::args::List;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::{escape, output, report};
use zarr::meta::json::Value;
use zarr::meta::{Dialect, Found};

pub(crate) fn run(context: &Context, args: &List) -> Result<()> {
    let place = context.place(&args.node)?;
    let group = place.found()?;
    if group.node.as_array().is_some() {
        let failure = Failure::usage(format!("{}: {}: an array, which has no nodes below it", place.store, place.path));
        return Err(failure.with_hint("`zarr info` tells about it"));
    }
    let walk = context.walked(&place, zarr::children(&*place.store, &place.path.to_string(), place.dialect)?);
    context.hidden(&walk);
    if context.global.json {
        let list: Vec<Value> = walk.nodes.iter().map(|node| Value::from(describe::facts(node))).collect();
        output::json(&Value::Array(list))?;
    } else {
        output::print(&text(&walk.nodes, group.dialect, args.long))?;
    }
    report::all(walk.broken.into_iter().chain(walk.bad_copies), context.global.json)
}

fn text(nodes: &[Found], dialect: Dialect, long: bool) -> String {
    let name = |node: &Found| match long {
        true => tree::label(node, Some(dialect)),
        false => format!("{}{}", tree::name(node), tree::mark(node, Some(dialect))),
    };
    let names: Vec<String> = nodes.iter().map(name).collect();
    let width = if long { names.iter().map(|name| name.chars().count()).max().unwrap_or(0) } else { 0 };
    let line = |(node, name): (&Found, &String)| match node.node.as_array().filter(|_| long) {
        Some(array) => format!("{name:<width$}  {}\n", escape::line(&Row::new(array).in_full())),
        None => format!("{name}\n"),
    };
    nodes.iter().zip(&names).map(line).collect()
}
