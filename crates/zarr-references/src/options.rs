//! Where references may lead, and how much is read.

use std::fmt;
use std::sync::Arc;

use zarr_store::{Result, Store};

use crate::place::{place, shown};

/// Opens the store at an address that the caller allows.
pub(crate) type Opener = dyn Fn(&str) -> Result<Arc<dyn Store>> + Send + Sync;

/// Where references may lead, and bounds of what is read.
#[derive(Clone)]
#[non_exhaustive]
pub struct ReferencesOptions {
    pub(crate) directories: Vec<String>,
    pub(crate) allowed: Vec<String>,
    pub(crate) open: Option<Arc<Opener>>,
    /// The longest file in bytes: 1 GiB by default.
    pub max_size: u64,
    /// The most references that are generated: 2^22 by default.
    pub max_generated: u64,
    /// Bytes of files of references in Parquet that are kept in memory, about: 32 MiB by default. The last one is kept in any case.
    pub max_cached: usize,
    /// The name of the file in messages: by default its key behind the name of its store.
    pub name: Option<String>,
}

impl Default for ReferencesOptions {
    fn default() -> Self {
        Self {
            directories: Vec::new(),
            allowed: Vec::new(),
            open: None,
            max_size: 1 << 30,
            max_generated: 1 << 22,
            max_cached: 32 << 20,
            name: None,
        }
    }
}

impl ReferencesOptions {
    /// An address of the directory that the references lie in, as `/data` or `s3://bucket/data`: files below it may be named by it. Without
    /// one, relative names alone lead there.
    #[must_use]
    pub fn directory(mut self, address: impl Into<String>) -> Self {
        self.directories.push(address.into());
        self
    }

    /// References may lead to files below this address. Those that lie elsewhere than on this machine never lead to files of it.
    #[must_use]
    pub fn allow(mut self, prefix: impl Into<String>) -> Self {
        self.allowed.push(prefix.into());
        self
    }

    /// Opens the store at an address that is [allowed](Self::allow), as it was given.
    #[must_use]
    pub fn open_by(self, open: impl Fn(&str) -> Result<Arc<dyn Store>> + Send + Sync + 'static) -> Self {
        Self { open: Some(Arc::new(open)), ..self }
    }

    /// The same, with this as the longest file in bytes.
    #[must_use]
    pub fn max_size(self, max_size: u64) -> Self {
        Self { max_size, ..self }
    }

    /// The same, with this as the most references that are generated.
    #[must_use]
    pub fn max_generated(self, max_generated: u64) -> Self {
        Self { max_generated, ..self }
    }

    /// The same, with this as the number of bytes of files of references in Parquet that are kept in memory.
    #[must_use]
    pub fn max_cached(self, max_cached: usize) -> Self {
        Self { max_cached, ..self }
    }

    /// The same, with this as the name of the file in messages.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }
}

/// Addresses may have secrets in them.
impl fmt::Debug for ReferencesOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |addresses: &[String]| -> Vec<String> {
            addresses.iter().map(|address| shown(&place(address)).to_owned()).collect()
        };
        f.debug_struct("ReferencesOptions")
            .field("directories", &shown(&self.directories))
            .field("allowed", &shown(&self.allowed))
            .finish_non_exhaustive()
    }
}
