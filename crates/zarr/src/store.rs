//! Stores, and opening them by address.

mod address;
#[cfg(any(feature = "hdf5", feature = "netcdf", feature = "references"))]
mod formats;
mod grammar;
#[cfg(feature = "icechunk")]
mod icechunk;
mod known;
mod options;
#[cfg(feature = "zip")]
mod ozx;
mod schemes;
mod signature;
mod words;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use address::StoreAddress;
pub(crate) use grammar::{is_hierarchy, is_zip, split_path};
#[cfg(feature = "icechunk")]
pub use icechunk::icechunk_history;
pub use known::schemes;
pub use options::StoreOptions;
pub use schemes::{Scheme, Schemes};
pub use signature::{Signature, signature_of_file, signature_of_store};
pub use zarr_drive::{AsyncAsSync, SyncAsAsync, Unblocker, block_on, unblock};
#[cfg(feature = "icechunk")]
pub use zarr_icechunk::{IcechunkCommit, IcechunkFault, IcechunkOptions, IcechunkStore, OpenFile, Revision};
#[cfg(feature = "netcdf")]
pub use zarr_netcdf::{NetcdfFault, NetcdfOptions};
#[cfg(feature = "references")]
pub use zarr_references::{ReferencesFault, ReferencesOptions};
pub use zarr_store::*;
#[cfg(feature = "cached")]
pub use zarr_store_cached::Cached;
#[cfg(feature = "filesystem")]
pub use zarr_store_filesystem::{FilesystemOptions, FilesystemStore, LookedThrough};
#[cfg(feature = "http")]
pub use zarr_store_http::HttpStore;
#[cfg(any(feature = "s3", feature = "gs", feature = "az"))]
pub use zarr_store_object::BucketStore;
#[cfg(feature = "sqlite")]
pub use zarr_store_sqlite::{Journal, SqliteFault, SqliteOptions, SqliteStore};
#[cfg(any(feature = "netcdf", feature = "references"))]
pub use zarr_store_virtual::{VirtualFault, VirtualStore};
#[cfg(feature = "zip")]
pub use zarr_store_zip::{AsyncZipStore, ZipArrangement, ZipFault, ZipOptions, ZipStore};

/// The contract of stores as tests, and jobs that are given wrong replies.
pub mod testing {
    pub use zarr_drive::testing::*;
    pub use zarr_store::testing::*;
}

