//! Units of an array that are stored. Pure arithmetic, without a store or an array.

use std::collections::BTreeSet;
use std::ops::Range;
use zarr_grid::ChunkIndex;
use zarr_json::pointer::At;
use zarr_json::{Map, Value};

/// Greatest size of the runs in a journal, in bytes. The few dozen units in progress separate the runs; if the runs take more space, the
/// last ones are left out, and their units are done again.
const MOST: usize = 24 << 10;

/// Set of units of an array that are completely stored. A unit is a box of chunks of the new array. Units are processed in C order, a few
/// at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredUnits {
    /// Number of chunks of a unit along each axis.
    unit: Vec<u64>,
    /// Runs of stored units in C order, each from its first unit to the first unit after it. Sorted and disjoint.
    runs: Vec<(ChunkIndex, ChunkIndex)>,
}

impl StoredUnits {
    /// Returns an empty set.
    fn none(unit: &[u64]) -> Self {
        Self { unit: unit.to_vec(), runs: Vec::new() }
    }

    /// Returns whether a box of chunks is known to be stored. The box may belong to units of another shape.
    pub(super) fn has(&self, chunks: &[Range<u64>]) -> bool {
        if chunks.len() != self.unit.len() {
            return false;
        }
        let at = |position: fn(&Range<u64>) -> u64| -> ChunkIndex {
            let unit: ChunkIndex =
                chunks.iter().zip(&self.unit).map(|(range, &unit)| position(range) / unit.max(1)).collect();
            in_order(&unit)
        };
        // All units that the box meets lie between those of its first and its last chunk.
        let (first, last) = (at(|range| range.start), at(|range| range.end.saturating_sub(1)));
        self.runs.iter().any(|(from, to)| *from <= first && last < *to)
    }

    /// Adds a run that does not begin before the last one.
    fn push(&mut self, from: ChunkIndex, to: ChunkIndex) {
        match self.runs.last_mut() {
            _ if from >= to => {}
            Some(last) if from <= last.1 => last.1 = to.max(std::mem::take(&mut last.1)),
            _ => self.runs.push((from, to)),
        }
    }

    pub(super) fn to_value(&self) -> Value {
        let list = |index: &[u64]| Value::from(index.to_vec());
        let run = |(from, to): &(ChunkIndex, ChunkIndex)| Value::Array(vec![list(from), list(to)]);
        let mut left = MOST;
        let mut fits = |(from, to): &&(ChunkIndex, ChunkIndex)| {
            let digits = |number: &u64| number.checked_ilog10().unwrap_or(0) as usize + 2;
            let size = from.iter().chain(to).map(digits).sum::<usize>() + 6;
            left = left.saturating_sub(size);
            left > 0
        };
        let mut map = Map::new();
        map.insert("unit", list(&self.unit));
        map.insert("runs", Value::Array(self.runs.iter().take_while(&mut fits).map(run).collect()));
        Value::Object(map)
    }

    pub(super) fn parse(at: &At<'_>) -> Result<Self, zarr_meta::Error> {
        let unit = at.member("unit")?.sizes()?;
        let len = unit.len().max(1);
        let index = |at: &At<'_>| -> Result<ChunkIndex, zarr_meta::Error> {
            let index = at.sizes()?;
            match index.len() == len {
                true => Ok(ChunkIndex::from_vec(index)),
                false => Err(at.invalid(format!("{len} numbers")).into()),
            }
        };
        let mut reached = Self::none(&unit);
        for run in at.member("runs")?.items()? {
            let ends = run.items()?;
            let [from, to] = &ends[..] else { return Err(run.invalid("two units").into()) };
            let (from, to) = (index(from)?, index(to)?);
            if from >= to || reached.runs.last().is_some_and(|last| last.1 > from) {
                return Err(run.invalid("a unit and one behind it, behind those before").into());
            }
            reached.push(from, to);
        }
        Ok(reached)
    }
}

/// Returns the unit as a position of at least one number, so that there is a position after it even in an array without dimensions.
fn in_order(unit: &[u64]) -> ChunkIndex {
    if unit.is_empty() { ChunkIndex::from_slice(&[0]) } else { ChunkIndex::from_slice(unit) }
}

/// Returns the first position after a unit in C order, for arrays of any shape.
fn behind(unit: &[u64]) -> ChunkIndex {
    let mut index = in_order(unit);
    if let Some(last) = index.last_mut() {
        *last = last.saturating_add(1);
    }
    index
}

/// Units of an array during a run.
#[derive(Debug)]
pub(super) struct Units {
    /// Units that an earlier run stored.
    was: StoredUnits,
    unit: Vec<u64>,
    /// Units that are begun and not ended.
    begun: BTreeSet<ChunkIndex>,
    /// Last unit that was begun.
    last: Option<ChunkIndex>,
}

impl Units {
    /// Creates the state for units of `unit` chunks along each axis. `was` holds the units that an earlier run stored.
    pub(super) fn new(was: Option<StoredUnits>, unit: &[u64]) -> Self {
        let was = was.unwrap_or_else(|| StoredUnits::none(unit));
        Self { was, unit: unit.to_vec(), begun: BTreeSet::new(), last: None }
    }

    /// Returns whether an earlier run stored the chunks.
    pub(super) fn was_done(&self, chunks: &[Range<u64>]) -> bool {
        self.was.has(chunks)
    }

    /// Begins a unit. Units are begun in C order; units that are passed over need no work.
    pub(super) fn begin(&mut self, unit: &ChunkIndex) {
        self.begun.insert(unit.clone());
        self.last = Some(unit.clone());
    }

