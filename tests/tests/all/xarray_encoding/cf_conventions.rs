//! The section *CF Conventions*: what `decode_cf` decodes, and its encoding when writing.

use super::*;
use zarr::dataset::cf::time::{Calendar, DateTime};

/// The names of calendars, and the dates that the numbers 0, 1, 2 and 365 are as days since 1900-02-28.
const CALENDARS: [(&str, [&str; 4]); 9] = [
    ("standard", ["1900-02-28", "1900-03-01", "1900-03-02", "1901-02-28"]),
    ("gregorian", ["1900-02-28", "1900-03-01", "1900-03-02", "1901-02-28"]),
    ("proleptic_gregorian", ["1900-02-28", "1900-03-01", "1900-03-02", "1901-02-28"]),
    ("julian", ["1900-02-28", "1900-02-29", "1900-03-01", "1901-02-27"]),
    ("noleap", ["1900-02-28", "1900-03-01", "1900-03-02", "1901-02-28"]),
    ("365_day", ["1900-02-28", "1900-03-01", "1900-03-02", "1901-02-28"]),
    ("all_leap", ["1900-02-28", "1900-02-29", "1900-03-01", "1901-02-27"]),
    ("366_day", ["1900-02-28", "1900-02-29", "1900-03-01", "1901-02-27"]),
    ("360_day", ["1900-02-28", "1900-02-29", "1900-02-30", "1901-03-03"]),
];

/// One variable `v` of dimension `x`, read from both versions. `fill` is `_FillValue`: the fill value of version 2, an attribute of
/// version 3.
fn read<T: WriteElement>(types: [&str; 2], fill: &Value, attributes: &Value, elements: &[T]) -> [Dataset; 2] {
    let len = [elements.len() as u64];
    let with = |name: &str, value: &Value| {
        let mut attributes = attributes.clone();
        if let (Value::Object(members), false) = (&mut attributes, value.is_null()) {
            members.insert(name, value.clone());
        }
        attributes
    };
    let old = group(Dialect::V2);
    v2(&old, "v", (types[0], &len), fill.clone(), &with("_ARRAY_DIMENSIONS", &json!(["x"])), elements);
    let new = group(Dialect::V3);
    v3(&new, "v", (types[1], &len), &json!(["x"]), &with("_FillValue", fill), elements);
    [open(&old), open(&new)]
}

fn data_type(dataset: &Dataset) -> String {
    dataset.variable("v").unwrap().data_type().unwrap().to_string()
}

/// CF Conventions: a value is the stored number times `scale_factor`, plus `add_offset`.
// clause: xarray-13
#[test]
fn numbers_are_scaled_and_moved() {
    let cases = [
        (json!({"scale_factor": 0.5, "add_offset": 273.0}), ["273.0", "273.5", "272.5"]),
        (json!({"scale_factor": 0.5}), ["0.0", "0.5", "-0.5"]),
        (json!({"add_offset": 273.0}), ["273.0", "274.0", "272.0"]),
        // netCDF writes attributes of one number as lists.
        (json!({"scale_factor": [0.5], "add_offset": [273.0]}), ["273.0", "273.5", "272.5"]),
    ];
    for (attributes, expected) in cases {
        for dataset in read(["<i2", "int16"], &Value::Null, &attributes, &[0_i16, 1, -1]) {
            assert_eq!(texts(&dataset, "v"), expected, "{attributes}");
            let v = dataset.variable("v").unwrap();
            assert_eq!((names(v.attributes()), v.encoding().len()), (vec![], attributes.as_object().unwrap().len()));
            assert_eq!(v.read_stored().unwrap().to_vec::<i16>().unwrap(), [0, 1, -1]);
        }
    }
    // `_Unsigned` is about the bits of integers.
    for dataset in read(["|i1", "int8"], &Value::Null, &json!({"_Unsigned": "true"}), &[0_i8, -1, 127]) {
        assert_eq!(texts(&dataset, "v"), ["0", "255", "127"]);
    }
}

