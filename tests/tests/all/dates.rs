//! Points in time and lengths of it of jiff as elements of arrays.

use zarr::Dialect;
use zarr::dtype::jiff::civil::{Date, date};
use zarr::dtype::jiff::{SignedDuration, Timestamp};
use zarr::prelude::*;

#[derive(Clone, Debug, PartialEq, zarr::Element)]
struct Event {
    number: u8,
    begin: Timestamp,
    lasted: Option<SignedDuration>,
}

#[test]
fn dates_are_written_and_read() {
    for dialect in [Dialect::V2, Dialect::V3] {
        let store = zarr::store::create("memory:").unwrap();
        let new = NewArray::new(&[3], "<M8[M]").fill("NaT").dialect(dialect);
        let array = zarr::create((&store, "/dates")).array(new).unwrap();
        array.write(0..2, &[date(2000, 2, 1), date(-1, 12, 1)]).unwrap();
        assert_eq!(array.read::<i64>(..).unwrap(), [361, -23641, i64::MIN], "{dialect}");
        let expected = [Some(date(2000, 2, 1)), Some(date(-1, 12, 1)), None];
        assert_eq!(array.read::<Option<Date>>(..).unwrap(), expected, "{dialect}");
        assert_eq!(array.read_data(1).unwrap().text(0), "-0001-12", "{dialect}");

        let error = array.read::<Date>(1..).unwrap_err().to_string();
        assert!(error.contains("element 1: found NaT, expected a jiff::civil::Date"), "{error}");
        let error = array.write(0..2, &[date(2000, 2, 1), date(2000, 2, 2)]).unwrap_err().to_string();
        assert!(error.contains("element 1: found 2000-02-02, expected a multiple of 1 M"), "{error}");
    }
}

#[test]
fn structs_have_dates_in_the_units_of_the_array() {
    for (dialect, own) in [(Dialect::V2, true), (Dialect::V3, true), (Dialect::V2, false)] {
        let store = zarr::store::create("memory:").unwrap();
        let seconds = r#"[["begin", ">M8[s]"], ["lasted", ">m8[10m]"], ["number", "|u1"]]"#;
        let new = if own { NewArray::of::<Event>(&[2]).unwrap() } else { NewArray::new(&[2], seconds) };
        let array = zarr::create((&store, "/events")).array(new.dialect(dialect)).unwrap();
        let begin: Timestamp = "2024-02-29T12:30:05Z".parse().unwrap();
        let lasted = Some(SignedDuration::from_mins(-20));
        let events = [Event { number: 1, begin, lasted }, Event { number: 2, begin, lasted: None }];
        array.write(.., &events).unwrap();
        assert_eq!(array.read::<Event>(..).unwrap(), events, "{dialect}");
        let lasted = array.read_field("lasted", ..).unwrap();
        let expected = if own { ["-1200000000000 ns", "NaT"] } else { ["-20 m", "NaT"] };
        assert_eq!([lasted.text(0), lasted.text(1)], expected, "{dialect}");

        let wrong = Event { begin: begin + SignedDuration::from_nanos(1), ..events[0].clone() };
        let result = array.write(.., &[events[1].clone(), wrong]);
        assert_eq!(result.is_ok(), own, "{result:?}");
    }
}
