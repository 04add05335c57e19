//! Files of other formats as stores. Files of this machine are recognized by their first bytes, others by the scheme of the address.

use std::path::Path;
use std::sync::Arc;

use zarr_store::{Error, Key, Operation, Result, Store};
use zarr_store_filesystem::FilesystemStore;
use zarr_store_virtual::VirtualStore;

use super::{Schemes, StoreAddress, StoreOptions, signature_of_file};

/// Function that opens the file at an address as a store.
type Open = fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<VirtualStore>;

/// Returns the function that opens a file of this machine, and whether it takes options for the stores that the file refers to; `None` for
/// a format that this build does not read.
fn known(path: &Path) -> Option<(Open, bool)> {
    #[cfg(feature = "references-parquet")]
    if path.is_dir() {
        return super::signature::is_reference_folder(path).then_some((references::open as Open, true));
    }
    match signature_of_file(path)?.what {
        #[cfg(feature = "hdf5")]
        super::signature::HDF5 => Some((hdf5::open, true)),
        #[cfg(feature = "netcdf")]
        super::signature::NETCDF => Some((netcdf::open, false)),
        #[cfg(feature = "references")]
        super::signature::REFERENCES => Some((references::open, true)),
        #[cfg(feature = "tiff")]
        super::signature::TIFF => Some((tiff::open, false)),
        _ => None,
    }
}

/// Opens a file of this machine as a store; `None` for a format that this build does not read.
pub(super) fn open_file(
    address: &StoreAddress,
    path: &Path,
    options: &StoreOptions,
    schemes: &Schemes,
) -> Result<Option<VirtualStore>> {
    let Some((open, has_options)) = known(path) else { return Ok(None) };
    let is_refused = |name: &str| !has_options || super::options::DIRECTORY_OPTIONS.contains(&name);
    if let Some((name, _)) = options.pairs().iter().find(|(name, _)| is_refused(name)) {
        return Err(
            address.refuse(format!("option {name} is not known, a file that is only read has none of this name"))
        );
    }
    open(address, options, schemes).map(Some)
}

/// Opens the file at an address as a store, by its first bytes or by the scheme; `None` for a format that this build does not read.
#[cfg(feature = "virtualize")]
pub(crate) fn open_virtual(
    address: &StoreAddress,
    options: &StoreOptions,
    schemes: &Schemes,
) -> Result<Option<VirtualStore>> {
    schemes.check(address, options)?;
    if let Some(path) = address.path().filter(|_| address.scheme().is_none()) {
        return open_file(address, path, options, schemes);
    }
    let open: Open = match address.scheme() {
        #[cfg(feature = "hdf5")]
        Some("hdf5") => hdf5::open,
        #[cfg(feature = "netcdf")]
        Some("netcdf") => netcdf::open,
        #[cfg(feature = "references")]
        Some("references") => references::open,
        #[cfg(feature = "tiff")]
        Some("tiff") => tiff::open,
        _ => return Ok(None),
    };
    open(address, options, schemes).map(Some)
}

/// Returns the function with which a scheme opens stores, from a function that opens the file at an address.
fn opener(open: Open) -> impl Fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>> + Send + Sync {
    move |address, options, schemes| Ok(Arc::new(open(address, options, schemes)?))
}

/// Refuses to open a file for changes if its format can only be read.
pub(super) fn refuse_changes(address: &StoreAddress, path: &Path) -> Result<()> {
    match known(path) {
        Some(_) => Err(Error::ReadOnly { store: address.to_string(), operation: Operation::Open }),
        None => Ok(()),
    }
}

/// Returns the store that contains a file, and the key of the file in it.
fn place(address: &StoreAddress, options: &StoreOptions, schemes: &Schemes) -> Result<(Arc<dyn Store>, Key)> {
    if let Some(path) = address.path() {
        return local(address, path);
    }
    let (above, name) = address.in_store().ok_or_else(|| address.refuse("expected the address of a file"))?;
    let options = schemes.options_for(&above, options)?;
    Ok((schemes.open(&above, &options)?, Key::new(&name)?))
}

/// Returns the directory that contains a file of this machine as a store, and the key of the file in it.
fn local(address: &StoreAddress, path: &Path) -> Result<(Arc<dyn Store>, Key)> {
    if !path.is_file() {
        return Err(Error::NoStore { store: address.to_string() });
    }
    let name =
        path.file_name().and_then(|name| name.to_str()).ok_or_else(|| address.refuse("the name is not UTF-8"))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((Arc::new(FilesystemStore::open(folder)?), Key::new(name)?))
}

