//! `zarr tree`: draws the hierarchy.

use super::describe;
use crate::args::NodeArgs;
use crate::columns::padded;
use crate::context::Context;
use crate::failure::Result;
use crate::report::Palette;
use crate::table::cut;
use crate::{escape, number, report};
use anstyle::Style;
use clap::Args;
use std::collections::HashMap;
use unicode_width::UnicodeWidthStr;
use zarr::ErrorKind;
use zarr::meta::json::Value;
use zarr::meta::text::{ChunkShapes, codecs_in_short, extents, type_in_short};
use zarr::meta::{ArrayMetadata, Dialect, Node, NodePath, StoredNode};

/// Greatest width of a column of names or shapes; longer ones do not widen the column.
const MAX_COLUMN: usize = 48;
/// Greatest width of the name, and of the value, of an attribute, including the points where it is cut.
const MAX_VALUE: usize = 103;
/// Indentation of each level, in characters.
const INDENT: usize = 3;

/// Draw the hierarchy: groups, and arrays with shape, data type, chunks and codecs.
#[derive(Debug, Args)]
pub(crate) struct Tree {
    #[command(flatten)]
    node: NodeArgs,
    /// How many levels to draw.
    #[arg(short = 'L', long, value_name = "LEVELS")]
    depth: Option<usize>,
    /// Show the attributes of each node.
    #[arg(short, long, visible_alias = "attributes")]
    attrs: bool,
}

pub(crate) fn run(context: &Context, args: &Tree) -> Result<()> {
    let location = context.locate(&args.node)?;
    let walk = context.walk_to_show(&location)?;
    let levels = |path: &NodePath| path.names().count().saturating_sub(location.path.names().count());
    context.hidden(&walk);
    let mut nodes = walk.nodes;
    nodes.retain(|node| args.depth.is_none_or(|depth| levels(&node.path) <= depth));
    context.warn_of_unfinished(&location);
    let drawing = Drawing { nodes: &nodes, palette: context.palette, attrs: args.attrs };
    context.page(|| nodes.iter().map(describe::facts).collect::<Vec<_>>(), || drawing.draw(&location.name()))?;
    let failures = walk.broken.into_iter().chain(walk.bad_consolidated);
    for node in &nodes {
        match &node.attributes_error {
            Some(error) if !context.global.quiet => report::warning(&format!("{}: {error}", node.path)),
            _ => {}
        }
    }
    report::all(failures, context.global.json)
}

struct Drawing<'a> {
    /// Nodes sorted by path; the first is the top of the drawing.
    nodes: &'a [StoredNode],
    palette: Palette,
    /// Whether attributes are drawn below each node.
    attrs: bool,
}

impl Drawing<'_> {
    fn draw(&self, name: &str) -> String {
        let Some((top, below)) = self.nodes.split_first() else { return String::new() };
        let mut text =
            format!("{}  {} {}", styled(&escape::line(name), self.palette.heading), top.dialect, describe::kind(top));
        match &top.node {
            Node::Array(array) => text.push_str(&format!("  {}", ArrayRow::new(array).in_full(self.palette))),
            Node::Group(_) => {
                text.push_str(&counts(below));
                text.push_str(&image(top));
            }
        }
        text.push('\n');
        if self.attrs {
            attributes(top, if below.is_empty() { "   " } else { "|  " }, &mut text);
        }
        self.children(&top.path, below, &mut text);
        text
    }

    /// Draws the nodes below the node at `path`, without recursion: a hierarchy may be deeper than the stack of a thread.
    fn children(&self, path: &NodePath, below: &[StoredNode], text: &mut String) {
        let mut children = HashMap::<&str, Vec<&StoredNode>>::new();
        for node in below {
            let parent = node.path.as_relative().rsplit_once('/').map_or("", |(parent, _)| parent);
            children.entry(parent).or_default().push(node);
        }
        let dialect = self.nodes.first().map(|top| top.dialect);
        let mut level = |path: &NodePath| children.remove(path.as_relative()).map(|nodes| Level::new(&nodes, dialect));
        let mut levels: Vec<Level<'_>> = level(path).into_iter().collect();
        let mut indent = String::new();
        while let Some(innermost) = levels.last_mut() {
            let Some(child) = innermost.children.next() else {
                levels.pop();
                indent.truncate(indent.len().saturating_sub(INDENT));
                continue;
            };
            let last = innermost.children.len() == 0;
            text.push_str(&indent);
            text.push_str(if last { "`- " } else { "|- " });
            match &child.row {
                None => {
                    text.push_str(&styled(&child.name, self.palette.group));
                    text.push_str(&child.image);
                }
                Some(row) => text.push_str(innermost.line(&child.name, row, self.palette).trim_end()),
            }
            text.push('\n');
            let below = if last { "   " } else { "|  " };
            let inner = if child.row.is_none() { level(&child.node.path) } else { None };
            if self.attrs {
                let bar = if inner.is_some() { "|  " } else { "   " };
                attributes(child.node, &format!("{indent}{below}{bar}"), text);
            }
            if let Some(inner) = inner {
                levels.push(inner);
                indent.push_str(below);
            }
        }
    }
}

