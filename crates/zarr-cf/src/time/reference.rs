//! Parsing of the date in units of times, as the two parsers that xarray uses.
//!
//! If the result is `datetime64[ns]`, pandas parses the date, else cftime does. They agree on most strings, but on some strings one parser
//! takes a part for a zone or an hour that the other ignores. Both parsers are implemented here, so that times are the same.

use super::calendar::Calendar;
use super::date::{DAY, DateTime};
use std::fmt::Write;

/// Reference date in a calendar: a day number, and the microseconds since the start of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) day: i64,
    pub(super) microsecond: i64,
}

impl Base {
    /// Returns the time `microseconds` later.
    pub(super) fn plus(self, microseconds: i64) -> Self {
        let rest = self.microsecond + microseconds.rem_euclid(DAY);
        Self { day: self.day + microseconds.div_euclid(DAY) + rest.div_euclid(DAY), microsecond: rest.rem_euclid(DAY) }
    }
}

/// Scanner of ASCII strings; it stops before other characters.
#[derive(Clone, Copy)]
struct Scanner<'t>(&'t str);

impl<'t> Scanner<'t> {
    fn peek(&self) -> Option<char> {
        self.0.chars().next()
    }

    fn any(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.0 = self.0.get(next.len_utf8()..)?;
        Some(next)
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        self.peek().filter(|next| wanted(*next)).and_then(|_| self.any())
    }

    fn is(&mut self, wanted: char) -> bool {
        self.take(|next| next == wanted).is_some()
    }

    /// Takes as many digits as there are, from `least` to `most`; `None` if there are fewer.
    fn digits(&mut self, least: usize, most: usize) -> Option<&'t str> {
        let len = self.0.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at_checked(len).filter(|_| len >= least)?;
        self.0 = rest;
        Some(digits)
    }

    fn number(&mut self, least: usize, most: usize) -> Option<i64> {
        self.digits(least, most)?.parse().ok()
    }

    fn spaces(&mut self) -> usize {
        let len = self.0.len();
        self.0 = self.0.trim_start();
        len - self.0.len()
    }
}

/// Date as written, with nanoseconds and a time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    year: i64,
    month: i64,
    day: i64,
    time: [i64; 3],
    nanosecond: i64,
    /// Time zone in minutes east of Greenwich; `None` if there is none.
    zone: Option<i64>,
}

/// Parses a reference date as cftime does: it parses a prefix of `text`, and returns the date and the rest.
///
/// # Errors
/// Fails with the reason if there is no such date in the calendar.
pub(super) fn of_cftime(text: &str, calendar: Calendar) -> Result<(Base, &str), String> {
    let text = text.trim();
    let mut scanner = Scanner(text);
    let sign = scanner.take(|next| next == '-' || next == '+');
    let year = scanner.number(1, usize::MAX).ok_or("it does not begin with a year")?;
    let month_and_day = |scanner: &mut Scanner<'_>| {
        let month = Some(()).filter(|()| scanner.is('-')).and_then(|()| scanner.number(1, 2))?;
        Some(()).filter(|()| scanner.is('-')).and_then(|()| scanner.number(1, 2)).map(|day| (month, day))
    };
    let (month, day) = month_and_day(&mut scanner).ok_or("it is no year, month and day with hyphens")?;
    let mut stamp = Stamp {
        year: if sign == Some('-') { -year } else { year },
        month,
        day,
        time: [0; 3],
        nanosecond: 0,
        zone: None,
    };
    if let Some(rest) = time_of_cftime(scanner, &mut stamp) {
        scanner = rest;
    }
    if let Some(rest) = zone_of_cftime(scanner, &mut stamp) {
        scanner = rest;
    }
    Ok((stamp.base(calendar)?, scanner.0))
}

