//! Tests of which variables are coordinates. Expected names are those of `xarray.decode_cf` 2026.9 with `decode_coords` "all",
//! "coordinates" (`True` means "coordinates") and `False`.

use crate::{add, group, names, new};
use zarr_array::Group;
use zarr_dataset::{Dataset, DatasetOptions, DecodeCoords};

/// Creates a data set in memory whose variable `v` has `attributes`, with variables to which the attributes can refer.
fn with_attributes(attributes: &[(&str, &str)]) -> Group {
    let group = group();
    let v = attributes.iter().fold(new(&[2], "float64", &["x"]), |new, (name, value)| new.attribute(name, *value));
    add(&group, "v", v, &[0.0, 1.0]);
    for name in ["w", "lat", "lon"] {
        add(&group, name, new(&[2], "float64", &["x"]), &[1.0, 2.0]);
    }
    for name in ["crs", "crs2"] {
        add(&group, name, new(&[], "int32", &[]), &[0]);
    }
    add(&group, "b", new(&[2, 2], "float64", &["x", "n"]), &[0.0; 4]);
    group
}

/// Returns the names of the coordinates, the attributes of `v` and the encoding of `v`, each attribute as `name=value`.
fn decoded(attributes: &[(&str, &str)], decode: DecodeCoords) -> [Vec<String>; 3] {
    let options = DatasetOptions::default().decode_coords(decode);
    let dataset = Dataset::open_with(&with_attributes(attributes), &options).unwrap();
    let v = dataset.variable("v").unwrap();
    let texts =
        |map: &zarr_json::Map| map.iter().map(|(name, value)| format!("{name}={}", value.as_str().unwrap())).collect();
    [names(dataset.coordinates()).into_iter().map(str::to_owned).collect(), texts(v.attributes()), texts(&v.encoding())]
}

#[test]
fn attributes_name_coordinates() {
    // Each case: name and value of the attribute, value in the encoding if it differs from the attribute, and the expected coordinates.
    let cases: [(&str, &str, &str, &[&str]); 15] = [
        ("grid_mapping", "crs", "", &["crs"]),
        ("grid_mapping", "crs: lat lon", "", &["crs"]),
        ("grid_mapping", "crs : lat lon", "crs: lat lon", &["crs"]),
        ("grid_mapping", "crs: lat crs2: lon", "", &["crs", "crs2"]),
        ("bounds", "b", "", &["b"]),
        ("bounds", "", "", &[]),
        ("climatology", "b", "", &["b"]),
        ("geometry", "w", "", &["w"]),
        ("cell_measures", "area: w", "", &["w"]),
        ("cell_measures", "area : w", "area: w", &["w"]),
        ("cell_measures", "area: w volume: b", "", &["b", "w"]),
        ("cell_measures", "area: w b", "", &["b", "w"]),
        ("cell_measures", "w", "", &["w"]),
        ("formula_terms", "a: w b: b", "", &["b", "w"]),
        ("coordinates", "lat nope", "", &["lat"]),
    ];
    for (name, text, moved, expected) in cases {
        let [coordinates, attributes, encoding] = decoded(&[(name, text)], DecodeCoords::All);
        assert_eq!(coordinates, expected, "{name}={text}");
        assert!(attributes.is_empty(), "{attributes:?}");
        let moved = if moved.is_empty() { text } else { moved };
        assert_eq!(encoding, [format!("{name}={moved}")]);
        if name != "coordinates" {
            let [coordinates, attributes, encoding] = decoded(&[(name, text)], DecodeCoords::Coordinates);
            assert!(coordinates.is_empty() && encoding.is_empty());
            assert_eq!(attributes, [format!("{name}={text}")]);
        }
    }
}

#[test]
fn attributes_that_name_others_are_kept() {
    let cases = [
        ("grid_mapping", "nope"),
        ("grid_mapping", "crs nope"),
        ("grid_mapping", "crs:"),
        ("bounds", "b nope"),
        ("formula_terms", "a: w b: b ps: nope"),
        ("cell_measures", "area:w"),
        // xarray does not look at it.
        ("ancillary_variables", "w"),
    ];
    for (name, text) in cases {
        let [coordinates, attributes, encoding] = decoded(&[(name, text)], DecodeCoords::All);
        assert!(coordinates.is_empty() && encoding.is_empty(), "{name}={text}: {coordinates:?} {encoding:?}");
        assert_eq!(attributes, [format!("{name}={text}")]);
    }
}

#[test]
fn more_or_fewer_attributes_are_decoded() {
    let both = [("coordinates", "lat"), ("grid_mapping", "crs")];
    let all = decoded(&both, DecodeCoords::All);
    assert_eq!(all, [vec!["crs", "lat"], vec![], vec!["coordinates=lat", "grid_mapping=crs"]]);
    let listed = decoded(&both, DecodeCoords::Coordinates);
    assert_eq!(listed, [vec!["lat"], vec!["grid_mapping=crs"], vec!["coordinates=lat"]]);
    let none = decoded(&both, DecodeCoords::None);
    assert_eq!(none, [vec![], vec!["coordinates=lat", "grid_mapping=crs"], vec![]]);
}

#[test]
fn a_group_lists_coordinates() {
    let mut group = with_attributes(&[]);
    group.set_attributes(zarr_json::Map::from_iter([("coordinates".to_owned(), "w nope".into())])).unwrap();
    let dataset = Dataset::open(&group).unwrap();
    assert_eq!(names(dataset.coordinates()), ["w"]);
    assert!(dataset.attributes().is_empty());
    let none = DatasetOptions::default().decode_coords(DecodeCoords::None);
    let dataset = Dataset::open_with(&group, &none).unwrap();
    assert_eq!(names(dataset.coordinates()), [""; 0]);
    assert_eq!(dataset.attributes().get("coordinates").unwrap().as_str(), Some("w nope"));
}
