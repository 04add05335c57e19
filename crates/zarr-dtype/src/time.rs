//! Units of time, and dates as text.

mod parse;

use std::fmt;

/// Unit of time with a scale: the number of units in one count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeUnit {
    /// Unit of time, to be multiplied by the scale.
    pub unit: Unit,
    /// Number of units in one count, from 1 to 2^31-1.
    pub scale: u32,
}

/// Unit of time, as in numpy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum Unit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Picosecond,
    Femtosecond,
    Attosecond,
    /// Unit that is not specified.
    Generic,
}

/// Count that means "not a time".
pub(crate) const NOT_A_TIME: i64 = i64::MIN;

impl Unit {
    /// All units with their codes.
    pub(crate) const CODES: [(Self, &'static str); 14] = [
        (Self::Year, "Y"),
        (Self::Month, "M"),
        (Self::Week, "W"),
        (Self::Day, "D"),
        (Self::Hour, "h"),
        (Self::Minute, "m"),
        (Self::Second, "s"),
        (Self::Millisecond, "ms"),
        (Self::Microsecond, "us"),
        (Self::Nanosecond, "ns"),
        (Self::Picosecond, "ps"),
        (Self::Femtosecond, "fs"),
        (Self::Attosecond, "as"),
        (Self::Generic, "generic"),
    ];

    /// Returns the unit with a code such as `ms`; `us` may also be spelled with a Greek mu or a micro sign. `None` for an unknown code.
    pub fn from_code(code: &str) -> Option<Self> {
        if matches!(code, "\u{3bc}s" | "\u{b5}s") {
            return Some(Self::Microsecond);
        }
        Self::CODES.iter().find(|(_, known)| *known == code).map(|&(unit, _)| unit)
    }

    /// Returns the code of the unit: `Y`, `M`, `W`, `D`, `h`, `m`, `s`, `ms`, `us`, `ns`, `ps`, `fs`, `as` or `generic`.
    pub fn code(self) -> &'static str {
        Self::CODES.iter().find(|(unit, _)| *unit == self).map_or("generic", |&(_, code)| code)
    }

    /// Returns the number of decimals of a second that the unit has; `None` for units above a second.
    fn decimals(self) -> Option<u32> {
        match self {
            Self::Second => Some(0),
            Self::Millisecond => Some(3),
            Self::Microsecond => Some(6),
            Self::Nanosecond => Some(9),
            Self::Picosecond => Some(12),
            Self::Femtosecond => Some(15),
            Self::Attosecond => Some(18),
            _ => None,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl TimeUnit {
    /// Creates a unit with scale 1.
    pub const fn new(unit: Unit) -> Self {
        Self { unit, scale: 1 }
    }

    /// Returns the point in time `count` units after 1970-01-01 in ISO 8601, as precise as the unit: `1969`, `1969-12`, `1969-12-31`,
    /// `1969-12-31T23`, `1969-12-31T23:59:59.999`. Years have at least four digits, and a minus sign before year 0. Counts of generic units
    /// stay numbers; the least count is `NaT`.
    pub fn date_text(self, count: i64) -> String {
        if count == NOT_A_TIME {
            return "NaT".to_owned();
        }
        // A count has 64 bits and the scale 32: the product and all numbers computed from it have less than 128.
        let units = i128::from(count) * i128::from(self.scale);
        match self.unit {
            Unit::Generic => units.to_string(),
            Unit::Year => year_text(1970 + units),
            Unit::Month => {
                format!("{}-{:02}", year_text(1970 + units.div_euclid(12)), 1 + units.rem_euclid(12))
            }
            Unit::Week => day_text(7 * units),
            Unit::Day => day_text(units),
            Unit::Hour => format!("{}T{:02}", day_text(units.div_euclid(24)), units.rem_euclid(24)),
            Unit::Minute => {
                let minute = units.rem_euclid(24 * 60);
                format!("{}T{:02}:{:02}", day_text(units.div_euclid(24 * 60)), minute / 60, minute % 60)
            }
            unit => second_text(units, unit.decimals().unwrap_or(0)),
        }
    }

    /// Returns the duration `count` as text: `-5 ms`, with the scale multiplied in. The least count is `NaT`.
    pub fn delta_text(self, count: i64) -> String {
        if count == NOT_A_TIME {
            return "NaT".to_owned();
        }
        let units = i128::from(count) * i128::from(self.scale);
        if self.unit == Unit::Generic { units.to_string() } else { format!("{units} {}", self.unit) }
    }
}

fn second_text(units: i128, decimals: u32) -> String {
    let per_second = 10_i128.pow(decimals);
    let (seconds, fraction) = (units.div_euclid(per_second), units.rem_euclid(per_second));
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let time = format!("{}T{:02}:{:02}:{:02}", day_text(day), second / 3600, second / 60 % 60, second % 60);
    match usize::try_from(decimals) {
        Ok(width @ 1..) => format!("{time}.{fraction:0width$}"),
        _ => time,
    }
}

/// Returns the date `days` after 1970-01-01 in the Gregorian calendar, extended to all times as in numpy.
fn day_text(days: i128) -> String {
    // Years are counted from March 1 of year 0, so that the day a leap year adds is its last: an era has 400 years,
    // 146 097 days, and 1970-01-01 is day 719 468. (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".)
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{}-{month:02}-{day:02}", year_text(400 * era + year + next))
}

fn year_text(year: i128) -> String {
    if year < 0 { format!("-{:04}", year.unsigned_abs()) } else { format!("{year:04}") }
}
