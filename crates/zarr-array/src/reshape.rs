//! Changes of the shape of an array. No state that others see has elements that are not there yet, or that were cut off before.
//!
//! For a smaller shape, the shape is published first, and then chunks that lie outside of it are erased. For a larger shape, elements
//! stored beyond the old shape (left from an earlier shape, or from an append that ended early) are erased or filled first, and then the
//! shape is published. Appended elements are written beyond the published shape, and the larger shape is published last.
//!
//! A change of a shape holds a lock of the store from reading the shape to setting it, and reads the newest documents under the lock. An
//! append depends on the shape that it read. If the lock does not exclude other processes and the store has conditional sets, an append
//! makes a claim instead (`reshape/claimed.rs`).

mod claimed;

use crate::core::ArrayCore;
use crate::drive::{Drive, find_chunk_location};
use crate::jobs::{self, TakeLock};
use crate::verbs::Held;
use crate::write::WriteJob;
use crate::{Error, ErrorKind, Result, chunk_keys, selected_memory};
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::{View, ViewMut};
use zarr_grid::{ChunkGrid, ChunkIndex, Region, Resolved, Shape};
use zarr_hierarchy::jobs::Operation;
use zarr_hierarchy::node::{Ancestors, Edit, Newest, ReadNewest, ReplaceNode, check_same_chunks, order};
use zarr_meta::{ArrayMetadata, Node};
use zarr_store::{Durability, Key, Lock};

/// Maximum number of chunks that are erased or filled one by one; with more chunks, the stored chunks are listed first.
const FEW: u64 = 64;
/// Durability of writes of a shape change, so that a chunk loses no elements it had, not even by a loss of power.
const BESIDE_ELEMENTS: Durability = Durability::File;
/// Number of keys that are erased at a time in a store that cannot list.
const BATCH: usize = 1024;

/// Changes the shape of an array to `shape`.
pub(crate) async fn resize<D: Drive>(drive: &D, core: &ArrayCore, shape: &[u64]) -> Result<Arc<ArrayCore>> {
    resized(core, shape)?;
    core.check_writers(drive.capabilities(), "another shape")?;
    check_stored(drive, core).await?;
    let held = Held::new(drive, core).await?;
    let _lock = lock(drive, core).await?;
    // The lock is of the directory that is held.
    held.end(core, Ok(())).await?;
    let done = resize_held(&held, core, shape).await;
    held.end(core, done).await
}

async fn resize_held<D: Drive>(drive: &D, core: &ArrayCore, shape: &[u64]) -> Result<Arc<ArrayCore>> {
    let (newest, documents) = newest(drive, core).await?;
    let old = newest.metadata().shape.clone();
    if old != core.metadata().shape && old != shape {
        let message = format!("set to {old:?} by another writer meanwhile, to be set to {shape:?}");
        let error = Error::new(ErrorKind::Conflict, message).with_hint("open the array again and repeat the change");
        return Err(core.locate(error.at(|location| location.pointer = Some("/shape".to_owned()))));
    }
    find_chunk_location(drive, &newest).await?;
    let (metadata, grid) = resized(&newest, shape)?;
    let is_only_larger = shape != old && shape.iter().zip(&old).all(|(new, old)| new >= old);
    check_documents(drive, &newest, metadata.clone()).await?;
    if shape.iter().zip(&old).any(|(new, old)| new > old) {
        clear_beyond(drive, &newest, &with_metadata(&newest, metadata.clone())?).await?;
        barrier(drive, &newest).await?;
    }
    let resized = if shape == old { newest } else { publish(drive, &newest, documents, metadata).await? };
    // Also if the shape is that already, which a resize that was interrupted may have published.
    if drive.capabilities().list && !is_only_larger {
        let _invalidation = resized.invalidation(None);
        let outside = stored(drive, &resized).await?.into_iter().filter(|(chunk, _)| grid.check_index(chunk).is_err());
        let outside: Vec<Key> = outside.map(|(_, key)| key).collect();
        if !outside.is_empty() {
            barrier(drive, &resized).await?;
        }
        drive.run(&resized, jobs::erase(outside)).await?;
    }
    Ok(Arc::new(resized))
}

/// Orders earlier writes before later ones, so that the order of chunks and shape survives a loss of power.
async fn barrier<D: Drive>(drive: &D, core: &ArrayCore) -> Result<()> {
    if drive.capabilities().durable { drive.run(core, jobs::barrier()).await } else { Ok(()) }
}

