//! `zarr info --chunks`: a map of which chunks of an array are stored.

use crate::args::axis_of;
use crate::context::Context;
use crate::escape;
use crate::failure::{Failure, Result};
use crate::number::grouped;
use crate::object::{object, or_null};
use crate::table::{has_blocks, shade};
use zarr::Array;
use zarr::hierarchy::Summary;
use zarr::meta::json::{Map, Value};
use zarr::stats::ChunkMap;

/// Greatest number of cells of the map, down and across.
const CELLS: [usize; 2] = [32, 72];

/// Prints the map below the summary of the array; with --json, adds the map to `facts`.
pub(super) fn print(
    context: &Context,
    array: &Array,
    facts: Map,
    summary: Summary<'_>,
    axes: Option<&str>,
) -> Result<()> {
    let map = ChunkMap::of(array, CELLS, axes.map(|text| pair(text, array)).transpose()?)?;
    let warnings: Vec<String> = array.warnings().iter().map(ToString::to_string).collect();
    context.page(
        || object! { ..facts, "warnings": warnings, "chunk_map": json(&map) },
        || format!("{summary}\n\n{}", text(&map, array)),
    )
}

/// Parses two axes, each by its name or number, separated by a comma.
fn pair(text: &str, array: &Array) -> Result<[usize; 2]> {
    let axis = |text: &str| axis_of("--axes", text, array.dimension_names().unwrap_or_default(), array.shape().len());
    match text.split_once(',') {
        Some((down, across)) => Ok([axis(down)?, axis(across)?]),
        None => Err(Failure::usage(format!("--axes {text}: expected two names or numbers of axes, as 0,2"))),
    }
}

fn json(map: &ChunkMap) -> Map {
    let rows = map.stored.chunks(map.cells[1].max(1)).map(|row| Value::from(row.to_vec()));
    let all = map.possible.chunks(map.cells[1].max(1)).map(|row| Value::from(row.to_vec()));
    object! {
        "axes": map.axes.iter().map(|axis| or_null(*axis)).collect::<Vec<_>>(),
        "grid": map.grid.clone(),
        "stored": rows.collect::<Vec<_>>(),
        "possible": all.collect::<Vec<_>>(),
        "min_bytes": or_null(map.min),
        "median_bytes": or_null(map.median),
        "max_bytes": or_null(map.max),
    }
}

/// Returns the map as text, with an explanation of what it shows.
fn text(map: &ChunkMap, array: &Array) -> String {
    let noun = if array.is_sharded() { "shards" } else { "chunks" };
    let names = array.dimension_names().unwrap_or_default();
    let axis = |axis: usize| match names.get(axis).cloned().flatten() {
        Some(name) => format!("{name} ({axis})"),
        None => format!("axis {axis}"),
    };
    let of_axis = |at: usize| map.grid.get(at).copied().unwrap_or(1);
    let along = |number: usize, direction: &str| {
        let at = map.axes[number]?;
        Some(format!("{direction} {}: {} {noun}", axis(at), grouped(of_axis(at))))
    };
    let mut shown: Vec<String> = along(0, "down").into_iter().chain(along(1, "across")).collect();
    let depth: u128 = (0..map.grid.len())
        .filter(|axis| !map.axes.contains(&Some(*axis)))
        .fold(1, |depth: u128, axis| depth.saturating_mul(of_axis(axis).into()));
    if depth > 1 {
        shown.push(format!("{} deep along the other axes", grouped(depth)));
    }
    let has_blocks = has_blocks();
    let [none, few, half, many, all] = [0.0, 0.2, 0.5, 0.8, 1.0].map(|share| shade(share, has_blocks));
    let mut text = format!("Stored {noun}: {}\n", escape::line(&shown.join(", ")));
    for row in map.shares() {
        text.push_str("  ");
        text.extend(row.iter().map(|&share| shade(share, has_blocks)));
        text.push('\n');
    }
    text.push_str(&format!("  {none} none  {few} to a third  {half} to two thirds  {many} more  {all} all\n"));
    text
}
