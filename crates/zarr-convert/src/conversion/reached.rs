//! How far the work on an array has come. Pure: no store, no array.

use std::collections::BTreeSet;
use std::ops::Range;
use zarr_grid::ChunkIndex;
use zarr_json::pointer::At;
use zarr_json::{Map, Value};

/// The units of an array that are completely stored. A unit is a box of chunks of the new array; units are done in C order, a few at
/// the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    /// The chunks of a unit along each axis.
    unit: Vec<u64>,
    /// The first unit that is not known to be done: all before it, in C order, are.
    before: ChunkIndex,
    /// Further ones that are done.
    also: BTreeSet<ChunkIndex>,
}

impl Reached {
    /// Nothing.
    fn none(unit: &[u64]) -> Self {
        Self { unit: unit.to_vec(), before: std::iter::repeat_n(0, unit.len()).collect(), also: BTreeSet::new() }
    }

    /// Whether a box of chunks, of units that may have another shape, is known to be done.
    pub(super) fn has(&self, chunks: &[Range<u64>]) -> bool {
        if chunks.len() != self.unit.len() {
            return false;
        }
        let at = |position: fn(&Range<u64>) -> u64| -> ChunkIndex {
            chunks.iter().zip(&self.unit).map(|(range, &unit)| position(range) / unit.max(1)).collect()
        };
        // Of the units that the box meets, the last in C order is that of its last chunk.
        let (first, last) = (at(|range| range.start), at(|range| range.end.saturating_sub(1)));
        last < self.before || (first == last && self.also.contains(&last))
    }

    pub(super) fn to_value(&self) -> Value {
        let list = |index: &[u64]| Value::from(index.to_vec());
        let mut map = Map::new();
        map.insert("unit", list(&self.unit));
        map.insert("before", list(&self.before));
        map.insert("also", Value::Array(self.also.iter().map(|unit| list(unit)).collect()));
        Value::Object(map)
    }

    pub(super) fn parse(at: &At<'_>) -> Result<Self, zarr_meta::Error> {
        let unit = at.member("unit")?.sizes()?;
        let index = |at: &At<'_>| -> Result<ChunkIndex, zarr_meta::Error> {
            let index = at.sizes()?;
            match index.len() == unit.len() {
                true => Ok(ChunkIndex::from_vec(index)),
                false => Err(at.invalid(format!("{} numbers", unit.len())).into()),
            }
        };
        let also = at.member("also")?.items()?.iter().map(index).collect::<Result<_, _>>()?;
        Ok(Self { before: index(&at.member("before")?)?, also, unit })
    }
}

/// The units of an array while it is worked on.
#[derive(Debug)]
pub(super) struct Units {
    /// What an earlier run did.
    was: Reached,
    unit: Vec<u64>,
    begun: BTreeSet<ChunkIndex>,
    /// Done, and behind one that is begun.
    beyond: BTreeSet<ChunkIndex>,
    /// The last one that was begun.
    last: Option<ChunkIndex>,
}

impl Units {
    /// In units of so many chunks along each axis.
    pub(super) fn new(was: Option<Reached>, unit: &[u64]) -> Self {
        let was = was.unwrap_or_else(|| Reached::none(unit));
        Self { was, unit: unit.to_vec(), begun: BTreeSet::new(), beyond: BTreeSet::new(), last: None }
    }

    /// Whether an earlier run did it.
    pub(super) fn was_done(&self, chunks: &[Range<u64>]) -> bool {
        self.was.has(chunks)
    }

    /// Begins a unit, the next in C order. Those that are passed over need nothing.
    pub(super) fn begin(&mut self, unit: &ChunkIndex) {
        self.begun.insert(unit.clone());
        self.last = Some(unit.clone());
    }

    pub(super) fn end(&mut self, unit: &ChunkIndex) {
        self.begun.remove(unit);
        self.beyond.insert(unit.clone());
        if let Some(first) = self.begun.first().or(self.last.as_ref()) {
            self.beyond = self.beyond.split_off(first);
        }
    }

    /// All that is done.
    pub(super) fn reached(&self) -> Reached {
        let Some(before) = self.begun.first().or(self.last.as_ref()) else { return self.was.clone() };
        let mut also = self.beyond.clone();
        if self.was.unit == self.unit {
            also.extend(self.was.also.range(before.clone()..).cloned());
        }
        Reached { unit: self.unit.clone(), before: before.clone(), also }
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
        /// Whenever a run is killed, the next one takes for done what was done, and loses at most what others were ahead of.
        #[test]
        fn nothing_is_taken_for_done_that_is_not(
            counts in proptest::collection::vec(1_u64..5, 0..3),
            steps in proptest::collection::vec((any::<bool>(), any::<proptest::sample::Index>()), 0..60),
            kills in proptest::collection::vec(0_usize..60, 0..3),
            other in any::<bool>(),
        ) {
            let mut done = BTreeSet::new();
            let mut was: Option<Reached> = None;
            let mut shape = vec![2; counts.len()];
            let order = all(&counts);
            let mut next = 0;
            let mut units = Units::new(None, &shape);
            let mut begun: Vec<ChunkIndex> = Vec::new();
            for (number, (begins, which)) in steps.iter().enumerate() {
                if kills.contains(&number) {
                    was = Some(units.reached());
                    let text = was.as_ref().unwrap().to_value();
                    prop_assert_eq!(&Reached::parse(&At::root(&text)).unwrap(), was.as_ref().unwrap());
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
                    // But the last one, which bounds the rest, all that is done is known to be.
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
}
