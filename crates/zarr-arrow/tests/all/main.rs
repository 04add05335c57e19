//! Tests of tables of data sets: values, types, order, what is read, bounded memory.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::float_cmp, clippy::panic, reason = "tests")]

#[cfg(feature = "arrow")]
mod arrow_rs;
mod decoded;
mod ipc;
mod kinds;
mod random;
mod reads;

use std::sync::Arc;
use zarr_array::{Array, Group, NewArray, NewGroup, Options, Registry, Store};
use zarr_arrow::{Batches, TableOptions};
use zarr_dataset::{Dataset, DatasetOptions};
use zarr_store::MemoryStore;

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.data_types.add(zarr_codec_optional::DATA_TYPE);
    for entry in [zarr_codec_bytes::CODECS, zarr_codec_vlen::CODECS].into_iter().flatten() {
        registry.codecs.add(*entry);
    }
    Arc::new(registry)
}

fn group_in(store: Arc<dyn Store>) -> Group {
    Group::create(&store, "/", NewGroup::new(), &registry()).unwrap()
}

fn group() -> Group {
    group_in(Arc::new(MemoryStore::new()))
}

fn new(shape: &[u64], data_type: &str, names: &[&str]) -> NewArray {
    NewArray::new(shape, data_type).dimension_names(names).codecs("bytes").unwrap()
}

fn add<T: zarr_dtype::WriteElement>(group: &Group, name: &str, new: NewArray, values: &[T]) -> Array {
    let array = group.create_array(name, new).unwrap();
    array.write(.., values).unwrap();
    array
}

/// Opens a data set whose missing chunks cause no request that checks whether the array still exists.
fn counted(group: &Group) -> Dataset {
    let options = DatasetOptions::default().arrays(Options::default().trust_missing(true));
    Dataset::open_with(group, &options).unwrap()
}

fn table(dataset: &Dataset, options: &TableOptions) -> Batches {
    Batches::new(dataset, options).unwrap()
}