/// Writes `data` behind the end of an array along `axis`, and then publishes the larger shape.
pub(crate) async fn append<D: Drive>(
    drive: &D,
    core: &ArrayCore,
    axis: usize,
    data: View<'_>,
) -> Result<Arc<ArrayCore>> {
    core.check_writers(drive.capabilities(), "an append")?;
    check_stored(drive, core).await?;
    if !core.found.documents.are_consolidated() || !drive.capabilities().conditional {
        check_documents(drive, core, resized(core, &core.metadata().shape)?.0).await?;
    }
    let held = Held::new(drive, core).await?;
    let lock = lock(drive, core).await?;
    held.end(core, Ok(())).await?;
    if drive.capabilities().conditional && !lock.excludes_processes() {
        let done = claimed::append(&held, core, axis, data).await;
        return held.end(core, done).await;
    }
    let done = append_held(&held, core, axis, data).await;
    held.end(core, done).await
}

async fn append_held<D: Drive>(drive: &D, core: &ArrayCore, axis: usize, data: View<'_>) -> Result<Arc<ArrayCore>> {
    let (newest, documents) = newest(drive, core).await?;
    let appended = Appended::new(drive, &newest, axis, data).await?;
    if let Some(region) = &appended.region {
        let data = appended.data.clone();
        let store = (drive.capabilities(), &drive.access_profile());
        let job = WriteJob::new(&appended.grown, region, data, BESIDE_ELEMENTS, store);
        drive.run(&appended.grown, job).await?;
    }
    barrier(drive, &newest).await?;
    publish(drive, &newest, documents, appended.metadata).await.map(Arc::new)
}

/// Elements to append to an array, and the array after that.
struct Appended<'d> {
    /// Metadata of the array with the new shape.
    metadata: ArrayMetadata,
    /// Array with the new shape.
    grown: ArrayCore,
    /// Region of `grown` to which the elements are written; `None` if there are no elements.
    region: Option<Region>,
    data: View<'d>,
}

impl<'d> Appended<'d> {
    async fn new<D: Drive>(drive: &D, newest: &ArrayCore, axis: usize, data: View<'d>) -> Result<Self> {
        find_chunk_location(drive, newest).await?;
        let (shape, region) = appended(newest, axis, data.shape())?;
        let (metadata, _) = resized(newest, &shape)?;
        let grown = with_metadata(newest, metadata.clone())?;
        let resolved = selected_memory::resolve(&grown, region).map_err(|error| grown.locate(error))?;
        let data = selected_memory::view_with_all_axes(data, grown.element(), &resolved)
            .map_err(|error| grown.locate(error))?;
        let region = match resolved {
            Resolved::Box(selected) => Some(selected.region),
            _ => None,
        };
        Ok(Self { metadata, grown, region, data })
    }
}

/// Checks, before anything is written, that a change to `metadata` would not drop consolidated metadata that is the only document of some
/// nodes.
async fn check_documents<D: Drive>(drive: &D, core: &ArrayCore, metadata: ArrayMetadata) -> Result<()> {
    if Edit::reshape(&core.found, Node::Array(metadata)).keeps_consolidated(&core.found, drive.capabilities()) {
        return Ok(());
    }
    drive.run(core, Ancestors::new(&core.found, drive.capabilities()).only_checking().job()).await.map(drop)
}

/// Checks that an array that was found in consolidated metadata has its own document, which can be changed.
async fn check_stored<D: Drive>(drive: &D, core: &ArrayCore) -> Result<()> {
    if !core.found.documents.are_consolidated() {
        return Ok(());
    }
    match drive.run(core, ReadNewest::new(&core.found).job()).await {
        Err(error) if error.is_not_found() => {
            drive.run(core, Ancestors::new(&core.found, drive.capabilities()).only_checking().job()).await?;
            Err(error)
        }
        newest => newest.map(drop),
    }
}

/// Takes the lock of the array, which excludes others who change the shape.
async fn lock<D: Drive>(drive: &D, core: &ArrayCore) -> Result<Lock> {
    drive.run_alone(TakeLock::new(order::lock_prefix(&core.found)?).job()).await.map_err(|error| core.locate(error))
}

/// Reads the array as it is stored now, and its documents.
async fn newest<D: Drive>(drive: &D, core: &ArrayCore) -> Result<(ArrayCore, Newest)> {
    let newest = drive.run(core, ReadNewest::new(&core.found).job()).await?;
    check_same_chunks(&core.found, &newest.found).map_err(|error| core.locate(error))?;
    Ok((core.with_found(newest.found.clone())?, newest))
}

/// Returns the array with `metadata` in place of its metadata.
fn with_metadata(core: &ArrayCore, metadata: ArrayMetadata) -> Result<ArrayCore> {
    let mut found = core.found.clone();
    found.node = Node::Array(metadata);
    core.with_found(found)
}

