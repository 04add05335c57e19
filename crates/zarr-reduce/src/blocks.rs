//! Reduction of a box of elements: blocks of a source in memory become elements of a coarser level.

use crate::Method;
use crate::rows::{Reduce, greatest, least, nearest};
use std::cmp::Ordering;

/// Box of elements in memory, in C order.
pub(crate) struct Source<'a, T> {
    pub(crate) elements: &'a [T],
    pub(crate) shape: &'a [usize],
}

/// Part of a box in memory that takes reduced elements: all of the box from `origin` that the elements fill.
pub(crate) struct Target<'a, T> {
    pub(crate) elements: &'a mut [T],
    pub(crate) shape: &'a [usize],
    pub(crate) origin: &'a [usize],
}

/// Reduction of elements of type `T`: the function of a method, with its missing elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction<'a, T> {
    pub(crate) method: Method,
    /// Elements that stand for missing data, beside NaN; `None` if no element is left out. A block of missing elements becomes the first
    /// of them, or NaN if it has NaN alone.
    pub(crate) missing: Option<&'a [T]>,
}

/// Number of elements of a row that are reduced at once, which limits the memory for sums.
const TILE: usize = 1 << 16;

/// Rows and sums that a reduction uses again and again.
pub(crate) struct Scratch<T: Reduce> {
    sums: Vec<T::Sum>,
    counts: Vec<u32>,
    row: Vec<T>,
    block: Vec<T>,
}

impl<T: Reduce> Default for Scratch<T> {
    fn default() -> Self {
        Self { sums: Vec::new(), counts: Vec::new(), row: Vec::new(), block: Vec::new() }
    }
}

impl<T: Reduce> Reduction<'_, T> {
    /// Reduces blocks of `factors` elements of `from`, the last along each axis of the elements that are left, into `into`.
    pub(crate) fn reduce(
        &self,
        from: &Source<'_, T>,
        factors: &[usize],
        into: &mut Target<'_, T>,
        scratch: &mut Scratch<T>,
    ) {
        let Some((&width, outer)) = from.shape.split_last() else {
            // An array without dimensions has one element.
            into.elements.copy_from_slice(from.elements);
            return;
        };
        let factor = factors.last().copied().unwrap_or(1).max(1);
        if from.elements.is_empty() {
            return;
        }
        let counts: Vec<usize> =
            outer.iter().zip(factors).map(|(len, factor)| len.div_ceil((*factor).max(1))).collect();
        let mut rows = Vec::new();
        let mut at = vec![0; outer.len()];
        loop {
            rows_of(outer, factors, &at, &mut rows);
            let start = position(into.shape, into.origin, &at);
            let out = &mut into.elements[start..start + width.div_ceil(factor)];
            let row = |number: &usize| &from.elements[number * width..(number + 1) * width];
            if self.method == Method::Nearest {
                nearest(row(&centre_of(outer, factors, &at)), factor, out);
            } else {
                let tile = (TILE / factor).max(1);
                for (number, out) in out.chunks_mut(tile).enumerate() {
                    let range = number * tile * factor..((number + 1) * tile * factor).min(width);
                    self.row(rows.iter().map(|number| &row(number)[range.clone()]), factor, out, scratch);
                }
            }
            if !advance(&mut at, &counts) {
                return;
            }
        }
    }

    /// Reduces one row of blocks, whose elements are in `rows`.
    fn row<'r>(
        &self,
        rows: impl Iterator<Item = &'r [T]> + Clone,
        factor: usize,
        out: &mut [T],
        scratch: &mut Scratch<T>,
    ) {
        let count = rows.clone().count();
        let Some(width) = rows.clone().next().map(<[T]>::len) else { return };
        match (self.method, self.missing) {
            (Method::Mean, None) => {
                scratch.sums.clear();
                scratch.sums.resize(width, T::Sum::default());
                rows.for_each(|row| T::add_row(&mut scratch.sums, row));
                T::means(&scratch.sums, u32::try_from(count).unwrap_or(u32::MAX), factor, out);
            }
            (Method::Min | Method::Max, None) => {
                let mut rows = rows;
                scratch.row.clear();
                scratch.row.extend_from_slice(rows.next().unwrap_or_default());
                match self.method {
                    Method::Min => {
                        rows.for_each(|row| T::keep_least(&mut scratch.row, row));
                        least(&scratch.row, factor, out);
                    }
                    _ => {
                        rows.for_each(|row| T::keep_greatest(&mut scratch.row, row));
                        greatest(&scratch.row, factor, out);
                    }
                }
            }
            (Method::Mean, Some(_)) => self.present_means(rows, (width, factor), out, scratch),
            _ => self.blocks(rows, (width, factor), out, scratch),
        }
    }

    /// Sets `out` to the means of the elements of each block that are not missing.
    fn present_means<'r>(
        &self,
        rows: impl Iterator<Item = &'r [T]> + Clone,
        (width, factor): (usize, usize),
        out: &mut [T],
        scratch: &mut Scratch<T>,
    ) {
        scratch.sums.clear();
        scratch.sums.resize(width, T::Sum::default());
        scratch.counts.clear();
        scratch.counts.resize(width, 0);
        for row in rows.clone() {
            for ((sum, count), &value) in scratch.sums.iter_mut().zip(&mut scratch.counts).zip(row) {
                if !self.is_missing(value) {
                    (*sum, *count) = (T::add(*sum, value), *count + 1);
                }
            }
        }
        let blocks = scratch.sums.chunks(factor).zip(scratch.counts.chunks(factor));
        for (number, ((sums, counts), out)) in blocks.zip(out).enumerate() {
            *out = match counts.iter().sum::<u32>() {
                0 => {
                    let range = number * factor..((number + 1) * factor).min(width);
                    self.blank(rows.clone().flat_map(|row| &row[range.clone()]))
                }
                count => T::mean(sums.iter().fold(T::Sum::default(), |sum, &other| T::join(sum, other)), count),
            };
        }
    }

    /// Sets `out` block by block, from all elements of a block.
    fn blocks<'r>(
        &self,
        rows: impl Iterator<Item = &'r [T]> + Clone,
        (width, factor): (usize, usize),
        out: &mut [T],
        scratch: &mut Scratch<T>,
    ) {
        let block = &mut scratch.block;
        for (number, out) in out.iter_mut().enumerate() {
            let range = number * factor..((number + 1) * factor).min(width);
            block.clear();
            rows.clone().for_each(|row| block.extend_from_slice(row.get(range.clone()).unwrap_or_default()));
            if self.missing.is_some() {
                if block.iter().all(|&value| self.is_missing(value)) {
                    *out = self.blank(block.iter());
                    continue;
                }
                block.retain(|&value| !self.is_missing(value));
            }
            if let Some(&nan) = block.iter().find(|value| value.is_nan()) {
                *out = nan;
                continue;
            }
            *out = match self.method {
                Method::Median => median(block),
                Method::Mode => mode(block),
                Method::Min => extreme(block, Ordering::Less),
                _ => extreme(block, Ordering::Greater),
            };
        }
    }

    fn is_missing(&self, value: T) -> bool {
        value.is_nan() || self.missing.is_some_and(|missing| missing.contains(&value))
    }

    /// Returns the element that a block becomes whose elements are all missing.
    fn blank<'e>(&self, mut block: impl Iterator<Item = &'e T>) -> T
    where
        T: 'e,
    {
        let first = block.next().copied().unwrap_or_else(T::zeroed);
        let is_nan = first.is_nan() && block.all(|value| value.is_nan());
        match self.missing.and_then(|missing| missing.first()) {
            Some(&missing) if !is_nan => missing,
            _ => first,
        }
    }
}

