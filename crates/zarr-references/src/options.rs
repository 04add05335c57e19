//! Options of reading references: the files that they may name, and limits.

use std::sync::Arc;

use zarr_store::{Prefix, Result, Store};
use zarr_store_virtual::{FileFinder, OutsideFiles};

/// Options of reading references: the files that they may name, and limits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReferencesOptions {
    outside: OutsideFiles,
    /// Maximum size in bytes of a file of references: 1 GiB by default.
    pub max_size: u64,
    /// Maximum number of references that generators make: 2^22 by default.
    pub max_generated: u64,
    /// Approximate maximum memory in bytes of the cached files of references in Parquet: 32 MiB by default. The file that was read last is
    /// cached even if it is larger.
    pub max_cached: usize,
    /// Name of the references in messages; `None`, the default, for the name of their store followed by their key.
    pub name: Option<String>,
}

impl Default for ReferencesOptions {
    fn default() -> Self {
        Self {
            outside: OutsideFiles::default(),
            max_size: 1 << 30,
            max_generated: 1 << 22,
            max_cached: 32 << 20,
            name: None,
        }
    }
}

impl ReferencesOptions {
    /// Adds an address of the directory that contains the references, as `/data` or `s3://bucket/data`. References may name files below
    /// this directory by URLs that begin with the address. Without an address they name these files by relative names only.
    #[must_use]
    pub fn directory(mut self, address: impl Into<String>) -> Self {
        self.outside = self.outside.directory(address);
        self
    }

    /// Allows references to files whose URLs lie below `prefix`. If an address of the [directory](Self::directory) is not on this machine,
    /// no reference may name a file of this machine, even below `prefix`.
    #[must_use]
    pub fn allow(mut self, prefix: impl Into<String>) -> Self {
        self.outside = self.outside.allow(prefix);
        self
    }

    /// Sets the function that opens the store at an [allowed](Self::allow) prefix. It is called with the prefix as the caller gave it.
    #[must_use]
    pub fn open_by(self, open: impl Fn(&str) -> Result<Arc<dyn Store>> + Send + Sync + 'static) -> Self {
        Self { outside: self.outside.open_by(open), ..self }
    }

    /// Sets the maximum size of a file of references in bytes.
    #[must_use]
    pub fn max_size(self, max_size: u64) -> Self {
        Self { max_size, ..self }
    }

    /// Sets the maximum number of references that generators make.
    #[must_use]
    pub fn max_generated(self, max_generated: u64) -> Self {
        Self { max_generated, ..self }
    }

    /// Sets the approximate maximum memory in bytes of the cached files of references in Parquet.
    #[must_use]
    pub fn max_cached(self, max_cached: usize) -> Self {
        Self { max_cached, ..self }
    }

    /// Sets the name of the references in messages.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Returns the search for files that references in `directory` of `store` name.
    pub(crate) fn finder(&self, store: Arc<dyn Store>, directory: Prefix) -> FileFinder {
        self.outside.finder("references", store, directory)
    }
}
