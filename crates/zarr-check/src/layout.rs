//! Advice on layouts: what is unusual or costly about chunks, shards and consolidated metadata, with a figure and the verb that mends it.

use crate::hierarchy::Hierarchy;
use crate::sink::Sink;
use crate::{Code, Finding};
use zarr_array::{Array, ArraySizes};
use zarr_grid::total_size;
use zarr_hierarchy::{Error, Result};
use zarr_meta::text::{grouped, size};
use zarr_meta::{Node, StoredNode};

/// Number of objects from which listings, copies and file systems suffer.
const MANY_OBJECTS: u128 = 100_000;
/// Smallest number of bytes of the elements of a chunk whose request and decoding are worth it.
const SMALL_CHUNK: u128 = 32 << 10;
/// Number of bytes of the elements of a chunk from which a read of one element decodes much in vain.
const LARGE_CHUNK: u128 = 256 << 20;
/// Number of bytes of the elements of a shard from which writers may lack memory.
const LARGE_SHARD: u128 = 1 << 30;
/// Share of the elements of chunks that may lie beyond the edges of the array.
const PADDED: f64 = 0.3;
/// Ratio of the bytes of elements to stored bytes below which compression does not pay.
const COMPRESSED: f64 = 1.05;
/// Number of bytes of an array from which its layout matters.
const MATTERS: u128 = 1 << 20;
/// Largest coordinate, in bytes, that is best read at once.
const COORDINATE: u128 = 64 << 20;
/// Number of nodes from which consolidated metadata saves many requests.
const MANY_NODES: usize = 20;

/// Verb that finds a better layout.
const ADVISE: &str =
    "`zarr advise` finds chunks and shards for the reads that are done, and the command that makes them.";

/// Finds what is unusual or costly about the layout of an array of the given sizes.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, NewArray, Registry, Store};
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// let new = NewArray::new(&[10_000_000], "int16").chunks(&[10]).codecs("bytes")?;
/// let array = Array::create(&store, "/a", new, &Arc::new(registry))?;
/// let found = zarr_check::layout_advice(&array, &array.sizes()?);
/// assert_eq!(found[0].message, "1_000_000 chunks of 20 B");
/// # Ok::<(), zarr_array::Error>(())
/// ```
#[must_use]
pub fn layout_advice(array: &Array, sizes: &ArraySizes) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut find = |message: String, advice: &str| {
        let finding = Finding::new(Code::LayoutAdvice, message).at_path(array.path());
        found.push(Finding { advice: advice.to_owned(), ..finding });
    };
    let Some(elements) = sizes.elements.filter(|&elements| elements > 0) else { return found };
    let item = array.data_type().item_size() as u64;
    let (outer, part) = (array.chunk_shape(), array.part_shape());
    let (outer_bytes, part_bytes) = (total_size(&outer, item), total_size(&part, item));
    let stored = sizes.stored.as_ref();
    // Before anything is written all chunks count; of a sparse array those that are stored.
    let objects = stored.map(|stored| stored.chunks.len() as u128).filter(|&count| count > 0).unwrap_or(sizes.chunks);
    let noun = if sizes.is_sharded { "shards" } else { "chunks" };
    if objects >= MANY_OBJECTS {
        find(format!("{} {noun} of {}", count(objects), size(outer_bytes)), MANY);
    }
    if part_bytes < SMALL_CHUNK && elements >= MATTERS && objects < MANY_OBJECTS {
        let parts = if sizes.is_sharded { "inner chunks" } else { "chunks" };
        let requests = elements / part_bytes.max(1);
        find(format!("{parts} of {}: a read of all decodes {} of them", size(part_bytes), count(requests)), ADVISE);
    }
    if part_bytes >= LARGE_CHUNK && decodes_whole(array) {
        find(format!("a read of one element decodes a chunk of {}", size(part_bytes)), ADVISE);
    }
    if sizes.is_sharded && outer_bytes >= LARGE_SHARD {
        let message =
            format!("shards of {}: software that writes them as a whole needs so much memory", size(outer_bytes));
        find(message, "Write shards of 512 MiB at most: `zarr convert --shards`, or `zarr advise`.");
    }
    if let Some(padded) = sizes.padded.filter(|&padded| padded > 0 && elements >= MATTERS) {
        let beyond = 1.0 - elements as f64 / padded as f64;
        if beyond > PADDED {
            let message =
                format!("{:.0} % of the elements of {noun} lie beyond the edges of the array", beyond * 100.0);
            find(message, "Choose lengths that divide the shape: `zarr convert --chunks`, or `zarr advise`.");
        }
    }
    if let Some((bytes, of)) = stored.and_then(|stored| Some((u128::from(stored.bytes()), stored.elements?))) {
        let inner = if sizes.is_sharded { total_size(&outer, 1) / total_size(&part, 1).max(1) } else { 0 };
        let indexes = if sizes.is_sharded { objects.saturating_mul(16 * inner + 4) } else { 0 };
        // Elements that are stored as they are take their bytes, and the indexes of shards.
        let is_raw = bytes == of || bytes == of.saturating_add(indexes);
        let ratio = of as f64 / bytes.max(1) as f64;
        if !is_raw && bytes >= MATTERS && ratio < COMPRESSED {
            let message = format!("{} of elements take {}: compression does not pay", size(of), size(bytes));
            find(message, "`zarr bench-codecs` finds codecs that make it smaller, or that none does.");
        }
    }
    if is_coordinate(array) && sizes.chunks > 1 && elements <= COORDINATE {
        let message = format!(
            "a coordinate of {} in {} {noun}, all of which opening a data set reads",
            size(elements),
            count(sizes.chunks)
        );
        find(message, "Write it in one chunk: `zarr convert --node PATH --chunks N`.");
    }
    found
}

