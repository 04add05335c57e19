//! Files of netCDF-3 as stores: what netCDF4 reads from the same files (`tests/fixtures/netcdf.py`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarr::store::{
    AccessProfile, Counted, ErrorKind, FilesystemStore, Key, MemoryStore, Prefix, ReadOnly, Store, StoreExt,
    StoreOptions, schemes, testing,
};
use zarr_array::Array;
use zarr_cf::fill::{FILL_VALUE, from_attribute};
use zarr_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/netcdf")
}

fn expected() -> Value {
    Value::from_json(&std::fs::read_to_string(folder().join("expected.json")).unwrap()).unwrap()
}

/// A number, also one that JSON has as text.
fn float(value: &Value) -> f64 {
    value.as_str().map_or_else(|| value.as_f64().unwrap(), |text| text.parse().unwrap())
}

fn are_equal(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(found, expected)| are_equal(found, expected))
        }
        (found, expected) => found.semantically_eq(expected),
    }
}

fn check_variable(array: &Array, expected: &Value, at: &str) {
    let get = |name: &str| expected.get(name).unwrap();
    let shape: Vec<u64> = get("shape").as_array().unwrap().iter().map(|length| length.as_u64().unwrap()).collect();
    assert_eq!(array.shape(), shape, "{at}");
    let values = get("values").as_array().unwrap();
    let dtype = get("dtype").as_str().unwrap();
    match dtype {
        "char" => {
            let found: Vec<u64> = array.read::<[u8; 1]>(..).unwrap().iter().map(|[byte]| (*byte).into()).collect();
            assert_eq!(found, values.iter().map(|value| value.as_u64().unwrap()).collect::<Vec<_>>(), "{at}");
        }
        "float32" => {
            let found: Vec<u32> = array.read::<f32>(..).unwrap().into_iter().map(f32::to_bits).collect();
            assert_eq!(found, values.iter().map(|value| (float(value) as f32).to_bits()).collect::<Vec<_>>(), "{at}");
        }
        "float64" => {
            let found: Vec<u64> = array.read::<f64>(..).unwrap().into_iter().map(f64::to_bits).collect();
            assert_eq!(found, values.iter().map(|value| float(value).to_bits()).collect::<Vec<_>>(), "{at}");
        }
        _ => {
            assert_eq!(array.data_type().to_string(), dtype, "{at}");
            let data = array.read_data(..).unwrap();
            let found: Vec<Value> = (0..data.len()).map(|index| data.json(index)).collect();
            assert_eq!(found, values, "{at}");
        }
    }
    let names = array.dimension_names().unwrap();
    let names: Vec<Value> = names.iter().map(|name| name.as_deref().map_or(Value::Null, Value::from)).collect();
    assert_eq!(names, get("dimensions").as_array().unwrap(), "{at}");
    check_attributes(array, array.attributes().unwrap(), get("attributes"), at);
}

fn check_attributes(array: &Array, found: &zarr_json::Map, expected: &Value, at: &str) {
    let expected = expected.as_object().unwrap();
    assert!(found.keys().eq(expected.keys()), "{at}: {found:?}");
    for (name, value) in expected.iter() {
        let found = found.get(name).unwrap();
        if name == FILL_VALUE && array.data_type().to_string() != "null_terminated_bytes" {
            let fill = from_attribute(array.data_type(), found).unwrap().to_value();
            assert!(are_equal(&fill, value), "{at}: {name}: {fill}");
            continue;
        }
        assert!(are_equal(found, value), "{at}: {name}: {found} and not {value}");
    }
}

/// The store of a file, and the same file as a value in memory that is far away.
fn stores(name: &str) -> [Arc<dyn Store>; 2] {
    let local = FilesystemStore::open(folder()).unwrap();
    let below = MemoryStore::new();
    below.set_all(&Key::new("x.nc").unwrap(), &std::fs::read(folder().join(name)).unwrap()).unwrap();
    let far = testing::Altered::new(below).with_profile(AccessProfile::REMOTE);
    let open = |store, name| Arc::new(zarr_netcdf::open(store, Key::new(name).unwrap()).unwrap());
    [open(Arc::new(local), name), open(Arc::new(far), "x.nc")]
}

#[test]
fn files_are_read_as_netcdf4_reads_them() {
    let expected = expected();
    let files = expected.as_object().unwrap();
    assert!(files.len() >= 9);
    let mut count = 0;
    for (name, file) in files.iter() {
        for store in stores(&format!("{name}.nc")) {
            let group = zarr::open(&store).group().unwrap();
            let attributes = file.get("attributes").unwrap();
            assert!(group.attributes().unwrap().keys().eq(attributes.as_object().unwrap().keys()), "{name}");
            for (key, value) in attributes.as_object().unwrap().iter() {
                assert!(are_equal(group.attributes().unwrap().get(key).unwrap(), value), "{name}: {key}");
            }
            let variables = file.get("variables").unwrap().as_object().unwrap();
            let listed = store.list_dir(&Prefix::root()).unwrap().prefixes;
            assert_eq!(listed.len(), variables.len(), "{name}");
            for (variable, expected) in variables.iter() {
                let array = zarr::open((&store, format!("/{variable}").as_str())).array().unwrap();
                check_variable(&array, expected, &format!("{name}: {variable}"));
                count += 1;
            }
        }
    }
    assert!(count > 200, "{count} variables");
}

