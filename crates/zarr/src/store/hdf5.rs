//! HDF5 and netCDF-4 files as stores.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use zarr_store::{Error, Key, Result, Store};
use zarr_store_filesystem::FilesystemStore;

use super::{Scheme, Schemes, StoreAddress, StoreOptions};

/// Ends of names behind which the path of a node may follow.
const ENDS: &[&str] = &[".nc", ".nc4", ".h5", ".hdf5", ".he5"];
/// Number of bytes that show the signature behind the largest user block that is looked behind.
const HEAD: u64 = 2056;

pub(super) fn scheme() -> Scheme {
    Scheme::address(&["hdf5"], open).ends(ENDS)
}

/// Whether a path is that of such a file, by its first bytes.
pub(crate) fn is_file(path: &Path) -> bool {
    let mut head = Vec::new();
    let mut read = || File::open(path)?.take(HEAD).read_to_end(&mut head);
    path.is_file() && read().is_ok() && zarr_hdf5::is_hdf5(&head)
}

/// Opens the file that is the value at an address.
fn open(address: &StoreAddress, options: &StoreOptions, schemes: &Schemes) -> Result<Arc<dyn Store>> {
    let inner = address.inner().ok_or_else(|| address.refuse("expected an address"))?;
    if let Some(path) = inner.path().filter(|_| inner.scheme().is_none()) {
        return open_file(address, path, options);
    }
    let (above, name) = inner.in_store().ok_or_else(|| address.refuse("expected the address of a file"))?;
    let store = schemes.open(&above, options)?;
    Ok(Arc::new(zarr_hdf5::open(store, Key::new(&name)?, address.to_string())?))
}

/// Opens the file at a path.
pub(super) fn open_file(address: &StoreAddress, path: &Path, options: &StoreOptions) -> Result<Arc<dyn Store>> {
    if let Some((name, _)) = options.pairs().first() {
        return Err(address.refuse(format!("option {name} is not known, an HDF5 file has none")));
    }
    if path.is_dir() {
        let store = address.to_string();
        return Err(Error::NotAStore { store, found: "a directory", expected: "an HDF5 file" });
    }
    // A link may lead out of its directory, which is the store below.
    let real = path.canonicalize().map_err(|_| Error::NoStore { store: address.to_string() })?;
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(address.refuse("expected the path of a file"));
    };
    let name = name.to_str().ok_or_else(|| address.refuse("the name of the file is not UTF-8"))?;
    let folder: Arc<dyn Store> = Arc::new(FilesystemStore::open(folder)?);
    Ok(Arc::new(zarr_hdf5::open(folder, Key::new(name)?, address.to_string())?))
}
