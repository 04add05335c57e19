//! The sections *Zarr Encoding Specification* (its introduction) and *Dimension Encoding in Zarr Formats*.

use super::*;
use zarr::ErrorKind;
use zarr::NewArray;

/// Zarr Encoding Specification: a group is a data set, an array by itself is none.
// clause: xarray-1
#[test]
fn groups_are_data_sets_and_arrays_are_not() {
    for dialect in BOTH {
        let store = group(dialect);
        assert_eq!(open(&store).variables().count(), 0);
        create(&store, NewDataset::new().variable(variable("a", &["x"], [1, 2])).overwrite(true).dialect(dialect));
        assert_eq!(open(&store).variables().count(), 1);
        let error = zarr::open((&store, "/a")).dataset().unwrap_err();
        assert_eq!(error.message(), "found an array, expected a group");
    }
}

/// Zarr Encoding Specification: groups below a data set are data sets of their own.
// clause: xarray-1
#[test]
fn groups_below_are_data_sets_of_their_own() {
    for dialect in BOTH {
        let store = group(dialect);
        let new = |name: &str| NewDataset::new().variable(variable(name, &["x"], [1, 2, 3]));
        zarr::create((&store, "/g")).dataset(new("inner")).unwrap();
        zarr::create((&store, "/g/h")).dataset(new("innermost")).unwrap();
        assert_eq!(open(&store).variables().count(), 0);
        let dataset = zarr::open((&store, "/g")).dataset().unwrap();
        assert_eq!(dataset.variables().map(|it| it.name()).collect::<Vec<_>>(), ["inner"]);
        assert_eq!(texts(&zarr::open((&store, "/g/h")).dataset().unwrap(), "innermost"), ["1", "2", "3"]);
    }
}

/// Zarr Encoding Specification: all arrays have dimension names, and arrays of a data set share dimensions, which have one size.
// clause: xarray-2
#[test]
fn arrays_share_dimensions_of_one_size() {
    let conflict = "dimension x has 3 elements in b, but 2 in a";
    let store = group(Dialect::V2);
    v2(&store, "a", ("<i4", &[2]), 0, &json!({"_ARRAY_DIMENSIONS": ["x"]}), &[1, 2]);
    v2(&store, "b", ("<i4", &[3]), 0, &json!({"_ARRAY_DIMENSIONS": ["x"]}), &[1, 2, 3]);
    assert!(refusal(&store).contains(conflict), "{}", refusal(&store));
    let store = group(Dialect::V3);
    v3(&store, "a", ("int32", &[2]), &json!(["x"]), &json!({}), &[1, 2]);
    v3(&store, "b", ("int32", &[3]), &json!(["x"]), &json!({}), &[1, 2, 3]);
    assert!(refusal(&store).contains(conflict), "{}", refusal(&store));
    // Nor are they written.
    let new = NewDataset::new().variable(variable("a", &["x"], [1, 2])).variable(variable("b", &["x"], [1, 2, 3]));
    let store = memory();
    let error = zarr::create(&store).dataset(new).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Argument, conflict));
    assert!(!is_there(&store, "zarr.json"));
}

/// Dimension Encoding in Zarr Formats, Zarr V2 Format: `_ARRAY_DIMENSIONS` is a list of dimension names, as
/// `["time", "lon", "lat"]`.
// clause: xarray-3
#[test]
fn v2_names_dimensions_by_an_attribute() {
    let store = group(Dialect::V2);
    v2(&store, "t", ("<i4", &[1, 2, 3]), 0, &json!({"_ARRAY_DIMENSIONS": ["time", "lon", "lat"]}), &[1; 6]);
    let dataset = open(&store);
    assert_eq!(dimensions(&dataset, "t"), ["time", "lon", "lat"]);
    let sizes: Vec<_> = dataset.dimensions().iter().map(|it| (it.name.as_str(), it.size)).collect();
    assert_eq!(sizes, [("time", 1), ("lon", 2), ("lat", 3)]);
    let store = memory();
    let t = variable("t", &["time", "lon", "lat"], ([1, 2, 3], [1; 6]));
    create(&store, NewDataset::new().variable(t).dialect(Dialect::V2));
    assert_eq!(member(&store, "t/.zattrs", "/_ARRAY_DIMENSIONS"), json!(["time", "lon", "lat"]));
}

