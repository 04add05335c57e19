//! The journal of a conversion, stored beside its target, from which a later run resumes an interrupted conversion.
//!
//! One run owns the journal at a time. It sets each entry on condition that the stored version is that of its last entry, so it
//! notices at the next entry if another run has taken over. No run takes over while the owner is seen to be active (`owner.rs`); a
//! thread writes entries while the work writes none (`refresh.rs`).

mod beginning;
mod entry;
mod found_journal;
mod identity;
mod lease_loss;
mod names;
mod owner;
mod refresh;
mod skipped_chunks;
#[cfg(test)]
mod tests;

use super::skipped::SkippedChunk;
use super::stored_units::Units;
pub(super) use beginning::{Beginning, announce};
use entry::JournalEntry;
pub(super) use entry::JournalState;
pub(super) use found_journal::{FoundJournal, check_idle};
pub(super) use identity::Identity;
use lease_loss::LeaseLoss;
pub(super) use names::{erase_left, erase_parts, erase_scratch, key, listed_parts, parts, scratch_key};
use owner::{ActiveRun, OWNED_FOR, Owner, REFRESH, now};
use refresh::Refresh;
use skipped_chunks::SkippedChunks;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use zarr_grid::ChunkIndex;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_scan::{lock, try_lock};
use zarr_store::{Durability, Key, Precondition, SetOptions, Store, StoreExt, Version};

/// Number of chunks stored since the last entry that causes a new entry.
const CHUNKS: u64 = 64;
/// Time since the last entry that causes a new entry.
const PAUSE: Duration = Duration::from_secs(5);
/// Divisor that limits the time for entries: if chunks have to reach the disk before an entry, entries take at most one part in `SHARE` of
/// the time.
const SHARE: u32 = 20;

/// A journal that this run owns.
#[derive(Debug)]
pub(super) struct Journal {
    /// Thread that repeats entries; it ends before the run does.
    _refresh: Option<Refresh>,
    lease: Arc<JournalLease>,
}

/// Ownership of a journal by a run, shared with the thread that repeats entries.
#[derive(Debug)]
struct JournalLease {
    target: Arc<dyn Store>,
    key: Key,
    /// Members that are equal in all entries of the run.
    common: JournalEntry,
    run: ActiveRun,
    is_resumed: bool,
    next: Mutex<NextEntry>,
    /// Locked while an entry is built and set, so that no older entry replaces a newer one. Locked before `written`.
    recorded: Mutex<RecordTiming>,
    /// Locked while an entry is set, but not while chunks reach the disk: the refresh thread can set entries meanwhile.
    written: Mutex<LastEntry>,
    /// Time just before the last entry was set.
    entered: Mutex<Instant>,
}

/// State that the next entry records.
#[derive(Debug)]
struct NextEntry {
    state: JournalState,
    done: usize,
    /// Units of the node with index `done`, if it is begun.
    units: Option<Units>,
    skipped: SkippedChunks,
    /// Whether the last entry lacks some of the `skipped` chunks.
    has_more_skipped: bool,
    /// Number of chunks stored since the last entry.
    fresh: u64,
    /// Number of chunks that this run has stored; `None` before it begins with those of an array.
    stored: Option<u64>,
}

/// Timing of the last entry that recorded progress (not a repeated entry).
#[derive(Debug)]
struct RecordTiming {
    at: Instant,
    /// Time that the entry took, if chunks had to reach the disk.
    cost: Duration,
}

/// The last entry that this run has set.
#[derive(Debug)]
struct LastEntry {
    /// Version of the value in the store; `None` if there is no value, `Some(None)` if the store has no versions.
    version: Option<Option<Version>>,
    entry: Option<JournalEntry>,
    /// Reason why this run writes no further entry; `None` while it owns the journal.
    lost: Option<LeaseLoss>,
    /// Whether no entry is to be written: this run has ended, or the store shows writes only at a flush.
    is_over: bool,
}

impl Journal {
    /// Begins a new journal, in place of an existing one.
    pub(super) fn begin(target: &Arc<dyn Store>, key: Key, beginning: Beginning<'_>) -> Result<Self> {
        let entry = beginning.entry();
        let version = beginning.found.map(|found| found.version);
        // Without it, nothing says what the chunks are that follow.
        Self::own(target, key, entry, false, version, Durability::Full)
    }

    /// Takes over a journal whose run does not seem to be active. If that run is active, it fails at its next entry.
    pub(super) fn resume(target: &Arc<dyn Store>, found: FoundJournal) -> Result<Self> {
        found.entry()?;
        Self::own(target, found.key, found.entry?, true, Some(found.version), Durability::File)
    }