/// Returns the store that contains a file, and the key of the file in it. For a file of this machine, links are resolved first, since a
/// link may lead out of its directory.
#[cfg(any(feature = "hdf5", feature = "netcdf", feature = "tiff"))]
fn place_without_links(
    address: &StoreAddress,
    options: &StoreOptions,
    schemes: &Schemes,
) -> Result<(Arc<dyn Store>, Key)> {
    match address.path().map(Path::canonicalize) {
        Some(Ok(target)) => local(address, &target),
        _ => place(address, options, schemes),
    }
}

/// Returns the address of the file behind a scheme that names its format.
fn inner(address: &StoreAddress) -> &StoreAddress {
    address.inner().unwrap_or(address)
}

#[cfg(feature = "hdf5")]
pub(super) mod hdf5 {
    use std::io::ErrorKind;
    use zarr_hdf5::Hdf5Options;

    use super::*;
    use crate::store::Scheme;
    use crate::store::outside::{self, ALLOW, Outside};

    pub(in crate::store) fn scheme() -> Scheme {
        Scheme::address(&["hdf5"], opener(open)).options(&[ALLOW]).ends(&[".nc", ".nc4", ".h5", ".hdf5", ".he5"])
    }

    pub(super) fn open(address: &StoreAddress, options: &StoreOptions, schemes: &Schemes) -> Result<VirtualStore> {
        let file = inner(address);
        let (store, key) = place_without_links(file, &outside::without_allowed(options), schemes)?;
        let Outside { directories, allowed, open } = Outside::of(file, true, options, schemes)?;
        let chosen = Hdf5Options::default().name(address.to_string());
        let chosen = allowed.into_iter().fold(chosen, Hdf5Options::allow);
        let chosen = directories.into_iter().fold(chosen, Hdf5Options::directory);
        let chosen = match symbolic_link(file) {
            Some((path, folder)) => chosen.allow(folder).symbolic_link(path),
            None => chosen,
        };
        let is_here = file.path().is_some();
        let real = move |path: &str| if is_here { real_path(path) } else { None };
        zarr_hdf5::open_with(store, key, &chosen.real_path_by(real).open_by(move |prefix| open(prefix)))
    }

    /// Returns the path behind symbolic links; `None` if there is no file. A path that cannot be looked up for another reason is returned as it
    /// is, since there may be a file.
    fn real_path(path: &str) -> Option<String> {
        match Path::new(path).canonicalize() {
            Ok(real) => text(&real).or_else(|| Some(path.to_owned())),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
            Err(_) => Some(path.to_owned()),
        }
    }

    /// Returns the path of a file of this machine, and that of its directory, if it is a symbolic link to a file in another directory.
    fn symbolic_link(file: &StoreAddress) -> Option<(String, String)> {
        let path = std::path::absolute(file.path()?).ok()?;
        let folder = path.parent()?.canonicalize().ok()?;
        let target = path.canonicalize().ok()?;
        Some((text(&folder.join(path.file_name()?))?, text(&folder)?)).filter(|_| is_beside(&folder, &target))
    }

    /// Returns whether files in `folder`, which has a symbolic link to `target`, may be read as files beside it.
    fn is_beside(folder: &Path, target: &Path) -> bool {
        // Below the root lie all files of the machine.
        target.parent() != Some(folder) && folder.parent().is_some()
    }

    fn text(path: &Path) -> Option<String> {
        path.to_str().map(str::to_owned)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_symbolic_link_in_the_root_allows_no_other_file() {
            for (folder, target, expected) in
                [("/data", "/objects/aa/x.h5", true), ("/data", "/data/x.h5", false), ("/", "/objects/aa/x.h5", false)]
            {
                assert_eq!(is_beside(Path::new(folder), Path::new(target)), expected, "{folder} {target}");
            }
        }
    }
}

#[cfg(feature = "tiff")]
pub(super) mod tiff {
    use super::*;
    use crate::store::Scheme;

    pub(in crate::store) fn scheme() -> Scheme {
        Scheme::address(&["tiff"], opener(open)).ends(&[".tif", ".tiff", ".tf8", ".btf", ".svs"])
    }

    pub(super) fn open(address: &StoreAddress, options: &StoreOptions, schemes: &Schemes) -> Result<VirtualStore> {
        let (store, key) = place_without_links(inner(address), options, schemes)?;
        zarr_tiff::open(store, key, address.to_string())
    }
}

#[cfg(feature = "netcdf")]
pub(super) mod netcdf {
    use zarr_netcdf::NetcdfOptions;

    use super::*;
    use crate::store::Scheme;

    pub(in crate::store) fn scheme() -> Scheme {
        Scheme::address(&["netcdf"], opener(open)).ends(&[".nc", ".cdf"])
    }

    pub(super) fn open(address: &StoreAddress, options: &StoreOptions, schemes: &Schemes) -> Result<VirtualStore> {
        let file = inner(address);
        let (store, key) = place_without_links(file, options, schemes)?;
        let options = NetcdfOptions::default().name(file.to_string());
        zarr_netcdf::open_with(store, key, &options)
    }
}

