//! Tests of data sets: dimensions, coordinates, decoding, selection by index and by label.

use crate::{add, counted_chunks, group, group_in, new, registry, size_of};
use std::sync::Arc;
use zarr_array::{Group, NewArray, Store};
use zarr_dataset::{Dataset, DatasetOptions, ErrorKind, Labels, Variable};
use zarr_meta::Dialect;
use zarr_store::{Counted, MemoryStore};

/// Creates a data set of four days, three latitudes from north to south and two longitudes.
fn weather() -> Group {
    let group = group();
    let time = new(&[4], "int32", &["time"]).attribute("units", "hours since 2020-01-31");
    add(&group, "time", time.attribute("calendar", "gregorian"), &[0, 24, 48, 72]);
    add(&group, "lat", new(&[3], "float32", &["lat"]).attribute("units", "degrees_north"), &[60.0_f32, 50.1, 40.0]);
    add(&group, "lon", new(&[2], "float64", &["lon"]), &[5.0, 10.0]);
    let packed = new(&[4, 3, 2], "int16", &["time", "lat", "lon"]).chunks(&[2, 2, 2]);
    let packed = packed.attribute("scale_factor", 0.5).attribute("add_offset", 273.0).attribute("_FillValue", -1);
    let packed = packed.attribute("coordinates", "area level nowhere").attribute("long_name", "temperature");
    let values: Vec<i16> = (0..24).map(|value| if value == 5 { -1 } else { value }).collect();
    add(&group, "t2m", packed, &values);
    add(&group, "area", new(&[3, 2], "float32", &["lat", "lon"]), &[1.0_f32; 6]);
    add(&group, "level", new(&[], "int32", &[]), &[850]);
    group
}

#[test]
fn variables_are_told_from_coordinates() {
    let dataset = Dataset::open(&weather()).unwrap();
    let sizes: Vec<(&str, u64)> = dataset.dimensions().iter().map(|it| (it.name.as_str(), it.size)).collect();
    assert_eq!(sizes, [("lat", 3), ("lon", 2), ("time", 4)]);
    let names = |variables: Vec<&Variable>| variables.iter().map(|it| it.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(dataset.coordinates().collect()), ["area", "lat", "level", "lon", "time"]);
    assert_eq!(names(dataset.data_variables().collect()), ["t2m"]);
    let t2m = dataset.variable("t2m").unwrap();
    assert_eq!(t2m.attributes().keys().collect::<Vec<_>>(), ["long_name"]);
    assert_eq!(t2m.encoding().keys().collect::<Vec<_>>(), ["_FillValue", "scale_factor", "add_offset", "coordinates"]);
    assert_eq!(names(dataset.coordinates_of(t2m).collect()), ["area", "lat", "level", "lon", "time"]);
    let error = dataset.variable("t2n").unwrap_err();
    assert_eq!((error.kind(), error.hint()), (ErrorKind::NotFound, Some("there is one called t2m")));
}

/// Arrays of bools of version 2 that zarr-python creates have the fill value false, which xarray masks.
// clause: xarray-14
#[test]
fn bools_that_are_the_fill_value_of_version_2_are_missing() {
    for (fill, missing) in [(false, [true, false, true]), (true, [false, true, false])] {
        let group = group_in(Arc::new(MemoryStore::new()), Dialect::V2);
        add(&group, "flag", new(&[3], "bool", &["x"]).fill(fill), &[false, true, false]);
        add(&group, "all", new(&[3], "bool", &["x"]), &[false, true, false]);
        let dataset = Dataset::open(&group).unwrap();
        let found = |name: &str| {
            let values = dataset.variable(name).unwrap().read().unwrap();
            [0, 1, 2].map(|index| values.is_missing(index))
        };
        assert_eq!((found("flag"), found("all")), (missing, [false; 3]));
        assert!(dataset.variable("flag").unwrap().decoded().unwrap().is_none());
    }
}