/// CF Conventions: `_FillValue` and `missing_value` mark missing data, which is NaN. In version 2 `_FillValue` is the fill value of the
/// array.
// clause: xarray-14
#[test]
fn missing_data_is_marked() {
    let none = Value::Null;
    let cases = [
        (json!(-1), json!({}), ["0.0", "NaN", "2.0", "3.0"]),
        (none.clone(), json!({"missing_value": 2}), ["0.0", "-1.0", "NaN", "3.0"]),
        (none.clone(), json!({"missing_value": [2, 3]}), ["0.0", "-1.0", "NaN", "NaN"]),
        (json!(-1), json!({"missing_value": 3}), ["0.0", "NaN", "2.0", "NaN"]),
        (none, json!({}), ["0", "-1", "2", "3"]),
    ];
    for (fill, attributes, expected) in cases {
        for dataset in read(["<i2", "int16"], &fill, &attributes, &[0_i16, -1, 2, 3]) {
            assert_eq!(texts(&dataset, "v"), expected, "{fill} {attributes}");
            let marked: Vec<bool> = expected.iter().map(|text| *text == "NaN").collect();
            let values = dataset.variable("v").unwrap().read().unwrap();
            assert_eq!((0..4).map(|index| values.is_missing(index)).collect::<Vec<_>>(), marked);
            assert_eq!(names(dataset.variable("v").unwrap().attributes()), [""; 0]);
        }
    }
    // Marks are stored numbers: they are looked for before scaling.
    for dataset in read(["<i2", "int16"], &json!(4), &json!({"scale_factor": 2.0}), &[4_i16, 2]) {
        assert_eq!(texts(&dataset, "v"), ["NaN", "4.0"]);
    }
    // In version 3 the mark of floats is base64 of 64 bits, and the fill value of the array is no mark.
    let store = group(Dialect::V3);
    v3(&store, "f", ("float32", &[3]), &json!(["x"]), &json!({"_FillValue": "AAAAAAAAI8A="}), &[0.0_f32, -9.5, 1.0]);
    assert_eq!(texts(&open(&store), "f"), ["0.0", "NaN", "1.0"]);
    // A variable whose mark is no number of its type says so.
    v3(&store, "g", ("int16", &[1]), &json!(["y"]), &json!({"_FillValue": "none"}), &[1_i16]);
    let error = open(&store).variable("g").unwrap().read().unwrap_err();
    assert!(error.to_string().contains("/g") && error.to_string().contains("_FillValue"), "{error}");
}

/// CF Conventions: `units` since a time with a `calendar` are times, of each calendar.
// clause: xarray-15
#[test]
fn times_of_each_calendar_are_decoded() {
    for (calendar, expected) in CALENDARS {
        let attributes = json!({"units": "days since 1900-02-28", "calendar": calendar, "long_name": "t"});
        for dataset in read(["<i4", "int32"], &Value::Null, &attributes, &[0, 1, 2, 365]) {
            let is_numpy = calendar.contains("gregorian") || calendar == "standard";
            let midnight = if is_numpy { "T00:00:00.000000000" } else { " 00:00:00" };
            assert_eq!(texts(&dataset, "v"), expected.map(|date| format!("{date}{midnight}")), "{calendar}");
            assert_eq!(data_type(&dataset).contains("datetime64"), is_numpy, "{calendar}: {}", data_type(&dataset));
            assert_eq!(names(dataset.variable("v").unwrap().attributes()), ["long_name"]);
        }
    }
    // Without a calendar it is the standard one, which skips ten days in 1582; the proleptic one does not.
    for (calendar, next) in [(None, "15"), (Some("standard"), "15"), (Some("proleptic_gregorian"), "05")] {
        let mut attributes = json!({"units": "days since 1582-10-04"});
        if let (Some(calendar), Value::Object(members)) = (calendar, &mut attributes) {
            members.insert("calendar", calendar);
        }
        for dataset in read(["<i4", "int32"], &Value::Null, &attributes, &[0, 1]) {
            assert_eq!(texts(&dataset, "v"), ["1582-10-04 00:00:00".to_owned(), format!("1582-10-{next} 00:00:00")]);
        }
    }
    let units = ["days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"];
    let seconds = ["86400", "3600", "60", "1", "0.001", "0.000001", "0.000000001"];
    for (unit, seconds) in units.into_iter().zip(seconds) {
        let attributes = json!({"units": (format!("{unit} since 2000-01-01"))});
        for dataset in read(["<i8", "int64"], &json!(-1), &attributes, &[1_i64, -1]) {
            let start = DateTime::new(Calendar::ProlepticGregorian, 2000, 1, 1).unwrap().to_nanoseconds().unwrap();
            let expected = start + (seconds.parse::<f64>().unwrap() * 1e9).round() as i64;
            let values = dataset.variable("v").unwrap().read().unwrap();
            assert_eq!(values.data().items()[..8], expected.to_ne_bytes(), "{unit}");
            assert_eq!(values.text(1), "NaT");
        }
    }
    for wrong in
        [json!({"units": "days since yesterday"}), json!({"units": "days since 2000-01-01", "calendar": "mayan"})]
    {
        for dataset in read(["<i4", "int32"], &Value::Null, &wrong, &[1]) {
            let error = dataset.variable("v").unwrap().read().unwrap_err().to_string();
            let named = if wrong.get("calendar").is_some() { "mayan" } else { "yesterday" };
            assert!(error.contains("/v") && error.contains(named), "{error}");
        }
    }
}

