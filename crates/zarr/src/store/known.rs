//! Kinds of stores of this build: the table to which a new kind is added.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use zarr_store::{Error, MemoryStore, Result, Store};

use super::{Scheme, Schemes, StoreAddress, StoreOptions};

/// Returns the table of kinds of stores of this build.
///
/// ```
/// let schemes = zarr::store::schemes();
/// assert!(schemes.get("memory").is_some() && schemes.get("mine").is_none());
/// ```
#[must_use]
pub fn schemes() -> Schemes {
    static SCHEMES: LazyLock<Schemes> = LazyLock::new(|| {
        let mut schemes = Schemes::new();
        schemes.add(Scheme::url(&["file"], open_file).create(create_file).options(FILE_OPTIONS));
        schemes.add(Scheme::alone(&["memory"], memory).create(memory));
        #[cfg(feature = "sqlite")]
        schemes.add(sqlite::scheme());
        #[cfg(feature = "s3")]
        schemes.add(remote::bucket(&["s3"]));
        #[cfg(feature = "gs")]
        schemes.add(remote::bucket(&["gs", "gcs"]));
        #[cfg(feature = "az")]
        schemes.add(remote::bucket(&["az", "abfs", "abfss"]));
        #[cfg(feature = "http")]
        schemes.add(remote::web(&["https", "http"]));
        #[cfg(feature = "zip")]
        schemes.add(Scheme::address(&["zip"], open_zip).create(create_zip).ends(super::grammar::ZIP));
        #[cfg(feature = "hdf5")]
        schemes.add(super::formats::hdf5::scheme());
        #[cfg(feature = "netcdf")]
        schemes.add(super::formats::netcdf::scheme());
        #[cfg(feature = "references")]
        schemes.add(super::formats::references::scheme());
        #[cfg(feature = "tiff")]
        schemes.add(super::formats::tiff::scheme());
        #[cfg(feature = "icechunk")]
        schemes.add(super::icechunk::scheme());
        for (names, expected) in HINTS {
            for name in *names {
                if schemes.get(name).is_none() {
                    schemes.add_hint(name, expected);
                }
            }
        }
        schemes
    });
    SCHEMES.clone()
}

/// Description in errors of builds that open directories.
#[cfg(not(feature = "filesystem"))]
const DIRECTORIES: &str = "a build with the feature `filesystem`, which has directories";
const ZIP_FILES: &str = "a build with the feature `zip`, which has zip files";
const HINTS: &[(&[&str], &str)] = &[
    (&["sqlite"], "a build with the feature `sqlite`, which has SQLite files"),
    (&["zip"], ZIP_FILES),
    (&["hdf5"], "a build with the feature `hdf5`, which reads HDF5 and netCDF-4 files"),
    (&["icechunk"], "a build with the feature `icechunk`, which reads Icechunk repositories"),
    (&["s3"], "a build with the feature `s3`, which has buckets of S3"),
    (&["gs", "gcs"], "a build with the feature `gs`, which has buckets of Google Cloud Storage"),
    (&["az", "abfs", "abfss"], "a build with the feature `az`, which has containers of Azure"),
    (&["http", "https"], "a build with the feature `http`, which reads over HTTP"),
    (&["netcdf"], "a build with the feature `netcdf`, which has netCDF files"),
    (&["tiff"], "a build with the feature `tiff`, which reads TIFF files"),
    (&["references"], "a build with the feature `references`, which has references of kerchunk"),
];

#[cfg(all(feature = "filesystem", any(feature = "hdf5", feature = "references")))]
const FILE_OPTIONS: &[&str] = &["durability", "locks", "sync_on_request", "allow"];
#[cfg(all(feature = "filesystem", not(any(feature = "hdf5", feature = "references"))))]
const FILE_OPTIONS: &[&str] = super::options::DIRECTORY_OPTIONS;
#[cfg(not(feature = "filesystem"))]
const FILE_OPTIONS: &[&str] = &[];

fn memory(_: &StoreAddress, _: &StoreOptions, _: &Schemes) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(MemoryStore::new()))
}

/// Opens the directory or file at a path as a store.
fn open_file(address: &StoreAddress, options: &StoreOptions, schemes: &Schemes) -> Result<Arc<dyn Store>> {
    let path = path(address)?;
    if super::grammar::is_zip(path) && path.is_file() {
        return zip_file(address, path, options, Missing::Refuse);
    }
    #[cfg(any(feature = "hdf5", feature = "netcdf", feature = "references", feature = "tiff"))]
    if let Some(store) = super::formats::open_file(address, path, options, schemes)? {
        return Ok(Arc::new(store));
    }
    #[cfg(not(any(feature = "hdf5", feature = "netcdf", feature = "references", feature = "tiff")))]
    let _ = schemes;
    #[cfg(feature = "filesystem")]
    return match zarr_store_filesystem::FilesystemStore::open(path) {
        Ok(_) if options.get("allow").is_some() => {
            Err(address.refuse("option allow is not known, a directory has none of this name"))
        }
        Ok(store) => Ok(Arc::new(directory(address, store, options)?)),
        Err(Error::NotAStore { store, found, expected }) => {
            let found = super::signature_of_file(path).map_or(found, |signature| signature.what);
            Err(Error::NotAStore { store, found, expected })
        }
        Err(error) => Err(error),
    };
    #[cfg(not(feature = "filesystem"))]
    Err(Error::Address { url: address.to_string(), expected: DIRECTORIES })
}