#[test]
fn complex_numbers_of_small_parts_are_missing_where_they_are_marked() {
    use half::f16;
    use num_complex::Complex;
    let group = group();
    let numbers = [(1.0, 0.0), (2.0, 3.0)].map(|(re, im)| Complex::new(f16::from_f32(re), f16::from_f32(im)));
    let one = zarr_json::json!(["AAAAAAAA8D8=", "AAAAAAAAAAA="]);
    add(&group, "marked", new(&[2], "complex_float16", &["x"]).attribute("_FillValue", one), &numbers);
    add(&group, "plain", new(&[2], "complex_float16", &["x"]), &numbers);
    let dataset = Dataset::open(&group).unwrap();
    let missing = |name: &str| {
        let values = dataset.variable(name).unwrap().read().unwrap();
        [values.is_missing(0), values.is_missing(1)]
    };
    assert_eq!((missing("marked"), missing("plain")), ([true, false], [false, false]));
    let copy = zarr_dataset::NewVariable::of(dataset.variable("marked").unwrap()).unwrap().codecs("bytes").unwrap();
    let copied = zarr_dataset::NewDataset::new().variable(copy);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let copied = Dataset::create(&store, "/", copied, &registry()).unwrap();
    assert!(copied.variable("marked").unwrap().read().unwrap().is_missing(0));
}

#[test]
fn floats_that_cannot_be_decoded_are_no_other_values() {
    let group = group();
    let half = half::bf16::from_f32(1.0);
    for (name, attribute, value) in [("a", "scale_factor", "0.5"), ("b", "_FillValue", "\"AAAAAAAA8D8=\"")] {
        let value = zarr_json::Value::from_json(value).unwrap();
        add(&group, name, new(&[1], "bfloat16", &["x"]).attribute(attribute, value), &[half]);
    }
    let dataset = Dataset::open(&group).unwrap();
    for (name, attribute) in [("a", "scale_factor"), ("b", "_FillValue")] {
        let error = dataset.variable(name).unwrap().read().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidMetadata);
        assert_eq!(error.location().pointer.as_deref(), Some(format!("/attributes/{attribute}").as_str()));
        assert!(error.message().contains("an array of bfloat16"), "{error}");
    }
}

/// `decoded` refuses a variable of a selection: the array that it returns has no selection, so a program that copied the array got another
/// region, without an error.
#[test]
fn the_decoded_array_is_of_no_selection() {
    let dataset = Dataset::open(&weather()).unwrap();
    let part = dataset.isel("time", 1..3).unwrap().isel("lon", 1).unwrap();
    let t2m = part.variable("t2m").unwrap();
    let error = t2m.decoded().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.message().contains("selection of shape [2, 3], expected all of [4, 3, 2]"), "{error}");
    assert_eq!(t2m.decoded_whole().unwrap().unwrap().shape(), [4, 3, 2]);
    // All other variables are selected as a whole.
    assert!(part.variable("lat").unwrap().decoded().unwrap().is_some());
    assert!(dataset.isel("time", 0..4).unwrap().variable("t2m").unwrap().decoded().is_ok());
    let region = |ranges: &[std::ops::Range<u64>]| zarr_grid::Region::from_ranges(ranges);
    let values: Vec<f64> = t2m.read().unwrap().to_vec().unwrap();
    assert_eq!(t2m.part(&region(&[1..2, 1..3])).unwrap().read().unwrap().to_vec::<f64>().unwrap(), values[4..]);
    assert!(t2m.part(&region(&[0..0, 0..3])).unwrap().read().unwrap().is_empty());
    for wrong in [region(&[0..3, 0..3]), region(&[0..1, 0..1, 0..1])] {
        assert_eq!(t2m.part(&wrong).unwrap_err().kind(), ErrorKind::Argument);
    }
    // Parts of a selection in reverse order and of a selection of points.
    let turned = dataset.isel("time", zarr_grid::AxisSelection::Range { start: None, stop: None, step: -1 }).unwrap();
    let last = turned.variable("t2m").unwrap().part(&region(&[0..1, 0..1, 0..2])).unwrap();
    assert_eq!(last.read().unwrap().to_vec::<f64>().unwrap(), [282.0, 282.5]);
}

