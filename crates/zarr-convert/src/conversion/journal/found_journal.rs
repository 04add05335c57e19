//! Journals that other runs wrote.

use super::super::skipped::SkippedChunk;
use super::super::unfinished_node::UnfinishedNode;
use super::entry::{JournalEntry, JournalState};
use super::identity::Identity;
use super::names;
use super::owner::{Activity, ENDED_AFTER, REFRESH, now, utc};
use std::collections::BTreeMap;
use std::time::Instant;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_meta::NodePath;
use zarr_store::{ByteRange, Key, Store, StoreExt, Version};

/// Age of an entry in seconds, by any clock, after which its run counts as ended.
const LONG_AGO: u64 = 600;

/// Journal that was found in a store.
#[derive(Debug)]
pub(in super::super) struct FoundJournal {
    pub(super) key: Key,
    pub(super) version: Option<Version>,
    /// The last entry; an error if the journal is broken.
    pub(super) entry: Result<JournalEntry>,
}

impl FoundJournal {
    /// Reads the journal at `key`; `None` if there is none.
    pub(in super::super) fn read(store: &dyn Store, key: &Key) -> Result<Option<Self>> {
        let Some(fetched) = store.get_ranges(key, &[ByteRange::Full])? else { return Ok(None) };
        let text = String::from_utf8_lossy(fetched.part(0)).into_owned();
        Ok(Some(Self { key: key.clone(), version: fetched.version, entry: JournalEntry::from_text(&text) }))
    }

    /// Reads the journal at `key`, and fails if its run is active, with an error that names the run. Whether a run on another machine is
    /// active shows only by new entries, so this waits for them.
    pub(in super::super) fn read_idle(store: &dyn Store, key: &Key) -> Result<Option<Self>> {
        Self::read_idle_while(store, key, &|| Ok(()))
    }

    /// Reads the journal at `key` as [`read_idle`](Self::read_idle) does. Calls `goes_on` again and again while it waits, and ends with its
    /// error.
    pub(in super::super) fn read_idle_while(
        store: &dyn Store,
        key: &Key,
        goes_on: &dyn Fn() -> Result<()>,
    ) -> Result<Option<Self>> {
        let Some(first) = Self::read(store, key)? else { return Ok(None) };
        let Some((activity, age)) = first.activity() else { return Ok(Some(first)) };
        match activity {
            Activity::Ended => return Ok(Some(first)),
            Activity::Process if age >= ENDED_AFTER.as_secs() => return Ok(Some(first)),
            Activity::Running | Activity::Process => return Err(first.running()),
            Activity::Unknown if age >= LONG_AGO => return Ok(Some(first)),
            Activity::Unknown => {}
        }
        let begun = Instant::now();
        loop {
            std::thread::sleep(REFRESH / 5);
            goes_on()?;
            match Self::read(store, key)? {
                None => return Ok(None),
                Some(found) if found.activity().is_none() => return Ok(Some(found)),
                Some(found) if found.written_by() != first.written_by() => return Err(found.running()),
                Some(found) if begun.elapsed() >= ENDED_AFTER => return Ok(Some(found)),
                Some(_) => {}
            }
        }
    }

    /// Checks that there is no journal of a conversion to `path`. The error says whether its run is active, as far as that is known without
    /// waiting.
    pub(in super::super) fn check_none(store: &dyn Store, path: &NodePath) -> Result<()> {
        let Some(found) = Self::read(store, &names::key(path, None)?)? else { return Ok(()) };
        found.check_idle()?;
        Err(found.in_the_way())
    }

    /// Checks, without waiting, that the run of the journal does not seem to be active.
    fn check_idle(&self) -> Result<()> {
        match self.activity() {
            None | Some((Activity::Ended, _)) => Ok(()),
            Some((Activity::Process | Activity::Unknown, age)) if age >= ENDED_AFTER.as_secs() => Ok(()),
            Some(_) => Err(self.running()),
        }
    }

