//! Files of other formats as stores: files of this machine are known by their first bytes, others by the scheme that is named.

use std::path::Path;
use std::sync::Arc;

use zarr_store::{Error, Key, Operation, Result, Store};
use zarr_store_filesystem::FilesystemStore;

use super::{Schemes, StoreAddress, StoreOptions, signature_of_file};

/// Opens the file at an address.
type Open = fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>>;

/// How a file of this machine is opened, and the options that are its own; `None` if it is of no format that this build reads.
fn known(path: &Path) -> Option<(Open, &'static [&'static str])> {
    match signature_of_file(path)?.what {
        #[cfg(feature = "netcdf")]
        super::signature::NETCDF => Some((netcdf::open, &[])),
        #[cfg(feature = "references")]
        super::signature::REFERENCES => Some((references::open, &[references::ALLOW])),
        _ => None,
    }
}

/// The store that a file of this machine is; `None` if it is of no format that this build reads.
pub(super) fn open_file(
    address: &StoreAddress,
    path: &Path,
    options: &StoreOptions,
    schemes: &Schemes,
) -> Result<Option<Arc<dyn Store>>> {
    let Some((open, names)) = known(path) else { return Ok(None) };
    if let Some((name, _)) = options.pairs().iter().find(|(name, _)| !names.contains(&name.as_str())) {
        return Err(
            address.refuse(format!("option {name} is not known, a file that is only read has none of this name"))
        );
    }
    open(address, options, schemes).map(Some)
}

/// Refuses to open a file for changes that is only read.
pub(super) fn refuse_changes(address: &StoreAddress, path: &Path) -> Result<()> {
    match known(path) {
        Some(_) => Err(Error::ReadOnly { store: address.to_string(), operation: Operation::Open }),
        None => Ok(()),
    }
}

/// The store that a file is in, and its key there.
fn place(address: &StoreAddress, options: &StoreOptions, schemes: &Schemes) -> Result<(Arc<dyn Store>, Key)> {
    if let Some(path) = address.path() {
        return local(address, path);
    }
    let (above, name) = address.in_store().ok_or_else(|| address.refuse("expected the address of a file"))?;
    let options = schemes.options_for(&above, options)?;
    Ok((schemes.open(&above, &options)?, Key::new(&name)?))
}

/// The directory that a file of this machine is in, and its key there.
fn local(address: &StoreAddress, path: &Path) -> Result<(Arc<dyn Store>, Key)> {
    if !path.is_file() {
        return Err(Error::NoStore { store: address.to_string() });
    }
    let name =
        path.file_name().and_then(|name| name.to_str()).ok_or_else(|| address.refuse("the name is not UTF-8"))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((Arc::new(FilesystemStore::open(folder)?), Key::new(name)?))
}

/// The address of the file, without the scheme that says what it is.
fn inner(address: &StoreAddress) -> &StoreAddress {
    address.inner().unwrap_or(address)
}

#[cfg(feature = "netcdf")]
pub(super) mod netcdf {
    use zarr_netcdf::NetcdfOptions;

    use super::*;

    pub(in crate::store) fn open(
        address: &StoreAddress,
        options: &StoreOptions,
        schemes: &Schemes,
    ) -> Result<Arc<dyn Store>> {
        let file = inner(address);
        // A link may lead to another directory.
        let target = file.path().and_then(|path| path.canonicalize().ok());
        let (store, key) = match target {
            Some(path) => local(file, &path)?,
            None => place(file, options, schemes)?,
        };
        let options = NetcdfOptions::default().name(file.to_string());
        Ok(Arc::new(zarr_netcdf::open_with(store, key, &options)?))
    }
}

#[cfg(feature = "references")]
pub(super) mod references {
    use zarr_references::ReferencesOptions;

    use super::*;
    use crate::store::Scheme;

    /// The option with the addresses that references may lead to.
    pub(super) const ALLOW: &str = "allow";

    pub(in crate::store) fn scheme() -> Scheme {
        Scheme::address(&["references"], open).options(&[ALLOW]).ends(&[".json"])
    }

    pub(super) fn open(address: &StoreAddress, options: &StoreOptions, schemes: &Schemes) -> Result<Arc<dyn Store>> {
        let file = inner(address);
        let others = options.filter(|name| name != ALLOW);
        let (store, key) = place(file, &others, schemes)?;
        let mut chosen = ReferencesOptions::default().name(file.to_string());
        for prefix in options.get(ALLOW).unwrap_or_default().split(',').filter(|prefix| !prefix.is_empty()) {
            chosen = chosen.allow(absolute(prefix));
        }
        for directory in directories(file) {
            chosen = chosen.directory(directory);
        }
        let schemes = schemes.clone();
        let chosen = chosen.open_by(move |prefix| {
            let address = schemes.address(prefix)?;
            schemes.open(&address, &schemes.options_for(&address, &others)?)
        });
        Ok(Arc::new(zarr_references::open(store, key, &chosen)?))
    }

    /// The addresses of the directory that a file is in: as it was given, and without links.
    fn directories(file: &StoreAddress) -> Vec<String> {
        let Some(path) = file.path() else {
            return file.in_store().and_then(|(above, _)| above.url()).into_iter().collect();
        };
        let folder = std::path::absolute(path).ok().and_then(|path| path.parent().map(Path::to_owned));
        let target = folder.as_ref().and_then(|folder| folder.canonicalize().ok());
        let mut folders: Vec<String> =
            folder.into_iter().chain(target).filter_map(|folder| folder.to_str().map(str::to_owned)).collect();
        folders.dedup();
        folders
    }

    /// A path of this machine from its root, since references name files so.
    fn absolute(prefix: &str) -> String {
        let path = Path::new(prefix);
        if prefix.contains("://") || path.is_absolute() {
            return prefix.to_owned();
        }
        std::path::absolute(path)
            .ok()
            .and_then(|path| path.to_str().map(str::to_owned))
            .unwrap_or_else(|| prefix.to_owned())
    }
}
