//! Dry run of a conversion: prints the plan instead of running it.

use super::conversion_lines::{facts, ome_line, other_files, tell_other_ranks, tell_unread};
use super::region;
use super::tree::ArrayRow;
use crate::columns::{padded, widest};
use crate::context::Context;
use crate::failure::{Exit, Failure, Result};
use crate::object::{object, or_null};
use crate::{escape, number, report};
use zarr::Error;
use zarr::convert::{Action, Conversion, PlannedNode, StoredSize};
use zarr::meta::json::Map;
use zarr::meta::text::ChunkShapes;

/// Prints the form of each node after the conversion and its cost, and the reasons why nodes cannot be converted. `refused` has the errors
/// of these nodes; unless it is empty, the function fails.
pub(crate) fn print(context: &Context, conversion: &Conversion, refused: Vec<Error>) -> Result<()> {
    context.some_warnings(conversion.left_out());
    tell_other_ranks(context, conversion);
    tell_unread(context, conversion);
    let stored: Vec<StoredSize> =
        conversion.nodes().iter().map(|node| conversion.stored(node)).collect::<zarr::Result<_>>()?;
    let refused: Vec<Failure> = refused.into_iter().map(Failure::from).collect();
    context.print(|| json(conversion, &stored, &refused), || text(conversion, &stored, &refused))?;
    let count = refused.len();
    let mut refused = refused.into_iter();
    let Some(mut last) = refused.next_back() else { return Ok(()) };
    refused.for_each(|failure| report::print(&failure, context.global.json));
    last.exit = Exit::Usage;
    if count > 1 {
        last.hint = Some(format!("nothing can be converted because of these {count} nodes"));
    }
    Err(last)
}

fn how(how: Action) -> &'static str {
    match how {
        Action::Group => "group",
        Action::Keep => "chunks stay",
        Action::CopyChunks => "chunks copied",
        Action::Reencode => "decoded and encoded",
    }
}

fn text(conversion: &Conversion, stored: &[StoredSize], refused: &[Failure]) -> String {
    let mut text = String::new();
    let paths = conversion.nodes().iter().map(|node| escape::line(&node.source.path.to_string()).into_owned());
    let paths: Vec<String> = paths.collect();
    let width = widest(&paths);
    for ((node, stored), path) in conversion.nodes().iter().zip(stored).zip(&paths) {
        let mut line = format!("{}  {}", padded(path, width), how(node.how));
        if node.path != node.source.path {
            line.push_str(&format!(" to {}", escape::line(&node.path.to_string())));
        }
        if matches!(node.how, Action::CopyChunks | Action::Reencode) {
            let (chunks, bytes) = (number::counted(stored.chunks, "chunk"), number::size(stored.bytes));
            line.push_str(&format!(", {chunks} ({bytes}), {} of elements", number::size(node.size)));
            if let Some(region) = region::planned(node) {
                line.push_str(&format!(", {region}"));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
        if let Some(array) = node.target.as_array() {
            text.push_str(&format!("{:width$}    {}\n", "", escape::line(&ArrayRow::parts(array))));
        }
        let unread = node.unread.iter().map(|unread| unread.what.clone());
        for note in node.notes.iter().map(ToString::to_string).chain(node.warning.clone()).chain(unread) {
            text.push_str(&format!("{:width$}    {}\n", "", escape::line(&note)));
        }
    }
    text.push_str(&ome_line(conversion.nodes(), conversion.options().ome_version.is_some()));
    let total = total(stored);
    let count = |wanted: fn(Action) -> bool| conversion.nodes().iter().filter(|node| wanted(node.how)).count() as u64;
    let dialect = conversion.nodes().first().map_or("", |node| node.dialect.name());
    text.push_str(&format!(
        "{} and {}{} to {dialect}; {} ({}) to be read; {} cannot be converted; nothing was written\n",
        number::counted(count(|how| how == Action::Group), "group"),
        number::counted(count(|how| how != Action::Group), "array"),
        other_files(conversion),
        number::counted(total.chunks, "chunk"),
        number::size(total.bytes),
        number::grouped(refused.len() as u64),
    ));
    text
}

fn total(stored: &[StoredSize]) -> StoredSize {
    stored.iter().fold(StoredSize::default(), |mut sum, one| {
        sum.chunks += one.chunks;
        sum.bytes = sum.bytes.saturating_add(one.bytes);
        sum
    })
}

fn json(conversion: &Conversion, stored: &[StoredSize], refused: &[Failure]) -> Map {
    let node = |(node, stored): (&PlannedNode, &StoredSize)| {
        let facts = facts(node);
        let facts = object! { ..facts, "stored_chunks": stored.chunks, "stored_bytes": stored.bytes };
        let Some(array) = node.target.as_array() else { return facts };
        let shapes = ChunkShapes::new(array);
        object! {
            ..facts,
            "chunk_shape": shapes.chunk,
            "shard_shape": or_null(shapes.shard),
            "codecs": array.codecs.iter().map(|codec| codec.name.clone()).collect::<Vec<_>>(),
        }
    };
    let total = total(stored);
    object! {
        "nodes": conversion.nodes().iter().zip(stored).map(node).collect::<Vec<_>>(),
        "other_files": conversion.other_keys().iter().map(|other| other.from.to_string()).collect::<Vec<_>>(),
        "refused": refused.iter().map(|failure| failure.to_json()).collect::<Vec<_>>(),
        "bytes": conversion.size(),
        "stored_chunks": total.chunks,
        "stored_bytes": total.bytes,
    }
}