/// Draws the attributes of a node, a line for each.
fn attributes(node: &StoredNode, indent: &str, text: &mut String) {
    for (name, value) in node.node.attributes().iter() {
        let shown = |text: &str| cut(&escape::line(text), MAX_VALUE);
        text.push_str(&format!("{indent}{}: {}\n", shown(name), shown(&value.to_string())));
    }
}

/// Returns the text in a style.
pub(crate) fn styled(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// Nodes directly below one node, and the widths of their columns.
struct Level<'a> {
    /// Nodes that are not drawn yet.
    children: std::vec::IntoIter<Child<'a>>,
    name_width: usize,
    shape_width: usize,
    type_width: usize,
}

struct Child<'a> {
    node: &'a StoredNode,
    name: String,
    /// Cells of the row, if the node is an array.
    row: Option<ArrayRow>,
    /// Description of the OME-Zarr image, if the node is one; else empty.
    image: String,
}

impl<'a> Level<'a> {
    /// Returns the level of `nodes`. Nodes of another dialect than `dialect` are marked.
    fn new(nodes: &[&'a StoredNode], dialect: Option<Dialect>) -> Self {
        let child = |node: &&'a StoredNode| Child {
            node,
            name: label(node, dialect),
            row: node.node.as_array().map(ArrayRow::new),
            image: image(node),
        };
        let children: Vec<Child<'a>> = nodes.iter().map(child).collect();
        let arrays = || children.iter().filter_map(|child| Some((child.name.as_str(), child.row.as_ref()?)));
        let width = |columns: &mut dyn Iterator<Item = &str>| {
            columns.map(UnicodeWidthStr::width).filter(|&width| width <= MAX_COLUMN).max().unwrap_or(0)
        };
        Self {
            name_width: width(&mut arrays().map(|(name, _)| name)),
            shape_width: width(&mut arrays().map(|(_, row)| row.shape.as_str())),
            type_width: width(&mut arrays().map(|(_, row)| row.data_type.as_str())),
            children: children.into_iter(),
        }
    }

    /// Returns the row of an array as a line.
    fn line(&self, name: &str, ArrayRow { shape, data_type, rest }: &ArrayRow, palette: Palette) -> String {
        let (name, shape) = (padded(name, self.name_width), padded(shape, self.shape_width));
        format!("{name}  {shape}  {}  {rest}", styled(&padded(data_type, self.type_width), palette.data_type))
    }
}

/// Returns the name of a node, a mark if the node is implicit, and its dialect if that differs from `dialect`.
pub(crate) fn label(node: &StoredNode, dialect: Option<Dialect>) -> String {
    let implicit = if node.implicit { "  (implicit)" } else { "" };
    format!("{}{implicit}{}", name(node), mark(node, dialect))
}

/// Returns the name of a node, followed by a slash if it is a group.
pub(crate) fn name(node: &StoredNode) -> String {
    let slash = if node.node.as_group().is_some() { "/" } else { "" };
    format!("{}{slash}", escape::line(node.path.name().unwrap_or("/")))
}

/// Returns the dialect of a node as a mark if it differs from `dialect`; else an empty string.
pub(crate) fn mark(node: &StoredNode, dialect: Option<Dialect>) -> String {
    match dialect.is_none_or(|dialect| dialect == node.dialect) {
        true => String::new(),
        false => format!("  [{}]", node.dialect),
    }
}

