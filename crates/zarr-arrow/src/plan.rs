//! Division of memory: columns that are read once, boxes in which the others are read, and rows of batches.

use crate::boxes::{Bounds, Boxes, Chunks};
use crate::column::{Column, MOST_ELEMENTS};
use crate::options::TableOptions;
use crate::sizes::Sizes;
use zarr_array::Options;
use zarr_dataset::Variable;
use zarr_grid::AxisSelection;
use zarr_scan::Memory;

/// Number of bytes of a box for which reading in parallel pays, and which memory that is reused is fast for.
const WANTED_BYTES: u64 = 8 << 20;

/// Plan of how a table is read in bounded memory.
///
/// Half of the memory may be in use for decoding. Of the rest, a quarter is for the elements of a box, a quarter for those of the box
/// before, which the caller may keep, a quarter for what is made for a batch, and an eighth for columns that are read once.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) boxes: Boxes,
    /// Chunks along each dimension.
    pub(crate) chunks: Vec<Chunks>,
    /// Whether each column is read once and kept.
    pub(crate) kept: Vec<bool>,
    /// Greatest number of rows of a batch.
    pub(crate) batch_rows: usize,
    /// Number of bytes for what is made for a batch.
    pub(crate) batch_bytes: u64,
    /// Number of threads for which memory suffices.
    pub(crate) threads: usize,
}

impl Plan {
    /// Plans how columns are read. `table` has the names and lengths of the dimensions.
    pub(crate) fn new(table: &[(String, u64)], columns: &[Column], options: &TableOptions) -> Self {
        let variables = || columns.iter().filter_map(Column::variable).map(Variable::stored);
        let parts: Vec<_> =
            variables().map(|array| (array.part_shape(), array.data_type().item_size() as u64)).collect();
        let of_arrays = variables().next().map_or_else(Options::default, |array| array.options().clone());
        let memory = Memory::new(options.memory, parts.iter().map(|(shape, item)| (&shape[..], *item)), &of_arrays);
        let threads = memory.threads_in(memory.bytes() / 2);
        let decoding = memory.for_thread().saturating_mul(threads as u64);
        let bytes = memory.bytes().saturating_sub(decoding).max(memory.bytes() / 2);

        let whole =
            |column: &Column| (column.is_repeated() && column.element_count() <= MOST_ELEMENTS).then(|| column.bytes());
        let kept = kept(columns.iter().map(whole), bytes / 8);
        let read = columns.iter().zip(&kept).filter(|(_, is_kept)| !**is_kept).map(|(column, _)| column);
        let most = bytes / 4;
        let sizes = Sizes {
            columns: read.clone().map(|column| (column.dimensions().to_vec(), column.bytes_per_element())).collect(),
            wanted: WANTED_BYTES.max(decoding).min(most),
            most,
            wanted_rows: options.batch_rows as u64,
        };
        let mut chunks: Vec<Vec<Chunks>> = vec![Vec::new(); table.len()];
        for column in read {
            let Some(variable) = column.variable() else { continue };
            for (&number, found) in column.dimensions().iter().zip(chunks_of(variable)) {
                chunks.iter_mut().skip(number).take(1).for_each(|chunks| chunks.push(found));
            }
        }
        let bounds: Vec<Bounds> = chunks.iter().map(|chunks| Bounds::new(chunks)).collect();
        let shape: Vec<u64> = table.iter().map(|(_, len)| *len).collect();
        let boxes = Boxes::new(&shape, &bounds, &sizes, options.ordered);

        let batch_bytes = bytes / 4;
        let row = columns.iter().map(Column::bytes_per_row).fold(0, u64::saturating_add);
        let fitting = batch_bytes.checked_div(row).unwrap_or(MOST_ELEMENTS).clamp(1, MOST_ELEMENTS);
        let batch_rows = options.batch_rows.min(usize::try_from(fitting).unwrap_or(usize::MAX));
        let chunks = bounds.iter().map(|bounds| bounds.within(u64::MAX)).collect();
        Self { boxes, chunks, kept, batch_rows, batch_bytes, threads }
    }
}

