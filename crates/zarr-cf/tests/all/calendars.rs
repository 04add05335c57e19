//! Calendars against a model that counts days one by one.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use zarr_cf::time::{Calendar, DateTime, Numbers, TimeKind, TimeUnits, Times};

const CALENDARS: [Calendar; 6] = [
    Calendar::Standard,
    Calendar::ProlepticGregorian,
    Calendar::Julian,
    Calendar::NoLeap,
    Calendar::AllLeap,
    Calendar::Days360,
];

/// A day of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Day {
    calendar: Calendar,
    year: i32,
    month: u8,
    day: u8,
}

impl Day {
    fn length_of_february(&self) -> u8 {
        // Years before 1 in a count with a year 0, in which leap years are divisible by 4.
        let count = if self.year < 0 && !self.calendar.has_year_zero() { self.year + 1 } else { self.year };
        let julian = count % 4 == 0;
        let gregorian = julian && (count % 100 != 0 || count % 400 == 0);
        let is_leap = match self.calendar {
            Calendar::Julian => julian,
            Calendar::Standard => {
                if (self.year, self.month) < (1582, 10) {
                    julian
                } else {
                    gregorian
                }
            }
            Calendar::AllLeap => true,
            Calendar::NoLeap => false,
            _ => gregorian,
        };
        if is_leap { 29 } else { 28 }
    }

    fn next(mut self) -> Self {
        let length = match self.month {
            _ if self.calendar == Calendar::Days360 => 30,
            2 => self.length_of_february(),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        self.day += 1;
        if self.calendar == Calendar::Standard && (self.year, self.month, self.day) == (1582, 10, 5) {
            self.day = 15;
        }
        if self.day > length {
            (self.month, self.day) = (self.month + 1, 1);
        }
        if self.month > 12 {
            (self.year, self.month) = (self.year + 1, 1);
            if self.year == 0 && !self.calendar.has_year_zero() {
                self.year = 1;
            }
        }
        self
    }
}

#[test]
fn days_follow_each_other() {
    for calendar in CALENDARS {
        let units = TimeUnits::parse("days since -0410-01-01", calendar).unwrap();
        let numbers: Vec<i64> = (0..1_100_000).collect();
        let Times::Calendar(dates) = units.decode_as(TimeKind::Calendar, Numbers::I64(&numbers)).unwrap() else {
            panic!("no dates")
        };
        let mut due = Day { calendar, year: -410, month: 1, day: 1 };
        for date in dates {
            let date = date.unwrap();
            assert_eq!(Day { calendar, year: date.year(), month: date.month(), day: date.day() }, due);
            due = due.next();
        }
        assert!(due.year > 2550, "{calendar}: {due:?}");
    }
}

#[test]
fn dates_exist_that_the_count_meets() {
    for calendar in CALENDARS {
        for year in [-5, -4, -1, 0, 1, 4, 1500, 1581, 1582, 1583, 1700, 1900, 1999, 2000, 2004] {
            let mut met = Vec::new();
            let start = if year == 0 && !calendar.has_year_zero() { 1 } else { year };
            let mut day = Day { calendar, year: start, month: 1, day: 1 };
            while day.year == year {
                met.push((day.month, day.day));
                day = day.next();
            }
            for (month, day) in (0..=13).flat_map(|month| (0..=32).map(move |day| (month, day))) {
                let found = DateTime::new(calendar, year, month, day);
                assert_eq!(found.is_ok(), met.contains(&(month, day)), "{calendar} {year} {month} {day}");
            }
            assert_eq!(calendar.is_leap_year(year), met.contains(&(2, 29)) && calendar != Calendar::Days360);
            let last = |month: u8| met.iter().filter(|found| found.0 == month).map(|found| found.1).max();
            for month in 1..=12 {
                let last = if met.is_empty() { continue } else { last(month) };
                assert_eq!(calendar.last_day_of_month(year, month), last, "{calendar} {year} {month}");
            }
        }
    }
}

#[test]
fn real_calendars_count_the_same_days() {
    // Known pairs, as of the sources of Dershowitz and Reingold's *Calendrical Calculations*.
    for (julian, gregorian) in
        [("1582-10-05", "1582-10-15"), ("1900-02-29", "1900-03-13"), ("-0001-01-01", "-0001-12-30")]
    {
        let julian = DateTime::parse(julian, Calendar::Julian).unwrap();
        let gregorian = DateTime::parse(gregorian, Calendar::ProlepticGregorian).unwrap();
        let epoch = |calendar| DateTime::parse("1970-01-01", calendar).unwrap();
        let days = |date: DateTime, calendar| date.microseconds_since(&epoch(calendar)).unwrap() / 86_400_000_000;
        // 1970-01-01 of the Julian calendar is 1970-01-14.
        assert_eq!(days(julian, Calendar::Julian) + 13, days(gregorian, Calendar::ProlepticGregorian));
    }
}

#[test]
fn names_are_known_in_any_case() {
    for (name, calendar, written) in [
        ("standard", Calendar::Standard, "standard"),
        ("Gregorian", Calendar::Standard, "standard"),
        ("proleptic_gregorian", Calendar::ProlepticGregorian, "proleptic_gregorian"),
        ("JULIAN", Calendar::Julian, "julian"),
        ("noleap", Calendar::NoLeap, "noleap"),
        ("365_day", Calendar::NoLeap, "noleap"),
        ("all_leap", Calendar::AllLeap, "all_leap"),
        ("366_day", Calendar::AllLeap, "all_leap"),
        ("360_Day", Calendar::Days360, "360_day"),
        ("tai", Calendar::Tai, "tai"),
    ] {
        assert_eq!(Calendar::parse(name), Ok(calendar));
        assert_eq!(calendar.to_string(), written);
    }
}

#[test]
fn calendar_tai_begins_in_1958() {
    let units = TimeUnits::parse("days since 1958-01-01", Calendar::Tai).unwrap();
    let Times::Calendar(dates) = units.decode(Numbers::I64(&[0, 365, i64::MIN])).unwrap() else { panic!("no dates") };
    let texts: Vec<_> = dates.iter().map(|date| date.map(|date| date.to_string())).collect();
    assert_eq!(texts, [Some("1958-01-01 00:00:00".to_owned()), Some("1959-01-01 00:00:00".to_owned()), None]);
    assert!(units.decode(Numbers::I64(&[-1])).is_err());
    assert!(TimeUnits::parse("days since 1958-01-01 00:00 +02:00", Calendar::Tai).is_err());
    assert!(TimeUnits::parse("days since 1957-12-31", Calendar::Tai).is_err());
}
