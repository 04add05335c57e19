//! Why times or their units were refused.

use std::fmt;

/// Why a calendar, a date, units or a value was refused.
///
/// Indices count the values of the slice that was given, from 0.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No calendar of this name is known.
    #[error("unknown calendar {name:?}, expected one of {known}")]
    UnknownCalendar {
        /// The name found.
        name: String,
        /// The names that are known.
        known: String,
    },
    /// Units of times are not of the form `<unit> since <date>`.
    #[error("time units {units:?}: expected `<unit> since <date>`")]
    NotTimeUnits {
        /// The units found.
        units: String,
    },
    /// Units have a unit that is not known, or not of this calendar.
    #[error("units {units:?}: unknown unit {unit:?}, expected {expected}")]
    UnknownUnit {
        /// The units found.
        units: String,
        /// The unit in them.
        unit: String,
        /// The units that are known.
        expected: &'static str,
    },
    /// The reference date of units cannot be read.
    #[error("time units {units:?}: reference date {found:?}: {problem}")]
    Reference {
        /// The units found.
        units: String,
        /// The reference date in them.
        found: String,
        /// Why it cannot be read.
        problem: String,
    },
    /// A date or a time of day does not exist.
    #[error("no date {date} in calendar {calendar}: {problem}")]
    NoSuchDate {
        /// The date as it was given.
        date: String,
        /// The name of the calendar.
        calendar: &'static str,
        /// The part that does not exist.
        problem: &'static str,
    },
    /// A text is no date of ISO 8601.
    #[error("date {text:?}: expected a form of ISO 8601, as 2000-01-31T12:30:00.5 or a part of it from the left")]
    NotDate {
        /// The text found.
        text: String,
    },
    /// A number is beyond the times that the units and the kind of result permit.
    #[error("value {value} at index {index} is out of range: {units:?} in calendar {calendar} as {target}")]
    OutOfRange {
        /// Where the value is.
        index: usize,
        /// The value.
        value: String,
        /// The units.
        units: String,
        /// The name of the calendar.
        calendar: &'static str,
        /// The kind of result.
        target: &'static str,
    },
    /// A number of timedeltas is beyond nanoseconds of 64 bits.
    #[error("value {value} at index {index} is out of range: {units:?} as nanoseconds")]
    DeltaOutOfRange {
        /// Where the value is.
        index: usize,
        /// The value.
        value: String,
        /// The units.
        units: String,
    },
    /// A time cannot be counted in the units.
    #[error("time {time} at index {index} cannot be counted as {units:?} in calendar {calendar}: {problem}")]
    NotCountable {
        /// Where the time is.
        index: usize,
        /// The time.
        time: String,
        /// The units.
        units: String,
        /// The name of the calendar.
        calendar: &'static str,
        /// Why not.
        problem: &'static str,
    },
    /// Dates are of several calendars, or of another one than the units.
    #[error("date {date} at index {index} is of calendar {found}, expected {expected}")]
    OtherCalendar {
        /// Where the date is.
        index: usize,
        /// The date.
        date: String,
        /// Its calendar.
        found: &'static str,
        /// The calendar of the units, or of the first date.
        expected: &'static str,
    },
    /// Units cannot be inferred, as there is no date to begin at.
    #[error("no units for dates, as all are missing")]
    NoDates,
}

impl fmt::Debug for Error {
    /// As `fn main() -> Result` prints it: the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A result with this module's [`Error`].
pub type Result<T, E = Error> = core::result::Result<T, E>;
