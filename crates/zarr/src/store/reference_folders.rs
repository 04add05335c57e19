//! Opening of folders of references in Parquet by their address. Such a folder has a `.zmetadata` with the member `record_size`.

use std::path::Path;
use std::sync::Arc;

use zarr_references::ReferencesOptions;
use zarr_store::{ErrorKind, Prefix, Result, Store, StoreExt};
use zarr_store_filesystem::FilesystemStore;
use zarr_store_virtual::VirtualStore;

use super::address::Rest;
use super::{Schemes, StoreAddress, StoreOptions};

const METADATA: &str = ".zmetadata";

/// Returns the address of a folder without slashes at the end, and with a name.
pub(super) fn named(address: &StoreAddress) -> StoreAddress {
    let rest = match &address.rest {
        // A path without a name, such as `.`, is replaced by its absolute path.
        Rest::Path(path) if path.file_name().is_none() => {
            Rest::Path(path.canonicalize().unwrap_or_else(|_| path.clone()))
        }
        Rest::Path(path) => Rest::Path(path.components().as_path().to_owned()),
        Rest::Url(url) if !url.contains('?') => Rest::Url(url.trim_end_matches('/').to_owned()),
        rest => rest.clone(),
    };
    StoreAddress { scheme: address.scheme.clone(), rest }
}

/// Returns the store that contains the folder of references at an address, and the prefix of the folder in the store; `None` if there is no
/// folder with a `.zmetadata` at the address.
pub(super) fn find(
    address: &StoreAddress,
    options: &StoreOptions,
    schemes: &Schemes,
) -> Result<Option<(Arc<dyn Store>, Prefix)>> {
    if let Some(path) = address.path() {
        if !path.join(METADATA).is_file() {
            return Ok(None);
        }
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| address.refuse("the name is not UTF-8"))?;
        let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return Ok(Some((Arc::new(FilesystemStore::open(above)?), Prefix::new(&format!("{name}/"))?)));
    }
    let Some((above, name)) = address.in_store().filter(|(_, name)| !name.ends_with(".json")) else { return Ok(None) };
    let store = schemes.open(&above, &schemes.options_for(&above, options)?)?;
    let folder = Prefix::new(&format!("{name}/"))?;
    let is_there = match store.exists(&folder.join(METADATA)?) {
        // Services that refuse lists answer a get of a missing key by an error of permissions.
        Err(error) if error.kind() == ErrorKind::Denied => false,
        found => found?,
    };
    Ok(is_there.then_some((store, folder)))
}

/// Opens the references in a folder.
#[cfg(feature = "references-parquet")]
pub(super) fn open(
    _: &StoreAddress,
    store: Arc<dyn Store>,
    folder: &Prefix,
    options: &ReferencesOptions,
) -> Result<VirtualStore> {
    zarr_references::open_parquet(store, folder, options)
}

/// Refuses to open the references in a folder, since this build cannot read them.
#[cfg(not(feature = "references-parquet"))]
pub(super) fn open(
    address: &StoreAddress,
    _: Arc<dyn Store>,
    _: &Prefix,
    _: &ReferencesOptions,
) -> Result<VirtualStore> {
    let expected = "a build with the feature `references-parquet`, which reads references in Parquet";
    Err(zarr_store::Error::Address { url: address.to_string(), expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens a folder whose `.zmetadata` is `text`, by its path and by the scheme, and returns whether each is opened as references.
    fn opened(text: &str, options: &StoreOptions) -> [std::result::Result<bool, String>; 2] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parq");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join(METADATA), text).unwrap();
        std::fs::write(path.join("other"), "").unwrap();
        [path.display().to_string(), format!("references:{}", path.display())].map(|address| {
            let store = crate::store::open_with(&address, options).map_err(|error| error.to_string())?;
            // An ordinary directory contains the file `other`.
            Ok(!store.exists(&zarr_store::Key::new("other").unwrap()).unwrap())
        })
    }

    #[cfg(feature = "references-parquet")]
    #[test]
    fn a_folder_is_known_by_the_size_of_its_files() {
        let long = format!(r#"{{"metadata": {{".zattrs": {{"x": "{}"}}}}, "record_size": 10}}"#, "x".repeat(10_000));
        for text in [r#"{"metadata": {}, "record_size": 10}"#, r#"{"record_size": 10, "metadata": {}}"#, &long] {
            assert_eq!(opened(text, &StoreOptions::new()), [Ok(true), Ok(true)], "{text}");
            let allow = StoreOptions::new().set("allow", "/data");
            assert_eq!(opened(text, &allow), [Ok(true), Ok(true)]);
            let [path, _] = opened(text, &StoreOptions::new().set("durability", "none"));
            assert!(path.unwrap_err().contains("option durability is not known"));
        }
        let attribute = r#"{"metadata": {".zattrs": {"record_size": 5}}, "zarr_consolidated_format": 1}"#;
        for text in [attribute, r#"{"metadata": {}, "zarr_consolidated_format": 1}"#, "\"record_size\""] {
            let [path, named] = opened(text, &StoreOptions::new());
            assert_eq!(path, Ok(false), "{text}");
            named.unwrap_err();
        }
    }

    #[cfg(not(feature = "references-parquet"))]
    #[test]
    fn folders_name_their_feature() {
        let [path, named] = opened(r#"{"metadata": {}, "record_size": 10}"#, &StoreOptions::new());
        assert_eq!(path, Ok(false));
        assert!(named.unwrap_err().contains("a build with the feature `references-parquet`"));
    }
}
