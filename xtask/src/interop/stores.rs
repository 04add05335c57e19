//! Stores of a folder of arrays: directories, or stores on a server.

use std::path::Path;
use std::sync::Arc;
use zarr::Store;
use zarr::store::StoreOptions;

/// Directories of a folder, or stores below an address.
pub(crate) struct Stores {
    base: String,
    options: StoreOptions,
    /// Greatest number of chunks of an array, since each chunk may cost requests.
    pub(crate) most_chunks: u64,
}

impl Stores {
    /// Returns the directories of a folder.
    pub(crate) fn directories(folder: &Path) -> Self {
        Self { base: folder.display().to_string(), options: StoreOptions::new(), most_chunks: u64::MAX }
    }

    /// Returns the stores below the address of a server.
    pub(crate) fn below(base: String, options: StoreOptions) -> Self {
        Self { base, options, most_chunks: u64::MAX }
    }

    /// Limits arrays to `most_chunks` chunks.
    pub(crate) fn with_most_chunks(self, most_chunks: u64) -> Self {
        Self { most_chunks, ..self }
    }

    /// Returns the address of the store `name`.
    pub(crate) fn address(&self, name: &str) -> String {
        format!("{}/{name}", self.base)
    }

    /// Opens an existing store.
    pub(crate) fn open(&self, name: &str) -> Result<Arc<dyn Store>, String> {
        zarr::store::open_with(&self.address(name), &self.options).map_err(|error| zarr::Error::from(error).to_string())
    }

    /// Creates a store.
    pub(crate) fn create(&self, name: &str) -> Result<Arc<dyn Store>, String> {
        let created = zarr::store::create_with(&self.address(name), &self.options);
        created.map_err(|error| zarr::Error::from(error).to_string())
    }
}
