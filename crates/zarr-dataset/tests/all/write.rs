//! Tests of writing data sets as xarray writes them: documents, encoded elements, regions, appended parts.

use crate::registry;
use std::ops::ControlFlow::Continue;
use std::sync::Arc;
use zarr_array::{ArrayData, Store};
use zarr_dataset::cf::time::{Calendar, DateTime};
use zarr_dataset::{Dataset, ErrorKind, Labels, NewDataset, NewVariable, Values};
use zarr_json::Value;
use zarr_meta::Dialect;
use zarr_store::testing::Intercepted;
use zarr_store::{Call, Error, Key, MemoryStore, Operation, StoreExt};

pub(crate) fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn document(store: &Arc<dyn Store>, key: &str) -> Value {
    let bytes = store.get_all(&Key::new(key).unwrap()).unwrap().unwrap();
    Value::from_json(std::str::from_utf8(&bytes).unwrap()).unwrap()
}

pub(crate) fn variable(name: &str, dimensions: &[&str], values: impl zarr_dataset::IntoValues) -> NewVariable {
    NewVariable::new(name, dimensions, values).unwrap().codecs("bytes").unwrap()
}

pub(crate) fn times(dtype: &str, numbers: &[i64]) -> Values {
    let (data_type, _) = zarr_dtype::from_npy_descr(dtype).unwrap();
    let items: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    Values::of_data(ArrayData::from_items(&data_type, &[numbers.len() as u64], &items, None).unwrap())
}

/// Returns a new data set of two days, the first of which is `first` in days since 1970, with the packed variable `t2m`.
fn part(first: i64, values: &[f32; 4]) -> NewDataset {
    let time = variable("time", &["time"], times("<M8[D]", &[first, first + 1]));
    let lat = variable("lat", &["lat"], [50.0_f32, 40.0]);
    let t2m = variable("t2m", &["time", "lat"], ([2, 2], values)).stored_as("int16").encoding("scale_factor", 0.5);
    let t2m = t2m.encoding("_FillValue", -1).attribute("units", "K").chunks(&[2, 2]);
    let time = time.encoding("units", "hours since 2020-01-01").encoding("calendar", "standard").stored_as("int64");
    NewDataset::new().variable(time.chunks(&[4])).variable(lat).variable(t2m).attribute("title", "test")
}

/// 2020-01-01 in days since 1970.
pub(crate) const START: i64 = 18_262;

pub(crate) fn created(store: &Arc<dyn Store>, new: NewDataset) -> Dataset {
    Dataset::create(store, "/", new, &registry()).unwrap()
}

fn t2m(dataset: &Dataset) -> Vec<String> {
    let values = dataset.variable("t2m").unwrap().read().unwrap();
    (0..values.len()).map(|index| values.text(index)).collect()
}