/// Dimension Encoding in Zarr Formats, Zarr V2 Format: the attribute is set on all variables, also on ones of no dimensions.
// clause: xarray-4
#[test]
fn v2_has_the_attribute_on_all_variables() {
    let new = |dialect| {
        let new = NewDataset::new().dialect(dialect).variable(variable("x", &["x"], [1.0, 2.0]));
        new.variable(variable("v", &["x"], [3, 4])).variable(variable("scalar", &[], [5]))
    };
    let store = memory();
    let dataset = create(&store, new(Dialect::V2));
    for (name, expected) in [("x", json!(["x"])), ("v", json!(["x"])), ("scalar", json!([]))] {
        assert_eq!(member(&store, &format!("{name}/.zattrs"), "/_ARRAY_DIMENSIONS"), expected, "{name}");
    }
    assert_eq!(dimensions(&dataset, "scalar"), [""; 0]);
    // Also of arrays that are created below, appended to, and converted to this version.
    let scalar = NewArray::new(&[], "int8").dimension_names::<&str>(&[]);
    zarr::create((&store, "/other")).array(scalar).unwrap();
    assert_eq!(member(&store, "other/.zattrs", "/_ARRAY_DIMENSIONS"), json!([]));
    open(&store).append("x", &new(Dialect::V2)).unwrap();
    assert_eq!(member(&store, "scalar/.zattrs", "/_ARRAY_DIMENSIONS"), json!([]));
    let store = memory();
    create(&store, new(Dialect::V3));
    assert_eq!(member(&converted(&store, Dialect::V2), "scalar/.zattrs", "/_ARRAY_DIMENSIONS"), json!([]));
}

/// As above, of arrays that are created one by one. xarray refused the whole group where a scalar had no attribute.
// clause: xarray-4, xarray-28
#[test]
fn new_scalars_have_the_attribute_where_names_are_attributes() {
    let root = |dialect: Dialect| if dialect.holds_one_array() { "/" } else { "/s" };
    for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::V0) {
        let store = memory();
        let new = || NewArray::new(&[], "int32").dialect(dialect).codecs("bytes").unwrap().overwrite(true);
        let created = zarr::create((&store, root(dialect))).array(new()).unwrap();
        let found = created.attributes().unwrap().get("_ARRAY_DIMENSIONS").cloned();
        assert_eq!(found, (!dialect.has_dimension_names()).then(|| json!([])), "{dialect}");
        // Zero is no missing value.
        assert_eq!(created.metadata().fill_value.is_none(), dialect.fill_value_marks_missing(), "{dialect}");
        if !dialect.holds_one_array() {
            created.write(.., &[0_i32]).unwrap();
            assert_eq!((dimensions(&open(&store), "s"), texts(&open(&store), "s").join(" ")), (vec![], "0".to_owned()));
        }
        let plain = new().conventions(zarr::meta::conventions::Conventions::Ignore);
        let plain = zarr::create((&store, root(dialect))).array(plain).unwrap();
        assert!(plain.attributes().unwrap().is_empty() && plain.metadata().fill_value.is_some(), "{dialect}");
    }
}

/// Dimension Encoding in Zarr Formats, Zarr V2 Format: the attribute is visible where arrays are accessed directly, and removed from
/// the attributes of a variable.
// clause: xarray-5, xarray-6
#[test]
fn v2_shows_the_attribute_to_arrays_and_hides_it_from_variables() {
    let store = group(Dialect::V2);
    v2(&store, "t", ("<i4", &[2]), Value::Null, &json!({"units": "K", "_ARRAY_DIMENSIONS": ["x"]}), &[1, 2]);
    let array = zarr::open((&store, "/t")).array().unwrap();
    assert_eq!(names(array.attributes().unwrap()), ["units", "_ARRAY_DIMENSIONS"]);
    assert_eq!(array.dimension_names(), Some(&[Some("x".to_owned())][..]));
    let dataset = open(&store);
    let t = dataset.variable("t").unwrap();
    assert_eq!(names(t.attributes()), ["units"]);
    assert!(!t.encoding().contains_key("_ARRAY_DIMENSIONS"));
    assert_eq!(names(t.stored().attributes().unwrap()), ["units", "_ARRAY_DIMENSIONS"]);
    // Data set by data set it stays right.
    let copy = memory();
    create(&copy, NewDataset::of(&dataset).unwrap());
    assert_eq!(document(&copy, "t/zarr.json").pointer("/attributes"), Some(&json!({"units": "K"})));
}

