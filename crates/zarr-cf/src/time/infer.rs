//! Inference of units in which times are whole, as in xarray.

use super::calendar::Calendar;
use super::date::{DAY, DateTime};
use super::error::{Error, Result};
use super::reference::fraction;
use super::unit::{NUMPY, Unit};
use super::units::TimeUnits;

/// Returns the times that are not missing.
pub(super) fn present(times: &[i64]) -> impl Iterator<Item = i64> + '_ {
    times.iter().copied().filter(|time| *time != i64::MIN)
}

/// Returns the longest of `units` that divides all `durations`. `length` gives the length of a unit, in the unit of the durations.
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

/// Returns the longest unit that divides all these durations in nanoseconds.
pub(super) fn unit_of_nanoseconds(durations: impl Iterator<Item = i64>) -> Unit {
    unit_of(durations, &NUMPY, Unit::nanoseconds)
}

/// Returns the longest unit that divides all these durations in microseconds.
pub(super) fn unit_of_microseconds(durations: impl Iterator<Item = i128>) -> Unit {
    // Days are the longest, so that the rest of a day says all.
    let rests = durations.map(|duration| (duration % i128::from(DAY)) as i64);
    let microseconds = NUMPY.split_last().map_or(&[][..], |(_, longer)| longer);
    unit_of(rests, microseconds, Unit::microseconds)
}

/// Returns the longest unit that divides the differences between consecutive times.
pub(super) fn unit_of_times(times: &[i64]) -> Unit {
    // Steps overflow as those of numpy do.
    unit_of_nanoseconds(present(times).zip(present(times).skip(1)).map(|(one, next)| next.wrapping_sub(one)))
}

/// Returns the longest unit that divides the differences between consecutive dates.
///
/// # Errors
/// [`Error::OtherCalendar`] if a date is of another calendar than `calendar`.
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

/// Returns nanoseconds since 1970 as a date in the format of pandas, with `separator` between date and time.
pub(super) fn timestamp(nanoseconds: i64, separator: char) -> String {
    let date = DateTime::from_nanoseconds(nanoseconds);
    let [hour, minute, second] = [date.hour(), date.minute(), date.second()];
    let fraction = fraction(nanoseconds.rem_euclid(1_000_000_000));
    let day = format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day());
    format!("{day}{separator}{hour:02}:{minute:02}:{second:02}{fraction}")
}

impl TimeUnits {
    /// Returns the units that xarray chooses for nanoseconds since 1970 without units: the longest unit that divides all differences, since
    /// the first time, in the calendar `proleptic_gregorian`.
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
    /// No error is known: units of this form can be parsed.
    pub fn infer_nanoseconds(times: &[i64]) -> Result<Self> {
        let first = present(times).next().unwrap_or_default();
        let text = format!("{} since {}", unit_of_times(times).plural(), timestamp(first, ' '));
        Self::inferred(&text, Calendar::ProlepticGregorian)
    }

    /// Returns the units that xarray chooses for dates without units: the longest unit that divides all differences, since the first date.
    ///
    /// # Errors
    /// [`Error::NoDates`] if all dates are missing, [`Error::OtherCalendar`] if they are of several calendars.
    pub fn infer_dates(dates: &[Option<DateTime>]) -> Result<Self> {
        let first = dates.iter().flatten().next().ok_or(Error::NoDates)?;
        let unit = unit_of_dates(dates, first.calendar())?;
        Self::inferred(&format!("{} since {}", unit.plural(), first.with_microseconds()), first.calendar())
    }
}
