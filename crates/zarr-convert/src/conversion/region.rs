//! Regions of arrays as new arrays: their metadata, and the position of their chunks in the source.

use super::{ConvertOptions, Shards, rechunk};
use std::collections::BTreeMap;
use zarr_array::Registry;
use zarr_grid::{AxisChunks, AxisRange, ChunkGrid, ChunkIndex, Region, Run};
use zarr_hierarchy::{Error, Result};
use zarr_json::Value;
use zarr_meta::{ArrayMetadata, Dialect, Node, NodePath, StoredNode, conventions};

/// Greatest number of regions that a journal lists as strings. More regions are stored as a hash.
const LISTED: usize = 16;

/// Returns the region of the array that is converted; `None` for the whole array.
pub(super) fn of(found: &StoredNode, options: &ConvertOptions) -> Result<Option<Region>> {
    let Some(region) = options.regions.get(&found.path) else { return Ok(None) };
    let Node::Array(array) = &found.node else {
        return Err(Error::argument("found a region of a group, expected one of an array"));
    };
    region.check(&array.shape)?;
    Ok(Some(region).filter(|region| !region.is_whole(&array.shape)).cloned())
}

/// Changes the metadata of `array` to that of its region. Chunks keep their lengths unless the new array is shorter; shards then hold as
/// many whole chunks as the new array needs.
pub(super) fn take(array: &mut ArrayMetadata, region: &Region, dialect: Dialect, registry: &Registry) -> Result<()> {
    let before = ChunkGrid::from_config(&array.chunk_grid, &array.shape)?;
    array.shape = region.shape().to_vec();
    match &before {
        ChunkGrid::Regular(_) | ChunkGrid::Bounded(_) => shorten(array, region, &before, dialect, registry),
        ChunkGrid::Rectilinear(grid) => {
            let axes = grid.axes().iter().zip(region.axes()).map(|(axis, range)| cut(axis, *range));
            let grid = ChunkGrid::rectilinear(&array.shape, axes.collect::<Result<Vec<_>>>()?)?;
            let uncut = std::mem::replace(&mut array.chunk_grid, grid.to_config());
            // Shards of such lengths need not be whole chunks.
            if rechunk::is_sharded(array) && grid.to_config() != uncut {
                let options = ConvertOptions { shards: Some(Shards::None), ..ConvertOptions::default() };
                let flat = rechunk::Flat::of(array).chunk.map(|chunk| clipped(&chunk, &array.shape));
                let options = ConvertOptions { chunks: flat, ..options };
                rechunk::rechunk(array, dialect, &options, registry)?;
            }
            Ok(())
        }
    }
}

/// Returns the chunks of the new axis that is made of `range` of an axis. If the range has steps, all chunks have one length.
fn cut(axis: &AxisChunks, range: AxisRange) -> Result<AxisChunks> {
    if range.is_empty() || range.step > 1 || axis.repeated_len().is_some() {
        let longest = axis.longest().div_ceil(range.step).min(range.len).max(1);
        return AxisChunks::repeated(longest).ok_or_else(|| Error::internal("a chunk of no elements"));
    }
    let (mut runs, mut start) = (Vec::new(), 0_u64);
    let (from, to) = (range.start, range.start.saturating_add(range.len));
    let mut add = |len: u64, count: u64| {
        if len > 0 && count > 0 {
            runs.push(Run { len, count });
        }
    };
    for Run { len, count } in axis.runs() {
        let end = start.saturating_add(len.saturating_mul(count));
        let (low, high) = (from.max(start), to.min(end));
        if low < high {
            // A part of a chunk at each end, and whole chunks between them.
            let first_whole = start + (low - start).next_multiple_of(len);
            let last_whole = start + (high - start) / len * len;
            if first_whole > last_whole {
                add(high - low, 1);
            } else {
                add(first_whole - low, 1);
                add(len, (last_whole - first_whole) / len);
                add(high - last_whole, 1);
            }
        }
        start = end;
    }
    Ok(AxisChunks::listed(runs)?)
}

fn clipped(chunk: &[u64], shape: &[u64]) -> Vec<u64> {
    chunk.iter().zip(shape).map(|(&chunk, &len)| chunk.min(len.max(1))).collect()
}

/// Shortens the chunks of an array, whose shape is already that of the region, to at most its shape.
fn shorten(
    array: &mut ArrayMetadata,
    region: &Region,
    before: &ChunkGrid,
    dialect: Dialect,
    registry: &Registry,
) -> Result<()> {
    let flat = rechunk::Flat::of(array);
    let Some((chunk, outer)) = flat.chunk.zip(before.regular_chunk_shape()) else { return Ok(()) };
    let axes = || region.axes().iter().zip(before.shape()).zip(outer);
    // Chunks that are copied as they are stay as they are.
    let is_kept =
        |((range, &len), &outer): ((&AxisRange, &u64), &u64)| is_aligned(range, len, outer) || range.len >= outer;
    let short = clipped(&chunk, &array.shape);
    let pick = |(((kept, &old), &new), _): (((bool, &u64), &u64), usize)| if kept { old } else { new };
    let chunk: Vec<u64> = axes().map(is_kept).zip(&chunk).zip(&short).zip(0..).map(pick).collect();
    if axes().all(is_kept) {
        return Ok(());
    }
    let shard = flat.shard.map(|shard| {
        let whole = |((&shard, &chunk), &len): ((&u64, &u64), &u64)| {
            let chunk = chunk.max(1);
            (shard / chunk * chunk).max(chunk).min(len.max(1).next_multiple_of(chunk))
        };
        shard.iter().zip(&chunk).zip(&array.shape).map(whole).collect::<Vec<u64>>()
    });
    let options = ConvertOptions { chunks: Some(chunk), shards: shard.map(Shards::Of), ..ConvertOptions::default() };
    let mut shortened = array.clone();
    // Codecs may be for chunks of one shape alone.
    if rechunk::rechunk(&mut shortened, dialect, &options, registry).is_ok() {
        *array = shortened;
    }
    Ok(())
}

