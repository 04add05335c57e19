//! Loss of power at each step of a verb: the disk then has some of the changes that were not synced, and lacks the others.

use super::steps::{MAX_STEPS, Steps, Stopping, restore};
use super::verbs::{Contents, LAYOUTS, Scenario, Stores, Verb, contents};
use super::{Result, Scale, Tally};
use crate::random::Random;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zarr::Store;
use zarr_store::{
    Answer, Bytes, Call, Capabilities, Durability, Key, MemoryStore, Prefix, SetOptions, StoreExt, Version,
    fallback_blocking,
};

/// Store in memory that records which of its changes a loss of power may undo. It fulfils the promises of [`Durability`] and
/// [`barrier`](zarr_store::StoreExt::barrier), and no more: each change that is not synced may be lost, independently of others.
#[derive(Debug)]
struct Volatile {
    store: MemoryStore,
    /// Whether the store renames, exchanges and erases prefixes in one step, like a directory.
    like_files: bool,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    /// Values at the last sync of all changes.
    synced: BTreeMap<Key, Bytes>,
    changes: Vec<Change>,
}

#[derive(Debug)]
struct Change {
    operation: Operation,
    /// Whether the change is on the disk.
    is_synced: bool,
}

#[derive(Debug)]
enum Operation {
    Set {
        key: Key,
        value: Bytes,
        /// Whether a loss of power may cut the value short.
        may_tear: bool,
    },
    Erase(Key),
    ErasePrefix(Prefix),
    Rename(Prefix, Prefix),
    Exchange(Prefix, Prefix),
}

impl Volatile {
    fn new(contents: &Contents, like_files: bool) -> Result<Self> {
        let store = MemoryStore::new();
        for (key, value) in contents {
            store.set_all(key, value)?;
        }
        let log = Log { synced: contents.iter().cloned().collect(), changes: Vec::new() };
        Ok(Self { store, like_files, log: Mutex::new(log) })
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, operation: Operation, is_synced: bool) {
        self.log().changes.push(Change { operation, is_synced });
    }

    /// Returns values that a loss of power may leave.
    fn after_a_loss(&self, random: &mut Random) -> BTreeMap<Key, Bytes> {
        let log = self.log();
        let mut values = log.synced.clone();
        for Change { operation, is_synced } in &log.changes {
            if !is_synced && random.below(2) == 0 {
                continue;
            }
            match operation {
                Operation::Set { key, value, may_tear } => {
                    let tears = *may_tear && !is_synced && random.below(2) == 0;
                    let end = if tears { random.below(value.len()) } else { value.len() };
                    values.insert(key.clone(), value.slice(..end));
                }
                Operation::Erase(key) => drop(values.remove(key)),
                Operation::ErasePrefix(prefix) => values.retain(|key, _| !prefix.contains(key)),
                Operation::Rename(from, to) => {
                    let moved = take(&mut values, from, to);
                    values.extend(moved);
                }
                Operation::Exchange(a, b) => {
                    let moved = [take(&mut values, a, b), take(&mut values, b, a)];
                    values.extend(moved.into_iter().flatten());
                }
            }
        }
        values
    }
}

/// Removes the values under the prefix `from`, and returns them with their keys under the prefix `to`.
fn take(values: &mut BTreeMap<Key, Bytes>, from: &Prefix, to: &Prefix) -> Vec<(Key, Bytes)> {
    let moved: Vec<Key> = values.keys().filter(|key| from.contains(key)).cloned().collect();
    let renamed = |key: Key| Some((to.join(from.strip(&key)?).ok()?, values.remove(&key)?));
    moved.into_iter().filter_map(renamed).collect()
}

impl fmt::Display for Volatile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Volatile {
    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> zarr_store::Result<Option<Version>> {
        let version = self.store.set_if(key, value, &options.when)?;
        let is_synced = options.durability == Durability::Full;
        if is_synced {
            // The names of the prefixes that it lies under are on the disk, too.
            for change in &mut self.log().changes {
                change.is_synced |= match &change.operation {
                    Operation::ErasePrefix(prefix) | Operation::Rename(_, prefix) => prefix.contains(key),
                    // It is on the disk when it has returned.
                    Operation::Set { .. } | Operation::Erase(_) | Operation::Exchange(..) => false,
                };
            }
        }
        let (key, value) = (key.clone(), Bytes::copy_from_slice(value));
        self.note(Operation::Set { key, value, may_tear: options.durability == Durability::None }, is_synced);
        Ok(version)
    }

