//! Which indices of a coordinate have labels.
//!
//! A small coordinate is read as a whole, and may have any order. A large one has to be sorted, as CF demands of coordinate
//! variables: it is searched by halves, and only the chunks met are read. Their order is checked.

use crate::calendar_time;
use crate::label::{Find, Label};
use crate::values::Values;
use crate::{Error, ErrorKind, Result, Variable};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use zarr_cf::time::{Calendar, PartialDate, Resolution};
use zarr_dtype::{DataType, Scalar, TimeUnit, Unit};
use zarr_grid::AxisSelection;

/// Coordinates of up to so many values are read as a whole.
const SMALL: u64 = 1 << 18;

/// Values of a coordinate in one type that has an order.
#[derive(Debug)]
enum Keys {
    Integers(Vec<i64>),
    Unsigned(Vec<u64>),
    Floats(Vec<f64>),
    Texts(Vec<String>),
}

/// A value that is compared with keys.
#[derive(Clone, Debug, PartialEq)]
enum Key {
    Integer(i128),
    Float(f64),
    Text(String),
}

impl Key {
    /// The order; NaN has none.
    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Float(b)) => (*a as f64).partial_cmp(b),
            (Self::Float(a), Self::Integer(b)) => a.partial_cmp(&(*b as f64)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }

    /// How far apart two are; strings are not.
    fn distance(&self, other: &Self) -> Option<f64> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.abs_diff(*b) as f64),
            (Self::Text(_), _) | (_, Self::Text(_)) => None,
            (a, b) => Some((a.float() - b.float()).abs()),
        }
    }

    fn float(&self) -> f64 {
        match self {
            Self::Integer(value) => *value as f64,
            Self::Float(value) => *value,
            Self::Text(_) => f64::NAN,
        }
    }
}

impl Keys {
    fn of(values: &Values) -> Result<Self> {
        let data_type = values.data_type();
        let items = values.data().items();
        let numbers = || items.as_chunks::<8>().0.iter().map(|&item| i64::from_ne_bytes(item));
        if let DataType::DateTime64(unit) | DataType::TimeDelta64(unit) = data_type {
            let length =
                nanoseconds(*unit).ok_or_else(|| Error::argument(format!("labels of {data_type} are not found")))?;
            let scaled =
                numbers().map(|number| if number == i64::MIN { Some(number) } else { number.checked_mul(length) });
            let scaled: Option<Vec<i64>> = scaled.collect();
            let error =
                || Error::argument(format!("a coordinate of {data_type} has values beyond nanoseconds of 64 bits"));
            return scaled.map(Self::Integers).ok_or_else(error);
        }
        if calendar_time::calendar(data_type).is_some() {
            return Ok(Self::Integers(numbers().collect()));
        }
        let scalar = data_type.storage().layout().scalar().filter(|_| data_type.class().is_some());
        if let Some(scalar) = scalar {
            let items = items.chunks_exact(scalar.size());
            if scalar == Scalar::U64 {
                return Ok(Self::Unsigned(numbers().map(i64::cast_unsigned).collect()));
            }
            if scalar.range().is_some() || scalar == Scalar::Bool {
                let integers = items.map(|item| match scalar {
                    Scalar::Bool => item.first().map(|&byte| i64::from(byte)),
                    _ => scalar.integer(item).and_then(|value| i64::try_from(value).ok()),
                });
                return Ok(Self::Integers(integers.map(Option::unwrap_or_default).collect()));
            }
            let floats = items.map(|item| data_type.to_f64(item).unwrap_or(f64::NAN));
            return Ok(Self::Floats(floats.collect()));
        }
        if crate::encoding::is_textual(data_type) {
            return Ok(Self::Texts((0..values.len()).map(|index| plain_text(values, index)).collect()));
        }
        Err(Error::argument(format!("a coordinate of data type {data_type} has no order")))
    }

    fn len(&self) -> usize {
        match self {
            Self::Integers(keys) => keys.len(),
            Self::Unsigned(keys) => keys.len(),
            Self::Floats(keys) => keys.len(),
            Self::Texts(keys) => keys.len(),
        }
    }

