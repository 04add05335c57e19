//! Decoding of numbers to times.

use super::calendar::REFORM;
use super::date::{DAY, DateTime};
use super::error::{Error, Result};
use super::numbers::{Extremes, Number, Numbers, each, extremes};
use super::reference::Base;
use super::unit::Unit;
use super::units::TimeUnits;

/// Decoded times of a variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Times {
    /// Nanoseconds since 1970-01-01, as `datetime64[ns]`; `i64::MIN` is a missing time (NaT).
    Nanoseconds(Vec<i64>),
    /// Dates in the calendar of the units; `None` is a missing time.
    Calendar(Vec<Option<DateTime>>),
}

/// Kind of times to which numbers are decoded, and the way of computation.
///
/// xarray determines the kind of a variable from its first and its last number: see [`TimeUnits::kind`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeKind {
    /// [`Times::Nanoseconds`], computed in nanoseconds; fractions of a nanosecond are cut off.
    Nanoseconds,
    /// [`Times::Nanoseconds`], computed in the calendar and rounded to microseconds. It is used for units and reference dates that numpy
    /// lacks, such as `days since 0001-01-01`, with times from 1678 to 2262.
    NanosecondsOfDates,
    /// [`Times::Calendar`], computed in the calendar.
    Calendar,
}

impl TimeKind {
    /// Returns whether the times are [`Times::Nanoseconds`].
    pub fn is_nanoseconds(self) -> bool {
        self != Self::Calendar
    }

    fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds | Self::NanosecondsOfDates => "nanoseconds since 1970",
            Self::Calendar => "dates",
        }
    }
}

/// Earliest day number and microsecond of the day for which xarray uses nanoseconds; `UPPER` are the latest.
const LOWER: (i64, i64) = (-106_752, 763_145_224);
const UPPER: (i64, i64) = (106_751, 85_636_854_775);

impl TimeUnits {
    /// Returns the kind of times for these numbers.
    ///
    /// For the first and the last number of a variable, the result is the kind of the variable, which xarray shows as its data type. For
    /// all numbers, it is the kind that xarray gives them when they are loaded.
    ///
    /// The kind is nanoseconds if the calendar is `standard` or `proleptic_gregorian` and all times are from 1678 to 2262, else dates.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a number is infinite or beyond 292 thousand years, and [`Error::Reference`] if dates are needed and the
    /// calendar does not have the reference date.
    pub fn kind(&self, numbers: Numbers<'_>) -> Result<TimeKind> {
        each!(numbers, slice => self.kind_of(slice, &extremes(slice)))
    }

    /// Decodes numbers to the kind of times that all of them permit.
    ///
    /// # Errors
    /// The same errors as [`TimeUnits::kind`] and [`TimeUnits::decode_as`].
    pub fn decode(&self, numbers: Numbers<'_>) -> Result<Times> {
        each!(numbers, slice => {
            let found = extremes(slice);
            self.decode_to(self.kind_of(slice, &found)?, slice, &found)
        })
    }

    /// Decodes numbers to a given kind of times, for a part of a variable whose kind is known. If a number is outside of the range of
    /// nanoseconds, xarray decodes all numbers loaded at once to dates; here it is an error, and the variable should be decoded to
    /// [`TimeKind::Calendar`].
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for the first number outside of the range of the kind, and [`Error::Reference`] if the reference date is
    /// outside of it.
    pub fn decode_as(&self, kind: TimeKind, numbers: Numbers<'_>) -> Result<Times> {
        each!(numbers, slice => self.decode_to(kind, slice, &extremes(slice)))
    }

    fn kind_of<T: Number>(&self, numbers: &[T], found: &Extremes<T>) -> Result<TimeKind> {
        let is_far = |number: T| self.nanoseconds_of(number).is_none();
        if self.nanoseconds.is_some() && !found.ends.is_some_and(|(low, high)| is_far(low) || is_far(high)) {
            return Ok(TimeKind::Nanoseconds);
        }
        if self.unit == Unit::Nanosecond {
            return Err(self.first_out_of_range(numbers, TimeKind::Nanoseconds, is_far));
        }
        let base = self.base()?;
        if !self.calendar().is_numpy() {
            return Ok(TimeKind::Calendar);
        }
        let Some((low, high)) = found.ends else {
            return Ok(TimeKind::NanosecondsOfDates);
        };
        let at = |end: T| self.microseconds(end.float()).map(|microseconds| base.plus(microseconds));
        let (Some(low), Some(high)) = (at(low), at(high)) else {
            return Err(self.first_out_of_range(numbers, TimeKind::Calendar, |number| at(number).is_none()));
        };
        let fits = is_after_reform(low) && (low.day, low.microsecond) >= LOWER && (high.day, high.microsecond) <= UPPER;
        Ok(if fits { TimeKind::NanosecondsOfDates } else { TimeKind::Calendar })
    }