    fn erase(&self, key: &Key) -> zarr_store::Result<()> {
        self.store.erase(key)?;
        self.note(Operation::Erase(key.clone()), false);
        Ok(())
    }

    fn erase_prefix(&self, prefix: &Prefix) -> zarr_store::Result<()> {
        if !self.like_files {
            return self.list_prefix(prefix)?.iter().try_for_each(|key| self.erase(key));
        }
        self.store.erase_prefix(prefix)?;
        self.note(Operation::ErasePrefix(prefix.clone()), true);
        Ok(())
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> zarr_store::Result<bool> {
        if !self.like_files || !self.store.list_prefix(to)?.is_empty() {
            return Ok(false);
        }
        for key in self.store.list_prefix(from)? {
            if let (Some(rest), Some(value)) = (from.strip(&key), self.store.get_all(&key)?) {
                self.store.set_all(&to.join(rest)?, &value)?;
                self.store.erase(&key)?;
            }
        }
        self.note(Operation::Rename(from.clone(), to.clone()), false);
        Ok(true)
    }

    fn exchange_prefixes(&self, a: &Prefix, b: &Prefix) -> zarr_store::Result<bool> {
        let is_exchanged = self.like_files && self.store.exchange_prefixes(a, b)?;
        if is_exchanged {
            self.note(Operation::Exchange(a.clone(), b.clone()), true);
        }
        Ok(is_exchanged)
    }

    fn flush(&self) -> zarr_store::Result<()> {
        let keys = self.store.list()?;
        let values = keys.into_iter().map(|key| Ok((key.clone(), self.store.get_all(&key)?)));
        let values: BTreeMap<Key, Option<Bytes>> = values.collect::<zarr_store::Result<_>>()?;
        let synced = values.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
        *self.log() = Log { synced, changes: Vec::new() };
        Ok(())
    }
}

impl Store for Volatile {
    fn call(&self, call: Call<'_>) -> zarr_store::Result<Answer> {
        Ok(match call {
            Call::Set { key, value, options } => Answer::Set(self.set(&key, &value, &options)?),
            Call::Erase { key } => self.erase(&key)?.into(),
            Call::ErasePrefix { prefix } => self.erase_prefix(&prefix)?.into(),
            Call::RenamePrefix { from, to } => Answer::Is(self.rename_prefix(&from, &to)?),
            Call::ExchangePrefixes { a, b } => Answer::Is(self.exchange_prefixes(&a, &b)?),
            Call::Flush => self.flush()?.into(),
            call @ (Call::Get { .. }
            | Call::ListDir { .. }
            | Call::ListPrefix { .. }
            | Call::FindLink { .. }
            | Call::Lock { .. }) => return self.store.call(call),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities().durable(true).erases_at_once(self.like_files).exchanges(self.like_files)
    }

    fn access_profile(&self) -> zarr_store::AccessProfile {
        self.store.access_profile()
    }
}

/// Disks with the stores of a scenario.
struct Disks([Arc<Volatile>; 2]);

impl Disks {
    /// Returns disks with the values of these stores.
    fn new(stores: &Stores, like_files: bool) -> Result<Self> {
        let disk = |store| -> Result<_> { Ok(Arc::new(Volatile::new(&contents(store)?, like_files)?)) };
        Ok(Self([disk(&stores.main)?, disk(&stores.target)?]))
    }

    /// Returns the stores on the disks, whose calls fail from some step onwards.
    fn stopping(&self, steps: &Arc<Steps>) -> Stores {
        let [main, target] = self.0.each_ref().map(|disk| {
            let store: Arc<dyn Store> = disk.clone();
            Stopping::over(&store, steps)
        });
        Stores { main, target }
    }

    /// Returns stores that a loss of power may leave on the disks.
    fn after_a_loss(&self, random: &mut Random) -> Result<Stores> {
        let stores = Stores::in_memory();
        for (store, disk) in [&stores.main, &stores.target].into_iter().zip(&self.0) {
            restore(store, &disk.after_a_loss(random).into_iter().collect())?;
        }
        Ok(stores)
    }
}

/// Repeats a verb, and loses the power during or after it. Returns the stores that are left, and whether the verb was done.
fn lose_in_rerun(scenario: Scenario, stores: &Stores, like_files: bool, random: &mut Random) -> Result<(Stores, bool)> {
    // The repeated verb may have nothing left to do, or fail, as without an interruption.
    let rerun = |disks: &Disks, steps: &Arc<Steps>| scenario.rerun(&disks.stopping(steps)).unwrap_or(false);
    let undisturbed = Steps::until(u64::MAX, true);
    rerun(&Disks::new(stores, like_files)?, &undisturbed);
    let calls = undisturbed.made().max(1);
    // Old values are erased at the end.
    let from_end = match random.below(4) {
        0 => 0,
        1 => random.number() % calls.div_ceil(8),
        _ => random.number() % calls,
    };
    let disks = Disks::new(stores, like_files)?;
    let steps = Steps::until(calls - from_end, true);
    let done = rerun(&disks, &steps) && !steps.failed();
    Ok((disks.after_a_loss(random)?, done))
}

/// Cuts the power at each step of a verb, on arrays of every layout. The old values are on the disk.
pub(super) fn check(verb: Verb, scale: Scale) -> Result<Tally> {
    let mut tally = Tally::default();
    for (name, layout) in LAYOUTS {
        let scenario = Scenario { verb, layout, chunks: 2 };
        for like_files in [true, false] {
            let name = format!("{name}, {}", if like_files { "as in files" } else { "key by key" });
            lose_at_each(scenario, like_files, scale.of(4, 40), &name, &mut tally)?;
        }
    }
    Ok(tally)
}

fn lose_at_each(scenario: Scenario, like_files: bool, losses: u64, name: &str, tally: &mut Tally) -> Result<()> {
    let prepared = Stores::in_memory();
    scenario.prepare(&prepared)?;
    let mut judged = HashSet::new();
    for last in 0..MAX_STEPS {
        let disks = Disks::new(&prepared, like_files)?;
        let steps = Steps::until(last, true);
        let done = scenario.run(&disks.stopping(&steps));
        for loss in 0..losses {
            let mut random = Random::new(last * 1000 + loss);
            let stores = disks.after_a_loss(&mut random)?;
            tally.done("losses", 1);
            // The number of repetitions of an append is unknown.
            let loses_again = loss % 2 == 1 && scenario.verb != Verb::Append;
            // Many losses leave the same values, of which nothing is left to chance but where the power is lost again.
            let is_certain = steps.failed() && !loses_again;
            if is_certain && !judged.insert([contents(&stores.main)?, contents(&stores.target)?]) {
                continue;
            }
            let at = || format!("{name}, before call {last}, loss {loss}: ");
            for fault in scenario.faults_when_interrupted(&stores) {
                tally.fault("states that no reader should see", || at() + &fault);
            }
            if !steps.failed() && scenario.verb.ends_with_a_flush() {
                for fault in scenario.faults_after_rerun(&stores) {
                    tally.fault("verbs that were done and lost something", || at() + &fault);
                }
            }
            let stores = if loses_again {
                let (stores, done) = lose_in_rerun(scenario, &stores, like_files, &mut random)?;
                for fault in scenario.faults_when_interrupted(&stores) {
                    tally.fault("states that no reader should see after a rerun", || at() + &fault);
                }
                if done && scenario.verb.ends_with_a_flush() {
                    for fault in scenario.faults_after_rerun(&stores) {
                        tally.fault("reruns that were done and lost something", || at() + &fault);
                    }
                }
                stores
            } else {
                stores
            };
            match scenario.rerun(&stores) {
                Ok(true) => {
                    for fault in scenario.faults_after_rerun(&stores) {
                        tally.fault("reruns that do not end right", || at() + &fault);
                    }
                }
                // The error names the decision that a user has to take.
                Ok(false) => {}
                Err(error) => tally.fault("reruns that fail", || at() + &error.to_string()),
            }
        }
        if !steps.failed() {
            return match done {
                Ok(()) => Ok(()),
                Err(error) => Err(format!("{name}: not interrupted, and failed: {error}").into()),
            };
        }
    }
    Err(format!("{name}: more than {MAX_STEPS} steps").into())
}