/// Documents are those that xarray 2026.9 writes for an equal data set, except for the codecs.
#[test]
fn documents_are_those_of_xarray() {
    let v3 = store();
    let height = variable("height", &[], [2.0]);
    created(&v3, part(START, &[273.0, 274.5, f32::NAN, 280.0]).coordinate(height.clone()));
    let time = document(&v3, "time/zarr.json");
    let expected = r#"{"units": "hours since 2020-01-01", "calendar": "standard"}"#;
    assert_eq!(time.get("attributes"), Some(&Value::from_json(expected).unwrap()));
    assert_eq!(time.get("dimension_names"), Some(&Value::from(vec![Value::from("time")])));
    let packed = document(&v3, "t2m/zarr.json");
    let expected = r#"{"units": "K", "scale_factor": 0.5, "coordinates": "height", "_FillValue": -1}"#;
    let expected = Value::from_json(expected).unwrap();
    assert!(packed.get("attributes").unwrap().semantically_eq(&expected), "{packed}");
    assert_eq!(packed.get("fill_value"), Some(&Value::from(0)));
    let lat = document(&v3, "lat/zarr.json");
    assert_eq!(lat.get("attributes").and_then(|it| it.get("_FillValue")), Some(&Value::from("AAAAAAAA+H8=")));
    assert_eq!(lat.get("fill_value"), Some(&Value::from("NaN")));
    assert!(document(&v3, "zarr.json").get("consolidated_metadata").is_some());

    let v2 = store();
    created(&v2, part(START, &[273.0, 274.5, f32::NAN, 280.0]).coordinate(height).dialect(Dialect::V2));
    assert_eq!(document(&v2, "t2m/.zarray").get("fill_value"), Some(&Value::from(-1)));
    assert_eq!(document(&v2, "time/.zarray").get("fill_value"), Some(&Value::Null));
    assert_eq!(document(&v2, "lat/.zarray").get("fill_value"), Some(&Value::from("NaN")));
    let names = document(&v2, "t2m/.zattrs").get("_ARRAY_DIMENSIONS").cloned();
    assert_eq!(names, Some(Value::from(vec![Value::from("time"), Value::from("lat")])));
    assert_eq!(document(&v2, "height/.zattrs").get("_ARRAY_DIMENSIONS"), Some(&Value::from(Vec::<Value>::new())));
    assert!(v2.get_all(&Key::new(".zmetadata").unwrap()).unwrap().is_some());
    for store in [v3, v2] {
        let dataset =
            zarr_array::Group::open(&store, "/", &registry()).and_then(|group| Dataset::open(&group)).unwrap();
        assert_eq!(t2m(&dataset), ["273.0", "274.5", "NaN", "280.0"]);
        let coordinates: Vec<&str> = dataset.coordinates().map(|variable| variable.name()).collect();
        assert_eq!(coordinates, ["height", "lat", "time"]);
        let time = dataset.variable("time").unwrap();
        assert_eq!(time.read().unwrap().text(1), "2020-01-02T00:00:00.000000000");
        assert_eq!(time.stored().read::<i64>(..).unwrap(), [0, 24]);
    }
}

#[test]
fn data_sets_grow_along_a_dimension() {
    let store = store();
    let dataset = created(&store, part(START, &[1.0, 2.0, 3.0, 4.0]));
    let grown = dataset.append("time", &part(START + 2, &[5.0, 6.0, 7.0, f32::NAN])).unwrap();
    assert_eq!(t2m(&grown), ["1.0", "2.0", "3.0", "4.0", "5.0", "6.0", "7.0", "NaN"]);
    assert_eq!(grown.variable("time").unwrap().stored().read::<i64>(..).unwrap(), [0, 24, 48, 72]);
    // Consolidated again, with the new sizes.
    let copy = document(&store, "zarr.json").get("consolidated_metadata").cloned().unwrap();
    let shape = copy.get("metadata").and_then(|it| it.get("t2m")?.get("shape").cloned());
    assert_eq!(shape, Some(Value::from(vec![Value::from(4), Value::from(2)])));

    // All variables of the dimension, or none.
    let lone = NewDataset::new().variable(variable("time", &["time"], times("<M8[D]", &[START + 4])));
    let error = grown.append("time", &lone).unwrap_err();
    assert_eq!(error.message(), "variable t2m has dimension time, and nothing to append to it");
    // Times that are no whole hours.
    let mut odd = part(START + 4, &[0.0; 4]);
    odd = odd.variable(variable("time", &["time"], times("<M8[m]", &[26_300_000, 26_300_001])));
    let error = grown.append("time", &odd).unwrap_err();
    assert!(
        error.message().starts_with("found times that are no whole numbers of \"hours since 2020-01-01\""),
        "{error}"
    );
    let wide = part(START + 4, &[1.0, 2.0, 1e9, 3.0]);
    let error = grown.append("time", &wide).unwrap_err();
    assert_eq!(error.message(), "value 2 is 1000000000.0, which int16 does not have with scale_factor 0.5");
    assert_eq!(error.location().path.as_deref(), Some("/t2m"));
    let error = grown.isel("time", 0..1).unwrap().append("time", &part(START, &[0.0; 4])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    // Nothing was stored by any of them.
    let dataset = Dataset::open(&zarr_array::Group::open(&store, "/", &registry()).unwrap()).unwrap();
    assert_eq!(dataset.variable("time").unwrap().shape(), [4]);
}

#[test]
fn arrays_shrink_again_if_one_cannot_grow() {
    let memory = store();
    created(&memory, part(START, &[1.0, 2.0, 3.0, 4.0]).consolidated(false));
    let failing = refusing(&memory);
    let dataset = Dataset::open(&zarr_array::Group::open(&failing, "/", &registry()).unwrap()).unwrap();
    // `t2m` grows before `time`, whose document cannot be set.
    let mut new = part(START + 2, &[5.0; 4]);
    let time = new.clone();
    new = NewDataset::new();
    for name in ["t2m", "time"] {
        new = new.variable(only(&time, name));
    }
    let error = dataset.append("time", &new).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store, "{error}");
    let dataset = Dataset::open(&zarr_array::Group::open(&memory, "/", &registry()).unwrap()).unwrap();
    assert_eq!(t2m(&dataset), ["1.0", "2.0", "3.0", "4.0"]);
}