    fn decode_to<T: Number>(&self, kind: TimeKind, numbers: &[T], found: &Extremes<T>) -> Result<Times> {
        match kind {
            TimeKind::Nanoseconds => self.decode_nanoseconds(numbers, found).map(Times::Nanoseconds),
            TimeKind::NanosecondsOfDates => {
                let to_nanoseconds = |at: Base| {
                    let microseconds = at.day.checked_mul(DAY)?.checked_add(at.microsecond)?;
                    microseconds.checked_mul(1000).filter(|found| is_after_reform(at) && *found != i64::MIN)
                };
                self.decode_dates(kind, numbers, i64::MIN, to_nanoseconds).map(Times::Nanoseconds)
            }
            TimeKind::Calendar => {
                let to_date = |at: Base| DateTime::of_day(self.calendar(), at.day, at.microsecond).map(Some);
                self.decode_dates(kind, numbers, None, to_date).map(Times::Calendar)
            }
        }
    }

    fn decode_nanoseconds<T: Number>(&self, numbers: &[T], found: &Extremes<T>) -> Result<Vec<i64>> {
        let Some(reference) = self.nanoseconds else {
            return Err(Error::Reference {
                units: self.text().to_owned(),
                found: self.text().to_owned(),
                problem: "it is not within nanoseconds since 1970".to_owned(),
            });
        };
        let is_far = |number: T| self.nanoseconds_of(number).is_none();
        // The times are in the order of the numbers, so that all fit if the ends do.
        if found.ends.is_some_and(|(low, high)| is_far(low) || is_far(high)) {
            return Err(self.first_out_of_range(numbers, TimeKind::Nanoseconds, is_far));
        }
        let factor = self.unit.nanoseconds();
        let time = |number: T| number.scaled_in_range(factor).wrapping_add(reference);
        Ok(if found.has_missing {
            numbers.iter().map(|number| if number.is_missing() { i64::MIN } else { time(*number) }).collect()
        } else {
            numbers.iter().map(|number| time(*number)).collect()
        })
    }

    /// Returns the nanoseconds since 1970 for a number; `None` if they exceed 64 bits.
    fn nanoseconds_of<T: Number>(&self, number: T) -> Option<i64> {
        let scaled = number.scaled(self.unit.nanoseconds())?;
        scaled.checked_add(self.nanoseconds?).filter(|found| *found != i64::MIN)
    }

    /// Decodes each number in the calendar; `convert` makes the result from the date, `missing` is the result for a missing number.
    fn decode_dates<T: Number, O: Copy>(
        &self,
        kind: TimeKind,
        numbers: &[T],
        missing: O,
        convert: impl Fn(Base) -> Option<O>,
    ) -> Result<Vec<O>> {
        let base = self.base()?;
        let mut times = Vec::with_capacity(numbers.len());
        for (index, number) in numbers.iter().enumerate() {
            let time = match number.is_missing() {
                true => Some(missing),
                false => self.microseconds(number.float()).and_then(|microseconds| convert(base.plus(microseconds))),
            };
            times.push(time.ok_or_else(|| self.out_of_range(index, number, kind))?);
        }
        Ok(times)
    }

    /// Returns the error for the first number that is too far.
    fn first_out_of_range<T: Number>(&self, numbers: &[T], kind: TimeKind, far: impl Fn(T) -> bool) -> Error {
        let found = numbers.iter().enumerate().find(|(_, number)| !number.is_missing() && far(**number));
        let (index, number) = found.map_or((0, T::ENDS.1), |(index, number)| (index, *number));
        self.out_of_range(index, &number, kind)
    }

    fn out_of_range<T: Number>(&self, index: usize, number: &T, kind: TimeKind) -> Error {
        Error::OutOfRange {
            index,
            value: number.to_string(),
            units: self.text().to_owned(),
            calendar: self.calendar().name(),
            target: kind.name(),
        }
    }
}

/// Returns whether a day is after the change to the Gregorian calendar.
fn is_after_reform(at: Base) -> bool {
    at.day >= REFORM
}
