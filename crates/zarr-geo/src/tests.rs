//! Tests of georeferences: what is written is read again, and each rule has a fault.

use crate::{ATTRIBUTE, Convention, Crs, Georeference, Level, Registration, Transform, grid_mapping};
use zarr_json::{Map, Value, json};

fn scene() -> Georeference {
    Georeference::new()
        .crs(Crs::epsg(32633))
        .dimensions("y", "x")
        .transform(Transform([10.0, 0.0, 500_000.0, 0.0, -10.0, 5_000_000.0]))
        .shape(1200, 1000)
}

fn written(georeference: &Georeference) -> Map {
    let mut attributes = Map::new();
    georeference.write(&mut attributes).unwrap();
    attributes
}

#[test]
fn what_is_written_is_read_again() {
    let wkt = r#"PROJCRS["WGS 84 / UTM zone 33N",ID["EPSG",32633]]"#;
    let json = json!({"type": "GeographicCRS", "name": "WGS 84", "id": {"authority": "EPSG", "code": 4326}});
    for georeference in [
        scene(),
        scene().registration(Registration::Node),
        scene().crs(wkt.parse::<Crs>().unwrap()),
        scene().crs(Crs::ProjJson(json.as_object().unwrap().clone())),
    ] {
        let read = Georeference::read(&written(&georeference)).unwrap();
        assert!(read.faults.is_empty(), "{:?}", read.faults);
        assert_eq!(read.extent(), georeference.extent());
        assert_eq!(Georeference { bbox: None, ..read }, georeference);
    }
}

#[test]
fn levels_have_the_place_of_a_pyramid() {
    let pyramid = scene().pyramid(&[("0", [1200, 1000]), ("1", [600, 500]), ("2", [300, 250])]);
    let attributes = written(&pyramid);
    assert!(!attributes.contains_key("spatial:transform") && !attributes.contains_key("spatial:shape"));
    let read = Georeference::read(&attributes).unwrap();
    assert!(read.faults.is_empty(), "{:?}", read.faults);
    assert_eq!((&read.levels, read.extent()), (&pyramid.levels, scene().extent()));
    // An array without a place of its own has that of its level.
    let of = |path: &str| Georeference::new().inheriting(&pyramid, path).pixel();
    assert_eq!((of("0"), of("1"), of("2/data")), ((10.0, 10.0), (20.0, 20.0), (40.0, 40.0)));
    assert_eq!(Georeference::new().inheriting(&read, "1").shape, Some([600, 500]));
    assert_eq!(Georeference::new().inheriting(&read, "10").transform, None);
    let levels = vec![Level::new("0"), Level::new("1")];
    assert_eq!(Georeference::new().inheriting(&scene().levels(levels), "1").transform, None);
}

