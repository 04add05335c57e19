//! Tests of opening a data set with a faulty array: all other variables can be read.

use crate::{add, group, group_in, names, new};
use std::sync::Arc;
use zarr_dataset::{Dataset, DatasetOptions, ErrorKind};
use zarr_json::json;
use zarr_meta::Dialect;
use zarr_store::{Key, MemoryStore, SetOptions, Store, StoreExt};

#[test]
fn unreadable_attributes_break_one_variable() {
    let store = Arc::new(MemoryStore::new());
    let group = group_in(Arc::clone(&store) as Arc<dyn Store>, Dialect::V2);
    for name in ["a", "b"] {
        add(&group, name, new(&[2], "int32", &["x"]), &[1, 2]);
    }
    for (key, text) in [("a/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["x"], "#), (".zattrs", "[")] {
        store.set(&Key::new(key).unwrap(), text.as_bytes(), &SetOptions::default()).unwrap();
    }
    let group = zarr_array::Group::open(&(store as Arc<dyn Store>), "/", group.registry()).unwrap();
    let dataset = Dataset::open(&group).unwrap();
    assert_eq!(names(dataset.variables()), ["b"]);
    assert!(dataset.attributes().is_empty());
    let broken: Vec<String> = dataset.broken().iter().map(ToString::to_string).collect();
    assert_eq!(broken.len(), 2, "{broken:?}");
    assert!(broken.iter().any(|error| error.contains("/a")) && broken.iter().any(|error| !error.contains("/a")));
    let error = dataset.variable("a").unwrap_err();
    assert_eq!((error.kind(), error.location().path.as_deref()), (ErrorKind::InvalidJson, Some("/a")), "{error}");
    assert_eq!(dataset.variable("b").unwrap().read().unwrap().to_vec::<i32>().unwrap(), [1, 2]);
}

#[test]
fn attributes_of_other_types_stay_attributes() {
    let group = group();
    let odd =
        [("units", json!(5)), ("coordinates", json!(["y"])), ("bounds", json!({"a": 1})), ("calendar", json!(null))];
    let array = odd.iter().fold(new(&[2], "int32", &["x"]), |new, (name, value)| new.attribute(name, value.clone()));
    add(&group, "a", array, &[1, 2]);
    add(&group, "y", new(&[2], "int32", &["x"]), &[3, 4]);
    let dataset = Dataset::open(&group).unwrap();
    let a = dataset.variable("a").unwrap();
    assert_eq!(a.attributes().keys().collect::<Vec<_>>(), ["units", "coordinates", "bounds", "calendar"]);
    assert_eq!(a.read().unwrap().to_vec::<i32>().unwrap(), [1, 2]);
    assert_eq!(names(dataset.data_variables()), ["a", "y"]);
}

#[test]
fn an_encoding_of_another_type_leaves_the_elements() {
    let group = group();
    let faults = [("_Encoding", json!(5)), ("scale_factor", json!([1, 2])), ("missing_value", json!({}))];
    for (attribute, value) in &faults {
        add(&group, attribute, new(&[2], "int32", &["x"]).attribute(attribute, value.clone()), &[1, 2]);
    }
    add(&group, "good", new(&[2], "int32", &["x"]).attribute("scale_factor", 0.5), &[1, 2]);
    let dataset = Dataset::open(&group).unwrap();
    assert!(dataset.broken().is_empty());
    for (attribute, _) in &faults {
        let variable = dataset.variable(attribute).unwrap();
        let error = variable.read().unwrap_err();
        assert_eq!(error.location().pointer, Some(format!("/attributes/{attribute}")), "{error}");
        assert_eq!(error.location().path, Some(format!("/{attribute}")));
        assert_eq!(variable.read_stored().unwrap().to_vec::<i32>().unwrap(), [1, 2]);
    }
    assert_eq!(dataset.variable("good").unwrap().read().unwrap().to_vec::<f64>().unwrap(), [0.5, 1.0]);
}

#[test]
fn dimensions_without_names_are_a_fault_of_the_data_set() {
    let group = group();
    add(&group, "a", new(&[2], "int32", &["x"]), &[1, 2]);
    add(&group, "b", zarr_array::NewArray::new(&[2], "int32").codecs("bytes").unwrap(), &[1, 2]);
    let error = Dataset::open(&group).unwrap_err();
    assert_eq!(error.location().path.as_deref(), Some("/b"));
    let numbered = Dataset::open_with(&group, &DatasetOptions::default().number_dimensions(true)).unwrap();
    assert_eq!(numbered.dimensions().iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["x", "dim_0"]);
}

#[test]
fn times_without_a_value_are_named_by_their_index() {
    let group = group();
    let mut values: Vec<f64> = (0..60).map(f64::from).collect();
    (values[47], values[53]) = (1e9, f64::INFINITY);
    let shards = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 3], "codecs": ["bytes"],
        "index_codecs": ["bytes"]}}]"#;
    for (name, codecs) in [("plain", "bytes"), ("packed", "bytes,zstd"), ("shards", shards)] {
        let array = new(&[10, 6], "float64", &["t", "n"]).chunks(&[4, 6]).codecs(codecs).unwrap();
        add(&group, name, array.attribute("units", "days since 2000-01-01"), &values);
    }
    let dataset = Dataset::open(&group).unwrap();
    for name in ["plain", "packed", "shards"] {
        for (part, index, value) in [
            // Chunks are decoded side by side, and the first that fails ends the read: each part has one such value.
            (dataset.isel("t", ..8).unwrap(), "[7, 5]", "1000000000"),
            (dataset.isel("n", 5).unwrap().isel("t", ..8).unwrap(), "[7, 5]", "1000000000"),
            (dataset.isel_points("p", [("t", [0, 7]), ("n", [0, 5])]).unwrap(), "[7, 5]", "1000000000"),
            (dataset.isel("t", 8..).unwrap(), "[8, 5]", "inf"),
        ] {
            let error = part.variable(name).unwrap().read().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::CorruptChunk);
            assert!(error.message().starts_with(&format!("element {index}: value {value}")), "{name}: {error}");
            assert!(!error.message().contains("at index"), "{error}");
            assert_eq!(error.location().path, Some(format!("/{name}")));
        }
        assert!(dataset.isel("t", ..4).unwrap().variable(name).unwrap().read().is_ok());
    }
}

#[test]
fn elements_that_are_not_selected_need_no_value() {
    let group = group();
    // Behind the edge of the array, the last chunk has the fill value, which is no time.
    let padded = new(&[3], "float64", &["t"]).chunks(&[2]).fill(f64::INFINITY);
    add(&group, "padded", padded.attribute("units", "days since 2000-01-01"), &[0.0, 1.0, 2.0]);
    let whole = new(&[3], "float64", &["t"]).attribute("units", "days since 2000-01-01");
    add(&group, "whole", whole, &[0.0, f64::INFINITY, 2.0]);
    let dataset = Dataset::open(&group).unwrap();
    let padded = dataset.variable("padded").unwrap().read().unwrap();
    assert_eq!(padded.text(2), "2000-01-03T00:00:00.000000000");
    assert!(dataset.variable("whole").unwrap().read().is_err());
    let last = dataset.isel("t", 2..3).unwrap();
    assert_eq!(last.variable("whole").unwrap().read().unwrap().text(0), "2000-01-03T00:00:00.000000000");
}