    pub(super) fn end(&mut self, unit: &ChunkIndex) {
        self.begun.remove(unit);
    }

    /// Returns the stored units: all units up to the last one that was begun, except those in progress.
    pub(super) fn reached(&self) -> StoredUnits {
        let Some(last) = &self.last else { return self.was.clone() };
        let mut reached = StoredUnits::none(&self.unit);
        let mut from = in_order(&vec![0; self.unit.len()]);
        for unit in &self.begun {
            reached.push(from, in_order(unit));
            from = behind(unit);
        }
        let end = behind(last);
        reached.push(from, end.clone());
        if self.was.unit == self.unit {
            for (from, to) in &self.was.runs {
                reached.push(from.clone().max(end.clone()), to.clone());
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chunks(unit: &[u64], shape: &[u64]) -> Vec<Range<u64>> {
        unit.iter().zip(shape).map(|(&index, &len)| index * len..(index + 1) * len).collect()
    }

    fn all(counts: &[u64]) -> Vec<ChunkIndex> {
        let mut all = vec![ChunkIndex::new()];
        for &count in counts {
            let longer =
                |index: &ChunkIndex| (0..count).map(|next| index.iter().copied().chain([next]).collect()).collect();
            all = all.iter().flat_map(|index| -> Vec<ChunkIndex> { longer(index) }).collect();
        }
        all
    }

    proptest! {
        /// After a kill at any time, the next run treats only stored units as stored, and repeats at most the stored units after one that
        /// was in progress.
        #[test]
        fn nothing_is_taken_for_done_that_is_not(
            counts in proptest::collection::vec(1_u64..5, 0..3),
            steps in proptest::collection::vec((any::<bool>(), any::<proptest::sample::Index>()), 0..60),
            kills in proptest::collection::vec(0_usize..60, 0..3),
            other in any::<bool>(),
        ) {
            let mut done = BTreeSet::new();
            let mut was: Option<StoredUnits> = None;
            let mut shape = vec![2; counts.len()];
            let order = all(&counts);
            let mut next = 0;
            let mut units = Units::new(None, &shape);
            let mut begun: Vec<ChunkIndex> = Vec::new();
            for (number, (begins, which)) in steps.iter().enumerate() {
                if kills.contains(&number) {
                    was = Some(units.reached());
                    let text = was.as_ref().unwrap().to_value();
                    prop_assert_eq!(&StoredUnits::parse(&At::root(&text)).unwrap(), was.as_ref().unwrap());
                    if other {
                        // The same boxes, as units of half of the chunks.
                        shape = vec![1; counts.len()];
                    }
                    units = Units::new(was.clone(), &shape);
                    (next, begun) = (0, Vec::new());
                }
                if shape.contains(&1) {
                    break;
                }
                while next < order.len() && units.was_done(&chunks(&order[next], &shape)) {
                    next += 1;
                }
                if *begins && next < order.len() {
                    units.begin(&order[next]);
                    begun.push(order[next].clone());
                    next += 1;
                } else if !begun.is_empty() {
                    let unit = begun.swap_remove(which.index(begun.len()));
                    units.end(&unit);
                    done.insert(unit);
                }
                let reached = units.reached();
                for unit in &order {
                    let has = reached.has(&chunks(unit, &[2, 2]));
                    prop_assert!(!has || done.contains(unit), "{unit:?} of {reached:?}");
                    prop_assert!(has || !done.contains(unit), "{unit:?} of {reached:?}");
                }
            }
            if let Some(was) = was {
                for unit in &order {
                    let halves = unit.iter().map(|&index| index * 2..index * 2 + 1).collect::<Vec<_>>();
                    prop_assert!(!was.has(&halves) || done.contains(unit));
                }
            }
        }
    }

    #[test]
    fn a_journal_is_small_however_many_units_are_done_behind_one_that_is_not() {
        let mut units = Units::new(None, &[1, 1]);
        let unit = |number: u64| ChunkIndex::from_slice(&[number / 10, number % 10]);
        for number in 0..100_000 {
            units.begin(&unit(number));
            if number > 0 {
                units.end(&unit(number));
            }
        }
        assert_eq!(units.reached().to_value().to_string(), r#"{"unit":[1,1],"runs":[[[0,1],[9999,10]]]}"#);
        // Every second one is under way: those behind the bound are done again.
        let mut units = Units::new(None, &[1, 1]);
        for number in 0..100_000 {
            units.begin(&unit(number));
            if number % 2 == 0 {
                units.end(&unit(number));
            }
        }
        let text = units.reached().to_value();
        assert!(text.to_string().len() < MOST + 100);
        let reached = StoredUnits::parse(&At::root(&text)).unwrap();
        let has = |number: u64| reached.has(&unit(number).iter().map(|&index| index..index + 1).collect::<Vec<_>>());
        assert!((0..1000).all(|number| has(number) == (number % 2 == 0)) && !has(99_998));
    }

    #[test]
    fn runs_that_are_none_are_errors() {
        for runs in ["[[[0],[1]]]", "[[[1,0],[0,1]]]", "[[[0,0],[0,3]],[[0,2],[0,4]]]", "[[[0,0]]]", "[3]"] {
            let value = Value::from_json(&format!(r#"{{"unit":[1,1],"runs":{runs}}}"#)).unwrap();
            assert!(StoredUnits::parse(&At::root(&value)).unwrap_err().to_string().contains("/runs/"), "{runs}");
        }
    }
}
