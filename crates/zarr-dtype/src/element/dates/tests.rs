use super::*;
use proptest::prelude::*;

const UNITS: [Unit; 13] = [
    Unit::Year,
    Unit::Month,
    Unit::Week,
    Unit::Day,
    Unit::Hour,
    Unit::Minute,
    Unit::Second,
    Unit::Millisecond,
    Unit::Microsecond,
    Unit::Nanosecond,
    Unit::Picosecond,
    Unit::Femtosecond,
    Unit::Attosecond,
];

fn dates(unit: Unit, scale: u32) -> DataType {
    DataType::DateTime64(TimeUnit { unit, scale })
}

fn read<T: Element>(data_type: &DataType, counts: &[i64]) -> Result<Vec<T>, String> {
    T::from_items(data_type, bytemuck::cast_slice(counts), &Heap::new()).map_err(|error| error.to_string())
}

fn written<T: Element>(data_type: &DataType, values: &[T]) -> Result<Vec<i64>, String> {
    let items = T::to_items(data_type, values, &Heap::new()).map_err(|error| error.to_string())?;
    Ok(items.chunks(8).map(count_of).collect())
}

/// Returns the date `text` with all the parts that jiff requires.
fn full_text(text: &str) -> String {
    let (date, time) = text.split_once('T').unwrap_or((text, "00"));
    let date = match date.trim_start_matches('-').split('-').count() {
        1 => format!("{date}-01-01"),
        2 => format!("{date}-01"),
        _ => date.to_owned(),
    };
    // jiff wants six digits behind a minus sign.
    let date = date.strip_prefix('-').map_or(date.clone(), |date| format!("-00{date}"));
    let time = match time.split(':').count() {
        1 => format!("{time}:00:00"),
        2 => format!("{time}:00"),
        _ => time.to_owned(),
    };
    format!("{date}T{time}")
}

proptest! {
    #[test]
    fn dates_equal_their_texts(
        at in 0..UNITS.len(),
        scale in prop::sample::select(vec![1_u32, 1, 2, 25]),
        years in -9000.0..9000.0,
        small in -300..300_i64,
        is_small: bool,
    ) {
        let unit = TimeUnit { unit: UNITS[at], scale };
        let year = match length(unit.unit) {
            Some(Length::Nanoseconds(length)) => 3.15e16 / length as f64,
            Some(Length::PerNanosecond(per)) => 3.15e16 * per as f64,
            None => if unit.unit == Unit::Year { 1.0 } else { 12.0 },
        };
        #[expect(clippy::cast_possible_truncation, reason = "beyond 64 bits is the last count, which will do")]
        let mut count = if is_small { small } else { ((years - 1970.0) * year / f64::from(scale)) as i64 };
        prop_assume!(count != NOT_A_TIME);
        // Parts of nanoseconds have no value.
        if let Some(Length::PerNanosecond(per)) = length(unit.unit) {
            count -= count % i64::try_from(per).unwrap();
        }
        let text = full_text(&unit.date_text(count));
        // jiff takes no more digits than of nanoseconds; the digits behind are zero here.
        let text = text.split_once('.').map_or(text.clone(), |(time, digits)| format!("{time}.{digits:.9}"));
        let expected: DateTime = text.parse().unwrap();
        let data_type = DataType::DateTime64(unit);
        prop_assert_eq!(read::<DateTime>(&data_type, &[count]), Ok(vec![expected]), "{}", text);
        prop_assert_eq!(written(&data_type, &[expected]), Ok(vec![count]));

        let instant: Timestamp = format!("{text}Z").parse().unwrap();
        prop_assert_eq!(read::<Timestamp>(&data_type, &[count]), Ok(vec![instant]));
        prop_assert_eq!(written(&data_type, &[Some(instant), None]), Ok(vec![count, NOT_A_TIME]));

        let date = read::<Date>(&data_type, &[count]);
        prop_assert_eq!(date.clone().ok(), is_midnight(expected).then(|| vec![expected.date()]));
        if let Ok(date) = date {
            prop_assert_eq!(written(&data_type, &date), Ok(vec![count]));
        }
    }

    #[test]
    fn lengths_of_time_come_back(count: i64, at in 2..10_usize, scale in 1..10_u32) {
        prop_assume!(count != NOT_A_TIME);
        let unit = TimeUnit { unit: UNITS[at], scale };
        let Some(Length::Nanoseconds(length)) = length(unit.unit) else { panic!("{unit:?}") };
        let data_type = DataType::TimeDelta64(unit);
        let nanoseconds = i128::from(count) * i128::from(scale) * length;
        match read::<SignedDuration>(&data_type, &[count]) {
            Ok(values) => {
                prop_assert_eq!(values[0].as_nanos(), nanoseconds);
                prop_assert_eq!(written(&data_type, &values), Ok(vec![count]));
            }
            Err(_) => prop_assert!(i64::try_from(nanoseconds.div_euclid(NANOSECONDS)).is_err()),
        }
    }
}

