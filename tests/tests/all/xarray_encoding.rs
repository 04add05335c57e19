//! The statements of [xarray's Zarr encoding specification](https://docs.xarray.dev/en/stable/internals/zarr-encoding-spec.html), and
//! of the conventions that it goes by, one by one. Documentation of a test begins with the title of the section.

mod cf_conventions;
mod chunk_keys;
mod compatibility;
mod consolidated;
mod dimension_encoding;
mod examples;
mod nczarr;
mod writing;

use std::sync::Arc;
use zarr::convert::{Conversion, ConvertOptions};
use zarr::dataset::{Dataset, IntoValues, NewDataset, NewVariable, Values};
use zarr::{ArrayData, Dialect, NewGroup};
use zarr_dtype::WriteElement;
use zarr_json::{Map, Value, json};
use zarr_store::{Key, MemoryStore, Store, StoreExt};

const BOTH: [Dialect; 2] = [Dialect::V2, Dialect::V3];

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// A store with an empty group at its root.
fn group(dialect: Dialect) -> Arc<dyn Store> {
    let store = memory();
    zarr::create(&store).group(NewGroup::new().dialect(dialect)).unwrap();
    store
}

fn put(store: &Arc<dyn Store>, key: &str, document: &Value) {
    store.set_all(&Key::new(key).unwrap(), document.to_string().as_bytes()).unwrap();
}

fn is_there(store: &Arc<dyn Store>, key: &str) -> bool {
    store.get_all(&Key::new(key).unwrap()).unwrap().is_some()
}

fn document(store: &Arc<dyn Store>, key: &str) -> Value {
    let bytes = store.get_all(&Key::new(key).unwrap()).unwrap().unwrap();
    Value::from_json(std::str::from_utf8(&bytes).unwrap()).unwrap()
}

/// A member of a document, by its pointer; null if it is not there.
fn member(store: &Arc<dyn Store>, key: &str, pointer: &str) -> Value {
    document(store, key).pointer(pointer).cloned().unwrap_or_default()
}

/// An array of version 2 by its documents, as other software writes them. Without elements no chunk is written.
fn v2<T: WriteElement>(
    store: &Arc<dyn Store>,
    path: &str,
    (dtype, shape): (&str, &[u64]),
    fill: impl Into<Value>,
    attributes: &Value,
    elements: &[T],
) {
    let (shape, fill): (Value, Value) = (shape.to_vec().into(), fill.into());
    let document = json!({
        "zarr_format": 2, "shape": (shape.clone()), "chunks": shape, "dtype": dtype, "fill_value": fill,
        "order": "C", "filters": null, "compressor": null,
    });
    put(store, &format!("{path}/.zarray"), &document);
    put(store, &format!("{path}/.zattrs"), attributes);
    if !elements.is_empty() {
        zarr::open((store, path)).array().unwrap().write(.., elements).unwrap();
    }
}

/// An array of version 3 by its document. `names` are its dimension names, which null leaves out.
fn v3<T: WriteElement>(
    store: &Arc<dyn Store>,
    path: &str,
    (data_type, shape): (&str, &[u64]),
    names: &Value,
    attributes: &Value,
    elements: &[T],
) {
    let shape = Value::from(shape.to_vec());
    let mut document = json!({
        "zarr_format": 3, "node_type": "array", "shape": (shape.clone()), "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": (attributes.clone()),
    });
    if let (Value::Object(members), false) = (&mut document, names.is_null()) {
        members.insert("dimension_names", names.clone());
    }
    put(store, &format!("{path}/zarr.json"), &document);
    zarr::open((store, path)).array().unwrap().write(.., elements).unwrap();
}

fn open(store: &Arc<dyn Store>) -> Dataset {
    zarr::open(store).dataset().unwrap()
}

/// Why a group is no data set.
fn refusal(store: &Arc<dyn Store>) -> String {
    zarr::open(store).dataset().unwrap_err().to_string()
}

fn create(store: &Arc<dyn Store>, new: NewDataset) -> Dataset {
    zarr::create(store).dataset(new).unwrap()
}

fn variable(name: &str, dimensions: &[&str], values: impl IntoValues) -> NewVariable {
    NewVariable::new(name, dimensions, values).unwrap()
}

/// Numbers as times or time spans of numpy: `<M8[D]`.
fn numpy_times(dtype: &str, numbers: &[i64]) -> Values {
    let (data_type, _) = zarr_dtype::from_npy_descr(dtype).unwrap();
    let items: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    Values::of_data(ArrayData::from_items(&data_type, &[numbers.len() as u64], &items, None).unwrap())
}

/// The decoded values of a variable as text.
fn texts(dataset: &Dataset, name: &str) -> Vec<String> {
    let values = dataset.variable(name).unwrap().read().unwrap();
    (0..values.len()).map(|index| values.text(index)).collect()
}

fn dimensions<'d>(dataset: &'d Dataset, name: &str) -> Vec<&'d str> {
    dataset.variable(name).unwrap().dimensions().collect()
}

fn names(attributes: &Map) -> Vec<&str> {
    attributes.keys().collect()
}

fn coordinates(dataset: &Dataset) -> Vec<&str> {
    dataset.coordinates().map(|variable| variable.name()).collect()
}

/// The store in another dialect.
fn converted(store: &Arc<dyn Store>, dialect: Dialect) -> Arc<dyn Store> {
    let options = ConvertOptions::default().dialect(dialect);
    let target = memory();
    Conversion::plan(store, &zarr::registry::default(), options).unwrap().run(&target, |_| {}).unwrap();
    target
}
