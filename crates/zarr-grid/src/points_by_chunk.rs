use core::ops::Range;

use crate::error::{Error, Result};
use crate::grid::ChunkGrid;

/// Maximum ratio of chunk numbers to points for which points are sorted by counting; above it they are sorted by comparison.
const COUNTED: u64 = 4;

/// Points sorted by chunk; within a chunk they keep their order.
#[derive(Debug, Clone)]
pub(crate) struct PointsByChunk {
    rank: usize,
    /// Numbers of the points, sorted by chunk.
    order: Vec<usize>,
    /// Index in `order` at which each chunk begins, and the end of the last chunk; empty without points.
    bounds: Vec<usize>,
    /// Index of each chunk, one after another.
    chunks: Vec<u64>,
}

impl PointsByChunk {
    /// Sorts `len` points by the chunks of `grid` in C order. `number(slot)` returns the number of each point, ascending, and
    /// `position(number, axis)` the position of a point along an axis of the grid.
    pub(crate) fn new(
        grid: &ChunkGrid,
        len: usize,
        number: impl Fn(usize) -> usize,
        position: impl Fn(usize, usize) -> u64,
    ) -> Result<Self> {
        let rank = grid.rank();
        // A number for each chunk, in the order of the chunks, among those that points can lie in.
        let mut keys = vec![0_u64; len];
        let mut count = 1_u64;
        let mut column = Vec::with_capacity(len);
        for axis in 0..rank {
            column.clear();
            let (mut low, mut high) = (u64::MAX, 0);
            for slot in 0..len {
                let index = chunk_along(grid, axis, position(number(slot), axis))?;
                (low, high) = (low.min(index), high.max(index));
                column.push(index);
            }
            if column.is_empty() {
                break;
            }
            column.iter_mut().for_each(|index| *index -= low);
            let mut chunks = high - low + 1;
            // Points that lie very far apart: only chunks that have some are numbered.
            if count.checked_mul(chunks).is_none() {
                count = ranked(&mut keys);
                chunks = ranked(&mut column);
            }
            count = count.checked_mul(chunks).ok_or(Error::Overflow { what: "the number of chunks" })?;
            keys.iter_mut().zip(&column).for_each(|(key, index)| *key = *key * chunks + index);
        }
        let mut order = sorted(&keys, count);
        let mut bounds: Vec<usize> = Vec::new();
        let mut last = None;
        for (at, &slot) in order.iter().enumerate() {
            if last.replace(keys[slot]) != Some(keys[slot]) {
                bounds.push(at);
            }
        }
        order.iter_mut().for_each(|slot| *slot = number(*slot));
        let mut chunks = Vec::with_capacity(bounds.len() * rank);
        for &first in &bounds {
            for axis in 0..rank {
                chunks.push(chunk_along(grid, axis, position(order[first], axis))?);
            }
        }
        if !order.is_empty() {
            bounds.push(order.len());
        }
        Ok(Self { rank, order, bounds, chunks })
    }

    /// Returns the number of chunks that contain points.
    pub(crate) fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// Returns the index of the `i`-th chunk that contains points, and the numbers of these points.
    pub(crate) fn get(&self, i: usize) -> Option<(&[u64], &[usize])> {
        let range = self.range(i)?;
        Some((&self.chunks[i * self.rank..][..self.rank], &self.order[range]))
    }

    /// Returns the numbers of the points in a chunk; `None` if it contains none.
    pub(crate) fn at(&self, chunk: &[u64]) -> Option<&[usize]> {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from + (to - from) / 2;
            let (found, points) = self.get(middle)?;
            match found.cmp(chunk) {
                core::cmp::Ordering::Less => from = middle + 1,
                core::cmp::Ordering::Equal => return Some(points),
                core::cmp::Ordering::Greater => to = middle,
            }
        }
        None
    }

    fn range(&self, i: usize) -> Option<Range<usize>> {
        Some(*self.bounds.get(i)?..*self.bounds.get(i.checked_add(1)?)?)
    }
}

fn chunk_along(grid: &ChunkGrid, axis: usize, found: u64) -> Result<u64> {
    let len = grid.shape()[axis];
    let chunk = grid.locate(axis, found).filter(|_| found < len);
    Ok(chunk.ok_or(Error::OutOfBounds { what: "index", axis, found: found.into(), len })?.index)
}

/// Replaces each number by its rank: the count of smaller distinct numbers. Returns the count of distinct numbers.
fn ranked(numbers: &mut [u64]) -> u64 {
    let mut all = numbers.to_vec();
    all.sort_unstable();
    all.dedup();
    numbers.iter_mut().for_each(|number| *number = all.partition_point(|other| other < number) as u64);
    all.len() as u64
}

/// Returns the slots of `keys`, whose values are less than `count`, sorted by key and then by slot.
fn sorted(keys: &[u64], count: u64) -> Vec<usize> {
    if keys.is_sorted() {
        return (0..keys.len()).collect();
    }
    if count > COUNTED * keys.len() as u64 {
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_unstable_by_key(|&slot| (keys[slot], slot));
        return order;
    }
    let mut next = vec![0_usize; count as usize];
    keys.iter().for_each(|&key| next[key as usize] += 1);
    let mut before = 0;
    for slots in &mut next {
        before += core::mem::replace(slots, before);
    }
    let mut order = vec![0; keys.len()];
    for (slot, &key) in keys.iter().enumerate() {
        let at = &mut next[key as usize];
        order[*at] = slot;
        *at += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_sort_keep_the_order_of_equal_keys() {
        let keys = [5_u64, 1, 5, 0, 1, 5, 0];
        let expected = [3, 6, 1, 4, 0, 2, 5];
        assert_eq!(sorted(&keys, 6), expected);
        assert_eq!(sorted(&keys, u64::MAX), expected);
        assert_eq!(sorted(&[1, 1, 2], 3), [0, 1, 2]);
    }

    #[test]
    fn points_may_lie_in_more_chunks_than_can_be_counted() {
        let far = i64::MAX as u64;
        let grid = ChunkGrid::regular(&[far, far, far], &[1, 1, 1]).unwrap();
        let points = [[far - 1, 0, 7], [0, far - 1, 3], [far - 1, 0, 7], [0, far - 1, far - 1]];
        let sorted = PointsByChunk::new(&grid, 4, |slot| slot, |point, axis| points[point][axis]).unwrap();
        assert_eq!(sorted.len(), 3);
        assert_eq!(sorted.get(0), Some((&points[1][..], &[1][..])));
        assert_eq!(sorted.get(1), Some((&points[3][..], &[3][..])));
        assert_eq!(sorted.at(&points[0]), Some(&[0, 2][..]));
        assert_eq!(sorted.at(&[1, 1, 1]), None);
        assert_eq!(sorted.get(3), None);
    }
}
