//! Chunks that are stored under the keys that chunks of a new array will have.

use super::{OpenNode, order};
use crate::chunk_keys::ChunkKeys;
use crate::jobs::{Operation, TakeLock};
use crate::{Error, ErrorKind, Result};
use zarr_drive::Io;
use zarr_meta::StoredNode;
use zarr_store::{Key, Lock, Prefix, Request};

/// Values under the keys that the chunks of a new array will have: left by an erase or a write that was interrupted, they would be read as
/// chunks of the array.
#[derive(Debug)]
pub(super) struct Leftovers<'f> {
    found: &'f StoredNode,
    keys: ChunkKeys,
    /// Whether values in the root may be erased.
    overwrite: bool,
}

impl<'f> Leftovers<'f> {
    /// The leftovers of a node that is to be created.
    pub(super) fn new(found: &'f StoredNode, overwrite: bool) -> Result<Self> {
        Ok(Self { found, keys: ChunkKeys::new(found)?, overwrite })
    }

    /// Whether all chunks would lie below one of these prefixes.
    pub(super) fn lie_below(&self, prefixes: &[String]) -> bool {
        self.keys.prefixes().all(|prefix| prefixes.iter().any(|above| prefix.starts_with(above.as_str())))
    }

    /// Erases them. Once there is something to erase, creators exclude each other by `lock`: chunks that were listed before it was seen that
    /// there is no node are of no array.
    pub(super) async fn erase(&self, io: &Io, lock: &mut Option<Lock>) -> Result<()> {
        let stored = self.stored(io).await?;
        let Some(first) = stored.first() else { return Ok(()) };
        // The root is the folder that the store lies in, which may hold anything.
        if self.found.path.is_root() && !self.overwrite {
            let message = "files are there already that would be chunks of the array";
            let error = Error::new(ErrorKind::Exists, message).at_path(&self.found.path);
            return Err(error.at(|location| location.key = Some(first.to_string())));
        }
        if lock.is_none() {
            *lock = Some(TakeLock::new(order::creation_lock_prefix(self.found)?).run(io).await?);
        }
        let open = OpenNode::new(self.found.path.clone(), Some(self.found.dialect), false);
        match open.knowing(&self.found.documents).find(io).await? {
            Some(found) if !found.implicit => {
                let message = "another writer created this node meanwhile";
                Err(Error::new(ErrorKind::Exists, message).at_path(&found.path))
            }
            _ => {
                io.change(stored.into_iter().map(|key| Request::Erase { key }).collect()).await?;
                // They are gone before the array is there.
                io.change(vec![Request::Barrier]).await?;
                Ok(())
            }
        }
    }

    async fn stored(&self, io: &Io) -> Result<Vec<Key>> {
        let mut prefixes: Vec<&str> = self.keys.prefixes().collect();
        prefixes.dedup();
        let prefixes = prefixes.into_iter().map(|prefix| Ok(Prefix::new(prefix)?)).collect::<Result<_>>()?;
        let keys = io.list_all(prefixes).await?.into_iter().flatten();
        Ok(keys.filter(|key| self.keys.has_form(key)).collect())
    }
}
