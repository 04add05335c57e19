//! Tests of joined files, compared with the values that netCDF4 reads from the same files (`tests/fixtures/join.py`).

mod joined;
mod marks;
mod places;
mod refused;
mod written;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarr_array::{Array, Registry, Store};
use zarr_codec_bytes::Bytes;
use zarr_dtype::{ByteOrder, DataType};
use zarr_json::{NamedConfig, Value};
use zarr_store::{Key, MemoryStore, StoreExt};
use zarr_virtualize::{Input, JoinOptions};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/join")
}

fn serializer(data_type: &DataType, order: ByteOrder) -> NamedConfig {
    match data_type {
        DataType::String => NamedConfig::new("vlen-utf8"),
        other => Bytes::new(order).to_config_of(&other.layout()),
    }
}

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    let codecs =
        [zarr_codec_bytes::CODECS, zarr_codec_gzip::CODECS, zarr_codec_shuffle::CODECS, zarr_codec_vlen::CODECS];
    for codec in codecs.iter().copied().flatten() {
        registry.codecs.add(*codec);
    }
    registry.defaults.serializer = Some(serializer);
    Arc::new(registry)
}

/// Returns a store in memory with all files of the folder, by name.
fn files() -> Arc<dyn Store> {
    let store = MemoryStore::new();
    for entry in std::fs::read_dir(folder()).expect("a folder") {
        let path = entry.expect("a file").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        store.set_all(&Key::new(name).expect("a key"), &std::fs::read(&path).expect("bytes")).expect("set");
    }
    Arc::new(store)
}

/// Opens the file `name` of `files` as an input.
fn input(files: &Arc<dyn Store>, name: &str) -> Input {
    let key = Key::new(name).expect("a key");
    let bytes = files.get_all(&key).expect("get").expect("a file");
    let store = match zarr_netcdf::is_netcdf(&bytes) {
        true => zarr_netcdf::open(Arc::clone(files), key).expect("a netCDF-3 file"),
        false => zarr_hdf5::open(Arc::clone(files), key, name).expect("an HDF5 file"),
    };
    Input::new(name, store)
}

fn inputs(files: &Arc<dyn Store>, names: &[&str]) -> Vec<Input> {
    names.iter().map(|name| input(files, name)).collect()
}

fn along_time() -> JoinOptions {
    JoinOptions::default().concat(Some("time".to_owned()))
}

fn expected(set: &str) -> Value {
    let text = std::fs::read_to_string(folder().join("expected.json")).expect("a text");
    Value::from_json(&text).expect("JSON").get(set).expect("a set").clone()
}

fn names(expected: &Value) -> Vec<String> {
    let names = expected.get("files").and_then(Value::as_array).expect("names");
    names.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
}

/// Compares the variables of `store` that `variables` names, or all if it is empty, with `expected`.
fn check(store: &Arc<dyn Store>, expected: &Value, variables: &[&str]) {
    let registry = registry();
    let all = expected.get("variables").and_then(Value::as_object).expect("variables");
    for (name, variable) in all.iter().filter(|(name, _)| variables.is_empty() || variables.contains(name)) {
        let array = Array::open(store, &format!("/{name}"), &registry).expect(name);
        let shape = variable.get("shape").and_then(Value::as_array).expect("a shape");
        assert_eq!(array.shape(), shape.iter().map(|it| it.as_u64().expect("a length")).collect::<Vec<_>>(), "{name}");
        let values = variable.get("values").and_then(Value::as_array).expect("values");
        let numbers = || values.iter().map(|value| value.as_f64().expect("a number"));
        match array.data_type() {
            DataType::Float32 => {
                let found = array.read::<f32>(..).expect(name);
                assert_eq!(found, numbers().map(|number| number as f32).collect::<Vec<_>>(), "{name}");
            }
            DataType::Float64 => {
                assert_eq!(array.read::<f64>(..).expect(name), numbers().collect::<Vec<_>>(), "{name}")
            }
            _ => {
                let data = array.read_data(..).expect(name);
                assert_eq!((0..data.len()).map(|index| data.json(index)).collect::<Vec<_>>(), values, "{name}");
            }
        }
    }
}
