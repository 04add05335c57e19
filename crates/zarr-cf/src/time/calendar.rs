//! Calendars: the days that exist, and their numbers.

use super::error::{Error, Result};
use std::fmt;

/// Calendar of the CF conventions.
///
/// [Section 4.4.1](https://cfconventions.org/cf-conventions/cf-conventions.html#calendar) defines them. The names, and
/// whether a year 0 exists, are those of cftime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Calendar {
    /// `standard`, `gregorian`: Julian until 1582-10-04, then Gregorian from the next day, 1582-10-15; no year 0.
    Standard,
    /// `proleptic_gregorian`: Gregorian at all times; with a year 0.
    ProlepticGregorian,
    /// `julian`: a leap year every four years; no year 0.
    Julian,
    /// `noleap`, `365_day`: no year is a leap year; with a year 0.
    NoLeap,
    /// `all_leap`, `366_day`: all years are leap years; with a year 0.
    AllLeap,
    /// `360_day`: twelve months of 30 days; with a year 0.
    Days360,
    /// `tai`: Gregorian, beginning in 1958.
    Tai,
}

/// Names of the calendars; of several names of a calendar, the first is written.
const NAMES: [(&str, Calendar); 10] = [
    ("standard", Calendar::Standard),
    ("gregorian", Calendar::Standard),
    ("proleptic_gregorian", Calendar::ProlepticGregorian),
    ("julian", Calendar::Julian),
    ("noleap", Calendar::NoLeap),
    ("365_day", Calendar::NoLeap),
    ("all_leap", Calendar::AllLeap),
    ("366_day", Calendar::AllLeap),
    ("360_day", Calendar::Days360),
    ("tai", Calendar::Tai),
];

/// Number of days before each month in a year of 365 days.
const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/// Number of days before each month in a year of 366 days.
const BEFORE_LEAP: [i64; 12] = [0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335];

/// Day number of 1582-10-15, the first Gregorian day of the calendar `standard`.
pub(super) const REFORM: i64 = -141_427;

/// Day number of 0000-03-01 in the Gregorian calendar; `MARCH_JULIAN` is that in the Julian calendar.
const MARCH_GREGORIAN: i64 = -719_468;
const MARCH_JULIAN: i64 = -719_470;

impl Calendar {
    /// Returns the calendar with the name in the attribute `calendar`, ignoring case. Without that attribute the calendar is `standard`.
    ///
    /// # Errors
    /// [`Error::UnknownCalendar`], which lists the known names.
    pub fn parse(name: &str) -> Result<Self> {
        let found = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let unknown = || {
            let known: Vec<&str> = NAMES.iter().map(|(known, _)| *known).collect();
            Error::UnknownCalendar { name: name.to_owned(), known: known.join(", ") }
        };
        found.map(|(_, calendar)| *calendar).ok_or_else(unknown)
    }

