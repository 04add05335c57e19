//! The tree of units of a pyramid. Pure arithmetic, without a store or an array.
//!
//! A unit of a level is a box of whole chunks that is computed and written at once. Units are nested: a unit is computed of whole units of
//! the next finer level, so the elements of each unit are in memory when the coarser one needs them. Leaves are the units of the finest
//! level, which are computed of the source. They are visited depth first, so that few units of coarser levels are begun at a time.

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

    /// Number of leaves below the units of a level in a box of indices, or of the leaves in it.
    fn leaf_count(&self, level: usize, indices: &[Range<u64>]) -> u64 {
        let units = &self.levels[level];
        let elements = |((range, &len), &shape): ((&Range<u64>, &u64), &u64)| {
            range.start.saturating_mul(len).min(shape)..range.end.saturating_mul(len).min(shape)
        };
        let mut ranges: Vec<Range<u64>> = indices.iter().zip(&units.unit).zip(&units.shape).map(elements).collect();
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
            // Those visited before it have a lower index along some axis, and the same ones along the axes before.
            for axis in 0..siblings.len() {
                let place = |(at, range): (usize, &Range<u64>)| match at.cmp(&axis) {
                    Ordering::Less => unit.index[at]..unit.index[at] + 1,
                    Ordering::Equal => range.start..unit.index[at],
                    Ordering::Greater => range.clone(),
                };
                let earlier: Vec<Range<u64>> = siblings.iter().enumerate().map(place).collect();
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
        let len = |task| match task {
            Task::BaseUnit(unit, _) | Task::Stored(unit) => zarr_grid::total_size(
                &self.source_of(&unit).iter().map(|range| range.end - range.start).collect::<Vec<_>>(),
                1,
            ),
        };
        self.tasks(leaves, |_| true, |_| true).map(len).fold(0, u128::saturating_add)
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
    /// returns true of the range of the numbers of its leaves, or `is_met` returns false of it.
    pub(super) fn tasks<'t>(
        &'t self,
        own: Range<u64>,
        is_done: impl Fn(Range<u64>) -> bool + Send + 't,
        is_met: impl Fn(&Unit) -> bool + Send + 't,
    ) -> impl Iterator<Item = Task> + Send + 't {
        let coarsest = self.levels.len() - 1;
        let all = self.units(coarsest);
        // Boxes of units of one level that are left to visit, the next one last.
        let mut left = vec![Left { level: coarsest, at: start(&all), ranges: all }];
        let mut number = 0;
        std::iter::from_fn(move || {
            loop {
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

#[cfg(test)]
mod tests {
    use super::super::super::part::Part;
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};

    fn tree() -> impl Strategy<Value = Tree> {
        planned().prop_map(|(tree, ..)| tree)
    }

    /// A tree, the shape of the parts of its source, and those of the chunks of its levels.
    fn planned() -> impl Strategy<Value = (Tree, Vec<u64>, Vec<Vec<u64>>)> {
        let axis = (1_u64..60, 1_u64..9, 1_u64..4, 1_u64..3);
        let levels = proptest::collection::vec(proptest::collection::vec((1_u64..5, 1_u64..9), 3), 1..4);
        (proptest::collection::vec(axis, 1..4), levels).prop_map(|(axes, levels)| {
            let source: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let parts: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
            let growth: Vec<u64> = axes.iter().map(|axis| axis.3).collect();
            let mut shape = source.clone();
            let levels: Vec<LevelShape> = levels
                .into_iter()
                .map(|level| {
                    let factors: Vec<u64> = level.iter().take(shape.len()).map(|it| it.0).collect();
                    let chunk = level.iter().take(shape.len()).map(|it| it.1).collect();
                    shape = shape.iter().zip(&factors).map(|(len, factor)| len.div_ceil(*factor)).collect();
                    LevelShape { shape: shape.clone(), factors, chunk }
                })
                .collect();
            let tree = Tree::new(&source, &parts, &levels, &growth);
            let chunks = levels.into_iter().map(|level| level.chunk).collect();
            (tree, parts, chunks)
        })
    }

    /// Units that a run computes: those with leaves in `own`, for which `is_done` is false. Each gets all its parts, each once.
    fn computed(
        tree: &Tree,
        own: Range<u64>,
        is_done: impl Fn(Range<u64>) -> bool + Send + Clone,
    ) -> Result<HashSet<Unit>, TestCaseError> {
        let mut parts: HashMap<Unit, u64> = HashMap::new();
        let mut computed = HashSet::new();
        for task in tree.tasks(own.clone(), is_done.clone(), |_| true) {
            let mut unit = match task {
                Task::BaseUnit(unit, number) => {
                    prop_assert_eq!(tree.leaf_range(&unit), number..number + 1);
                    prop_assert!(!is_done(number..number + 1) && computed.insert(unit.clone()));
                    unit
                }
                Task::Stored(unit) => {
                    prop_assert!(is_done(tree.leaf_range(&unit)));
                    unit
                }
            };
            while let Some(parent) = tree.parent(&unit) {
                let leaves = tree.leaf_range(&parent);
                if leaves.start < own.start || own.end < leaves.end {
                    break;
                }
                let ranges = tree.elements(&unit);
                let below = tree.below(parent.level, &tree.elements(&parent));
                let factors = &tree.levels()[parent.level].factors;
                prop_assert!(ranges.iter().zip(factors).all(|(own, factor)| own.start % factor == 0));
                prop_assert!(ranges.iter().zip(&below).all(|(own, all)| all.start <= own.start && own.end <= all.end));
                let got = parts.entry(parent.clone()).or_default();
                *got += 1;
                if *got < tree.child_count(&parent) {
                    break;
                }
                prop_assert!(computed.insert(parent.clone()));
                unit = parent;
            }
        }
        for (unit, got) in parts {
            prop_assert_eq!(got, tree.child_count(&unit), "{:?}", unit);
        }
        Ok(computed)
    }

    proptest! {
        #[test]
        fn each_unit_is_computed_once_of_whole_units(tree in tree(), done in proptest::collection::vec(any::<bool>(), 64)) {
            let whole = 0..tree.leaves();
            let all: Vec<Task> = tree.tasks(whole.clone(), |_| false, |_| true).collect();
            // All leaves, in the order of their numbers, cover the finest level.
            let mut elements = 0;
            for (place, task) in all.iter().enumerate() {
                let Task::BaseUnit(unit, number) = task else { panic!("{task:?}") };
                prop_assert_eq!(*number, place as u64);
                elements += tree.elements(unit).iter().map(|range| range.end - range.start).product::<u64>();
            }
            prop_assert_eq!(all.len() as u64, tree.leaves());
            prop_assert_eq!(elements, tree.levels()[0].shape.iter().product::<u64>());
            prop_assert_eq!(tree.source_len(whole.clone()), tree.source.iter().map(|&len| u128::from(len)).product());
            computed(&tree, whole, |mut leaves: Range<u64>| leaves.all(|leaf| done[(leaf % 64) as usize]))?;
        }

        #[test]
        fn parts_and_the_end_compute_each_unit_once(tree in tree(), of in 1_u64..9) {
            let leaves = tree.leaves();
            let all = computed(&tree, 0..leaves, |_| false)?;
            let (mut done, mut source) = (HashSet::new(), 0);
            for number in 1..=of {
                let own = Part::new(number, of).unwrap().range(leaves);
                source += tree.source_len(own.clone());
                for unit in computed(&tree, own, |_| false)? {
                    prop_assert!(done.insert(unit));
                }
            }
            prop_assert_eq!(source, tree.source_len(0..leaves));
            let is_done = |range: Range<u64>| Part::is_of_one(&range, leaves, of);
            for unit in computed(&tree, 0..leaves, is_done)? {
                prop_assert!(unit.level > 0 && done.insert(unit));
            }
            prop_assert_eq!(done, all);
        }

        #[test]
        fn units_are_of_whole_parts((tree, parts, chunks) in planned()) {
            for (level, (units, chunks)) in tree.levels().iter().zip(&chunks).enumerate() {
                let finer = if level == 0 { &parts } else { &tree.levels()[level - 1].unit };
                for axis in 0..parts.len() {
                    let (unit, len) = (units.unit[axis], units.shape[axis]);
                    prop_assert!(unit <= len);
                    let is_whole = unit % chunks[axis] == 0 && unit * units.factors[axis] % finer[axis] == 0;
                    prop_assert!(unit == len || is_whole, "level {}, axis {}: {:?}", level, axis, units);
                }
            }
        }
    }
}
