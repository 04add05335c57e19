//! The section *Compatibility and Reading*: the three places of names, and their order.

use super::*;

/// Compatibility and Reading: arrays of version 3 with `dimension_names` are read.
// clause: xarray-20
#[test]
fn v3_with_dimension_names_is_read() {
    let store = group(Dialect::V3);
    v3(&store, "t", ("int16", &[2, 2]), &json!(["y", "x"]), &json!({"scale_factor": 0.5}), &[1_i16, 2, 3, 4]);
    v3(&store, "s", ("int16", &[]), &Value::Null, &json!({}), &[7_i16]);
    let dataset = open(&store);
    assert_eq!(
        (dimensions(&dataset, "t"), texts(&dataset, "t")),
        (vec!["y", "x"], "0.5 1.0 1.5 2.0".split(' ').map(str::to_owned).collect())
    );
    assert_eq!((dimensions(&dataset, "s"), texts(&dataset, "s")), (vec![], vec!["7".to_owned()]));
}

/// Compatibility and Reading: arrays of version 2 with `_ARRAY_DIMENSIONS` are read.
// clause: xarray-19
#[test]
fn v2_with_array_dimensions_is_read() {
    let store = group(Dialect::V2);
    let attributes = json!({"_ARRAY_DIMENSIONS": ["y", "x"], "scale_factor": 0.5});
    v2(&store, "t", ("<i2", &[2, 2]), Value::Null, &attributes, &[1_i16, 2, 3, 4]);
    v2(&store, "s", ("<i2", &[]), Value::Null, &json!({"_ARRAY_DIMENSIONS": []}), &[7_i16]);
    let dataset = open(&store);
    assert_eq!(
        (dimensions(&dataset, "t"), texts(&dataset, "t").join(" ")),
        (vec!["y", "x"], "0.5 1.0 1.5 2.0".to_owned())
    );
    assert_eq!((dimensions(&dataset, "s"), texts(&dataset, "s").join(" ")), (vec![], "7".to_owned()));
}

/// Compatibility and Reading: the places of names are looked at in this order: `dimension_names`, `_ARRAY_DIMENSIONS`, NCZarr.
// clause: xarray-11
#[test]
fn names_of_xarray_come_before_names_of_nczarr() {
    let store = group(Dialect::V2);
    let references = json!({"dimension_references": ["/n"], "storage": "chunked"});
    let both = json!({"_ARRAY_DIMENSIONS": ["x"], "_nczarr_array": (references.clone())});
    v2(&store, "both", ("<i4", &[2]), 0, &both, &[1, 2]);
    v2(&store, "one", ("<i4", &[2]), 0, &json!({"_nczarr_array": (references.clone())}), &[1, 2]);
    let dataset = open(&store);
    assert_eq!((dimensions(&dataset, "both"), dimensions(&dataset, "one")), (vec!["x"], vec!["n"]));
    let store = group(Dialect::V3);
    v3(&store, "t", ("int32", &[2]), &json!(["y"]), &both, &[1, 2]);
    assert_eq!(dimensions(&open(&store), "t"), ["y"]);
}

/// Compatibility and Reading: NCZarr groups are read, but not written.
// clause: xarray-23
#[test]
fn nczarr_is_not_written() {
    let store = group(Dialect::V2);
    let attributes = json!({"_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"}, "units": "K"});
    v2(&store, "t", ("<i4", &[2]), Value::Null, &attributes, &[1, 2]);
    put(
        &store,
        ".zattrs",
        &json!({"title": "t", "_nczarr_group": {"dimensions": {"x": 2}, "arrays": ["t"], "groups": []}}),
    );
    for dialect in BOTH {
        let copy = memory();
        let copied = create(&copy, NewDataset::of(&open(&store)).unwrap().dialect(dialect));
        assert_eq!((dimensions(&copied, "t"), names(copied.attributes())), (vec!["x"], vec!["title"]));
        for key in [".zattrs", "t/.zattrs", "zarr.json", "t/zarr.json"] {
            assert!(!is_there(&copy, key) || !document(&copy, key).to_string().contains("nczarr"), "{key}");
        }
    }
}
