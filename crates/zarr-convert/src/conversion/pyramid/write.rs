//! Computation and writes of the units of a pyramid.
//!
//! Several threads take leaves in order. Each computes its unit, writes it, and adds it to the unit of the next coarser level, which waits
//! in memory for its other parts; the thread that adds the last part goes on with that unit. A leaf is recorded in the journal after all
//! that it completes. Each unit that waits has a leaf on some thread, or is the next to get one, so that there are at most as many units
//! of a level in memory as threads.

use super::super::journal::Journal;
use super::super::part::Part;
use super::super::run::in_store;
use super::Report;
use super::tree::{Task, Tree, Unit, region};
use super::{Pyramid, ranges};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use zarr_array::{Array, View, ViewMut};
use zarr_cf::fill::{FILL_VALUE, MISSING_VALUE, from_attribute, from_plain};
use zarr_dtype::FillValue;
use zarr_grid::ChunkIndex;
use zarr_hierarchy::{Error, ErrorKind, IntoFlow, Result};
use zarr_reduce::{Elements, Place, Reducer};
use zarr_scan::{in_parallel, lock};

/// Units that a run computes, by the numbers of leaves.
#[derive(Clone, Debug)]
pub(super) enum Share {
    /// All units; without a journal those that depend on the region.
    All,
    /// Units whose leaves all lie in the range of a part.
    Part(Range<u64>),
    /// Units that have leaves of several parts, of this number of parts. Those of one part are stored.
    BetweenParts(u64),
}

/// Computes and writes the units of a share that `journal` does not record as stored, into the arrays `sinks`.
pub(super) fn write(
    pyramid: &Pyramid,
    share: Share,
    sinks: &[Array],
    journal: Option<&Journal>,
    report: &Report<'_>,
) -> Result<()> {
    if pyramid.levels.iter().any(|level| level.shape.contains(&0)) {
        return Ok(());
    }
    let missing = pyramid.options.skip_missing.then(|| missing(&pyramid.source)).transpose()?;
    let leaves = pyramid.work.tree.leaves();
    let (own, parts) = match share {
        Share::All => (0..leaves, None),
        Share::Part(own) => (own, None),
        Share::BetweenParts(parts) => (0..leaves, Some(parts)),
    };
    let units = Units {
        pyramid,
        item: pyramid.source.data_type().item_size(),
        leaves,
        own,
        parts,
        source: pyramid.source.with(pyramid.work.options.clone())?,
        sinks,
        journal,
        report,
        missing,
        changed: pyramid.options.region.as_ref().map(ranges),
        waiting: Mutex::new(HashMap::new()),
        spaces: Mutex::new(Vec::new()),
    };
    units.run()
}

/// Returns the elements in memory that stand for missing data: those of the attributes, or else the fill value, if the array has one.
fn missing(source: &Array) -> Result<Vec<Vec<u8>>> {
    let (attributes, data_type) = (source.attributes()?, source.data_type());
    let refused = |error: zarr_cf::AttributeError| Error::argument(format!("skip_missing: {error}"));
    let mut fills = Vec::new();
    if let Some(value) = attributes.get(FILL_VALUE) {
        match from_attribute(data_type, value) {
            Ok(fill) => fills.push(fill),
            // Other software writes numbers there as in version 2.
            Err(error) => fills.extend(from_plain(FILL_VALUE, data_type, value).map_err(|_| refused(error))?),
        }
    }
    if let Some(value) = attributes.get(MISSING_VALUE) {
        fills.extend(from_plain(MISSING_VALUE, data_type, value).map_err(refused)?);
    }
    let is_named = attributes.get(FILL_VALUE).is_some() || attributes.get(MISSING_VALUE).is_some();
    let own = (!is_named && source.metadata().fill_value.is_some()).then(|| source.fill_value().clone());
    let elements = fills.iter().filter_map(|fill| fill.to_element(data_type)).chain(own);
    let element = |fill: FillValue| {
        fill.item().map(<[u8]>::to_vec).ok_or_else(|| Error::internal("a fill value without an element"))
    };
    elements.map(element).collect()
}

