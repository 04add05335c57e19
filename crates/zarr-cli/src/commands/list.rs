//! `zarr ls`: lists the nodes directly below a group.

use super::describe;
use super::tree::{self, ArrayRow, styled};
use crate::args::NodeArgs;
use crate::columns::{padded, widest};
use crate::context::Context;
use crate::escape;
use crate::failure::{Failure, Result};
use crate::report::{self, Palette};
use clap::Args;
use zarr::meta::StoredNode;

/// List the nodes directly below a group, or all of them, one per line.
#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    node: NodeArgs,
    /// Show the shape, data type, chunks and codecs of arrays.
    #[arg(short, long)]
    long: bool,
    /// List the nodes of all levels below, by their paths from the group.
    #[arg(short, long, visible_short_alias = 'R')]
    recursive: bool,
}

pub(crate) fn run(context: &Context, args: &List) -> Result<()> {
    let location = context.locate(&args.node)?;
    let group = context.node(&location)?;
    if group.node.as_array().is_some() {
        let failure = Failure::usage(format!("{location}: an array has no nodes below it"));
        return Err(failure.with_hint("`zarr info` describes it"));
    }
    context.warn_of_unfinished(&location);
    let walk = context.below_to_show(&location, &group, (!args.recursive).then_some(1))?.below(&location.path);
    context.hidden(&walk);
    context.page(
        || walk.nodes.iter().map(describe::facts).collect::<Vec<_>>(),
        || text(&walk.nodes, &group, args, context.palette),
    )?;
    report::all(walk.broken.into_iter().chain(walk.bad_consolidated), context.global.json)
}

fn text(nodes: &[StoredNode], group: &StoredNode, args: &List, palette: Palette) -> String {
    let (dialect, long) = (group.dialect, args.long);
    let levels = group.path.names().count();
    let above = |node: &StoredNode| {
        let mut names: Vec<&str> = node.path.names().skip(levels).collect();
        names.pop();
        names.iter().map(|name| format!("{}/", escape::line(name))).collect::<String>()
    };
    let name = |node: &StoredNode| match long {
        true => tree::label(node, Some(dialect)),
        false => format!("{}{}", tree::name(node), tree::mark(node, Some(dialect))),
    };
    let names: Vec<String> = nodes.iter().map(|node| format!("{}{}", above(node), name(node))).collect();
    let width = if long { widest(&names) } else { 0 };
    let line = |(node, name): (&StoredNode, &String)| match node.node.as_array().filter(|_| long) {
        Some(array) => format!("{}  {}\n", padded(name, width), ArrayRow::new(array).in_full(palette)),
        None if node.node.as_group().is_some() => format!("{}\n", styled(name, palette.group)),
        None => format!("{name}\n"),
    };
    nodes.iter().zip(&names).map(line).collect()
}
