//! HDF5 and netCDF-4 files as stores. The archive `hdf5` of fixtures (`conformance.rs`) has their elements.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use zarr::Selection;
use zarr::store::{Counted, ErrorKind, MemoryStore, Prefix, Store, StoreExt};
use zarr_store::{Key, SizeVisitor};
use zarr_tests::{Case, cases};
use zarr_testserver::{Bucket, TestServer};

fn all() -> Vec<Case> {
    cases("hdf5").unwrap()
}

fn path(case: &Case) -> PathBuf {
    case.url().into()
}

fn named(name: &str) -> PathBuf {
    path(all().iter().find(|case| case.name == name).unwrap())
}

#[test]
fn each_thing_that_is_left_out_is_a_warning() {
    for case in all() {
        let store = zarr::store::open(&case.url()).unwrap();
        let mut warnings = store.take_warnings();
        warnings.sort();
        assert_eq!(warnings, case.expected.warnings, "{}", case.name);
        assert!(store.take_warnings().is_empty());
    }
}

#[test]
fn stores_keep_the_contract_of_those_that_are_read() {
    for name in ["netcdf4", "filters", "groups_latest"] {
        let store = zarr::store::open(named(name).to_str().unwrap()).unwrap();
        let keys = store.list_prefix(&Prefix::root()).unwrap();
        assert!(keys.len() > 20, "{name}");
        let values: Vec<(Key, Vec<u8>)> =
            keys.into_iter().map(|key| (key.clone(), store.get_all(&key).unwrap().unwrap().to_vec())).collect();
        let values: Vec<(&str, &[u8])> = values.iter().map(|(key, value)| (key.as_str(), value.as_slice())).collect();
        zarr::store::testing::contract_read(&*store, &values);
        zarr::store::testing::contract_read_only(&*store);
    }
}

/// Files are known by their bytes, whatever their names are, and a node may follow behind them.
#[test]
fn addresses() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    std::fs::copy(named("user_block"), &file).unwrap();
    let shown = file.display();
    let expected = zarr::open(format!("{shown}::/contiguous")).array().unwrap().read::<i32>(..).unwrap();
    assert_eq!(expected.len(), 5);
    for address in
        [format!("{shown}/contiguous"), format!("hdf5:{shown}::/contiguous"), format!("hdf5:{shown}/contiguous")]
    {
        let array = zarr::open(&*address).array().unwrap();
        assert_eq!(array.read::<i32>(..).unwrap(), expected, "{address}");
    }
    #[cfg(unix)]
    {
        let link = folder.path().join("below/link.nc");
        std::fs::create_dir(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("../data", &link).unwrap();
        assert_eq!(
            zarr::open(format!("{}/contiguous", link.display())).array().unwrap().read::<i32>(..).unwrap(),
            expected
        );
    }
    let missing = zarr::store::open(&format!("hdf5:{}", folder.path().join("none.h5").display())).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound, "{missing}");
    std::fs::write(folder.path().join("x.h5"), b"no HDF5").unwrap();
    let other = zarr::store::open(&format!("hdf5:{}", folder.path().join("x.h5").display())).unwrap_err();
    assert!(other.to_string().ends_with("found no signature of HDF5, expected an HDF5 file"), "{other}");
}

