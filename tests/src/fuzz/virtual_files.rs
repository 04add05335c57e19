//! Files of netCDF-3 and references of kerchunk: opened, listed, and every array read that is not large.

use std::path::Path;
use std::sync::Arc;

use zarr::store::{Key, MemoryStore, StoreExt};
use zarr_references::ReferencesOptions;

use super::hdf5::read;
use crate::Fault;

/// The file that the references of the fixtures lead to.
const DATA: &[u8] = include_bytes!("../../fixtures/netcdf/cdf1.nc");

pub(super) fn netcdf(input: &[u8]) -> bool {
    let (below, key) = (MemoryStore::new(), Key::new("x.nc").expect("a key"));
    below.set_all(&key, input).expect("memory takes values");
    zarr_netcdf::open(Arc::new(below), key).is_ok_and(|store| read(Arc::new(store)))
}

pub(super) fn references(input: &[u8]) -> bool {
    let (below, key) = (MemoryStore::new(), Key::new("refs.json").expect("a key"));
    below.set_all(&key, input).expect("memory takes values");
    below.set_all(&Key::new("cdf1.nc").expect("a key"), DATA).expect("memory takes values");
    let opened = zarr_references::open(Arc::new(below), key, &ReferencesOptions::default());
    opened.is_ok_and(|store| zarr::hierarchy::walk(&store, "/", None).is_ok_and(|walk| walk.broken.is_empty()))
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