#[test]
fn regions_are_written_by_index_label_and_coordinates() {
    let store = store();
    let dataset = created(&store, part(START, &[1.0, 2.0, 3.0, 4.0]));
    let dataset = dataset.append("time", &part(START + 2, &[5.0, 6.0, 7.0, 8.0])).unwrap();
    let region = dataset.sel("time", Labels::from_first("2020-01-03")).unwrap();
    region.write(&part(START + 2, &[15.0, 16.0, 17.0, 18.0]).safe_chunks(false)).unwrap();
    assert_eq!(t2m(&dataset), ["1.0", "2.0", "3.0", "4.0", "15.0", "16.0", "17.0", "18.0"]);
    let found = dataset.region_of(&part(START, &[0.0; 4])).unwrap();
    assert_eq!(found.variable("t2m").unwrap().shape(), [2, 2]);
    found.write(&part(START, &[11.0, 12.0, f32::NAN, 14.0]).safe_chunks(false)).unwrap();
    assert_eq!(t2m(&dataset), ["11.0", "12.0", "NaN", "14.0", "15.0", "16.0", "17.0", "18.0"]);
    // One variable, along the other dimension.
    let column = dataset.sel("lat", 40.0).unwrap();
    column.variable("t2m").unwrap().write([1.5_f32, 2.5, 3.5, 4.5]).unwrap();
    assert_eq!(t2m(&dataset), ["11.0", "1.5", "NaN", "2.5", "15.0", "3.5", "17.0", "4.5"]);

    // Chunks of `t2m` have two days, of `time` four.
    let error = region.write(&part(START + 2, &[0.0; 4])).unwrap_err();
    let expected = "region 2..4 of dimension time covers a part of a chunk, which others may write";
    assert_eq!((error.message(), error.location().path.as_deref()), (expected, Some("/time")));
    let lone = NewDataset::new().variable(only(&part(START + 2, &[21.0, 22.0, 23.0, 24.0]), "t2m"));
    region.write(&lone).unwrap();
    let error = dataset.isel("time", 1..3).unwrap().write(&lone).unwrap_err();
    assert_eq!(error.location().path.as_deref(), Some("/t2m"));
    let error = dataset.region_of(&part(START + 7, &[0.0; 4])).unwrap_err();
    assert!(error.message().starts_with("coordinate time has no label"), "{error}");
    let error = dataset.variable("t2m").unwrap().write([0.0; 3]).unwrap_err();
    assert_eq!(error.message(), "found values of shape [3], expected [4, 2]");
    let other = NewDataset::new().variable(variable("z", &[], [1]));
    assert_eq!(region.write(&other).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(t2m(&dataset)[4..], ["21.0", "22.0", "23.0", "24.0"]);
}

#[test]
fn an_update_that_cannot_be_encoded_creates_nothing() {
    let store = store();
    let dataset = created(&store, part(START, &[1.0; 4]));
    let wide = only(&part(START, &[1e9; 4]), "t2m");
    let new = NewDataset::new().variable(variable("snow", &["lat"], [true, false])).variable(wide);
    assert!(dataset.update(&new).is_err());
    assert!(!store.list_prefix(&zarr_store::Prefix::new("snow/").unwrap()).unwrap().iter().any(|_| true));
    assert_eq!(t2m(&dataset), ["1.0"; 4]);
}

#[test]
fn dimensions_may_come_in_another_order() {
    let store = store();
    let dataset = created(&store, part(START, &[0.0; 4]));
    let turned = variable("t2m", &["lat", "time"], ([2, 2], [1.0_f32, 3.0, 2.0, f32::NAN]));
    dataset.write(&NewDataset::new().variable(turned)).unwrap();
    assert_eq!(t2m(&dataset), ["1.0", "2.0", "3.0", "NaN"]);
    let other = variable("t2m", &["lat", "lon"], ([2, 2], [1.0_f32; 4]));
    let error = dataset.write(&NewDataset::new().variable(other)).unwrap_err();
    assert_eq!(error.message(), "found dimensions (lat, lon), expected (time, lat)");
}

#[test]
fn modes_create_overwrite_and_update() {
    let store = store();
    let dataset = created(&store, part(START, &[1.0; 4]));
    let error = Dataset::create(&store, "/", part(START, &[2.0; 4]), &registry()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exists);
    let bad = part(START, &[1e9; 4]).overwrite(true);
    assert!(Dataset::create(&store, "/", bad, &registry()).is_err());
    assert_eq!(t2m(&dataset), ["1.0"; 4], "an error erases nothing");
    let snow = variable("snow", &["lat"], [true, false]);
    let new =
        NewDataset::new().variable(snow).variable(only(&part(START, &[3.0; 4]), "t2m")).attribute("source", "model");
    let updated = dataset.update(&new).unwrap();
    assert_eq!(t2m(&updated), ["3.0"; 4]);
    assert_eq!(updated.attributes().keys().collect::<Vec<_>>(), ["title", "source"]);
    assert_eq!(updated.variable("snow").unwrap().read().unwrap().to_vec::<bool>().unwrap(), [true, false]);
    let long = NewDataset::new().variable(variable("lat", &["lat"], [1.0_f32; 3]));
    assert_eq!(updated.update(&long).unwrap_err().message(), "dimension lat: found 3 elements, expected 2");
    let replaced = created(&store, NewDataset::new().variable(variable("x", &["x"], [1, 2])).overwrite(true));
    assert_eq!(replaced.variables().count(), 1);
}

#[test]
fn faults_of_a_new_data_set_erase_nothing() {
    let store = store();
    let old = NewDataset::new().variable(variable("x", &["x"], [1, 2]));
    Dataset::create(&store, "/a/b", old.clone(), &registry()).unwrap();
    let exists =
        || zarr_array::Group::open(&store, "/a/b", &registry()).and_then(|group| Dataset::open(&group)).is_ok();
    // A group that has no document, but others below.
    store.erase(&Key::new("a/zarr.json").unwrap()).unwrap();
    let bad = || NewDataset::new().variable(variable("y", &["y"], [1, 2]).chunks(&[2, 2]));
    assert!(Dataset::create(&store, "/a", bad(), &registry()).is_err());
    assert!(exists());
    // Each is found before the old data set is erased.
    let faults = [
        bad(),
        NewDataset::new().variable(NewVariable::new("y", &["y"], [1]).unwrap().codecs("gzip").unwrap()),
        NewDataset::new().variable(variable("y", &["y"], [1]).chunks(&[0])),
        NewDataset::new().variable(NewVariable::empty("y", &["y", "z"], &[3], "int8")),
    ];
    for fault in faults {
        assert!(Dataset::create(&store, "/a/b", fault.clone().overwrite(true), &registry()).is_err(), "{fault:?}");
        assert!(exists(), "{fault:?}");
    }
    Dataset::create(&store, "/a/b", old.overwrite(true), &registry()).unwrap();
}

#[test]
fn a_data_set_that_grew_since_is_not_appended_to() {
    let store = store();
    let first = created(&store, part(START, &[1.0, 2.0, 3.0, 4.0]));
    first.append("time", &part(START + 2, &[5.0; 4])).unwrap();
    let error = first.append("time", &part(START + 4, &[6.0; 4])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let open = || Dataset::open(&zarr_array::Group::open(&store, "/", &registry()).unwrap()).unwrap();
    assert_eq!(open().variable("time").unwrap().shape(), [4]);

    // An array that cannot be opened may have the dimension.
    let document = Key::new("t2m/zarr.json").unwrap();
    let text = String::from_utf8(store.get_all(&document).unwrap().unwrap().to_vec()).unwrap();
    store.set_all(&document, text.replace("\"bytes\"", "\"mystery\"").as_bytes()).unwrap();
    zarr_hierarchy::drop_consolidated(&*store, "/", None).unwrap();
    let error = open().append("time", &part(START + 4, &[6.0; 4])).unwrap_err();
    assert!(error.message().contains("cannot be opened"), "{error}");
}

#[test]
fn counts_are_in_the_units_that_are_stored() {
    let store = store();
    let part = |units: &str, counts: [i64; 2]| {
        NewDataset::new().variable(variable("time", &["time"], counts).encoding("units", units))
    };
    let dataset = created(&store, part("days since 2000-01-01", [0, 1]));
    let error = dataset.append("time", &part("hours since 2000-01-01", [48, 72])).unwrap_err();
    assert!(error.message().starts_with("found numbers of units \"hours since 2000-01-01\", expected"), "{error}");
    let grown = dataset.append("time", &part("days since 2000-01-01", [2, 3])).unwrap();
    assert_eq!(grown.variable("time").unwrap().read().unwrap().text(3), "2000-01-04T00:00:00.000000000");
}

#[test]
fn missing_bools_and_numbers_out_of_range_are_no_other_values() {
    let store = store();
    let flags = variable("flag", &["x"], [true, false]).encoding("_FillValue", false);
    let dataset = created(&store, NewDataset::new().variable(flags));
    let flags = dataset.variable("flag").unwrap().read().unwrap();
    assert!(flags.is_missing(1));
    // A copy marks the same.
    let copy = NewVariable::of(dataset.variable("flag").unwrap()).unwrap().codecs("bytes").unwrap();
    let copied = created(&store, NewDataset::new().variable(copy).overwrite(true));
    assert!(copied.variable("flag").unwrap().read().unwrap().is_missing(1));
    let create = |variable: NewVariable| {
        let new = NewDataset::new().variable(variable).overwrite(true);
        Dataset::create(&store, "/", new, &registry()).map_err(|error| error.message().to_owned())
    };
    let numbers = || variable("flag", &["x"], flags.clone()).stored_as("int8");
    assert_eq!(create(numbers()).unwrap_err(), "value 1 is missing, and int8 has no value for missing data");
    let stored = create(numbers().encoding("_FillValue", -1)).unwrap();
    assert_eq!(stored.variable("flag").unwrap().stored().read::<i8>(..).unwrap(), [1, -1]);
    let huge = variable("v", &["x"], [1.0, 1e300]).stored_as("float32");
    assert!(create(huge).unwrap_err().contains("which float32 does not have"));
    let infinite = variable("v", &["x"], [f64::INFINITY]).stored_as("float32");
    assert!(create(infinite).is_ok());
    let zero = variable("v", &["x"], [1.0]).stored_as("int8").encoding("scale_factor", 0);
    assert!(create(zero).unwrap_err().contains("scale_factor"));
}

#[test]
fn variables_without_values_are_filled_later() {
    let store = store();
    let empty =
        NewVariable::empty("t2m", &["time", "lat"], &[4, 2], "float32").codecs("bytes").unwrap().chunks(&[1, 2]);
    let time = NewVariable::empty("time", &["time"], &[4], "<M8[s]").codecs("bytes").unwrap();
    let dataset = created(&store, NewDataset::new().variable(empty).variable(time));
    assert_eq!(t2m(&dataset), ["NaN"; 8]);
    for index in 0..4_i64 {
        dataset.isel("time", index).unwrap().variable("t2m").unwrap().write([index as f32, 0.5]).unwrap();
    }
    dataset.variable("time").unwrap().write(times("<M8[h]", &[0, 1, 2, 3])).unwrap();
    assert_eq!(t2m(&dataset)[2..5], ["1.0", "0.5", "2.0"]);
    let text = || dataset.variable("time").unwrap().read().unwrap().text(3);
    assert_eq!(text(), "1970-01-01T03:00:00.000000000");
    // Numbers are counts in the units, here seconds.
    dataset.variable("time").unwrap().write([0, 1, 2, 60]).unwrap();
    assert_eq!(text(), "1970-01-01T00:01:00.000000000");
    let error = dataset.variable("time").unwrap().write(["a"; 4]).unwrap_err();
    let expected =
        "found values of data type string, which cannot be stored as int64 of times in \"seconds since 1970-01-01\"";
    assert_eq!(error.message(), expected);
}

#[test]
fn dates_spans_strings_and_bools_are_kept() {
    let dates = [Some(DateTime::new(Calendar::Days360, 2000, 2, 30).unwrap()), None];
    let strings = ["a", "\u{e9}t\u{e9}"];
    for dialect in [Dialect::V2, Dialect::V3] {
        let store = store();
        let text = NewVariable::new("text", &["x"], strings).unwrap();
        let text = text.codecs("vlen-utf8").unwrap();
        let new = NewDataset::new()
            .dialect(dialect)
            .variable(variable("date", &["x"], Values::of_dates(&dates).unwrap()))
            .variable(variable("span", &["x"], times("<m8[m]", &[90, i64::MIN])))
            .variable(variable("coded", &["x"], strings).stored_as("S1").encoding("_Encoding", "latin-1"))
            .variable(variable("flag", &["x"], [true, false]))
            .variable(text);
        let dataset = created(&store, new);
        let texts = |name: &str| {
            let values = dataset.variable(name).unwrap().read().unwrap();
            [values.text(0), values.text(1)]
        };
        assert_eq!(texts("date"), ["2000-02-30 00:00:00", "NaT"]);
        assert_eq!(dataset.variable("date").unwrap().encoding().get("calendar"), Some(&Value::from("360_day")));
        assert_eq!(texts("span"), ["5400 s", "NaT"]);
        assert_eq!(texts("text"), ["a", "\u{e9}t\u{e9}"]);
        assert_eq!(texts("coded"), texts("text"));
        assert_eq!(dataset.variable("coded").unwrap().stored().data_type().item_size(), 3);
        assert_eq!(texts("flag"), ["true", "false"]);
    }
}

#[test]
fn faults_of_new_variables_are_named() {
    let plan = |variable: NewVariable| {
        let new = NewDataset::new().variable(variable);
        let error = Dataset::create(&store(), "/", new, &registry()).unwrap_err();
        format!("{}: {}", error.location().path.clone().unwrap_or_default(), error.message())
    };
    let plain = || variable("v", &["x"], [1.0, f64::NAN]);
    assert_eq!(plan(plain().stored_as("int16")), "v: value 1 is NaN, and int16 has no value for missing data");
    assert_eq!(
        plan(plain().encoding("scale", 2)),
        "v: found encoding scale, expected one of units, calendar, add_offset, scale_factor, _FillValue, missing_value, _Unsigned, _Encoding, dtype"
    );
    assert_eq!(plan(plain().attribute("scale_factor", 2)), "v: attribute scale_factor is a part of the encoding");
    assert_eq!(
        plan(plain().encoding("scale_factor", "2")),
        "v: attribute scale_factor: found \"2\", expected a number"
    );
    assert_eq!(
        plan(plain().stored_as("int8").encoding("_FillValue", 300)),
        "v: _FillValue: found 300, expected a value of int8"
    );
    let both = plain().stored_as("int8").encoding("_FillValue", 3).encoding("missing_value", 4);
    assert_eq!(plan(both), "v: found _FillValue 3 and missing_value 4, expected one value for missing data");
    let time = || variable("time", &["time"], times("<M8[D]", &[0]));
    assert!(plan(time().encoding("units", "parsecs since 2000-01-01")).starts_with("time: attribute units"));
    assert!(plan(time().encoding("calendar", "mayan")).contains("mayan"));
    assert_eq!(
        plan(time().attribute("units", "days since 2000-01-01")),
        "time: attribute units is a part of the encoding"
    );
    assert_eq!(
        NewVariable::new("v", &["x", "y"], [1]).unwrap_err().message(),
        "variable v: found 2 names of dimensions, expected 1, for values of shape [1]"
    );
    let conflict = NewDataset::new().variable(variable("a", &["x"], [1])).variable(variable("b", &["x"], [1, 2]));
    let error = Dataset::create(&store(), "/", conflict, &registry()).unwrap_err();
    assert_eq!(error.message(), "dimension x has 2 elements in b, but 1 in a");
    let error = Dataset::create(&store(), "/", NewDataset::new().dialect(Dialect::V1), &registry()).unwrap_err();
    assert_eq!(error.message(), "found dialect v1, in which a store is one array, expected one that has groups");
}

#[test]
fn bounds_of_times_are_counted_in_their_units() {
    let store = store();
    let time = variable("time", &["time"], times("<M8[D]", &[START, START + 1])).attribute("bounds", "edges");
    let time = time.encoding("units", "hours since 2020-01-01").encoding("calendar", "standard");
    let [edges, spans] = ["<M8[h]", "<m8[h]"].map(|dtype| {
        let values = times(dtype, &[24 * START, 24 * START + 24, 24 * START + 24, 24 * START + 48]);
        ([2, 2], values)
    });
    let new = NewDataset::new().variable(time);
    let dataset = created(&store, new.clone().variable(variable("edges", &["time", "edge"], edges)));
    let edges = dataset.variable("edges").unwrap();
    assert_eq!(edges.stored().read::<i64>(..).unwrap(), [0, 24, 24, 48]);
    assert_eq!(edges.read().unwrap().text(3), "2020-01-03T00:00:00.000000000");
    // Bounds that are no times have units of their own.
    let new = new.variable(variable("edges", &["time", "edge"], spans)).overwrite(true);
    let units = created(&store, new).variable("edges").unwrap().stored().attributes().unwrap().get("units").cloned();
    assert_eq!(units, Some(Value::from("days")));
}

fn only(new: &NewDataset, name: &str) -> NewVariable {
    new.get(name).unwrap().clone()
}

/// Store over another that refuses to set the document of `time`.
fn refusing(store: &Arc<dyn Store>) -> Arc<dyn Store> {
    Arc::new(Intercepted::new(Arc::clone(store), |store, call| match &call {
        Call::Set { key, .. } if key.as_str() == "time/zarr.json" => {
            Err(Error::failed(&store, Operation::Set, key.as_str(), zarr_store::ErrorKind::Denied, "no quota"))
        }
        _ => Ok(Continue(call)),
    }))
}