#[test]
fn pixels_grow_from_level_to_level() {
    let widths = |lens: &[u64]| -> Vec<f64> {
        let levels: Vec<(String, [u64; 2])> = lens.iter().map(|&len| (len.to_string(), [1000, len])).collect();
        let levels: Vec<(&str, [u64; 2])> = levels.iter().map(|(path, shape)| (path.as_str(), *shape)).collect();
        let pyramid = Georeference::new().transform(Transform([1.0, 0.0, 0.0, 0.0, -1.0, 0.0])).pyramid(&levels);
        assert!(pyramid.levels.iter().all(|level| level.transform.unwrap().pixel_size().1 == 1.0));
        pyramid.levels.iter().map(|level| level.transform.unwrap().pixel_size().0).collect()
    };
    assert_eq!(widths(&[100, 50, 25, 13, 7, 4]), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
    assert_eq!(widths(&[100, 50, 25, 12, 6, 3, 1]), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
    assert_eq!(widths(&[9, 5, 3]), [1.0, 2.0, 4.0]);
    assert_eq!(widths(&[1000, 200, 34, 6]), [1.0, 5.0, 30.0, 180.0]);
    assert_eq!(widths(&[3, 1, 1]), [1.0, 2.0, 2.0]);
    assert_eq!(widths(&[1000, 667]), [1.0, 1000.0 / 667.0]);
    assert_eq!(widths(&[10, 0]), [1.0, 1.0]);
    let known = scene().pyramid_by(&[("0", [9, 9], [1.0, 1.0]), ("1", [3, 3], [2.5, 3.0]), ("2", [1, 1], [5.0, 9.0])]);
    assert_eq!(known.levels[2].transform.unwrap().pixel_size(), (90.0, 50.0));
    assert_eq!(known.levels[2].scale, [5.0, 9.0]);
}

#[test]
fn what_is_not_known_stays() {
    let pyramid = scene().pyramid(&[("0", [1200, 1000]), ("1", [600, 500])]);
    let mut attributes = written(&pyramid);
    for (at, value) in [
        ("/proj:wkt2", json!("PROJCRS[\"x\"]")),
        ("/proj:epoch", json!(2024)),
        ("/spatial:accuracy", json!(0.5)),
        ("/multiscales/resampling_method", json!("average")),
        ("/multiscales/layout/1/resampling_method", json!("nearest")),
        ("/multiscales/layout/1/transform/note", json!(1)),
    ] {
        attributes.set_pointer(at, value).unwrap();
    }
    let mut again = attributes.clone();
    pyramid.write(&mut again).unwrap();
    assert!(Value::Object(again.clone()).semantically_eq(&Value::Object(attributes)), "{again:?}");
    // Another reference system has other descriptions.
    pyramid.crs(Crs::epsg(3035)).write(&mut again).unwrap();
    assert!(!again.contains_key("proj:wkt2") && again.contains_key("proj:epoch"));
}

#[test]
fn images_of_ome_zarr_are_not_replaced() {
    let images = json!({"multiscales": [{"datasets": [{"path": "0"}]}], "proj:code": "EPSG:4326"});
    let mut attributes = images.as_object().unwrap().clone();
    let error = scene().pyramid(&[("0", [1200, 1000])]).write(&mut attributes).unwrap_err();
    assert_eq!((error.pointer(), Value::Object(attributes.clone())), ("/attributes/multiscales", images));
    scene().write(&mut attributes).unwrap();
    assert!(attributes.contains_key("spatial:transform"));
}

#[test]
fn regions_are_where_they_are() {
    let region = |of: Georeference| of.region([100, 10], [1, 1], [50, 1]);
    assert_eq!(region(scene()).extent(), Some([500_100.0, 4_998_500.0, 500_110.0, 4_999_000.0]));
    let points = region(scene().registration(Registration::Node));
    assert_eq!(points.extent(), Some([500_100.0, 4_998_510.0, 500_100.0, 4_999_000.0]));
    let thinned = scene().region([0, 1], [1, 3], [1200, 333]);
    assert_eq!(thinned.transform, Some(Transform([30.0, 0.0, 500_000.0, 0.0, -10.0, 5_000_000.0])));
    let thinned = scene().registration(Registration::Node).region([0, 1], [1, 3], [1200, 333]);
    assert_eq!(thinned.transform, Some(Transform([30.0, 0.0, 500_010.0, 0.0, -10.0, 5_000_000.0])));
    assert_eq!(scene().bbox([0.0; 4]).region([0, 0], [1, 1], [0, 5]).bbox, None);
}

#[test]
fn other_attributes_stay_and_old_ones_go() {
    let mut attributes = json!({"title": "a", "proj:wkt2": "GEOGCRS[\"x\"]", ATTRIBUTE: [{"uuid": "other"}]});
    let Value::Object(map) = &mut attributes else { unreachable!() };
    scene().write(map).unwrap();
    scene().write(map).unwrap();
    assert!(map.contains_key("title") && !map.contains_key("proj:wkt2"));
    assert_eq!(map.get(ATTRIBUTE).unwrap().as_array().unwrap().len(), 3);
}

#[test]
fn extents_follow_from_transformations() {
    assert_eq!(scene().extent(), Some([500_000.0, 4_988_000.0, 510_000.0, 5_000_000.0]));
    let points = scene().registration(Registration::Node);
    assert_eq!(points.extent(), Some([500_000.0, 4_988_010.0, 509_990.0, 5_000_000.0]));
    assert!(scene().bbox([500_000.0, 4_988_000.0, 510_000.0, 5_000_000.0]).contradiction().is_none());
    assert!(scene().bbox([500_000.0, 4_988_000.0, 510_001.0, 5_000_000.0]).contradiction().is_some());
    let turned = Transform([0.0, 2.0, 0.0, -1.0, 0.0, 0.0]);
    assert_eq!((turned.pixel_size(), turned.extent(10.0, 20.0)), ((1.0, 2.0), [0.0, -10.0, 40.0, 0.0]));
    assert_eq!(Transform::from_gdal(turned.to_gdal()), turned);
}

#[test]
fn each_rule_has_a_fault() {
    let mut base = written(&scene());
    let pyramid = written(&scene().pyramid(&[("0", [1200, 1000]), ("1", [600, 500])]));
    for name in ["multiscales", ATTRIBUTE] {
        base.insert(name, pyramid.get(name).unwrap().clone());
    }
    assert!(Georeference::read(&base).unwrap().faults.is_empty());
    for (at, value) in [
        ("/proj:code", json!("epsg:4326")),
        ("/proj:code", json!(4326)),
        ("/proj:wkt2", json!("GEOGCS[\"WGS 84\"]")),
        ("/proj:projjson", json!("x")),
        ("/spatial:dimensions", json!(["y"])),
        ("/spatial:dimensions", json!(["x", "x"])),
        ("/spatial:dimensions/1", json!(1)),
        ("/spatial:bbox", json!([0, 0, 1])),
        ("/spatial:bbox", json!([1, 0, 0, 1])),
        ("/spatial:transform", json!([1, 0, 0, 0, 1])),
        ("/spatial:transform/3", json!("1")),
        ("/spatial:transform_type", json!(1)),
        ("/spatial:shape", json!([10])),
        ("/spatial:shape/0", json!(0)),
        ("/spatial:shape/1", json!(1.5)),
        ("/spatial:registration", json!("center")),
        ("/multiscales/layout", json!([])),
        ("/multiscales/layout", json!({})),
        ("/multiscales/layout/0/asset", json!("/0")),
        ("/multiscales/layout/0/asset", json!("../0")),
        ("/multiscales/layout/0/asset", json!(0)),
        ("/multiscales/layout/1/derived_from", json!("7")),
        ("/multiscales/layout/1/transform/scale", json!("2")),
        ("/multiscales/layout/1/spatial:shape", json!([1])),
        ("/multiscales/layout/1/spatial:transform", json!([1])),
        ("/multiscales/layout/1/resampling_method", json!(1)),
        ("/multiscales/resampling_method", json!(1)),
        ("/zarr_conventions", json!([])),
        ("/zarr_conventions/0", json!({"name": "multiscales"})),
    ] {
        let mut changed = base.clone();
        changed.set_pointer(at, value.clone()).unwrap();
        let read = Georeference::read(&changed).unwrap();
        let place = format!("/attributes{at}");
        let is_there =
            read.faults.iter().any(|fault| fault.pointer().starts_with(&place) || place.starts_with(fault.pointer()));
        assert!(is_there, "{at} {value}: {:?}", read.faults);
    }
    let mut without = base.clone();
    without.remove("proj:code");
    assert_eq!(Georeference::read(&without).unwrap().faults[0].pointer(), "/attributes/zarr_conventions");
    let mut level = base;
    level.set_pointer("/multiscales/layout/1", json!({"asset": "1", "derived_from": "0"})).unwrap();
    assert_eq!(Georeference::read(&level).unwrap().faults[0].pointer(), "/attributes/multiscales/layout/1");
}

#[test]
fn other_attributes_are_no_georeference() {
    for attributes in [
        json!({}),
        json!({"multiscales": [{"datasets": []}]}),
        json!({"multiscales": {"layout": [{"asset": "a"}]}}),
        json!({"zarr_conventions": [{"uuid": "x"}]}),
        json!({"spatial": 1, "crs": "EPSG:4326"}),
    ] {
        assert_eq!(Georeference::read(attributes.as_object().unwrap()), None, "{attributes}");
    }
    // Unusual, and permitted.
    let attributes = json!({"proj:code": null, "spatial:transform_type": "rpc", "zarr_conventions": [
        {"spec_url": "https://github.com/zarr-conventions/spatial/blob/v1/README.md"},
        {"schema_url": "https://raw.githubusercontent.com/zarr-experimental/geo-proj/refs/tags/v1/schema.json"}
    ], "proj:wkt2": "GEOGCRS[\"x\"]"});
    let read = Georeference::read(attributes.as_object().unwrap()).unwrap();
    assert!(read.faults.is_empty(), "{:?}", read.faults);
    assert_eq!((read.transform_type.as_deref(), read.crs.unwrap().name()), (Some("rpc"), Some("x")));
}

#[test]
fn arrays_inherit_what_they_do_not_say() {
    let own = Georeference::new().dimensions("y", "x");
    let of_group = scene();
    let inherited = own.clone().inheriting(&of_group, "a");
    assert_eq!((inherited.crs, inherited.transform), (of_group.crs.clone(), of_group.transform));
    let moved = own.transform(Transform([1.0, 0.0, 0.0, 0.0, 1.0, 0.0])).inheriting(&of_group, "a");
    assert_eq!((moved.pixel(), moved.shape), ((1.0, 1.0), None));
}

impl Georeference {
    fn pixel(&self) -> (f64, f64) {
        self.transform.unwrap().pixel_size()
    }
}

#[test]
fn steps_are_exact_where_coordinates_are_short() {
    let narrow: Vec<f64> = (0..3600).map(|number| f64::from(-179.95_f32 + number as f32 * 0.1)).collect();
    let exact: Vec<f64> = (0..1800).map(|number| 89.95 - 0.1 * f64::from(number)).collect();
    assert_eq!(Transform::of_centres(&narrow, &exact), Some(Transform([0.1, 0.0, -180.0, 0.0, -0.1, 90.0])));
    let thirds: Vec<f64> = (0..1080).map(|number| f64::from(number) / 3.0).collect();
    let step = crate::regular_step(&thirds).unwrap();
    assert!((step - 1.0 / 3.0).abs() < 1e-12, "{step}");
    for uneven in
        [&[0.0, 1.0, 2.1][..], &[1.0][..], &[][..], &[1.0, 1.0], &[0.0, f64::NAN, 2.0], &[0.0, 1.0, f64::INFINITY]]
    {
        assert_eq!(crate::regular_step(uneven), None, "{uneven:?}");
    }
}

#[test]
fn grid_mappings_are_read() {
    for code in [4326, 32601, 32660, 32733] {
        let crs = Crs::epsg(code);
        assert_eq!(grid_mapping::read(&grid_mapping::attributes(&crs).unwrap()), Some(crs));
    }
    assert_eq!(grid_mapping::attributes(&Crs::epsg(3035)), None);
    let old = json!({"spatial_ref": "PROJCS[\"x\",GEOGCS[\"y\",AUTHORITY[\"EPSG\",\"4258\"]],AUTHORITY[\"EPSG\",\"3035\"]]", "GeoTransform": "4000000 100 0 3000000 0 -100"});
    let old = old.as_object().unwrap();
    assert_eq!(grid_mapping::read(old), Some(Crs::epsg(3035)));
    assert_eq!(grid_mapping::transform(old).unwrap().pixel_size(), (100.0, 100.0));
    let sphere = json!({"grid_mapping_name": "latitude_longitude", "earth_radius": 6371229});
    let found = grid_mapping::read(sphere.as_object().unwrap()).unwrap();
    assert_eq!((found.epsg_code(), found.unit()), (None, Some("degrees")));
    let unknown = json!({"spatial_ref": "PROJCS[\"x\"]", "grid_mapping_name": "polar_stereographic"});
    assert_eq!(grid_mapping::read(unknown.as_object().unwrap()), None);
}

#[test]
fn conventions_are_known_by_uuid() {
    for convention in Convention::ALL {
        assert!(convention.is_entry(&Value::Object(convention.entry())));
    }
    assert!(Level::new("0").derived_from.is_none());
}

#[test]
fn mercator_is_known_by_code_and_by_method() {
    let is_mercator = |text: &str| text.parse::<Crs>().unwrap().is_mercator();
    assert!(is_mercator("EPSG:3395") && !is_mercator("EPSG:4326"));
    let wkt = |method: &str| {
        format!(
            r#"PROJCRS["Mercator",BASEGEOGCRS["b"],CONVERSION["Mercator",METHOD["{method}",ID["EPSG",1]]],CS[Cartesian,2]]"#
        )
    };
    assert!(is_mercator(&wkt("Popular Visualisation Pseudo Mercator")) && is_mercator(&wkt("Mercator (variant A)")));
    assert!(!is_mercator(&wkt("Transverse Mercator")) && !is_mercator(&wkt("Hotine Oblique Mercator (variant B)")));
    let json = |method: &str| format!(r#"{{"type":"ProjectedCRS","conversion":{{"method":{{"name":"{method}"}}}}}}"#);
    assert!(is_mercator(&json("Mercator (variant B)")) && !is_mercator(&json("Transverse Mercator")));
}

/// Parameters of CF, as `tests/fixtures/reference_systems.py` compares them with pyproj.
#[test]
fn parameters_of_grid_mappings_are_described() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/reference_systems.json");
    let systems = Value::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut described = 0;
    for (name, case) in systems.get("grid_mappings").unwrap().as_object().unwrap().iter() {
        let attributes = case.get("attributes").unwrap().as_object().unwrap();
        let units = attributes.get("grid_mapping_name").unwrap().as_str() != Some("latitude_longitude");
        let found = grid_mapping::read_in(attributes, units.then_some("m"));
        match case.get("crs") {
            Some(crs) => assert_eq!(found.unwrap(), Some(crs.as_str().unwrap().parse().unwrap()), "{name}"),
            None => assert_eq!(found.unwrap_err(), case.get("reason").unwrap().as_str().unwrap(), "{name}"),
        }
        described += usize::from(case.get("crs").is_some());
    }
    assert!(described >= 30, "{described}");
}

#[test]
fn grid_mappings_that_are_not_known_exactly_are_refused() {
    let read = |other: Value, units: Option<&str>| {
        let all = json!({"grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [30, 60],
            "latitude_of_projection_origin": 40, "longitude_of_central_meridian": 10, "earth_radius": 6371229});
        let radius = json!({"earth_radius": 6371229});
        let all = if other.get("grid_mapping_name").is_some() { radius } else { all };
        let mut all = all.as_object().unwrap().clone();
        other.as_object().unwrap().iter().for_each(|(name, value)| drop(all.insert(name, value.clone())));
        grid_mapping::read_in(&all, units)
    };
    for (units, unit) in [(None, "m"), (Some("m"), "m"), (Some("km"), "kilometre")] {
        assert_eq!(read(json!({}), units).unwrap().unwrap().unit(), Some(unit));
    }
    let mercator = |more: Value| {
        let mut all = json!({"grid_mapping_name": "mercator", "standard_parallel": [],
            "longitude_of_projection_origin": 5})
        .as_object()
        .unwrap()
        .clone();
        more.as_object().unwrap().iter().for_each(|(name, value)| drop(all.insert(name, value.clone())));
        Value::Object(all)
    };
    let satellite = |more: &str, axis: &str| {
        let mut all = json!({"grid_mapping_name": "geostationary", "perspective_point_height": 35_786_023,
            "standard_parallel": [], "latitude_of_projection_origin": 0, "longitude_of_projection_origin": 75})
        .as_object()
        .unwrap()
        .clone();
        all.insert(more, axis);
        Value::Object(all)
    };
    assert!(read(satellite("fixed_angle_axis", "y"), Some("m")).unwrap().is_some());
    for (other, units, reason) in [
        (json!({}), Some("rad"), "coordinates in \"rad\""),
        (satellite("sweep_angle_axis", "x"), None, "coordinates without units"),
        (satellite("sweep_angle_axis", "z"), Some("m"), "no sweep_angle_axis"),
        (json!({"standard_parallel": [1, 2, 3]}), None, "3 numbers as standard_parallel"),
        (json!({"standard_parallel": "30"}), None, "as standard_parallel, expected numbers"),
        (json!({"latitude_of_projection_origin": null}), None, "as latitude_of_projection_origin"),
        (json!({"longitude_of_central_meridian": 1e9}), None, "outside of its range"),
        (json!({"earth_radius": (-1)}), None, "an ellipsoid with a semi-major axis of -1"),
        (json!({"horizontal_datum_name": "World Geodetic System 1984"}), None, "another ellipsoid"),
        (json!({"prime_meridian_name": "Paris"}), None, "without longitude_of_prime_meridian"),
        (json!({"towgs84": [1, 2, 3]}), None, "towgs84"),
        (mercator(json!({})), None, "found not one of standard_parallel"),
        (mercator(json!({"standard_parallel": 5, "scale_factor_at_projection_origin": 1})), None, "found not one of"),
        (json!({"grid_mapping_name": "vertical_perspective"}), None, "the grid mapping vertical_perspective"),
    ] {
        let found = read(other.clone(), units).unwrap_err();
        assert!(found.contains(reason), "{other}: {found}");
    }
    // A description is of coordinates in its unit.
    let wkt = |unit: &str| json!({"crs_wkt": (format!("PROJCRS[\"a\",CS[Cartesian,2],LENGTHUNIT[\"{unit}\",1]]"))});
    let in_unit = |unit: &str, units| grid_mapping::read_in(wkt(unit).as_object().unwrap(), units).is_ok();
    assert!(in_unit("metre", Some("m")) && in_unit("metre", None) && in_unit("US survey foot", Some("US_survey_foot")));
    // International feet, or those of surveys.
    assert!(!in_unit("US survey foot", Some("ft")));
    assert!(!in_unit("metre", Some("rad")) && !in_unit("metre", Some("km")) && in_unit("kilometre", Some("km")));
    // Another datum than that of the code with the same numbers.
    let other = json!({"grid_mapping_name": "latitude_longitude", "longitude_of_prime_meridian": 0,
        "semi_major_axis": 6_378_137, "inverse_flattening": 298.257_223_563, "horizontal_datum_name": "Local"});
    assert_eq!(grid_mapping::read(other.as_object().unwrap()).unwrap().epsg_code(), None);
    // UTM in kilometres has no code.
    let utm = grid_mapping::attributes(&Crs::epsg(32633)).unwrap();
    assert_eq!(grid_mapping::read_in(&utm, Some("m")), Ok(Some(Crs::epsg(32633))));
    assert_eq!(grid_mapping::read_in(&utm, Some("km")).unwrap().unwrap().epsg_code(), None);
}