/// Unit of a level that waits for its parts.
struct Waiting {
    elements: Arc<Mutex<Elements>>,
    /// Number of parts that are not there yet.
    left: u64,
}

/// Memory of a thread that is used for one unit after the other.
struct Space {
    source: Elements,
    unit: Elements,
    reducer: Reducer,
}

struct Units<'a> {
    pyramid: &'a Pyramid,
    /// Size of an element in memory, in bytes.
    item: usize,
    /// Number of all leaves.
    leaves: u64,
    /// Numbers of the leaves of which units are computed.
    own: Range<u64>,
    /// Number of parts by which the units without leaves of several parts are stored; `None` if the journal tells what is stored.
    parts: Option<u64>,
    source: Array,
    sinks: &'a [Array],
    journal: Option<&'a Journal>,
    report: &'a Report<'a>,
    /// Elements that are left out, beside NaN; `None` if no element is.
    missing: Option<Vec<Vec<u8>>>,
    /// Ranges of the source that have changed; `None` if all is computed.
    changed: Option<Vec<Range<u64>>>,
    waiting: Mutex<HashMap<Unit, Waiting>>,
    spaces: Mutex<Vec<Space>>,
}

impl Units<'_> {
    fn tree(&self) -> &Tree {
        &self.pyramid.work.tree
    }

    fn run(&self) -> Result<()> {
        let is_done = |leaves: Range<u64>| match self.parts {
            Some(of) => Part::is_of_one(&leaves, self.leaves, of),
            None => self.journal.is_some_and(|journal| journal.was_done(&[leaves])),
        };
        let is_met = |unit: &Unit| self.changed.is_none() || self.written(unit).is_some();
        let begin = |task: &Task| {
            if let (Task::BaseUnit(_, number), Some(journal)) = (task, self.journal) {
                journal.begin_unit(&ChunkIndex::from_slice(&[*number]));
            }
        };
        let tasks = self.tree().tasks(self.own.clone(), is_done, is_met).inspect(begin);
        in_parallel(self.pyramid.work.workers, tasks, &|task: Task| {
            let kept = lock(&self.spaces).pop();
            let mut space = match kept {
                Some(space) => space,
                None => Space { source: Elements::default(), unit: Elements::default(), reducer: self.reducer()? },
            };
            self.task(task, &mut space)?;
            lock(&self.spaces).push(space);
            Ok(())
        })
    }

    fn task(&self, task: Task, space: &mut Space) -> Result<()> {
        let Space { source, unit: elements, reducer } = space;
        match task {
            Task::BaseUnit(unit, number) => {
                self.confirm()?;
                let shape = shape_of(&self.tree().elements(&unit))?;
                self.resize(elements, &shape)?;
                self.compute(&unit, source, (elements, &shape), reducer)?;
                self.store(&unit, elements, &shape)?;
                self.deliver(unit.clone(), elements, &shape, reducer)?;
                if let Some(journal) = self.journal {
                    let ended = journal.end_unit(&ChunkIndex::from_slice(&[number]), 1);
                    ended.map_err(|error| in_store(&self.pyramid.target, error))?;
                }
                self.reported(&unit)
            }
            Task::Stored(unit) => {
                if self.own_parent(&unit).is_some() {
                    self.confirm()?;
                    let ranges = self.tree().elements(&unit);
                    let shape = shape_of(&ranges)?;
                    self.resize(elements, &shape)?;
                    self.read(&self.sinks[unit.level], &ranges, elements, &shape)?;
                    self.deliver(unit.clone(), elements, &shape, reducer)?;
                }
                self.reported(&unit)
            }
        }
    }

    /// Checks that this run still owns the journal, before something is written.
    fn confirm(&self) -> Result<()> {
        let confirmed = self.journal.map_or(Ok(()), Journal::confirm);
        confirmed.map_err(|error| in_store(&self.pyramid.target, error))
    }

    /// Unit of the next coarser level that is computed of a unit in this run; `None` if it has leaves of other parts, or there is none.
    fn own_parent(&self, unit: &Unit) -> Option<Unit> {
        let parent = self.tree().parent(unit)?;
        let is_whole = self.own == (0..self.leaves);
        let is_own = |leaves: Range<u64>| self.own.start <= leaves.start && leaves.end <= self.own.end;
        (is_whole || is_own(self.tree().leaf_range(&parent))).then_some(parent)
    }

    /// Reports the elements of the source below a unit.
    fn reported(&self, unit: &Unit) -> Result<()> {
        let ranges = self.tree().source_of(unit);
        let mut lengths: Vec<u64> = ranges.iter().map(|range| range.end - range.start).collect();
        if let Some(changed) = &self.changed {
            for ((length, range), changed) in lengths.iter_mut().zip(&ranges).zip(changed) {
                *length = range.end.min(changed.end).saturating_sub(range.start.max(changed.start));
            }
        }
        let item = self.source.data_type().item_size() as u64;
        (self.report)(zarr_grid::total_size(&lengths, item)).into_result()
    }

    /// Computes the elements of a unit of the finest level, piece by piece.
    fn compute(
        &self,
        unit: &Unit,
        source: &mut Elements,
        (elements, shape): (&mut Elements, &[usize]),
        reducer: &mut Reducer,
    ) -> Result<()> {
        let own = self.tree().elements(unit);
        let piece = &self.pyramid.work.piece;
        let mut at: Vec<u64> = own.iter().map(|range| range.start).collect();
        loop {
            let part: Vec<Range<u64>> = at
                .iter()
                .zip(piece)
                .zip(&own)
                .map(|((&at, &len), own)| at..next_multiple(at, len).min(own.end))
                .collect();
            let below = self.tree().below(0, &part);
            let from = shape_of(&below)?;
            self.resize(source, &from)?;
            self.read(&self.source, &below, source, &from)?;
            let origin: Vec<usize> =
                part.iter().zip(&own).map(|(part, own)| (part.start - own.start) as usize).collect();
            let mut place = Place { elements: &mut *elements, shape, origin: &origin };
            reducer.reduce(source, &from, &self.factors(0), &mut place);
            let is_left = at.iter_mut().zip(piece).zip(&own).rev().any(|((at, &len), own)| {
                *at = next_multiple(*at, len);
                let is_left = *at < own.end;
                if !is_left {
                    *at = own.start;
                }
                is_left
            });
            if !is_left {
                return Ok(());
            }
        }
    }

    fn read(&self, array: &Array, ranges: &[Range<u64>], elements: &mut Elements, shape: &[usize]) -> Result<()> {
        array.read_into(region(ranges), ViewMut::new(elements.bytes_mut(), self.item, shape)?)
    }

    /// Returns the ranges of the elements of a unit that are written: all, or those of the chunks that depend on what has changed. `None`
    /// if there are none.
    fn written(&self, unit: &Unit) -> Option<Vec<Range<u64>>> {
        let own = self.tree().elements(unit);
        let Some(changed) = &self.changed else { return Some(own) };
        let changed = self.tree().above(unit.level, changed);
        let level = &self.pyramid.levels[unit.level];
        let chunks = level.shards.as_ref().unwrap_or(&level.chunks);
        let axes = own.iter().zip(&changed).zip(chunks);
        let met: Vec<Range<u64>> = axes
            .map(|((own, changed), &chunk)| {
                let start = changed.start / chunk * chunk;
                let end = changed.end.div_ceil(chunk).saturating_mul(chunk);
                own.start.max(start)..own.end.min(end)
            })
            .collect();
        met.iter().all(|range| !range.is_empty()).then_some(met)
    }

    /// Writes the elements of a unit.
    fn store(&self, unit: &Unit, elements: &Elements, shape: &[usize]) -> Result<()> {
        let own = self.tree().elements(unit);
        let Some(written) = self.written(unit) else { return Ok(()) };
        let (sink, all) = (&self.sinks[unit.level], View::new(elements.bytes(), self.item, shape)?);
        if written == own {
            return sink.write(region(&own), all);
        }
        let within: Vec<Range<u64>> =
            written.iter().zip(&own).map(|(part, own)| part.start - own.start..part.end - own.start).collect();
        sink.write(region(&written), all.window(&region(&within)))
    }

    /// Adds a unit to that of the next coarser level; stores the coarser one if it is complete, and goes on with it.
    fn deliver(&self, unit: Unit, elements: &Elements, shape: &[usize], reducer: &mut Reducer) -> Result<()> {
        let mut own: Elements;
        let (mut unit, mut elements, mut shape) = (unit, elements, shape.to_vec());
        while let Some(parent) = self.own_parent(&unit) {
            let ranges = self.tree().elements(&parent);
            let whole = shape_of(&ranges)?;
            let buffer = {
                let mut waiting = lock(&self.waiting);
                match waiting.get(&parent) {
                    Some(waiting) => Arc::clone(&waiting.elements),
                    None => {
                        let (elements, left) = (Arc::default(), self.tree().child_count(&parent));
                        waiting.insert(parent.clone(), Waiting { elements: Arc::clone(&elements), left });
                        elements
                    }
                }
            };
            let factors = self.factors(parent.level);
            let part = self.tree().elements(&unit);
            let origin: Vec<usize> = part
                .iter()
                .zip(&ranges)
                .zip(&factors)
                .map(|((part, whole), &factor)| part.start as usize / factor - whole.start as usize)
                .collect();
            {
                let mut into = lock(&buffer);
                // Room is made under the lock of this unit, so that the threads of other units do not wait for it.
                self.resize(&mut into, &whole)?;
                let mut place = Place { elements: &mut into, shape: &whole, origin: &origin };
                reducer.reduce(elements, &shape, &factors, &mut place);
            }
            drop(buffer);
            let complete = {
                let mut waiting = lock(&self.waiting);
                let is_complete = waiting.get_mut(&parent).is_some_and(|waiting| {
                    waiting.left -= 1;
                    waiting.left == 0
                });
                if is_complete { waiting.remove(&parent) } else { None }
            };
            let Some(complete) = complete else { return Ok(()) };
            // Others have dropped theirs before they counted their parts.
            let complete = Arc::into_inner(complete.elements).and_then(|elements| elements.into_inner().ok());
            own = complete.ok_or_else(|| Error::internal("a complete unit is in use"))?;
            self.store(&parent, &own, &whole)?;
            (unit, elements, shape) = (parent, &own, whole);
        }
        Ok(())
    }

    fn factors(&self, level: usize) -> Vec<usize> {
        self.tree().levels()[level].factors.iter().map(|&factor| factor as usize).collect()
    }

    /// Returns the reduction of a thread.
    fn reducer(&self) -> Result<Reducer> {
        let missing: Option<Vec<&[u8]>> =
            self.missing.as_ref().map(|missing| missing.iter().map(Vec::as_slice).collect());
        let (data_type, method) = (self.source.data_type(), self.pyramid.options.method);
        Reducer::new(data_type, method, missing.as_deref()).map_err(|unfit| Error::internal(unfit.to_string()))
    }

    /// Makes room for a box of elements.
    fn resize(&self, elements: &mut Elements, shape: &[usize]) -> Result<()> {
        let lengths = || shape.iter().map(|&len| len as u64).collect::<Vec<_>>();
        let size = shape.iter().try_fold(self.item, |size, &len| size.checked_mul(len));
        let size = size.ok_or_else(|| too_large(&lengths()))?;
        elements.resize(size).map_err(|_| too_large(&lengths()))
    }
}

/// Returns the least multiple of `len` that is greater than `at`.
fn next_multiple(at: u64, len: u64) -> u64 {
    (at / len).saturating_add(1).saturating_mul(len)
}

/// Returns the shape of a box in memory.
fn shape_of(ranges: &[Range<u64>]) -> Result<Vec<usize>> {
    let lengths: Vec<u64> = ranges.iter().map(|range| range.end.saturating_sub(range.start)).collect();
    let shape: Option<Vec<usize>> = lengths.iter().map(|&len| usize::try_from(len).ok()).collect();
    shape.ok_or_else(|| too_large(&lengths))
}

/// Error for elements that cannot be had in memory.
pub(super) fn too_large(shape: &[u64]) -> Error {
    Error::new(ErrorKind::Limit, format!("a box of {shape:?} elements has no room in memory"))
}