/// Writes metadata with a changed shape, if the shape is still the shape of `newest`, which was read from `documents`.
async fn publish<D: Drive>(
    drive: &D,
    newest: &ArrayCore,
    documents: Newest,
    metadata: ArrayMetadata,
) -> Result<ArrayCore> {
    let edit = Edit::reshape(&newest.found, Node::Array(metadata));
    let replace = ReplaceNode::of_newest(documents, edit, drive.capabilities());
    let found = drive.run(newest, consolidated_later(newest, replace).job()).await?;
    newest.with_found(found)
}

/// Leaves consolidated metadata unchanged if [`Options::consolidated_later`](crate::Options::consolidated_later) asks for it.
fn consolidated_later(core: &ArrayCore, replace: ReplaceNode) -> ReplaceNode {
    if core.options.consolidated_later { replace.leaving_consolidated() } else { replace }
}

/// Lists the stored chunks, inside or outside of the grid, with their keys.
async fn stored<D: Drive>(drive: &D, core: &ArrayCore) -> Result<Vec<(ChunkIndex, Key)>> {
    let keys = drive.run(core, jobs::keys_below(core.chunk_prefix())?).await?;
    Ok(chunk_keys::parse_all(core, keys))
}

/// Erases or fills what is stored in place of elements that `new` has and `old` has not, so that these elements have the fill value.
async fn clear_beyond<D: Drive>(drive: &D, old: &ArrayCore, new: &ArrayCore) -> Result<()> {
    let _invalidation = new.invalidation(None);
    let growth = Growth::new(&old.grid, &new.grid);
    let count = |regions: &[Region]| {
        regions.iter().fold(0, |sum: u64, region| sum.saturating_add(new.grid.intersect(region).len()))
    };
    let is_few = count(&growth.beyond).saturating_add(count(&growth.overhang)) <= FEW;
    if is_few || !drive.capabilities().list {
        for region in &growth.beyond {
            let overlaps = new.grid.intersect(region);
            let mut all = overlaps.iter();
            loop {
                let keys =
                    all.by_ref().take(BATCH).map(|overlap| new.key(&overlap.index)).collect::<Result<Vec<_>>>()?;
                if keys.is_empty() {
                    break;
                }
                drive.run(new, jobs::erase(keys)).await?;
            }
        }
        for region in &growth.overhang {
            fill(drive, new, region).await?;
        }
        return Ok(());
    }
    let (inside, beyond): (Vec<_>, Vec<_>) =
        stored(drive, new).await?.into_iter().partition(|(chunk, _)| old.grid.check_index(chunk).is_ok());
    drive.run(new, jobs::erase(beyond.into_iter().map(|(_, key)| key).collect())).await?;
    for (chunk, _) in inside {
        let chunk = new.grid.chunk_region(&chunk);
        for region in &growth.overhang {
            if let Some(region) = region.overlap(&chunk) {
                fill(drive, new, &region).await?;
            }
        }
    }
    Ok(())
}

/// Sets all elements of a region to the fill value.
async fn fill<D: Drive>(drive: &D, core: &ArrayCore, region: &Region) -> Result<()> {
    let element = core.element();
    let heap = element.new_heap();
    let mut item = vec![0; element.item_size()];
    element.fill(&mut ViewMut::new(&mut item, element.item_size(), &[])?.with_heap(heap.clone()))?;
    let axes = region.axes().iter().map(|axis| usize::try_from(axis.len));
    let shape: Vec<usize> = axes
        .collect::<Result<_, _>>()
        .map_err(|_| Error::argument("the shape has more elements than can be addressed"))?;
    // All elements are the one item.
    let view = View::from_strides(&item, item.len(), &shape, 0, &vec![0; shape.len()])?.with_heap(heap);
    let store = (drive.capabilities(), &drive.access_profile());
    drive.run(core, WriteJob::new(core, region, view, BESIDE_ELEMENTS, store)).await
}

/// Elements that a larger grid has and a smaller grid has not, as boxes.
#[derive(Debug, PartialEq)]
struct Growth {
    /// Boxes in chunks that the smaller grid has as well.
    overhang: Vec<Region>,
    /// Boxes in chunks that only the larger grid has.
    beyond: Vec<Region>,
}