/// Chooses columns that are kept, in order, as far as `bytes` suffice. `columns` are their sizes; `None` for those that are read box by
/// box.
fn kept(columns: impl Iterator<Item = Option<u64>>, bytes: u64) -> Vec<bool> {
    let mut left = bytes;
    let mut keeps = |size: Option<u64>| match size.and_then(|size| left.checked_sub(size)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    columns.map(&mut keeps).collect()
}

/// Returns the chunks along each dimension of a variable, in selected indices.
fn chunks_of(variable: &Variable) -> Vec<Chunks> {
    let array = variable.stored();
    let part = array.part_shape();
    let Some(zarr_grid::Selection::Axes(axes)) = variable.stored_selection() else {
        return variable.shape().iter().map(|_| Chunks { len: 1, first: 1 }).collect();
    };
    let left = axes.iter().zip(&part).filter(|(axis, _)| !matches!(axis, AxisSelection::Index(_)));
    let chunk = |(axis, &len): (&AxisSelection, &u64)| match *axis {
        AxisSelection::Range { start, step: 1, .. } => {
            let start = start.and_then(|start| u64::try_from(start).ok()).unwrap_or(0);
            Chunks { len: len.max(1), first: len.max(1) - start % len.max(1) }
        }
        AxisSelection::Range { step, .. } => {
            let len = (len / step.unsigned_abs().max(1)).max(1);
            Chunks { len, first: len }
        }
        _ => Chunks { len: len.max(1), first: len.max(1) },
    };
    left.map(chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Batches;
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use zarr_array::{Group, NewArray, NewGroup, Registry, Store};
    use zarr_dataset::{Dataset, DatasetOptions};
    use zarr_store::MemoryStore;

    #[test]
    fn columns_are_kept_while_memory_lasts() {
        assert_eq!(kept([Some(6), Some(5), None, Some(4), Some(1)].into_iter(), 10), [true, false, false, true, false]);
    }

    /// Makes a data set of `pairs(x, y)` in chunks of 64 KiB and as many variables along x as there are elements.
    fn dataset(narrow: usize) -> Dataset {
        let mut registry = Registry::default();
        zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let group = Group::create(&store, "/", NewGroup::new(), &Arc::new(registry)).unwrap();
        let add = |name: &str, shape: &[u64], names: &[&str], chunks: &[u64]| {
            let new = NewArray::new(shape, "float64").dimension_names(names).chunks(chunks).codecs("bytes").unwrap();
            group.create_array(name, new).unwrap();
        };
        add("pairs", &[8192, 2], &["x", "y"], &[4096, 2]);
        (0..narrow).for_each(|number| add(&format!("v{number}"), &[8192], &["x"], &[4096]));
        let options = Options::default().threads(NonZeroUsize::new(8));
        Dataset::open_with(&group, &DatasetOptions::default().arrays(options)).unwrap()
    }

    fn plan(narrow: usize, options: &TableOptions) -> Plan {
        Batches::new(&dataset(narrow), options).unwrap().into_plan()
    }

    #[test]
    fn columns_without_a_dimension_count() {
        let options = TableOptions::default().memory(4 << 20);
        let rows = |narrow| {
            let first = plan(narrow, &options).boxes.next().unwrap();
            first.iter().map(|range| range.end - range.start).product::<u64>()
        };
        assert_eq!(rows(0), 8192 * 2);
        // 64 KiB each, of which memory has room for few.
        assert!(rows(40) <= 4096 * 2, "{}", rows(40));
        let kept = plan(40, &options).kept.iter().filter(|is_kept| **is_kept).count();
        assert!((1..10).contains(&kept), "{kept}");
    }

    #[test]
    fn batches_are_cut_where_repeated_columns_need_more() {
        let options = TableOptions::default().memory(4 << 20).batch_rows(10_000_000);
        let plan = plan(40, &options);
        // Two indices, and 40 columns that are repeated along y.
        assert_eq!(plan.batch_rows as u64, plan.batch_bytes / (8 * 42));
    }

    #[test]
    fn threads_are_limited() {
        let threads = |memory| {
            let batches = Batches::new(&dataset(1), &TableOptions::default().memory(memory)).unwrap();
            let all: Vec<_> = batches.threads().collect();
            assert_eq!(all.len(), 2);
            all
        };
        // A thread has two chunks of 64 KiB.
        let two = NonZeroUsize::new(2);
        assert_eq!(threads(700 << 10), [two, two]);
        let eight = NonZeroUsize::new(8);
        assert_eq!(threads(64 << 20), [eight, eight]);
    }
}