/// Advice on arrays of many objects.
const MANY: &str = "`zarr convert --shards auto` puts many chunks into each object; `zarr advise` finds shards for the reads that are done.";

/// Finds nodes below a group whose documents are read one by one, for lack of consolidated metadata. `nodes` are the group and all nodes below
/// it, the group first.
#[must_use]
pub fn consolidation_advice(nodes: &[StoredNode]) -> Option<Finding> {
    let (first, below) = nodes.split_first()?;
    let Node::Group(group) = &first.node else { return None };
    let has_copy = group.consolidated.is_some();
    if has_copy || below.len() < MANY_NODES || !first.dialect.may_consolidate(&first.path) {
        return None;
    }
    let message = format!(
        "{} nodes without consolidated metadata: opening all of them reads as many documents",
        grouped(below.len() as u64)
    );
    let finding = Finding::new(Code::LayoutAdvice, message).at_path(&first.path);
    Some(Finding { advice: "`zarr consolidate` writes them into one document.".to_owned(), ..finding })
}

/// Reports advice on the layout of all arrays, and on consolidated metadata unless there is a document of it (`has_copy`).
pub(crate) fn check(hierarchy: &Hierarchy, has_copy: bool, sink: &Sink<'_>) -> Result<()> {
    if let Some(finding) = consolidation_advice(&hierarchy.nodes).filter(|_| !has_copy) {
        sink.find(finding);
    }
    for array in hierarchy.arrays.iter().flatten() {
        match array.sizes() {
            Ok(sizes) => layout_advice(array, &sizes).into_iter().for_each(|finding| sink.find(finding)),
            Err(error) => sink.find(unreadable(&error)),
        }
        sink.go_on()?;
    }
    Ok(())
}

fn unreadable(error: &Error) -> Finding {
    Finding::of(Code::Unreadable, error)
}

/// Formats a number of objects.
fn count(number: u128) -> String {
    grouped(u64::try_from(number).unwrap_or(u64::MAX))
}

/// Whether a read of one element decodes all of the chunk in which it is. For an array with shards this is taken to be so, since a plan would
/// read an index.
fn decodes_whole(array: &Array) -> bool {
    if array.is_sharded() {
        return true;
    }
    let first: Vec<std::ops::Range<u64>> = array.shape().iter().map(|_| 0..1).collect();
    let plan = array.plan(zarr_grid::Region::from_ranges(&first));
    let item = array.data_type().item_size() as u64;
    plan.is_ok_and(|plan| {
        plan.decoded_bytes.is_some_and(|bytes| u128::from(bytes) >= total_size(&array.part_shape(), item))
    })
}

/// Whether an array is a coordinate: it has the name of its only dimension.
fn is_coordinate(array: &Array) -> bool {
    match array.dimension_names() {
        Some([Some(name)]) => array.path().name() == Some(name),
        _ => false,
    }
}
