//! Where the stores of a folder of arrays are.

use std::path::Path;
use std::sync::Arc;
use zarr::Store;
use zarr::store::StoreOptions;

/// The directories of a folder, or the stores below an address.
pub(crate) struct Stores {
    base: String,
    options: StoreOptions,
    /// The largest number of chunks of an array, where each costs requests.
    pub(crate) most_chunks: u64,
}

impl Stores {
    /// The directories of a folder.
    pub(crate) fn directories(folder: &Path) -> Self {
        Self { base: folder.display().to_string(), options: StoreOptions::new(), most_chunks: u64::MAX }
    }

    /// The stores below the address of a server.
    pub(crate) fn below(base: String, options: StoreOptions) -> Self {
        Self { base, options, most_chunks: u64::MAX }
    }

    /// The stores with arrays of at most `most_chunks` chunks.
    pub(crate) fn with_most_chunks(self, most_chunks: u64) -> Self {
        Self { most_chunks, ..self }
    }

    /// The address of a store.
    pub(crate) fn address(&self, name: &str) -> String {
        format!("{}/{name}", self.base)
    }

    /// A store that is there.
    pub(crate) fn open(&self, name: &str) -> Result<Arc<dyn Store>, String> {
        zarr::store::open_with(&self.address(name), &self.options).map_err(|error| zarr::Error::from(error).to_string())
    }

    /// A store to write.
    pub(crate) fn create(&self, name: &str) -> Result<Arc<dyn Store>, String> {
        let created = zarr::store::create_with(&self.address(name), &self.options);
        created.map_err(|error| zarr::Error::from(error).to_string())
    }
}
