//! Boxes that a table is read in: how large they are, and one after another in C order.

use std::ops::Range;

/// Chunks along a dimension, in selected indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunks {
    /// Number of indices of a chunk.
    pub(crate) len: u64,
    /// Number of indices of the first chunk.
    pub(crate) first: u64,
}

/// Rows that a box may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// Number that is enough for threads to work beside each other.
    pub(crate) wanted: u64,
    /// Number that memory has room for.
    pub(crate) most: u64,
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
    /// Makes boxes of whole chunks where memory has room for them. With `is_ordered`, rows of boxes that follow each other are in C order of
    /// the table: a box has one index of the outer dimensions, a range of one, and all of the inner ones.
    pub(crate) fn new(shape: &[u64], chunks: &[Chunks], rows: Rows, is_ordered: bool) -> Self {
        let lens = if is_ordered { ordered(shape, chunks, rows) } else { blocks(shape, chunks, rows) };
        let is_empty = shape.contains(&0);
        let lens = lens.iter().zip(shape.iter().zip(chunks)).map(|(&len, (&whole, chunk))| {
            match len.checked_rem(chunk.len) {
                // The first box ends where a chunk does.
                Some(0) if len < whole => (len - chunk.len + chunk.first.clamp(1, chunk.len), len),
                _ => (len, len),
            }
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

fn ordered(shape: &[u64], chunks: &[Chunks], rows: Rows) -> Vec<u64> {
    let mut lens = vec![1; shape.len()];
    let mut inner = 1_u64;
    for (number, (&len, chunk)) in shape.iter().zip(chunks).enumerate().rev() {
        // Number of indices for which memory has room, and of those that are wanted.
        let (most, wanted) = (rows.most / inner.max(1), rows.wanted / inner.max(1));
        let aligned = (wanted / chunk.len).max(1).saturating_mul(chunk.len);
        let at_once = match () {
            () if len <= most.min(wanted.max(chunk.len)) => len,
            () if aligned <= most => aligned,
            () if most >= chunk.len => most - most % chunk.len,
            () => most.max(1),
        };
        if let Some(place) = lens.get_mut(number) {
            *place = at_once.min(len).max(1);
        }
        if at_once < len {
            break;
        }
        inner = inner.saturating_mul(len);
    }
    lens
}

fn blocks(shape: &[u64], chunks: &[Chunks], rows: Rows) -> Vec<u64> {
    let mut lens: Vec<u64> = shape.iter().zip(chunks).map(|(&len, chunk)| chunk.len.min(len).max(1)).collect();
    let size = |lens: &[u64]| lens.iter().fold(1_u64, |size, &len| size.saturating_mul(len));
    // A chunk that is too large is decoded several times.
    for number in 0..lens.len() {
        while size(&lens) > rows.most.max(1) && lens.get(number).is_some_and(|&len| len > 1) {
            lens.iter_mut().skip(number).take(1).for_each(|len| *len = len.div_ceil(2));
        }
    }
    for number in (0..lens.len()).rev() {
        let (Some(&len), Some(&whole)) = (lens.get(number), shape.get(number)) else { break };
        let times = (rows.wanted / size(&lens).max(1)).min(whole.div_ceil(len));
        if times <= 1 && len < whole {
            break;
        }
        let grown = len.saturating_mul(times.max(1)).min(whole).max(1);
        lens.iter_mut().skip(number).take(1).for_each(|len| *len = grown);
        if grown < whole {
            break;
        }
    }
    lens
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn boxes(shape: &[u64], chunk: &[u64], wanted: u64, most: u64, is_ordered: bool) -> Vec<Vec<Range<u64>>> {
        let chunks: Vec<Chunks> = chunk.iter().map(|&len| Chunks { len, first: len }).collect();
        Boxes::new(shape, &chunks, Rows { wanted, most }, is_ordered).collect()
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
            let chunks: Vec<Chunks> = axes.iter().map(|axis| Chunks { len: axis.1, first: axis.2.min(axis.1) }).collect();
            let most = wanted + more;
            let found: Vec<_> = Boxes::new(&shape, &chunks, Rows { wanted, most }, is_ordered).collect();
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
        let chunks = [Chunks { len: 10, first: 4 }];
        let found: Vec<_> = Boxes::new(&[25], &chunks, Rows { wanted: 10, most: 10 }, true).collect();
        let ends: Vec<(u64, u64)> = found.iter().map(|ranges| (ranges[0].start, ranges[0].end)).collect();
        assert_eq!(ends, [(0, 4), (4, 14), (14, 24), (24, 25)]);
    }
}