#[test]
fn values_are_decoded() {
    let dataset = Dataset::open(&weather()).unwrap();
    let t2m = dataset.variable("t2m").unwrap().read().unwrap();
    let values: Vec<f64> = t2m.to_vec().unwrap();
    assert_eq!((values[4], values[23]), (275.0, 284.5));
    assert!(values[5].is_nan() && t2m.is_missing(5) && !t2m.is_missing(4));
    let time = dataset.variable("time").unwrap().read().unwrap();
    assert_eq!(time.text(1), "2020-02-01T00:00:00.000000000");
    assert_eq!(time.to_dates().unwrap()[2].unwrap().to_string(), "2020-02-02 00:00:00");
    // The decoded array has all ways to read.
    let array = dataset.variable("t2m").unwrap().decoded().unwrap().unwrap();
    assert_eq!(array.read::<f64>((3, .., 1)).unwrap(), [282.5, 283.5, 284.5]);
    for refused in [array.write((0, 0, 0), &[1.0]), array.fill(.., f64::NAN), array.erase_chunk(&[0, 0, 0])] {
        assert!(refused.is_err());
    }
    assert_eq!(dataset.variable("t2m").unwrap().stored().stored_chunks().unwrap().len(), 4);
}

#[test]
fn indices_and_labels_select() {
    let dataset = Dataset::open(&weather()).unwrap();
    let read = |dataset: &Dataset| dataset.variable("t2m").unwrap().read().unwrap().to_vec::<f64>().unwrap();
    let part = dataset.isel("time", 1).unwrap().isel("lat", 1..).unwrap();
    assert_eq!(part.variable("t2m").unwrap().dimensions().collect::<Vec<_>>(), ["lat", "lon"]);
    assert_eq!(part.variable("t2m").unwrap().shape(), [2, 2]);
    assert_eq!(read(&part), [277.0, 277.5, 278.0, 278.5]);
    // The coordinate has the 32 bit value of 50.1.
    let point = dataset.sel("lat", 50.1).unwrap().sel("lon", 10.0).unwrap();
    assert_eq!(read(&point), [274.5, 277.5, 280.5, 283.5]);
    let column = dataset.isel("time", 0).unwrap().isel("lon", 0).unwrap();
    assert_eq!(read(&column.sel("lat", Labels::nearest(47.0)).unwrap()), [274.0]);
    assert_eq!(read(&column.sel("lat", Labels::pad(47.0)).unwrap()), [274.0]);
    assert_eq!(read(&column.sel("lat", Labels::backfill(47.0)).unwrap()), [275.0]);
    assert_eq!(read(&column.sel("lat", Labels::between(55, 40)).unwrap()), [274.0, 275.0]);
    assert_eq!(read(&column.sel("lat", Labels::between(40, 55)).unwrap()), [0.0; 0]);
    assert_eq!(read(&column.sel("lat", [40.0, 60.0]).unwrap()), [275.0, 273.0]);
    // A part of a date selects all times within it. A whole day is a single time if all times of the coordinate are whole days.
    assert_eq!(size_of(&dataset.sel("time", "2020-02").unwrap(), "time"), Some(3));
    assert_eq!(size_of(&dataset.sel("time", "2020-02-01").unwrap(), "time"), None);
    let slice = dataset.sel("time", Labels::between("2020-01", "2020-02-01")).unwrap();
    assert_eq!(slice.variable("time").unwrap().read().unwrap().len(), 2);
}

