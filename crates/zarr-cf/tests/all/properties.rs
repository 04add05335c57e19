//! Laws that hold for all times.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use zarr_cf::time::{
    Calendar, DateTime, DeltaUnits, EncodedNumbers, NumberKind, Numbers, PartialDate, TimeKind, TimeUnits, Times,
};

fn calendars() -> impl Strategy<Value = Calendar> {
    prop_oneof![
        Just(Calendar::Standard),
        Just(Calendar::ProlepticGregorian),
        Just(Calendar::Julian),
        Just(Calendar::NoLeap),
        Just(Calendar::AllLeap),
        Just(Calendar::Days360),
    ]
}

/// Returns units in which a number of 32 bits stays within the years of dates.
fn units() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("hours"), Just("minutes"), Just("secs"), Just("milliseconds"), Just("microseconds")]
}

/// Decodes numbers to dates of the calendar.
fn dates(units: &TimeUnits, numbers: &[i64]) -> Vec<Option<DateTime>> {
    match units.decode_as(TimeKind::Calendar, Numbers::I64(numbers)).unwrap() {
        Times::Calendar(dates) => dates,
        Times::Nanoseconds(times) => panic!("{times:?}"),
    }
}

proptest! {
    #[test]
    fn dates_of_integers_are_these_integers(
        calendar in calendars(), unit in units(), start in 1..3000_i32, numbers in proptest::collection::vec(-(1 << 28)..1_i64 << 28, 1..9)
    ) {
        let units = TimeUnits::parse(&format!("{unit} since {start:04}-03-01 06:00:00"), calendar).unwrap();
        let dates = dates(&units, &numbers);
        let encoded = units.encode_dates(&dates, NumberKind::Any).unwrap();
        prop_assert_eq!(encoded.numbers, EncodedNumbers::I64(numbers.clone()));
        // Dates have the order of the numbers, and come back from their text.
        for (one, date) in numbers.iter().zip(&dates) {
            let date = date.unwrap();
            prop_assert_eq!(DateTime::parse(&date.to_string(), calendar).unwrap(), date);
            for (other, other_date) in numbers.iter().zip(dates.iter().flatten()) {
                prop_assert_eq!(date.partial_cmp(other_date), Some(one.cmp(other)));
            }
        }
        // So they do in units of their own.
        let inferred = TimeUnits::infer_dates(&dates).unwrap();
        let encoded = inferred.encode_dates(&dates, NumberKind::Integer).unwrap();
        let EncodedNumbers::I64(whole) = encoded.numbers else { panic!("{:?}", encoded.numbers) };
        let again = TimeUnits::parse(&encoded.units, calendar).unwrap();
        prop_assert_eq!(self::dates(&again, &whole), dates);
    }

    #[test]
    fn nanoseconds_come_back(times in proptest::collection::vec(any::<i64>(), 0..9), step in 0..6_u32) {
        let scale = 10_i64.pow(3 * step);
        let times: Vec<i64> = times.into_iter().map(|time| if time == i64::MIN { time } else { time / scale * scale }).collect();
        let units = TimeUnits::infer_nanoseconds(&times).unwrap();
        let encoded = units.encode_nanoseconds(&times, NumberKind::Integer);
        // Times that are more than 292 years from the first are decoded in microseconds by way of floats, as xarray does.
        let first = times.iter().copied().find(|time| *time != i64::MIN).unwrap_or_default();
        let near = times.iter().all(|time| *time == i64::MIN || time.checked_sub(first).is_some_and(|since| since != i64::MIN));
        if near {
            let encoded = encoded.unwrap();
            let EncodedNumbers::I64(numbers) = encoded.numbers else { panic!("{:?}", encoded.numbers) };
            let again = TimeUnits::parse(&encoded.units, Calendar::ProlepticGregorian).unwrap();
            prop_assert_eq!(again.decode(Numbers::I64(&numbers)).unwrap(), Times::Nanoseconds(times.clone()));
        }
        let deltas = DeltaUnits::infer(&times);
        let encoded = deltas.encode(&times, NumberKind::Any);
        let EncodedNumbers::I64(numbers) = encoded.numbers else { panic!("{:?}", encoded.numbers) };
        prop_assert_eq!(deltas.decode(Numbers::I64(&numbers)).unwrap(), times);
    }

    #[test]
    fn a_part_is_decoded_as_the_whole(
        calendar in calendars(), start in 1600..2400_i32, unit in units(),
        numbers in proptest::collection::vec(prop_oneof![4 => any::<i32>().prop_map(f64::from), 1 => Just(f64::NAN), 2 => -1e6..1e6_f64], 1..30),
    ) {
        let units = TimeUnits::parse(&format!("{unit} since {start}-01-30"), calendar).unwrap();
        let kind = units.kind(Numbers::F64(&numbers)).unwrap();
        let whole = units.decode(Numbers::F64(&numbers)).unwrap();
        prop_assert_eq!(kind.is_nanoseconds(), matches!(whole, Times::Nanoseconds(_)));
        let middle = numbers.len() / 2;
        let [left, right] = [&numbers[..middle], &numbers[middle..]].map(|part| units.decode_as(kind, Numbers::F64(part)).unwrap());
        let joined = match (left, right) {
            (Times::Nanoseconds(left), Times::Nanoseconds(right)) => Times::Nanoseconds([left, right].concat()),
            (Times::Calendar(left), Times::Calendar(right)) => Times::Calendar([left, right].concat()),
            other => panic!("{other:?}"),
        };
        prop_assert_eq!(&joined, &whole);
        // Missing are those that are NaN.
        let missing: Vec<bool> = match whole {
            Times::Nanoseconds(times) => times.iter().map(|time| *time == i64::MIN).collect(),
            Times::Calendar(dates) => dates.iter().map(Option::is_none).collect(),
        };
        prop_assert_eq!(missing, numbers.iter().map(|number| number.is_nan()).collect::<Vec<_>>());
    }

    #[test]
    fn any_slice_of_integers_is_decoded_or_refused_as_each_of_them(
        numbers in proptest::collection::vec(prop_oneof![any::<i64>(), -200_000..200_000_i64, Just(i64::MIN)], 0..40), days in any::<bool>(),
    ) {
        let name = if days { "days" } else { "seconds" };
        let units = TimeUnits::parse(&format!("{name} since 1970-01-01"), Calendar::Standard).unwrap();
        let length = if days { 86_400_000_000_000_i128 } else { 1_000_000_000 };
        let due: Option<Vec<i64>> = numbers.iter().map(|number| {
            if *number == i64::MIN { Some(i64::MIN) } else { i64::try_from(i128::from(*number) * length).ok() }
        }).collect();
        match units.decode_as(TimeKind::Nanoseconds, Numbers::I64(&numbers)) {
            Ok(found) => prop_assert_eq!(Some(found), due.map(Times::Nanoseconds)),
            Err(error) => {
                prop_assert!(due.is_none(), "{}", error);
                let first = numbers.iter().position(|number| *number != i64::MIN && i64::try_from(i128::from(*number) * length).is_err());
                let place = format!("value {} at index {}", numbers[first.unwrap()], first.unwrap());
                prop_assert!(error.to_string().starts_with(&place), "{}, not {}", error, place);
            }
        }
    }

    #[test]
    fn ranges_of_partial_dates_meet(calendar in calendars(), year in 1..9998_i32, month in 1..=12_u8, day in 1..=28_u8, hour in 0..24_u8) {
        prop_assume!((year, month) != (1582, 10));
        let range = |text: String| PartialDate::parse(&text).unwrap().range(calendar).unwrap();
        let (start, end) = range(format!("{year:04}"));
        prop_assert_eq!(range(format!("{:04}", year + 1)).0, end);
        let (first, _) = range(format!("{year:04}-01"));
        let (_, last) = range(format!("{year:04}-12"));
        prop_assert_eq!((first, last), (start, end));
        let (start_of_day, end_of_day) = range(format!("{year:04}-{month:02}-{day:02}"));
        prop_assert_eq!(end_of_day.microseconds_since(&start_of_day), Some(86_400_000_000));
        let (start_of_hour, end_of_hour) = range(format!("{year:04}{month:02}{day:02}T{hour:02}"));
        prop_assert!(start <= start_of_day && start_of_day <= start_of_hour && end_of_hour <= end_of_day && end_of_day <= end);
        prop_assert_eq!(end_of_hour.microseconds_since(&start_of_hour), Some(3_600_000_000));
    }

    #[test]
    fn no_text_panics(text in "[-+ :.TZ0-9a-z_]{0,24}", since in any::<bool>(), calendar in calendars(), number in any::<f64>()) {
        let text = if since { format!("days since {text}") } else { text };
        let _ = (Calendar::parse(&text), PartialDate::parse(&text).map(|date| date.range(calendar)), DeltaUnits::parse(&text));
        let _ = PartialDate::parse(&text).map(|date| date.range_nanoseconds());
        if let Ok(units) = TimeUnits::parse(&text, calendar) {
            let _ = units.decode(Numbers::F64(&[number, 0.0]));
            let written = TimeUnits::parse(units.written(), calendar);
            prop_assert!(written.is_ok(), "{} of {}", units.written(), text);
        }
    }
}