#[test]
fn stores_of_files_keep_the_contract_of_reading() {
    for store in stores("cdf1.nc") {
        let keys = store.list().unwrap();
        let values: Vec<_> = keys.iter().map(|key| store.get_all(key).unwrap().unwrap()).collect();
        let values: Vec<(&str, &[u8])> =
            keys.iter().map(|key| key.as_str()).zip(values.iter().map(|value| &**value)).collect();
        testing::contract_read(&*store, &values);
        testing::contract_read_only(&*store);
    }
}

#[test]
fn a_file_is_opened_by_one_request_and_read_by_ranges() {
    let below = MemoryStore::new();
    below.set_all(&Key::new("x.nc").unwrap(), &std::fs::read(folder().join("cdf5.nc")).unwrap()).unwrap();
    let counted = Arc::new(Counted::new(below));
    let store: Arc<dyn Store> = Arc::new(zarr_netcdf::open(counted.clone(), Key::new("x.nc").unwrap()).unwrap());
    assert_eq!(counted.take().gets, 1);
    let array = zarr::open((&store, "/fixed_d")).array().unwrap();
    assert_eq!(counted.take().gets, 0);
    assert_eq!(array.read::<f64>([2..3, 4..5]).unwrap(), [1e6]);
    let counts = counted.take();
    assert_eq!((counts.gets, counts.bytes_read), (1, 8));
}

#[test]
fn files_are_found_by_their_first_bytes_and_by_their_scheme() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.bin");
    std::fs::copy(self::folder().join("cdf1.nc"), &path).unwrap();
    let path = path.to_str().unwrap();
    for address in [path.to_owned(), format!("netcdf:{path}")] {
        let array = zarr::open(format!("{address}::/time").as_str()).array().unwrap();
        assert_eq!(array.read::<f64>(..).unwrap(), [0.0, 1.0, 2.0, 3.5]);
    }
    let array = zarr::open(format!("{path}/time").as_str()).array().unwrap();
    assert_eq!(array.shape(), [4]);
    let error = zarr::store::create(path).unwrap_err();
    assert!(error.is_read_only(), "{error}");
    let error = zarr::store::open_with(path, &StoreOptions::new().set("locks", "true")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    let missing = format!("netcdf:{path}x");
    assert!(zarr::store::open(&missing).unwrap_err().is_not_found());
    assert!(schemes().get("netcdf").is_some());
    std::fs::write(path, "no netCDF").unwrap();
    let error = zarr::store::open(&format!("netcdf:{path}")).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{path}: found \"no n\", expected a netCDF-3 file, which begins with CDF and 1, 2 or 5")
    );
}

/// Damaged files have clear errors or other values, and take no more memory than a header may.
#[test]
fn damaged_files_are_errors() {
    let whole = std::fs::read(folder().join("cdf5.nc")).unwrap();
    let open = |bytes: &[u8]| {
        let below = MemoryStore::new();
        below.set_all(&Key::new("x.nc").unwrap(), bytes).unwrap();
        zarr_netcdf::open(Arc::new(below), Key::new("x.nc").unwrap())
    };
    for len in [0, 3, 4, 11, 100, 2000] {
        let error = open(&whole[..len]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        let expected = if len < 4 { format!("found {len} bytes") } else { format!("byte {len}: the file ends") };
        assert!(error.to_string().contains(&expected), "{error}");
    }
    let store: Arc<dyn Store> = Arc::new(open(&whole[..whole.len() - 100]).unwrap());
    let error = zarr::open((&store, "/packed")).array().unwrap().read::<i16>(..).unwrap_err();
    assert!(error.to_string().contains("in memory:x.nc, expected bytes"), "{error}");
    // Each byte of the header is changed, to several others.
    let (mut refused, mut opened) = (0, 0);
    for at in 0..2500 {
        for change in [0xff, 0x80, 0x01] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            match open(&bytes) {
                Ok(store) => {
                    opened += 1;
                    let store: Arc<dyn Store> = Arc::new(ReadOnly(store));
                    let listed = store.list_dir(&Prefix::root()).unwrap();
                    for prefix in listed.prefixes.iter().take(3) {
                        let name = prefix.name().unwrap();
                        if let Ok(array) = zarr::open((&store, format!("/{name}").as_str())).array()
                            && array.shape().iter().product::<u64>() < 1 << 20
                        {
                            let _ = array.read_data(..);
                        }
                    }
                }
                Err(error) => {
                    refused += 1;
                    assert!(
                        matches!(
                            error.kind(),
                            ErrorKind::Invalid | ErrorKind::Limit | ErrorKind::Path | ErrorKind::Argument
                        ),
                        "{error}"
                    );
                }
            }
        }
    }
    assert!(refused > 500 && opened > 500, "{refused} refused, {opened} opened");
}
