//! Encoding of times as numbers.

use super::date::DateTime;
use super::error::{Error, Result};
use super::exact::quotient;
use super::infer::{timestamp, unit_of_dates, unit_of_microseconds, unit_of_nanoseconds, unit_of_times};
use super::numbers::extremes;
use super::reference::Base;
use super::unit::Unit;
use super::units::TimeUnits;

/// Wanted type of encoded numbers, which xarray calls the `dtype` of the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NumberKind {
    /// Integers if all times are whole in the units, else floats.
    #[default]
    Any,
    /// Integers. If times are not whole in the units, other units are used.
    Integer,
    /// Floats, even if all times are whole in the units.
    Float,
}

/// Numbers that times are encoded as.
#[derive(Debug, Clone, PartialEq)]
pub enum EncodedNumbers {
    /// Integers; `i64::MIN` is a missing time.
    I64(Vec<i64>),
    /// Floats; NaN is a missing time.
    F64(Vec<f64>),
}

/// Times or timedeltas encoded as numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// Encoded numbers, one for each time.
    pub numbers: EncodedNumbers,
    /// Attribute `units` to write; it differs from [`TimeUnits::written`] if other units were used.
    pub units: String,
}

/// Returns the unit to use, and whether to use integers; `needed` is the longest unit in which all times are whole.
pub(super) fn choose(unit: Unit, needed: Unit, kind: NumberKind) -> (Unit, bool) {
    match kind {
        NumberKind::Any => (unit, unit.nanoseconds() <= needed.nanoseconds()),
        NumberKind::Integer if unit.nanoseconds() > needed.nanoseconds() => (needed, true),
        NumberKind::Integer => (unit, true),
        NumberKind::Float => (unit, false),
    }
}

/// Counts durations in nanoseconds by a unit; `i64::MIN` is missing.
pub(super) fn count(durations: impl Iterator<Item = i64>, unit: Unit, integers: bool) -> EncodedNumbers {
    let length = unit.nanoseconds();
    if integers {
        let whole = |duration: i64| if duration == i64::MIN { i64::MIN } else { duration.div_euclid(length) };
        return EncodedNumbers::I64(durations.map(whole).collect());
    }
    let float = |duration: i64| if duration == i64::MIN { f64::NAN } else { duration as f64 / length as f64 };
    EncodedNumbers::F64(durations.map(float).collect())
}

impl TimeUnits {
    /// Encodes nanoseconds since 1970 as numbers; `i64::MIN` is a missing time. In a calendar that is not Gregorian the dates have the same
    /// year, month and day.
    ///
    /// ```
    /// use zarr_cf::time::{Calendar, EncodedNumbers, NumberKind, TimeUnits};
    ///
    /// let units = TimeUnits::parse("days since 2000-01-01", Calendar::Standard)?;
    /// let encoded = units.encode_nanoseconds(&[946_728_000_000_000_000], NumberKind::Any)?;
    /// assert_eq!(encoded.numbers, EncodedNumbers::F64(vec![0.5]));
    /// let encoded = units.encode_nanoseconds(&[946_728_000_000_000_000], NumberKind::Integer)?;
    /// assert_eq!((encoded.numbers, &*encoded.units), (EncodedNumbers::I64(vec![12]), "hours since 2000-01-01"));
    /// # Ok::<(), zarr_cf::time::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotCountable`] if the calendar does not have a date, or if a time is not a whole microsecond and the reference date is
    /// outside of nanoseconds since 1970; [`Error::Reference`] if the calendar does not have the reference date.
    pub fn encode_nanoseconds(&self, times: &[i64], kind: NumberKind) -> Result<Encoded> {
        self.rewritten()?.encode_times(times, kind)
    }

