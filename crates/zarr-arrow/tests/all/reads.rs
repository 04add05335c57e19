//! Chunks that a table reads, and elements that are in memory.

use crate::{add, counted, group_in, new, table};
use std::sync::Arc;
use zarr_array::Group;
use zarr_arrow::{Batch, Coordinates, TableOptions};
use zarr_dataset::Labels;
use zarr_store::{Counted, MemoryStore, SetOptions, StoreExt};

/// Makes a data set of 8 x 20 x 30 elements in chunks of 2 x 10 x 30, whose labels are one chunk each.
fn grid() -> (Arc<Counted<MemoryStore>>, Group) {
    let store = Arc::new(Counted::new(MemoryStore::new()));
    let group = group_in(store.clone());
    for (name, len) in [("time", 8), ("lat", 20), ("lon", 30)] {
        let labels: Vec<f64> = (0..len).map(|index| f64::from(index) + 0.5).collect();
        add(&group, name, new(&[labels.len() as u64], "float64", &[name]), &labels);
    }
    let array = new(&[8, 20, 30], "float32", &["time", "lat", "lon"]).chunks(&[2, 10, 30]);
    let values: Vec<f32> = (0..4800_u16).map(f32::from).collect();
    add(&group, "v", array, &values);
    (store, group)
}

fn gets(store: &Counted<MemoryStore>, read: impl FnOnce() -> usize) -> (u64, usize) {
    let before = store.counts().gets;
    let rows = read();
    (store.counts().gets - before, rows)
}

fn rows(batches: impl Iterator<Item = zarr_arrow::Result<Batch>>) -> usize {
    batches.map(|batch| batch.unwrap().rows()).sum()
}

#[test]
fn each_chunk_and_each_label_is_read_once() {
    let (store, group) = grid();
    let dataset = counted(&group);
    for coordinates in [Coordinates::Plain, Coordinates::Dictionary, Coordinates::RunEnd] {
        let options = TableOptions::default().coordinates(coordinates).batch_rows(700);
        assert_eq!(gets(&store, || rows(table(&dataset, &options))), (8 + 3, 4800));
    }
}

#[test]
fn only_chunks_that_the_selection_meets() {
    let (store, group) = grid();
    let dataset = counted(&group);
    let options = TableOptions::default();
    let step = dataset.sel("time", 3.5).unwrap();
    // Both chunks along lat, and the labels of lat, lon and the one time.
    assert_eq!(gets(&store, || rows(table(&step, &options))), (2 + 3, 600));
    let inner = dataset.sel("time", Labels::between(2.5, 3.5)).unwrap().sel("lat", Labels::between(10, 12)).unwrap();
    assert_eq!(gets(&store, || rows(table(&inner, &options))), (1 + 3, 2 * 2 * 30));
    // A table that nobody reads to its end.
    let small = options.memory(4_000).batch_rows(100);
    let (count, _) = gets(&store, || table(&dataset, &small).next().unwrap().unwrap().rows());
    assert!((4..=5).contains(&count), "{count}");
}

#[test]
fn only_columns_that_are_asked_for() {
    let (store, group) = grid();
    let dataset = counted(&group);
    let columns = |names: &[&str]| TableOptions::default().columns(names.iter().copied());
    assert_eq!(gets(&store, || rows(table(&dataset, &columns(&[])))), (0, 4800));
    assert_eq!(gets(&store, || rows(table(&dataset, &columns(&["lat"])))), (1, 4800));
    assert_eq!(gets(&store, || rows(table(&dataset, &columns(&["v"])))), (8, 4800));
    let names = |batches: zarr_arrow::Batches| -> Vec<String> {
        batches.schema().fields().iter().map(|field| field.name().to_owned()).collect()
    };
    // In the order of the table.
    assert_eq!(names(table(&dataset, &columns(&["v", "lat"]))), ["lat", "v"]);
    let error = zarr_arrow::Batches::new(&dataset, &columns(&["nope"])).unwrap_err();
    assert_eq!(error.message(), "found the column nope, which the table lacks");
}

#[test]
fn parts_are_whole_chunks_beside_each_other() {
    let (_, group) = grid();
    let batches = table(&counted(&group), &TableOptions::default());
    let times = |most| -> Vec<_> { batches.parts(most).into_iter().map(|part| part[0].clone()).collect() };
    assert_eq!(times(3), [0..2, 2..4, 4..8]);
    assert_eq!(times(1), vec![0..8; 1]);
    // No dimension has more than 4 chunks.
    assert_eq!(batches.parts(9).len(), 4);
}

