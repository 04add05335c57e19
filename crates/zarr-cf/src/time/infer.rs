//! The units in which times are whole, as xarray chooses them.

use super::calendar::Calendar;
use super::date::{DAY, DateTime};
use super::error::{Error, Result};
use super::reference::fraction;
use super::unit::{NUMPY, Unit};
use super::units::TimeUnits;

/// The times that are not missing.
pub(super) fn present(times: &[i64]) -> impl Iterator<Item = i64> + '_ {
    times.iter().copied().filter(|time| *time != i64::MIN)
}

/// The longest unit that divides all durations, which are of the unit in which `length` gives the lengths of others.
fn unit_of(mut durations: impl Iterator<Item = i64>, units: &[Unit], length: impl Fn(Unit) -> i64) -> Unit {
    // Each unit divides those before it.
    let mut left = units.iter().copied();
    let Some(mut unit) = left.next() else {
        return Unit::Second;
    };
    let fits = durations.all(|duration| {
        while duration % length(unit) != 0 {
            let Some(next) = left.next() else {
                return false;
            };
            unit = next;
        }
        true
    });
    if fits { unit } else { Unit::Second }
}

/// The longest unit that divides all of these nanoseconds.
pub(super) fn unit_of_nanoseconds(durations: impl Iterator<Item = i64>) -> Unit {
    unit_of(durations, &NUMPY, Unit::nanoseconds)
}

/// The longest unit that divides all of these microseconds.
pub(super) fn unit_of_microseconds(durations: impl Iterator<Item = i128>) -> Unit {
    // Days are the longest, so that the rest of a day says all.
    let rests = durations.map(|duration| (duration % i128::from(DAY)) as i64);
    let microseconds = NUMPY.split_last().map_or(&[][..], |(_, longer)| longer);
    unit_of(rests, microseconds, Unit::microseconds)
}

/// The longest unit that divides the steps from each time to the next.
pub(super) fn unit_of_times(times: &[i64]) -> Unit {
    // Steps overflow as those of numpy do.
    unit_of_nanoseconds(present(times).zip(present(times).skip(1)).map(|(one, next)| next.wrapping_sub(one)))
}

/// The longest unit that divides the steps from each date to the next.
///
/// # Errors
/// [`Error::OtherCalendar`] where the dates are of several.
pub(super) fn unit_of_dates(dates: &[Option<DateTime>], calendar: Calendar) -> Result<Unit> {
    for (index, date) in dates.iter().enumerate() {
        if let Some(date) = date.filter(|date| date.calendar() != calendar) {
            let (found, expected) = (date.calendar().name(), calendar.name());
            return Err(Error::OtherCalendar { index, date: date.to_string(), found, expected });
        }
    }
    let present = || dates.iter().flatten();
    Ok(unit_of_microseconds(present().zip(present().skip(1)).filter_map(|(one, next)| next.microseconds_since(one))))
}

/// Nanoseconds since 1970 as pandas prints them.
pub(super) fn timestamp(nanoseconds: i64, separator: char) -> String {
    let date = DateTime::from_nanoseconds(nanoseconds);
    let [hour, minute, second] = [date.hour(), date.minute(), date.second()];
    let fraction = fraction(nanoseconds.rem_euclid(1_000_000_000));
    let day = format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day());
    format!("{day}{separator}{hour:02}:{minute:02}:{second:02}{fraction}")
}

impl TimeUnits {
    /// The units that xarray gives nanoseconds since 1970 that have none: the longest unit that divides all steps,
    /// since the first time, in the calendar `proleptic_gregorian`.
    ///
    /// ```
    /// use zarr_cf::time::TimeUnits;
    ///
    /// let units = TimeUnits::infer_nanoseconds(&[946_684_800_000_000_000, 946_771_200_000_000_000])?;
    /// assert_eq!(units.written(), "days since 2000-01-01 00:00:00");
    /// # Ok::<(), zarr_cf::time::Error>(())
    /// ```
    ///
    /// # Errors
    /// None is known: units of this form can be read.
    pub fn infer_nanoseconds(times: &[i64]) -> Result<Self> {
        let first = present(times).next().unwrap_or_default();
        let text = format!("{} since {}", unit_of_times(times).plural(), timestamp(first, ' '));
        Self::inferred(&text, Calendar::ProlepticGregorian)
    }

    /// The units that xarray gives dates that have none: the longest unit that divides all steps, since the first date.
    ///
    /// # Errors
    /// [`Error::NoDates`] if all are missing, [`Error::OtherCalendar`] if they are of several calendars.
    pub fn infer_dates(dates: &[Option<DateTime>]) -> Result<Self> {
        let first = dates.iter().flatten().next().ok_or(Error::NoDates)?;
        let unit = unit_of_dates(dates, first.calendar())?;
        Self::inferred(&format!("{} since {}", unit.plural(), first.with_microseconds()), first.calendar())
    }
}
