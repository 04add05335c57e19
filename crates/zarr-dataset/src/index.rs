//! Search for labels in a coordinate: the indices that have the labels.
//!
//! A small coordinate is read as a whole, and may have any order. A large coordinate must be sorted, as CF requires of coordinate
//! variables: it is searched by bisection, and only the chunks that the search needs are read. Their order is checked.

mod keys;
mod label_keys;
mod pieces;

use crate::label::{Find, Label, Labels, Method};
use crate::{Error, Result, Variable};
use keys::Key;
pub(crate) use keys::nanoseconds;
use label_keys::{KeyRange, LabelKeys};
use pieces::Pieces;
use std::cmp::Ordering;
use zarr_grid::AxisSelection;

/// Coordinate that is searched for labels.
pub(crate) struct Index<'v> {
    variable: &'v Variable,
    dimension: &'v str,
    label_keys: LabelKeys<'v>,
    pieces: Pieces<'v>,
    /// Indices of an unsorted coordinate in ascending order of its keys; `None` before they are sorted.
    sorted: Option<Vec<usize>>,
}

impl<'v> Index<'v> {
    /// Prepares the search for `labels` in a coordinate of one dimension.
    pub(crate) fn new(variable: &'v Variable, dimension: &'v str, labels: &Labels) -> Result<Self> {
        let label_keys = LabelKeys::new(variable, dimension)?;
        let mut pieces = Pieces::new(variable, dimension, labels.is_sorted);
        // Keys are read before labels are converted: the times in the coordinate decide what a partial date stands for.
        pieces.direction()?;
        Ok(Self { variable, dimension, label_keys, pieces, sorted: None })
    }

    /// Returns the indices that have the labels.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for a label that does not exist or has another type, with the neighbours;
    /// [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) if a large coordinate is not sorted.
    pub(crate) fn find(&mut self, labels: &Labels) -> Result<AxisSelection> {
        match (&labels.find, labels.method) {
            (Find::One(label), Method::Exact) => self.exact(label),
            (Find::One(label), method) => Ok(AxisSelection::Index(self.inexact(method, label)? as i64)),
            (Find::List(_), _) => {
                let found = self.find_each(labels)?;
                Ok(AxisSelection::Indices(found.into_iter().map(|index| index as i64).collect()))
            }
            (Find::Slice(first, last), Method::Exact) => self.slice(first.as_ref(), last.as_ref()),
            (Find::Slice(..), _) => Err(Error::argument("a slice has no nearest labels: its ends need not be there")),
        }
    }

    /// Returns the index of each label of a list. A partial date stands for its first time, as in xarray.
    ///
    /// # Errors
    /// The errors of [`find`](Self::find), and an error for a label that exists more than once.
    pub(crate) fn find_each(&mut self, labels: &Labels) -> Result<Vec<u64>> {
        let (Find::List(list), method) = (&labels.find, labels.method) else {
            return Err(Error::argument(format!("coordinate {}: expected a list of labels", self.dimension)));
        };
        let one = |label| match method {
            Method::Exact => self.one(label),
            method => self.inexact(method, label),
        };
        list.iter().map(one).collect()
    }

    fn exact(&mut self, label: &Label) -> Result<AxisSelection> {
        let range = self.label_keys.of(label, &self.pieces)?;
        let Some(direction) = self.pieces.direction()? else {
            let found: Vec<i64> = self.unsorted(&range).map(|index| index as i64).collect();
            return match found.as_slice() {
                [] => Err(self.absent(label)),
                &[index] if !range.is_period => Ok(AxisSelection::Index(index)),
                _ => Ok(AxisSelection::Indices(found)),
            };
        };
        let (start, stop) = if range.is_period {
            self.between(direction, Some(&range.low), Some(&range.high))?
        } else {
            let start = self.pieces.partition(direction, &range.low, false)?;
            (start, self.pieces.end_of_equal(start, &range.low)?)
        };
        match stop.saturating_sub(start) {
            0 => Err(self.not_found(label, start)),
            1 if !range.is_period => Ok(AxisSelection::Index(start as i64)),
            _ => Ok(AxisSelection::range(start as i64, stop as i64)),
        }
    }

    /// Returns the index of the only key that equals the label, or the beginning of a period.
    fn one(&mut self, label: &Label) -> Result<u64> {
        let range = self.label_keys.of(label, &self.pieces)?;
        let range = KeyRange { high: range.low.clone(), ..range };
        let (start, count) = match self.pieces.direction()? {
            Some(direction) => {
                let start = self.pieces.partition(direction, &range.low, false)?;
                (start, self.pieces.end_of_equal(start, &range.low)? - start)
            }
            None => {
                let found: Vec<u64> = self.unsorted(&range).collect();
                let Some(&first) = found.first() else { return Err(self.absent(label)) };
                (first, found.len() as u64)
            }
        };
        match count {
            0 => Err(self.not_found(label, start)),
            1 => Ok(start),
            _ => Err(Error::argument(format!("coordinate {} has label {label} more than once", self.dimension))),
        }
    }