/// CF Conventions: `units` of time with `dtype` `timedelta64` are time spans; without it they stay numbers.
// clause: xarray-16
#[test]
fn time_spans_are_decoded() {
    let span = json!({"units": "minutes", "dtype": "timedelta64[ns]"});
    for dataset in read(["<i4", "int32"], &json!(-1), &span, &[90, -1]) {
        assert!(data_type(&dataset).contains("timedelta64"), "{}", data_type(&dataset));
        let values = dataset.variable("v").unwrap().read().unwrap();
        assert_eq!(values.data().items()[..8], (90 * 60 * 1_000_000_000_i64).to_ne_bytes());
        assert_eq!(values.text(1), "NaT");
        assert_eq!(names(dataset.variable("v").unwrap().attributes()), [""; 0]);
    }
    for dataset in read(["<i4", "int32"], &Value::Null, &json!({"units": "minutes"}), &[90, -1]) {
        assert_eq!((data_type(&dataset), texts(&dataset, "v").join(" ")), ("int32".to_owned(), "90 -1".to_owned()));
        assert_eq!(names(dataset.variable("v").unwrap().attributes()), ["units"]);
    }
}

/// CF Conventions: integers with `dtype` `bool` are bools.
// clause: xarray-16
#[test]
fn bools_are_decoded() {
    for dataset in read(["|i1", "int8"], &Value::Null, &json!({"dtype": "bool"}), &[0_i8, 1, 2]) {
        assert_eq!(
            (data_type(&dataset), texts(&dataset, "v").join(" ")),
            ("bool".to_owned(), "false true true".to_owned())
        );
        assert_eq!(names(dataset.variable("v").unwrap().attributes()), [""; 0]);
    }
}

/// CF Conventions: arrays of single characters are strings, whose last dimension is gone; with `_Encoding` they are decoded.
// clause: xarray-16
#[test]
fn characters_are_joined_to_strings() {
    for encoding in [None, Some("utf-8"), Some("latin-1")] {
        let mut attributes = json!({"_ARRAY_DIMENSIONS": ["x", "string3"]});
        if let (Some(encoding), Value::Object(members)) = (encoding, &mut attributes) {
            members.insert("_Encoding", encoding);
        }
        let characters = if encoding == Some("latin-1") { b"ab\xe9d\0\0" } else { b"abcd\0\0" };
        let store = group(Dialect::V2);
        v2::<i8>(&store, "v", ("|S1", &[2, 3]), Value::Null, &attributes, &[]);
        store.set_all(&Key::new("v/0.0").unwrap(), characters).unwrap();
        let dataset = open(&store);
        let v = dataset.variable("v").unwrap();
        assert_eq!((v.dimensions().collect::<Vec<_>>(), v.shape()), (vec!["x"], vec![2]));
        assert!(dataset.dimensions().iter().all(|dimension| dimension.name == "x"));
        let values = v.read().unwrap();
        match encoding {
            None => assert_eq!(values.data().items(), b"abcd\0\0"),
            Some("utf-8") => assert_eq!(values.to_vec::<String>().unwrap(), ["abc", "d"]),
            Some(_) => assert_eq!(values.to_vec::<String>().unwrap(), ["ab\u{e9}", "d"]),
        }
        assert_eq!(v.encoding().contains_key("_Encoding"), encoding.is_some());
    }
}

