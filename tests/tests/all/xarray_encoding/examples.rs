//! The section *Examples: Zarr Format Differences*: the tutorial's data set `rasm` as xarray writes it, with fewer cells. The documents
//! are the ones of xarray 2026.9 and zarr-python 3.1, to the last member.

use super::*;
use zarr::dataset::cf::time::{Calendar, DateTime};

/// Documents of version 2.
const V2: &[(&str, &str)] = &[
    (".zgroup", r#"{"zarr_format": 2}"#),
    (".zattrs", GROUP),
    (
        "Tair/.zarray",
        r#"{"shape": [2, 2, 3], "chunks": [2, 2, 3], "dtype": "<f8", "fill_value": 9.969209968386869e+36, "order": "C", "filters": null, "dimension_separator": ".", "compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}, "zarr_format": 2}"#,
    ),
    (
        "Tair/.zattrs",
        r#"{"units": "C", "long_name": "Surface air temperature", "type_preferred": "double", "time_rep": "instantaneous", "coordinates": "xc yc", "_ARRAY_DIMENSIONS": ["time", "y", "x"]}"#,
    ),
    ("yc/.zarray", PLANE),
    (
        "yc/.zattrs",
        r#"{"long_name": "latitude of grid cell center", "units": "degrees_north", "bounds": "yv", "_ARRAY_DIMENSIONS": ["y", "x"]}"#,
    ),
    ("xc/.zarray", PLANE),
    (
        "xc/.zattrs",
        r#"{"long_name": "longitude of grid cell center", "units": "degrees_east", "bounds": "xv", "_ARRAY_DIMENSIONS": ["y", "x"]}"#,
    ),
    (
        "time/.zarray",
        r#"{"shape": [2], "chunks": [2], "dtype": "<f8", "fill_value": "NaN", "order": "C", "filters": null, "dimension_separator": ".", "compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}, "zarr_format": 2}"#,
    ),
    (
        "time/.zattrs",
        r#"{"long_name": "time", "type_preferred": "int", "units": "days since 0001-01-01", "calendar": "noleap", "_ARRAY_DIMENSIONS": ["time"]}"#,
    ),
];

const PLANE: &str = r#"{"shape": [2, 3], "chunks": [2, 3], "dtype": "<f8", "fill_value": "NaN", "order": "C", "filters": null, "dimension_separator": ".", "compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}, "zarr_format": 2}"#;

const GROUP: &str = r#"{"title": "/workspace/jhamman/processed/R1002RBRxaaa01a/lnd/temp/R1002RBRxaaa01a.vic.ha.1979-09-01.nc", "institution": "U.W.", "source": "RACM R1002RBRxaaa01a", "output_frequency": "daily", "output_mode": "averaged", "convention": "CF-1.4", "references": "Based on the initial model of Liang et al., 1994, JGR, 99, 14,415- 14,429.", "comment": "Output from the Variable Infiltration Capacity (VIC) model.", "nco_openmp_thread_number": 1}"#;

/// Documents of version 3; the one of the group has [`GROUP`] as attributes.
const V3: &[(&str, &str)] = &[
    (
        "Tair/zarr.json",
        r#"{"shape": [2, 2, 3], "data_type": "float64", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2, 3]}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": "NaN", "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 0, "checksum": false}}], "attributes": {"units": "C", "long_name": "Surface air temperature", "type_preferred": "double", "time_rep": "instantaneous", "coordinates": "xc yc", "_FillValue": "AAAAAAAAnkc="}, "dimension_names": ["time", "y", "x"], "zarr_format": 3, "node_type": "array", "storage_transformers": []}"#,
    ),
    (
        "yc/zarr.json",
        r#"{"shape": [2, 3], "data_type": "float64", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": "NaN", "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 0, "checksum": false}}], "attributes": {"long_name": "latitude of grid cell center", "units": "degrees_north", "bounds": "yv", "_FillValue": "AAAAAAAA+H8="}, "dimension_names": ["y", "x"], "zarr_format": 3, "node_type": "array", "storage_transformers": []}"#,
    ),
    (
        "xc/zarr.json",
        r#"{"shape": [2, 3], "data_type": "float64", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": "NaN", "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 0, "checksum": false}}], "attributes": {"long_name": "longitude of grid cell center", "units": "degrees_east", "bounds": "xv", "_FillValue": "AAAAAAAA+H8="}, "dimension_names": ["y", "x"], "zarr_format": 3, "node_type": "array", "storage_transformers": []}"#,
    ),
    (
        "time/zarr.json",
        r#"{"shape": [2], "data_type": "float64", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": "NaN", "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 0, "checksum": false}}], "attributes": {"long_name": "time", "type_preferred": "int", "units": "days since 0001-01-01", "calendar": "noleap", "_FillValue": "AAAAAAAA+H8="}, "dimension_names": ["time"], "zarr_format": 3, "node_type": "array", "storage_transformers": []}"#,
    ),
];

/// The value that netCDF fills arrays of `double` with.
const MARK: f64 = 9.969_209_968_386_869e36;

fn parsed(text: &str) -> Value {
    Value::from_json(text).unwrap()
}

/// The data set as xarray stores it.
fn rasm(dialect: Dialect) -> Arc<dyn Store> {
    let store = memory();
    if dialect.is_v3() {
        put(&store, "zarr.json", &json!({"attributes": (parsed(GROUP)), "zarr_format": 3, "node_type": "group"}));
    }
    for (key, text) in if dialect.is_v3() { V3 } else { V2 } {
        put(&store, key, &parsed(text));
    }
    let write = |name: &str, elements: &[f64]| zarr::open((&store, name)).array().unwrap().write(.., elements).unwrap();
    write("/time", &[723_541.0, 723_572.0]);
    write("/xc", &[189.0, 190.0, 191.0, 192.0, 193.0, 194.0]);
    write("/yc", &[16.0, 17.0, 18.0, 19.0, 20.0, 21.0]);
    write("/Tair", &[MARK, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
    store
}

/// The same data set from its values.
fn written(dialect: Dialect) -> Arc<dyn Store> {
    let codecs = if dialect.is_v3() {
        r#"[{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 0, "checksum": false}}]"#
    } else {
        r#"[{"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 8, "blocksize": 0}}]"#
    };
    let variable =
        |name, dimensions: &[&str], values: Values| variable(name, dimensions, values).codecs(codecs).unwrap();
    let floats = |shape: &[u64], elements: &[f64]| {
        let items: Vec<u8> = elements.iter().flat_map(|element| element.to_ne_bytes()).collect();
        Values::of_data(ArrayData::from_items(&zarr_dtype::DataType::Float64, shape, &items, None).unwrap())
    };
    let date = |month, day| Some(DateTime::new(Calendar::NoLeap, 1983, month, day).unwrap());
    let time = variable("time", &["time"], Values::of_dates(&[date(4, 22), date(5, 23)]).unwrap());
    let time = time.attribute("long_name", "time").attribute("type_preferred", "int").stored_as("float64");
    let plane = |name, first: f64, long_name, units, bounds| {
        let elements: Vec<f64> = (0..6).map(|index| first + f64::from(index)).collect();
        let plane = variable(name, &["y", "x"], floats(&[2, 3], &elements));
        plane.attribute("long_name", long_name).attribute("units", units).attribute("bounds", bounds)
    };
    let mut elements: Vec<f64> = (0..12).map(|index| f64::from(index) / 2.0 - 3.0).collect();
    elements[0] = f64::NAN;
    let tair = variable("Tair", &["time", "y", "x"], floats(&[2, 2, 3], &elements)).encoding("_FillValue", MARK);
    let tair = tair.attribute("units", "C").attribute("long_name", "Surface air temperature");
    let tair = tair.attribute("type_preferred", "double").attribute("time_rep", "instantaneous");
    let new =
        NewDataset::new().dialect(dialect).consolidated(false).attributes(parsed(GROUP).as_object().unwrap().clone());
    let new =
        new.variable(time.encoding("units", "days since 0001-01-01").encoding("calendar", "noleap")).variable(tair);
    let new = new.coordinate(plane("xc", 189.0, "longitude of grid cell center", "degrees_east", "xv"));
    let new = new.coordinate(plane("yc", 16.0, "latitude of grid cell center", "degrees_north", "yv"));
    let store = memory();
    create(&store, new);
    store
}

/// Both examples: the data set is read with its dimensions, coordinates and values.
fn check(store: &Arc<dyn Store>) {
    let dataset = open(store);
    let sizes: Vec<_> = dataset.dimensions().iter().map(|it| (it.name.as_str(), it.size)).collect();
    assert!(sizes.len() == 3 && [("time", 2), ("y", 2), ("x", 3)].iter().all(|size| sizes.contains(size)), "{sizes:?}");
    assert_eq!(coordinates(&dataset), ["time", "xc", "yc"]);
    assert_eq!(dataset.data_variables().map(|it| it.name()).collect::<Vec<_>>(), ["Tair"]);
    let tair = dataset.variable("Tair").unwrap();
    assert_eq!(tair.dimensions().collect::<Vec<_>>(), ["time", "y", "x"]);
    assert_eq!(names(tair.attributes()), ["units", "long_name", "type_preferred", "time_rep"]);
    assert_eq!(texts(&dataset, "Tair").join(" "), "NaN -2.5 -2.0 -1.5 -1.0 -0.5 0.0 0.5 1.0 1.5 2.0 2.5");
    assert_eq!(texts(&dataset, "time"), ["1983-04-22 00:00:00", "1983-05-23 00:00:00"]);
    assert_eq!(texts(&dataset, "xc").join(" "), "189.0 190.0 191.0 192.0 193.0 194.0");
    assert_eq!(Value::from(dataset.attributes().clone()), parsed(GROUP));
}

/// The members of two documents; the order does not count.
fn assert_same(found: &Value, expected: &Value, key: &str) {
    assert!(found.semantically_eq(expected), "{key}: {found}\nexpected {expected}");
}

/// Example 1, Zarr V2 Format: the attributes of `Tair` that zarr-python shows, and the data set that is read.
// clause: xarray-37
#[test]
fn example_1_is_read() {
    let store = rasm(Dialect::V2);
    let attributes = zarr::open((&store, "/Tair")).array().unwrap().attributes().unwrap().clone();
    let expected = r#"{"units":"C","long_name":"Surface air temperature","type_preferred":"double","time_rep":"instantaneous","coordinates":"xc yc","_ARRAY_DIMENSIONS":["time","y","x"]}"#;
    assert_eq!(Value::from(attributes).to_string(), expected);
    check(&store);
}

/// Example 1, Zarr V2 Format: the same documents are written.
// clause: xarray-37
#[test]
fn example_1_is_written() {
    let store = written(Dialect::V2);
    for (key, text) in V2 {
        assert_same(&document(&store, key), &parsed(text), key);
    }
    check(&store);
}

/// Example 2, Zarr V3 Format: names are in `dimension_names`, not in the attributes, and the data set that is read.
// clause: xarray-38
#[test]
fn example_2_is_read() {
    let store = rasm(Dialect::V3);
    let tair = zarr::open((&store, "/Tair")).array().unwrap();
    assert_eq!(
        names(tair.attributes().unwrap()),
        ["units", "long_name", "type_preferred", "time_rep", "coordinates", "_FillValue"]
    );
    let dimension_names: Vec<&str> = tair.dimension_names().unwrap().iter().flatten().map(String::as_str).collect();
    assert_eq!(dimension_names, ["time", "y", "x"]);
    check(&store);
}

/// Example 2, Zarr V3 Format: the same documents are written, but for an empty list that says nothing.
// clause: xarray-38
#[test]
fn example_2_is_written() {
    let store = written(Dialect::V3);
    for (key, text) in V3 {
        let (mut expected, mut found) = (parsed(text), document(&store, key));
        for document in [&mut expected, &mut found] {
            if let Value::Object(members) = document {
                assert!(members.remove("storage_transformers").is_none_or(|list| list == json!([])));
            }
        }
        assert_same(&found, &expected, key);
    }
    assert_same(&member(&store, "zarr.json", "/attributes"), &parsed(GROUP), "zarr.json");
    check(&store);
}

/// Both examples are one data set: each converted is the other.
// clause: xarray-10
#[test]
fn each_example_is_converted_to_the_other() {
    let (old, new) = (rasm(Dialect::V2), rasm(Dialect::V3));
    let (to_new, to_old) = (converted(&old, Dialect::V3), converted(&new, Dialect::V2));
    for name in ["Tair", "time", "xc", "yc"] {
        let attributes =
            |store: &Arc<dyn Store>, key: &str, pointer: &str| member(store, &format!("{name}/{key}"), pointer);
        for pointer in ["/attributes", "/dimension_names"] {
            assert_same(&attributes(&to_new, "zarr.json", pointer), &attributes(&new, "zarr.json", pointer), name);
        }
        assert_same(&attributes(&to_old, ".zattrs", ""), &attributes(&old, ".zattrs", ""), name);
        assert_same(&attributes(&to_old, ".zarray", "/fill_value"), &attributes(&old, ".zarray", "/fill_value"), name);
    }
    check(&to_new);
    check(&to_old);
}