    fn get(&self, index: usize) -> Option<Key> {
        match self {
            Self::Integers(keys) => keys.get(index).map(|&key| Key::Integer(key.into())),
            Self::Unsigned(keys) => keys.get(index).map(|&key| Key::Integer(key.into())),
            Self::Floats(keys) => keys.get(index).copied().map(Key::Float),
            Self::Texts(keys) => keys.get(index).cloned().map(Key::Text),
        }
    }

    /// The order of neighbours; `None` if there is none: neither ascending nor descending, or NaN.
    fn direction(&self) -> Option<Ordering> {
        let mut direction = Ordering::Equal;
        for index in 1..self.len() {
            let (before, after) = (self.get(index - 1)?, self.get(index)?);
            match (direction, before.order(&after)?) {
                (_, Ordering::Equal) => {}
                (Ordering::Equal, found) => direction = found,
                (known, found) if known == found => {}
                _ => return None,
            }
        }
        Some(direction)
    }
}

/// Nanoseconds in a unit; `None` for months and years, which have no fixed length.
pub(crate) fn nanoseconds(unit: TimeUnit) -> Option<i64> {
    let length = match unit.unit {
        Unit::Nanosecond => 1,
        Unit::Microsecond => 1_000,
        Unit::Millisecond => 1_000_000,
        Unit::Second => 1_000_000_000,
        Unit::Minute => 60_000_000_000,
        Unit::Hour => 3_600_000_000_000,
        Unit::Day => 86_400_000_000_000,
        Unit::Week => 604_800_000_000_000,
        _ => return None,
    };
    i64::from(unit.scale).checked_mul(length)
}

/// A string value without its NULs.
fn plain_text(values: &Values, index: usize) -> String {
    let data = values.data();
    match data.variable() {
        Some(mut elements) => String::from_utf8_lossy(elements.nth(index).unwrap_or_default()).into_owned(),
        None => {
            let size = data.data_type().item_size();
            let item = data.items().get(index * size..(index + 1) * size).unwrap_or_default();
            String::from_utf8_lossy(&crate::encoding::content(data.data_type(), item)).into_owned()
        }
    }
}

/// A coordinate that is searched.
pub(crate) struct Index<'v> {
    variable: &'v Variable,
    dimension: &'v str,
    data_type: DataType,
    len: u64,
    /// Values read at once.
    piece: u64,
    pieces: BTreeMap<u64, Keys>,
    /// Whether keys ascend (less) or descend (greater); not known before a piece was read.
    direction: Option<Ordering>,
}

impl<'v> Index<'v> {
    /// The index of a coordinate of one dimension.
    pub(crate) fn new(variable: &'v Variable, dimension: &'v str) -> Result<Self> {
        let len = variable.shape().first().copied().unwrap_or(0);
        let piece = if len <= SMALL {
            len.max(1)
        } else {
            variable.stored().part_shape().first().copied().unwrap_or(1).clamp(1, SMALL)
        };
        let data_type = variable.data_type()?;
        Ok(Self { variable, dimension, data_type, len, piece, pieces: BTreeMap::new(), direction: None })
    }

    /// The indices that have the labels.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a label that is not there or of another type, with the neighbours;
    /// [`ErrorKind::InvalidMetadata`] if the coordinate is not sorted and would have to be.
    pub(crate) fn find(&mut self, find: &Find) -> Result<AxisSelection> {
        // Small coordinates are read before labels are looked at: the times that there are decide what a date stands for.
        self.direction()?;
        match find {
            Find::Exact(label) => self.exact(label),
            Find::List(labels) => {
                let mut found = Vec::new();
                for label in labels {
                    match self.exact(label)? {
                        AxisSelection::Index(index) => found.push(index),
                        AxisSelection::Indices(list) => found.extend(list),
                        AxisSelection::Range { start, stop, .. } => {
                            found.extend(start.unwrap_or(0)..stop.unwrap_or(0));
                        }
                        _ => {}
                    }
                }
                Ok(AxisSelection::Indices(found))
            }
            Find::Nearest(label) | Find::Pad(label) | Find::Backfill(label) => self.inexact(find, label),
            Find::Slice(first, last) => self.slice(first.as_ref(), last.as_ref()),
        }
    }

