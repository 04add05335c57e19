//! Places of chunks, for code that makes references to them.

use std::sync::Arc;

use zarr_store::{Key, Result, Store};
use zarr_store_virtual::FoundChunk;

use super::{IcechunkStore, chunk_file};
use crate::fault::IcechunkFault;
use crate::manifest::Place;
use zarr_store_virtual::lookup::{Way, wait};

impl IcechunkStore {
    /// Returns the place of the chunk at `key`; `None` if no chunk is stored there.
    ///
    /// # Errors
    /// [`Error::Format`](zarr_store::Error::Format) with an [`IcechunkFault`] for a damaged manifest, or for a file outside of the
    /// repository that must not be read; and the errors of the store.
    pub fn find_chunk(&self, key: &Key) -> Result<Option<FoundChunk>> {
        let inner = &self.0;
        let place = match wait(inner.place(Way::Blocking, key))? {
            None => return Ok(None),
            Some(Place::Inline(bytes)) => FoundChunk::Inline(bytes),
            Some(Place::Native { id, offset, length }) => {
                in_file(Arc::clone(inner.below.store()), chunk_file(id)?, offset, length)
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
                in_file(store, key, offset, length)
            }
        };
        Ok(Some(place))
    }
}

fn in_file(store: Arc<dyn Store>, file: Key, offset: u64, length: u64) -> FoundChunk {
    FoundChunk::File { store, file, range: Some(offset..offset.saturating_add(length)) }
}