/// Parses any character followed by a time of day, as cftime does.
fn time_of_cftime<'t>(mut scanner: Scanner<'t>, stamp: &mut Stamp) -> Option<Scanner<'t>> {
    scanner.any()?;
    let hour = scanner.number(1, 2)?;
    let minute = Some(()).filter(|()| scanner.is(':')).and_then(|()| scanner.number(1, 2))?;
    stamp.time = [hour, minute, 0];
    let mut ahead = scanner;
    if let Some(second) = Some(()).filter(|()| ahead.is(':')).and_then(|()| ahead.number(1, 2)) {
        stamp.time = [hour, minute, second];
        scanner = ahead;
        if let Some(digits) = Some(()).filter(|()| ahead.is('.')).and_then(|()| ahead.digits(1, usize::MAX)) {
            // It goes through a float and cuts off, so that .000009 may become 8.
            let fraction: f64 = format!("0.{digits}").parse().ok()?;
            stamp.nanosecond = (fraction * 1e6) as i64 * 1000;
            scanner = ahead;
        }
    }
    Some(scanner)
}

/// Parses a time zone, with at most one character before it, as cftime does.
fn zone_of_cftime<'t>(start: Scanner<'t>, stamp: &mut Stamp) -> Option<Scanner<'t>> {
    let zone = |mut scanner: Scanner<'t>| {
        if scanner.is('Z') {
            return Some((0, scanner));
        }
        let sign = scanner.take(|next| next == '-' || next == '+')?;
        let hours = scanner.number(2, 2)?;
        let mut ahead = scanner;
        ahead.is(':');
        let minutes = ahead.number(2, 2);
        let offset = hours * 60 + minutes.unwrap_or_default();
        Some((if sign == '-' { -offset } else { offset }, if minutes.is_some() { ahead } else { scanner }))
    };
    let mut behind = start;
    let (offset, rest) = behind.any().and_then(|_| zone(behind)).or_else(|| zone(start))?;
    stamp.zone = Some(offset);
    Some(rest)
}

/// Parses a date as pandas does; `None` for strings that pandas may accept, but in a form that is not known here.
///
/// A year has four digits and may have a minus sign. Months, days, hours, minutes and seconds may have one digit.
pub(super) fn of_pandas(text: &str) -> Option<Stamp> {
    let mut scanner = Scanner(text.trim());
    let sign = if scanner.is('-') { -1 } else { 1 };
    let year = sign * scanner.number(4, 4)?;
    let mut stamp = Stamp { year, month: 1, day: 1, time: [0; 3], nanosecond: 0, zone: None };
    if scanner.0.is_empty() {
        return Some(stamp);
    }
    if let Some(separator) = scanner.take(|next| matches!(next, '-' | '/' | '.')) {
        stamp.month = scanner.number(1, 2)?;
        if scanner.0.is_empty() && separator == '-' {
            return Some(stamp);
        }
        stamp.day = Some(()).filter(|()| scanner.is(separator)).and_then(|()| scanner.number(1, 2))?;
    } else {
        (stamp.month, stamp.day) = (scanner.number(2, 2)?, scanner.number(2, 2)?);
    }
    if scanner.0.is_empty() {
        return Some(stamp);
    }
    let spaces = scanner.spaces();
    if spaces == 0 {
        scanner.take(|next| matches!(next, 'T' | 't'))?;
    }
    let hour = scanner.digits(1, 2)?;
    let mut hour_alone = hour.len() == 2;
    stamp.time = [hour.parse().ok()?, 0, 0];
    if let Some(minute) = Some(()).filter(|()| hour_alone).and_then(|()| scanner.number(2, 2)) {
        stamp.time = [stamp.time[0], minute, scanner.number(2, 2).unwrap_or_default()];
    } else if scanner.is(':') {
        hour_alone = true;
        stamp.time = [stamp.time[0], scanner.number(1, 2)?, 0];
        if scanner.is(':') {
            stamp.time = [stamp.time[0], stamp.time[1], scanner.number(1, 2)?];
            if scanner.is('.') {
                let digits = scanner.digits(0, usize::MAX)?;
                let digits = digits.get(..9).unwrap_or(digits);
                stamp.nanosecond = format!("{digits:0<9}").parse().ok()?;
            }
        }
    }
    // Names of zones and further spaces are for its second parser, which knows microseconds.
    if spaces > 1 || scanner.0.ends_with(['C', 'T', 'z']) {
        stamp.nanosecond -= stamp.nanosecond % 1000;
    }
    stamp.zone = zone_of_pandas(&mut scanner)?;
    (hour_alone && scanner.0.is_empty()).then_some(stamp)
}

