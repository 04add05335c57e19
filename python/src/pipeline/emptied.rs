//! Chunks that have nothing but fill values after a part of them was written.
//!
//! zarr-python erases these, and this library leaves them, since it does not erase on conditions. A chunk whose first new element is no
//! fill value is not looked at.

use crate::pipeline::batch::{Batch, index_of};
use crate::pipeline::chunks::Known;
use std::ops::Range;
use zarr::codec::View;
use zarr::dtype::HeapRef;
use zarr::grid::{AxisSelection, Region};
use zarr::store::Store;
use zarr::{Array, Result, Selection};

/// Erases such chunks. `value` is what was written.
pub(crate) fn erase(array: &Array, batch: &Batch, known: &Known, value: &View<'_>, store: &dyn Store) -> Result<()> {
    if !array.found().may_omit_empty_chunks {
        return Ok(());
    }
    let fill = array.fill_value().bytes();
    for (number, key) in known.keys.iter().enumerate() {
        if !known.was_patched(number) || !batch.first(number).is_some_and(|first| is_fill(value, &first, fill)) {
            continue;
        }
        let index = index_of(number as u64, &batch.grid);
        let part = |(&at, &len): (&u64, &u64)| AxisSelection::range((at * len) as i64, ((at + 1) * len) as i64);
        let chunk = array.read_data(Selection::Axes(index.iter().zip(&batch.chunk_shape).map(part).collect()))?;
        let is_empty = match chunk.variable() {
            Some(mut elements) => elements.all(|element| element == fill),
            None => fill.is_empty() || chunk.items().chunks_exact(fill.len()).all(|item| item == fill),
        };
        if is_empty {
            store.erase(key)?;
        }
    }
    Ok(())
}

/// Whether one element is the fill value.
fn is_fill(value: &View<'_>, index: &[u64], fill: &[u8]) -> bool {
    let one: Vec<Range<u64>> = index.iter().map(|&at| at..at.saturating_add(1)).collect();
    let window = value.window(&Region::from_ranges(&one));
    match value.heap() {
        None => window.all(|item| item == fill),
        Some(heap) => window.all(|item| HeapRef::from_item(item).and_then(|at| heap.get(at)) == Some(fill)),
    }
}