    /// Returns the name that is written to the attribute `calendar`.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, calendar)| *calendar == self).map_or("", |(name, _)| name)
    }

    /// Returns whether year 0 precedes year 1; if not, year -1 does.
    pub fn has_year_zero(self) -> bool {
        !matches!(self, Self::Standard | Self::Julian | Self::Tai)
    }

    /// Returns whether times of the calendar may be nanoseconds since 1970, as numpy's `datetime64[ns]`.
    pub(super) fn is_numpy(self) -> bool {
        matches!(self, Self::Standard | Self::ProlepticGregorian)
    }

    /// Returns whether `year` is a leap year; false for a year 0 that does not exist.
    pub fn is_leap_year(self, year: i32) -> bool {
        if year == 0 && !self.has_year_zero() {
            return false;
        }
        let count = self.count_of_year(year);
        match self {
            Self::AllLeap => true,
            Self::NoLeap | Self::Days360 => false,
            Self::Julian => count % 4 == 0,
            Self::Standard if year < 1582 => count % 4 == 0,
            _ => count % 4 == 0 && (count % 100 != 0 || count % 400 == 0),
        }
    }

    /// Returns the last day of a month; `None` if `month` is not 1 to 12.
    pub fn last_day_of_month(self, year: i32, month: u8) -> Option<u8> {
        match month {
            1..=12 if self == Self::Days360 => Some(30),
            2 => Some(if self.is_leap_year(year) { 29 } else { 28 }),
            4 | 6 | 9 | 11 => Some(30),
            1..=12 => Some(31),
            _ => None,
        }
    }

    /// Returns the number of the year in a count that includes a year 0.
    fn count_of_year(self, year: i32) -> i64 {
        let year = i64::from(year);
        if year < 0 && !self.has_year_zero() { year + 1 } else { year }
    }

    /// Returns the number of an existing day: the days since 1970-01-01 of the Gregorian calendar, or since the start of year 0 in
    /// calendars whose years have equal length.
    pub(super) fn day_number(self, year: i32, month: u8, day: u8) -> i64 {
        let (count, month, day) = (self.count_of_year(year), i64::from(month), i64::from(day));
        let before = |table: [i64; 12]| table.get(month as usize - 1).copied().unwrap_or_default();
        match self {
            Self::NoLeap => count * 365 + before(BEFORE) + day - 1,
            Self::AllLeap => count * 366 + before(BEFORE_LEAP) + day - 1,
            Self::Days360 => count * 360 + (month - 1) * 30 + day - 1,
            Self::Julian => julian(count, month, day),
            Self::ProlepticGregorian | Self::Tai => gregorian(count, month, day),
            Self::Standard => {
                let julian = julian(count, month, day);
                if (count, month, day) < (1582, 10, 15) { julian } else { gregorian(count, month, day) }
            }
        }
    }

    /// Returns the year, month and day of a day number: the inverse of [`Calendar::day_number`].
    pub(super) fn date_of(self, number: i64) -> (i64, u8, u8) {
        let (count, month, day) = match self {
            Self::NoLeap => date_of_equal_years(number, 365, &BEFORE),
            Self::AllLeap => date_of_equal_years(number, 366, &BEFORE_LEAP),
            Self::Days360 => {
                let (year, rest) = (number.div_euclid(360), number.rem_euclid(360));
                (year, (rest / 30 + 1) as u8, (rest % 30 + 1) as u8)
            }
            Self::Julian => date_of_julian(number),
            Self::Standard if number < REFORM => date_of_julian(number),
            Self::ProlepticGregorian | Self::Tai | Self::Standard => date_of_gregorian(number),
        };
        let year = if count <= 0 && !self.has_year_zero() { count - 1 } else { count };
        (year, month, day)
    }
}

impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns the number of days since March 1, in a year that begins in March.
fn day_of_march_year(month: i64, day: i64) -> i64 {
    (153 * ((month + 9) % 12) + 2) / 5 + day - 1
}

/// Returns the month and day for a number of days since March 1.
fn month_of_march_year(day: i64) -> (u8, u8) {
    let month = (5 * day + 2) / 153;
    ((if month < 10 { month + 3 } else { month - 9 }) as u8, (day - (153 * month + 2) / 5 + 1) as u8)
}

fn gregorian(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    era * 146_097 + year * 365 + year / 4 - year / 100 + day_of_march_year(month, day) + MARCH_GREGORIAN
}

fn julian(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    year.div_euclid(4) * 1461 + year.rem_euclid(4) * 365 + day_of_march_year(month, day) + MARCH_JULIAN
}

fn date_of_gregorian(number: i64) -> (i64, u8, u8) {
    let number = number - MARCH_GREGORIAN;
    let (era, rest) = (number.div_euclid(146_097), number.rem_euclid(146_097));
    let year = (rest - rest / 1460 + rest / 36_524 - rest / 146_096) / 365;
    let (month, day) = month_of_march_year(rest - (year * 365 + year / 4 - year / 100));
    (era * 400 + year + i64::from(month <= 2), month, day)
}

fn date_of_julian(number: i64) -> (i64, u8, u8) {
    let number = number - MARCH_JULIAN;
    let (era, rest) = (number.div_euclid(1461), number.rem_euclid(1461));
    let year = (rest - rest / 1460) / 365;
    let (month, day) = month_of_march_year(rest - year * 365);
    (era * 4 + year + i64::from(month <= 2), month, day)
}

fn date_of_equal_years(number: i64, length: i64, before: &[i64; 12]) -> (i64, u8, u8) {
    let (year, rest) = (number.div_euclid(length), number.rem_euclid(length));
    let month = before.partition_point(|before| *before <= rest);
    let start = before.get(month.saturating_sub(1)).copied().unwrap_or_default();
    (year, month as u8, (rest - start + 1) as u8)
}
