//! ISO 8601 dates, whose last parts may be missing.

use super::calendar::Calendar;
use super::date::{DAY, DateTime};
use super::error::{Error, Result};
use std::ops::Range;

/// Last part that a partial date has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resolution {
    /// Year: `2000`.
    Year,
    /// Month: `2000-01`.
    Month,
    /// Day: `2000-01-31`.
    Day,
    /// Hour: `2000-01-31T12`.
    Hour,
    /// Minute: `2000-01-31T12:30`.
    Minute,
    /// Second: `2000-01-31T12:30:05`.
    Second,
    /// `2000-01-31T12:30:05.250`, one to three digits.
    Millisecond,
    /// `2000-01-31T12:30:05.250000`, four to six digits.
    Microsecond,
    /// `2000-01-31T12:30:05.250000000`, seven to nine digits.
    Nanosecond,
}

/// Date whose last parts may be missing; it stands for all times with the given parts: `2000-01` is a month.
///
/// The accepted forms are those of xarray: `2000-01-31T12:30:05.5`, also with a space for `T`, and without separators, `20000131T123005.5`.
/// Years have four or five digits and may have a sign.
///
/// ```
/// use zarr_cf::time::{Calendar, PartialDate};
///
/// let (start, end) = PartialDate::parse("2000-02")?.range(Calendar::Days360)?;
/// assert_eq!((start.to_string(), end.to_string()), ("2000-02-01 00:00:00".into(), "2000-03-01 00:00:00".into()));
/// assert_eq!(PartialDate::parse("1970-01-02")?.range_nanoseconds()?.start, 86_400_000_000_000);
/// # Ok::<(), zarr_cf::time::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialDate {
    year: i32,
    month: u8,
    day: u8,
    time: [u8; 3],
    nanosecond: u32,
    resolution: Resolution,
}

/// Returns the digits at the start of a string, if their number is in `lengths`, and the rest of the string.
fn digits(text: &str, lengths: Range<usize>) -> Option<(&str, &str)> {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at_checked(len).filter(|_| lengths.contains(&len))
}

/// Returns two digits after `separator`, and the rest of the string; `Some(None)` if the string is empty, `None` if it is neither.
fn pair<'t>(text: &'t str, separator: &str) -> Option<Option<(u8, &'t str)>> {
    if text.is_empty() {
        return Some(None);
    }
    let (number, rest) = text.strip_prefix(separator)?.split_at_checked(2)?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    Some(Some((number.parse().ok().filter(|_| is_number)?, rest)))
}

impl PartialDate {
    /// Parses a date with any number of parts.
    ///
    /// # Errors
    /// [`Error::NotDate`] if the string has another form. Whether the date exists is only known with a calendar.
    pub fn parse(text: &str) -> Result<Self> {
        Self::read(text).ok_or_else(|| Error::NotDate { text: text.to_owned() })
    }

    fn read(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (run, after) = digits(unsigned, 4..10)?;
        // Without separators, four or five digits are the year: as many as leave pairs.
        let basic = run.len() > 5 || after.starts_with('T');
        let (year, mut rest) =
            if basic { unsigned.split_at_checked(if run.len() % 2 == 0 { 4 } else { 5 })? } else { (run, after) };
        let year: i32 = year.parse().ok()?;
        let year = if negative { -year } else { year };
        let (date, time) = if basic { ("", "") } else { ("-", ":") };
        let mut part = Self { year, month: 1, day: 1, time: [0; 3], nanosecond: 0, resolution: Resolution::Year };
        let time_from = if !basic && rest.contains(' ') { " " } else { "T" };
        let steps = [
            (date, Resolution::Month),
            (date, Resolution::Day),
            (time_from, Resolution::Hour),
            (time, Resolution::Minute),
            (time, Resolution::Second),
        ];
        for (separator, resolution) in steps {
            let Some((number, behind)) = pair(rest, separator)? else {
                return Some(part);
            };
            (rest, part.resolution) = (behind, resolution);
            match resolution {
                Resolution::Month => part.month = number,
                Resolution::Day => part.day = number,
                Resolution::Hour => part.time[0] = number,
                Resolution::Minute => part.time[1] = number,
                _ => part.time[2] = number,
            }
        }
        if rest.is_empty() {
            return Some(part);
        }
        let (fraction, "") = digits(rest.strip_prefix('.')?, 1..10)? else {
            return None;
        };
        part.nanosecond = format!("{fraction:0<9}").parse().ok()?;
        part.resolution = match fraction.len() {
            ..=3 => Resolution::Millisecond,
            4..=6 => Resolution::Microsecond,
            _ => Resolution::Nanosecond,
        };
        Some(part)
    }

