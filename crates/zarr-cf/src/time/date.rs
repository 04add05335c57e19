//! Date with a time of day, in any calendar.

use super::calendar::{Calendar, REFORM};
use super::error::{Error, Result};
use std::cmp::Ordering;
use std::fmt;

/// Maximum year; the minimum is its negative.
pub(super) const MAX_YEAR: i32 = 999_999;

/// Number of microseconds in a day.
pub(super) const DAY: i64 = 86_400_000_000;

/// Date with a time of day in a calendar, without a time zone: `cftime.datetime`.
///
/// Dates of one calendar are ordered; dates of two calendars are neither equal nor ordered.
///
/// ```
/// use zarr_cf::time::{Calendar, DateTime};
///
/// let date = DateTime::new(Calendar::Days360, 2000, 2, 30)?.at(6, 0, 0, 500_000)?;
/// assert_eq!(date.to_string(), "2000-02-30 06:00:00.500000");
/// assert!(date < DateTime::parse("2000-03", Calendar::Days360)?);
/// assert!(DateTime::new(Calendar::Standard, 1582, 10, 10).is_err());
/// # Ok::<(), zarr_cf::time::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DateTime {
    year: i32,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
    microsecond: u32,
    calendar: Calendar,
}

impl DateTime {
    /// Returns the start of a day.
    ///
    /// # Errors
    /// [`Error::NoSuchDate`] if the calendar does not have that day, or the year has more than six digits.
    pub fn new(calendar: Calendar, year: i32, month: u8, day: u8) -> Result<Self> {
        let refused = |problem| Error::NoSuchDate {
            date: format!("{year:04}-{month:02}-{day:02}"),
            calendar: calendar.name(),
            problem,
        };
        if !(-MAX_YEAR..=MAX_YEAR).contains(&year) {
            return Err(refused("years have up to six digits"));
        }
        if year == 0 && !calendar.has_year_zero() {
            return Err(refused("it has no year 0"));
        }
        if calendar == Calendar::Tai && year < 1958 {
            return Err(refused("it begins in 1958"));
        }
        let last = calendar.last_day_of_month(year, month).ok_or_else(|| refused("months are 1 to 12"))?;
        if !(1..=last).contains(&day) {
            return Err(refused("the month does not have that day"));
        }
        if calendar == Calendar::Standard && (year, month) == (1582, 10) && (5..15).contains(&day) {
            return Err(refused("the days from 1582-10-05 to 1582-10-14 were left out"));
        }
        Ok(Self { year, month, day, hour: 0, minute: 0, second: 0, microsecond: 0, calendar })
    }

    /// Returns the same day at a time of day. There are no leap seconds.
    ///
    /// # Errors
    /// [`Error::NoSuchDate`] if the day does not have that time.
    pub fn at(self, hour: u8, minute: u8, second: u8, microsecond: u32) -> Result<Self> {
        if hour > 23 || minute > 59 || second > 59 || microsecond > 999_999 {
            return Err(Error::NoSuchDate {
                date: format!(
                    "{:04}-{:02}-{:02} {hour:02}:{minute:02}:{second:02}.{microsecond:06}",
                    self.year, self.month, self.day
                ),
                calendar: self.calendar.name(),
                problem: "a day ends at 23:59:59.999999",
            });
        }
        Ok(Self { hour, minute, second, microsecond, ..self })
    }

    /// Returns the date for nanoseconds since 1970, in the calendar `proleptic_gregorian`, rounded down to microseconds.
    pub fn from_nanoseconds(nanoseconds: i64) -> Self {
        let microseconds = nanoseconds.div_euclid(1000);
        let calendar = Calendar::ProlepticGregorian;
        let (year, month, day) = calendar.date_of(microseconds.div_euclid(DAY));
        // 64 bits of nanoseconds are the years from 1677 to 2262.
        Self::of_parts(calendar, year as i32, month, day, microseconds.rem_euclid(DAY))
    }

    /// Returns the nanoseconds since 1970; `None` if they exceed 64 bits, or the calendar is not Gregorian on that date.
    pub fn to_nanoseconds(self) -> Option<i64> {
        let number = self.day_number();
        let gregorian = match self.calendar {
            Calendar::ProlepticGregorian => true,
            Calendar::Standard => number >= REFORM,
            _ => false,
        };
        let microseconds = number.checked_mul(DAY)?.checked_add(self.microsecond_of_day())?;
        microseconds.checked_mul(1000).filter(|nanoseconds| gregorian && *nanoseconds != i64::MIN)
    }

