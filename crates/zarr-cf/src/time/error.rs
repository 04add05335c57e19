//! Errors about times and their units.

use std::fmt;

/// Error about a calendar, a date, units or a value.
///
/// Indices count the values of the given slice, from 0.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Calendar with an unknown name.
    #[error("unknown calendar {name:?}, expected one of {known}")]
    UnknownCalendar {
        /// Unknown name of the calendar.
        name: String,
        /// Names of the known calendars.
        known: String,
    },
    /// Units of times that are not of the form `<unit> since <date>`.
    #[error("time units {units:?}: expected `<unit> since <date>`")]
    NotTimeUnits {
        /// Units found, as a string.
        units: String,
    },
    /// Units with a unit that is unknown, or invalid in the calendar.
    #[error("units {units:?}: unknown unit {unit:?}, expected {expected}")]
    UnknownUnit {
        /// Units found, as a string.
        units: String,
        /// Unknown unit within `units`.
        unit: String,
        /// Names of the known units.
        expected: &'static str,
    },
    /// Units with a reference date that cannot be parsed.
    #[error("time units {units:?}: reference date {found:?}: {problem}")]
    Reference {
        /// Units with the reference date, as a string.
        units: String,
        /// Reference date within `units`.
        found: String,
        /// Reason why the date cannot be parsed.
        problem: String,
    },
    /// Date or time of day that does not exist.
    #[error("no date {date} in calendar {calendar}: {problem}")]
    NoSuchDate {
        /// Date as it was given.
        date: String,
        /// Name of the calendar in which the date does not exist.
        calendar: &'static str,
        /// Reason why the date does not exist.
        problem: &'static str,
    },
    /// String that is no ISO 8601 date.
    #[error("date {text:?}: expected a form of ISO 8601, as 2000-01-31T12:30:00.5 or a part of it from the left")]
    NotDate {
        /// String that is not a date.
        text: String,
    },
    /// Number outside of the times that the units and the kind of result permit.
    #[error("value {value} at index {index} is out of range: {units:?} in calendar {calendar} as {target}")]
    OutOfRange {
        /// Index of the number among the given values.
        index: usize,
        /// Number that is out of range.
        value: String,
        /// Units of the number.
        units: String,
        /// Name of the calendar of the units.
        calendar: &'static str,
        /// Name of the kind of result.
        target: &'static str,
    },
    /// Timedelta whose nanoseconds exceed 64 bits.
    #[error("value {value} at index {index} is out of range: {units:?} as nanoseconds")]
    DeltaOutOfRange {
        /// Index of the number among the given values.
        index: usize,
        /// Number that is out of range.
        value: String,
        /// Units of the number.
        units: String,
    },
    /// Time that cannot be counted in the units.
    #[error("time {time} at index {index} cannot be counted as {units:?} in calendar {calendar}: {problem}")]
    NotCountable {
        /// Index of the time among the given times.
        index: usize,
        /// Time that cannot be counted.
        time: String,
        /// Units in which times are counted.
        units: String,
        /// Name of the calendar of the units.
        calendar: &'static str,
        /// Reason why the time cannot be counted.
        problem: &'static str,
    },
    /// Date of another calendar than the units, or than the first date.
    #[error("date {date} at index {index} is of calendar {found}, expected {expected}")]
    OtherCalendar {
        /// Index of the date among the given dates.
        index: usize,
        /// Date in another calendar.
        date: String,
        /// Name of the calendar of the date.
        found: &'static str,
        /// Name of the calendar of the units, or of the first date.
        expected: &'static str,
    },
    /// Lack of dates from which units could be inferred.
    #[error("no units for dates, as all are missing")]
    NoDates,
}

impl fmt::Debug for Error {
    /// Writes the message, since `fn main() -> Result` prints errors by `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Result with this module's [`Error`].
pub type Result<T, E = Error> = core::result::Result<T, E>;