    /// Returns the last part that the date has.
    pub fn resolution(&self) -> Resolution {
        self.resolution
    }

    /// Returns the range of times in a calendar: the first time, and the first time after the range.
    ///
    /// # Errors
    /// [`Error::NoSuchDate`] if the calendar does not have the date. A date with nanoseconds does not exist in any calendar.
    pub fn range(&self, calendar: Calendar) -> Result<(DateTime, DateTime)> {
        let start = self.start(calendar)?;
        let next_year = if self.year == -1 && !calendar.has_year_zero() { 1 } else { self.year + 1 };
        let length = match self.resolution {
            Resolution::Year => return Ok((start, DateTime::new(calendar, next_year, 1, 1)?)),
            Resolution::Month if self.month == 12 => return Ok((start, DateTime::new(calendar, next_year, 1, 1)?)),
            Resolution::Month => return Ok((start, DateTime::new(calendar, self.year, self.month + 1, 1)?)),
            Resolution::Day => DAY,
            Resolution::Hour => 3_600_000_000,
            Resolution::Minute => 60_000_000,
            Resolution::Second => 1_000_000,
            Resolution::Millisecond => 1000,
            Resolution::Microsecond | Resolution::Nanosecond => 1,
        };
        let end = start.microsecond_of_day() + length;
        let end = DateTime::of_day(calendar, start.day_number() + end / DAY, end % DAY);
        // Years of five digits are within those of dates.
        Ok((start, end.unwrap_or(start)))
    }

    /// Returns the range of times as nanoseconds since 1970, in the calendar `proleptic_gregorian`, as for an index of `datetime64[ns]`.
    /// The range is clipped to the valid times, from 1677 to 2262.
    ///
    /// # Errors
    /// [`Error::NoSuchDate`] if the calendar does not have the date.
    pub fn range_nanoseconds(&self) -> Result<Range<i64>> {
        let microseconds = Self { resolution: self.resolution.min(Resolution::Microsecond), ..*self };
        let whole = Self { nanosecond: self.nanosecond / 1000 * 1000, ..microseconds };
        let (start, end) = whole.range(Calendar::ProlepticGregorian)?;
        let nanoseconds = |date: DateTime| {
            let microseconds = i128::from(date.day_number()) * i128::from(DAY) + i128::from(date.microsecond_of_day());
            (microseconds * 1000).clamp(i128::from(i64::MIN) + 1, i128::from(i64::MAX)) as i64
        };
        if self.resolution == Resolution::Nanosecond {
            let start = nanoseconds(start).saturating_add(i64::from(self.nanosecond % 1000));
            return Ok(start..start.saturating_add(1));
        }
        Ok(nanoseconds(start)..nanoseconds(end))
    }

    /// Returns the first time of the range.
    fn start(&self, calendar: Calendar) -> Result<DateTime> {
        let Self { year, month, day, time: [hour, minute, second], nanosecond, resolution } = *self;
        if resolution == Resolution::Nanosecond {
            let date = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{nanosecond:09}");
            let problem = "dates have microseconds";
            return Err(Error::NoSuchDate { date, calendar: calendar.name(), problem });
        }
        DateTime::new(calendar, year, month, day)?.at(hour, minute, second, nanosecond / 1000)
    }
}

impl DateTime {
    /// Parses a date in a form of [`PartialDate`]; missing parts become the first month, day, hour and so on.
    ///
    /// # Errors
    /// [`Error::NotDate`] for a string of another form, and [`Error::NoSuchDate`] if the calendar does not have the date.
    pub fn parse(text: &str, calendar: Calendar) -> Result<Self> {
        PartialDate::parse(text)?.start(calendar)
    }
}
