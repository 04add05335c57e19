//! The tree of units of a pyramid. Pure arithmetic, without a store or an array.
//!
//! A unit of a level is a box of whole chunks that is computed and written at once. Units are nested: a unit is computed of whole units of
//! the next finer level, so the elements of each unit are in memory when the coarser one needs them. Leaves are the units of the finest
//! level, which are computed of the source. They are visited depth first, so that few units of coarser levels are begun at a time.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::ops::Range;
use zarr_grid::{Region, gcd, lcm};

/// Levels of a pyramid, the finest first, with their units.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// Shape of the source.
    source: Vec<u64>,
    levels: Vec<Units>,
}

/// Level with its units.
#[derive(Clone, Debug)]
pub(super) struct Units {
    pub(super) shape: Vec<u64>,
    /// Factor along each axis from the next finer level, or from the source.
    pub(super) factors: Vec<u64>,
    /// Elements of a unit along each axis; the last unit may have fewer.
    pub(super) unit: Vec<u64>,
}

/// Level as the tree is planned: its shape, its factors, and the shape of its chunks or shards.
#[derive(Clone, Debug)]
pub(super) struct LevelShape {
    pub(super) shape: Vec<u64>,
    pub(super) factors: Vec<u64>,
    pub(super) chunk: Vec<u64>,
}

/// Unit of a level: the number of the level, 0 for the finest, and its index along each axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Unit {
    pub(super) level: usize,
    pub(super) index: Vec<u64>,
}

/// Work on a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// The unit of the finest level is computed of the source. The number counts leaves in the order of visits.
    BaseUnit(Unit, u64),
    /// The unit is stored already, and is read for the coarser unit.
    Stored(Unit),
}

impl Tree {
    /// Plans units for levels, the finest first. `parts` is the shape of the parts of the source that are decoded at once: units of the
    /// finest level are of whole parts, unless `parts` is empty. Along each axis they are `growth` times as long as they need be.
    pub(super) fn new(source: &[u64], parts: &[u64], levels: &[LevelShape], growth: &[u64]) -> Self {
        let mut units: Vec<Units> = Vec::with_capacity(levels.len());
        for (number, level) in levels.iter().enumerate() {
            let unit = |axis: usize| {
                let (len, chunk, factor) = (level.shape[axis], level.chunk[axis].max(1), level.factors[axis].max(1));
                let (finer, finer_len, growth) = match units.last() {
                    Some(finer) => (finer.unit[axis], finer.shape[axis], 1),
                    None => (parts.get(axis).map_or(1, |&part| part.max(1)), source[axis], growth[axis].max(1)),
                };
                // A unit is computed of whole finer ones.
                if finer >= finer_len {
                    return len.max(1);
                }
                // No block of the next coarser level lies in several units.
                let next = levels.get(number + 1).map_or(1, |coarser| coarser.factors[axis].max(1));
                let unit = lcm(chunk, finer / gcd(finer, factor)).and_then(|unit| lcm(unit, next));
                unit.unwrap_or(u64::MAX).saturating_mul(growth).min(len).max(1)
            };
            let unit = (0..level.shape.len()).map(unit).collect();
            units.push(Units { shape: level.shape.clone(), factors: level.factors.clone(), unit });
        }
        Self { source: source.to_vec(), levels: units }
    }

    pub(super) fn levels(&self) -> &[Units] {
        &self.levels
    }

    /// Number of elements of the largest unit of a level.
    pub(super) fn unit_len(&self, level: usize) -> u64 {
        self.levels[level].unit.iter().fold(1, |product: u64, &len| product.saturating_mul(len))
    }

    /// Ranges of the elements of a unit, in its level.
    pub(super) fn elements(&self, unit: &Unit) -> Vec<Range<u64>> {
        let level = &self.levels[unit.level];
        let range = |((&index, &len), &shape): ((&u64, &u64), &u64)| index * len..((index + 1) * len).min(shape);
        unit.index.iter().zip(&level.unit).zip(&level.shape).map(range).collect()
    }

    /// Ranges of the elements of which the elements `ranges` of a level are computed: of the next finer level, or of the source.
    pub(super) fn below(&self, level: usize, ranges: &[Range<u64>]) -> Vec<Range<u64>> {
        let shape = level.checked_sub(1).map_or(&self.source, |finer| &self.levels[finer].shape);
        let range = |((range, &factor), &len): ((&Range<u64>, &u64), &u64)| {
            (range.start.saturating_mul(factor)).min(len)..(range.end.saturating_mul(factor)).min(len)
        };
        ranges.iter().zip(&self.levels[level].factors).zip(shape).map(range).collect()
    }

    /// Indices along each axis of the units of which a unit of a coarser level is computed.
    fn children(&self, unit: &Unit) -> Vec<Range<u64>> {
        let finer = &self.levels[unit.level - 1];
        let range = |(range, &len): (Range<u64>, &u64)| range.start / len..range.end.div_ceil(len);
        self.below(unit.level, &self.elements(unit)).into_iter().zip(&finer.unit).map(range).collect()
    }