/// Dimension Encoding in Zarr Formats, Zarr V2 Format: the value is a list of names. What is no list, has another length or no name
/// for a dimension is an error that shows it.
// clause: xarray-7
#[test]
fn v2_attributes_of_another_form_are_errors() {
    for wrong in [json!("x, y"), json!(["x"]), json!(["x", "y", "z"]), json!(["x", null]), json!({"x": 2}), json!(7)] {
        let store = group(Dialect::V2);
        v2(&store, "g/t", ("<i4", &[1, 2]), 0, &json!({"_ARRAY_DIMENSIONS": (wrong.clone())}), &[1, 2]);
        zarr::create((&store, "/g")).group(NewGroup::new().dialect(Dialect::V2)).unwrap();
        let error = zarr::open((&store, "/g")).dataset().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidMetadata);
        assert_eq!(
            error.message(),
            format!("attribute _ARRAY_DIMENSIONS: found {}, expected a list of 2 names of dimensions", wrong.excerpt())
        );
        assert_eq!(error.location().path.as_deref(), Some("/g/t"));
        assert_eq!(error.location().pointer.as_deref(), Some("/attributes/_ARRAY_DIMENSIONS"));
    }
}

/// Dimension Encoding in Zarr Formats, Zarr V3 Format: names are the member `dimension_names`, and no attribute.
// clause: xarray-8
#[test]
fn v3_names_dimensions_by_a_member() {
    let store = group(Dialect::V3);
    v3(&store, "t", ("int32", &[1, 2]), &json!(["time", "x"]), &json!({"units": "K"}), &[1, 2]);
    assert_eq!(dimensions(&open(&store), "t"), ["time", "x"]);
    assert_eq!(names(open(&store).variable("t").unwrap().attributes()), ["units"]);
    assert_eq!(names(zarr::open((&store, "/t")).array().unwrap().attributes().unwrap()), ["units"]);
}

/// Dimension Encoding in Zarr Formats, Zarr V3 Format: when writing, all variables that have dimensions have `dimension_names`.
// clause: xarray-9
#[test]
fn v3_has_the_member_on_all_variables() {
    let store = memory();
    let new = NewDataset::new().variable(variable("x", &["x"], [1.0, 2.0]));
    let new = new.variable(variable("v", &["y", "x"], ([1, 2], [3, 4]))).variable(variable("scalar", &[], [5]));
    let dataset = create(&store, new);
    for (name, expected) in [("x", json!(["x"])), ("v", json!(["y", "x"]))] {
        let document = document(&store, &format!("{name}/zarr.json"));
        assert_eq!(document.get("dimension_names"), Some(&expected));
        assert!(document.pointer("/attributes/_ARRAY_DIMENSIONS").is_none());
    }
    // A scalar has no names to be written: xarray leaves out the member as well.
    let scalar = document(&store, "scalar/zarr.json");
    assert!(scalar.get("dimension_names").is_none_or(|names| *names == json!([])), "{scalar}");
    assert_eq!(dimensions(&dataset, "scalar"), [""; 0]);
    assert_eq!(dimensions(&dataset.append("x", &NewDataset::of(&dataset).unwrap()).unwrap(), "v"), ["y", "x"]);
}

/// Dimension Encoding in Zarr Formats: a conversion moves the names from one place to the other.
// clause: xarray-10
#[test]
fn conversions_move_the_names() {
    let store = group(Dialect::V2);
    v2(&store, "t", ("<i4", &[1, 2]), 0, &json!({"_ARRAY_DIMENSIONS": ["time", "x"], "a": 1}), &[1, 2]);
    let there = converted(&store, Dialect::V3);
    let moved = document(&there, "t/zarr.json");
    assert_eq!(moved.get("dimension_names"), Some(&json!(["time", "x"])));
    assert!(moved.pointer("/attributes/_ARRAY_DIMENSIONS").is_none(), "{moved}");
    let back = converted(&there, Dialect::V2);
    assert_eq!(member(&back, "t/.zattrs", "/_ARRAY_DIMENSIONS"), json!(["time", "x"]));
    for store in [store, there, back] {
        assert_eq!(dimensions(&open(&store), "t"), ["time", "x"]);
        assert_eq!(names(open(&store).variable("t").unwrap().attributes()), ["a"]);
    }
}

