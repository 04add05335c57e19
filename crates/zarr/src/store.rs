//! Stores, and functions that open stores by address.

mod address;
#[cfg(any(feature = "hdf5", feature = "netcdf", feature = "references", feature = "tiff"))]
pub(crate) mod formats;
mod grammar;
#[cfg(feature = "icechunk")]
pub(crate) mod icechunk;
mod known;
mod options;
#[cfg(any(feature = "hdf5", feature = "references"))]
mod outside;
#[cfg(feature = "zip")]
mod ozx;
#[cfg(feature = "references")]
mod reference_folders;
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
pub use zarr_drive::{Ahead, AsyncAsSync, SyncAsAsync, Unblocker, block_on, unblock};
#[cfg(feature = "icechunk")]
pub use zarr_icechunk::{IcechunkCommit, IcechunkFault, IcechunkOptions, IcechunkStore, OpenFile, Revision};
#[cfg(feature = "netcdf")]
pub use zarr_netcdf::{NetcdfFault, NetcdfOptions};
#[cfg(feature = "references-parquet")]
pub use zarr_references::{ArrayWriter, ParquetWriter, Reference};
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
#[cfg(any(
    feature = "hdf5",
    feature = "netcdf",
    feature = "references",
    feature = "tiff",
    feature = "virtualize"
))]
pub use zarr_store_virtual::{VirtualFault, VirtualStore};
#[cfg(feature = "zip")]
pub use zarr_store_zip::{AsyncZipStore, ZipArrangement, ZipFault, ZipOptions, ZipStore};
#[cfg(feature = "tiff")]
pub use zarr_tiff::{GeoReference, TiffFault};

/// Tests of the contract of stores, and of jobs that receive wrong replies.
pub mod testing {
    pub use zarr_drive::testing::*;
    pub use zarr_store::testing::*;
}

/// Opens the store at an address; the store must exist.
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
/// | a path, `tiff:ADDRESS` | with feature `tiff` the TIFF file at the address, to read; a path needs no `tiff:` if the file begins as one | those of the store at the address |
/// | `references:ADDRESS` | with feature `references` the references of kerchunk in JSON at the address, and with `references-parquet` those in Parquet in the folder there, to read; a path of one needs no `references:` | `allow`: addresses, with commas in between, below which files may lie beside those below the directory of the references; those of the store at the address |
/// | `s3://bucket/prefix`, `gs://..`, `az://..` | with features `s3`, `gs`, `az` the keys below a prefix of a bucket; `gcs`, `abfs` and `abfss` are understood | `anonymous`, `endpoint`, `region`, `requester_pays`, `missing` (`403`), credentials and others: `BucketStore` |
/// | `https://host/path`, `http://..` | with feature `http` the files below a URL, to read | `header.NAME`, `missing` (`403`) and others: `HttpStore` |
/// | `memory:` | a new, empty one in memory | |
///
/// The address of a node ([`zarr::open`](crate::open), [`zarr::create`](crate::create) and the command) has the path of the node behind it:
///
/// - behind `::`, as in `zip:x.zip::/group/array`. Everything before `::` is the address of the store; `x.zarr/y::/` is the root of a store
///   in the directory `x.zarr/y`. (If there are several, the first `::/` counts, or else the last `::`.)
/// - or directly behind the first name that ends in `.zarr` (with `zip:` in `.zip` or `.ozx`, with `hdf5:` in `.nc`, `.nc4`, `.h5`, `.hdf5` or `.he5`, with `sqlite:` in `.sqlite`, `.sqlite3` or `.db`, or is
///   that of a file), as `data/x.zarr/group/array`, also in a URL: `SCHEME://host/x.zarr/group/array`.
///
/// A string is a path unless it begins with a known scheme and a colon, or with any scheme and `://`; so `./memory:` is a path, and an
/// existing path may have `::` in its name. A single letter is no scheme: `C:\x.zarr` is a path. Case does not matter in schemes. `%41`
/// stands for `A` in `file://` and web addresses; only web addresses may have a query (`?..`). `zip::ADDRESS`, as in fsspec, is
/// `zip:ADDRESS` if the inner address has a known scheme.
///
/// A zip file of this machine may be written: [`create`] says when values are in the file.
///
/// [`schemes`] returns the table of kinds of stores, to which a program can add its own kinds.
///
/// # Errors
/// [`Error::NoStore`] if the store does not exist, [`Error::NotAStore`] if something else is at the address, [`Error::Argument`] for an
/// address of an unknown kind, [`Error::Address`] for an address of a kind that this build lacks.
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

/// Opens the store at an address with options; the store must exist.
///
/// # Errors
/// The errors of [`open`]; [`Error::Argument`] for an option that the kind of the store does not know.
pub fn open_with(address: &str, options: &StoreOptions) -> Result<Arc<dyn Store>> {
    let schemes = schemes();
    schemes.open(&schemes.address(address)?, options)
}

/// Opens the store at an address for writing, and creates it if it does not exist: a path that ends in `.zip` or `.ozx` is a zip file, any
/// other path a directory.
///
/// # Zip files
/// Values that are written to a zip file are in the file after [`flush`](zarr_store::StoreExt::flush), all at once. Without a flush the file stays unchanged or
/// missing, so that failed work leaves no file that looks complete. `Conversion::run` ends with a flush.
/// Values may be replaced and erased; their bytes stay in the file, about which there is a warning ([`Store::take_warnings`]).
/// Each flush after new writes copies the file, except on file systems that share blocks: few flushes of many values are fast. In `.ozx`,
/// OME-Zarr in one file, documents come first, and the comment has the version of OME-Zarr.
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
/// The errors of [`open`]; [`Error::ReadOnly`] for read-only kinds of stores; [`Error::Argument`] for a zip file in another store.
pub fn create(address: &str) -> Result<Arc<dyn Store>> {
    create_with(address, &StoreOptions::new())
}

/// Opens the store at an address for writing with options, and creates it if it does not exist.
///
/// # Errors
/// The errors of [`create`]; [`Error::Argument`] for an option that the kind of the store does not know.
pub fn create_with(address: &str, options: &StoreOptions) -> Result<Arc<dyn Store>> {
    let schemes = schemes();
    schemes.create(&schemes.address(address)?, options)
}
