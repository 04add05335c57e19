//! Each error: where it is, what was found, what was expected.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use zarr_cf::time::{
    Calendar, DateTime, DeltaUnits, Error, NumberKind, Numbers, PartialDate, Result, TimeKind, TimeUnits,
};

fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

fn units(text: &str) -> Result<TimeUnits> {
    TimeUnits::parse(text, Calendar::Standard)
}

#[test]
fn unknown_calendars_name_the_known() {
    assert_eq!(
        message(Calendar::parse("lunar")),
        "unknown calendar \"lunar\", expected one of standard, gregorian, proleptic_gregorian, julian, noleap, 365_day, \
         all_leap, 366_day, 360_day, tai"
    );
}

#[test]
fn units_of_other_forms_are_refused() {
    for text in ["days", "", "days since", "days after 2000-01-01", "since 2000-01-01", "days since  "] {
        assert_eq!(units(text), Err(Error::NotTimeUnits { units: text.to_owned() }));
    }
    assert!(TimeUnits::is_units("days since 2000-01-01") && !TimeUnits::is_units("days"));
}

#[test]
fn unknown_units_are_refused() {
    assert_eq!(
        message(units("years since 2000-01-01")),
        "units \"years since 2000-01-01\": unknown unit \"years\", expected days, hours, minutes, seconds, milliseconds, \
         microseconds, nanoseconds or an abbreviation"
    );
    assert!(message(units("months since 2000-01-01")).ends_with("expected months in calendar 360_day alone"));
    assert!(
        message(units("common_years since 2000-01-01")).ends_with("expected common_years in calendar noleap alone")
    );
    assert!(message(DeltaUnits::parse("hr")).starts_with("units \"hr\": unknown unit \"hr\", expected days, hours,"));
    assert!(DeltaUnits::is_units("hours") && !DeltaUnits::is_units("Hours") && !DeltaUnits::is_units("hour"));
}

#[test]
fn reference_dates_that_do_not_exist_are_refused() {
    assert_eq!(
        message(units("days since 1582-10-10")),
        "time units \"days since 1582-10-10\": reference date \"1582-10-10\": no date 1582-10-10 in calendar standard: \
         the days from 1582-10-05 to 1582-10-14 were left out"
    );
    for (date, problem) in [
        ("0000-01-01", "it has no year 0"),
        ("2001-02-29", "the month does not have that day"),
        ("2001-13-01", "months are 1 to 12"),
        ("2001-01-01 24:00", "a day ends at 23:59:59.999999"),
        ("1234567-01-01", "years have up to six digits"),
        ("yesterday", "it does not begin with a year"),
        ("99999999999999999999-01-01", "it does not begin with a year"),
        ("1500", "it is no year, month and day with hyphens"),
    ] {
        let found = message(units(&format!("seconds since {date}")));
        assert!(found.contains(&format!("reference date {date:?}: ")) && found.ends_with(problem), "{found}");
    }
}

#[test]
fn reference_dates_of_two_readings_are_refused() {
    // pandas takes the first for five o'clock, the second for noon and the third for 2070; cftime for none of them.
    for date in ["2000-01-01 -5:00", "2000-01-01 12 PM", "70-01-01 00:00:00.0001", "01-02-2000"] {
        let found = message(units(&format!("days since {date}")));
        assert!(found.ends_with("programs disagree on it, as pandas and cftime do"), "{found}");
    }
    // Other calendars are of cftime alone.
    assert!(TimeUnits::parse("days since 2000-01-01 -5:00", Calendar::NoLeap).is_ok());
}

#[test]
fn nanoseconds_are_of_a_standard_calendar() {
    let found = message(TimeUnits::parse("nanoseconds since 2000-01-01", Calendar::NoLeap));
    assert!(found.ends_with("nanoseconds since a date need one from 1678 to 2262, in a standard calendar"), "{found}");
    let found = units("nanoseconds since 2000-01-01").unwrap().decode(Numbers::I64(&[1, 1, i64::MAX]));
    assert_eq!(
        message(found),
        "value 9223372036854775807 at index 2 is out of range: \"nanoseconds since 2000-01-01\" in calendar standard as \
         nanoseconds since 1970"
    );
    let as_dates = units("nanoseconds since 2000-01-01").unwrap().decode_as(TimeKind::Calendar, Numbers::I64(&[1]));
    assert!(matches!(as_dates, Err(Error::Reference { .. })));
}