    /// Returns the keys of the journals of parts of a conversion to `path`; `self` is the shared journal. If `self` is broken, returns the
    /// keys that the store lists. Empty if the conversion is not done in parts and replaces none that was.
    pub(in super::super) fn part_journals(&self, store: &dyn Store, path: &NodePath) -> Result<Vec<Key>> {
        match &self.entry {
            Ok(entry) => match entry.identity.parts().or(entry.former_parts) {
                Some(of) => names::parts(path, of).collect(),
                None => Ok(Vec::new()),
            },
            Err(_) => names::listed_parts(store, path),
        }
    }

    /// Checks, without waiting, that no part of the conversion is active.
    pub(in super::super) fn check_parts_idle(&self, store: &dyn Store, path: &NodePath) -> Result<()> {
        check_idle(store, &self.part_journals(store, path)?)
    }

    /// Reads the journal of a move from `from` in `source` to `to` in `target` that was interrupted while it erased the source; `None` if
    /// there is none. Fails if a run of the move is active.
    pub(in super::super) fn read_end_of_move(
        source: &dyn Store,
        from: &NodePath,
        target: &dyn Store,
        to: &NodePath,
    ) -> Result<Option<Self>> {
        let key = names::key(to, None)?;
        let is_of_move = |found: &Self| {
            let entry = found.entry.as_ref();
            entry.is_ok_and(|entry| entry.state == JournalState::Ending && entry.identity.is_from(source, from))
        };
        match Self::read(target, &key)? {
            Some(found) if is_of_move(&found) => Ok(Self::read_idle(target, &key)?.filter(is_of_move)),
            _ => Ok(None),
        }
    }

    /// Erases the journal of an interrupted move, and the mark of an unfinished node at `to`.
    pub(in super::super) fn erase_end_of_move(&self, target: &dyn Store, to: &NodePath) -> Result<()> {
        self.unfinished(to)?.end(target)?;
        target.erase(&self.key)?;
        Ok(target.flush()?)
    }

    /// Returns the activity of the run, and the age of its last entry in seconds; `None` if the entry names no owner, or the journal is
    /// broken.
    fn activity(&self) -> Option<(Activity, u64)> {
        let entry = self.entry.as_ref().ok()?;
        Some((entry.owner.as_ref()?.activity(&entry.run), now().saturating_sub(entry.at)))
    }

    fn written_by(&self) -> Option<(&str, u64)> {
        self.entry.as_ref().ok().map(|entry| (entry.run.as_str(), entry.number))
    }

    /// Returns whether the run with the identifier `run` wrote the journal.
    pub(super) fn is_of_run(&self, run: &str) -> bool {
        self.entry.as_ref().is_ok_and(|entry| entry.run == run)
    }

    /// Describes the process that wrote the journal, and the time of the entry.
    pub(super) fn author(&self) -> String {
        match &self.entry {
            Ok(JournalEntry { owner: Some(owner), at, .. }) => format!("{owner}, at {}", utc(*at)),
            Ok(JournalEntry { at, .. }) => format!("a run that ended, at {}", utc(*at)),
            Err(_) => "other software".to_owned(),
        }
    }

    fn running(&self) -> Error {
        let message = format!("a run of a {} to here is at work: {}", self.noun(), self.author());
        let error = Error::new(ErrorKind::Exists, message);
        self.located(error.with_hint("wait until it ends, or stop it and run this again"))
    }

    fn located(&self, error: Error) -> Error {
        error.at(|location| location.key = Some(self.key.to_string()))
    }

    pub(super) fn entry(&self) -> Result<&JournalEntry> {
        self.entry.as_ref().map_err(|error| {
            let error = Error::new(error.kind(), format!("a broken journal of a conversion: {}", error.message()));
            self.located(error.with_hint("--overwrite begins anew"))
        })
    }

