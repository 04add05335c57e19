//! Parsing of dates and durations from text.

use super::{NOT_A_TIME, TimeUnit, Unit};

const ATTOSECONDS: i128 = 1_000_000_000_000_000_000;
const DAY: i128 = 86_400 * ATTOSECONDS;

impl TimeUnit {
    /// Returns the count for a point in time in ISO 8601, of any precision: `1969`, `1969-12`, `1969-12-31`, `1969-12-31T23:59:59.999`,
    /// also with a space for the `T` and with a `Z` at the end; `NaT`. `None` for other strings, and for a time that the unit cannot
    /// represent exactly. [`date_text`](Self::date_text) is the inverse.
    pub fn parse_date(self, text: &str) -> Option<i64> {
        if text == "NaT" {
            return Some(NOT_A_TIME);
        }
        let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
        let (date, time) = match text.split_once(['T', ' ']) {
            Some((date, time)) => (date, Some(time.strip_suffix('Z').unwrap_or(time))),
            None => (text, None),
        };
        let mut parts = date.split('-');
        let year = parts.next().filter(|digits| digits.len() >= 4).and_then(number)?.checked_mul(sign)?;
        let (month, day) = (parts.next().map(two_digits), parts.next().map(two_digits));
        if parts.next().is_some() || (time.is_some() && day.is_none()) {
            return None;
        }
        let (month, day) = (month.unwrap_or(Some(1))?, day.unwrap_or(Some(1))?);
        let in_day = time.map_or(Some(0), time_of_day)?;
        if !(1..=12).contains(&month) || day < 1 || day > days_of_month(year, month) {
            return None;
        }
        let months = year.checked_sub(1970)?.checked_mul(12)?.checked_add(month - 1)?;
        let units = match self.unit {
            Unit::Generic => return None,
            Unit::Year | Unit::Month if day != 1 || in_day != 0 => return None,
            Unit::Year => exact(months, 12)?,
            Unit::Month => months,
            Unit::Week if in_day == 0 => exact(day_number(year, month, day)?, 7)?,
            Unit::Week => return None,
            unit => {
                let size = attoseconds(unit)?;
                day_number(year, month, day)?.checked_mul(exact(DAY, size)?)?.checked_add(exact(in_day, size)?)?
            }
        };
        self.count(units)
    }

    /// Returns the count for a duration, a number and a unit: `-5 ms`; for generic units the number alone; `NaT`. `None` for other strings,
    /// and for a duration that the unit cannot represent exactly. [`delta_text`](Self::delta_text) is the inverse.
    pub fn parse_delta(self, text: &str) -> Option<i64> {
        if text == "NaT" {
            return Some(NOT_A_TIME);
        }
        let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
        let (digits, unit) = text.split_once(' ').unwrap_or((text, Unit::Generic.code()));
        let (amount, unit) = (number(digits)?.checked_mul(sign)?, Unit::from_code(unit)?);
        let units = match (unit, self.unit) {
            (from, to) if from == to => amount,
            (Unit::Year, Unit::Month) => amount.checked_mul(12)?,
            (Unit::Month, Unit::Year) => exact(amount, 12)?,
            (from, to) => exact(amount.checked_mul(attoseconds(from)?)?, attoseconds(to)?)?,
        };
        self.count(units)
    }

    fn count(self, units: i128) -> Option<i64> {
        i64::try_from(exact(units, i128::from(self.scale))?).ok().filter(|&count| count != NOT_A_TIME)
    }
}

/// Returns the length of a unit in attoseconds; `None` for years and months, whose length varies, and for the generic unit.
fn attoseconds(unit: Unit) -> Option<i128> {
    Some(match unit {
        Unit::Year | Unit::Month | Unit::Generic => return None,
        Unit::Week => 7 * DAY,
        Unit::Day => DAY,
        Unit::Hour => DAY / 24,
        Unit::Minute => 60 * ATTOSECONDS,
        unit => ATTOSECONDS / 10_i128.pow(unit.decimals()?),
    })
}

/// Returns the quotient if there is no remainder; else `None`.
fn exact(value: i128, divisor: i128) -> Option<i128> {
    if value.checked_rem(divisor)? == 0 { value.checked_div(divisor) } else { None }
}

/// Parses a number that consists of digits only.
fn number(digits: &str) -> Option<i128> {
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if all_digits { digits.parse().ok() } else { None }
}

fn two_digits(digits: &str) -> Option<i128> {
    if digits.len() == 2 { number(digits) } else { None }
}

