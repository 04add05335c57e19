//! Totals: the merged statistics of all parts.

use crate::distribution::Distribution;
use crate::keyed_number::Keys;
use crate::moments::Moments;
use crate::part_statistics::{PartStatistics, RowTotals};
use crate::scan::wider;
use crate::words::Words;
use zarr_grid::Region;

/// Key of the least or the greatest value, and the index of the first such value.
#[derive(Clone, Debug)]
pub(crate) struct Extreme {
    pub(crate) key: u64,
    pub(crate) index: Vec<u64>,
}

/// Statistics of the parts that were merged so far.
#[derive(Debug)]
pub(crate) struct Totals {
    keys: Keys,
    pub(crate) moments: Moments,
    pub(crate) complex: Option<(Moments, Moments)>,
    pub(crate) nan: u128,
    pub(crate) infinite: u128,
    pub(crate) fill: u128,
    pub(crate) least: Option<Extreme>,
    pub(crate) greatest: Option<Extreme>,
    /// Keys of the least and the greatest finite value.
    pub(crate) finite: Option<[u64; 2]>,
    pub(crate) distribution: Distribution,
    pub(crate) words: Words,
    pub(crate) rows: Vec<RowTotals>,
}

impl Totals {
    /// Makes empty totals with `rows` rows, and at most `most` keys that are stored one by one.
    pub(crate) fn new(keys: Keys, rows: usize, most: usize, memory: u64) -> Self {
        Self {
            keys,
            moments: Moments::default(),
            complex: None,
            nan: 0,
            infinite: 0,
            fill: 0,
            least: None,
            greatest: None,
            finite: None,
            distribution: Distribution::new(keys, most),
            words: Words::new(memory),
            rows: vec![RowTotals::default(); rows],
        }
    }

    /// Merges the statistics of a part, the elements of `region`. Each element has `values` values, and the rows of the part begin with row
    /// `first_row`.
    pub(crate) fn merge(&mut self, part: PartStatistics, region: &Region, values: u64, first_row: usize) {
        let PartStatistics { scanned, complex, words, rows } = part;
        self.moments.merge(&scanned.moments);
        self.merge_complex(complex.as_ref());
        self.nan = self.nan.saturating_add(scanned.nan);
        self.infinite = self.infinite.saturating_add(scanned.infinite);
        self.fill = self.fill.saturating_add(scanned.fill);
        let extreme = |(key, at)| Extreme { key, index: index_of(region, at / values.max(1)) };
        self.extremes(scanned.least.map(extreme), scanned.greatest.map(extreme));
        self.finite = self.finite.into_iter().chain(scanned.finite).reduce(wider);
        self.distribution.merge(scanned.keys);
        if let Some(words) = words {
            self.words.merge(words);
        }
        for (number, row) in rows.iter().enumerate() {
            if let Some(all) = self.rows.get_mut(first_row + number) {
                all.merge(row);
            }
        }
    }

    /// Adds `count` elements that all have the values of `part`, the statistics of one element. The first of them is at `index`. With these
    /// elements, each row has `per_row` values.
    pub(crate) fn repeat(&mut self, part: &PartStatistics, index: &[u64], count: u128, per_row: u128) {
        let PartStatistics { scanned, complex, words, .. } = part;
        let values = scanned.moments.count + scanned.nan;
        self.nan = self.nan.saturating_add(scanned.nan.saturating_mul(count));
        self.infinite = self.infinite.saturating_add(scanned.infinite.saturating_mul(count));
        self.fill = self.fill.saturating_add(scanned.fill.saturating_mul(count));
        let common = words.as_ref().map(|words| words.most_common(usize::MAX).0);
        common.iter().flatten().for_each(|(text, times)| self.words.add(text, times.saturating_mul(count)));
        self.moments.merge(&scanned.moments.times(count));
        let of_parts =
            |times: u128| complex.as_ref().map(|(real, imaginary)| (real.times(times), imaginary.times(times)));
        self.merge_complex(of_parts(count).as_ref());
        let extreme = |(key, _)| Extreme { key, index: index.to_vec() };
        self.extremes(scanned.least.map(extreme), scanned.greatest.map(extreme));
        self.finite = self.finite.into_iter().chain(scanned.finite).reduce(wider);
        scanned.keys.kept().iter().for_each(|&key| self.distribution.repeat(key, count));
        for row in &mut self.rows {
            let seen = row.moments.count.saturating_add(row.nan);
            let missing = per_row.saturating_sub(seen) / values.max(1);
            if missing == 0 {
                continue;
            }
            let (moments, imaginary) = match of_parts(missing) {
                Some((real, imaginary)) => (real, Some(Box::new(imaginary))),
                None => (scanned.moments.times(missing), None),
            };
            let nan = scanned.nan.saturating_mul(missing);
            let key = |found: Option<(u64, u64)>| found.map(|(key, _)| key);
            row.merge(&RowTotals {
                moments,
                imaginary,
                nan,
                least: key(scanned.least),
                greatest: key(scanned.greatest),
            });
        }
    }

    fn merge_complex(&mut self, part: Option<&(Moments, Moments)>) {
        if let Some((real, imaginary)) = part {
            let all = self.complex.get_or_insert_default();
            all.0.merge(real);
            all.1.merge(imaginary);
        }
    }

    /// Merges the least and the greatest value. Among equal values, the first in C order counts.
    fn extremes(&mut self, least: Option<Extreme>, greatest: Option<Extreme>) {
        let is_less = |new: &Extreme, old: &Extreme| (new.key, &new.index) < (old.key, &old.index);
        if let Some(least) = least.filter(|least| self.least.as_ref().is_none_or(|old| is_less(least, old))) {
            self.least = Some(least);
        }
        let is_more = |new: &Extreme, old: &Extreme| new.key > old.key || (new.key == old.key && new.index < old.index);
        if let Some(greatest) = greatest.filter(|new| self.greatest.as_ref().is_none_or(|old| is_more(new, old))) {
            self.greatest = Some(greatest);
        }
    }

    pub(crate) fn keys(&self) -> Keys {
        self.keys
    }
}

/// Index in the array of the element at position `at` of a region, in C order.
fn index_of(region: &Region, mut at: u64) -> Vec<u64> {
    let mut index = vec![0; region.rank()];
    for (index, range) in index.iter_mut().zip(region.axes()).rev() {
        let len = range.len.max(1);
        *index = range.start + at % len * range.step;
        at /= len;
    }
    index
}
