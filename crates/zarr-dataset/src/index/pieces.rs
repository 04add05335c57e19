//! Keys of a coordinate, read piece by piece as a search needs them.

use super::keys::{Key, Keys};
use crate::{Error, ErrorKind, Result, Variable};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use zarr_grid::AxisSelection;

/// Maximum number of values of a coordinate that is read as a whole.
const SMALL: u64 = 1 << 18;

/// Maximum number of values of a piece.
const LARGEST_PIECE: u64 = 1 << 24;

/// Pieces of a coordinate that were read: the whole of a small coordinate, or chunks of a large one, which must be sorted. The order of all
/// values that were read is checked.
pub(super) struct Pieces<'v> {
    variable: &'v Variable,
    dimension: &'v str,
    len: u64,
    /// Number of values per piece.
    piece: u64,
    read: BTreeMap<u64, Keys>,
    /// Whether keys ascend ([`Ordering::Less`]) or descend ([`Ordering::Greater`]); `None` before a piece is read.
    direction: Option<Ordering>,
}

impl<'v> Pieces<'v> {
    /// Prepares reading the coordinate `variable`. `is_sorted`: even a small coordinate is read in pieces.
    pub(super) fn new(variable: &'v Variable, dimension: &'v str, is_sorted: bool) -> Self {
        let len = variable.shape().first().copied().unwrap_or(0);
        let piece = if len <= SMALL && !is_sorted {
            len.max(1)
        } else {
            variable.stored().part_shape().first().copied().unwrap_or(1).clamp(1, LARGEST_PIECE)
        };
        Self { variable, dimension, len, piece, read: BTreeMap::new(), direction: None }
    }

    /// Number of keys.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Returns all keys if the coordinate is read as a whole and was read; `None` otherwise.
    pub(super) fn whole(&self) -> Option<&Keys> {
        self.read.get(&0).filter(|_| self.piece >= self.len)
    }

    /// Whether all pieces were read.
    pub(super) fn are_all_read(&self) -> bool {
        self.read.len() as u64 >= self.len.div_ceil(self.piece)
    }

    /// Iterates over the pieces that were read.
    pub(super) fn read(&self) -> impl Iterator<Item = &Keys> {
        self.read.values()
    }

    /// Returns whether keys ascend or descend; `None` if a small coordinate is unsorted. Reads a piece if none was read.
    pub(super) fn direction(&mut self) -> Result<Option<Ordering>> {
        if self.len == 0 {
            return Ok(Some(Ordering::Less));
        }
        // A search begins in the middle.
        let count = self.len.div_ceil(self.piece);
        self.load(count / 2)?;
        if self.direction == Some(Ordering::Equal) {
            self.load(0)?;
        }
        if self.direction == Some(Ordering::Equal) {
            self.load(count - 1)?;
        }
        Ok(self.direction)
    }

    pub(super) fn key(&mut self, index: u64) -> Result<Key> {
        let (number, within) = (index / self.piece, index % self.piece);
        let key = self.load(number)?.get(usize::try_from(within).unwrap_or(usize::MAX));
        key.ok_or_else(too_few)
    }

    /// Returns the number of keys before `key` in the order of the coordinate; with `or_equal`, of keys before or equal to `key`.
    ///
    /// At most log2(pieces) + 1 pieces are read.
    pub(super) fn partition(&mut self, direction: Ordering, key: &Key, or_equal: bool) -> Result<u64> {
        let dimension = self.dimension;
        let is_before = |found: Option<Key>| {
            let found = found.ok_or_else(too_few)?;
            let order = found.order(key).ok_or_else(|| {
                Error::argument(format!("coordinate {dimension}: the label is not comparable with its values, or NaN"))
            })?;
            let order = if direction.is_le() { order } else { order.reverse() };
            Ok::<_, Error>(order.is_lt() || (or_equal && order.is_eq()))
        };
        let piece = self.piece;
        let (mut low, mut high) = (0, self.len.div_ceil(piece));
        while low < high {
            let middle = low + (high - low) / 2;
            let keys = self.load(middle)?;
            if is_before(keys.get(keys.len().saturating_sub(1)))? {
                low = middle + 1;
            } else if !is_before(keys.get(0))? {
                high = middle;
            } else {
                // Between the first, which is before the key, and the last, which is not.
                let (mut before, mut behind) = (0, keys.len() - 1);
                while behind - before > 1 {
                    let middle = before + (behind - before) / 2;
                    if is_before(keys.get(middle))? { before = middle } else { behind = middle }
                }
                return Ok(middle * piece + behind as u64);
            }
        }
        Ok((low * piece).min(self.len))
    }