    /// Returns the noun by which errors name the work of the journal.
    pub(in super::super) fn noun(&self) -> &'static str {
        self.entry.as_ref().map_or("conversion", |entry| entry.identity.noun())
    }

    /// Returns the state of the conversion.
    pub(in super::super) fn state(&self) -> Result<JournalState> {
        Ok(self.entry()?.state)
    }

    /// Returns whether the journal records no stored chunk.
    pub(in super::super) fn has_nothing(&self) -> Result<bool> {
        let entry = self.entry()?;
        Ok(entry.done == 0 && entry.array.is_none())
    }

    /// Returns the unfinished node that is written to `path`.
    pub(in super::super) fn unfinished(&self, path: &NodePath) -> Result<UnfinishedNode> {
        self.entry()?.identity.unfinished(path)
    }

    /// Returns the random identifier of the conversion.
    pub(in super::super) fn id(&self) -> Result<&str> {
        Ok(&self.entry()?.id)
    }

    /// Returns the size of an element in bytes by node index, for nodes with elements of variable length, on which all parts agree.
    pub(in super::super) fn items(&self) -> Result<&BTreeMap<usize, u64>> {
        Ok(&self.entry()?.items)
    }

    /// Returns the number of parts; `None` if the conversion is not done in parts.
    pub(in super::super) fn parts(&self) -> Result<Option<u64>> {
        Ok(self.entry()?.identity.parts())
    }

    /// Returns the listed chunks that could not be read, and the number of further ones.
    pub(in super::super) fn skipped(&self) -> Result<(&[SkippedChunk], u64)> {
        let entry = self.entry()?;
        Ok((&entry.skipped, entry.more_skipped))
    }

    /// Checks that the journal belongs to the conversion with `identity`.
    pub(in super::super) fn check(&self, identity: &Identity) -> Result<()> {
        let hint = match (self.parts()?, identity.parts()) {
            // Documents that the end writes keep the work from being given up.
            (Some(_), Some(_)) if matches!(self.state()?, JournalState::Written | JournalState::Ending) => {
                "give the options it was begun with; --overwrite begins anew, not in parts"
            }
            (Some(_), Some(_)) => "give the options it was begun with, or --abandon it to begin anew",
            _ => "give the options it was begun with, or --overwrite to begin anew",
        };
        self.check_difference(self.entry()?.identity.difference(identity), hint)
    }

    /// Checks that the chunks of the journal's conversion have the same keys as those of the conversion with `identity`.
    pub(in super::super) fn check_keys(&self, identity: &Identity) -> Result<()> {
        let hint = "give the options it was begun with; --overwrite begins anew, not in parts";
        self.check_difference(self.entry()?.identity.difference_of_keys(identity), hint)
    }

    fn check_difference(&self, difference: Option<String>, hint: &str) -> Result<()> {
        let Some(difference) = difference else { return Ok(()) };
        let message = format!("the {} that was begun here is another one: {difference}", self.noun());
        // A move that was interrupted at its end has erased some of its source.
        let kind = if self.state()? == JournalState::Ending { ErrorKind::Exists } else { ErrorKind::Argument };
        Err(self.located(Error::new(kind, message).with_hint(hint)))
    }

    /// Returns the error for a new conversion that may not begin because of this journal.
    pub(in super::super) fn in_the_way(&self) -> Error {
        let parts = match self.parts() {
            Ok(parts) => parts,
            Err(error) => return error,
        };
        let noun = self.noun();
        let (message, hint) = match parts {
            None => (
                format!("a {noun} to here was interrupted, or is running"),
                "--resume goes on where it stopped, --overwrite begins anew",
            ),
            Some(parts) => (
                format!("a {noun} to here is done in {parts} parts, of which not all are done"),
                "--part goes on with each of them, --finish ends it, --abandon or --overwrite gives it up",
            ),
        };
        self.located(Error::new(ErrorKind::Exists, message).with_hint(hint))
    }

    /// Returns the error for work that another process went on with after this journal was read.
    pub(super) fn went_on(&self) -> Error {
        let message = format!("another process went on with this {} at the same time", self.noun());
        self.located(Error::new(ErrorKind::Exists, message))
    }
}

/// Checks, without waiting, that no run of any journal in `journals` is active.
pub(in super::super) fn check_idle(store: &dyn Store, journals: &[Key]) -> Result<()> {
    journals.iter().try_for_each(|key| FoundJournal::read(store, key)?.map_or(Ok(()), |found| found.check_idle()))
}
