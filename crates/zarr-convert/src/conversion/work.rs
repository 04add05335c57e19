//! The work of one run on one array: which units it has to do, and what it tells of them.

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

/// A unit is a box of chunks of the new array. Units are begun in C order, and several may be under way.
pub(super) struct Work<'a> {
    reporter: &'a Reporter<'a>,
    recorded: Option<NodeJournal<'a>>,
    /// The number of units along each axis.
    counts: OnceLock<Vec<u64>>,
    /// Bytes that are done and not yet reported.
    passed: Mutex<u128>,
}

/// Journal in which the work is recorded.
#[derive(Clone, Copy)]
pub(super) struct NodeJournal<'a> {
    pub(super) journal: &'a Journal,
    pub(super) target: &'a dyn Store,
    /// The number of the node.
    pub(super) node: usize,
    /// The part whose units alone are done.
    pub(super) part: Option<Part>,
    /// Whether chunks of the source that cannot be read are left out.
    pub(super) keep_going: bool,
}

impl<'a> Work<'a> {
    /// Work that leaves no journal: all of it is done.
    pub(super) fn unrecorded(reporter: &'a Reporter<'a>) -> Self {
        Self { reporter, recorded: None, counts: OnceLock::new(), passed: Mutex::new(0) }
    }

    pub(super) fn recorded(reporter: &'a Reporter<'a>, recorded: NodeJournal<'a>) -> Self {
        Self { recorded: Some(recorded), ..Self::unrecorded(reporter) }
    }

    /// Begins or goes on, in units of `unit` chunks along each axis. Unless it goes on, chunks of a former node, or of a conversion that
    /// was interrupted, are erased, which would become chunks of the new array.
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

    /// Whether a unit is of the part that is done.
    fn is_own(&self, unit: &[u64]) -> bool {
        match &self.recorded {
            Some(NodeJournal { part: Some(part), node, .. }) => {
                part.has(*node, unit, self.counts.get().map_or(&[], Vec::as_slice))
            }
            _ => true,
        }
    }

    /// Whether a unit, of these chunks, is still to be done by this run.
    pub(super) fn has(&self, unit: &[u64], chunks: &[Range<u64>]) -> bool {
        self.is_own(unit) && !self.recorded.is_some_and(|recorded| recorded.journal.was_done(chunks))
    }

    /// The bytes of an element, on which the parts of a conversion agree, where they cannot be known from metadata.
    pub(super) fn item(&self) -> Option<u64> {
        self.recorded.and_then(|recorded| recorded.journal.item(recorded.node))
    }

    /// Checks that no other run has taken over, before chunks are written.
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

    /// Bytes of elements that need nothing done.
    pub(super) fn pass(&self, bytes: u128) {
        *lock(&self.passed) += bytes;
    }

    /// Reports bytes of elements that are done.
    pub(super) fn advance(&self, bytes: u128) -> Result<()> {
        let passed = std::mem::take(&mut *lock(&self.passed));
        self.reporter.done(bytes.saturating_add(passed))
    }

    /// Whether chunks of the source that cannot be read are left out.
    pub(super) fn keeps_going(&self) -> bool {
        self.recorded.is_some_and(|recorded| recorded.keep_going)
    }

    /// Leaves out a chunk of the source that cannot be read.
    pub(super) fn skip(&self, chunk: &SkippedChunk) -> Result<()> {
        match self.recorded {
            Some(recorded) if recorded.journal.skip(chunk) => self.reporter.skipped(chunk),
            _ => Ok(()),
        }
    }
}
