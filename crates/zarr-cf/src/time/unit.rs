//! Units in which times and timedeltas are counted.

/// Unit in which times are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Nanosecond,
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    /// 30 days, only in the calendar `360_day`.
    Month,
    /// 365 days, only in the calendar `noleap`.
    CommonYear,
}

/// Units of fixed length in numpy, longest first: the order in which xarray searches a unit that divides all times.
pub(super) const NUMPY: [Unit; 7] =
    [Unit::Day, Unit::Hour, Unit::Minute, Unit::Second, Unit::Millisecond, Unit::Microsecond, Unit::Nanosecond];

/// Spellings that cftime accepts in addition to those of [`Unit::of_numpy`].
const SPELLINGS: [(Unit, &[&str]); 8] = [
    (Unit::Microsecond, &["microsec", "microsecs"]),
    (Unit::Millisecond, &["millisec", "millisecs", "msec", "msecs", "ms"]),
    (Unit::Second, &["sec", "secs", "s"]),
    (Unit::Minute, &["min", "mins"]),
    (Unit::Hour, &["hr", "hrs", "h"]),
    (Unit::Day, &["d"]),
    (Unit::Month, &["month", "months"]),
    (Unit::CommonYear, &["common_year", "common_years"]),
];

impl Unit {
    /// Returns the unit with a full name, in singular or plural, ignoring case: the names that xarray knows.
    pub(super) fn of_numpy(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let plural = |unit: &&Self| unit.plural() == name || unit.plural().strip_suffix('s') == Some(&name);
        NUMPY.iter().find(plural).copied()
    }

    /// Returns the unit with any spelling that cftime knows, ignoring case.
    pub(super) fn of(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let spelled = || SPELLINGS.iter().find(|(_, names)| names.contains(&lower.as_str())).map(|(unit, _)| *unit);
        Self::of_numpy(name).or_else(spelled)
    }

    /// Returns the name that is written, in plural.
    pub(super) fn plural(self) -> &'static str {
        match self {
            Self::Nanosecond => "nanoseconds",
            Self::Microsecond => "microseconds",
            Self::Millisecond => "milliseconds",
            Self::Second => "seconds",
            Self::Minute => "minutes",
            Self::Hour => "hours",
            Self::Day => "days",
            Self::Month => "months",
            Self::CommonYear => "common_years",
        }
    }

    /// Returns the length in nanoseconds.
    pub(super) fn nanoseconds(self) -> i64 {
        match self {
            Self::Nanosecond => 1,
            unit => unit.microseconds() * 1000,
        }
    }

    /// Returns the length in microseconds; 0 for nanoseconds.
    pub(super) fn microseconds(self) -> i64 {
        match self {
            Self::Nanosecond => 0,
            Self::Microsecond => 1,
            Self::Millisecond => 1000,
            Self::Second => 1_000_000,
            Self::Minute => 60_000_000,
            Self::Hour => 3_600_000_000,
            Self::Day => 86_400_000_000,
            Self::Month => 30 * 86_400_000_000,
            Self::CommonYear => 365 * 86_400_000_000,
        }
    }
}