    /// Returns the date `microseconds` later; `None` outside of the valid years.
    pub fn plus_microseconds(&self, microseconds: i64) -> Option<Self> {
        let total = i128::from(self.microsecond_of_day()) + i128::from(microseconds);
        let days = i64::try_from(total.div_euclid(i128::from(DAY))).ok()?;
        let rest = i64::try_from(total.rem_euclid(i128::from(DAY))).ok()?;
        Self::of_day(self.calendar, self.day_number().checked_add(days)?, rest)
    }

    /// Returns the microseconds from `other` to this date; `None` if the calendars differ.
    pub fn microseconds_since(&self, other: &Self) -> Option<i128> {
        let days = i128::from(self.day_number() - other.day_number());
        let rest = i128::from(self.microsecond_of_day() - other.microsecond_of_day());
        (self.calendar == other.calendar).then_some(days * i128::from(DAY) + rest)
    }

    /// Returns the date for a day number and the microseconds since the start of that day; `None` outside of the valid years.
    pub(super) fn of_day(calendar: Calendar, number: i64, microsecond_of_day: i64) -> Option<Self> {
        // Days of a million years, so that nothing overflows below.
        if number.abs() > 400 * i64::from(MAX_YEAR) {
            return None;
        }
        let (year, month, day) = calendar.date_of(number);
        let year = i32::try_from(year).ok().filter(|year| (-MAX_YEAR..=MAX_YEAR).contains(year))?;
        if calendar == Calendar::Tai && year < 1958 {
            return None;
        }
        Some(Self::of_parts(calendar, year, month, day, microsecond_of_day))
    }

    /// Returns an existing date with the microseconds since the start of the day.
    fn of_parts(calendar: Calendar, year: i32, month: u8, day: u8, microsecond_of_day: i64) -> Self {
        let second = microsecond_of_day / 1_000_000;
        Self {
            year,
            month,
            day,
            hour: (second / 3600) as u8,
            minute: (second / 60 % 60) as u8,
            second: (second % 60) as u8,
            microsecond: (microsecond_of_day % 1_000_000) as u32,
            calendar,
        }
    }

    pub(super) fn day_number(self) -> i64 {
        self.calendar.day_number(self.year, self.month, self.day)
    }

    pub(super) fn microsecond_of_day(self) -> i64 {
        let second = i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second);
        second * 1_000_000 + i64::from(self.microsecond)
    }

    /// Returns the fields by which dates of a calendar are ordered.
    fn fields(self) -> (i32, u8, u8, u8, u8, u8, u32) {
        (self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond)
    }

    /// Returns the date with the same fields in another calendar.
    ///
    /// # Errors
    /// [`Error::NoSuchDate`] if that calendar does not have the date.
    pub fn with_calendar(self, calendar: Calendar) -> Result<Self> {
        Self::new(calendar, self.year, self.month, self.day)?.at(self.hour, self.minute, self.second, self.microsecond)
    }

    /// Returns the date as xarray writes it into units, always with six decimals.
    pub(super) fn with_microseconds(self) -> String {
        let Self { year, month, day, hour, minute, second, microsecond, .. } = self;
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{microsecond:06}")
    }

    /// Returns the year, which may be negative, and 0 if the calendar has a year 0.
    pub fn year(&self) -> i32 {
        self.year
    }

    /// Returns the month, 1 to 12.
    pub fn month(&self) -> u8 {
        self.month
    }

    /// Returns the day of the month, from 1.
    pub fn day(&self) -> u8 {
        self.day
    }

    /// Returns the hour, 0 to 23.
    pub fn hour(&self) -> u8 {
        self.hour
    }

    /// Returns the minute, 0 to 59.
    pub fn minute(&self) -> u8 {
        self.minute
    }

    /// Returns the second, 0 to 59.
    pub fn second(&self) -> u8 {
        self.second
    }

    /// Returns the microsecond of the second, 0 to 999999.
    pub fn microsecond(&self) -> u32 {
        self.microsecond
    }

    /// Returns the calendar of the date.
    pub fn calendar(&self) -> Calendar {
        self.calendar
    }
}

impl PartialOrd for DateTime {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.calendar == other.calendar).then(|| self.fields().cmp(&other.fields()))
    }
}

/// Writes the date as cftime prints it: `2000-01-31 12:30:00`, with six decimals if there is a fraction.
impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = if self.year < 0 { 5 } else { 4 };
        write!(f, "{:0width$}", self.year)?;
        write!(f, "-{:02}-{:02}", self.month, self.day)?;
        write!(f, " {:02}:{:02}:{:02}", self.hour, self.minute, self.second)?;
        if self.microsecond > 0 { write!(f, ".{:06}", self.microsecond) } else { Ok(()) }
    }
}
