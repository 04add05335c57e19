//! Verbs that are interrupted at each of their steps: all calls of the store fail beginning with the N-th, as if the process had died, or
//! only the N-th call fails, as if a network had failed.

use super::verbs::{Contents, LAYOUTS, Scenario, Stores, Verb, contents};
use super::{Result, Scale, Tally, folder_in_memory};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zarr::Store;
use zarr_store::{
    AccessProfile, Answer, ByteRange, Call, Capabilities, Error, Fetched, GetInto, GetOptions, Key, Listing, Lock,
    Operation, Prefix, SetOptions, StoreExt, Version, fallback_blocking,
};

/// Number of steps that no verb reaches.
pub(super) const MAX_STEPS: u64 = 10_000;

/// Counter of the calls of one or more stores, which decides which calls fail.
#[derive(Debug)]
pub(super) struct Steps {
    made: AtomicU64,
    /// Number of calls before the first call that fails.
    last: u64,
    /// Whether all later calls fail too.
    for_good: bool,
}

impl Steps {
    pub(super) fn until(last: u64, for_good: bool) -> Arc<Self> {
        Arc::new(Self { made: AtomicU64::new(0), last, for_good })
    }

    /// Returns the number of calls so far, including failed ones.
    pub(super) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// Returns whether a call has failed.
    pub(super) fn failed(&self) -> bool {
        self.made.load(Ordering::Relaxed) > self.last
    }
}

/// Store whose calls fail beginning with some step.
#[derive(Debug)]
pub(super) struct Stopping {
    store: Arc<dyn Store>,
    steps: Arc<Steps>,
}

impl Stopping {
    pub(super) fn over(store: &Arc<dyn Store>, steps: &Arc<Steps>) -> Arc<dyn Store> {
        Arc::new(Self { store: Arc::clone(store), steps: Arc::clone(steps) })
    }

    fn step(&self, operation: Operation, key: &str) -> zarr_store::Result<()> {
        let made = self.steps.made.fetch_add(1, Ordering::Relaxed);
        if made < self.steps.last || made > self.steps.last && !self.steps.for_good {
            return Ok(());
        }
        Err(Error::io(self, operation, key, io::Error::other("stopped")))
    }
}

impl fmt::Display for Stopping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

/// Operations on several values are left to `fallback_blocking`, so that each value is a step, except operations that a store does in one
/// step.
impl Stopping {
    fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> zarr_store::Result<Option<Fetched>> {
        self.step(Operation::Get, key.as_str())?;
        self.store.get(key, ranges, options)
    }

    fn get_into(&self, key: &Key, into: &mut [u8]) -> zarr_store::Result<GetInto> {
        self.step(Operation::Get, key.as_str())?;
        self.store.get_into(key, into)
    }

    fn set(&self, key: &Key, value: &[u8], options: &SetOptions) -> zarr_store::Result<Option<Version>> {
        self.step(Operation::Set, key.as_str())?;
        self.store.set(key, value, options)
    }

    fn erase(&self, key: &Key) -> zarr_store::Result<()> {
        self.step(Operation::Erase, key.as_str())?;
        self.store.erase(key)
    }

    fn list_dir(&self, prefix: &Prefix) -> zarr_store::Result<Listing> {
        self.step(Operation::List, prefix.as_str())?;
        self.store.list_dir(prefix)
    }

    fn list_prefix(&self, prefix: &Prefix) -> zarr_store::Result<Vec<Key>> {
        self.step(Operation::List, prefix.as_str())?;
        self.store.list_prefix(prefix)
    }

    fn erase_prefix(&self, prefix: &Prefix) -> zarr_store::Result<()> {
        if self.capabilities().erases_at_once {
            self.step(Operation::Erase, prefix.as_str())?;
            return self.store.erase_prefix(prefix);
        }
        self.list_prefix(prefix)?.iter().try_for_each(|key| self.erase(key))
    }