impl Growth {
    fn new(old: &ChunkGrid, new: &ChunkGrid) -> Self {
        // Where the last chunk of the old grid ends, in the new one.
        let last: ChunkIndex = old.grid_shape().iter().map(|count| count.saturating_sub(1)).collect();
        let (starts, lens) = (old.chunk_region(&last), old.chunk_shape(&last));
        let ends = starts.axes().iter().zip(&lens).map(|(axis, len)| axis.start.saturating_add(*len));
        let ends: Vec<u64> = ends.zip(new.shape()).map(|(end, new)| end.min(*new)).collect();
        Self { overhang: between(old.shape(), &ends), beyond: between(&ends, new.shape()) }
    }
}

/// Returns the elements of shape `outer` that are not in shape `inner`, as boxes: one for each axis along which `outer` is longer.
fn between(inner: &[u64], outer: &[u64]) -> Vec<Region> {
    let axes: Vec<(u64, u64)> = inner.iter().copied().zip(outer.iter().copied()).collect();
    let one = |longer: usize| {
        let range = |(axis, &(inner, outer)): (usize, &(u64, u64))| -> Range<u64> {
            match axis.cmp(&longer) {
                std::cmp::Ordering::Less => 0..inner.min(outer),
                std::cmp::Ordering::Equal => inner..outer,
                std::cmp::Ordering::Greater => 0..outer,
            }
        };
        Region::from_ranges(&axes.iter().enumerate().map(range).collect::<Vec<_>>())
    };
    (0..axes.len()).map(one).filter(|region| region.axes().iter().all(|axis| !axis.is_empty())).collect()
}

/// Returns the metadata and the chunk grid of an array after a change of its shape to `shape`.
fn resized(core: &ArrayCore, shape: &[u64]) -> Result<(ArrayMetadata, ChunkGrid)> {
    let rank = core.grid.rank();
    if shape.len() != rank {
        let error = Error::argument(format!("a shape of {} dimensions, expected {rank}", shape.len()));
        return Err(core.locate(error));
    }
    let grid = core.grid.resized(shape).map_err(|error| core.locate(error.into()))?;
    let mut metadata = core.metadata().clone();
    (metadata.shape, metadata.chunk_grid) = (shape.to_vec(), grid.to_config());
    // The document is written anew, without members that were read with a warning.
    if core.warnings.len() > core.found.warnings.len()
        && let Ok((codecs, _)) = core.registry.codecs.corrected(&metadata.codecs, core.element(), &core.options.limits)
    {
        metadata.codecs = codecs;
    }
    Ok((metadata, grid))
}

/// Returns the shape of an array after appending data of shape `added` along `axis`, and the region of the appended data.
pub(crate) fn appended(core: &ArrayCore, axis: usize, added: &[usize]) -> Result<(Shape, Region)> {
    let old = &core.metadata().shape;
    let fits = added.len() == old.len()
        && axis < old.len()
        && old.iter().zip(added).enumerate().all(|(other, (&old, &new))| other == axis || old == new as u64);
    if !fits {
        let message = format!("data of shape {added:?} to append along dimension {axis} of {old:?}");
        return Err(core.locate(Error::argument(message)));
    }
    let mut shape = Shape::from_slice(old);
    let overflow = || core.locate(Error::argument("the new shape overflows 64 bits"));
    let mut ranges: Vec<_> = old.iter().map(|&len| 0..len).collect();
    if let (Some(len), Some(range), Some(&more)) = (shape.get_mut(axis), ranges.get_mut(axis), added.get(axis)) {
        let end = len.checked_add(more as u64).ok_or_else(overflow)?;
        *range = *len..end;
        *len = end;
    }
    Ok((shape, Region::from_ranges(&ranges)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_divided_at_the_last_chunks() {
        let grid = |shape: &[u64]| ChunkGrid::regular(shape, &[4, 4]).expect("a grid");
        let regions = |ranges: &[[Range<u64>; 2]]| ranges.iter().map(|it| Region::from_ranges(it)).collect::<Vec<_>>();
        let growth = Growth::new(&grid(&[6, 4]), &grid(&[9, 6]));
        assert_eq!(growth.overhang, regions(&[[6..8, 0..4]]));
        assert_eq!(growth.beyond, regions(&[[8..9, 0..6], [0..8, 4..6]]));
        // Within the last chunk, and smaller along the other axis.
        let growth = Growth::new(&grid(&[5, 9]), &grid(&[6, 7]));
        assert_eq!((growth.overhang, growth.beyond), (regions(&[[5..6, 0..7]]), Vec::new()));
        // From nothing.
        let growth = Growth::new(&grid(&[0, 3]), &grid(&[2, 3]));
        assert_eq!((growth.overhang, growth.beyond), (Vec::new(), regions(&[[0..2, 0..3]])));
    }
}