/// Returns the attoseconds since midnight for `23`, `23:59`, `23:59:59` or `23:59:59.999`.
fn time_of_day(text: &str) -> Option<i128> {
    let mut parts = text.split(':');
    let hour = two_digits(parts.next()?)?;
    let minute = parts.next().map_or(Some(0), two_digits)?;
    let (second, fraction) = match parts.next() {
        None => (0, 0),
        Some(second) => match second.split_once('.') {
            None => (two_digits(second)?, 0),
            Some((second, fraction)) if (1..=18).contains(&fraction.len()) => {
                let unit = 10_i128.pow(18_u32.checked_sub(u32::try_from(fraction.len()).ok()?)?);
                (two_digits(second)?, number(fraction)?.checked_mul(unit)?)
            }
            Some(_) => return None,
        },
    };
    let fits = parts.next().is_none() && hour < 24 && minute < 60 && second < 60;
    fits.then(|| (hour * 3600 + minute * 60 + second) * ATTOSECONDS + fraction)
}

fn days_of_month(year: i128, month: i128) -> i128 {
    let is_leap = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the number of days from 1970-01-01 to a date. (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".)
fn day_number(year: i128, month: i128, day: i128) -> Option<i128> {
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era.checked_mul(146_097)?.checked_add(of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit(code: &str) -> TimeUnit {
        TimeUnit::new(Unit::from_code(code).unwrap())
    }

    #[test]
    fn dates_of_any_precision() {
        for (code, text, count) in [
            ("s", "1970-01-01", Some(0)),
            ("s", "1970", Some(0)),
            ("D", "2000-02-29", Some(11_016)),
            ("D", "2000-02-29T00:00:00.000Z", Some(11_016)),
            ("s", "1969-12-31 23:59:59", Some(-1)),
            ("ms", "1970-01-01T00:00:00.5", Some(500)),
            ("W", "1969-12-25", Some(-1)),
            ("Y", "2000-01", Some(30)),
            ("D", "-0001-12-31", Some(-719_529)),
            ("ns", "NaT", Some(i64::MIN)),
            ("D", "2000-01-01T12", None),
            ("W", "1970-01-02", None),
            ("Y", "2000-02", None),
            ("D", "2001-02-29", None),
            ("D", "2001-13-01", None),
            ("s", "1970-01-01T24:00", None),
            ("s", "1970-01-01T00:00:00.5", None),
            ("ns", "3000-01-01", None),
            ("s", "70-01-01", None),
            ("s", "1970-1-1", None),
            ("s", "1970-01T10", None),
            ("s", "1970-01-01T", None),
            ("s", "", None),
            ("s", "-", None),
            ("generic", "1970", None),
            ("s", "99999999999999999999999999999999999999999", None),
        ] {
            assert_eq!(unit(code).parse_date(text), count, "{code} {text}");
        }
        assert_eq!(TimeUnit { unit: Unit::Second, scale: 25 }.parse_date("1970-01-01T00:00:50"), Some(2));
        assert_eq!(TimeUnit { unit: Unit::Second, scale: 25 }.parse_date("1970-01-01T00:00:51"), None);
    }

    #[test]
    fn durations_with_their_unit() {
        for (code, text, count) in [
            ("ms", "-5 ms", Some(-5)),
            ("ms", "2 s", Some(2000)),
            ("s", "2000 ms", Some(2)),
            ("s", "2001 ms", None),
            ("M", "2 Y", Some(24)),
            ("D", "1 Y", None),
            ("generic", "7", Some(7)),
            ("s", "7", None),
            ("s", "NaT", Some(i64::MIN)),
            ("s", "x s", None),
        ] {
            assert_eq!(unit(code).parse_delta(text), count, "{code} {text}");
        }
    }

    proptest! {
        #[test]
        fn printed_values_are_read(count: i64, code in 0_usize..13, scale in 1_u32..1000) {
            let unit = TimeUnit { unit: Unit::CODES[code].0, scale };
            prop_assert_eq!(unit.parse_date(&unit.date_text(count)), Some(count));
            prop_assert_eq!(unit.parse_delta(&unit.delta_text(count)), Some(count));
        }

        #[test]
        fn any_text_is_taken_or_not(text in "[-0-9T:. ZNaTsm]{0,40}", code in 0_usize..14) {
            let unit = TimeUnit::new(Unit::CODES[code].0);
            let _ = (unit.parse_date(&text), unit.parse_delta(&text));
        }
    }
}