/// Dimension Encoding in Zarr Formats: names are looked for in the place of the version. In version 3 an attribute of that name is the
/// user's.
// clause: xarray-11
#[test]
fn names_are_looked_for_in_the_place_of_the_version() {
    let store = group(Dialect::V3);
    v3(&store, "t", ("int32", &[2]), &Value::Null, &json!({"_ARRAY_DIMENSIONS": ["x"]}), &[1, 2]);
    assert!(refusal(&store).contains("/dimension_names: found none"), "{}", refusal(&store));
    v3(&store, "t", ("int32", &[2]), &json!(["y"]), &json!({"_ARRAY_DIMENSIONS": ["x"]}), &[1, 2]);
    let dataset = open(&store);
    assert_eq!(dimensions(&dataset, "t"), ["y"]);
    assert_eq!(names(dataset.variable("t").unwrap().attributes()), ["_ARRAY_DIMENSIONS"]);
    // It does not become a name.
    let copy = memory();
    let copied = create(&copy, NewDataset::of(&dataset).unwrap().dialect(Dialect::V2));
    assert_eq!(dimensions(&copied, "t"), ["y"]);
    // A member of `.zarray` is no name either.
    let store = group(Dialect::V2);
    v2(&store, "t", ("<i4", &[2]), 0, &json!({}), &[1, 2]);
    let mut array = document(&store, "t/.zarray");
    if let Value::Object(members) = &mut array {
        members.insert("dimension_names", json!(["x"]));
    }
    put(&store, "t/.zarray", &array);
    assert!(refusal(&store).contains("_ARRAY_DIMENSIONS: found none"), "{}", refusal(&store));
}

/// Dimension Encoding in Zarr Formats: an error is raised if names cannot be found. It says which array, and where they should be;
/// an option numbers such dimensions.
// clause: xarray-12
#[test]
fn arrays_without_names_are_errors() {
    let store = group(Dialect::V2);
    v2(&store, "t", ("<i4", &[2, 1]), 0, &json!({"units": "K"}), &[1, 2]);
    let expected =
        "/t: /attributes/_ARRAY_DIMENSIONS: attribute _ARRAY_DIMENSIONS: found none, expected a list of 2 names";
    assert!(refusal(&store).contains(expected), "{}", refusal(&store));
    let other = group(Dialect::V3);
    for (names, found) in [(Value::Null, "none"), (json!([null, "x"]), "[null,\"x\"]")] {
        v3(&other, "t", ("int32", &[2, 1]), &names, &json!({}), &[1, 2]);
        let expected = format!("/t: /dimension_names: found {found}, expected a list of 2 names of dimensions");
        assert!(refusal(&other).contains(&expected), "{}", refusal(&other));
    }
    // No name is needed of no dimension, also where the attribute was left out.
    let scalar = group(Dialect::V2);
    v2(&scalar, "s", ("<i4", &[]), Value::Null, &json!({}), &[5]);
    assert_eq!((dimensions(&open(&scalar), "s"), texts(&open(&scalar), "s")), (vec![], vec!["5".to_owned()]));
    for store in [store, other] {
        let options = zarr::dataset::DatasetOptions::default().number_dimensions(true);
        let dataset = Dataset::open_with(&zarr::open(&store).group().unwrap(), &options).unwrap();
        assert_eq!(dimensions(&dataset, "t")[0], "dim_0");
    }
}

/// Dimension Encoding in Zarr Formats: arrays that are there can be named, and are variables then.
// clause: xarray-34
#[test]
fn arrays_without_names_can_be_named() {
    for dialect in BOTH {
        let store = group(dialect);
        let new = NewArray::new(&[2, 1], "int32").dialect(dialect).attribute("units", "K");
        let mut array = zarr::create((&store, "/t")).array(new).unwrap();
        array.write(.., &[1, 2]).unwrap();
        assert!(refusal(&store).contains("expected a list of 2 names"), "{}", refusal(&store));
        let error = array.set_dimension_names(&["time"]).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Argument, "found 1 names of dimensions, expected 2"));
        array.set_dimension_names(&["time", "lat"]).unwrap();
        let dataset = open(&store);
        assert_eq!(dimensions(&dataset, "t"), ["time", "lat"]);
        assert_eq!(dataset.variable("t").unwrap().attributes().keys().collect::<Vec<_>>(), ["units"]);
        let (key, pointer) = match dialect {
            Dialect::V2 => ("t/.zattrs", "/_ARRAY_DIMENSIONS"),
            _ => ("t/zarr.json", "/dimension_names"),
        };
        assert_eq!(member(&store, key, pointer), json!(["time", "lat"]));
    }
}