/// Parses the time zone after a time of day, as pandas does. `Some(None)` if there is no zone, `None` if there is anything else.
fn zone_of_pandas(scanner: &mut Scanner<'_>) -> Option<Option<i64>> {
    scanner.spaces();
    if scanner.0.is_empty() {
        return Some(None);
    }
    for name in ["UTC", "GMT", "Z", "z"] {
        if scanner.0 == name {
            scanner.0 = "";
            return Some(Some(0));
        }
    }
    let sign = scanner.take(|next| next == '-' || next == '+')?;
    let digits = scanner.digits(1, 4)?;
    let number: i64 = digits.parse().ok()?;
    let offset = match digits.len() {
        4 => number / 100 * 60 + number % 100,
        3 => return None,
        _ if scanner.is(':') => number * 60 + scanner.number(1, 2)?,
        _ => number * 60,
    };
    Some(Some(if sign == '-' { -offset } else { offset }))
}

impl Stamp {
    /// Returns the date in a calendar, at Greenwich.
    fn base(&self, calendar: Calendar) -> Result<Base, String> {
        let out_of_range = |_| "a part of it is out of range".to_owned();
        let year = i32::try_from(self.year).map_err(out_of_range)?;
        let [month, day, hour, minute, second] =
            [self.month, self.day, self.time[0], self.time[1], self.time[2]].map(|part| part as u8);
        let date = DateTime::new(calendar, year, month, day)
            .and_then(|date| date.at(hour, minute, second, (self.nanosecond / 1000) as u32))
            .map_err(|error| error.to_string())?;
        if calendar == Calendar::Tai && self.zone.is_some_and(|zone| zone != 0) {
            return Err("calendar tai has no zones".to_owned());
        }
        let base = Base { day: date.day_number(), microsecond: date.microsecond_of_day() };
        Ok(base.plus(-self.zone.unwrap_or_default() * 60_000_000))
    }

    /// Returns the nanoseconds since 1970 at Greenwich; `None` if there is no such date, or they exceed 64 bits.
    pub(super) fn nanoseconds(&self) -> Option<i64> {
        let base = self.base(Calendar::ProlepticGregorian).ok().filter(|_| self.has_zone())?;
        let microseconds = base.day.checked_mul(DAY)?.checked_add(base.microsecond)?;
        microseconds.checked_mul(1000)?.checked_add(self.nanosecond % 1000).filter(|found| *found != i64::MIN)
    }

    /// Returns whether the time zone is less than a day.
    fn has_zone(&self) -> bool {
        self.zone.is_none_or(|zone| zone.abs() < 1440)
    }

    /// Returns the date as xarray writes it into units; `None` if there is no such date.
    pub(super) fn written(&self) -> Option<String> {
        self.base(Calendar::ProlepticGregorian).ok().filter(|_| self.has_zone())?;
        let mut text = format!("{:04}-{:02}-{:02}", self.year, self.month, self.day);
        let [hour, minute, second] = self.time;
        if (self.time, self.nanosecond, self.zone) != ([0; 3], 0, None) {
            // Only dates near 1970 have nanoseconds.
            let rest = if self.nanoseconds().is_some() { 0 } else { self.nanosecond % 1000 };
            let _ = write!(text, "T{hour:02}:{minute:02}:{second:02}{}", fraction(self.nanosecond - rest));
        }
        if let Some(zone) = self.zone {
            let sign = if zone < 0 { '-' } else { '+' };
            let _ = write!(text, "{sign}{:02}:{:02}", zone.abs() / 60, zone.abs() % 60);
        }
        Some(text)
    }
}

/// Returns a fraction of a second as pandas prints it: empty, six digits or nine digits.
pub(super) fn fraction(nanosecond: i64) -> String {
    match nanosecond {
        0 => String::new(),
        _ if nanosecond % 1000 == 0 => format!(".{:06}", nanosecond / 1000),
        _ => format!(".{nanosecond:09}"),
    }
}

/// Returns the string with its year padded to four digits, if it begins with a shorter year and has no four consecutive digits.
pub(super) fn padded(text: &str) -> String {
    let has_four = text.as_bytes().windows(4).any(|four| four.iter().all(u8::is_ascii_digit));
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    if has_four || len == 0 { text.to_owned() } else { format!("{}{text}", "0".repeat(4 - len)) }
}
