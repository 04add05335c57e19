//! The manifests that are in memory: those that were asked for last, up to a bound.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zarr_store::Result;

use crate::id::Id;
use crate::manifest::Manifest;

/// A cache of manifests. Of several that ask for one at the same time, one loads it and the others wait.
#[derive(Debug)]
pub(crate) struct Manifests {
    max_bytes: usize,
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    by_id: HashMap<Id, Slot>,
    /// How often manifests were asked for.
    turn: u64,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Slot {
    manifest: Option<Arc<Manifest>>,
    /// Held while it is loaded.
    loading: Arc<futures::lock::Mutex<()>>,
    used: u64,
}

impl Manifests {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, slots: Mutex::default() }
    }

    /// The manifest of this id, which `load` reads if it is not in memory.
    pub(crate) async fn get(&self, id: Id, load: impl Future<Output = Result<Manifest>>) -> Result<Arc<Manifest>> {
        let loading = match self.look(id) {
            Ok(manifest) => return Ok(manifest),
            Err(loading) => loading,
        };
        let _held = loading.lock().await;
        if let Ok(manifest) = self.look(id) {
            return Ok(manifest);
        }
        let manifest = Arc::new(load.await?);
        self.keep(id, &manifest);
        Ok(manifest)
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, id: Id) -> Result<Arc<Manifest>, Arc<futures::lock::Mutex<()>>> {
        let mut slots = self.slots();
        slots.turn += 1;
        let turn = slots.turn;
        let slot = slots.by_id.entry(id).or_default();
        slot.used = turn;
        slot.manifest.clone().ok_or_else(|| Arc::clone(&slot.loading))
    }

    /// Keeps a manifest, and drops those that were not asked for longest. One that is larger than all may be is kept until the next.
    fn keep(&self, id: Id, manifest: &Arc<Manifest>) {
        let mut slots = self.slots();
        slots.by_id.entry(id).or_default().manifest = Some(Arc::clone(manifest));
        slots.bytes += manifest.size();
        while slots.bytes > self.max_bytes {
            let others = slots.by_id.iter().filter(|(other, slot)| **other != id && slot.manifest.is_some());
            let Some(oldest) = others.min_by_key(|(_, slot)| slot.used).map(|(other, _)| *other) else { return };
            if let Some(dropped) = slots.by_id.remove(&oldest).and_then(|slot| slot.manifest) {
                slots.bytes -= dropped.size();
            }
        }
    }
}
