//! Names of targets that promise a file of another format.

use crate::failure::{Failure, Result};
use zarr::store::StoreAddress;

/// Suffixes of files of formats that are not written, and those formats.
const FORMATS: [(&[&str], &str, &str); 4] = [
    (
        &["nc", "nc4", "nc3", "cdf"],
        "netCDF files are read, not written",
        "xarray writes it: `xarray.open_zarr(..).to_netcdf(..)`",
    ),
    (&["h5", "hdf5", "hdf", "he5"], "HDF5 files are read, not written", "h5py and xarray write it"),
    (&["tif", "tiff"], "TIFF files are read, not written", "`zarr view -o FILE.png` writes a picture"),
    (&["json"], "a store is not one JSON file", "`zarr tree --json` prints metadata"),
];

/// Refuses to make a store, a directory, at an address whose name is that of a file of another format. A scheme, a slash at the end, or
/// something that is there says that a store is meant.
pub(crate) fn check_target(text: &str, address: &StoreAddress) -> Result<()> {
    let Some(path) = address.path().filter(|_| address.scheme().is_none() && !text.contains("://")) else {
        return Ok(());
    };
    let has_slash = path.as_os_str().to_string_lossy().ends_with('/');
    let suffix = path.extension().map(|suffix| suffix.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let format = FORMATS.iter().find(|(suffixes, ..)| suffixes.contains(&suffix.as_str()));
    match format.filter(|_| !has_slash && !path.exists()) {
        None => Ok(()),
        Some((_, what, instead)) => {
            let hint =
                format!("a name such as {} is that of a store; {instead}", path.with_extension("zarr").display());
            Err(Failure::usage(format!("{address}: {what}")).with_hint(hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let check = |text: &str| check_target(text, &zarr::store::schemes().address(text).unwrap());
        let at = |name: &str| folder.path().join(name).display().to_string();
        for name in ["a.nc", "a.NC4", "a.h5", "b/a.hdf5", "a.tif", "a.json"] {
            let failure = check(&at(name)).unwrap_err();
            assert!(failure.hint.as_deref().is_some_and(|hint| hint.contains("a.zarr")), "{name}: {:?}", failure.hint);
        }
        std::fs::create_dir(folder.path().join("is.nc")).unwrap();
        for name in ["is.nc", "new.nc/", "a.zarr", "a", "a.zip", "a.nc.zarr"] {
            assert!(check(&at(name)).is_ok(), "{name}");
        }
        for text in [format!("file://{}", at("a.nc")), format!("sqlite:{}", at("a.nc")), "memory:".to_owned()] {
            assert!(check(&text).is_ok(), "{text}");
        }
    }
}
