//! Stores, and opening them by address.

mod url;

pub(crate) use url::{Address, address, create_path, open_path};
pub use url::{create, open};
pub use zarr_store::*;
#[cfg(feature = "cached")]
pub use zarr_store_cached::Cached;
#[cfg(feature = "filesystem")]
pub use zarr_store_filesystem::{FilesystemOptions, FilesystemStore};
#[cfg(feature = "zip")]
pub use zarr_store_zip::{AsyncZipStore, ZipFault, ZipOptions, ZipStore};