/// Median of at least one element; of two in the middle, their mean.
fn median<T: Reduce>(block: &mut [T]) -> T {
    let middle = block.len() / 2;
    let (_, &mut upper, _) = block.select_nth_unstable_by(middle, |a, b| a.order(*b));
    if !block.len().is_multiple_of(2) {
        return upper;
    }
    let below = extreme(&block[..middle], Ordering::Greater);
    T::mean(T::add(T::add(T::Sum::default(), below), upper), 2)
}

/// Most frequent element; of several, the least.
fn mode<T: Reduce>(block: &mut [T]) -> T {
    block.sort_unstable_by(|a, b| a.order(*b));
    let mut best = (0, block[0]);
    for run in block.chunk_by(|a, b| a == b) {
        if run.len() > best.0 {
            best = (run.len(), run[0]);
        }
    }
    best.1
}

/// Element of a block that is before (`Less`) or behind (`Greater`) all others; the first of equal ones.
fn extreme<T: Reduce>(block: &[T], wanted: Ordering) -> T {
    block.iter().skip(1).fold(block[0], |kept, &value| if value.order(kept) == wanted { value } else { kept })
}

/// Numbers of the rows of the blocks at `at`, in a box whose axes but the last are `outer`.
fn rows_of(outer: &[usize], factors: &[usize], at: &[usize], rows: &mut Vec<usize>) {
    rows.clear();
    rows.push(0);
    for ((&len, &factor), &at) in outer.iter().zip(factors).zip(at) {
        let range = at * factor.max(1)..((at + 1) * factor.max(1)).min(len);
        let longer = rows.iter().flat_map(|row| range.clone().map(move |index| row * len + index)).collect();
        *rows = longer;
    }
}

/// Number of the row at the centre of the blocks at `at`, as [`rows_of`] numbers them; of two at the centre the first.
fn centre_of(outer: &[usize], factors: &[usize], at: &[usize]) -> usize {
    outer.iter().zip(factors).zip(at).fold(0, |row, ((&len, &factor), &at)| {
        let start = at * factor.max(1);
        let end = (start + factor.max(1)).min(len);
        row * len + start + (end - start).saturating_sub(1) / 2
    })
}

/// Position in a box of `shape` of the first element of the row `at` behind `origin`.
fn position(shape: &[usize], origin: &[usize], at: &[usize]) -> usize {
    let index = |axis: usize| origin[axis] + at.get(axis).copied().unwrap_or(0);
    shape.iter().enumerate().fold(0, |position, (axis, len)| position * len + index(axis))
}

fn advance(at: &mut [usize], counts: &[usize]) -> bool {
    for (index, count) in at.iter_mut().zip(counts).rev() {
        *index += 1;
        if *index < *count {
            return true;
        }
        *index = 0;
    }
    false
}
