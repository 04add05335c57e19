//! Times that xarray and cftime decoded and encoded; `vectors.py` tells how.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use zarr_cf::time::{
    Calendar, DateTime, DeltaUnits, Encoded, EncodedNumbers, NumberKind, Numbers, PartialDate, Result, TimeUnits, Times,
};
use zarr_json::{ParseOptions, Value, parse};

/// Checks each case of a section, and that the section has at least `least` cases.
fn section(name: &str, least: usize, check: impl Fn(&[Value]) -> std::result::Result<usize, String>) {
    let document = parse(include_bytes!("../vectors.json"), ParseOptions::ALL).unwrap().value;
    let (mut count, mut wrong) = (0, Vec::new());
    for case in document.get(name).and_then(Value::as_array).unwrap() {
        match check(case.as_array().unwrap()) {
            Ok(compared) => count += compared,
            Err(problem) => wrong.push(format!("{problem}\n  {case}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {name} differ:\n{}", wrong.len(), wrong[..wrong.len().min(30)].join("\n"));
    assert!(count >= least, "{count} cases of {name}");
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Calls `call` with numbers of the type that a letter stands for.
fn with_numbers<T>(letter: &Value, numbers: &Value, call: impl FnOnce(Numbers<'_>) -> T) -> T {
    let floats = || array(numbers).iter().map(|number| number.as_f64().unwrap());
    match text(letter) {
        "i" => call(Numbers::I64(&integers(numbers))),
        "u" => call(Numbers::U64(&array(numbers).iter().map(|number| number.as_u64().unwrap()).collect::<Vec<_>>())),
        "f" => call(Numbers::F32(&floats().map(|number| number as f32).collect::<Vec<_>>())),
        _ => call(Numbers::F64(&floats().collect::<Vec<_>>())),
    }
}

/// Returns integers, with `i64::MIN` for null, a missing time.
fn integers(numbers: &Value) -> Vec<i64> {
    array(numbers).iter().map(|number| number.as_i64().unwrap_or(i64::MIN)).collect()
}

/// Returns decoded times as the vectors spell them.
fn spelled(times: Times) -> Vec<String> {
    let missing = || "null".to_owned();
    match times {
        Times::Nanoseconds(times) => {
            times.into_iter().map(|time| if time == i64::MIN { missing() } else { time.to_string() }).collect()
        }
        Times::Calendar(dates) => {
            dates.into_iter().map(|date| date.map_or_else(missing, |date| format!("\"{date}\""))).collect()
        }
    }
}

/// Compares decoded times with their spelling in the vectors; null stands for an error.
fn compare(due: &Value, found: Result<Vec<String>>) -> std::result::Result<(), String> {
    let due = due.as_array().map(|due| due.iter().map(Value::to_string).collect::<Vec<_>>());
    match (due, found) {
        (None, Err(_)) => Ok(()),
        (None, Ok(found)) => Err(format!("{found:?}, should be refused")),
        (Some(due), Ok(found)) if due == found => Ok(()),
        (Some(_), found) => Err(format!("found {found:?}")),
    }
}

#[test]
fn numbers_become_the_same_times() {
    section("decode", 1000, |case| {
        let [units, calendar, cases] = case else { return Err("no case".to_owned()) };
        let units = TimeUnits::parse(text(units), Calendar::parse(text(calendar)).unwrap());
        for case in array(cases) {
            let [letter, numbers, kind, due] = array(case) else { return Err("no case".to_owned()) };
            let found = units.clone().and_then(|units| with_numbers(letter, numbers, |numbers| units.decode(numbers)));
            compare(due, found.map(spelled)).map_err(|problem| format!("{problem}, in {case}"))?;
            let Some(kind) = array(kind).first().map(text) else { continue };
            let ends = [array(numbers).first().unwrap().clone(), array(numbers).last().unwrap().clone()];
            let ends = Value::Array(ends.into());
            let found = units.clone().and_then(|units| with_numbers(letter, &ends, |numbers| units.kind(numbers)));
            if found.as_ref().map(|found| found.is_nanoseconds()) != Ok(kind == "M") {
                return Err(format!("kind {found:?} of the ends of {case}"));
            }
        }
        Ok(array(cases).len())
    });
}

#[test]
fn reference_dates_are_read_and_written_the_same() {
    section("references", 300, |case| {
        let [units, calendar, due, written] = case else { return Err("no case".to_owned()) };
        let units = TimeUnits::parse(text(units), Calendar::parse(text(calendar)).unwrap());
        let found = units.clone().and_then(|units| units.decode(Numbers::I64(&[0])));
        compare(due, found.map(spelled))?;
        let Ok(units) = units else { return Ok(1) };
        // xarray also writes names of units that it then does not know, with an `s`.
        let known = written.as_str().filter(|written| written.split(' ').next().is_some_and(DeltaUnits::is_units));
        match known {
            Some(written) if units.written() != written => Err(format!("written {:?}", units.written())),
            _ => Ok(1),
        }
    });
}

fn kind(letter: &Value) -> NumberKind {
    match text(letter) {
        "i" => NumberKind::Integer,
        "f" => NumberKind::Float,
        _ => NumberKind::Any,
    }
}

/// Compares encoded times with `due`: the letter of their type, the numbers and the units, or fewer members for an error.
fn compare_encoded(due: &[Value], found: std::result::Result<Encoded, String>) -> std::result::Result<usize, String> {
    let [letter, numbers, units] = due else {
        return found.map_or(Ok(1), |found| Err(format!("{found:?}, should be refused")));
    };
    let same = match found.as_ref().map(|found| &found.numbers) {
        Ok(EncodedNumbers::I64(found)) => text(letter) == "i" && *found == integers(numbers),
        Ok(EncodedNumbers::F64(found)) => {
            let due = array(numbers).iter().map(|number| number.as_f64().unwrap_or(f64::NAN).to_bits());
            text(letter) == "f" && found.iter().map(|number| number.to_bits()).eq(due)
        }
        Err(_) => false,
    };
    let same_units = found.as_ref().is_ok_and(|found| found.units == text(units));
    if same && same_units { Ok(1) } else { Err(format!("found {found:?}")) }
}

#[test]
fn nanoseconds_become_the_same_numbers() {
    section("encode_nanoseconds", 200, |case| {
        let [times, units, calendar, letter, due @ ..] = case else { return Err("no case".to_owned()) };
        let times = integers(times);
        let units = match units.as_str() {
            Some(units) => TimeUnits::parse(units, Calendar::parse(text(calendar)).unwrap()),
            None => TimeUnits::infer_nanoseconds(&times),
        };
        let found = units.and_then(|units| units.encode_nanoseconds(&times, kind(letter)));
        compare_encoded(due, found.map_err(|error| error.to_string()))
    });
}

#[test]
fn dates_become_the_same_numbers() {
    section("encode_dates", 200, |case| {
        let [dates, units, calendar, letter, due @ ..] = case else { return Err("no case".to_owned()) };
        let calendar = Calendar::parse(text(calendar)).unwrap();
        let dates: Result<Vec<_>> =
            array(dates).iter().map(|date| DateTime::parse(text(date), calendar).map(Some)).collect();
        let dates = dates.map_err(|error| error.to_string())?;
        let units = match units.as_str() {
            Some(units) => TimeUnits::parse(units, calendar),
            None => TimeUnits::infer_dates(&dates),
        };
        let found = units.and_then(|units| units.encode_dates(&dates, kind(letter)));
        compare_encoded(due, found.map_err(|error| error.to_string()))
    });
}

#[test]
fn numbers_become_the_same_timedeltas() {
    section("decode_deltas", 200, |case| {
        let [units, letter, numbers, due] = case else { return Err("no case".to_owned()) };
        let units = DeltaUnits::parse(text(units)).map_err(|error| error.to_string())?;
        let found = with_numbers(letter, numbers, |numbers| units.decode(numbers));
        compare(due, found.map(|found| spelled(Times::Nanoseconds(found)))).map(|()| 1)
    });
}

#[test]
fn timedeltas_become_the_same_numbers() {
    section("encode_deltas", 100, |case| {
        let [deltas, units, letter, due @ ..] = case else { return Err("no case".to_owned()) };
        let deltas = integers(deltas);
        let units = match units.as_str() {
            Some(units) => DeltaUnits::parse(units).map_err(|error| error.to_string())?,
            None => DeltaUnits::infer(&deltas),
        };
        compare_encoded(due, Ok(units.encode(&deltas, kind(letter))))
    });
}

#[test]
fn partial_dates_are_the_same_ranges() {
    section("partial", 100, |case| {
        let [date, calendar, due] = case else { return Err("no case".to_owned()) };
        let found = PartialDate::parse(text(date));
        let Some(calendar) = calendar.as_str() else {
            let range = found.and_then(|found| found.range_nanoseconds());
            return compare(due, range.map(|range| vec![range.start.to_string(), range.end.to_string()])).map(|()| 1);
        };
        let range = found.and_then(|found| found.range(Calendar::parse(calendar).unwrap()));
        let len = due.as_array().map_or(2, <[Value]>::len);
        let spelled = range.map(|(start, end)| spelled(Times::Calendar(vec![Some(start), Some(end)])));
        compare(due, spelled.map(|spelled| spelled[..len].to_vec())).map(|()| 1)
    });
}
