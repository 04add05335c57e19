//! The journal of a conversion beside its target, by which another run goes on where one was interrupted.

mod entry;
mod identity;

use super::part::Part;
use super::reached::Units;
use super::skipped::SkippedChunk;
use super::unfinished::Unfinished;
use super::workers::lock;
use entry::Entry;
pub(super) use entry::State;
pub(super) use identity::Identity;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use zarr_grid::ChunkIndex;
use zarr_hierarchy::node::{is_part_journal, is_scratch, journal_key, new_id};
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_meta::NodePath;
use zarr_store::{ByteRange, Durability, Key, Precondition, Prefix, SetOptions, Store, StoreExt, Version};

/// An entry is written when so many chunks were stored since the last one...
const CHUNKS: u64 = 64;
/// ... or after this time.
const PAUSE: Duration = Duration::from_secs(5);
/// Where chunks have to reach the disk before the entry that says that they are there, at most one in so many parts of the time is
/// spent on that.
const SHARE: u32 = 20;

/// The journal while a conversion runs.
#[derive(Debug)]
pub(super) struct Journal {
    target: Arc<dyn Store>,
    key: Key,
    identity: Identity,
    /// Of this run alone: another run writes other entries, also in stores whose versions are hashes of values.
    run: u64,
    is_resumed: bool,
    held: Mutex<Held>,
    written: Mutex<Written>,
}

/// All that the next entry says.
#[derive(Debug)]
struct Held {
    state: State,
    done: usize,
    /// Of the node after them, if it is begun.
    units: Option<Units>,
    skipped: BTreeSet<SkippedChunk>,
    /// Whether the last entry lacks some of them.
    has_more_skipped: bool,
    /// Chunks since the last entry.
    fresh: u64,
}

/// The last entry.
#[derive(Debug)]
struct Written {
    /// Of the value in the store, if there is one.
    version: Option<Option<Version>>,
    at: Instant,
    cost: Duration,
}

/// A journal that was found in a store.
#[derive(Debug)]
pub(super) struct Found {
    key: Key,
    version: Option<Version>,
    /// An error if it is broken.
    entry: Result<Entry>,
}

/// The key of the journal of a conversion to `path`, beside the node, or of one part.
pub(super) fn key(path: &NodePath, part: Option<Part>) -> Result<Key> {
    journal_key(path, part.map(|part| (part.number(), part.of())))
}

/// The key of elements that a conversion, or one part, stores between reading and writing.
pub(super) fn scratch_key(path: &NodePath, part: Option<Part>, number: u64) -> Result<Key> {
    zarr_hierarchy::node::scratch_key(path, part.map(|part| (part.number(), part.of())), number)
}

impl Found {
    /// The journal at a key, if there is one.
    pub(super) fn read(store: &dyn Store, key: &Key) -> Result<Option<Self>> {
        let Some(fetched) = store.get_ranges(key, &[ByteRange::Full])? else { return Ok(None) };
        let text = String::from_utf8_lossy(fetched.part(0)).into_owned();
        Ok(Some(Self { key: key.clone(), version: fetched.version, entry: Entry::from_text(&text) }))
    }

    fn entry(&self) -> Result<&Entry> {
        self.entry.as_ref().map_err(|error| {
            let error = Error::new(error.kind(), format!("a broken journal of a conversion: {}", error.message()));
            error.with_hint("--overwrite begins anew").at(|location| location.key = Some(self.key.to_string()))
        })
    }

    /// How far it has come.
    pub(super) fn state(&self) -> Result<State> {
        Ok(self.entry()?.state)
    }

    /// Whether it says of no chunk that it is stored.
    pub(super) fn has_nothing(&self) -> Result<bool> {
        let entry = self.entry()?;
        Ok(entry.done == 0 && entry.array.is_none())
    }

    /// In how many parts the conversion is done, if it is.
    pub(super) fn parts(&self) -> Result<Option<u64>> {
        Ok(self.entry()?.identity.parts())
    }

    /// The node that is written to `path`.
    pub(super) fn unfinished(&self, path: &NodePath) -> Result<Unfinished> {
        self.entry()?.identity.unfinished(path)
    }

    /// The chunks that could not be read.
    pub(super) fn skipped(&self) -> Result<&[SkippedChunk]> {
        Ok(&self.entry()?.skipped)
    }

    /// Checks that it is of this conversion.
    pub(super) fn check(&self, identity: &Identity) -> Result<()> {
        match self.entry()?.identity.difference(identity) {
            None => Ok(()),
            Some(difference) => {
                let message = format!("the conversion that was begun here is another one: {difference}");
                // A move that was interrupted at its end has erased some of its source.
                let kind = if self.state()? == State::Ending { ErrorKind::Exists } else { ErrorKind::Argument };
                let error = Error::new(kind, message)
                    .with_hint("give the options it was begun with, or --overwrite to begin anew");
                Err(error.at(|location| location.key = Some(self.key.to_string())))
            }
        }
    }