    /// Takes over the shared journal of work in parts whose run does not seem to be active, and gives that work up: no part goes on.
    pub(super) fn abandon(target: &Arc<dyn Store>, found: FoundJournal) -> Result<Self> {
        let (meanwhile, key) = (found.went_on(), found.key.clone());
        let entry = JournalEntry { state: JournalState::Abandoned, ..found.entry? };
        // Or a loss of power could leave journals that say of chunks that are gone that they are stored.
        Self::own(target, key, entry, true, Some(found.version), Durability::Full)
            .map_err(|error| if error.kind() == ErrorKind::Exists { meanwhile } else { error })
    }

    fn own(
        target: &Arc<dyn Store>,
        key: Key,
        mut entry: JournalEntry,
        is_resumed: bool,
        version: Option<Option<Version>>,
        durability: Durability,
    ) -> Result<Self> {
        let next = NextEntry {
            state: entry.state,
            done: entry.done,
            units: entry.array.take().map(|array| Units::new(Some(array), &[])),
            skipped: SkippedChunks::new(std::mem::take(&mut entry.skipped), entry.more_skipped),
            has_more_skipped: false,
            fresh: 0,
            stored: None,
        };
        let written = LastEntry { version, entry: None, lost: None, is_over: target.capabilities().appears_at_flush };
        let run = ActiveRun::new();
        let common = JournalEntry { run: run.id().to_owned(), number: 0, owner: Some(Owner::this()), ..entry };
        let recorded = RecordTiming { at: Instant::now(), cost: Duration::ZERO };
        let lease = Arc::new(JournalLease {
            target: Arc::clone(target),
            key,
            common,
            run,
            is_resumed,
            next: Mutex::new(next),
            recorded: Mutex::new(recorded),
            written: Mutex::new(written),
            entered: Mutex::new(Instant::now()),
        });
        lease.write(durability)?;
        let lease_too = Arc::clone(&lease);
        let refresh = (!target.capabilities().appears_at_flush).then(|| Refresh::new(move || lease_too.refresh()));
        Ok(Self { _refresh: refresh, lease })
    }

    /// Returns whether an earlier run began the journal.
    pub(super) fn is_resumed(&self) -> bool {
        self.lease.is_resumed
    }

    /// Returns the identity of the work.
    pub(super) fn identity(&self) -> &Identity {
        &self.lease.common.identity
    }

    /// Returns the number of parts of an earlier conversion whose journals are to be erased.
    pub(super) fn former_parts(&self) -> Option<u64> {
        self.lease.common.former_parts
    }

    /// Returns the size of an element of the node with index `node`, in bytes, if it is known.
    pub(super) fn item(&self, node: usize) -> Option<u64> {
        self.lease.common.items.get(&node).copied()
    }

    pub(super) fn state(&self) -> JournalState {
        lock(&self.lease.next).state
    }

    /// Returns the chunks that could not be read so far, and the number of further ones.
    pub(super) fn skipped(&self) -> (Vec<SkippedChunk>, u64) {
        lock(&self.lease.next).skipped.shown()
    }

    /// Adds a chunk that cannot be read. Returns false if it was added before.
    pub(super) fn skip(&self, chunk: &SkippedChunk) -> bool {
        let mut next = lock(&self.lease.next);
        let is_new = next.skipped.insert(chunk);
        next.has_more_skipped |= is_new;
        is_new
    }

    /// Adds `count` to the number of unreadable chunks that are not listed.
    pub(super) fn skip_more(&self, count: u64) {
        lock(&self.lease.next).skipped.add(count);
    }

    /// Writes an entry if unreadable chunks are not recorded yet. Called before the document of their array is written, after which no run
    /// reads these chunks again.
    pub(super) fn record_skipped(&self) -> Result<()> {
        let has_more = lock(&self.lease.next).has_more_skipped;
        if has_more { self.record() } else { Ok(()) }
    }

    /// Returns whether all chunks of the node with index `node` are recorded as stored.
    pub(super) fn is_done(&self, node: usize) -> bool {
        node < lock(&self.lease.next).done
    }

    /// Returns whether the chunks of the node with index `node` were begun and not completed.
    pub(super) fn has_begun(&self, node: usize) -> bool {
        let next = lock(&self.lease.next);
        node == next.done && next.units.is_some()
    }

    /// Number of chunks that this run has stored; `None` before it begins with those of an array.
    pub(super) fn stored(&self) -> Option<u64> {
        lock(&self.lease.next).stored
    }