/// Returns whether a range of an axis consists of whole chunks, where the last chunk of the axis counts as whole.
fn is_aligned(range: &AxisRange, len: u64, chunk: u64) -> bool {
    let (chunk, end) = (chunk.max(1), range.start.saturating_add(range.len));
    let is_contiguous = range.step == 1 && !range.is_empty();
    is_contiguous && range.start.is_multiple_of(chunk) && (end == len || end.is_multiple_of(chunk))
}

/// Returns the metadata of an array that consists of the chunks of the region; `None` if the region cuts chunks.
pub(super) fn aligned(array: &ArrayMetadata, region: Option<&Region>) -> Option<ArrayMetadata> {
    let Some(region) = region else { return Some(array.clone()) };
    first_chunk(array, region)?;
    let mut array = array.clone();
    array.shape = region.shape().to_vec();
    Some(array)
}

/// Returns the index of the first chunk of the region; `None` if the region cuts chunks.
pub(super) fn first_chunk(array: &ArrayMetadata, region: &Region) -> Option<ChunkIndex> {
    let grid = ChunkGrid::from_config(&array.chunk_grid, &array.shape).ok()?;
    let chunk = grid.regular_chunk_shape()?;
    let axes = || region.axes().iter().zip(grid.shape()).zip(chunk);
    axes()
        .all(|((range, &len), &chunk)| is_aligned(range, len, chunk))
        .then(|| axes().map(|((range, _), &chunk)| range.start / chunk.max(1)).collect())
}

/// Checks that each region names an array that is found, and no level of an image.
pub(super) fn check(
    found: &[StoredNode],
    options: &ConvertOptions,
    is_level: impl Fn(&NodePath) -> bool,
) -> Result<()> {
    let is_left = |path: &NodePath| options.exclude.iter().any(|above| path.is_within(above));
    for path in options.regions.keys().filter(|path| !is_left(path)) {
        let Some(node) = found.iter().find(|node| node.path == *path) else {
            // Arrays that were not chosen, or cannot be read, may have regions.
            if options.arrays.is_none() && !options.keep_going {
                let error = Error::new(zarr_hierarchy::ErrorKind::NotFound, "found no array to take a region of");
                return Err(error.at_path(path));
            }
            continue;
        };
        if is_level(path) && of(node, options).map_err(|error| error.at_path(path))?.is_some() {
            let message = "the array is a level of an OME-Zarr image: levels are not cut alike";
            let error = Error::argument(message).at_path(path);
            return Err(error.with_hint("copy one level to a path of its own, and cut that"));
        }
    }
    Ok(())
}

/// Changes the lengths of dimensions that NCZarr lists in group metadata. Nested groups may have dimensions of the same name: an array uses
/// the one that it refers to, or else that of the nearest group.
pub(super) fn resize_dimensions(found: &mut [StoredNode], options: &ConvertOptions) {
    let mut resized: Vec<(NodePath, String, u64, u64)> = Vec::new();
    for node in found.iter() {
        let (Some(region), Node::Array(array)) = (options.regions.get(&node.path), &node.node) else { continue };
        let lists = |path: &NodePath, name: &str, len: u64| {
            let group = found.iter().find(|node| node.path == *path).and_then(|node| node.node.as_group());
            group.is_some_and(|group| conventions::lists_dimension(group, name, len))
        };
        let referred = conventions::dimension_references(&array.attributes, &array.extra, array.shape.len());
        let referred = referred.unwrap_or_default();
        let names = array.dimension_names.iter().flatten().map(Option::as_deref);
        for (axis, ((name, &before), range)) in names.zip(&array.shape).zip(region.axes()).enumerate() {
            let Some(name) = name else { continue };
            let referred = referred.get(axis).and_then(|path| NodePath::parse(path).ok()?.parent());
            let mut groups = referred.into_iter().chain(node.path.ancestors().collect::<Vec<_>>());
            if let Some(group) = groups.find(|group| lists(group, name, before)) {
                resized.push((group, name.to_owned(), before, range.len));
            }
        }
    }
    for node in found.iter_mut() {
        let Node::Group(group) = &mut node.node else { continue };
        for (_, name, before, now) in resized.iter().filter(|(path, ..)| *path == node.path) {
            conventions::resize_dimension(group, name, *before, *now);
        }
    }
}

/// Returns the regions as a journal stores them.
pub(super) fn to_value(regions: &BTreeMap<NodePath, Region>) -> Value {
    let texts = || regions.iter().map(|(path, region)| (path.to_string(), region.to_string()));
    if regions.len() <= LISTED {
        return Value::Object(texts().map(|(path, region)| (path, Value::from(region))).collect());
    }
    let add = |hash: super::fingerprint::Fingerprint, (path, region): (String, String)| {
        hash.with_part(path.as_bytes()).with_part(region.as_bytes())
    };
    Value::from(texts().fold(super::fingerprint::Fingerprint::new(), add).hex())
}