    /// Returns the first index at or behind `start` whose key is not `key`. Keys equal to `key` must begin at `start`, if there are any.
    ///
    /// Usually at most one further piece is read; more only if many keys are equal.
    pub(super) fn end_of_equal(&mut self, start: u64, key: &Key) -> Result<u64> {
        let (mut end, mut step) = (start, 1);
        // Steps grow while keys are equal, and then shrink.
        loop {
            let next = end.saturating_add(step - 1);
            if next < self.len && self.key(next)?.order(key) == Some(Ordering::Equal) {
                // The next but one may be in another piece.
                step = if end == start { 1 } else { 2 * step };
                end = next + 1;
            } else if step == 1 {
                return Ok(end);
            } else {
                break;
            }
        }
        while step > 1 {
            step /= 2;
            let next = end.saturating_add(step - 1);
            if next < self.len && self.key(next)?.order(key) == Some(Ordering::Equal) {
                end = next + 1;
            }
        }
        Ok(end)
    }

    /// Returns a piece, which is read if necessary. A piece that contradicts the order of the other pieces is an error.
    fn load(&mut self, number: u64) -> Result<&Keys> {
        if !self.read.contains_key(&number) {
            let start = number * self.piece;
            let stop = start.saturating_add(self.piece).min(self.len);
            let axis = AxisSelection::range(start as i64, stop as i64);
            let values = self.variable.select(self.dimension, &axis)?.read()?;
            let keys = Keys::of(&values)?;
            if keys.len() as u64 != stop - start {
                return Err(too_few());
            }
            self.direction = self.joined_direction(number, &keys).map_err(|()| {
                let message = format!("coordinate {} is not sorted at indices {start}..{stop}", self.dimension);
                Error::new(ErrorKind::InvalidMetadata, message)
                    .with_hint("large coordinates are searched by halves: select by index instead")
            })?;
            self.read.insert(number, keys);
        }
        self.read.get(&number).ok_or_else(too_few)
    }

    /// Returns the direction of all pieces with the additional piece `number`; an error if they are not sorted.
    fn joined_direction(&self, number: u64, keys: &Keys) -> Result<Option<Ordering>, ()> {
        let found = keys.direction();
        if self.piece >= self.len {
            return Ok(found);
        }
        let mut direction = self.direction.unwrap_or(Ordering::Equal);
        let mut join = |found: Option<Ordering>| match (direction, found) {
            (_, Some(Ordering::Equal)) => Ok(()),
            (Ordering::Equal, Some(found)) => {
                direction = found;
                Ok(())
            }
            (known, Some(found)) if known == found => Ok(()),
            _ => Err(()),
        };
        join(found)?;
        // The pieces before and behind.
        let before = self.read.range(..number).next_back().and_then(|(_, keys)| keys.get(keys.len().checked_sub(1)?));
        let after = self.read.range(number + 1..).next().and_then(|(_, keys)| keys.get(0));
        let (first, last) = (keys.get(0), keys.get(keys.len().saturating_sub(1)));
        for (earlier, later) in [(before, first), (last, after)] {
            if let (Some(earlier), Some(later)) = (earlier, later) {
                join(earlier.order(&later))?;
            }
        }
        Ok(Some(direction))
    }
}

fn too_few() -> Error {
    Error::internal("a coordinate has fewer values than elements")
}
