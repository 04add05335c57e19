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
        /// Name found.
        name: String,
        /// Known names.
        known: String,
    },
    /// Units of times that are not of the form `<unit> since <date>`.
    #[error("time units {units:?}: expected `<unit> since <date>`")]
    NotTimeUnits {
        /// Units found.
        units: String,
    },
    /// Units with a unit that is unknown, or invalid in the calendar.
    #[error("units {units:?}: unknown unit {unit:?}, expected {expected}")]
    UnknownUnit {
        /// Units found.
        units: String,
        /// Unit within the units.
        unit: String,
        /// Known units.
        expected: &'static str,
    },
    /// Units with a reference date that cannot be parsed.
    #[error("time units {units:?}: reference date {found:?}: {problem}")]
    Reference {
        /// Units found.
        units: String,
        /// Reference date within the units.
        found: String,
        /// Reason why the date cannot be parsed.
        problem: String,
    },
    /// Date or time of day that does not exist.
    #[error("no date {date} in calendar {calendar}: {problem}")]
    NoSuchDate {
        /// Date as it was given.
        date: String,
        /// Name of the calendar.
        calendar: &'static str,
        /// Reason why the date does not exist.
        problem: &'static str,
    },
    /// String that is no ISO 8601 date.
    #[error("date {text:?}: expected a form of ISO 8601, as 2000-01-31T12:30:00.5 or a part of it from the left")]
    NotDate {
        /// String found.
        text: String,
    },
    /// Number outside of the times that the units and the kind of result permit.
    #[error("value {value} at index {index} is out of range: {units:?} in calendar {calendar} as {target}")]
    OutOfRange {
        /// Index of the value.
        index: usize,
        /// Value found.
        value: String,
        /// Units of the value.
        units: String,
        /// Name of the calendar.
        calendar: &'static str,
        /// Kind of the result.
        target: &'static str,
    },
    /// Timedelta whose nanoseconds exceed 64 bits.
    #[error("value {value} at index {index} is out of range: {units:?} as nanoseconds")]
    DeltaOutOfRange {
        /// Index of the value.
        index: usize,
        /// Value found.
        value: String,
        /// Units of the value.
        units: String,
    },
    /// Time that cannot be counted in the units.
    #[error("time {time} at index {index} cannot be counted as {units:?} in calendar {calendar}: {problem}")]
    NotCountable {
        /// Index of the time.
        index: usize,
        /// Time found.
        time: String,
        /// Units to count in.
        units: String,
        /// Name of the calendar.
        calendar: &'static str,
        /// Reason why the time cannot be counted.
        problem: &'static str,
    },
    /// Date of another calendar than the units, or than the first date.
    #[error("date {date} at index {index} is of calendar {found}, expected {expected}")]
    OtherCalendar {
        /// Index of the date.
        index: usize,
        /// Date found.
        date: String,
        /// Calendar of the date.
        found: &'static str,
        /// Calendar of the units, or of the first date.
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
