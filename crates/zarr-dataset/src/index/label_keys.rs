//! Conversion of labels to keys of a coordinate: one key, or the keys of a period of time.

use super::keys::{Key, nanoseconds};
use super::pieces::Pieces;
use crate::calendar_time;
use crate::label::Label;
use crate::{Error, Result, Variable, decoder};
use zarr_cf::time::{Calendar, Numbers, PartialDate, Resolution, Times};
use zarr_dtype::{Class, DataType, TimeUnit, Unit};

/// Data type of a coordinate, which determines how labels are converted to keys.
pub(super) struct LabelKeys<'v> {
    dimension: &'v str,
    data_type: DataType,
    /// Calendar of dates that are no `numpy.datetime64`; `None` for other types.
    calendar: Option<Calendar>,
    /// Number of nanoseconds of which all times are multiples, according to their encoding; `None` if unknown.
    step: Option<i64>,
}

/// Range of keys from `low` to `high`, both included.
pub(super) struct KeyRange {
    pub(super) low: Key,
    pub(super) high: Key,
    /// Whether the label is a period, which contains any number of keys, and not one key.
    pub(super) is_period: bool,
}

impl<'v> LabelKeys<'v> {
    pub(super) fn new(variable: &Variable, dimension: &'v str) -> Result<Self> {
        let data_type = variable.data_type()?;
        let step = match &data_type {
            DataType::DateTime64(unit) => step_of_encoding(variable).or_else(|| nanoseconds(*unit)),
            _ => None,
        };
        let calendar = calendar_time::calendar(&data_type);
        Ok(Self { dimension, data_type, calendar, step })
    }

    /// Returns the keys that `label` stands for. Times that were read in `pieces` show how fine the times of the coordinate are.
    ///
    /// # Errors
    /// If the label has another type than the coordinate.
    pub(super) fn of(&self, label: &Label, pieces: &Pieces<'_>) -> Result<KeyRange> {
        let one = |key: Key| Ok(KeyRange { low: key.clone(), high: key, is_period: false });
        let is_time = matches!(self.data_type, DataType::DateTime64(_));
        let is_textual = zarr_cf::textual::is_textual(&self.data_type);
        match label {
            Label::Text(text) if is_time || self.calendar.is_some() => self.period(text, pieces),
            Label::Text(text) if is_textual => one(Key::Text(text.clone())),
            Label::Text(text) => self.of(&self.parsed(text).ok_or_else(|| self.unfit(label))?, pieces),
            Label::Integer(_) | Label::Number(_) if is_textual || self.calendar.is_some() => Err(self.unfit(label)),
            Label::Integer(value) if self.data_type == DataType::Float32 => one(Key::Float(f64::from(*value as f32))),
            Label::Integer(value) => one(Key::Integer(*value)),
            Label::Number(_) if is_time => Err(self.unfit(label)),
            // As xarray, which casts labels to the type of the coordinate.
            Label::Number(value) if self.data_type == DataType::Float32 => one(Key::Float(f64::from(*value as f32))),
            Label::Number(value) if self.data_type == DataType::Float16 => {
                one(Key::Float(f64::from(half::f16::from_f64(*value))))
            }
            Label::Number(value) => one(Key::Float(*value)),
        }
    }

    fn period(&self, text: &str, pieces: &Pieces<'_>) -> Result<KeyRange> {
        let unfit = |error: zarr_cf::time::Error| Error::argument(format!("coordinate {}: {error}", self.dimension));
        let date = PartialDate::parse(text).map_err(unfit)?;
        let (start, end) = match self.calendar {
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
        // A date of other calendars is a period however fine it is, as in xarray.
        let is_period = self.calendar.is_some() || self.has_finer(date.resolution(), pieces);
        let last = if is_period { end.saturating_sub(1).max(start) } else { start };
        Ok(KeyRange { low: Key::Integer(start.into()), high: Key::Integer(last.into()), is_period })
    }

    /// Whether times of the coordinate may be finer than a date of `resolution`: such a date is a period, as in pandas; otherwise it is one
    /// time. The encoding decides, or the times if all were read.
    fn has_finer(&self, resolution: Resolution, pieces: &Pieces<'_>) -> bool {
        let unit = match resolution {
            Resolution::Year | Resolution::Month => return true,
            Resolution::Day => 86_400_000_000_000_i64,
            Resolution::Hour => 3_600_000_000_000,
            Resolution::Minute => 60_000_000_000,
            Resolution::Second => 1_000_000_000,
            Resolution::Millisecond => 1_000_000,
            Resolution::Microsecond => 1_000,
            Resolution::Nanosecond => return false,
        };
        let is_whole = self.step.is_some_and(|step| step.checked_rem(unit) == Some(0));
        // Most times of a large coordinate are not read, and may be finer.
        !is_whole && (!pieces.are_all_read() || !pieces.read().all(|keys| keys.are_multiples(unit)))
    }

    /// Converts a label to the type of the coordinate, for messages.
    pub(super) fn typed(&self, label: &Label) -> Label {
        match label {
            Label::Text(text) if !self.are_dates() => self.parsed(text).unwrap_or_else(|| label.clone()),
            other => other.clone(),
        }
    }

    /// Parses a string as a label of the type of the coordinate, for types other than strings and dates.
    fn parsed(&self, text: &str) -> Option<Label> {
        match (&self.data_type, self.data_type.class()) {
            (DataType::TimeDelta64(_), _) => TimeUnit::new(Unit::Nanosecond).parse_delta(text).map(Label::from),
            (DataType::Bool, _) => match text {
                "true" | "True" | "1" => Some(Label::from(true)),
                "false" | "False" | "0" => Some(Label::from(false)),
                _ => None,
            },
            (_, Some(Class::Signed | Class::Unsigned | Class::Float)) => match text.parse::<i128>() {
                Ok(integer) => Some(Label::from(integer)),
                Err(_) => text.parse::<f64>().ok().map(Label::from),
            },
            _ => None,
        }
    }

    /// Whether labels of the coordinate are dates.
    pub(super) fn are_dates(&self) -> bool {
        self.calendar.is_some() || matches!(self.data_type, DataType::DateTime64(_))
    }

    fn unfit(&self, label: &Label) -> Error {
        let expected = match (&self.data_type, self.data_type.class()) {
            _ if self.are_dates() => "a date, as a text: \"2020\", \"2020-01-31T12:00\"".to_owned(),
            _ if zarr_cf::textual::is_textual(&self.data_type) => "a text".to_owned(),
            (DataType::TimeDelta64(_), _) => "a duration, as \"12 h\"".to_owned(),
            (DataType::Bool, _) => "true or false".to_owned(),
            (_, Some(Class::Signed | Class::Unsigned | Class::Float)) => "a number".to_owned(),
            (other, _) => format!("one of data type {other}"),
        };
        let dimension = self.dimension;
        Error::argument(format!("coordinate {dimension}: found label {label}, expected {expected}"))
    }
}

/// Returns the number of nanoseconds of which all times are multiples, from the encoding of integers: a day for times in days since a
/// midnight.
fn step_of_encoding(variable: &Variable) -> Option<i64> {
    let (units, calendar) = variable.integer_time_units()?;
    let units = decoder::time_units(units, calendar).ok()?;
    let Ok(Times::Nanoseconds(times)) = units.decode(Numbers::I64(&[0, 1])) else { return None };
    let (mut a, mut b) = match times.as_slice() {
        [first, second] => (first.checked_abs()?, second.checked_sub(*first)?.checked_abs()?),
        _ => return None,
    };
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Some(a)
}