    fn encode_times(&self, times: &[i64], kind: NumberKind) -> Result<Encoded> {
        let ends = extremes(times).ends;
        let since = |time: i64| time.checked_sub(self.nanoseconds?).filter(|found| *found != i64::MIN);
        let fits = ends.is_none_or(|(low, high)| since(low).is_some() && since(high).is_some());
        if let Some(reference) = self.nanoseconds.filter(|_| fits) {
            let first = times.iter().copied().find(|time| *time != i64::MIN).unwrap_or_default();
            let offset = first.saturating_sub(reference);
            let mut needed = unit_of_times(times);
            if offset % needed.nanoseconds() != 0 {
                needed = unit_of_nanoseconds(std::iter::once(offset));
            }
            let (unit, integers) = choose(self.unit, needed, kind);
            let durations = times.iter().map(|time| if *time == i64::MIN { i64::MIN } else { *time - reference });
            let numbers = count(durations, unit, integers);
            let units = if unit == self.unit {
                self.written().to_owned()
            } else {
                let date = timestamp(reference, 'T');
                format!("{} since {}", unit.plural(), date.strip_suffix("T00:00:00").unwrap_or(&date))
            };
            return Ok(Encoded { numbers, units });
        }
        let refused = |index, time: i64, problem| Error::NotCountable {
            index,
            time: timestamp(time, ' '),
            units: self.text().to_owned(),
            calendar: self.calendar().name(),
            problem,
        };
        let mut dates = Vec::with_capacity(times.len());
        for (index, time) in times.iter().copied().enumerate() {
            if time == i64::MIN {
                dates.push(None);
                continue;
            }
            if time % 1000 != 0 {
                return Err(refused(index, time, "dates have whole microseconds"));
            }
            let date = DateTime::from_nanoseconds(time).with_calendar(self.calendar());
            dates.push(Some(date.map_err(|_| refused(index, time, "the calendar does not have the date"))?));
        }
        self.encode_in_calendar(&dates, unit_of_times(times), kind)
    }

    /// Encodes dates in the calendar of the units as numbers; `None` is a missing time.
    ///
    /// # Errors
    /// [`Error::OtherCalendar`] for a date of another calendar, and [`Error::Reference`] if the units are nanoseconds.
    pub fn encode_dates(&self, dates: &[Option<DateTime>], kind: NumberKind) -> Result<Encoded> {
        let unit = unit_of_dates(dates, self.calendar())?;
        self.rewritten()?.encode_in_calendar(dates, unit, kind)
    }

    /// Returns the units as they are parsed after they are written: counts begin at their reference date.
    fn rewritten(&self) -> Result<Self> {
        if self.written() == self.text() { Ok(self.clone()) } else { Self::parse(self.written(), self.calendar()) }
    }

    /// Encodes dates whose differences are whole in the unit `needed`.
    fn encode_in_calendar(&self, dates: &[Option<DateTime>], needed: Unit, kind: NumberKind) -> Result<Encoded> {
        let base = self.base()?;
        let since = |date: &DateTime| since(date, base);
        let first = dates.iter().flatten().next().map(since).unwrap_or_default();
        // Steps that wrapped may seem to need more.
        let needed = needed.max(Unit::Microsecond);
        let needed = match first % i128::from(needed.microseconds()) {
            0 => needed,
            _ => unit_of_microseconds(std::iter::once(first)),
        };
        let (unit, _) = choose(self.unit, needed, kind);
        if unit != self.unit {
            // Read again, as the fraction of a second that is written may be read as another.
            let start = DateTime::of_day(self.calendar(), base.day, base.microsecond);
            let start = start.map(DateTime::with_microseconds).unwrap_or_default();
            let units = Self::inferred(&format!("{} since {start}", unit.plural()), self.calendar())?;
            return units.encode_in_calendar(dates, needed, kind);
        }
        let units = self.written().to_owned();
        let length = unit.microseconds();
        let whole = |date: &DateTime| {
            let duration = since(date);
            (duration % i128::from(length) == 0).then(|| duration / i128::from(length)).and_then(|n| n.try_into().ok())
        };
        let float = |date: &DateTime| match whole(date) {
            Some(whole) => whole as f64,
            None => quotient(since(date), length),
        };
        let has_missing = dates.iter().any(Option::is_none);
        if kind != NumberKind::Float && (kind == NumberKind::Integer || !has_missing) {
            let integer = |date: &Option<DateTime>| date.as_ref().map_or(Some(i64::MIN), whole);
            if let Some(integers) = dates.iter().map(integer).collect() {
                return Ok(Encoded { numbers: EncodedNumbers::I64(integers), units });
            }
        }
        let floats: Vec<f64> = dates.iter().map(|date| date.as_ref().map_or(f64::NAN, float)).collect();
        // xarray makes integers of floats that are whole, as those that were rounded to be.
        let is_whole = |float: &f64| float.trunc() == *float && float.abs() < 9.2e18;
        let numbers = match kind {
            NumberKind::Any if floats.iter().all(is_whole) => {
                EncodedNumbers::I64(floats.iter().map(|float| *float as i64).collect())
            }
            _ => EncodedNumbers::F64(floats),
        };
        Ok(Encoded { numbers, units })
    }
}

/// Returns the microseconds from the reference date `base` to a date of the same calendar.
fn since(date: &DateTime, base: Base) -> i128 {
    let days = i128::from(date.day_number() - base.day);
    days * i128::from(super::date::DAY) + i128::from(date.microsecond_of_day() - base.microsecond)
}
