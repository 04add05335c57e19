//! The work of one run on one array: the units that it processes, and their records and reports.

use super::destination;
use super::journal::Journal;
use super::part::Part;
use super::progress::Reporter;
use super::skipped::SkippedChunk;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};
use zarr_grid::ChunkIndex;
use zarr_hierarchy::{Error, Result};
use zarr_meta::StoredNode;
use zarr_scan::lock;
use zarr_store::Store;

/// Work of one run on one array. A unit is a box of chunks of the new array. Units are begun in C order, and several may be in progress.
pub(super) struct Work<'a> {
    reporter: &'a Reporter<'a>,
    recorded: Option<NodeJournal<'a>>,
    /// Number of units along each axis.
    counts: OnceLock<Vec<u64>>,
    /// Bytes that are done and not yet reported.
    passed: Mutex<u128>,
}

/// Journal in which the work is recorded, and the array that it concerns.
#[derive(Clone, Copy)]
pub(super) struct NodeJournal<'a> {
    pub(super) journal: &'a Journal,
    pub(super) target: &'a dyn Store,
    /// Index of the node in the conversion.
    pub(super) node: usize,
    /// Part whose units this run processes; `None` for all units.
    pub(super) part: Option<Part>,
    /// Whether unreadable chunks of the source are left out.
    pub(super) keep_going: bool,
}

impl<'a> Work<'a> {
    /// Creates work without a journal: all units are processed.
    pub(super) fn unrecorded(reporter: &'a Reporter<'a>) -> Self {
        Self { reporter, recorded: None, counts: OnceLock::new(), passed: Mutex::new(0) }
    }

    pub(super) fn recorded(reporter: &'a Reporter<'a>, recorded: NodeJournal<'a>) -> Self {
        Self { recorded: Some(recorded), ..Self::unrecorded(reporter) }
    }

    /// Begins or resumes the array, in units of `unit` chunks along each axis. When it begins, erases chunks of a former node or of an
    /// interrupted conversion, which would become chunks of the new array.
    pub(super) fn begin(&self, written: &StoredNode, unit: &[u64], counts: &[u64]) -> Result<()> {
        self.counts.get_or_init(|| counts.to_vec());
        let Some(NodeJournal { journal, target, node, .. }) = self.recorded else { return Ok(()) };
        if !journal.has_begun(node) {
            let unit_of = |chunk: &[u64]| chunk.iter().zip(unit).map(|(&index, &unit)| index / unit.max(1)).collect();
            let is_own = |chunk: Option<&[u64]>| {
                // Chunks beyond the array are of the first part.
                let unit: ChunkIndex = chunk.map_or_else(|| counts.iter().map(|_| 0).collect(), unit_of);
                self.is_own(&unit)
            };
            let in_target = |error: Error| error.at(|location| location.store = Some(target.to_string()));
            // Else they may be of the run that took over from this one.
            journal.check_own().map_err(in_target)?;
            destination::erase_chunks(target, written, &is_own, &|| journal.confirm()).map_err(in_target)?;
        }
        journal.begin_node(node, unit);
        Ok(())
    }

    /// Returns whether a unit belongs to the part that this run processes.
    fn is_own(&self, unit: &[u64]) -> bool {
        match &self.recorded {
            Some(NodeJournal { part: Some(part), node, .. }) => {
                part.has(*node, unit, self.counts.get().map_or(&[], Vec::as_slice))
            }
            _ => true,
        }
    }

    /// Returns whether this run still has to process a unit with these chunks.
    pub(super) fn has(&self, unit: &[u64], chunks: &[Range<u64>]) -> bool {
        self.is_own(unit) && !self.recorded.is_some_and(|recorded| recorded.journal.was_done(chunks))
    }

    /// Returns the size of an element in bytes on which the parts of a conversion agree; `None` if metadata tells it.
    pub(super) fn item(&self) -> Option<u64> {
        self.recorded.and_then(|recorded| recorded.journal.item(recorded.node))
    }

    /// Checks, before chunks are written, that no other run has taken over.
    pub(super) fn confirm(&self) -> Result<()> {
        let Some(NodeJournal { journal, target, .. }) = self.recorded else { return Ok(()) };
        journal.confirm().map_err(|error| error.at(|location| location.store = Some(target.to_string())))
    }

    /// Begins a unit.
    pub(super) fn begin_unit(&self, unit: &ChunkIndex) {
        if let Some(recorded) = &self.recorded {
            recorded.journal.begin_unit(unit);
        }
    }

    /// Records that a unit of `chunks` chunks is stored.
    pub(super) fn end_unit(&self, unit: &ChunkIndex, chunks: u64) -> Result<()> {
        let Some(NodeJournal { journal, target, .. }) = self.recorded else { return Ok(()) };
        let in_target = |error: Error| error.at(|location| location.store = Some(target.to_string()));
        journal.end_unit(unit, chunks).map_err(in_target)
    }

    /// Counts bytes of elements that need no work. They are reported with the next call of [`advance`](Self::advance).
    pub(super) fn pass(&self, bytes: u128) {
        *lock(&self.passed) += bytes;
    }

    /// Reports bytes of elements that are done, and those that were passed.
    pub(super) fn advance(&self, bytes: u128) -> Result<()> {
        let passed = std::mem::take(&mut *lock(&self.passed));
        self.reporter.done(bytes.saturating_add(passed))
    }

    /// Returns whether unreadable chunks of the source are left out.
    pub(super) fn keeps_going(&self) -> bool {
        self.recorded.is_some_and(|recorded| recorded.keep_going)
    }

    /// Records and reports an unreadable chunk, unless it is known.
    pub(super) fn skip(&self, chunk: &SkippedChunk) -> Result<()> {
        match self.recorded {
            Some(recorded) if recorded.journal.skip(chunk) => self.reporter.skipped(chunk),
            _ => Ok(()),
        }
    }
}
