//! Where chunks lie, for references to them.

use std::sync::Arc;

use zarr_store::{Bytes, Key, Result, Store};

use super::{IcechunkStore, chunk_file};
use crate::fault::IcechunkFault;
use crate::manifest::Place;
use crate::wait::{Way, wait};

/// Where a chunk of a snapshot lies.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ChunkPlace {
    /// In the manifest: these are the bytes.
    Inline(Bytes),
    /// A range of a file, in the repository or outside of it.
    Range {
        /// The store that the file is in.
        store: Arc<dyn Store>,
        /// The key of the file there.
        key: Key,
        /// The offset in bytes.
        offset: u64,
        /// The length in bytes.
        length: u64,
    },
}

impl IcechunkStore {
    /// Returns where the chunk at a key lies; `None` if none is stored there.
    ///
    /// # Errors
    /// [`Error::Format`](zarr_store::Error::Format) with an [`IcechunkFault`] for a damaged manifest, and for a file outside of the repository
    /// that may not be read; the errors of the store.
    pub fn chunk_place(&self, key: &Key) -> Result<Option<ChunkPlace>> {
        let inner = &self.0;
        let place = match wait(inner.place(Way::Blocking, key))? {
            None => return Ok(None),
            Some(Place::Inline(bytes)) => ChunkPlace::Inline(bytes),
            Some(Place::Native { id, offset, length }) => {
                ChunkPlace::Range { store: Arc::clone(&inner.below.store), key: chunk_file(id)?, offset, length }
            }
            Some(Place::Virtual { url, offset, length, .. }) => {
                let refused = |reason: String| {
                    inner.fail(IcechunkFault::Outside { chunk: key.clone(), url: url.clone(), reason })
                };
                let full = inner.outside.allowed.check(&url).map_err(refused)?;
                let open = inner.outside.open.as_ref();
                let open =
                    open.ok_or_else(|| refused("nothing opens files outside of the repository here".to_owned()))?;
                let (store, key) = open(&full)?;
                ChunkPlace::Range { store, key, offset, length }
            }
        };
        Ok(Some(place))
    }
}