#[test]
fn labels_that_are_not_there_are_errors() {
    let dataset = Dataset::open(&weather()).unwrap();
    let error = dataset.sel("lat", 50.0).unwrap_err();
    assert_eq!(error.message(), "coordinate lat has no label 50");
    assert_eq!(error.hint(), Some("it lies between 50.1 and 40.0"));
    let error = dataset.sel("lat", "north").unwrap_err();
    assert_eq!(error.message(), r#"coordinate lat: found label "north", expected a number"#);
    assert!(dataset.sel("time", 2020.0).is_err() && dataset.sel("time", "someday").is_err());
    let error = dataset.sel("level", 1).unwrap_err();
    assert_eq!(error.message(), "found no dimension level, expected one of lat, lon, time");
    assert!(dataset.isel("lat", 3).is_err() && dataset.isel("lat", 0).unwrap().isel("lat", 0).is_err());
    assert_eq!(dataset.isel("lat", 0).unwrap().sel("lat", 60.0).unwrap_err().kind(), ErrorKind::Argument);
}

#[test]
fn unsorted_and_string_coordinates() {
    let group = group();
    add(&group, "x", new(&[4], "int32", &["x"]), &[5, 1, 9, 1]);
    let strings = NewArray::new(&[3], "string").dimension_names(&["name"]).codecs("vlen-utf8").unwrap();
    add(&group, "name", strings, &["b", "a", "c"]);
    add(&group, "v", new(&[4, 3], "int32", &["x", "name"]), &(0..12).collect::<Vec<i32>>());
    let dataset = Dataset::open(&group).unwrap();
    let read = |dataset: Dataset| dataset.variable("v").unwrap().read().unwrap().to_vec::<i32>().unwrap();
    assert_eq!(read(dataset.sel("x", 9).unwrap()), [6, 7, 8]);
    assert_eq!(read(dataset.sel("x", 1).unwrap().sel("name", "c").unwrap()), [5, 11]);
    let part = dataset.sel("x", Labels::between(5, 9)).unwrap().sel("name", ["a", "b"]).unwrap();
    assert_eq!(read(part), [1, 0, 4, 3, 7, 6]);
    assert!(dataset.sel("x", Labels::nearest(4)).unwrap_err().message().contains("not sorted"));
    assert!(dataset.sel("x", Labels::from_first(1)).unwrap_err().message().contains("more than once"));
    assert!(dataset.sel("name", "d").is_err());
}

#[test]
fn dates_of_other_calendars() {
    let group = group();
    let time = new(&[4], "float64", &["time"]).attribute("units", "days since 2000-02-28");
    add(&group, "time", time.attribute("calendar", "360_day"), &[0.0, 1.0, 2.0, 3.5]);
    let dataset = Dataset::open(&group).unwrap();
    let time = dataset.variable("time").unwrap().read().unwrap();
    let texts: Vec<String> = (0..4).map(|index| time.text(index)).collect();
    assert_eq!(texts, ["2000-02-28 00:00:00", "2000-02-29 00:00:00", "2000-02-30 00:00:00", "2000-03-01 12:00:00"]);
    assert_eq!(time.json(2).as_str(), Some("2000-02-30T00:00:00"));
    assert_eq!(size_of(&dataset.sel("time", "2000-02").unwrap(), "time"), Some(3));
    let one = dataset.sel("time", "2000-02-30T00:00:00").unwrap().variable("time").unwrap().read().unwrap();
    assert_eq!((one.shape(), one.text(0).as_str()), (&[1][..], "2000-02-30 00:00:00"));

    // Microseconds far from the epoch of the elements.
    let far = new(&[2], "int64", &["far"]).attribute("units", "microseconds since 0850-01-01");
    add(&group, "far", far.attribute("calendar", "noleap"), &[1_i64, 2]);
    let far = Dataset::open(&group).unwrap().variable("far").unwrap().read().unwrap();
    assert_eq!(far.text(0), "0850-01-01 00:00:00.000001");
}

#[test]
fn days_stand_for_their_hours() {
    let group = group();
    let hours: Vec<i32> = (0..72).map(|hour| hour + 12).collect();
    add(&group, "time", new(&[72], "int32", &["time"]).attribute("units", "hours since 2020-01-14"), &hours);
    let seconds: Vec<i64> = hours.iter().map(|&hour| 1_578_960_000 + 3600 * i64::from(hour)).collect();
    let data_type = r#"{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}"#;
    let native = NewArray::new(&[72], data_type).dimension_names(&["native"]).codecs("bytes").unwrap();
    add(&group, "native", native, &seconds);
    let dataset = Dataset::open(&group).unwrap();
    for name in ["time", "native"] {
        let count = |labels: Labels| size_of(&dataset.sel(name, labels).unwrap(), name);
        assert_eq!(count(Labels::from("2020-01-15")), Some(24), "{name}");
        assert_eq!(count(Labels::from("2020-01-15T06")), None, "{name}");
        assert_eq!(count(Labels::between("2020-01-15", "2020-01-16")), Some(48), "{name}");
        assert_eq!(count(Labels::to_last("2020-01-14")), Some(12), "{name}");
        assert_eq!(count(Labels::nearest("2020-01-15T06:10:00")), None, "{name}");
    }
}

#[test]
fn integers_of_64_bits_are_told_apart() {
    let group = group();
    add(&group, "cell", new(&[2], "uint64", &["cell"]), &[1_u64 << 60, (1 << 60) + 1]);
    let dataset = Dataset::open(&group).unwrap();
    let found = dataset.sel("cell", (1_u64 << 60) + 1).unwrap().variable("cell").unwrap().read().unwrap();
    assert_eq!((found.shape(), found.to_vec::<u64>().unwrap()), (&[][..], vec![(1 << 60) + 1]));
}

#[test]
fn odd_encodings_are_no_wrong_values() {
    let group = group_in(Arc::new(MemoryStore::new()), Dialect::V2);
    let floats = new(&[2], "float32", &["x"]).fill(f64::NAN).attribute("scale_factor", 2);
    add(&group, "floats", floats, &[1.5_f32, f32::NAN]);
    let complex = new(&[1], "complex64", &["one"]).attribute("units", "days since 2000-01-01");
    group.create_array("complex", complex).unwrap();
    let dataset = Dataset::open(&group).unwrap();
    let values: Vec<f32> = dataset.variable("floats").unwrap().read().unwrap().to_vec().unwrap();
    assert!(values[0] == 3.0 && values[1].is_nan());
    let error = dataset.variable("complex").unwrap().data_type().unwrap_err();
    assert!(error.to_string().contains("units") && error.to_string().contains("complex"), "{error}");
}

#[test]
fn version_2_has_its_fill_value_and_its_names() {
    let group = group_in(Arc::new(MemoryStore::new()), Dialect::V2);
    add(&group, "a", new(&[3], "int16", &["x"]).fill(7), &[1_i16, 7, 3]);
    let dataset = Dataset::open(&group).unwrap();
    let values: Vec<f32> = dataset.variable("a").unwrap().read().unwrap().to_vec().unwrap();
    assert_eq!((values[0], values[2]), (1.0, 3.0));
    assert!(values[1].is_nan());
    let mut array = group.array("a").unwrap();
    for wrong in [zarr_json::json!(["x", "y"]), zarr_json::json!("x"), zarr_json::json!([null])] {
        array.set_attribute("_ARRAY_DIMENSIONS", &wrong).unwrap();
        let error = Dataset::open(&group).unwrap_err();
        assert!(error.to_string().contains("_ARRAY_DIMENSIONS") && error.to_string().contains("/a"), "{error}");
    }
    array.remove_attribute("_ARRAY_DIMENSIONS").unwrap();
    assert!(Dataset::open(&group).unwrap_err().message().contains("found none"));
    let numbered = Dataset::open_with(&group, &DatasetOptions::default().number_dimensions(true)).unwrap();
    assert_eq!(numbered.dimensions()[0].name, "dim_0");
}

#[test]
fn faults_name_the_variable_and_the_attribute() {
    let group = weather();
    let broken = [("units", "fortnights since 2020-01-01"), ("units", "days since the flood"), ("calendar", "martian")];
    for (attribute, value) in broken {
        let mut time = group.array("time").unwrap();
        let before: String = time.attribute(attribute).unwrap().unwrap();
        time.set_attribute(attribute, value).unwrap();
        let dataset = Dataset::open(&group).unwrap();
        let text = dataset.variable("time").unwrap().read().unwrap_err().to_string();
        assert!(text.contains("/time") && text.contains(attribute), "{text}");
        // The stored numbers of the variable, and all other variables, can still be read.
        let stored = dataset.variable("time").unwrap().read_stored().unwrap();
        assert_eq!(stored.to_vec::<i32>().unwrap(), [0, 24, 48, 72]);
        assert_eq!(dataset.variable("t2m").unwrap().read().unwrap().len(), 24);
        time.set_attribute(attribute, &before).unwrap();
    }
    let mut t2m = group.array("t2m").unwrap();
    t2m.set_attribute("scale_factor", "half").unwrap();
    let error = Dataset::open(&group).unwrap().variable("t2m").unwrap().read().unwrap_err();
    assert!(error.to_string().contains("scale_factor") && error.to_string().contains("a number"), "{error}");
    assert_eq!(error.location().pointer.as_deref(), Some("/attributes/scale_factor"));

    add(&group, "zzz", new(&[5], "int8", &["time"]), &[0_i8; 5]);
    let error = Dataset::open(&group).unwrap_err();
    assert!(error.message().contains("dimension time has 5 elements in zzz, but 4 in"), "{error}");
}

#[test]
fn a_large_coordinate_is_searched_by_halves() {
    const LEN: u64 = 1 << 20;
    const CHUNK: u64 = 1 << 10;
    let store = Arc::new(Counted::new(MemoryStore::new()));
    let group = group_in(Arc::clone(&store) as Arc<dyn Store>, Dialect::V3);
    let values: Vec<i64> = (0..LEN as i64).map(|value| value * 3).collect();
    let x = add(&group, "x", new(&[LEN], "int64", &["x"]).chunks(&[CHUNK]), &values);
    let dataset = counted_chunks(&group);
    let chunks_read = |labels: Labels| {
        let before = store.counts().gets;
        let found = dataset.sel("x", labels);
        (found, store.counts().gets - before)
    };
    let most = u64::from((LEN / CHUNK).ilog2()) + 2;
    for label in [0_i64, 3 * 777_777, 3 * (LEN as i64 - 1)] {
        let (found, reads) = chunks_read(Labels::from(label));
        let x = found.unwrap().variable("x").unwrap().read().unwrap();
        assert_eq!(x.to_vec::<i64>().unwrap(), [label]);
        assert!(reads <= most, "{reads} chunks read, expected at most {most}");
    }
    let (found, _) = chunks_read(Labels::nearest(10_i64));
    assert_eq!(found.unwrap().variable("x").unwrap().read().unwrap().to_vec::<i64>().unwrap(), [9]);
    assert!(chunks_read(Labels::from(1_i64)).0.is_err());

    // A chunk that the search reads is out of order.
    x.write(LEN / 2..LEN / 2 + 2, &[9_i64, 5]).unwrap();
    let error = chunks_read(Labels::from(3_i64)).0.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidMetadata, "{error}");
    assert!(error.message().contains("not sorted"), "{error}");
}

#[test]
fn inner_chunks_are_decoded_alone() {
    let store = Arc::new(Counted::new(MemoryStore::new()));
    let group = group_in(Arc::clone(&store) as Arc<dyn Store>, Dialect::V3);
    let shards = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [128], "codecs": ["bytes"],
        "index_codecs": ["bytes"]}}]"#;
    let array = NewArray::new(&[4096], "int16").dimension_names(&["x"]).chunks(&[4096]).codecs(shards).unwrap();
    let array = array.attribute("scale_factor", 0.1).attribute("_FillValue", 0);
    add(&group, "v", array, &(0..4096).collect::<Vec<i16>>());
    let dataset = Dataset::open(&group).unwrap().isel("x", 1000..1002).unwrap();
    let v = dataset.variable("v").unwrap();
    v.data_type().unwrap();
    let before = store.counts().bytes_read;
    assert_eq!(v.read().unwrap().to_vec::<f64>().unwrap(), [1000.0 * 0.1, 1001.0 * 0.1]);
    let read = store.counts().bytes_read - before;
    assert!(read < 2000, "{read} bytes: of the index, and of one inner chunk");
}