/// Opens the directory or zip file at a path for writing, and creates it if it does not exist; the extension of the path determines whether
/// it is a directory or a zip file.
fn create_file(address: &StoreAddress, options: &StoreOptions, _: &Schemes) -> Result<Arc<dyn Store>> {
    let path = path(address)?;
    if super::grammar::is_zip(path) {
        return zip_file(address, path, options, Missing::Make);
    }
    #[cfg(any(feature = "hdf5", feature = "netcdf", feature = "references", feature = "tiff"))]
    super::formats::refuse_changes(address, path)?;
    if options.get("allow").is_some() {
        return Err(address.refuse("option allow is not known, a directory has none of this name"));
    }
    #[cfg(feature = "filesystem")]
    return Ok(Arc::new(directory(address, zarr_store_filesystem::FilesystemStore::create(path)?, options)?));
    #[cfg(not(feature = "filesystem"))]
    {
        let _ = options;
        Err(Error::Address { url: address.to_string(), expected: DIRECTORIES })
    }
}

#[cfg(feature = "filesystem")]
fn directory(
    address: &StoreAddress,
    store: zarr_store_filesystem::FilesystemStore,
    options: &StoreOptions,
) -> Result<zarr_store_filesystem::FilesystemStore> {
    use zarr_store::Durability;
    let levels = [("none", Durability::None), ("file", Durability::File), ("full", Durability::Full)];
    let mut chosen = zarr_store_filesystem::FilesystemOptions::default();
    if let Some(durability) = options.word(address, "durability", &levels)? {
        // With `none`, single sets that request durability do not wait for disks either.
        chosen = chosen.durability(durability).sync_on_request(durability != Durability::None);
    }
    if let Some(locks) = options.bool(address, "locks")? {
        chosen = chosen.locks(locks);
    }
    if let Some(sync) = options.bool(address, "sync_on_request")? {
        chosen = chosen.sync_on_request(sync);
    }
    Ok(store.with(chosen))
}

fn path(address: &StoreAddress) -> Result<&Path> {
    address.path().ok_or_else(|| address.refuse("expected a path"))
}

/// Opens the zip file at the address behind `zip:`.
#[cfg(feature = "zip")]
fn open_zip(address: &StoreAddress, options: &StoreOptions, schemes: &Schemes) -> Result<Arc<dyn Store>> {
    use zarr_drive::{AsyncAsSync, block_on};
    use zarr_store::Key;
    use zarr_store_zip::{AsyncZipStore, ZipStore};

    let inner = address.inner().ok_or_else(|| address.refuse("expected an address"))?;
    if inner.scheme().is_none() {
        return zip_file(address, path(inner)?, options, Missing::Refuse);
    }
    let parts = inner.in_store();
    let (above, name) = parts.ok_or_else(|| address.refuse("expected the address of a file"))?;
    let (store, key) = (schemes.open(&above, options)?, Key::new(&name)?);
    Ok(match store.as_async() {
        Some(store) => Arc::new(AsyncAsSync::new(Arc::new(block_on(AsyncZipStore::open(store, key))?))),
        None => Arc::new(ZipStore::over(store, key)?),
    })
}

/// Opens a zip file of this machine for writing, and creates it if it does not exist.
#[cfg(feature = "zip")]
fn create_zip(address: &StoreAddress, options: &StoreOptions, _: &Schemes) -> Result<Arc<dyn Store>> {
    let inner = address.inner().ok_or_else(|| address.refuse("expected an address"))?;
    match inner.path().filter(|_| inner.scheme().is_none()) {
        Some(path) => zip_file(address, path, options, Missing::Make),
        None => {
            Err(address.refuse("a zip file is written on this machine alone: write one here, and copy the file there"))
        }
    }
}

/// Behaviour for a zip file that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "zip"), allow(dead_code, reason = "no zip file is opened"))]
enum Missing {
    Refuse,
    Make,
}

/// Opens a zip file for reading and writing. Values may be replaced, as in a directory.
#[cfg(feature = "zip")]
fn zip_file(address: &StoreAddress, path: &Path, options: &StoreOptions, missing: Missing) -> Result<Arc<dyn Store>> {
    use zarr_store_zip::{ZipOptions, ZipStore};

    if let Some((name, _)) = options.pairs().first() {
        return Err(address.refuse(format!("option {name} is not known, a zip file has none")));
    }
    let store = match ZipStore::update(path) {
        Err(error) if error.is_not_found() && missing == Missing::Make => ZipStore::create(path)?,
        opened => opened?,
    };
    let store = store.with(ZipOptions::default().replace(true).release(true));
    Ok(Arc::new(if super::ozx::is_name(path) { store.arranged(super::ozx::ARRANGEMENT) } else { store }))
}

