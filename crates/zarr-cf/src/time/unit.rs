//! The units that times and timedeltas are counted in.

/// A length of time that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Nanosecond,
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    /// 30 days, of the calendar `360_day` alone.
    Month,
    /// 365 days, of the calendar `noleap` alone.
    CommonYear,
}

/// All units of a length that numpy has, the longest first, as xarray looks for one that divides all times.
pub(super) const NUMPY: [Unit; 7] =
    [Unit::Day, Unit::Hour, Unit::Minute, Unit::Second, Unit::Millisecond, Unit::Microsecond, Unit::Nanosecond];

/// The spellings that cftime knows, besides those of [`Unit::of_numpy`].
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
    /// The unit of a full name, in singular or plural and in any case, which is what xarray knows.
    pub(super) fn of_numpy(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let plural = |unit: &&Self| unit.plural() == name || unit.plural().strip_suffix('s') == Some(&name);
        NUMPY.iter().find(plural).copied()
    }

    /// The unit of any spelling, in any case, which is what cftime knows.
    pub(super) fn of(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let spelled = || SPELLINGS.iter().find(|(_, names)| names.contains(&lower.as_str())).map(|(unit, _)| *unit);
        Self::of_numpy(name).or_else(spelled)
    }

    /// The name as it is written.
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

    /// The length in nanoseconds.
    pub(super) fn nanoseconds(self) -> i64 {
        match self {
            Self::Nanosecond => 1,
            unit => unit.microseconds() * 1000,
        }
    }

    /// The length in microseconds; 0 for nanoseconds.
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
