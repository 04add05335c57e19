//! Consistent listing of the nodes of a source.

use std::sync::Arc;
use zarr_hierarchy::node::pin;
use zarr_hierarchy::{Error, ErrorKind, Result, Walk, in_store, open_node, walk};
use zarr_meta::{NodePath, StoredNode};
use zarr_store::{Conflicts, GetOptions, Key, Store, StoreExt, Version};

/// Greatest number of times that the nodes are listed again after another process has replaced them.
const MAX_TRIES: u32 = 20;

/// Lists the node at `path` and all nodes below it. If another process erases, moves or replaces the node meanwhile, lists them again. If
/// the store cannot pin the node and keys are erased one by one, nodes may be left out whose documents were erased before that of the node
/// itself.
pub(super) fn walk_together(source: &Arc<dyn Store>, path: &NodePath) -> Result<Walk> {
    let mut conflicts = Conflicts::new(MAX_TRIES);
    loop {
        let group = if path.is_root() { None } else { Some(open_node(&**source, &path.to_string(), None)?) };
        let group = match group {
            Some(group) if group.node.as_group().is_some() => WatchedGroup::new(source, group)?,
            _ => return walk(&**source, &path.to_string(), None),
        };
        let walked = walk(group.store(), &path.to_string(), None);
        if group.is_there()? {
            return walked;
        }
        let Some(pause) = conflicts.again() else {
            let message = format!("others replaced the group {conflicts} while its nodes were looked up");
            return Err(in_store(source, Error::new(ErrorKind::Conflict, message).at_path(path)));
        };
        std::thread::sleep(pause);
    }
}

/// State of a value: `None` if there is no value; `Some(None)` if the store has no versions.
type ValueState = Option<Option<Version>>;

/// Group whose nodes are being listed.
struct WatchedGroup<'s> {
    source: &'s Arc<dyn Store>,
    /// Store in which the group stays as it is even if others replace it; `None` if the store cannot pin it.
    pinned: Option<Arc<dyn Store>>,
    /// Document of the group that is not pinned, with its state at the beginning.
    document: Option<(Key, ValueState)>,
}

impl<'s> WatchedGroup<'s> {
    fn new(source: &'s Arc<dyn Store>, group: StoredNode) -> Result<Self> {
        let pinned = pin(&**source, &group).map_err(|error| in_store(source, error))?;
        let mut held = Self { source, pinned, document: None };
        let key = if group.documents.are_consolidated() { None } else { group.own_documents().next() };
        // Nobody who reads by a store that takes no writes would replace something there.
        if let Some(key) = key.filter(|_| held.pinned.is_none() && source.capabilities().write) {
            let key = Key::new(key).map_err(|error| in_store(source, error.into()))?;
            let seen = held.see(&key)?;
            held.document = Some((key, seen));
        }
        Ok(held)
    }

    fn store(&self) -> &dyn Store {
        self.pinned.as_ref().map_or(&**self.source, |pinned| &**pinned)
    }

    /// Returns whether the group was not replaced since the beginning.
    fn is_there(&self) -> Result<bool> {
        match (&self.pinned, &self.document) {
            (Some(pinned), _) => pinned.is_in_place().map_err(|error| in_store(self.source, error.into())),
            (None, Some((key, seen))) => Ok(self.see(key)? == *seen),
            (None, None) => Ok(true),
        }
    }

    fn see(&self, key: &Key) -> Result<ValueState> {
        let fetched = self.source.get(key, &[], &GetOptions::default());
        let fetched = fetched.map_err(|error| in_store(self.source, error.into()))?;
        Ok(fetched.map(|fetched| fetched.version))
    }
}