/// CF Conventions: strings of any length, of one length, and bytes with an encoding.
// clause: xarray-16
#[test]
fn strings_are_read_and_written() {
    let strings = ["", "\u{fc}ber", "\u{6771}\u{4eac}"];
    for dialect in BOTH {
        let new = NewDataset::new().dialect(dialect);
        let new = new.variable(variable("any", &["x"], strings)).variable(variable("s", &[], ["one"]));
        let new = new.variable(variable("coded", &["x"], strings).stored_as("S1").encoding("_Encoding", "utf-8"));
        let store = memory();
        let dataset = create(&store, new);
        for name in ["any", "coded"] {
            let values = dataset.variable(name).unwrap().read().unwrap();
            assert_eq!(values.to_vec::<String>().unwrap(), strings, "{dialect} {name}");
        }
        assert_eq!(texts(&dataset, "s"), ["one"]);
        assert_eq!(dataset.variable("coded").unwrap().encoding().get("_Encoding"), Some(&json!("utf-8")));
        // Nothing is missing where no string is marked so.
        assert!(!dataset.variable("any").unwrap().read().unwrap().is_missing(0));
    }
    // Version 2 marks missing strings by its fill value.
    let store = group(Dialect::V2);
    v2(&store, "v", ("<U2", &[2]), "zz", &json!({"_ARRAY_DIMENSIONS": ["x"]}), &["a", "zz"]);
    let values = open(&store).variable("v").unwrap().read().unwrap();
    assert_eq!((values.text(0), values.is_missing(1)), ("a".to_owned(), true));
}

/// CF Conventions: the attribute `coordinates`, as `"yc xc"`, lists variables that are coordinates. It is read of variables and of the
/// group, is no attribute of the user, and is written.
// clause: xarray-17
#[test]
fn coordinates_are_listed_by_an_attribute() {
    for dialect in BOTH {
        let store = memory();
        let plane = |name: &str| variable(name, &["y", "x"], ([1, 2], [1.0, 2.0]));
        let new = NewDataset::new().dialect(dialect).variable(variable("x", &["x"], [1, 2]));
        let new = new.coordinate(plane("xc")).coordinate(plane("yc")).variable(plane("Tair"));
        let dataset = create(&store, new.coordinate(variable("run", &["run_number"], [1, 2, 3])));
        assert_eq!(coordinates(&dataset), ["run", "x", "xc", "yc"]);
        assert_eq!(dataset.data_variables().map(|it| it.name()).collect::<Vec<_>>(), ["Tair"]);
        let tair = dataset.variable("Tair").unwrap();
        assert_eq!(dataset.coordinates_of(tair).map(|it| it.name()).collect::<Vec<_>>(), ["x", "xc", "yc"]);
        assert_eq!((names(tair.attributes()), names(dataset.attributes())), (vec![], vec![]));
        let (key, pointer) =
            if dialect.is_v3() { ("zarr.json", "/attributes/coordinates") } else { (".zattrs", "/coordinates") };
        assert_eq!(member(&store, &format!("Tair/{key}"), pointer), json!("xc yc"));
        // One that no variable can list is listed by the group.
        assert_eq!(member(&store, key, pointer), json!("run"));
        assert_eq!(member(&store, &format!("xc/{key}"), pointer), Value::Null);
    }
    // Names that are not there are no coordinates.
    let store = group(Dialect::V2);
    v2(&store, "t", ("<i4", &[1]), 0, &json!({"_ARRAY_DIMENSIONS": ["x"], "coordinates": "lat nowhere"}), &[1]);
    v2(&store, "lat", ("<i4", &[1]), 0, &json!({"_ARRAY_DIMENSIONS": ["x"]}), &[1]);
    assert_eq!(coordinates(&open(&store)), ["lat"]);
}