    /// Begins or resumes a node, in units of `unit` chunks along each axis.
    pub(super) fn begin_node(&self, node: usize, unit: &[u64]) {
        let mut next = lock(&self.lease.next);
        let was = next.units.take().filter(|_| next.done == node).map(|units| units.reached());
        (next.done, next.stored, next.units) = (node, next.stored.or(Some(0)), Some(Units::new(was, unit)));
    }

    /// Records that all chunks of the node with index `node` are stored.
    pub(super) fn end_node(&self, node: usize) {
        let mut next = lock(&self.lease.next);
        if node >= next.done {
            (next.done, next.units) = (node + 1, None);
        }
    }

    /// Returns whether an earlier run stored the unit with these chunk ranges.
    pub(super) fn was_done(&self, chunks: &[Range<u64>]) -> bool {
        lock(&self.lease.next).units.as_ref().is_some_and(|units| units.was_done(chunks))
    }

    pub(super) fn begin_unit(&self, unit: &ChunkIndex) {
        if let Some(units) = &mut lock(&self.lease.next).units {
            units.begin(unit);
        }
    }

    /// Records that a unit of `chunks` chunks is stored.
    pub(super) fn end_unit(&self, unit: &ChunkIndex, chunks: u64) -> Result<()> {
        let fresh = {
            let mut next = lock(&self.lease.next);
            if let Some(units) = &mut next.units {
                units.end(unit);
            }
            next.fresh = next.fresh.saturating_add(chunks);
            next.stored = next.stored.map(|stored| stored.saturating_add(chunks));
            next.fresh
        };
        // Others go on meanwhile.
        let Some(mut recorded) = try_lock(&self.lease.recorded) else { return Ok(()) };
        let passed = recorded.at.elapsed();
        if (fresh >= CHUNKS || passed >= PAUSE) && passed >= recorded.cost * SHARE {
            self.lease.write_entry(&mut recorded, Durability::File, true)?;
        }
        Ok(())
    }

    /// Checks that this run still owns the journal, before something is written. Sets another entry if the last entry is so old that
    /// another run may have taken over.
    pub(super) fn confirm(&self) -> Result<()> {
        let mut written = match try_lock(&self.lease.written) {
            Some(written) => written,
            // Another thread is writing an entry, and the last entry is still recent enough to show that this run is active.
            None if self.lease.since_entry() < OWNED_FOR => return Ok(()),
            None => lock(&self.lease.written),
        };
        match self.lease.since_entry() >= OWNED_FOR && !written.is_over {
            true => self.lease.repeat(&mut written),
            false => self.lease.check_owned(&written),
        }
    }

    /// Checks that the journal in the store still belongs to this run, before something is erased or becomes visible.
    pub(super) fn check_own(&self) -> Result<()> {
        self.lease.look(&mut lock(&self.lease.written))
    }

    /// Writes an entry now.
    pub(super) fn record(&self) -> Result<()> {
        self.lease.write(Durability::File)
    }

    /// Changes the state, and writes an entry.
    pub(super) fn enter(&self, state: JournalState) -> Result<()> {
        lock(&self.lease.next).state = state;
        self.lease.write(Durability::File)
    }

    /// Writes a last entry, which says that this run has ended, so that the next run need not wait.
    pub(super) fn release(&self) -> Result<()> {
        let mut recorded = lock(&self.lease.recorded);
        let done = self.lease.write_entry(&mut recorded, Durability::File, false);
        lock(&self.lease.written).is_over = true;
        done
    }

    /// Changes the state, and ends this run.
    pub(super) fn release_as(&self, state: JournalState) -> Result<()> {
        lock(&self.lease.next).state = state;
        self.release()
    }

    /// Erases the journal after the conversion is complete.
    pub(super) fn erase(self) -> Result<()> {
        let target = &self.lease.target;
        // No entry follows.
        let _recorded = lock(&self.lease.recorded);
        let mut written = lock(&self.lease.written);
        self.lease.look(&mut written)?;
        if !target.capabilities().appears_at_flush {
            target.erase(&self.lease.key)?;
        }
        written.is_over = true;
        drop(written);
        Ok(target.flush()?)
    }
}

impl JournalLease {
    fn write(&self, durability: Durability) -> Result<()> {
        self.write_entry(&mut lock(&self.recorded), durability, true)
    }

    /// Returns the time since the last entry was about to be set.
    fn since_entry(&self) -> Duration {
        lock(&self.entered).elapsed()
    }