#[test]
fn nothing_is_written() {
    let file = named("user_block");
    let before = std::fs::read(&file).unwrap();
    let address = file.to_str().unwrap();
    let error = zarr::open(format!("{address}::/contiguous")).array().unwrap().write(.., &[1, 2, 3, 4, 5]).unwrap_err();
    assert!(error.to_string().contains("the store is read-only"), "{error}");
    for address in [address.to_owned(), format!("hdf5:{address}")] {
        let error = zarr::store::create(&address).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

/// All metadata comes in few requests, and a chunk in one.
#[test]
fn few_requests() {
    let bytes = std::fs::read(named("netcdf4")).unwrap();
    let below = Arc::new(Counted::new(MemoryStore::new()));
    below.set_all(&Key::new("x.nc").unwrap(), &bytes).unwrap();
    below.take();
    let opened = zarr_hdf5::open(Arc::clone(&below) as Arc<dyn Store>, Key::new("x.nc").unwrap(), "x.nc").unwrap();
    let store: Arc<dyn Store> = Arc::new(opened);
    // The size, and blocks of 64 KiB.
    assert!(below.take().gets <= 3);
    let array = zarr::open((&store, "/t")).array().unwrap();
    assert_eq!(below.take().gets, 0);
    array.read::<i16>((0, 0, 0)).unwrap();
    assert_eq!(below.take().gets, 1);
}

/// Sizes of chunks whose elements have one are known without them.
#[test]
fn sizes_cost_no_requests() {
    for (name, path) in [("filters", "lzf/"), ("filters", "gzip_gaps/"), ("filters", "skips/"), ("edges", "")] {
        let bytes = std::fs::read(named(name)).unwrap();
        let below = Arc::new(Counted::new(MemoryStore::new()));
        below.set_all(&Key::new("x.h5").unwrap(), &bytes).unwrap();
        let key = Key::new("x.h5").unwrap();
        let store = zarr_hdf5::open(Arc::clone(&below) as Arc<dyn Store>, key, name).unwrap();
        let prefix = if path.is_empty() { Prefix::root() } else { Prefix::new(path).unwrap() };
        below.take();
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let found = Arc::clone(&sizes);
        let visit: SizeVisitor = Arc::new(move |key, size| found.lock().unwrap().push((key, size)));
        store.list_sizes(&prefix, &visit).unwrap();
        let sizes = std::mem::take(&mut *sizes.lock().unwrap());
        assert_eq!(below.take().gets, 0, "{name} {path}");
        assert!(sizes.len() > 1, "{name} {path}");
        for (key, size) in sizes {
            let value = store.get_all(&key).unwrap().unwrap();
            assert_eq!(value.len() as u64, size, "{key}");
        }
    }
}

#[test]
fn a_file_on_the_web() {
    let file = named("filters");
    let server = TestServer::start().unwrap();
    server.bucket("files", Bucket::plain());
    server.put("files", "deep/x.h5", std::fs::read(&file).unwrap());
    let address = format!("hdf5:{}/files/deep/x.h5", server.url());
    for (path, local) in [("::/shuffle_gzip_be", "shuffle_gzip_be"), ("/zstd_shuffle", "zstd_shuffle")] {
        let there = zarr::open(format!("{address}{path}")).array().unwrap();
        let here = zarr::open(format!("{}/{local}", file.display())).array().unwrap();
        assert_eq!(there.read::<f64>(..).unwrap(), here.read::<f64>(..).unwrap());
    }
    // Texts lie in a heap, from which their chunks are made.
    let texts = zarr::open(format!("{address}/gzip_texts")).array().unwrap().read::<String>(..).unwrap();
    assert_eq!(texts, ["a", "\u{fc}", "", "long text"]);
}

#[test]
fn a_data_set_on_the_web_is_few_requests() {
    let server = TestServer::start().unwrap();
    server.bucket("files", Bucket::plain());
    let file = named("netcdf4");
    server.put("files", "x.nc", std::fs::read(&file).unwrap());
    let values = |address: &str| {
        let data = zarr::open(address).dataset().unwrap();
        let names: Vec<String> = data.variables().map(|variable| variable.name().to_owned()).collect();
        names
    };
    let there = values(&format!("hdf5:{}/files/x.nc", server.url()));
    let requests = server.counts().requests();
    assert!(requests <= 6, "{requests} requests");
    assert_eq!(there, values(file.to_str().unwrap()));
    assert!(there.len() > 5, "{there:?}");
}

/// A file is read in the state that was opened. Where that is gone, it is an error, and no other values.
#[test]
fn a_replaced_file_is_refused() {
    let bytes = std::fs::read(named("user_block")).unwrap();
    let other = [&bytes[..], &[0]].concat();
    let read =
        |store: &Arc<dyn Store>, path: &str| zarr::open((store, path)).array().unwrap().read_data(Selection::all());
    let below = Arc::new(MemoryStore::new());
    let key = Key::new("x.h5").unwrap();
    below.set_all(&key, &bytes).unwrap();
    let store = zarr_hdf5::open(Arc::clone(&below) as Arc<dyn Store>, key.clone(), "x.h5").unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    below.set_all(&key, &other).unwrap();
    assert!(read(&store, "/chunks").is_ok() && read(&store, "/texts").is_ok());

    let server = TestServer::start().unwrap();
    server.bucket("files", Bucket::plain());
    server.put("files", "x.h5", bytes);
    let store = zarr::store::open(&format!("hdf5:{}/files/x.h5", server.url())).unwrap();
    assert!(read(&store, "/chunks").is_ok() && read(&store, "/texts").is_ok());
    server.put("files", "x.h5", other);
    // What was read when the file was opened is of its state.
    assert!(read(&store, "/chunks").is_ok());
    let error = read(&store, "/texts").unwrap_err();
    assert!(error.with_causes().to_string().contains("was replaced after it was opened"), "{error}");
}
