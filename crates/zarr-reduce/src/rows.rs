//! Reduction of blocks of elements to one element each, row by row: sums and means, least and greatest elements.
//!
//! A block has `rows` rows of `factor` elements; the last block of a row may have fewer. The rows of blocks are first combined with one
//! another, element by element, then the elements of each block within the combined row. The loops run over whole rows, so that the
//! compiler makes vector code of them.

mod float;
mod half;
mod integer;
#[cfg(test)]
mod tests;

use bytemuck::Pod;
pub(crate) use half::Half;
use std::cmp::Ordering;

/// Type of elements that blocks can be reduced to.
pub(crate) trait Reduce: Pod + PartialEq + Send + Sync {
    /// Type of sums of up to [`MOST_ELEMENTS`](crate::MOST_ELEMENTS) elements: exact for integers, binary64 for floats.
    type Sum: Copy + Default + Send;

    /// Adds each element of `row` to the sum at the same position. The shorter slice decides how many.
    fn add_row(sums: &mut [Self::Sum], row: &[Self]);

    /// Sets each element of `out` to the mean of its block: `factor` successive sums of `rows` elements each, the last block with those
    /// that are left. Means of integers are rounded, halves to the even neighbour.
    ///
    /// # Panics
    /// If `factor` is 0.
    fn means(sums: &[Self::Sum], rows: u32, factor: usize, out: &mut [Self]);

    /// Returns `sum` with `value` added.
    fn add(sum: Self::Sum, value: Self) -> Self::Sum;

    /// Returns the sum of two sums.
    fn join(sum: Self::Sum, other: Self::Sum) -> Self::Sum;

    /// Returns the mean of `count` elements with this sum, as [`means`](Self::means) rounds it; `count` is at least 1.
    fn mean(sum: Self::Sum, count: u32) -> Self;

    /// Replaces each element of `kept` by the lesser of it and the element of `row` at the same position. NaN is kept and taken over.
    fn keep_least(kept: &mut [Self], row: &[Self]);

    /// Replaces each element of `kept` by the greater of it and the element of `row` at the same position. NaN is kept and taken over.
    fn keep_greatest(kept: &mut [Self], row: &[Self]);

    /// Returns whether the element is NaN.
    fn is_nan(self) -> bool;

    /// Compares two elements that are not NaN.
    fn order(self, other: Self) -> Ordering;
}

/// Sets each element of `out` to the least element of its block: `factor` successive elements of `row`, the last block with those that are
/// left. NaN is taken over.
///
/// # Panics
/// If `factor` is 0.
pub(crate) fn least<T: Reduce>(row: &[T], factor: usize, out: &mut [T]) {
    fold(row, factor, out, T::keep_least);
}

/// Sets each element of `out` to the greatest element of its block, as [`least`] does to the least.
///
/// # Panics
/// If `factor` is 0.
pub(crate) fn greatest<T: Reduce>(row: &[T], factor: usize, out: &mut [T]) {
    fold(row, factor, out, T::keep_greatest);
}

fn fold<T: Reduce>(row: &[T], factor: usize, out: &mut [T], keep: fn(&mut [T], &[T])) {
    for (out, block) in out.iter_mut().zip(row.chunks(factor)) {
        let Some((first, others)) = block.split_first() else { continue };
        *out = *first;
        others.iter().for_each(|other| keep(std::slice::from_mut(out), std::slice::from_ref(other)));
    }
}

/// Sets each element of `out` to the element at the centre of its block of `factor` successive elements of `row`; of two elements at the
/// centre, to the first. The last block has the elements that are left.
///
/// # Panics
/// If `factor` is 0.
pub(crate) fn nearest<T: Copy>(row: &[T], factor: usize, out: &mut [T]) {
    for (out, block) in out.iter_mut().zip(row.chunks(factor)) {
        if let Some(centre) = block.get((block.len().max(1) - 1) / 2) {
            *out = *centre;
        }
    }
}