    fn find_link(&self, prefix: &Prefix) -> zarr_store::Result<Option<String>> {
        self.store.find_link(prefix)
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> zarr_store::Result<bool> {
        self.step(Operation::Set, to.as_str())?;
        self.store.rename_prefix(from, to)
    }

    fn exchange_prefixes(&self, a: &Prefix, b: &Prefix) -> zarr_store::Result<bool> {
        self.step(Operation::Set, a.as_str())?;
        self.store.exchange_prefixes(a, b)
    }

    fn try_lock(&self, prefix: &Prefix) -> zarr_store::Result<Option<Lock>> {
        self.step(Operation::Lock, prefix.as_str())?;
        self.store.try_lock(prefix)
    }

    fn flush(&self) -> zarr_store::Result<()> {
        self.step(Operation::Flush, "/")?;
        self.store.flush()
    }

    fn barrier(&self) -> zarr_store::Result<()> {
        self.step(Operation::Flush, "/")?;
        self.store.barrier()
    }
}

impl Store for Stopping {
    fn call(&self, call: Call<'_>) -> zarr_store::Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.get(&key, &ranges, &options)?),
            Call::GetInto { key, into } => Answer::GotInto(self.get_into(&key, into)?),
            Call::Set { key, value, options } => Answer::Set(self.set(&key, &value, &options)?),
            Call::Erase { key } => self.erase(&key)?.into(),
            Call::ListDir { prefix } => Answer::Listing(self.list_dir(&prefix)?),
            Call::ListPrefix { prefix } => Answer::Keys(self.list_prefix(&prefix)?),
            Call::ErasePrefix { prefix } => self.erase_prefix(&prefix)?.into(),
            Call::FindLink { prefix } => Answer::Link(self.find_link(&prefix)?),
            Call::RenamePrefix { from, to } => Answer::Is(self.rename_prefix(&from, &to)?),
            Call::ExchangePrefixes { a, b } => Answer::Is(self.exchange_prefixes(&a, &b)?),
            Call::Lock { prefix } => Answer::Locked(self.try_lock(&prefix)?),
            Call::Flush => self.flush()?.into(),
            Call::Barrier => self.barrier()?.into(),
            call => return fallback_blocking(self, call),
        })
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.store.access_profile()
    }
}

/// Interrupts a verb at each of its steps, on arrays of every layout, in memory and in files.
pub(super) fn check(verb: Verb, scale: Scale) -> Result<Tally> {
    let mut tally = Tally::default();
    for (name, layout) in LAYOUTS {
        let scenario = Scenario { verb, layout, chunks: scale.of(2, 4) };
        for for_good in [true, false] {
            if !for_good && !scale.long && name != "sharded" {
                continue;
            }
            let begin = || Ok((Stores::in_memory(), ()));
            stop_at_each(scenario, for_good, &format!("{name} in memory"), begin, &mut tally)?;
            // The calls are the same with files, so one layout shows whether files differ.
            if scale.long || (name == "v3" && for_good) {
                let begin = || {
                    let folder = folder_in_memory()?;
                    Ok((Stores::in_folder(folder.path())?, folder))
                };
                stop_at_each(scenario, for_good, &format!("{name} in files"), begin, &mut tally)?;
            }
        }
    }
    Ok(tally)
}

/// Interrupts a verb at each of its steps. `begin` returns empty stores, and a guard for their directory.
fn stop_at_each<K>(
    scenario: Scenario,
    for_good: bool,
    name: &str,
    begin: impl Fn() -> Result<(Stores, K)>,
    tally: &mut Tally,
) -> Result<()> {
    let before = {
        let stores = Stores::in_memory();
        scenario.prepare(&stores)?;
        contents(&stores.main)?
    };
    for last in 0..MAX_STEPS {
        let (stores, _kept) = begin()?;
        restore(&stores.main, &before)?;
        let steps = Steps::until(last, for_good);
        let stopping =
            Stores { main: Stopping::over(&stores.main, &steps), target: Stopping::over(&stores.target, &steps) };
        let done = scenario.run(&stopping);
        if !steps.failed() {
            return match done {
                Ok(()) if last > 0 => Ok(()),
                Ok(()) => Err("a verb without steps".into()),
                Err(error) => Err(format!("{name}: not interrupted, and failed: {error}").into()),
            };
        }
        tally.done("stops", 1);
        let at = || format!("{name}, {} call {last}: ", if for_good { "from" } else { "at" });
        if done.is_err() {
            for fault in scenario.faults_when_interrupted(&stores) {
                tally.fault("states that no reader should see", || at() + &fault);
            }
            match scenario.rerun(&stores) {
                Ok(true) => {}
                // The error names the decision that a user has to take, and nothing is lost by it.
                Ok(false) => {
                    for fault in scenario.faults_when_interrupted(&stores) {
                        tally.fault("refused reruns that lose something", || at() + &fault);
                    }
                    continue;
                }
                Err(error) => {
                    tally.fault("reruns that fail", || at() + &error.to_string());
                    continue;
                }
            }
        }
        for fault in scenario.faults_after_rerun(&stores) {
            let kind = if done.is_ok() { "successes that are none" } else { "reruns that do not end right" };
            tally.fault(kind, || at() + &fault);
        }
    }
    Err(format!("{name}: more than {MAX_STEPS} steps").into())
}

pub(super) fn restore(store: &Arc<dyn Store>, contents: &Contents) -> Result<()> {
    contents.iter().try_for_each(|(key, value)| Ok(store.set_all(key, value).map(drop)?))
}
