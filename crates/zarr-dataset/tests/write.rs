//! Data sets are written as xarray writes them: documents, encoded elements, regions, appended parts.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::float_cmp, reason = "tests")]

use std::sync::Arc;
use zarr_array::{Registry, Store};
use zarr_dataset::cf::time::{Calendar, DateTime};
use zarr_dataset::{Dataset, ErrorKind, NewDataset, NewVariable, Values};
use zarr_dtype::{DateTime64, TimeDelta64};
use zarr_json::Value;
use zarr_meta::Dialect;
use zarr_store::{Key, MemoryStore, StoreExt};

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    let codecs =
        [zarr_codec_bytes::CODECS, zarr_codec_sharding::CODECS, zarr_codec_vlen::CODECS, zarr_codec_zstd::CODECS];
    for entry in codecs.into_iter().flatten() {
        registry.codecs.add(*entry);
    }
    Arc::new(registry)
}

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn document(store: &Arc<dyn Store>, key: &str) -> Value {
    let bytes = store.get_all(&Key::new(key).unwrap()).unwrap().unwrap();
    Value::from_json(std::str::from_utf8(&bytes).unwrap()).unwrap()
}

fn variable(name: &str, dimensions: &[&str], values: impl zarr_dataset::IntoValues) -> NewVariable {
    NewVariable::new(name, dimensions, values).unwrap().codecs("bytes").unwrap()
}

fn days(days: &[i64]) -> Values {
    let data_type = zarr_dtype::DataType::parse("datetime64[D]").unwrap();
    let items: Vec<u8> = days.iter().flat_map(|day| day.to_ne_bytes()).collect();
    Values::of_data(zarr_array::ArrayData::from_items(&data_type, &[days.len() as u64], &items, None).unwrap())
}