    /// Why a new conversion does not begin.
    pub(super) fn in_the_way(&self) -> Error {
        let parts = match self.parts() {
            Ok(parts) => parts,
            Err(error) => return error,
        };
        let (message, hint) = match parts {
            None => (
                "a conversion to here was interrupted, or is running".to_owned(),
                "--resume goes on where it stopped, --overwrite begins anew",
            ),
            Some(parts) => (
                format!("a conversion to here is done in {parts} parts, of which not all are done"),
                "--part goes on with each of them, --finish ends it, --overwrite begins anew",
            ),
        };
        let error = Error::new(ErrorKind::Exists, message).with_hint(hint);
        error.at(|location| location.key = Some(self.key.to_string()))
    }
}

impl Journal {
    /// Begins a journal, in place of one that is there.
    pub(super) fn begin(
        target: &Arc<dyn Store>,
        key: Key,
        identity: &Identity,
        state: State,
        found: Option<Found>,
    ) -> Result<Self> {
        let held = Held { state, done: 0, units: None, skipped: BTreeSet::new(), has_more_skipped: false, fresh: 0 };
        let version = found.map(|found| found.version);
        let journal = Self::new(target, key, identity.clone(), false, held, version);
        // Without it, nothing says what the chunks are that follow.
        journal.write(Durability::Full)?;
        Ok(journal)
    }

    /// Goes on with a journal that was found. Another process that still does fails then.
    pub(super) fn resume(target: &Arc<dyn Store>, found: Found) -> Result<Self> {
        found.entry()?;
        let Entry { identity, state, done, array, skipped, .. } = found.entry?;
        let units = array.map(|array| Units::new(Some(array), &[]));
        let held =
            Held { state, done, units, skipped: skipped.into_iter().collect(), has_more_skipped: false, fresh: 0 };
        let journal = Self::new(target, found.key, identity, true, held, Some(found.version));
        if target.capabilities().conditional {
            journal.write(Durability::File)?;
        }
        Ok(journal)
    }

    fn new(
        target: &Arc<dyn Store>,
        key: Key,
        identity: Identity,
        is_resumed: bool,
        held: Held,
        version: Option<Option<Version>>,
    ) -> Self {
        let written = Written { version, at: Instant::now(), cost: Duration::ZERO };
        let (held, written) = (Mutex::new(held), Mutex::new(written));
        Self { target: Arc::clone(target), key, identity, run: new_id(), is_resumed, held, written }
    }

    /// Whether an earlier run began it.
    pub(super) fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    pub(super) fn state(&self) -> State {
        lock(&self.held).state
    }

    /// The chunks that could not be read so far.
    pub(super) fn skipped(&self) -> Vec<SkippedChunk> {
        lock(&self.held).skipped.iter().cloned().collect()
    }

    /// Adds a chunk that cannot be read; false if it is known.
    pub(super) fn skip(&self, chunk: &SkippedChunk) -> bool {
        let mut held = lock(&self.held);
        let is_new = held.skipped.insert(chunk.clone());
        held.has_more_skipped |= is_new;
        is_new
    }

    /// Writes an entry if there are chunks that cannot be read and no entry has: before the document of their array, after which nobody
    /// reads them again.
    pub(super) fn record_skipped(&self) -> Result<()> {
        let has_more = lock(&self.held).has_more_skipped;
        if has_more { self.record() } else { Ok(()) }
    }

    /// Whether all chunks of a node were stored by an earlier run.
    pub(super) fn is_done(&self, node: usize) -> bool {
        node < lock(&self.held).done
    }

    /// Whether an earlier run began with a node.
    pub(super) fn has_begun(&self, node: usize) -> bool {
        let held = lock(&self.held);
        node == held.done && held.units.is_some()
    }

    /// Begins with a node, or goes on with it, in units of so many chunks along each axis.
    pub(super) fn begin_node(&self, node: usize, unit: &[u64]) {
        let mut held = lock(&self.held);
        let was = held.units.take().filter(|_| held.done == node).map(|units| units.reached());
        held.done = node;
        held.units = Some(Units::new(was, unit));
    }

    /// All chunks of a node are stored.
    pub(super) fn end_node(&self, node: usize) {
        let mut held = lock(&self.held);
        if node >= held.done {
            (held.done, held.units) = (node + 1, None);
        }
    }

    /// Whether an earlier run did a unit.
    pub(super) fn was_done(&self, chunks: &[Range<u64>]) -> bool {
        lock(&self.held).units.as_ref().is_some_and(|units| units.was_done(chunks))
    }

    pub(super) fn begin_unit(&self, unit: &ChunkIndex) {
        if let Some(units) = &mut lock(&self.held).units {
            units.begin(unit);
        }
    }

