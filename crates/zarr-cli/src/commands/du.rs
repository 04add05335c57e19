//! `zarr du`: counts the bytes that the nodes of a hierarchy take in a store.

use super::bar::Bar;
use crate::args::NodeArgs;
use crate::context::{Context, NodeLocation};
use crate::escape;
use crate::failure::Result;
use crate::number::{counted, grouped, size};
use crate::object::{object, or_null};
use crate::report;
use crate::table::{Side, lines};
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use zarr::Array;
use zarr::hierarchy::StoredNode;
use zarr::meta::json::{Map, Value};
use zarr::meta::text::{codecs_in_short, percent, ratio, type_in_short};
use zarr::stats::{InnerChunks, NodeUsage, Usage};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// Each node, with all that lies below it.
    Node,
    /// All arrays with the same codecs.
    Codec,
    /// All arrays with the same data type.
    Dtype,
}

/// Show how much of the store nodes take: stored and logical bytes, their ratio, stored chunks.
///
/// A node counts with all that lies below it. One listing of keys tells all of it. Logical bytes are those of the elements of arrays, whether
/// they are stored or not. Rows are sorted by stored bytes.
#[derive(Debug, Args)]
pub(crate) struct Du {
    #[command(flatten)]
    node: NodeArgs,
    /// Show a row for each of these.
    #[arg(long, value_name = "WHAT", default_value = "node")]
    by: By,
    /// Show nodes down to this many levels alone; those above count what lies below.
    #[arg(short = 'L', long, value_name = "LEVELS")]
    depth: Option<usize>,
    /// Count the inner chunks of shards, which costs a request for the index of each shard.
    #[arg(long)]
    inner: bool,
}

/// Row of the table, for a node or for all arrays of a kind.
#[derive(Clone, Debug, Default)]
struct UsageRow {
    name: String,
    arrays: u64,
    stored: u64,
    /// Bytes of the decoded elements; `None` if that is unknown for one of the arrays.
    logical: Option<u128>,
    chunks: u64,
    possible: u128,
    metadata: u64,
    other: u64,
    inner: Option<InnerChunks>,
}

impl UsageRow {
    fn new(name: String) -> Self {
        Self { name, logical: Some(0), ..Self::default() }
    }

    fn add(&mut self, usage: &NodeUsage, inner: Option<&InnerChunks>) {
        self.stored = self.stored.saturating_add(usage.stored());
        self.metadata = self.metadata.saturating_add(usage.metadata);
        self.other = self.other.saturating_add(usage.other);
        if let Some(array) = &usage.array {
            self.arrays += 1;
            self.logical = self.logical.zip(array.logical).map(|(all, one)| all.saturating_add(one));
            self.chunks = self.chunks.saturating_add(array.chunks);
            self.possible = self.possible.saturating_add(array.possible);
        }
        if let Some(inner) = inner {
            let all = self.inner.get_or_insert_default();
            all.stored = all.stored.saturating_add(inner.stored);
            all.bytes = all.bytes.saturating_add(inner.bytes);
            all.possible = all.possible.saturating_add(inner.possible);
        }
    }

    fn json(&self, by: By) -> Map {
        let name = match by {
            By::Node => "path",
            By::Codec => "codecs",
            By::Dtype => "data_type",
        };
        let mut facts = Map::new();
        facts.insert(name, self.name.as_str());
        let by_stored = |logical: u128| (self.stored > 0).then(|| logical as f64 / self.stored as f64);
        object! {
            ..facts,
            "arrays": self.arrays,
            "stored_bytes": self.stored,
            "logical_bytes": or_null(self.logical),
            "ratio": or_null(self.logical.and_then(by_stored)),
            "chunks_stored": self.chunks,
            "chunks": self.possible,
            "metadata_bytes": self.metadata,
            "other_bytes": self.other,
            "inner_chunks": or_null(self.inner.map(|inner| object! {
                "stored": inner.stored,
                "bytes": inner.bytes,
                "possible": inner.possible,
            })),
        }
    }

    fn cells(&self, has_inner: bool) -> Vec<String> {
        let logical = self.logical.filter(|_| self.arrays > 0);
        let of = |stored: u64, all: u128| format!("{} of {} ({})", grouped(stored), grouped(all), percent(stored, all));
        let mut cells = vec![
            size(self.stored),
            logical.map_or_else(|| "-".to_owned(), size),
            logical.map_or_else(|| "-".to_owned(), |logical| ratio(logical, self.stored)),
            if self.arrays > 0 { of(self.chunks, self.possible) } else { "-".to_owned() },
        ];
        if has_inner {
            cells.push(self.inner.map_or_else(|| "-".to_owned(), |inner| of(inner.stored, inner.possible)));
        }
        cells.push(escape::line(&self.name).into_owned());
        cells
    }
}