#[test]
fn numbers_beyond_the_range_say_where() {
    let units = units("days since 2000-01-01").unwrap();
    let far = |index, value: &str, target| Error::OutOfRange {
        index,
        value: value.to_owned(),
        units: "days since 2000-01-01".to_owned(),
        calendar: "standard",
        target,
    };
    let numbers = [0.0, f64::NAN, 200_000.0, 300_000.0];
    let found = units.decode_as(TimeKind::Nanoseconds, Numbers::F64(&numbers));
    assert_eq!(found, Err(far(2, "200000", "nanoseconds since 1970")));
    let found = units.decode_as(TimeKind::NanosecondsOfDates, Numbers::F64(&numbers));
    assert_eq!(found, Err(far(2, "200000", "nanoseconds since 1970")));
    let found = units.decode_as(TimeKind::NanosecondsOfDates, Numbers::I64(&[-160_000]));
    assert_eq!(found, Err(far(0, "-160000", "nanoseconds since 1970")), "before 1582");
    for value in [f64::INFINITY, f64::NEG_INFINITY, 1e300, 1e9] {
        let found = units.decode(Numbers::F64(&[1.5, f64::NAN, value]));
        assert_eq!(found, Err(far(2, &value.to_string(), "dates")));
        let found = units.decode_as(TimeKind::Calendar, Numbers::F64(&[1.5, value]));
        assert_eq!(found, Err(far(1, &value.to_string(), "dates")));
    }
    assert_eq!(units.kind(Numbers::U64(&[0, u64::MAX])), Err(far(1, "18446744073709551615", "dates")));
    assert_eq!(units.kind(Numbers::F32(&[f32::INFINITY])), Err(far(0, "inf", "dates")));
}

#[test]
fn kinds_that_a_reference_date_does_not_have_are_refused() {
    let early = units("days since 0001-01-01").unwrap();
    let found = message(early.decode_as(TimeKind::Nanoseconds, Numbers::I64(&[0])));
    assert!(found.ends_with("it is not within nanoseconds since 1970"), "{found}");
    // cftime needs a day.
    let year = units("days since 2000").unwrap();
    assert_eq!(year.kind(Numbers::I64(&[5])), Ok(TimeKind::Nanoseconds));
    let found = message(year.decode(Numbers::I64(&[1_000_000])));
    assert!(found.ends_with("it is no year, month and day with hyphens"), "{found}");
}

#[test]
fn timedeltas_beyond_the_range_say_where() {
    let days = DeltaUnits::parse("days").unwrap();
    let found = message(days.decode(Numbers::I64(&[1, i64::MIN, 106_752])));
    assert_eq!(found, "value 106752 at index 2 is out of range: \"days\" as nanoseconds");
    assert!(days.decode(Numbers::F64(&[0.5, f64::NAN, 106_752.0])).is_err());
    assert!(days.decode(Numbers::F64(&[f64::INFINITY])).is_err());
    assert!(days.decode(Numbers::U64(&[u64::MAX])).is_err());
    let seconds = DeltaUnits::parse("seconds").unwrap();
    assert!(message(seconds.decode(Numbers::U64(&[0, 1 << 63]))).starts_with("value 9223372036854775808 at index 1 "));
    assert!(message(seconds.decode(Numbers::F32(&[1e19]))).starts_with("value 10000000000000000000 at index 0 "));
}

#[test]
fn times_that_cannot_be_counted_say_where() {
    let noleap = TimeUnits::parse("days since 2000-01-01", Calendar::NoLeap).unwrap();
    let leap_day = 951_782_400_000_000_000;
    assert_eq!(
        message(noleap.encode_nanoseconds(&[0, leap_day], NumberKind::Any)),
        "time 2000-02-29 00:00:00 at index 1 cannot be counted as \"days since 2000-01-01\" in calendar noleap: the \
         calendar does not have the date"
    );
    let early = units("days since 0001-01-01").unwrap();
    let found = message(early.encode_nanoseconds(&[0, 1], NumberKind::Any));
    assert!(found.ends_with("dates have whole microseconds"), "{found}");
}

#[test]
fn dates_of_other_calendars_are_refused() {
    let [one, other] =
        [Calendar::NoLeap, Calendar::Julian].map(|calendar| DateTime::new(calendar, 2000, 1, 1).unwrap());
    assert_eq!(
        message(TimeUnits::infer_dates(&[None, Some(one), Some(other)])),
        "date 2000-01-01 00:00:00 at index 2 is of calendar julian, expected noleap"
    );
    let standard = units("days since 2000-01-01").unwrap();
    assert!(matches!(standard.encode_dates(&[Some(one)], NumberKind::Any), Err(Error::OtherCalendar { index: 0, .. })));
    assert_eq!(TimeUnits::infer_dates(&[None]), Err(Error::NoDates));
    assert_eq!(one.partial_cmp(&other), None);
    assert_eq!(one.microseconds_since(&other), None);
}

#[test]
fn texts_that_are_no_dates_are_refused() {
    for text in [
        "",
        "200",
        "2000-1",
        "2000-01-",
        "2000-01-01T",
        "2000-01-01T00:00:00.",
        "2000-01-01T00:00:00.1234567890",
        "2000-01-01T0000",
        "2000-01-01X",
        "2000-０1",
        "--2000",
    ] {
        assert_eq!(PartialDate::parse(text), Err(Error::NotDate { text: text.to_owned() }), "{text}");
    }
    let nanosecond = PartialDate::parse("2000-01-01T00:00:00.123456789").unwrap();
    let found = message(nanosecond.range(Calendar::Standard));
    assert!(found.ends_with("in calendar standard: dates have microseconds"), "{found}");
    assert!(message(DateTime::parse("2000-02-30", Calendar::Standard)).contains("no date 2000-02-30"));
    let found = message(DateTime::new(Calendar::Standard, 2000, 1, 1).unwrap().at(24, 0, 0, 0));
    assert_eq!(found, "no date 2000-01-01 24:00:00.000000 in calendar standard: a day ends at 23:59:59.999999");
}