    /// Number of units of which a unit of a coarser level is computed.
    pub(super) fn child_count(&self, unit: &Unit) -> u64 {
        count(&self.children(unit))
    }

    /// Unit of the next coarser level that is computed of a unit; `None` at the coarsest level.
    pub(super) fn parent(&self, unit: &Unit) -> Option<Unit> {
        let coarser = self.levels.get(unit.level + 1)?;
        let own = self.elements(unit);
        let axes = own.iter().zip(&coarser.factors).zip(&coarser.unit);
        let index = axes.map(|((range, &factor), &len)| range.start / factor / len).collect();
        Some(Unit { level: unit.level + 1, index })
    }

    /// Ranges of the elements of the units of a level in a box of indices.
    fn elements_in(&self, level: usize, indices: &[Range<u64>]) -> Vec<Range<u64>> {
        let units = &self.levels[level];
        let elements = |((range, &len), &shape): ((&Range<u64>, &u64), &u64)| {
            range.start.saturating_mul(len).min(shape)..range.end.saturating_mul(len).min(shape)
        };
        indices.iter().zip(&units.unit).zip(&units.shape).map(elements).collect()
    }

    /// Number of leaves of which the units of a level in a box of indices are computed. A leaf counts as one.
    fn leaf_count(&self, level: usize, indices: &[Range<u64>]) -> u64 {
        let mut ranges = self.elements_in(level, indices);
        for level in (1..=level).rev() {
            ranges = self.below(level, &ranges);
        }
        let leaf = |(range, &len): (&Range<u64>, &u64)| range.start / len..range.end.div_ceil(len);
        count(&ranges.iter().zip(&self.levels[0].unit).map(leaf).collect::<Vec<_>>())
    }

    /// Range of the numbers of the leaves below a unit, or of the leaf itself.
    pub(super) fn leaf_range(&self, unit: &Unit) -> Range<u64> {
        let mut line = vec![unit.clone()];
        line.extend(std::iter::successors(self.parent(unit), |unit| self.parent(unit)));
        let mut siblings = self.units(self.levels.len() - 1);
        let mut number = 0;
        for unit in line.iter().rev() {
            for earlier in earlier(&siblings, &unit.index) {
                number += self.leaf_count(unit.level, &earlier);
            }
            if unit.level > 0 {
                siblings = self.children(unit);
            }
        }
        number..number + self.leaf_count(unit.level, &single(&unit.index))
    }

    /// Indices along each axis of all units of a level.
    fn units(&self, level: usize) -> Vec<Range<u64>> {
        let units = &self.levels[level];
        units.shape.iter().zip(&units.unit).map(|(&len, &unit)| 0..len.div_ceil(unit)).collect()
    }

    /// Ranges of the elements of the source of which a unit is computed.
    pub(super) fn source_of(&self, unit: &Unit) -> Vec<Range<u64>> {
        (0..=unit.level).rev().fold(self.elements(unit), |ranges, level| self.below(level, &ranges))
    }

    /// Number of elements of the source of which the leaves with numbers in `leaves` are computed.
    pub(super) fn source_len(&self, leaves: Range<u64>) -> u128 {
        self.source_before(leaves.end).saturating_sub(self.source_before(leaves.start))
    }

    /// Number of elements of the source of which the first `count` leaves are computed. Follows one unit of each level.
    fn source_before(&self, count: u64) -> u128 {
        if count >= self.leaves() {
            return zarr_grid::total_size(&self.source, 1);
        }
        let mut level = self.levels.len() - 1;
        let (mut left, mut siblings, mut elements) = (count, self.units(level), 0_u128);
        loop {
            let (index, passed) = self.seek(level, &siblings, left);
            for earlier in earlier(&siblings, &index) {
                let ranges = (0..=level)
                    .rev()
                    .fold(self.elements_in(level, &earlier), |ranges, level| self.below(level, &ranges));
                let lengths: Vec<u64> = ranges.iter().map(|range| range.end.saturating_sub(range.start)).collect();
                elements = elements.saturating_add(zarr_grid::total_size(&lengths, 1));
            }
            left -= passed;
            if level == 0 {
                return elements;
            }
            siblings = self.children(&Unit { level, index });
            level -= 1;
        }
    }