    /// A unit of so many chunks is stored.
    pub(super) fn end_unit(&self, unit: &ChunkIndex, chunks: u64) -> Result<()> {
        let fresh = {
            let mut held = lock(&self.held);
            if let Some(units) = &mut held.units {
                units.end(unit);
            }
            held.fresh = held.fresh.saturating_add(chunks);
            held.fresh
        };
        // Others go on meanwhile.
        let Ok(mut written) = self.written.try_lock() else { return Ok(()) };
        let passed = written.at.elapsed();
        if (fresh >= CHUNKS || passed >= PAUSE) && passed >= written.cost * SHARE {
            self.write_entry(&mut written, Durability::File)?;
        }
        Ok(())
    }

    /// Writes an entry now.
    pub(super) fn record(&self) -> Result<()> {
        self.write(Durability::File)
    }

    /// Goes over to another state.
    pub(super) fn enter(&self, state: State) -> Result<()> {
        lock(&self.held).state = state;
        self.write(Durability::File)
    }

    fn write(&self, durability: Durability) -> Result<()> {
        self.write_entry(&mut lock(&self.written), durability)
    }

    fn write_entry(&self, written: &mut Written, durability: Durability) -> Result<()> {
        let begun = Instant::now();
        let entry = {
            let mut held = lock(&self.held);
            (held.fresh, held.has_more_skipped) = (0, false);
            Entry {
                identity: self.identity.clone(),
                run: self.run,
                state: held.state,
                done: held.done,
                array: held.units.as_ref().map(Units::reached),
                skipped: held.skipped.iter().cloned().collect(),
            }
        };
        let capabilities = self.target.capabilities();
        if capabilities.appears_at_flush {
            // Nothing that an interrupted run has set is there for another one.
            return Ok(());
        }
        if capabilities.durable {
            // An entry survives no loss of power in which chunks are lost that it has.
            self.target.barrier()?;
        }
        let when = match &written.version {
            _ if !capabilities.conditional => Precondition::None,
            None => Precondition::NotExists,
            Some(version) => version.clone().map_or(Precondition::None, Precondition::Version),
        };
        let options = SetOptions::when(when).durable(durability);
        match self.target.set(&self.key, entry.to_text().as_bytes(), &options) {
            Ok(version) => written.version = Some(version),
            Err(error) if error.is_precondition() => {
                let message = "another process began or resumed a conversion to here at the same time";
                let error = Error::new(ErrorKind::Exists, message);
                return Err(error.at(|location| location.key = Some(self.key.to_string())));
            }
            Err(error) => return Err(error.into()),
        }
        (written.at, written.cost) =
            (Instant::now(), if capabilities.durable { begun.elapsed() } else { Duration::ZERO });
        Ok(())
    }

    /// Erases the journal: the conversion is over.
    pub(super) fn erase(self) -> Result<()> {
        if !self.target.capabilities().appears_at_flush {
            self.target.erase(&self.key)?;
        }
        Ok(self.target.flush()?)
    }
}

/// Erases what the parts of a conversion to `path` have left beside it: the elements that they stored between reading and writing, then
/// their journals, as far as a store lists them.
pub(super) fn erase_parts(store: &dyn Store, path: &NodePath) -> Result<()> {
    erase_beside(store, path, &[is_scratch, is_part_journal])
}

/// Erases the elements that interrupted runs of a conversion to `path`, or of its parts, stored between reading and writing, as far as a
/// store lists them.
pub(super) fn erase_scratch(store: &dyn Store, path: &NodePath) -> Result<()> {
    erase_beside(store, path, &[is_scratch])
}

/// Erases keys beside the node at `path`, one kind after another.
fn erase_beside(store: &dyn Store, path: &NodePath, kinds: &[fn(&NodePath, &Key) -> bool]) -> Result<()> {
    if !store.capabilities().list {
        return Ok(());
    }
    let above = path.parent().map_or_else(String::new, |parent| parent.key_prefix());
    let keys = store.list_dir(&Prefix::new(&above)?)?.keys;
    let mut of_kinds = kinds.iter().flat_map(|is_one| keys.iter().filter(|key| is_one(path, key)));
    of_kinds.try_for_each(|key| Ok(store.erase(key)?))
}

/// Erases the journal of a move whose end was interrupted, from the node at `from` to that at `to`, if there is one: false if not.
pub(super) fn erase_ended(source: &dyn Store, from: &NodePath, target: &dyn Store, to: &NodePath) -> Result<bool> {
    let key = key(to, None)?;
    match Found::read(target, &key)? {
        Some(found) if found.state()? == State::Ending && found.entry()?.identity.is_from(source, from) => {
            found.unfinished(to)?.end(target)?;
            target.erase(&key)?;
            target.flush()?;
            Ok(true)
        }
        _ => Ok(false),
    }
}