/// CF Conventions: when writing, values are encoded: scaled and rounded, with marks for missing data.
// clause: xarray-18
#[test]
fn numbers_are_packed_when_writing() {
    for dialect in BOTH {
        let store = memory();
        let values = [273.0_f32, 273.3, f32::NAN];
        let packed = variable("v", &["x"], values).stored_as("int16").encoding("scale_factor", 0.5);
        let packed = packed.encoding("add_offset", 273.0).encoding("_FillValue", -1).attribute("units", "K");
        let dataset = create(&store, NewDataset::new().dialect(dialect).variable(packed));
        let v = dataset.variable("v").unwrap();
        assert_eq!(v.read_stored().unwrap().to_vec::<i16>().unwrap(), [0, 1, -1]);
        assert_eq!(texts(&dataset, "v"), ["273.0", "273.5", "NaN"]);
        assert_eq!(names(v.attributes()), ["units"]);
        // Again as it was.
        let copy = memory();
        let copied = create(&copy, NewDataset::of(&dataset).unwrap().dialect(dialect));
        assert_eq!(copied.variable("v").unwrap().encoding(), v.encoding());
        assert_eq!(texts(&copied, "v"), texts(&dataset, "v"));
    }
    // Floats have NaN as their mark without being told, as xarray writes them.
    let (old, new) = (memory(), memory());
    let plain = || NewDataset::new().variable(variable("v", &["x"], [1.5, f64::NAN]));
    create(&old, plain().dialect(Dialect::V2));
    create(&new, plain().dialect(Dialect::V3));
    assert_eq!(member(&old, "v/.zarray", "/fill_value"), json!("NaN"));
    assert_eq!(member(&new, "v/zarr.json", "/attributes/_FillValue"), json!("AAAAAAAA+H8="));
}

/// CF Conventions: when writing, times are numbers with units and a calendar: dates of each calendar, times and spans of numpy.
// clause: xarray-18
#[test]
fn times_are_encoded_when_writing() {
    for dialect in BOTH {
        for (name, expected) in CALENDARS {
            let calendar = Calendar::parse(name).unwrap();
            let dates: Vec<_> = expected.iter().map(|text| Some(DateTime::parse(text, calendar).unwrap())).collect();
            let store = memory();
            let v = variable("v", &["x"], Values::of_dates(&dates).unwrap()).encoding("calendar", name);
            let v = v.encoding("units", "days since 1900-02-28");
            let dataset = create(&store, NewDataset::new().dialect(dialect).variable(v));
            let v = dataset.variable("v").unwrap();
            assert_eq!(v.read_stored().unwrap().to_vec::<i64>().unwrap(), [0, 1, 2, 365], "{name}");
            assert!(texts(&dataset, "v").iter().zip(expected).all(|(text, date)| text.starts_with(date)), "{name}");
            assert_eq!(v.encoding().get("calendar"), Some(&json!(name)));
            assert_eq!(v.encoding().get("units"), Some(&json!("days since 1900-02-28")));
        }
        let store = memory();
        let new = NewDataset::new().dialect(dialect).variable(variable("t", &["x"], numpy_times("<M8[h]", &[0, 36])));
        let dataset = create(&store, new.variable(variable("d", &["x"], numpy_times("<m8[s]", &[90, i64::MIN]))));
        assert_eq!(texts(&dataset, "t")[1], "1970-01-02T12:00:00.000000000");
        let (t, d) = (dataset.variable("t").unwrap(), dataset.variable("d").unwrap());
        assert_eq!(t.encoding().get("units"), Some(&json!("hours since 1970-01-01 00:00:00")));
        assert_eq!(t.encoding().get("calendar"), Some(&json!("proleptic_gregorian")));
        assert_eq!(d.encoding().get("units"), Some(&json!("seconds")));
        assert_eq!(d.encoding().get("dtype"), Some(&json!("timedelta64[s]")));
        assert_eq!(texts(&dataset, "d"), ["90 s", "NaT"]);
    }
}

/// CF Conventions: when writing, nothing is encoded that would be another value when it is read.
// clause: xarray-18
#[test]
fn values_that_do_not_fit_are_not_written() {
    let cases = [
        (variable("v", &["x"], [1.0, f64::NAN]).stored_as("int16"), "int16 has no value for missing data"),
        (variable("v", &["x"], [1e9]).stored_as("int16"), "value 0 is 1000000000.0"),
        (variable("v", &["x"], [1.0]).encoding("scale_factor", "half"), "scale_factor"),
        (variable("v", &["x"], [1.0]).attribute("_FillValue", 1.0), "_FillValue"),
    ];
    for (wrong, expected) in cases {
        let store = memory();
        let error = zarr::create(&store).dataset(NewDataset::new().variable(wrong)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!is_there(&store, "zarr.json"));
    }
}