/// Returns `  image, 5 levels, 0.65 µm` for a group that is an OME-Zarr image; else an empty string.
fn image(node: &StoredNode) -> String {
    match describe::image(node) {
        None => String::new(),
        Some(Ok(image)) => format!("  {}", escape::line(&image.to_string())),
        Some(Err(error)) if error.kind() == ErrorKind::UnsupportedVersion => {
            "  image of a version of OME-Zarr that is not read".to_owned()
        }
        Some(Err(_)) => "  image with faulty metadata".to_owned(),
    }
}

/// Returns the numbers of arrays and groups: `  3 arrays, 1 group`.
fn counts(nodes: &[StoredNode]) -> String {
    let arrays = nodes.iter().filter(|node| node.node.as_array().is_some()).count();
    let count = |number: usize, noun: &str| number::counted(number as u64, noun);
    format!("  {}, {}", count(arrays, "array"), count(nodes.len() - arrays, "group"))
}

/// Columns of the line that describes an array.
pub(crate) struct ArrayRow {
    shape: String,
    data_type: String,
    rest: String,
}

impl ArrayRow {
    pub(crate) fn new(array: &ArrayMetadata) -> Self {
        let mut rest = Self::parts(array);
        if let Some(units) = array.attributes.get("units").and_then(Value::as_str) {
            rest.push_str(&format!("  \"{units}\""));
        }
        Self {
            shape: escape::line(&named_shape(array)).into_owned(),
            data_type: escape::line(&type_in_short(&array.data_type)).into_owned(),
            rest: escape::line(&rest).into_owned(),
        }
    }

    /// The chunks, the shards and the codecs of an array: `chunks 5x9  shards 10x18  zstd(0)`.
    pub(crate) fn parts(array: &ArrayMetadata) -> String {
        let shapes = ChunkShapes::new(array);
        let mut parts = format!("chunks {}", extents(&shapes.chunk));
        if let Some(shard) = &shapes.shard {
            parts.push_str(&format!("  shards {}", extents(shard)));
        }
        let codecs = codecs_in_short(&array.codecs);
        if !codecs.is_empty() {
            parts.push_str(&format!("  {codecs}"));
        }
        parts
    }

    /// Its parts behind each other, safe to print.
    pub(crate) fn in_full(&self, palette: Palette) -> String {
        format!("{}  {}  {}", self.shape, styled(&self.data_type, palette.data_type), self.rest)
    }
}

/// Returns the shape with the names of dimensions, `(time 365, lat 180)`, or without names `(365, 180)`.
fn named_shape(array: &ArrayMetadata) -> String {
    let Some(names) = &array.dimension_names else { return number::tuple(&array.shape) };
    let axis = |(&len, name): (&u64, &Option<String>)| match name {
        Some(name) => format!("{name} {}", number::grouped(len)),
        None => number::grouped(len),
    };
    let axes: Vec<String> = array.shape.iter().zip(names).map(axis).collect();
    format!("({})", axes.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn drawn(paths: impl IntoIterator<Item = String>) -> String {
        let group = |path: String| StoredNode::implicit(Dialect::V3, NodePath::parse(&path).unwrap());
        let mut nodes: Vec<StoredNode> = std::iter::once("/".to_owned()).chain(paths).map(group).collect();
        nodes.sort_by(|a, b| a.path.cmp(&b.path));
        nodes.iter_mut().for_each(|node| node.implicit = false);
        Drawing { nodes: &nodes, palette: Palette::default(), attrs: false }.draw("x")
    }

    #[test]
    fn each_node_stands_under_its_group() {
        let text = drawn(["/a", "/a!", "/a/b", "/a/b/c", "/a/d", "/e"].map(str::to_owned));
        let lines: Vec<_> = text.lines().skip(1).collect();
        assert_eq!(lines, ["|- a/", "|  |- b/", "|  |  `- c/", "|  `- d/", "|- a!/", "`- e/"]);
    }

    #[test]
    fn a_large_hierarchy_is_drawn_in_one_pass() {
        let begun = Instant::now();
        let wide = drawn(
            (0..100_000)
                .map(|number| format!("/g{:03}/n{number:06}", number % 300))
                .chain((0..300).map(|it| format!("/g{it:03}"))),
        );
        assert_eq!(wide.lines().count(), 100_301);
        // This is the greatest depth of a path.
        let deep = drawn((1..=128).map(|levels| "/a".repeat(levels)));
        assert_eq!(deep.lines().last().map(str::len), Some(3 * 128 + 2));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}
