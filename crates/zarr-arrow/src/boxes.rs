//! Boxes that a table is read in: how large they are, and one after another in C order.

use crate::sizes::Sizes;
use std::ops::Range;
use zarr_grid::lcm;

/// Greatest number of bounds of chunks that are compared to find one that two variables have.
const MOST_TRIED: u64 = 10_000;

/// Chunks along a dimension, in selected indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunks {
    /// Number of indices of a chunk.
    pub(crate) len: u64,
    /// Number of indices of the first chunk.
    pub(crate) first: u64,
}

impl Chunks {
    /// Chunks of one index.
    const ONE: Self = Self { len: 1, first: 1 };

    /// Returns the smallest chunks whose bounds are bounds of both; `None` if there are none.
    fn with(self, other: Self) -> Option<Self> {
        let (long, short) = if self.len < other.len { (other, self) } else { (self, other) };
        let len = lcm(long.len, short.len)?;
        let mut bounds = (0..len / long.len).take(MOST_TRIED as usize).map(|number| long.first + number * long.len);
        let first = bounds.find(|bound| bound % short.len == short.first % short.len)?;
        Some(Self { len, first })
    }
}

/// Chunks along a dimension in which a table may be read, the best first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Chunks whose bounds are bounds of all variables.
    common: Option<Chunks>,
    /// Longest chunks of a variable.
    longest: Chunks,
}

impl Bounds {
    /// Makes the bounds of the chunks of all variables along a dimension.
    pub(crate) fn new(chunks: &[Chunks]) -> Self {
        let longest = chunks.iter().copied().max_by_key(|chunks| chunks.len).unwrap_or(Chunks::ONE);
        Self { common: chunks.iter().try_fold(Chunks::ONE, |common, &chunks| common.with(chunks)), longest }
    }

    /// Returns the best chunks of at most `most` indices, otherwise the longest of a variable.
    pub(crate) fn within(self, most: u64) -> Chunks {
        self.common.filter(|common| common.len <= most).unwrap_or(self.longest)
    }
}

/// Divides a table into at most `most` boxes whose bounds are those of `chunks`, along the outermost dimension that has enough of them.
pub(crate) fn parts(shape: &[u64], chunks: &[Chunks], most: usize) -> Vec<Vec<Range<u64>>> {
    let whole: Vec<Range<u64>> = shape.iter().map(|&len| 0..len).collect();
    let most = most.max(1) as u64;
    let count = |number: &usize| match (shape.get(*number), chunks.get(*number)) {
        (Some(&len), Some(chunk)) => 1 + len.saturating_sub(chunk.first).div_ceil(chunk.len),
        _ => 1,
    };
    let all = || 0..shape.len();
    // The outermost one of dimensions that have as many chunks.
    let divided = all().find(|number| count(number) >= most).or_else(|| all().rev().max_by_key(count));
    let Some((number, chunk)) = divided.and_then(|number| Some((number, chunks.get(number)?))) else {
        return vec![whole];
    };
    let (count, len) = (count(&number), shape.get(number).copied().unwrap_or(0));
    let parts = count.min(most);
    let start = |part: u64| match u128::from(part) * u128::from(count) / u128::from(parts) {
        0 => 0,
        _ if part == parts => len,
        // Less than the number of chunks.
        before => chunk.first + (before as u64 - 1) * chunk.len,
    };
    let part = |part: u64| {
        let ranges = whole.iter().enumerate();
        let own =
            |(at, range): (usize, &Range<u64>)| if at == number { start(part)..start(part + 1) } else { range.clone() };
        ranges.map(own).collect()
    };
    (0..parts).map(part).collect()
}

/// Boxes of a table, in C order: ranges of indices of each dimension.
#[derive(Clone, Debug)]
pub(crate) struct Boxes {
    shape: Vec<u64>,
    /// Number of indices of a box along each dimension: of the first one, and of the others.
    lens: Vec<(u64, u64)>,
    /// Start of the next box; `None` after the last one.
    next: Option<Vec<u64>>,
}