#[cfg(not(feature = "zip"))]
fn zip_file(address: &StoreAddress, _path: &Path, _options: &StoreOptions, _: Missing) -> Result<Arc<dyn Store>> {
    Err(Error::Address { url: address.to_string(), expected: ZIP_FILES })
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::time::Duration;

    use zarr_store_sqlite::{Journal, SqliteOptions, SqliteStore};

    use super::*;

    pub(super) fn scheme() -> Scheme {
        let open = |address: &StoreAddress, given: &StoreOptions, _: &Schemes| {
            let store: Arc<dyn Store> = Arc::new(SqliteStore::open_with(path(address)?, options(address, given)?)?);
            Ok(store)
        };
        let create = |address: &StoreAddress, given: &StoreOptions, _: &Schemes| {
            let store: Arc<dyn Store> = Arc::new(SqliteStore::create_with(path(address)?, options(address, given)?)?);
            Ok(store)
        };
        Scheme::path(&["sqlite"], open)
            .create(create)
            .options(&["busy_timeout", "journal", "read_only"])
            .ends(&[".sqlite", ".sqlite3", ".db"])
    }

    fn options(address: &StoreAddress, given: &StoreOptions) -> Result<SqliteOptions> {
        let mut options = SqliteOptions::default();
        let seconds = |text: &str| Duration::try_from_secs_f64(text.parse().ok()?).ok();
        if let Some(timeout) = given.parse(address, "busy_timeout", "a number of seconds", seconds)? {
            options = options.busy_timeout(timeout);
        }
        if let Some(journal) =
            given.word(address, "journal", &[("rollback", Journal::Rollback), ("wal", Journal::Wal)])?
        {
            options = options.journal(journal);
        }
        if let Some(read_only) = given.bool(address, "read_only")? {
            options = options.read_only(read_only);
        }
        Ok(options)
    }
}

#[cfg(any(feature = "s3", feature = "gs", feature = "az", feature = "http"))]
mod remote {
    use zarr_drive::AsyncAsSync;

    use super::*;

    fn url(address: &StoreAddress) -> Result<String> {
        address.url().ok_or_else(|| address.refuse("expected a URL"))
    }

    /// Scheme of buckets. Buckets are not created: writing needs an existing bucket.
    #[cfg(any(feature = "s3", feature = "gs", feature = "az"))]
    pub(super) fn bucket(names: &'static [&'static str]) -> Scheme {
        let open = |address: &StoreAddress, options: &StoreOptions, _: &Schemes| {
            let store = zarr_store_object::BucketStore::open(&url(address)?, options.pairs())?;
            Ok(Arc::new(AsyncAsSync::new(Arc::new(store))) as Arc<dyn Store>)
        };
        Scheme::url(names, open).create(open).any_options()
    }

    #[cfg(feature = "http")]
    pub(super) fn web(names: &'static [&'static str]) -> Scheme {
        let open = |address: &StoreAddress, options: &StoreOptions, _: &Schemes| {
            let store = zarr_store_http::HttpStore::open(&url(address)?, options.pairs())?;
            Ok(Arc::new(AsyncAsSync::new(Arc::new(store))) as Arc<dyn Store>)
        };
        Scheme::url(names, open).any_options().web()
    }
}

#[cfg(all(test, feature = "filesystem"))]
mod tests {
    use super::*;

    #[test]
    fn durability_none_waits_for_no_disk_unless_that_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let address = StoreAddress::of_path(folder.path());
        let of = |pairs: &[(&str, &str)]| {
            let options = pairs.iter().fold(StoreOptions::new(), |options, (name, value)| options.set(*name, *value));
            let store = zarr_store_filesystem::FilesystemStore::create(folder.path()).unwrap();
            directory(&address, store, &options).unwrap().options().clone()
        };
        assert!(of(&[]).sync_on_request && of(&[("durability", "file")]).sync_on_request);
        assert!(!of(&[("durability", "none")]).sync_on_request);
        assert!(of(&[("sync_on_request", "true"), ("durability", "none")]).sync_on_request);
    }

    #[cfg(feature = "references")]
    #[test]
    fn a_directory_that_is_made_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let address = StoreAddress::of_path(folder.path().join("x.zarr"));
        let options = StoreOptions::new().set("allow", "s3://b").set("locks", "false");
        let error = schemes().create(&address, &options).unwrap_err().to_string();
        assert!(error.contains("option allow is not known"), "{error}");
        // If several stores share options, a directory does not get this option.
        let shared = schemes().options_for(&address, &options).unwrap();
        assert_eq!(shared, StoreOptions::new().set("locks", "false"));
        schemes().create(&address, &shared).unwrap();
    }
}