    fn exact(&mut self, label: &Label) -> Result<AxisSelection> {
        let (first, last, is_range) = self.bounds(label)?;
        let Some(direction) = self.direction()? else { return self.exact_unsorted(&first, &last, is_range, label) };
        let (start, stop) = self.between(direction, Some(&first), Some(&last))?;
        match stop.saturating_sub(start) {
            0 => Err(self.not_found(label, start)),
            1 if !is_range => Ok(AxisSelection::Index(start as i64)),
            _ => Ok(AxisSelection::range(start as i64, stop as i64)),
        }
    }

    fn exact_unsorted(&mut self, first: &Key, last: &Key, is_range: bool, label: &Label) -> Result<AxisSelection> {
        let mut found = Vec::new();
        for index in 0..self.len {
            let key = self.key(index)?;
            let is_within =
                key.order(first).is_some_and(Ordering::is_ge) && key.order(last).is_some_and(Ordering::is_le);
            found.extend(is_within.then_some(index as i64));
        }
        match found.as_slice() {
            [] => Err(Error::argument(format!("coordinate {} has no label {label}", self.dimension))),
            &[index] if !is_range => Ok(AxisSelection::Index(index)),
            _ => Ok(AxisSelection::Indices(found)),
        }
    }

    fn inexact(&mut self, find: &Find, label: &Label) -> Result<AxisSelection> {
        let (key, _, _) = self.bounds(label)?;
        let Some(direction) = self.direction()? else {
            let message = format!("coordinate {} is not sorted: labels are found exactly in it only", self.dimension);
            return Err(Error::argument(message));
        };
        if matches!((find, &key), (Find::Nearest(_), Key::Text(_))) {
            return Err(Error::argument(format!("coordinate {}: strings have no nearest label", self.dimension)));
        }
        // The first index at or behind the label in the order of the coordinate, and the last at or before it.
        let at = self.partition(direction, &key, false)?;
        let behind = Some(at).filter(|&at| at < self.len);
        let is_equal = behind.is_some() && self.key(at)? == key;
        let before = if is_equal { behind } else { at.checked_sub(1) };
        let chosen = match find {
            Find::Pad(_) => before,
            Find::Backfill(_) => behind,
            _ => match (before, behind) {
                (Some(before), Some(behind)) => {
                    let distances = self.key(before)?.distance(&key).zip(self.key(behind)?.distance(&key));
                    // Of two that are equally near, the greater.
                    let is_before = distances
                        .is_some_and(|(before, behind)| before < behind || (before == behind && !direction.is_le()));
                    Some(if is_before { before } else { behind })
                }
                (before, behind) => before.or(behind),
            },
        };
        chosen.map(|index| AxisSelection::Index(index as i64)).ok_or_else(|| self.not_found(label, at))
    }

    fn slice(&mut self, first: Option<&Label>, last: Option<&Label>) -> Result<AxisSelection> {
        let Some(direction) = self.direction()? else { return self.slice_unsorted(first, last) };
        let ascends = direction.is_le();
        let bound = |index: &Self, label: Option<&Label>, is_low: bool| -> Result<Option<Key>> {
            let Some(label) = label else { return Ok(None) };
            let (low, high, _) = index.bounds(label)?;
            Ok(Some(if is_low { low } else { high }))
        };
        let (first, last) = (bound(self, first, ascends)?, bound(self, last, !ascends)?);
        let (low, high) = if ascends { (&first, &last) } else { (&last, &first) };
        let (start, stop) = self.between(direction, low.as_ref(), high.as_ref())?;
        Ok(AxisSelection::range(start as i64, stop.max(start) as i64))
    }

    /// In an unsorted coordinate a slice goes from the index of one label to that of the other.
    fn slice_unsorted(&mut self, first: Option<&Label>, last: Option<&Label>) -> Result<AxisSelection> {
        let one = |index: &mut Self, label: &Label| match index.exact(label)? {
            AxisSelection::Index(index) => Ok(index),
            _ => Err(Error::argument(format!(
                "coordinate {} is not sorted, and has label {label} more than once",
                index.dimension
            ))),
        };
        let start = first.map(|label| one(self, label)).transpose()?.unwrap_or(0);
        let stop = last.map(|label| one(self, label)).transpose()?.map_or(self.len as i64, |last| last + 1);
        Ok(AxisSelection::range(start, stop.max(start)))
    }

