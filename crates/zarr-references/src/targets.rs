//! Files that references name, as sources of chunks.

use std::collections::HashMap;
use std::sync::Arc;

use zarr_store::{Key, Result, Store};
use zarr_store_virtual::{FileFinder, OutsideError, SourceId, VirtualStoreBuilder};

use crate::ReferencesFault;

/// Maximum memory in bytes of the names of files of references, in addition to [`NAMES_PER_BYTE`].
const NAMES: u64 = 256 << 20;
/// Maximum memory in bytes of the names of files for each byte of the references.
const NAMES_PER_BYTE: u64 = 8;
/// Estimate of the memory in bytes of a file besides its name.
const FILE: u64 = 64;

/// Search for files by the URLs in references, which adds each file once as a source of a virtual store.
pub(crate) struct Targets {
    finder: FileFinder,
    known: HashMap<String, SourceId>,
    /// Maximum memory in bytes of the names of files, and the part of it that is left.
    names: (u64, u64),
    last: Option<(String, SourceId)>,
}

impl Targets {
    /// Creates a search for the files of references of `size` bytes.
    pub(crate) fn new(finder: FileFinder, size: u64) -> Self {
        let names = size.saturating_mul(NAMES_PER_BYTE).saturating_add(NAMES);
        Self { finder, known: HashMap::new(), names: (names, names), last: None }
    }

    pub(crate) fn finder(&self) -> &FileFinder {
        &self.finder
    }

    /// Returns the source for the file at `url`, and adds it to `builder` if it is new. Errors show `name`, the name of the references, and
    /// `key`, the key of the reference.
    pub(crate) fn source(
        &mut self,
        name: &str,
        key: &str,
        url: &str,
        builder: &mut VirtualStoreBuilder,
    ) -> Result<SourceId> {
        if let Some((last, source)) = &self.last
            && last == url
        {
            return Ok(*source);
        }
        let source = match self.known.get(url) {
            Some(source) => *source,
            None => {
                let (store, target) = file(&self.finder, name, key, url)?;
                let (limit, left) = self.names;
                let left = left.checked_sub(url.len() as u64 + FILE);
                self.names.1 = left.ok_or_else(|| ReferencesFault::Work { limit }.of(name))?;
                let source = builder.source(store, target);
                self.known.insert(url.to_owned(), source);
                source
            }
        };
        self.last = Some((url.to_owned(), source));
        Ok(source)
    }
}

/// Returns the store that contains the file at `url`, and the key of the file in the store. Errors show `name`, the name of the references,
/// and `key`, the key of the reference.
pub(crate) fn file(finder: &FileFinder, name: &str, key: &str, url: &str) -> Result<(Arc<dyn Store>, Key)> {
    finder.file(url).map_err(|error| match error {
        OutsideError::Refused(reason) | OutsideError::NotAllowed(reason) => {
            ReferencesFault::NotAllowed { key: key.to_owned(), url: url.to_owned(), reason }.of(name)
        }
        OutsideError::Store(error) => error,
    })
}