    /// Returns the indices, in ascending order, of keys of an unsorted coordinate that are in `range`.
    fn unsorted(&mut self, range: &KeyRange) -> impl Iterator<Item = u64> {
        let keys = self.pieces.whole();
        let sorted = self.sorted.get_or_insert_with(|| keys.map(keys::Keys::sorted).unwrap_or_default());
        let order =
            |index: &usize, key: &Key| keys.and_then(|keys| keys.get(*index)).and_then(|found| found.order(key));
        let start = sorted.partition_point(|index| order(index, &range.low).is_some_and(Ordering::is_lt));
        let stop = sorted.partition_point(|index| order(index, &range.high).is_some_and(Ordering::is_le));
        let mut found: Vec<usize> = sorted.get(start..stop).unwrap_or_default().to_vec();
        found.sort_unstable();
        found.into_iter().map(|index| index as u64)
    }

    fn inexact(&mut self, method: Method, label: &Label) -> Result<u64> {
        let KeyRange { low: key, .. } = self.label_keys.of(label, &self.pieces)?;
        let Some(direction) = self.pieces.direction()? else {
            let message = format!("coordinate {} is not sorted: labels are found exactly in it only", self.dimension);
            return Err(Error::argument(message));
        };
        if matches!((method, &key), (Method::Nearest, Key::Text(_))) {
            return Err(Error::argument(format!("coordinate {}: strings have no nearest label", self.dimension)));
        }
        // The first index at or behind the label in the order of the coordinate, and the last at or before it.
        let at = self.pieces.partition(direction, &key, false)?;
        let behind = Some(at).filter(|&at| at < self.pieces.len());
        let is_equal = behind.is_some() && self.pieces.key(at)? == key;
        let before = if is_equal { behind } else { at.checked_sub(1) };
        let chosen = match method {
            Method::Pad => before,
            Method::Backfill => behind,
            _ => match (before, behind) {
                (Some(before), Some(behind)) => {
                    let distances =
                        self.pieces.key(before)?.distance(&key).zip(self.pieces.key(behind)?.distance(&key));
                    // If both are equally near, the greater one.
                    let is_before = distances
                        .is_some_and(|(before, behind)| before < behind || (before == behind && !direction.is_le()));
                    Some(if is_before { before } else { behind })
                }
                (before, behind) => before.or(behind),
            },
        };
        chosen.ok_or_else(|| self.not_found(label, at))
    }

    fn slice(&mut self, first: Option<&Label>, last: Option<&Label>) -> Result<AxisSelection> {
        let Some(direction) = self.pieces.direction()? else { return self.slice_unsorted(first, last) };
        let ascends = direction.is_le();
        let bound = |index: &Self, label: Option<&Label>, is_low: bool| -> Result<Option<Key>> {
            let Some(label) = label else { return Ok(None) };
            let KeyRange { low, high, .. } = index.label_keys.of(label, &index.pieces)?;
            Ok(Some(if is_low { low } else { high }))
        };
        let (first, last) = (bound(self, first, ascends)?, bound(self, last, !ascends)?);
        let (low, high) = if ascends { (&first, &last) } else { (&last, &first) };
        let (start, stop) = self.between(direction, low.as_ref(), high.as_ref())?;
        Ok(AxisSelection::range(start as i64, stop.max(start) as i64))
    }

    /// Returns the slice of an unsorted coordinate from the index of the label `first` to the index of the label `last`.
    fn slice_unsorted(&mut self, first: Option<&Label>, last: Option<&Label>) -> Result<AxisSelection> {
        let one = |index: &mut Self, label: &Label| match index.exact(label)? {
            AxisSelection::Index(index) => Ok(index),
            _ => Err(Error::argument(format!(
                "coordinate {} is not sorted, and has label {label} more than once",
                index.dimension
            ))),
        };
        let start = first.map(|label| one(self, label)).transpose()?.unwrap_or(0);
        let stop = last.map(|label| one(self, label)).transpose()?.map_or(self.pieces.len() as i64, |last| last + 1);
        Ok(AxisSelection::range(start, stop.max(start)))
    }

    /// Returns the range of indices whose keys are from `low` to `high`, both included; `None` is unbounded.
    fn between(&mut self, direction: Ordering, low: Option<&Key>, high: Option<&Key>) -> Result<(u64, u64)> {
        let (first, last) = if direction.is_le() { (low, high) } else { (high, low) };
        let start = first.map_or(Ok(0), |key| self.pieces.partition(direction, key, false))?;
        let stop = last.map_or(Ok(self.pieces.len()), |key| self.pieces.partition(direction, key, true))?;
        Ok((start, stop))
    }

    fn absent(&self, label: &Label) -> Error {
        Error::argument(format!("coordinate {} has no label {}", self.dimension, self.label_keys.typed(label)))
    }

    /// Returns the error for a missing label that would have been at index `at`; its hint names the neighbours.
    fn not_found(&self, label: &Label, at: u64) -> Error {
        let mut neighbours = Vec::new();
        for index in [at.checked_sub(1), Some(at).filter(|&at| at < self.pieces.len())].into_iter().flatten() {
            let axis = AxisSelection::range(index as i64, index as i64 + 1);
            let read = self.variable.select(self.dimension, &axis).and_then(|variable| variable.read());
            neighbours.extend(read.ok().map(|values| values.text(0)));
        }
        let error = self.absent(label);
        if let (Label::Integer(count), true) = (label, self.label_keys.are_dates()) {
            return error.with_hint(format!("integers are nanoseconds since 1970; a date is a text: \"{count}\""));
        }
        match neighbours.as_slice() {
            [] => error.with_hint("the coordinate is empty"),
            [one] => error.with_hint(format!("the nearest is {one}")),
            [low, high, ..] => error.with_hint(format!("it lies between {low} and {high}")),
        }
    }
}