/// Opens the store at an address, which must be there.
///
/// # Addresses
/// | address | store | options |
/// |---|---|---|
/// | a path, `file:///path` | with feature `filesystem` the directory; with feature `zip` the zip file, with `netcdf` the netCDF-3 file, with `references` the references of kerchunk, if it is a file | `durability` (`none`, `file`, `full`), `locks`, `sync_on_request` |
/// | `zip:ADDRESS` | with feature `zip` the zip file at the address; one of this machine is written too, one in a bucket or on the web is read by ranges | those of the store at the address |
/// | a path, `hdf5:ADDRESS` | with feature `hdf5` the HDF5 or netCDF-4 file at the address, to read; a path needs no `hdf5:` if the file begins as one | those of the store at the address |
/// | `icechunk:ADDRESS`, `icechunk:ADDRESS@REVISION` | with feature `icechunk` a snapshot of the Icechunk repository at the address, to read: of the branch `main`, or of a branch (`@NAME`, `@branch.NAME`), a tag (`@tag.NAME`), a snapshot (`@ID`) | `allow`, URLs with commas between them, below which chunks in other files are read, `NAME=URL` for a container; those of the store at the address |
/// | `sqlite:PATH` | with feature `sqlite` the SQLite file | `busy_timeout` in seconds, `journal` (`rollback`, `wal`) of a new file, `read_only` |
/// | `netcdf:ADDRESS` | with feature `netcdf` the netCDF-3 file at the address, to read | those of the store at the address |
/// | `references:ADDRESS` | with feature `references` the references of kerchunk (JSON) at the address, to read | `allow`: addresses, with commas in between, below which files may lie beside those below the directory of the references; those of the store at the address |
/// | `s3://bucket/prefix`, `gs://..`, `az://..` | with features `s3`, `gs`, `az` the keys below a prefix of a bucket; `gcs`, `abfs` and `abfss` are understood | `anonymous`, `endpoint`, `region`, `requester_pays`, `missing` (`403`), credentials and others: `BucketStore` |
/// | `https://host/path`, `http://..` | with feature `http` the files below a URL, to read | `header.NAME`, `missing` (`403`) and others: `HttpStore` |
/// | `memory:` | a new, empty one in memory | |
///
/// Where a node is meant ([`zarr::open`](crate::open), [`zarr::create`](crate::create) and the command), its path follows:
///
/// - behind `::`, as `zip:x.zip::/group/array`. What stands before is the address of the store, all of it; `x.zarr/y::/` is the root of a store
///   in the directory `x.zarr/y`. (Of several, the first `::/` counts, else the last `::`.)
/// - or directly behind the first name that ends in `.zarr` (with `zip:` in `.zip` or `.ozx`, with `hdf5:` in `.nc`, `.nc4`, `.h5`, `.hdf5` or `.he5`, with `sqlite:` in `.sqlite`, `.sqlite3` or `.db`, or is
///   that of a file), as `data/x.zarr/group/array`, also in a URL: `SCHEME://host/x.zarr/group/array`.
///
/// A text is a path unless a known scheme and a colon are its beginning, or any scheme and `://`; so `./memory:` is one, and one that is
/// there may have `::` in its name. A single letter is no scheme: `C:\x.zarr` is a path. Capital letters in schemes do not matter. `%41`
/// stands for `A` in `file://` and addresses of the web; only these may have a query (`?..`). `zip::ADDRESS`, as fsspec writes it, is
/// `zip:ADDRESS` where the address has a known scheme.
///
/// A zip file of this machine may be written: see [`create`] for when that is in the file.
///
/// [`schemes`] is the table behind it, to which a program adds kinds of its own.
///
/// # Errors
/// [`Error::NoStore`] if nothing is there, [`Error::NotAStore`] if it is something else, [`Error::Argument`] for an address that no kind
/// of the table has, [`Error::Address`] for one of a kind that this build has not.
///
/// # Example
/// ```
/// let store = zarr::store::open("memory:")?;
/// assert_eq!(store.to_string(), "memory:");
/// # Ok::<(), zarr::store::Error>(())
/// ```
pub fn open(address: &str) -> Result<Arc<dyn Store>> {
    open_with(address, &StoreOptions::new())
}

/// As [`open`], with options.
///
/// # Errors
/// As [`open`]; [`Error::Argument`] for an option that the kind of the store does not know.
pub fn open_with(address: &str, options: &StoreOptions) -> Result<Arc<dyn Store>> {
    let schemes = schemes();
    schemes.open(&schemes.address(address)?, options)
}

/// Opens the store at an address for writing, and makes it if it is not there: a path that ends in `.zip` or `.ozx` names a zip file, another
/// one a directory.
///
/// # Zip files
/// Values that are written to a zip file are in it after [`Store::flush`], all at once. Without that the file stays as it
/// was, or away, so that work that failed leaves no file that looks whole. `Conversion::run` ends with a flush.
/// Values may be replaced and erased; their bytes stay in the file, which a warning tells ([`Store::take_warnings`]).
/// Each flush after new writes copies the file, but for file systems that share blocks: few flushes of many values are fast. In `.ozx`, OME-Zarr
/// in one file, documents come first, and the comment tells the version of OME-Zarr.
///
/// ```
/// # #[cfg(feature = "zip")] {
/// use zarr::store::StoreExt;
/// # let folder = tempfile::tempdir()?;
/// # let address = folder.path().join("x.zip").display().to_string();
/// let store = zarr::store::create(&address)?;
/// let array = zarr::create((&store, "/a")).array(zarr::NewArray::new(&[3], "int32"))?;
/// array.write(.., &[1, 2, 3])?;
/// store.flush()?;
/// assert_eq!(zarr::open((&zarr::store::open(&address)?, "/a")).array()?.read::<i32>(..)?, [1, 2, 3]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`open`]; [`Error::ReadOnly`] for stores that are only read; [`Error::Argument`] for a zip file in another store.
pub fn create(address: &str) -> Result<Arc<dyn Store>> {
    create_with(address, &StoreOptions::new())
}

/// As [`create`], with options.
///
/// # Errors
/// As [`create`]; [`Error::Argument`] for an option that the kind of the store does not know.
pub fn create_with(address: &str, options: &StoreOptions) -> Result<Arc<dyn Store>> {
    let schemes = schemes();
    schemes.create(&schemes.address(address)?, options)
}
