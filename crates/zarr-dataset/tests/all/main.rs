//! Tests of data sets: opening, coordinates, trees of groups, selection, plans, writing.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::float_cmp, reason = "tests")]

mod coordinates;
mod dataset;
mod hourly_year;
mod labels;
mod like;
mod opening;
mod plan;
mod points;
mod tree;
mod write;

use std::sync::Arc;
use zarr_array::{Array, Group, NewArray, NewGroup, Options, Registry, Store};
use zarr_dataset::{Dataset, DatasetOptions, Variable};
use zarr_meta::Dialect;
use zarr_store::MemoryStore;

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    let codecs =
        [zarr_codec_bytes::CODECS, zarr_codec_sharding::CODECS, zarr_codec_vlen::CODECS, zarr_codec_zstd::CODECS];
    for entry in codecs.into_iter().flatten() {
        registry.codecs.add(*entry);
    }
    Arc::new(registry)
}

/// Opens a data set for tests that count requests for chunks: a missing chunk causes no request that checks whether the array still exists.
fn counted_chunks(group: &Group) -> Dataset {
    let options = DatasetOptions::default().arrays(Options::default().trust_missing(true));
    Dataset::open_with(group, &options).unwrap()
}

fn group_in(store: Arc<dyn Store>, dialect: Dialect) -> Group {
    Group::create(&store, "/", NewGroup::new().dialect(dialect), &registry()).unwrap()
}

fn group() -> Group {
    group_in(Arc::new(MemoryStore::new()), Dialect::V3)
}

fn new(shape: &[u64], data_type: &str, names: &[&str]) -> NewArray {
    NewArray::new(shape, data_type).dimension_names(names).codecs("bytes").unwrap()
}

fn add<T: zarr_dtype::WriteElement>(group: &Group, name: &str, new: NewArray, values: &[T]) -> Array {
    let array = group.create_array(name, new).unwrap();
    array.write(.., values).unwrap();
    array
}

fn names<'v>(variables: impl Iterator<Item = &'v Variable>) -> Vec<&'v str> {
    variables.map(Variable::name).collect()
}

fn size_of(dataset: &Dataset, dimension: &str) -> Option<u64> {
    dataset.dimensions().iter().find(|known| known.name == dimension).map(|known| known.size)
}
