//! The files of tables that are in memory: those that were asked for last, up to a bound.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zarr_store::Result;

use super::Record;
use super::wait::Way;

/// The array, by its number, and the file of its table.
pub(super) type Id = (usize, u64);

/// A cache of records. Of several that ask for one at the same time, one loads it and the others wait.
#[derive(Debug)]
pub(super) struct Cache {
    max_bytes: usize,
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    by_id: HashMap<Id, Slot>,
    /// How often records were asked for.
    turn: u64,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Slot {
    record: Option<Arc<Record>>,
    /// Locks that are held while it is loaded: by callers that block, and by those that do not. Who blocks never waits for a future that
    /// the same thread has to poll.
    loading: [Arc<futures::lock::Mutex<()>>; 2],
    used: u64,
}

impl Cache {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, slots: Mutex::default() }
    }

    /// The record of this id, which `load` reads if it is not in memory.
    pub(super) async fn get(
        &self,
        way: Way,
        id: Id,
        load: impl Future<Output = Result<Record>>,
    ) -> Result<Arc<Record>> {
        let loading = match self.look(way, id) {
            Ok(record) => return Ok(record),
            Err(loading) => loading,
        };
        let _held = loading.lock().await;
        if let Ok(record) = self.look(way, id) {
            return Ok(record);
        }
        match load.await {
            Ok(record) => {
                let record = Arc::new(record);
                self.keep(id, &record);
                Ok(record)
            }
            Err(error) => {
                // Those that wait keep the lock, and try it themselves.
                self.slots().by_id.remove(&id);
                Err(error)
            }
        }
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, way: Way, id: Id) -> Result<Arc<Record>, Arc<futures::lock::Mutex<()>>> {
        let mut slots = self.slots();
        slots.turn += 1;
        let turn = slots.turn;
        let slot = slots.by_id.entry(id).or_default();
        slot.used = turn;
        slot.record.clone().ok_or_else(|| Arc::clone(&slot.loading[usize::from(way == Way::Blocking)]))
    }

    /// Keeps a record, and drops those that were not asked for longest. One that is larger than all may be is kept until the next.
    fn keep(&self, id: Id, record: &Arc<Record>) {
        let mut slots = self.slots();
        slots.turn += 1;
        let turn = slots.turn;
        let slot = slots.by_id.entry(id).or_default();
        slot.used = turn;
        let before = slot.record.replace(Arc::clone(record));
        slots.bytes = slots.bytes - before.map_or(0, |before| before.size()) + record.size();
        while slots.bytes > self.max_bytes {
            let others = slots.by_id.iter().filter(|(other, slot)| **other != id && slot.record.is_some());
            let Some(oldest) = others.min_by_key(|(_, slot)| slot.used).map(|(other, _)| *other) else { return };
            if let Some(dropped) = slots.by_id.remove(&oldest).and_then(|slot| slot.record) {
                slots.bytes -= dropped.size();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_store::Error;

    fn got(cache: &Cache, id: Id, is_there: bool) -> Result<bool> {
        let mut loaded = false;
        let load = async {
            loaded = true;
            if is_there { Ok(Record::default()) } else { Err(Error::NoStore { store: "x".to_owned() }) }
        };
        super::super::wait::wait(cache.get(Way::Blocking, id, load)).map(|_| loaded)
    }

    #[test]
    fn what_was_not_asked_for_longest_goes_first() {
        let cache = Cache::new(3 * Record::default().size());
        for number in 0..3 {
            assert!(got(&cache, (0, number), true).expect("loaded"));
        }
        assert!(!got(&cache, (0, 0), true).expect("kept"));
        assert!(got(&cache, (1, 0), true).expect("loaded"));
        assert!(!got(&cache, (0, 0), true).expect("kept"));
        assert!(got(&cache, (0, 1), true).expect("loaded"));
        assert_eq!(cache.slots().by_id.len(), 3);
    }

    #[test]
    fn an_error_is_not_kept() {
        let cache = Cache::new(1);
        got(&cache, (0, 0), false).expect_err("refused");
        assert!(cache.slots().by_id.is_empty());
        assert!(got(&cache, (0, 0), true).expect("loaded"));
        // Larger than all that may be kept, and kept all the same.
        assert!(!got(&cache, (0, 0), true).expect("kept"));
    }

    #[test]
    fn one_loads_what_several_ask_for() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let (cache, loads) = (Cache::new(1 << 20), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let load = async {
                        loads.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        Ok(Record::default())
                    };
                    super::super::wait::wait(cache.get(Way::Blocking, (0, 0), load)).expect("loaded");
                });
            }
        });
        assert_eq!(loads.into_inner(), 1);
    }
}
