//! Values under the chunk keys of a new array that an earlier array left behind.

use super::{OpenNode, order};
use crate::chunk_keys::ChunkKeys;
use crate::jobs::{Operation, TakeLock};
use crate::{Error, ErrorKind, Result};
use zarr_drive::Io;
use zarr_meta::StoredNode;
use zarr_store::{Key, Lock, Prefix, Request};

/// Values under the chunk keys of a new array. An interrupted erase or write left them, and they would be read as chunks of the array.
#[derive(Debug)]
pub(super) struct Leftovers<'f> {
    found: &'f StoredNode,
    keys: ChunkKeys,
    /// Whether values at the root may be erased.
    overwrite: bool,
}

impl<'f> Leftovers<'f> {
    /// Prepares the search for leftovers of the array `found`, which is to be created.
    pub(super) fn new(found: &'f StoredNode, overwrite: bool) -> Result<Self> {
        Ok(Self { found, keys: ChunkKeys::new(found)?, overwrite })
    }

    /// Whether all chunk keys are below some of `prefixes`.
    pub(super) fn lie_below(&self, prefixes: &[String]) -> bool {
        self.keys.prefixes().all(|prefix| prefixes.iter().any(|above| prefix.starts_with(above.as_str())))
    }

    /// Erases the leftovers. If there are any, creators of the node exclude each other by `lock`, so that no chunks of an array that was
    /// created meanwhile are erased.
    pub(super) async fn erase(&self, io: &Io, lock: &mut Option<Lock>) -> Result<()> {
        let stored = self.stored(io).await?;
        let Some(first) = stored.first() else { return Ok(()) };
        // The root is the directory of the store, which may have other files.
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
                // The leftovers are erased before the array exists.
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
