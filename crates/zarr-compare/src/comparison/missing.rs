//! Slabs without stored elements. There may be very many, so they are counted without visiting each.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use zarr_grid::ChunkIndex;
use zarr_scan::Slabs;

/// All slabs of an array except `met`.
#[derive(Debug)]
pub(super) struct Missing<'a> {
    slabs: &'a Slabs,
    /// Slabs with elements of stored chunks.
    met: &'a BTreeSet<ChunkIndex>,
    /// Shape of the array, which is not empty.
    shape: &'a [u64],
}

impl<'a> Missing<'a> {
    pub(super) fn new(slabs: &'a Slabs, met: &'a BTreeSet<ChunkIndex>, shape: &'a [u64]) -> Self {
        Self { slabs, met, shape }
    }

    /// Returns the number of elements of the missing slabs.
    pub(super) fn count(&self) -> u128 {
        let met = self.met.iter().map(|slab| zarr_grid::total_size(&self.slabs.region(slab).shape(), 1));
        zarr_grid::total_size(self.shape, 1).saturating_sub(met.fold(0, u128::saturating_add))
    }

    /// Returns the bounding box of the elements of the missing slabs, of which there is at least one.
    pub(super) fn bounds(&self) -> Vec<Range<u64>> {
        (0..self.shape.len()).map(|axis| self.range(axis)).collect()
    }

    fn range(&self, axis: usize) -> Range<u64> {
        let counts = self.slabs.counts();
        let others = counts.iter().enumerate().filter(|(other, _)| *other != axis);
        let across = others.fold(1_u128, |all, (_, &count)| all.saturating_mul(count.into()));
        let mut met: BTreeMap<u64, u128> = BTreeMap::new();
        for &at in self.met.iter().filter_map(|slab| slab.get(axis)) {
            *met.entry(at).or_default() += 1;
        }
        // At most as many positions are passed over as there are slabs with stored chunks.
        let is_missing = |at: &u64| met.get(at).is_none_or(|&count| count < across);
        let mut all = 0..counts.get(axis).copied().unwrap_or(0);
        let first = all.find(is_missing).unwrap_or_default();
        let last = all.rfind(is_missing).unwrap_or(first);
        let elements = |at: u64| {
            let mut slab = vec![0; counts.len()];
            slab.iter_mut().skip(axis).take(1).for_each(|index| *index = at);
            let range = self.slabs.region(&slab).axes().get(axis).copied();
            range.map_or(0..0, |range| range.start..range.start + range.len)
        };
        elements(first).start..elements(last).end
    }

    /// Returns the indices of at most `most` elements of missing slabs, the first in C order.
    pub(super) fn first(&self, most: usize) -> Vec<Vec<u64>> {
        let lengths = self.slabs.region(&vec![0; self.shape.len()]).shape();
        let slab_of = |index: &[u64]| index.iter().zip(&lengths).map(|(at, len)| at / (*len).max(1)).collect();
        let mut found = Vec::new();
        let mut index = vec![0; self.shape.len()];
        while found.len() < most {
            let slab: ChunkIndex = slab_of(&index);
            let is_missing = !self.met.contains(&slab);
            if is_missing {
                found.push(index.clone());
            }
            // Of the rows of other slabs nothing is looked at but where they end.
            let end = self.slabs.region(&slab).axes().last().map(|axis| axis.start + axis.len);
            if let (Some(last), Some(end)) = (index.last_mut(), end) {
                *last = if is_missing { *last + 1 } else { end };
            }
            if !carry(&mut index, self.shape) {
                break;
            }
        }
        found
    }
}

/// Carries `index` over to the next row if its row is complete. Returns false at the end of the array.
fn carry(index: &mut [u64], shape: &[u64]) -> bool {
    let mut axes = index.iter_mut().zip(shape).rev().peekable();
    let has_axes = axes.peek().is_some();
    while let Some((at, len)) = axes.next() {
        if *at < *len {
            return true;
        }
        *at = 0;
        match axes.peek_mut() {
            Some((before, _)) => **before += 1,
            None => return false,
        }
    }
    has_axes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use zarr_grid::{ChunkGrid, Region};

    proptest! {
        #[test]
        fn all_elements_but_those_of_some_slabs_are_found(
            axes in proptest::collection::vec((1_u64..9, 1_u64..4), 0..4),
            met in proptest::collection::vec(any::<proptest::sample::Index>(), 0..12),
            budget in 27_u64..60,
            most in 0_usize..40,
        ) {
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let parts: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
            let grid = ChunkGrid::regular(&shape, &parts).unwrap();
            let slabs = Slabs::plan(&grid, &parts, 1, budget).unwrap();
            let all: Vec<ChunkIndex> = slabs.all().collect();
            let met: BTreeSet<ChunkIndex> = met.iter().map(|one| one.get(&all).clone()).collect();
            let missing = Missing::new(&slabs, &met, &shape);

            let single = ChunkGrid::regular(&shape, &vec![1; shape.len()]).unwrap();
            let every = single.intersect(&Region::whole(&shape));
            let is_met = |index: &[u64]| met.iter().any(|slab| {
                let region = slabs.region(slab);
                region.axes().iter().zip(index).all(|(axis, at)| (axis.start..axis.start + axis.len).contains(at))
            });
            let expected: Vec<Vec<u64>> =
                every.iter().map(|one| one.index.to_vec()).filter(|index| !is_met(index)).collect();
            prop_assert_eq!(missing.count(), expected.len() as u128);
            prop_assert_eq!(&missing.first(most)[..], &expected[..most.min(expected.len())]);
            if !expected.is_empty() {
                let bound = |axis: usize| {
                    let at = || expected.iter().map(|index| index[axis]);
                    at().min().unwrap()..at().max().unwrap() + 1
                };
                prop_assert_eq!(missing.bounds(), (0..shape.len()).map(bound).collect::<Vec<_>>());
            }
        }
    }
}