impl Boxes {
    /// Makes boxes of whole chunks where memory has room for them. With `is_ordered`, rows of boxes that follow each other are in C order
    /// of the table: a box has one index of the outer dimensions, a range of one, and all of the inner ones.
    pub(crate) fn new(shape: &[u64], bounds: &[Bounds], sizes: &Sizes, is_ordered: bool) -> Self {
        let lens = if is_ordered { ordered(shape, bounds, sizes) } else { blocks(shape, bounds, sizes) };
        let is_empty = shape.contains(&0);
        let lens = lens.iter().zip(shape).map(|(&(len, chunk), &whole)| match len.checked_rem(chunk.len) {
            // The first box ends where a chunk does.
            Some(0) if len < whole => (len - chunk.len + chunk.first.clamp(1, chunk.len), len),
            _ => (len, len),
        });
        Self { shape: shape.to_vec(), lens: lens.collect(), next: (!is_empty).then(|| vec![0; shape.len()]) }
    }

    /// Makes no boxes.
    pub(crate) fn none() -> Self {
        Self { shape: Vec::new(), lens: Vec::new(), next: None }
    }
}

impl Iterator for Boxes {
    type Item = Vec<Range<u64>>;

    fn next(&mut self) -> Option<Vec<Range<u64>>> {
        let starts = self.next.take()?;
        let axes = starts.iter().zip(self.shape.iter().zip(&self.lens));
        let range = |(&start, (&len, &(first, others))): (&u64, (&u64, &(u64, u64)))| {
            start..start.saturating_add(if start == 0 { first } else { others }).min(len)
        };
        let found: Vec<Range<u64>> = axes.map(range).collect();
        let mut next = starts;
        for (start, (range, &len)) in next.iter_mut().zip(found.iter().zip(&self.shape)).rev() {
            if range.end < len {
                *start = range.end;
                self.next = Some(next);
                break;
            }
            *start = 0;
        }
        Some(found)
    }
}

/// Returns the number of indices of a box along each dimension, with the chunks whose bounds it has, so that rows of boxes that follow each
/// other are in C order of the table.
fn ordered(shape: &[u64], bounds: &[Bounds], sizes: &Sizes) -> Vec<(u64, Chunks)> {
    let mut lens = vec![1; shape.len()];
    let mut chunks = vec![Chunks::ONE; shape.len()];
    for (number, (&len, bounds)) in shape.iter().zip(bounds).enumerate().rev() {
        let (wanted, most) = sizes.along(number, &lens);
        let chunk = bounds.within(most);
        let aligned = (wanted / chunk.len).max(1).saturating_mul(chunk.len);
        let at_once = match () {
            () if len <= most.min(wanted.max(chunk.len)) => len,
            () if aligned <= most => aligned,
            () if most >= chunk.len => most - most % chunk.len,
            () => most.max(1),
        };
        if let (Some(place), Some(chosen)) = (lens.get_mut(number), chunks.get_mut(number)) {
            (*place, *chosen) = (at_once.min(len).max(1), chunk);
        }
        if at_once < len {
            break;
        }
    }
    lens.into_iter().zip(chunks).collect()
}

