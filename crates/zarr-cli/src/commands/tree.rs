//! `zarr tree`: the hierarchy.

use super::describe::{self, Parts};
use crate::args::Tree;
use crate::context::Context;
use crate::failure::Result;
use crate::{escape, number, output, report};
use std::process::ExitCode;
use zarr::meta::json::Value;
use zarr::meta::{ArrayMetadata, Found, Node, NodePath};

/// Names and shapes longer than this do not push the columns of others to the right.
const MAX_COLUMN: usize = 48;

pub(crate) fn run(context: &Context, args: &Tree) -> Result<ExitCode> {
    let place = context.place(&args.node)?;
    let walk = context.walked(&place, zarr::walk(&*place.store, &place.path.to_string(), place.format)?);
    let levels = |path: &NodePath| path.names().count().saturating_sub(place.path.names().count());
    let mut nodes = walk.nodes;
    nodes.retain(|node| args.depth.is_none_or(|depth| levels(&node.path) <= depth));
    if context.global.json {
        let list: Vec<Value> = nodes.iter().map(|node| Value::from(describe::facts(node))).collect();
        output::json(&Value::Array(list))?;
    } else {
        let name = place.url.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        let name = place.path.name().map_or(name, str::to_owned);
        output::print(&Drawing { nodes: &nodes, coloured: context.coloured }.draw(&name))?;
    }
    let failures = walk.broken.into_iter().chain(walk.bad_copies);
    for node in &nodes {
        match &node.attributes_error {
            Some(error) if !context.global.quiet => report::warning(&format!("{}: {error}", node.path)),
            _ => {}
        }
    }
    report::all(failures, context.global.json).map(|()| ExitCode::SUCCESS)
}

struct Drawing<'a> {
    /// Sorted by path, the first is the top.
    nodes: &'a [Found],
    coloured: bool,
}

impl Drawing<'_> {
    fn draw(&self, name: &str) -> String {
        let Some((top, below)) = self.nodes.split_first() else { return String::new() };
        let mut text = format!("{}  {} {}", self.bold(&escape::line(name)), top.dialect, describe::kind(top));
        match &top.node {
            Node::Array(array) => text.push_str(&format!("  {}", Row::new(array).in_full())),
            Node::Group(_) => text.push_str(&counts(below)),
        }
        text.push('\n');
        self.children(&top.path, below, "", &mut text);
        text
    }

    /// Draws the nodes of `below` directly under `path`, each with what lies under it.
    fn children(&self, path: &NodePath, below: &[Found], indent: &str, text: &mut String) {
        let children: Vec<&Found> = below.iter().filter(|node| node.path.parent().as_ref() == Some(path)).collect();
        let rows: Vec<Option<Row>> = children.iter().map(|child| child.node.as_array().map(Row::new)).collect();
        let width = |lens: &mut dyn Iterator<Item = usize>| lens.filter(|&len| len <= MAX_COLUMN).max().unwrap_or(0);
        let names: Vec<String> = children.iter().map(|child| label(child)).collect();
        let arrays = || names.iter().zip(&rows).filter_map(|(name, row)| Some((name, row.as_ref()?)));
        let name_width = width(&mut arrays().map(|(name, _)| name.chars().count()));
        let shape_width = width(&mut arrays().map(|(_, row)| row.shape.chars().count()));
        let type_width = width(&mut arrays().map(|(_, row)| row.data_type.chars().count()));
        for (place, ((child, name), row)) in children.iter().zip(&names).zip(&rows).enumerate() {
            let last = place + 1 == children.len();
            text.push_str(indent);
            text.push_str(if last { "`- " } else { "|- " });
            match row {
                None => text.push_str(&self.bold(name)),
                Some(Row { shape, data_type, rest }) => {
                    let line = format!("{name:<name_width$}  {shape:<shape_width$}  {data_type:<type_width$}  {rest}");
                    text.push_str(line.trim_end());
                }
            }
            text.push('\n');
            if row.is_none() {
                let from = below.partition_point(|node| node.path <= child.path);
                let inner = format!("{indent}{}", if last { "   " } else { "|  " });
                self.children(&child.path, below.get(from..).unwrap_or_default(), &inner, text);
            }
        }
    }

    fn bold(&self, name: &str) -> String {
        if self.coloured { format!("\x1b[1m{name}\x1b[0m") } else { name.to_owned() }
    }
}

pub(crate) fn label(node: &Found) -> String {
    let name = escape::line(node.path.name().unwrap_or("/"));
    let slash = if node.node.as_group().is_some() { "/" } else { "" };
    let implied = if node.implicit { "  (implied)" } else { "" };
    format!("{name}{slash}{implied}")
}

/// `  3 arrays, 1 group`.
fn counts(nodes: &[Found]) -> String {
    let arrays = nodes.iter().filter(|node| node.node.as_array().is_some()).count();
    let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    format!("  {}, {}", count(arrays, "array"), count(nodes.len() - arrays, "group"))
}

/// An array in one line.
pub(crate) struct Row {
    shape: String,
    data_type: String,
    rest: String,
}

impl Row {
    pub(crate) fn new(array: &ArrayMetadata) -> Self {
        let parts = Parts::new(array);
        let mut rest = format!("chunks {}", extents(&parts.chunk));
        if let Some(shard) = &parts.shard {
            rest.push_str(&format!("  shards {}", extents(shard)));
        }
        let codecs = describe::short_codecs(&array.codecs);
        if !codecs.is_empty() {
            rest.push_str(&format!("  {codecs}"));
        }
        if let Some(units) = array.attributes.get("units").and_then(Value::as_str) {
            rest.push_str(&format!("  \"{units}\""));
        }
        Self {
            shape: escape::line(&named_shape(array)).into_owned(),
            data_type: escape::line(&describe::short_type(&array.data_type)).into_owned(),
            rest: escape::line(&rest).into_owned(),
        }
    }

    pub(crate) fn in_full(&self) -> String {
        format!("{}  {}  {}", self.shape, self.data_type, self.rest)
    }
}

/// `(time 365, lat 180)`, or without names `(365, 180)`.
fn named_shape(array: &ArrayMetadata) -> String {
    let Some(names) = &array.dimension_names else { return number::tuple(&array.shape) };
    let axis = |(&len, name): (&u64, &Option<String>)| match name {
        Some(name) => format!("{name} {}", number::grouped(len)),
        None => number::grouped(len),
    };
    let axes: Vec<String> = array.shape.iter().zip(names).map(axis).collect();
    format!("({})", axes.join(", "))
}

/// `24x721x1440`; rectilinear grids have lists in place of some lengths.
pub(crate) fn extents(shape: &Value) -> String {
    let lengths = shape.as_array().unwrap_or_default();
    if lengths.is_empty() {
        return "()".to_owned();
    }
    let length = |length: &Value| match length.as_array() {
        Some(_) => length.excerpt(),
        None => length.to_string(),
    };
    lengths.iter().map(length).collect::<Vec<_>>().join("x")
}