#[test]
fn not_a_time_is_none() {
    let data_type = dates(Unit::Day, 1);
    assert_eq!(read::<Option<Date>>(&data_type, &[1, NOT_A_TIME]), Ok(vec![Some(Date::constant(1970, 1, 2)), None]));
    assert_eq!(
        read::<Date>(&data_type, &[1, NOT_A_TIME]),
        Err("element 1: found NaT, expected a jiff::civil::Date, as Option has None for NaT".to_owned())
    );
    let data_type = DataType::TimeDelta64(TimeUnit::new(Unit::Second));
    let values = vec![None, Some(SignedDuration::from_secs(-5))];
    assert_eq!(written(&data_type, &values), Ok(vec![NOT_A_TIME, -5]));
    assert_eq!(read(&data_type, &[NOT_A_TIME, -5]), Ok(values));
    // The count of NaT is no date, although the unit has one there.
    let least = DateTime::from_nanoseconds(i64::MIN.into()).unwrap();
    assert!(written(&dates(Unit::Nanosecond, 1), &[least]).is_err());
}

#[test]
fn inexact_dates_are_errors() {
    let time = Timestamp::constant(5, 1);
    let zero = Timestamp::UNIX_EPOCH;
    assert_eq!(
        written(&dates(Unit::Millisecond, 10), &[zero, time]),
        Err("element 1: found 1970-01-01T00:00:05.000000001Z, expected a multiple of 10 ms that has 64 bits".to_owned())
    );
    assert!(written(&dates(Unit::Month, 1), &[Date::constant(2000, 2, 1)]).is_ok());
    assert!(written(&dates(Unit::Month, 1), &[Date::constant(2000, 2, 2)]).is_err());
    assert!(written(&dates(Unit::Year, 1), &[Date::constant(2000, 2, 1)]).is_err());
    assert!(written(&dates(Unit::Year, 7), &[Date::constant(1971, 1, 1)]).is_err());
    assert!(written(&dates(Unit::Nanosecond, 1), &[Date::constant(2300, 1, 1)]).is_err());
    assert_eq!(
        read::<DateTime>(&dates(Unit::Picosecond, 1), &[1000, 1]),
        Err("element 1: found 1970-01-01T00:00:00.000000000001, expected a jiff::civil::DateTime".to_owned())
    );
    assert_eq!(
        read::<Date>(&dates(Unit::Year, 1), &[8030]),
        Err("element 0: found 10000, expected a jiff::civil::Date".to_owned())
    );
    assert!(read::<DateTime>(&dates(Unit::Week, u32::MAX), &[i64::MAX]).is_err());
    assert!(read::<DateTime>(&dates(Unit::Year, u32::MAX), &[i64::MAX]).is_err());
}

#[test]
fn units_without_a_length_are_refused() {
    assert!(Timestamp::accepts(&dates(Unit::Year, 1)) && !Timestamp::accepts(&dates(Unit::Generic, 1)));
    for unit in [Unit::Year, Unit::Month, Unit::Generic] {
        assert!(!SignedDuration::accepts(&DataType::TimeDelta64(TimeUnit::new(unit))));
    }
    assert!(!Timestamp::accepts(&DataType::TimeDelta64(TimeUnit::new(Unit::Second))));
    assert!(!Timestamp::accepts(&DataType::Int64));
    let error = read::<Option<Date>>(&DataType::Int64, &[1]).unwrap_err();
    assert_eq!(error, "elements of data type int64 do not fit the Rust type Option<jiff::civil::Date>");
    assert_eq!(Date::default_data_type().unwrap(), dates(Unit::Day, 1));
    assert_eq!(<Option<Timestamp>>::default_data_type().unwrap(), dates(Unit::Nanosecond, 1));
}

#[test]
fn a_field_has_the_unit_of_its_data_type() {
    let mut offsets = Vec::new();
    <[Option<Timestamp>; 2]>::offsets(&dates(Unit::Second, 10), &[2], &mut offsets).unwrap();
    let times = [Some(Timestamp::constant(50, 0)), None];
    let mut bytes = [0; 16];
    times.store(Offsets::new(&offsets), &mut bytes).unwrap();
    assert_eq!(bytes.chunks(8).map(count_of).collect::<Vec<_>>(), [5, NOT_A_TIME]);
    let mut read = <[Option<Timestamp>; 2]>::zero();
    read.load(Offsets::new(&offsets), &bytes).unwrap();
    assert_eq!(read, times);
    read.load(Offsets::AS_DECLARED, &bytes).unwrap();
    assert_eq!(read[0], Some(Timestamp::constant(0, 5)));
    assert!(Timestamp::offsets(&DataType::Int64, &[], &mut offsets).is_err());
}