/// Returns the number of indices of a box along each dimension, with the chunks whose bounds it has: a block of chunks along all dimensions,
/// which grows along the inner ones first.
fn blocks(shape: &[u64], bounds: &[Bounds], sizes: &Sizes) -> Vec<(u64, Chunks)> {
    let lens_of = |chunks: &[Chunks]| -> Vec<u64> {
        shape.iter().zip(chunks).map(|(&len, chunk)| chunk.len.min(len).max(1)).collect()
    };
    let mut chunks: Vec<Chunks> = bounds.iter().map(|bounds| bounds.within(u64::MAX)).collect();
    let mut lens = lens_of(&chunks);
    if !sizes.fits(&lens) {
        chunks = bounds.iter().map(|bounds| bounds.longest).collect();
        lens = lens_of(&chunks);
    }
    // A chunk that is too large is decoded several times.
    for number in 0..lens.len() {
        while !sizes.fits(&lens)
            && let Some(len) = lens.get_mut(number).filter(|len| **len > 1)
        {
            *len = len.div_ceil(2);
        }
    }
    for number in (0..lens.len()).rev() {
        let (Some(&len), Some(&whole)) = (lens.get(number), shape.get(number)) else { break };
        let (wanted, most) = sizes.along(number, &lens);
        let times = (wanted.min(most) / len).min(whole.div_ceil(len));
        if times <= 1 && len < whole {
            break;
        }
        let grown = len.saturating_mul(times.max(1)).min(whole).max(1);
        if let Some(len) = lens.get_mut(number) {
            *len = grown;
        }
        if grown < whole {
            break;
        }
    }
    lens.into_iter().zip(chunks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn boxes(shape: &[u64], chunk: &[u64], wanted: u64, most: u64, is_ordered: bool) -> Vec<Vec<Range<u64>>> {
        let bounds: Vec<Bounds> = chunk.iter().map(|&len| Bounds::new(&[Chunks { len, first: len }])).collect();
        Boxes::new(shape, &bounds, &of_rows(shape.len(), wanted, most), is_ordered).collect()
    }

    /// Sizes of a table with a column of one byte in each row.
    fn of_rows(dimensions: usize, wanted: u64, most: u64) -> Sizes {
        Sizes { columns: vec![((0..dimensions).collect(), 1)], wanted, most, wanted_rows: 1 }
    }

    fn rows(found: &[Vec<Range<u64>>]) -> Vec<Vec<u64>> {
        let mut rows = Vec::new();
        for ranges in found {
            let mut inside = vec![Vec::new()];
            for range in ranges {
                let longer = |row: &Vec<u64>| {
                    let row = row.clone();
                    range.clone().map(move |index| [row.clone(), vec![index]].concat())
                };
                inside = inside.iter().flat_map(longer).collect();
            }
            rows.extend(inside);
        }
        rows
    }

    proptest! {
        #[test]
        fn each_row_once_and_in_order(
            axes in prop::collection::vec((0_u64..6, 1_u64..5, 1_u64..5), 0..4),
            wanted in 1_u64..40,
            more in 0_u64..40,
            is_ordered in any::<bool>(),
        ) {
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let chunks = axes.iter().map(|axis| Chunks { len: axis.1, first: axis.2.min(axis.1) });
            let bounds: Vec<Bounds> = chunks.map(|chunks| Bounds::new(&[chunks])).collect();
            let most = wanted + more;
            let sizes = of_rows(shape.len(), wanted, most);
            let found: Vec<_> = Boxes::new(&shape, &bounds, &sizes, is_ordered).collect();
            let size = |ranges: &Vec<Range<u64>>| ranges.iter().map(|range| range.end - range.start).product::<u64>();
            prop_assert!(found.iter().all(|ranges| size(ranges) <= most));
            let mut rows = rows(&found);
            let model = rows_of(&shape);
            if !is_ordered {
                rows.sort();
            }
            prop_assert_eq!(rows, model);
        }
    }

    proptest! {
        #[test]
        fn parts_have_each_row_once_and_whole_chunks(
            axes in prop::collection::vec((0_u64..9, 1_u64..5, 1_u64..5), 0..4),
            most in 0_usize..12,
        ) {
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let chunks: Vec<Chunks> = axes.iter().map(|axis| Chunks { len: axis.1, first: axis.2.min(axis.1) }).collect();
            let found = parts(&shape, &chunks, most);
            prop_assert!((1..=most.max(1)).contains(&found.len()));
            for (at, range) in found.iter().flat_map(|ranges| ranges.iter().enumerate()) {
                let chunk = chunks[at];
                let is_bound = |index: u64| index == 0 || index == shape[at] || index % chunk.len == chunk.first % chunk.len;
                prop_assert!(is_bound(range.start) && is_bound(range.end));
                prop_assert!(range.start < range.end || shape[at] == 0);
            }
            let mut rows = rows(&found);
            rows.sort();
            prop_assert_eq!(rows, rows_of(&shape));
        }
    }

    #[test]
    fn parts_divide_the_outermost_dimension_that_has_enough_chunks() {
        let chunks = [Chunks { len: 10, first: 10 }, Chunks { len: 5, first: 2 }, Chunks::ONE];
        assert_eq!(
            parts(&[20, 12, 30], &chunks, 3),
            [[0..20, 0..2, 0..30], [0..20, 2..7, 0..30], [0..20, 7..12, 0..30]]
        );
        assert_eq!(parts(&[20, 12, 2], &chunks, 9).len(), 3);
        assert_eq!(parts(&[20, 12, 2], &chunks, 2), [[0..10, 0..12, 0..2], [10..20, 0..12, 0..2]]);
    }

    fn rows_of(shape: &[u64]) -> Vec<Vec<u64>> {
        rows(&[shape.iter().map(|&len| 0..len).collect()])
    }

    #[test]
    fn whole_chunks_are_read_at_once() {
        // Slabs of 10 indices are chunks; 20 fit.
        assert_eq!(boxes(&[40, 6, 5], &[10, 3, 5], 700, 1_000, true)[0], [0..20, 0..6, 0..5]);
        // One chunk of 300 elements is more than is wanted.
        assert_eq!(boxes(&[40, 6, 5], &[10, 3, 5], 100, 1_000, true)[0], [0..10, 0..6, 0..5]);
        // Memory has room for one index of the first dimension and a part of the second one.
        assert_eq!(boxes(&[40, 60, 5], &[10, 3, 5], 100, 200, true)[0], [0..1, 0..18, 0..5]);
        // Without order each chunk is read once.
        assert_eq!(boxes(&[40, 60, 5], &[10, 3, 5], 100, 200, false)[0], [0..10, 0..3, 0..5]);
        assert_eq!(boxes(&[40, 60, 5], &[10, 3, 5], 700, 1_000, false)[0], [0..10, 0..12, 0..5]);
        let bounds = [Bounds::new(&[Chunks { len: 10, first: 4 }])];
        let found: Vec<_> = Boxes::new(&[25], &bounds, &of_rows(1, 10, 10), true).collect();
        let ends: Vec<(u64, u64)> = found.iter().map(|ranges| (ranges[0].start, ranges[0].end)).collect();
        assert_eq!(ends, [(0, 4), (4, 14), (14, 24), (24, 25)]);
    }

    proptest! {
        #[test]
        fn columns_without_some_dimensions_fit_the_memory(
            axes in prop::collection::vec((1_u64..9, 1_u64..5), 1..5),
            columns in prop::collection::vec((any::<u8>(), 1_u64..9), 1..5),
            (wanted, most) in (1_u64..200, 40_u64..400),
            is_ordered in any::<bool>(),
        ) {
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let bounds: Vec<_> = axes.iter().map(|axis| Bounds::new(&[Chunks { len: axis.1, first: axis.1 }])).collect();
            let dimensions = |mask: u8| (0..axes.len()).filter(|number| mask >> number & 1 == 1).collect();
            let columns = columns.iter().map(|(mask, bytes)| (dimensions(*mask), *bytes)).collect();
            let sizes = Sizes { columns, wanted: wanted.min(most), most, wanted_rows: 1 };
            for ranges in Boxes::new(&shape, &bounds, &sizes, is_ordered) {
                let lens: Vec<u64> = ranges.iter().map(|range| range.end - range.start).collect();
                prop_assert!(sizes.fits(&lens), "{lens:?}");
            }
        }

        #[test]
        fn common_bounds_are_bounds_of_both(one in (1_u64..9, 1_u64..9), other in (1_u64..9, 1_u64..9)) {
            let chunks = |(len, first): (u64, u64)| Chunks { len, first: first.min(len) };
            let bounds = |chunks: Chunks| (0..300).map(move |number| chunks.first + number * chunks.len);
            let (one, other) = (chunks(one), chunks(other));
            let expected: Vec<u64> = bounds(one).filter(|bound| bounds(other).any(|it| it == *bound)).take(3).collect();
            let found = one.with(other).map_or(Vec::new(), |both| bounds(both).take(3).collect());
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn bounds_of_an_extra_dimension_keep_those_of_chunks() {
        // tas(time, lat, lon) in chunks of 100 times, and time_bnds(time, bnds).
        let columns = vec![(vec![0, 1, 2], 4), (vec![0, 3], 8)];
        let sizes = Sizes { columns, wanted: 1_000, most: 100_000, wanted_rows: 1 };
        let bounds = [100, 6, 5, 1].map(|len| Bounds::new(&[Chunks { len, first: len }]));
        let first = Boxes::new(&[400, 12, 10, 2], &bounds, &sizes, true).next();
        assert_eq!(first, Some(vec![0..100, 0..12, 0..10, 0..2]));
    }

    #[test]
    fn chunks_of_two_lengths_end_together() {
        let chunks = |len, first| Chunks { len, first };
        let sizes = of_rows(1, 1, 10);
        let ends = |one, other| {
            let boxes = Boxes::new(&[20], &[Bounds::new(&[one, other])], &sizes, false);
            boxes.take(2).map(|ranges| ranges[0].end).collect::<Vec<_>>()
        };
        assert_eq!(ends(chunks(3, 3), chunks(2, 2)), [6, 12]);
        assert_eq!(ends(chunks(3, 1), chunks(2, 2)), [4, 10]);
        // 12 do not fit.
        assert_eq!(ends(chunks(4, 4), chunks(3, 3)), [4, 8]);
    }
}