    /// Returns the index of the unit that has the leaf with number `leaf` in a box of units of a level, whose leaves are counted from 0, and
    /// the number of leaves of the units before it. The box has more leaves.
    fn seek(&self, level: usize, ranges: &[Range<u64>], leaf: u64) -> (Vec<u64>, u64) {
        let (mut place, mut passed) = (ranges.to_vec(), 0);
        for axis in 0..place.len() {
            let range = place[axis].clone();
            let leaves_to = |end: u64| {
                let mut before = place.clone();
                before[axis] = range.start..end;
                self.leaf_count(level, &before)
            };
            // The last index with no more leaves before it than are to be passed.
            let (mut low, mut high) = (range.start, range.end.max(range.start + 1));
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if leaves_to(middle) <= leaf - passed { low = middle } else { high = middle }
            }
            passed += leaves_to(low);
            place[axis] = low..low + 1;
        }
        (place.into_iter().map(|range| range.start).collect(), passed)
    }

    /// Number of all leaves.
    pub(super) fn leaves(&self) -> u64 {
        if self.levels.is_empty() { 0 } else { count(&self.units(0)) }
    }

    /// Region of the level `level` that depends on the region of ranges `source` of the source.
    pub(super) fn above(&self, level: usize, source: &[Range<u64>]) -> Vec<Range<u64>> {
        let mut ranges = source.to_vec();
        for units in &self.levels[..=level] {
            for (range, &factor) in ranges.iter_mut().zip(&units.factors) {
                *range = range.start / factor..range.end.div_ceil(factor);
            }
        }
        ranges
    }

    /// Visits the units whose leaves have numbers in `own`, depth first. A unit is left out, or read if a coarser one needs it, if `is_done`
    /// returns true of the range of the numbers of its leaves, or `is_met` returns false of it. Coarsest units outside `own` are not visited
    /// one by one.
    pub(super) fn tasks<'t>(
        &'t self,
        own: Range<u64>,
        is_done: impl Fn(Range<u64>) -> bool + Send + 't,
        is_met: impl Fn(&Unit) -> bool + Send + 't,
    ) -> impl Iterator<Item = Task> + Send + 't {
        let coarsest = self.levels.len() - 1;
        let all = self.units(coarsest);
        let (at, mut number) = match own.start < own.end.min(self.leaves()) {
            true => {
                let (first, passed) = self.seek(coarsest, &all, own.start);
                (Some(first), passed)
            }
            false => (None, 0),
        };
        // Boxes of units of one level that are left to visit, the next one last.
        let mut left = vec![Left { level: coarsest, at, ranges: all }];
        std::iter::from_fn(move || {
            loop {
                if number >= own.end {
                    return None;
                }
                let next = left.last_mut()?;
                let Some(index) = next.at.clone() else {
                    left.pop();
                    continue;
                };
                next.advance();
                let unit = Unit { level: next.level, index };
                let leaves = number..number + self.leaf_count(unit.level, &single(&unit.index));
                if leaves.end <= own.start || own.end <= leaves.start {
                    number = leaves.end;
                    continue;
                }
                let is_own = own.start <= leaves.start && leaves.end <= own.end;
                if is_own && (!is_met(&unit) || is_done(leaves.clone())) {
                    number = leaves.end;
                    return Some(Task::Stored(unit));
                }
                if unit.level == 0 {
                    number = leaves.end;
                    return Some(Task::BaseUnit(unit, leaves.start));
                }
                let ranges = self.children(&unit);
                left.push(Left { level: unit.level - 1, at: start(&ranges), ranges });
            }
        })
    }
}

/// Box of units of a level, of which some are left to visit.
struct Left {
    level: usize,
    ranges: Vec<Range<u64>>,
    /// Index of the next unit; `None` after the last.
    at: Option<Vec<u64>>,
}

impl Left {
    fn advance(&mut self) {
        let Some(at) = &mut self.at else { return };
        for (index, range) in at.iter_mut().zip(&self.ranges).rev() {
            *index += 1;
            if *index < range.end {
                return;
            }
            *index = range.start;
        }
        self.at = None;
    }
}

/// Boxes of the indices in a box that are visited before `index`: for each axis, those that have the same indices along the axes before it,
/// and a lower one along it.
fn earlier(ranges: &[Range<u64>], index: &[u64]) -> impl Iterator<Item = Vec<Range<u64>>> {
    (0..ranges.len()).map(move |axis| {
        let place = |(at, range): (usize, &Range<u64>)| match at.cmp(&axis) {
            Ordering::Less => index[at]..index[at] + 1,
            Ordering::Equal => range.start..index[at],
            Ordering::Greater => range.clone(),
        };
        ranges.iter().enumerate().map(place).collect()
    })
}

/// First index of a box of units; `None` if it is empty.
fn start(ranges: &[Range<u64>]) -> Option<Vec<u64>> {
    ranges.iter().all(|range| !range.is_empty()).then(|| ranges.iter().map(|range| range.start).collect())
}

/// Box of one index.
fn single(index: &[u64]) -> Vec<Range<u64>> {
    index.iter().map(|&at| at..at.saturating_add(1)).collect()
}

fn count(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().fold(1, |product: u64, range| product.saturating_mul(range.end.saturating_sub(range.start)))
}

/// Region of a box.
pub(super) fn region(ranges: &[Range<u64>]) -> Region {
    Region::from_ranges(ranges)
}
