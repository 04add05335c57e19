//! Files of netCDF-3 and TIFF, and references of kerchunk: opened, listed, and every array read that is not large; files of references in Parquet.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use zarr::store::{Key, MemoryStore, Prefix, StoreExt};
use zarr_references::ReferencesOptions;

use super::hdf5::read;
use crate::Fault;

/// File to which the references of the fixtures point.
const DATA: &[u8] = include_bytes!("../../fixtures/netcdf/cdf1.nc");

pub(super) fn netcdf(input: &[u8]) -> bool {
    let (below, key) = (MemoryStore::new(), Key::new("x.nc").expect("a key"));
    below.set_all(&key, input).expect("memory takes values");
    zarr_netcdf::open(Arc::new(below), key).is_ok_and(|store| read(Arc::new(store)))
}

pub(super) fn tiff(input: &[u8]) -> bool {
    let (below, key) = (MemoryStore::new(), Key::new("x.tif").expect("a key"));
    below.set_all(&key, input).expect("memory takes values");
    zarr_tiff::open(Arc::new(below), key, "x.tif").is_ok_and(|store| read(Arc::new(store)))
}

pub(super) fn references(input: &[u8]) -> bool {
    let (below, key) = (MemoryStore::new(), Key::new("refs.json").expect("a key"));
    below.set_all(&key, input).expect("memory takes values");
    below.set_all(&Key::new("cdf1.nc").expect("a key"), DATA).expect("memory takes values");
    let opened = zarr_references::open(Arc::new(below), key, &ReferencesOptions::default());
    opened.is_ok_and(|store| zarr::hierarchy::walk(&store, "/", None).is_ok_and(|walk| walk.broken.is_empty()))
}

/// The documents of an array whose table of references is one file: as many chunks as arrays of the fixtures have.
const METADATA: &str =
    r#"{"metadata": {"a/.zarray": {"zarr_format": 2, "shape": [2], "chunks": [1]}}, "record_size": 1048576}"#;

pub(super) fn parquet(input: &[u8]) -> bool {
    let below = MemoryStore::new();
    let key = |name: &str| Key::new(name).expect("a key");
    for (name, value) in [(".zmetadata", METADATA.as_bytes()), ("a/refs.0.parq", input)] {
        below.set_all(&key(&format!("refs.parq/{name}")), value).expect("memory takes values");
    }
    below.set_all(&key("cdf1.nc"), DATA).expect("memory takes values");
    let folder = Prefix::new("refs.parq/").expect("a prefix");
    let store = zarr_references::open_parquet(Arc::new(below), &folder, &ReferencesOptions::default());
    let store = store.expect("the documents are sound");
    // Ranges may be outside of the file, whose place is a fault of the reference then.
    let _ = store.get_all(&key("a/0"));
    StoreExt::list_prefix(&store, &Prefix::root()).is_ok()
}

/// The files of references in the archive of the fixtures.
pub(super) fn parquet_seeds() -> Result<Vec<Vec<u8>>, Fault> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/references/parquet.tar.gz");
    let fault = |error: std::io::Error| format!("{}: {error}", path.display());
    let archive = std::fs::read(&path).map_err(fault)?;
    let mut files = Vec::new();
    for entry in tar::Archive::new(flate2::read::GzDecoder::new(&*archive)).entries().map_err(fault)? {
        let mut entry = entry.map_err(fault)?;
        if entry.path().map_err(fault)?.extension().is_some_and(|found| found == "parq") {
            let mut file = Vec::new();
            entry.read_to_end(&mut file).map_err(fault)?;
            files.push(file);
        }
    }
    Ok(files)
}

/// The files of a folder of the fixtures that end so.
pub(super) fn seeds(folder: &str, end: &str) -> Result<Vec<Vec<u8>>, Fault> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        if path.extension().is_some_and(|found| found == end) {
            files.push(std::fs::read(path).map_err(fault)?);
        }
    }
    Ok(files)
}