#[test]
fn without_order_each_chunk_is_read_once_in_little_memory() {
    let (store, group) = grid();
    let dataset = counted(&group);
    // A slab of chunks has 4800 bytes of elements and does not fit.
    let options = TableOptions::default().memory(26_000).batch_rows(100);
    let (ordered, _) = gets(&store, || rows(table(&dataset, &options)));
    let (unordered, found) = gets(&store, || rows(table(&dataset, &options.clone().ordered(false))));
    assert!(ordered > 2 * 8, "{ordered}");
    assert!((8..=8 + 30).contains(&unordered) && unordered < ordered, "{unordered} {ordered}");
    assert_eq!(found, 4800);
}

#[test]
fn batches_share_the_memory_that_chunks_are_decoded_into() {
    let (_, group) = grid();
    let batches = table(&counted(&group), &TableOptions::default().batch_rows(1000)).map(Result::unwrap);
    let columns: Vec<_> = batches.map(|batch| batch.column(3).clone()).collect();
    let starts: Vec<usize> = columns.iter().map(|column| column.values::<f32>().unwrap().as_ptr() as usize).collect();
    assert_eq!(columns.len(), 5);
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == 4000), "{starts:?}");
    assert_eq!(columns[4].values::<f32>().unwrap()[799], 4799.0);
}

#[test]
fn boxes_fit_the_memory() {
    let (_, group) = grid();
    for memory in [2_000, 8_000, 40_000] {
        for ordered in [true, false] {
            let options = TableOptions::default().memory(memory).batch_rows(10_000).ordered(ordered);
            for batch in table(&counted(&group), &options) {
                let batch = batch.unwrap();
                let bytes = batch.column(3).buffers()[1].as_ref().unwrap().bytes().len() as u64;
                assert!(bytes <= memory / 4, "{bytes} of {memory}");
            }
        }
    }
}

#[test]
fn an_error_ends_the_table() {
    let (store, group) = grid();
    let key = zarr_store::Key::new("v/c/2/0/0").unwrap();
    store.set(&key, b"short", &SetOptions::default()).unwrap();
    let options = TableOptions::default().memory(4_000);
    let found: Vec<_> = table(&counted(&group), &options).collect();
    let (last, before) = found.split_last().unwrap();
    assert!(before.iter().all(Result::is_ok) && before.len() > 1);
    assert!(last.as_ref().unwrap_err().to_string().contains("/v"), "{last:?}");
}

#[test]
fn batches_are_cut_where_texts_repeat() {
    let (_, group) = grid();
    let text = zarr_array::NewArray::new(&[], "string").dimension_names::<&str>(&[]).codecs("vlen-utf8").unwrap();
    add(&group, "text", text, &["t".repeat(10_000)]);
    let options = TableOptions::default().memory(2 << 20);
    for (coordinates, most) in [(Coordinates::Plain, 500 << 10), (Coordinates::RunEnd, 10_000)] {
        let mut found = 0;
        for batch in table(&counted(&group), &options.clone().coordinates(coordinates)) {
            let batch = batch.unwrap();
            found += batch.rows();
            let number = batch.schema().fields().iter().position(|field| field.name() == "text").unwrap();
            let text = batch.column(number);
            let text = text.child_data().get(1).unwrap_or(text);
            let bytes = text.buffers()[2].as_ref().unwrap().bytes().len();
            assert!((10_000..=most).contains(&bytes), "{bytes}");
        }
        assert_eq!(found, 4800);
    }
}

#[test]
fn chunks_of_two_lengths_are_read_once_without_order() {
    let store = Arc::new(Counted::new(MemoryStore::new()));
    let group = group_in(store.clone());
    for (name, chunk) in [("a", 3), ("b", 2)] {
        let values: Vec<f64> = (0..240 * 4).map(f64::from).collect();
        add(&group, name, new(&[240, 4], "float64", &["x", "y"]).chunks(&[chunk, 4]), &values);
    }
    let dataset = counted(&group);
    let options = TableOptions::default().memory(16_000).ordered(false);
    assert!(table(&dataset, &options).next().unwrap().unwrap().rows() < 240);
    assert_eq!(gets(&store, || rows(table(&dataset, &options))), (80 + 120, 960));
}
