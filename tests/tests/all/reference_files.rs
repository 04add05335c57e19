//! References that kerchunk made of a netCDF file (`tests/fixtures/references.py`): the same arrays as the file has.

use std::path::Path;
use std::sync::Arc;

use zarr::store::{Prefix, Store, StoreExt, testing};
use zarr_array::Array;
use zarr_json::Value;

fn values(array: &Array) -> Vec<Value> {
    let data = array.read_data(..).unwrap();
    (0..data.len()).map(|index| data.json(index)).collect()
}

#[test]
fn references_have_the_values_of_the_file() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixtures.join("netcdf/cdf1.nc"), folder.path().join("cdf1.nc")).unwrap();
    let file = zarr::store::open(folder.path().join("cdf1.nc").to_str().unwrap()).unwrap();
    for name in ["ranges.json", "inlined.json"] {
        let path = folder.path().join(name);
        std::fs::copy(fixtures.join("references").join(name), &path).unwrap();
        let path = path.to_str().unwrap();
        for address in [path.to_owned(), format!("references:{path}")] {
            let store = zarr::store::open(&address).unwrap();
            assert_eq!(store.to_string(), path);
            let listed = store.list_dir(&Prefix::root()).unwrap().prefixes;
            assert_eq!(listed, file.list_dir(&Prefix::root()).unwrap().prefixes);
            for prefix in &listed {
                let at = format!("/{}", prefix.name().unwrap());
                let open = |store: &Arc<dyn Store>| zarr::open((store, at.as_str())).array().unwrap();
                let (found, expected) = (open(&store), open(&file));
                assert_eq!((found.shape(), values(&found)), (expected.shape(), values(&expected)), "{name}: {at}");
                let units = |array: &Array| array.attributes().unwrap().get("units").cloned();
                assert_eq!(units(&found), units(&expected));
            }
            assert_eq!(store.take_warnings(), [""; 0]);
        }
        let store = zarr::store::open(path).unwrap();
        let keys = store.list().unwrap();
        let values: Vec<_> = keys.iter().map(|key| store.get_all(key).unwrap().unwrap()).collect();
        let values: Vec<(&str, &[u8])> =
            keys.iter().map(|key| key.as_str()).zip(values.iter().map(|value| &**value)).collect();
        testing::contract_read(&*store, &values);
        testing::contract_read_only(&*store);
        assert!(zarr::store::create(path).unwrap_err().is_read_only());
    }
}