#[cfg(feature = "references")]
pub(super) mod references {
    use zarr_references::ReferencesOptions;

    use super::*;
    use crate::store::outside::{self, ALLOW, Outside};
    use crate::store::{Scheme, reference_folders};

    pub(in crate::store) fn scheme() -> Scheme {
        Scheme::address(&["references"], opener(open)).options(&[ALLOW]).ends(&[".json", ".parq", ".parquet"])
    }

    pub(super) fn open(address: &StoreAddress, options: &StoreOptions, schemes: &Schemes) -> Result<VirtualStore> {
        let file = &reference_folders::named(inner(address));
        let others = outside::without_allowed(options);
        let folder = reference_folders::find(file, &others, schemes)?;
        let Outside { directories, allowed, open } = Outside::of(file, false, options, schemes)?;
        let chosen = ReferencesOptions::default().name(file.to_string());
        let chosen = allowed.into_iter().fold(chosen, ReferencesOptions::allow);
        let chosen = directories.into_iter().fold(chosen, ReferencesOptions::directory);
        let chosen = chosen.open_by(move |prefix| open(prefix));
        if let Some((store, folder)) = folder {
            return reference_folders::open(address, store, &folder, &chosen);
        }
        let (store, key) = place(file, &others, schemes)?;
        zarr_references::open(store, key, &chosen)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::store::outside::{directories, shared};

        #[test]
        fn secrets_go_to_the_same_host_or_bucket_alone() {
            let schemes = crate::store::schemes();
            let options = ["header.Authorization", "secret_access_key", "region", "timeout"]
                .iter()
                .fold(StoreOptions::new(), |options, name| options.set(*name, "1"));
            let all = "header.Authorization secret_access_key region timeout";
            for (own, other, expected) in [
                ("https://user@host/d/refs.json", "https://HOST/x", all),
                ("https://host/d/refs.json", "https://host:444/x", "timeout"),
                ("https://host/d/refs.json", "https://hosts/x", "timeout"),
                ("https://host/d/refs.json", "https://host@hosts/x", "timeout"),
                ("https://host/d/refs.json", "http://host/x", "timeout"),
                ("https://host/d/refs.json", "s3://host/x", "timeout"),
                ("s3://bucket/refs.json", "s3://bucket/x", all),
                ("s3://bucket/refs.json", "s3://bucket2/x", "region timeout"),
            ] {
                let (Ok(own), Ok(other)) = (schemes.address(own), schemes.address(other)) else { continue };
                let found = shared(&own, &other, &options);
                let found: Vec<&str> = found.pairs().iter().map(|(name, _)| name.as_str()).collect();
                assert_eq!(found.join(" "), expected, "{own} {other}");
            }
        }

        #[cfg(all(feature = "s3", feature = "http"))]
        #[test]
        fn options_of_references_here_are_for_the_only_place_that_is_allowed() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("refs.json");
            std::fs::write(&path, r#"{"version": 1, "refs": {}}"#).unwrap();
            let open = |pairs: &[(&str, &str)]| {
                let options =
                    pairs.iter().fold(StoreOptions::new(), |options, (name, value)| options.set(*name, *value));
                [path.display().to_string(), format!("references:{}", path.display())]
                    .map(|address| crate::store::open_with(&address, &options).map_err(|error| error.to_string()))
            };
            for [found, named] in [
                open(&[("allow", "s3://b/x"), ("region", "r"), ("secret_access_key", "k")]),
                open(&[("allow", "s3://b/x,s3://c"), ("region", "r")]),
                open(&[("allow", "https://host/x,https://HOST/y"), ("header.Authorization", "k")]),
            ] {
                found.unwrap();
                named.unwrap();
            }
            for (pairs, expected) in [
                (&[("region", "r")][..], "option region is not known"),
                (&[("allow", "s3://b,s3://c"), ("secret_access_key", "k")], "option secret_access_key is for one host"),
                (&[("allow", "https://a,https://b"), ("header.X", "k")], "option header.X is for one host or bucket"),
            ] {
                for opened in open(pairs) {
                    let error = opened.err().unwrap();
                    assert!(error.contains(expected), "{error}");
                }
            }
            let [found, _] = open(&[("allow", "s3://b"), ("durability", "none")]);
            assert!(found.err().unwrap().contains("option durability is not known"));
        }

        #[test]
        fn addresses_of_a_directory_have_no_secrets_in_messages() {
            let schemes = crate::store::schemes();
            let Ok(file) = schemes.address("https://user:SECRET@host/d/refs.json?token=SECRET") else { return };
            let options =
                directories(&file, false).into_iter().fold(ReferencesOptions::default(), ReferencesOptions::directory);
            assert!(format!("{options:?}").contains("https://host/d\""), "{options:?}");
        }
    }
}
