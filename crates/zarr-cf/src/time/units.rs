//! Units of times: a unit, a reference date and a calendar.

use super::calendar::Calendar;
use super::error::{Error, Result};
use super::exact::{Snap, microseconds};
use super::reference::{Base, of_cftime, of_pandas, padded};
use super::unit::Unit;

/// Attributes `units` and `calendar` of a variable of times.
///
/// Units of times are `<unit> since <date>`:
///
/// - units are nanoseconds to days, as full names in singular or plural and in any case, or as abbreviations of cftime such as `hr`, `min`,
///   `s`; also months (only in the calendar `360_day`) and `common_years` (only in `noleap`), of 30 and 365 days;
/// - dates have the form `2000-01-01 12:30:00.5 +02:00`. A part of a single digit needs no leading zero, `T` may separate date and time,
///   and parts may be missing at the end. Years without exactly four digits, and times with a zone, are read as xarray reads them.
///
/// ```
/// use zarr_cf::time::{Calendar, TimeUnits};
///
/// let units = TimeUnits::parse("days since 1-1-1 0:0:0", Calendar::Standard)?;
/// assert_eq!(units.written(), "days since 0001-01-01");
/// # Ok::<(), zarr_cf::time::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeUnits {
    text: String,
    written: String,
    pub(super) unit: Unit,
    calendar: Calendar,
    /// Reference date in nanoseconds since 1970, if xarray decodes by pandas; else `None`.
    pub(super) nanoseconds: Option<i64>,
    /// Reference date in the calendar, or the error if it does not exist there.
    base: Result<Base>,
}

/// Returns whether pandas may parse a date, in a form not known here, in another way than cftime, which leaves `unread`: a short year
/// beside four digits elsewhere, or a time of day that cftime ignores.
fn is_read_by_pandas(date: &str, unread: &str) -> bool {
    let is_short = date.bytes().take_while(u8::is_ascii_digit).count() < 4 && !date.starts_with(['-', '+']);
    let unread = unread.to_ascii_uppercase();
    is_short
        || unread.bytes().any(|byte| byte.is_ascii_digit())
        || ["AM", "PM"].iter().any(|half| unread.contains(half))
}

impl TimeUnits {
    /// Returns whether an attribute `units` is for times, by the rule of xarray: it contains `since`.
    pub fn is_units(units: &str) -> bool {
        units.contains("since")
    }

    /// Parses the attribute `units` of a variable.
    ///
    /// # Errors
    /// [`Error::NotTimeUnits`], [`Error::UnknownUnit`], and [`Error::Reference`] if neither pandas nor cftime can parse the date, or the
    /// calendar does not have it.
    pub fn parse(units: &str, calendar: Calendar) -> Result<Self> {
        let not_units = || Error::NotTimeUnits { units: units.to_owned() };
        let (name, rest) = units.trim_start().split_once(char::is_whitespace).ok_or_else(not_units)?;
        let (since, date) = rest.trim_start().split_once(char::is_whitespace).ok_or_else(not_units)?;
        let date = date.trim();
        if !since.eq_ignore_ascii_case("since") || date.is_empty() {
            return Err(not_units());
        }
        let unknown = |expected| Error::UnknownUnit { units: units.to_owned(), unit: name.to_owned(), expected };
        let refused = |problem: String| Error::Reference { units: units.to_owned(), found: date.to_owned(), problem };
        let unit = Unit::of(name).ok_or_else(|| {
            unknown("days, hours, minutes, seconds, milliseconds, microseconds, nanoseconds or an abbreviation")
        })?;
        match (unit, calendar) {
            (Unit::Month, Calendar::Days360) | (Unit::CommonYear, Calendar::NoLeap) => {}
            (Unit::Month, _) => return Err(unknown("months in calendar 360_day alone")),
            (Unit::CommonYear, _) => return Err(unknown("common_years in calendar noleap alone")),
            _ => {}
        }
        // xarray tries pandas where it knows the unit, and finds it by a regular expression.
        let known = Unit::of_numpy(name).is_some() && units.contains(" since ");
        let padded = padded(date);
        let stamp = if known { of_pandas(&padded) } else { None };
        let nanoseconds = stamp.filter(|_| calendar.is_numpy()).and_then(|stamp| stamp.nanoseconds());
        let base = match of_cftime(date, calendar) {
            Ok((base, unread)) => {
                if stamp.is_none() && known && calendar.is_numpy() && is_read_by_pandas(&padded, unread) {
                    return Err(refused("programs disagree on it, as pandas and cftime do".to_owned()));
                }
                Ok(base)
            }
            Err(problem) => Err(refused(problem)),
        };
        // cftime has no nanoseconds.
        let base = match unit {
            Unit::Nanosecond => {
                let problem = "nanoseconds since a date need one from 1678 to 2262, in a standard calendar";
                Err(refused(problem.to_owned()))
            }
            _ => base,
        };
        if let (Err(error), None) = (&base, nanoseconds) {
            return Err(error.clone());
        }
        let cleaned = stamp.and_then(|stamp| stamp.written()).map(|date| format!("{} since {date}", unit.plural()));
        let written = cleaned.unwrap_or_else(|| units.to_owned());
        Ok(Self { text: units.to_owned(), written, unit, calendar, nanoseconds, base })
    }

    /// Parses units that are written unchanged, without the changes of [`TimeUnits::written`].
    pub(super) fn inferred(units: &str, calendar: Calendar) -> Result<Self> {
        Ok(Self { written: units.to_owned(), ..Self::parse(units, calendar)? })
    }

    /// Returns the units as they were parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the units as xarray writes them: the full name of the unit in plural, and the date as `2000-01-31` or `2000-01-31T12:30:00`.
    /// If pandas cannot parse the date, the units are unchanged.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Returns the calendar of the units.
    pub fn calendar(&self) -> Calendar {
        self.calendar
    }

    /// Returns the reference date in the calendar.
    pub(super) fn base(&self) -> Result<Base> {
        self.base.clone()
    }

    /// Returns the microseconds of a number of units, rounded as by cftime; `None` beyond 64 bits, and for NaN.
    pub(super) fn microseconds(&self, value: f64) -> Option<i64> {
        let snap = match self.unit {
            Unit::Nanosecond | Unit::Microsecond | Unit::Millisecond => Snap::Never,
            _ => Snap::ToSeconds,
        };
        microseconds(value, self.unit.microseconds(), snap)
    }
}
