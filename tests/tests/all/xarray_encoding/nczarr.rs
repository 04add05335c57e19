//! The section *Compatibility and Reading*, on NCZarr: dimension references in the array's document, and their newer places.

use super::*;

fn add(store: &Arc<dyn Store>, key: &str, name: &str, value: Value) {
    let mut found = document(store, key);
    if let Value::Object(members) = &mut found {
        members.insert(name, value);
    }
    put(store, key, &found);
}

/// A group of netCDF-C with an unlimited dimension `time`, a dimension `n` without variables, and a group below it that has arrays of
/// the dimensions of the first. Members are in `.zarray` and `.zgroup` (4.8.1 to 4.9.2), the same by new names, or in `.zattrs` (since 4.9.3).
fn netcdf(generation: usize) -> Arc<dyn Store> {
    let store = group(Dialect::V2);
    zarr::create((&store, "/g")).group(NewGroup::new().dialect(Dialect::V2)).unwrap();
    let (array, group) = (["_NCZARR_ARRAY", "_nczarr_array"], ["_NCZARR_GROUP", "_nczarr_group"]);
    let (documents, is_new) = (generation < 2, usize::from(generation > 0));
    let nodes = [("", json!({"time": {"size": 2, "unlimited": 1}, "x": 3, "n": 5})), ("g/", json!({}))];
    for (path, dimensions) in nodes {
        put(&store, &format!("{path}.zattrs"), &json!({"title": "t"}));
        let lists = match generation {
            0 => json!({"dims": dimensions, "vars": [], "groups": ["g"]}),
            _ => json!({"dimensions": dimensions, "arrays": [], "groups": ["g"]}),
        };
        add(&store, &format!("{path}{}", if documents { ".zgroup" } else { ".zattrs" }), group[is_new], lists);
    }
    for (path, references, is_scalar) in
        [("v", json!(["/time", "/x"]), false), ("s", json!([]), true), ("g/w", json!(["/x"]), false)]
    {
        let shape: &[u64] = match path {
            "v" => &[2, 3],
            "s" => &[1],
            _ => &[3],
        };
        let elements: Vec<i32> = (0..shape.iter().product::<u64>()).map(|number| number as i32 + 4).collect();
        v2(
            &store,
            path,
            ("<i4", shape),
            -2_147_483_647,
            &json!({"units": "m", "_NCProperties": "version=2"}),
            &elements,
        );
        let mut member = match generation {
            0 => json!({"dimrefs": references, "storage": "chunked"}),
            _ => json!({"dimension_references": references, "storage": "chunked"}),
        };
        if let (true, Value::Object(members)) = (is_scalar, &mut member) {
            match generation {
                0 => drop(members.insert("storage", "scalar")),
                _ => drop(members.insert("scalar", 1)),
            }
        }
        let key = format!("{path}/{}", if documents { ".zarray" } else { ".zattrs" });
        add(&store, &key, array[is_new], member);
    }
    store
}

/// Compatibility and Reading: dimension names of NCZarr are the last parts of its references, in each of their places.
// clause: xarray-21
#[test]
fn names_are_references_in_each_generation() {
    for generation in 0..3 {
        let dataset = open(&netcdf(generation));
        assert_eq!(dimensions(&dataset, "v"), ["time", "x"], "{generation}");
        assert_eq!(texts(&dataset, "v"), ["4.0", "5.0", "6.0", "7.0", "8.0", "9.0"]);
        assert_eq!(names(dataset.variable("v").unwrap().attributes()), ["units"]);
        assert_eq!(names(dataset.attributes()), ["title"]);
    }
}

/// Compatibility and Reading: groups that netCDF-C 4.9.0 and 4.10.1 wrote, also without names for xarray, are data sets.
// clause: xarray-21
#[test]
fn groups_of_netcdf_are_read() {
    let cases = zarr_tests::cases("nczarr").unwrap();
    assert_eq!(cases.len(), 3);
    for case in cases {
        let store = zarr::store::open(&case.url()).unwrap();
        let dataset = open(&store);
        let v = dataset.variable("v").unwrap();
        assert_eq!((v.dimensions().collect::<Vec<_>>(), v.shape()), (vec!["y", "x"], vec![5, 4]), "{}", case.name);
        assert!(names(v.attributes()).iter().chain(&names(dataset.attributes())).all(|name| !name.starts_with('_')));
        let sizes: Vec<_> = dataset.dimensions().iter().map(|it| (it.name.as_str(), it.size)).collect();
        assert!(sizes.len() == 2 && sizes.contains(&("y", 5)) && sizes.contains(&("x", 4)), "{}: {sizes:?}", case.name);
        for variable in dataset.variables() {
            let values = variable.read().unwrap();
            // The value of an element that was not written marks it as missing.
            let stored = variable.read_stored().unwrap();
            let fill = variable.stored().fill_value().bytes();
            let is_fill = |index: usize| stored.items()[index * fill.len()..][..fill.len()] == *fill;
            assert!((0..values.len()).all(|index| values.is_missing(index) == is_fill(index)), "{}", variable.name());
        }
    }
}