    /// Writes an entry with all progress. If `goes_on` is false, the entry names no owner.
    fn write_entry(&self, recorded: &mut RecordTiming, durability: Durability, goes_on: bool) -> Result<()> {
        let begun = Instant::now();
        let entry = {
            let mut next = lock(&self.next);
            (next.fresh, next.has_more_skipped) = (0, false);
            let (skipped, more_skipped) = next.skipped.shown();
            JournalEntry {
                owner: self.common.owner.clone().filter(|_| goes_on),
                state: next.state,
                done: next.done,
                array: next.units.as_ref().map(Units::reached),
                skipped,
                more_skipped,
                ..self.common.clone()
            }
        };
        {
            let written = lock(&self.written);
            self.check_owned(&written)?;
            if written.is_over {
                // The store shows writes only at a flush, so an interrupted run leaves nothing to continue; or this run has ended.
                return Ok(());
            }
        }
        let is_durable = self.target.capabilities().durable;
        if is_durable {
            // First make the chunks durable: the entry must not survive a power loss in which its chunks are lost.
            self.target.barrier()?;
        }
        self.set(&mut lock(&self.written), entry, durability)?;
        // An asynchronous store is a service, which answers a write only once the value is on its disks.
        let waits_for_disks = is_durable && self.target.as_async().is_none();
        let cost = if waits_for_disks { begun.elapsed() } else { Duration::ZERO };
        *recorded = RecordTiming { at: begun, cost };
        Ok(())
    }

    /// Repeats the last entry if it is older than [`REFRESH`], so that the run is seen to be active.
    fn refresh(&self) {
        let Some(mut written) = try_lock(&self.written) else { return };
        if !written.is_over && self.since_entry() >= REFRESH {
            // Errors are ignored: a lost journal is noticed by the next write, and any other fault may have passed by then.
            let _ = self.repeat(&mut written);
        }
    }

    /// Writes the last entry again, whose chunks are already on the disk.
    fn repeat(&self, written: &mut LastEntry) -> Result<()> {
        match written.entry.clone() {
            Some(entry) => self.set(written, entry, Durability::File),
            None => self.check_owned(written),
        }
    }

    /// Checks that the journal in the store still belongs to this run, or repeats the last entry if it is old.
    fn look(&self, written: &mut LastEntry) -> Result<()> {
        self.check_owned(written)?;
        if written.is_over {
            return Ok(());
        }
        if self.since_entry() >= OWNED_FOR {
            return self.repeat(written);
        }
        match FoundJournal::read(&*self.target, &self.key)? {
            Some(found) if found.is_of_run(self.run.id()) => Ok(()),
            found => Err(self.lose(written, found.as_ref())),
        }
    }

    fn set(&self, written: &mut LastEntry, entry: JournalEntry, durability: Durability) -> Result<()> {
        self.check_owned(written)?;
        let is_conditional = self.target.capabilities().conditional;
        let number = written.entry.as_ref().map_or(0, |entry| entry.number + 1);
        let entry = JournalEntry { number, at: now(), ..entry };
        let text = entry.to_text();
        let at = Instant::now();
        if !is_conditional && written.entry.is_some() {
            // As far as it shows without conditions.
            let found = FoundJournal::read(&*self.target, &self.key)?;
            if !found.as_ref().is_some_and(|found| found.is_of_run(self.run.id())) {
                return Err(self.lose(written, found.as_ref()));
            }
        }
        let mut is_again = false;
        let version = loop {
            let when = match &written.version {
                _ if !is_conditional => Precondition::None,
                None => Precondition::NotExists,
                Some(version) => version.clone().map_or(Precondition::None, Precondition::Version),
            };
            let options = SetOptions::when(when).durable(durability);
            match self.target.set(&self.key, text.as_bytes(), &options) {
                Ok(version) => break version,
                Err(error) if error.is_precondition() => match FoundJournal::read(&*self.target, &self.key)? {
                    // A set took effect of which there was no answer.
                    Some(found) if !is_again && found.is_of_run(self.run.id()) => {
                        (written.version, is_again) = (Some(found.version), true);
                    }
                    found => return Err(self.lose(written, found.as_ref())),
                },
                Err(error) => return Err(error.into()),
            }
        };
        (written.version, written.entry) = (Some(version), Some(entry));
        *lock(&self.entered) = at;
        Ok(())
    }

    /// Marks the journal as lost, to another run or by erasure: this run writes no further entry.
    fn lose(&self, written: &mut LastEntry, found: Option<&FoundJournal>) -> Error {
        let lost = LeaseLoss::new(found, &self.common, self.since_entry());
        written.lost.insert(lost).error(&self.key)
    }

    fn check_owned(&self, written: &LastEntry) -> Result<()> {
        written.lost.as_ref().map_or(Ok(()), |lost| Err(lost.error(&self.key)))
    }
}