    /// The indices of the keys from `low` to `high`, both included.
    fn between(&mut self, direction: Ordering, low: Option<&Key>, high: Option<&Key>) -> Result<(u64, u64)> {
        let (first, last) = if direction.is_le() { (low, high) } else { (high, low) };
        let start = first.map_or(Ok(0), |key| self.partition(direction, key, false))?;
        let stop = last.map_or(Ok(self.len), |key| self.partition(direction, key, true))?;
        Ok((start, stop))
    }

    /// The number of keys before `key` in the order of the coordinate; with `or_equal`, of those at it as well.
    fn partition(&mut self, direction: Ordering, key: &Key, or_equal: bool) -> Result<u64> {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low + (high - low) / 2;
            let order = self.key(middle)?.order(key).ok_or_else(|| self.other_type(key))?;
            let order = if direction.is_le() { order } else { order.reverse() };
            if order.is_lt() || (or_equal && order.is_eq()) { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// Whether keys ascend or descend; `None` if a small coordinate has no order.
    fn direction(&mut self) -> Result<Option<Ordering>> {
        if self.len == 0 {
            return Ok(Some(Ordering::Less));
        }
        // A search begins in the middle.
        self.key(self.len / 2)?;
        if self.piece < self.len && self.direction.is_none_or(Ordering::is_eq) {
            self.key(0)?;
            self.key(self.len - 1)?;
        }
        Ok(self.direction)
    }

    fn key(&mut self, index: u64) -> Result<Key> {
        let number = index / self.piece;
        if !self.pieces.contains_key(&number) {
            self.load(number)?;
        }
        let within = usize::try_from(index % self.piece).unwrap_or(usize::MAX);
        let key = self.pieces.get(&number).and_then(|keys| keys.get(within));
        key.ok_or_else(|| Error::internal("a coordinate has fewer values than elements"))
    }

    /// Reads a piece, and checks that it continues the order of the others.
    fn load(&mut self, number: u64) -> Result<()> {
        let start = number * self.piece;
        let stop = start.saturating_add(self.piece).min(self.len);
        let axis = AxisSelection::range(start as i64, stop as i64);
        let values = self.variable.select(self.dimension, &axis)?.read()?;
        let keys = Keys::of(&values)?;
        let found = keys.direction();
        if self.piece >= self.len {
            self.direction = found;
            self.pieces.insert(number, keys);
            return Ok(());
        }
        let unsorted = || {
            let message = format!("coordinate {} is not sorted at indices {start}..{stop}", self.dimension);
            Error::new(ErrorKind::InvalidMetadata, message)
                .with_hint("large coordinates are searched by halves: select by index instead")
        };
        let mut direction = found.ok_or_else(unsorted)?;
        if direction == Ordering::Equal {
            direction = self.direction.unwrap_or(Ordering::Equal);
        }
        // The pieces before and behind.
        let before = self.pieces.range(..number).next_back().and_then(|(_, keys)| keys.get(keys.len().checked_sub(1)?));
        let after = self.pieces.range(number + 1..).next().and_then(|(_, keys)| keys.get(0));
        let (first, last) = (keys.get(0), keys.get(keys.len().saturating_sub(1)));
        for (earlier, later) in [(before, first), (last, after)] {
            let (Some(earlier), Some(later)) = (earlier, later) else { continue };
            match (direction, earlier.order(&later).ok_or_else(unsorted)?) {
                (_, Ordering::Equal) => {}
                (Ordering::Equal, found) => direction = found,
                (known, found) if known == found => {}
                _ => return Err(unsorted()),
            }
        }
        if self
            .direction
            .is_some_and(|known| known != Ordering::Equal && direction != Ordering::Equal && known != direction)
        {
            return Err(unsorted());
        }
        if self.direction.is_none_or(Ordering::is_eq) {
            self.direction = Some(direction);
        }
        self.pieces.insert(number, keys);
        Ok(())
    }

    /// The least and the greatest key that a label stands for, and whether it stands for a range of keys.
    fn bounds(&self, label: &Label) -> Result<(Key, Key, bool)> {
        let one = |key: Key| Ok((key.clone(), key, false));
        let calendar = calendar_time::calendar(&self.data_type);
        let is_time = matches!(self.data_type, DataType::DateTime64(_));
        match label {
            Label::Text(text) if is_time || calendar.is_some() => self.date_bounds(text, calendar),
            Label::Text(text) if crate::encoding::is_textual(&self.data_type) => one(Key::Text(text.clone())),
            Label::Integer(_) | Label::Number(_)
                if crate::encoding::is_textual(&self.data_type) || calendar.is_some() =>
            {
                Err(self.unfit(label))
            }
            Label::Integer(value) => one(Key::Integer(*value)),
            Label::Number(_) if is_time => Err(self.unfit(label)),
            // As xarray, which casts labels to the type of the coordinate.
            Label::Number(value) if self.data_type == DataType::Float32 => one(Key::Float(f64::from(*value as f32))),
            Label::Number(value) if self.data_type == DataType::Float16 => {
                one(Key::Float(f64::from(half::f16::from_f64(*value))))
            }
            Label::Number(value) => one(Key::Float(*value)),
            Label::Text(_) => Err(self.unfit(label)),
        }
    }

    fn date_bounds(&self, text: &str, calendar: Option<Calendar>) -> Result<(Key, Key, bool)> {
        let unfit = |error: zarr_cf::time::Error| Error::argument(format!("coordinate {}: {error}", self.dimension));
        let date = PartialDate::parse(text).map_err(unfit)?;
        let (start, end) = match calendar {
            None => {
                let range = date.range_nanoseconds().map_err(unfit)?;
                (range.start, range.end)
            }
            Some(calendar) => {
                let (start, end) = date.range(calendar).map_err(unfit)?;
                let number = |date| calendar_time::to_number(Some(&date)).map_err(Error::argument);
                (number(start)?, number(end)?)
            }
        };
        // A date to the second is one time; a part of a date is all times in it. In other calendars each is, as in xarray.
        let is_part = date.resolution() < Resolution::Second && !self.is_of_whole(date.resolution());
        let is_range = is_part || calendar.is_some();
        let last = if is_range { end.saturating_sub(1).max(start) } else { start };
        Ok((Key::Integer(start.into()), Key::Integer(last.into()), is_range))
    }

    /// Whether all times are whole days, hours or minutes, if that is the resolution: then such a date is one time, as in pandas.
    fn is_of_whole(&self, resolution: Resolution) -> bool {
        let nanoseconds = match resolution {
            Resolution::Day => 86_400_000_000_000_i64,
            Resolution::Hour => 3_600_000_000_000,
            Resolution::Minute => 60_000_000_000,
            _ => return false,
        };
        let unit = if calendar_time::calendar(&self.data_type).is_some() { nanoseconds / 1000 } else { nanoseconds };
        let is_whole = |keys: &Keys| match keys {
            Keys::Integers(keys) => keys.iter().all(|key| key.rem_euclid(unit) == 0),
            _ => false,
        };
        self.piece >= self.len && self.pieces.values().all(is_whole)
    }

    fn unfit(&self, label: &Label) -> Error {
        let (dimension, data_type) = (self.dimension, &self.data_type);
        Error::argument(format!("coordinate {dimension}: found label {label}, expected one of data type {data_type}"))
    }

    fn other_type(&self, key: &Key) -> Error {
        Error::argument(format!("coordinate {}: a label {key:?} cannot be compared with its values", self.dimension))
    }

    /// The error for a label that would have been at an index.
    fn not_found(&mut self, label: &Label, at: u64) -> Error {
        let mut neighbours = Vec::new();
        for index in [at.checked_sub(1), Some(at).filter(|&at| at < self.len)].into_iter().flatten() {
            let axis = AxisSelection::range(index as i64, index as i64 + 1);
            let read = self.variable.select(self.dimension, &axis).and_then(|variable| variable.read());
            neighbours.extend(read.ok().map(|values| values.text(0)));
        }
        let error = Error::argument(format!("coordinate {} has no label {label}", self.dimension));
        match neighbours.as_slice() {
            [] => error.with_hint("the coordinate is empty"),
            [one] => error.with_hint(format!("the nearest is {one}")),
            [low, high, ..] => error.with_hint(format!("it lies between {low} and {high}")),
        }
    }
}