pub(crate) fn run(context: &Context, args: &Du) -> Result<()> {
    let location = context.locate(&args.node)?;
    let walk = context.walk(&location)?;
    context.hidden(&walk);
    let bar = Bar::waiting("listing keys", context.global.quiet);
    let done = count(context, args, &location, &walk.nodes);
    bar.finish();
    let HierarchyUsage { usage, inner, faults } = done?;
    let mut rows = match args.by {
        By::Node => by_node(&walk.nodes, &usage.nodes, &inner, args.depth),
        By::Codec | By::Dtype => by_kind(&walk.nodes, &usage.nodes, &inner, args.by),
    };
    rows.sort_by(|a, b| b.stored.cmp(&a.stored).then_with(|| a.name.cmp(&b.name)));
    let total = usage.nodes.iter().fold(usage.outside, |all, node| all.saturating_add(node.stored()));
    let json = || {
        object! {
            "path": location.path.to_string(),
            "by": match args.by {
                By::Node => "node",
                By::Codec => "codec",
                By::Dtype => "dtype",
            },
            "stored_bytes": total,
            "outside_bytes": usage.outside,
            "rows": rows.iter().map(|row| Value::from(row.json(args.by))).collect::<Vec<_>>(),
        }
    };
    context.page(json, || text(&rows, &usage, total, args))?;
    report::all(walk.broken.into_iter().chain(walk.bad_consolidated).chain(faults), context.global.json)
}

/// Counts the bytes of `nodes` and, if the arguments ask for it, the inner chunks of each array. The result has the reasons why some inner
/// chunks cannot be counted.
fn count(context: &Context, args: &Du, location: &NodeLocation, nodes: &[StoredNode]) -> zarr::Result<HierarchyUsage> {
    let usage = Usage::of(&*location.store, nodes, &context.registry)?;
    let mut counted = HierarchyUsage { usage, inner: vec![None; nodes.len()], faults: Vec::new() };
    let arrays =
        nodes.iter().zip(&mut counted.inner).filter(|(found, _)| args.inner && found.node.as_array().is_some());
    for (found, inner) in arrays {
        let array = Array::from_found(&location.store, found.clone(), &context.registry, context.options());
        match array.and_then(|array| InnerChunks::of(&array)) {
            Ok(found) => *inner = found,
            Err(fault) => counted.faults.push(fault),
        }
    }
    Ok(counted)
}

struct HierarchyUsage {
    usage: Usage,
    inner: Vec<Option<InnerChunks>>,
    faults: Vec<zarr::Error>,
}

/// Returns a row for each node down to `depth`, which includes all nodes below it.
fn by_node(
    nodes: &[StoredNode],
    usage: &[NodeUsage],
    inner: &[Option<InnerChunks>],
    depth: Option<usize>,
) -> Vec<UsageRow> {
    let top = nodes.first().map_or(0, |top| top.path.names().count());
    let mut rows: BTreeMap<String, UsageRow> = BTreeMap::new();
    for ((node, usage), inner) in nodes.iter().zip(usage).zip(inner) {
        let levels = node.path.names().count();
        // A node counts in its own row, and in the rows of all printed nodes above.
        for path in std::iter::once(node.path.clone()).chain(node.path.ancestors()) {
            let level = path.names().count();
            if level < top || level > levels || depth.is_some_and(|depth| level - top > depth) {
                continue;
            }
            let name = path.to_string();
            rows.entry(name.clone()).or_insert_with(|| UsageRow::new(name)).add(usage, inner.as_ref());
        }
    }
    rows.into_values().collect()
}

/// Returns a row for all arrays with the same codecs, or with the same data type.
fn by_kind(nodes: &[StoredNode], usage: &[NodeUsage], inner: &[Option<InnerChunks>], by: By) -> Vec<UsageRow> {
    let mut rows: BTreeMap<String, UsageRow> = BTreeMap::new();
    for ((node, usage), inner) in nodes.iter().zip(usage).zip(inner) {
        let Some(array) = node.node.as_array() else { continue };
        let name = match by {
            By::Codec => codecs_in_short(&array.codecs),
            _ => type_in_short(&array.data_type),
        };
        let name = if name.is_empty() { "none".to_owned() } else { name };
        rows.entry(name.clone()).or_insert_with(|| UsageRow::new(name)).add(usage, inner.as_ref());
    }
    rows.into_values().collect()
}

fn text(rows: &[UsageRow], usage: &Usage, total: u64, args: &Du) -> String {
    let heading = ["STORED", "LOGICAL", "RATIO", "CHUNKS"].into_iter();
    let heading = heading.chain(args.inner.then_some("INNER CHUNKS")).chain([match args.by {
        By::Node => "PATH",
        By::Codec => "CODECS",
        By::Dtype => "DATA TYPE",
    }]);
    let heading: Vec<String> = heading.map(str::to_owned).collect();
    let mut sides = vec![Side::Right; heading.len() - 1];
    sides.push(Side::Left);
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(rows.iter().map(|row| row.cells(args.inner))).collect();
    let mut text = lines(&sides, &rows);
    let sum = |part: fn(&NodeUsage) -> u64| usage.nodes.iter().fold(0_u64, |all, node| all.saturating_add(part(node)));
    let mut parts =
        vec![format!("{} stored", size(total)), format!("{} of it metadata", size(sum(|node| node.metadata)))];
    let (other, keys) = (sum(|node| node.other), sum(|node| node.other_keys));
    if keys > 0 {
        parts.push(format!("{} in {} beside metadata and chunks", size(other), counted(keys, "key")));
    }
    if usage.outside_keys > 0 {
        parts.push(format!("{} in {} of no node", size(usage.outside), counted(usage.outside_keys, "key")));
    }
    text.push_str(&format!("{}\n", parts.join(", ")));
    text
}