/// Compatibility and Reading: a scalar of NCZarr is stored as one element, and has no dimensions.
// clause: xarray-22
#[test]
fn scalars_of_one_element_have_no_dimensions() {
    for generation in 0..3 {
        let dataset = open(&netcdf(generation));
        let s = dataset.variable("s").unwrap();
        assert_eq!((s.dimensions().count(), s.shape(), s.stored().shape()), (0, vec![], &[1][..]));
        let values = s.read().unwrap();
        assert_eq!((values.shape(), values.text(0)), (&[][..], "4.0".to_owned()));
        s.write([9.0]).unwrap();
        assert_eq!(texts(&dataset, "s"), ["9.0"]);
    }
    // With the name that netCDF-C gives it for xarray.
    let store = netcdf(2);
    add(&store, "s/.zattrs", "_ARRAY_DIMENSIONS", json!(["_scalar_"]));
    assert_eq!(open(&store).variable("s").unwrap().dimensions().count(), 0);
    assert!(open(&store).dimensions().iter().all(|dimension| dimension.name != "_scalar_"));
}

/// Compatibility and Reading: dimensions of NCZarr that no variable has, and unlimited ones.
// clause: xarray-22
#[test]
fn dimensions_of_the_group_are_listed() {
    for generation in 0..3 {
        let dataset = open(&netcdf(generation));
        let found: Vec<_> =
            dataset.dimensions().iter().map(|it| (it.name.as_str(), it.size, it.is_unlimited)).collect();
        assert_eq!(found, [("time", 2, true), ("x", 3, false), ("n", 5, false)]);
    }
}

/// Compatibility and Reading: arrays of a group below refer to the dimensions of the groups above.
// clause: xarray-22
#[test]
fn dimensions_of_groups_above_are_shared() {
    for generation in 0..3 {
        let dataset = zarr::open((&netcdf(generation), "/g")).dataset().unwrap();
        assert_eq!((dimensions(&dataset, "w"), texts(&dataset, "w").join(" ")), (vec!["x"], "4.0 5.0 6.0".to_owned()));
        assert_eq!(dataset.dimensions().iter().map(|it| it.size).collect::<Vec<_>>(), [3]);
    }
}

/// Compatibility and Reading: references that are not one for each dimension name none.
#[test]
fn references_of_another_length_are_no_names() {
    for generation in 0..3 {
        let store = netcdf(generation);
        let key = if generation < 2 { "v/.zarray" } else { "v/.zattrs" };
        let name = if generation == 0 { "_NCZARR_ARRAY" } else { "_nczarr_array" };
        let member = if generation == 0 { "dimrefs" } else { "dimension_references" };
        add(&store, key, name, json!({member: ["/x"]}));
        let found = refusal(&store);
        assert!(found.contains("/v") && found.contains("_ARRAY_DIMENSIONS: found none"), "{found}");
    }
}

/// Compatibility and Reading: converted to version 3, NCZarr is a data set that xarray opens: names are `dimension_names`, marks of
/// floats are in base64, members of NCZarr are gone.
// clause: xarray-23
#[test]
fn nczarr_becomes_what_xarray_reads_in_version_3() {
    for generation in 0..3 {
        let store = netcdf(generation);
        let mark = (-9.5_f64, "AAAAAAAAI8A=");
        v2(&store, "f", ("<f4", &[3]), mark.0, &json!({"_FillValue": (mark.0)}), &[1.0_f32, -9.5, 2.0]);
        let references = if generation == 0 { "dimrefs" } else { "dimension_references" };
        let key = if generation < 2 { "f/.zarray" } else { "f/.zattrs" };
        let name = if generation == 0 { "_NCZARR_ARRAY" } else { "_nczarr_array" };
        add(&store, key, name, json!({references: ["/x"], "storage": "chunked"}));
        let before = open(&store);
        assert_eq!(texts(&before, "f"), ["1.0", "NaN", "2.0"]);
        let there = converted(&store, Dialect::V3);
        assert_eq!(member(&there, "f/zarr.json", "/attributes/_FillValue"), json!(mark.1));
        assert_eq!(member(&there, "v/zarr.json", "/dimension_names"), json!(["time", "x"]));
        for key in ["zarr.json", "f/zarr.json", "v/zarr.json", "g/w/zarr.json"] {
            assert!(!document(&there, key).to_string().to_lowercase().contains("_nczarr"), "{key}");
        }
        let after = open(&there);
        for name in ["f", "v"] {
            assert_eq!(texts(&after, name), texts(&before, name));
            assert_eq!(dimensions(&after, name), dimensions(&before, name));
        }
    }
}
