//! Tests with documents of the specifications, and with faulty ones.

mod conversion;
mod coordinates;
mod documents;
mod groups;

use crate::{AxisKind, Error, ErrorKind, Image, Metadata, Multiscales, Plate, Version};
use std::sync::Arc;
use zarr_array::{Group, NewArray, NewGroup, Registry, Store};
use zarr_json::{Value, json};

fn read(attributes: &Value) -> Result<Option<Multiscales>, Error> {
    Multiscales::read(attributes.as_object().unwrap())
}

fn axes() -> Value {
    json!([
        {"name": "t", "type": "time", "unit": "second"},
        {"name": "c", "type": "channel"},
        {"name": "y", "type": "space", "unit": "micrometer"},
        {"name": "x", "type": "space", "unit": "micrometer"}
    ])
}

fn old() -> Value {
    let level = |path: &str, scale: f64, offset: f64| {
        json!({"path": path, "coordinateTransformations": [
            {"type": "scale", "scale": [1, 1, scale, scale]},
            {"type": "translation", "translation": [0, 0, offset, offset]}
        ]})
    };
    json!({
        "multiscales": [{
            "version": "0.4",
            "name": "cells",
            "type": "mean",
            "axes": (axes()),
            "datasets": [(level("0", 1.0, 0.0)), (level("1", 2.0, 0.5))],
            "coordinateTransformations": [{"type": "scale", "scale": [30, 1, 0.65, 0.65]}]
        }],
        "omero": {"channels": [
            {"label": "DAPI", "color": "0000FF", "window": {"start": 100, "end": 900, "min": 0, "max": 65535}, "active": true},
            {"color": "#00ff7f", "window": {"start": 0, "end": 9, "min": 0, "max": 255}, "active": false}
        ]}
    })
}

fn newest() -> Value {
    let sequence = json!([
        {"type": "scale", "scale": [0.5, 1, 1.0, 1.0]},
        {"type": "translation", "translation": [0, 0, 0.25, 0.25]}
    ]);
    json!({"ome": {"version": "0.6", "image-label": {}, "multiscales": [{
        "coordinateSystems": [{"name": "other", "axes": []}, {"name": "physical", "axes": (axes())}],
        "datasets": [
            {"path": "s0", "coordinateTransformations": [
                {"type": "scale", "scale": [0.5, 1, 0.5, 0.25], "input": {"path": "s0"}, "output": {"name": "physical"}}
            ]},
            {"path": "s1", "coordinateTransformations": [
                {"type": "sequence", "transformations": sequence, "input": {"path": "s1"}, "output": {"name": "physical"}}
            ]},
            {"path": "s2", "coordinateTransformations": [
                {"type": "identity", "input": {"path": "s2"}, "output": {"name": "physical"}}
            ]}
        ],
        "coordinateTransformations": [{"type": "rotation", "input": {"name": "physical"}, "output": {"name": "other"}}]
    }]}})
}

#[test]
fn images_of_0_4() {
    let image = read(&old()).unwrap().unwrap();
    assert_eq!((image.version, image.is_labels), (Version::V04, false));
    assert_eq!(image.to_string(), "image, 2 levels, 0.65 µm");
    let first = image.first().unwrap();
    assert_eq!((first.name.as_deref(), first.downscaling.as_deref()), (Some("cells"), Some("mean")));
    assert_eq!(first.axes[1].kind, AxisKind::Channel);
    assert_eq!(first.axes[0].unit_symbol(), Some("s"));
    // The transformation of all levels comes after the ones of each.
    assert_eq!(first.levels[1].scale, [30.0, 1.0, 1.3, 1.3]);
    assert_eq!(first.levels[1].translation, [0.0, 0.0, 0.325, 0.325]);
    assert!((first.levels[1].position(2, 2) - 2.925).abs() < 1e-12);
    assert_eq!(image.channels[0].window, Some((100.0, 900.0)));
    assert_eq!(image.channels[0].color, Some([0, 0, 255]));
    assert_eq!((image.channels[1].color, image.channels[1].is_active), (Some([0, 255, 127]), false));
    assert_eq!(image.deviations, Vec::<String>::new());
}

#[test]
fn images_of_0_6() {
    let image = read(&newest()).unwrap().unwrap();
    assert_eq!((image.version, image.is_labels), (Version::V06, true));
    let levels = &image.first().unwrap().levels;
    assert_eq!(levels[0].scale, [0.5, 1.0, 0.5, 0.25]);
    assert_eq!((levels[1].position(3, 0), levels[1].position(3, 2)), (0.25, 2.25));
    assert_eq!(levels[2].scale, [1.0; 4]);
    assert_eq!(image.to_string(), "labels, 3 levels, 0.5 x 0.25 µm");
}

#[test]
fn other_attributes_are_no_images() {
    for attributes in
        [json!({}), json!({"ome": {"version": "0.5", "plate": {}}}), json!({"ome": 3, "a": {"multiscales": []}})]
    {
        assert_eq!(read(&attributes).unwrap(), None, "{attributes}");
    }
}

#[test]
fn versions_are_told_apart() {
    let with = |document: Value, pointer: &str, version: &str| {
        let Value::Object(mut members) = document else { panic!("an object") };
        members.set_pointer(pointer, Value::from(version)).unwrap();
        read(&Value::Object(members)).map(|image| image.unwrap().version)
    };
    assert_eq!(with(old(), "/multiscales/0/version", "0.4").unwrap(), Version::V04);
    for version in ["0.6rc0", "0.6.dev4", "0.6.1"] {
        assert_eq!(with(newest(), "/ome/version", version).unwrap(), Version::V06);
    }
    for (document, pointer, version) in [
        (old(), "/multiscales/0/version", "0.3"),
        (old(), "/multiscales/0/version", "0.5"),
        (newest(), "/ome/version", "0.7"),
        (newest(), "/ome/version", "0.60"),
        (newest(), "/ome/version", "0.4"),
    ] {
        let error = with(document, pointer, version).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnsupportedVersion, "{error}");
        assert_eq!(error.location().pointer, Some(format!("/attributes{pointer}")));
    }
    for version in ["0.1", "0.2", "0.3"] {
        let error = with(old(), "/multiscales/0/version", version).unwrap_err().to_string();
        let expected = format!("found version {version:?}, whose levels have no scales, expected 0.4 or later");
        assert!(error.contains(&expected), "{error}");
    }
    // The version itself was often left out.
    let Value::Object(mut members) = old() else { panic!("an object") };
    members.remove_pointer("/multiscales/0/version");
    assert_eq!(read(&Value::Object(members)).unwrap().unwrap().version, Version::V04);
}

#[test]
fn faults_have_their_place() {
    let levels = "/multiscales/0/datasets";
    for (at, value, expected) in [
        ("/multiscales".to_owned(), json!([]), "at least one image"),
        (levels.to_owned(), json!([]), "at least one level"),
        (format!("{levels}/0/path"), json!(""), "the path of an array"),
        (format!("{levels}/1/path"), json!(1), "a string"),
        ("/multiscales/0/axes/1/name".to_owned(), json!("t"), "a name that no other axis has"),
        ("/multiscales/0/axes".to_owned(), json!([]), "1 to 32 axes"),
    ] {
        let Value::Object(mut members) = old() else { panic!("an object") };
        members.set_pointer(&at, value).unwrap();
        let error = read(&Value::Object(members)).unwrap_err();
        assert_eq!(error.location().pointer, Some(format!("/attributes{at}")), "{error}");
        assert!(error.to_string().contains(expected), "{at}: {error}");
        assert_eq!(error.kind(), ErrorKind::InvalidMetadata);
    }
    for (at, value, expected) in [
        (
            "/ome/multiscales/0/datasets/1/coordinateTransformations/0/output/name",
            json!("other"),
            "as for the first level",
        ),
        (
            "/ome/multiscales/0/datasets/0/coordinateTransformations/0/output/name",
            json!("none"),
            "the name of a coordinate system",
        ),
        ("/ome/multiscales/0/datasets/0/coordinateTransformations", json!([]), "one transformation"),
        ("/ome/multiscales", json!(3), "an array"),
    ] {
        let Value::Object(mut members) = newest() else { panic!("an object") };
        members.set_pointer(at, value).unwrap();
        let error = read(&Value::Object(members)).unwrap_err();
        assert_eq!(error.location().pointer, Some(format!("/attributes{at}")), "{error}");
        assert!(error.to_string().contains(expected), "{at}: {error}");
    }
}

/// Checks that an image with unsupported transformations can be read without positions and units: levels and axes are enough.
#[test]
fn transformations_that_are_not_read_leave_levels_and_axes() {
    let of = |document: Value, at: &str, value: Value| {
        let Value::Object(mut members) = document else { panic!("an object") };
        members.set_pointer(at, value).unwrap();
        read(&Value::Object(members)).unwrap().unwrap()
    };
    let levels = "/multiscales/0/datasets";
    let first = format!("{levels}/0/coordinateTransformations/0");
    let all = "/multiscales/0/coordinateTransformations/0".to_owned();
    for (document, at, value, expected) in [
        (old(), format!("{first}/type"), json!("affine"), "identity, scale or translation"),
        (old(), format!("{first}/scale"), json!([1, 1]), "4 numbers, one for each axis"),
        (old(), format!("{first}/scale/2"), json!(0), "a positive number"),
        (old(), format!("{first}/scale/2"), json!("1"), "a number"),
        (old(), format!("{levels}/1/coordinateTransformations"), json!(null), "an array"),
        (old(), format!("{all}/type"), json!("affine"), "identity, scale or translation"),
        (
            newest(),
            "/ome/multiscales/0/datasets/0/coordinateTransformations/0/type".to_owned(),
            json!("rotation"),
            "identity, scale or sequence",
        ),
    ] {
        let image = of(document, &at, value);
        let first = image.first().unwrap();
        let why = first.unplaced.as_deref().unwrap();
        assert!(why.starts_with(&format!("/attributes{at}: found ")) && why.ends_with(expected), "{why}");
        assert!(image.deviations.iter().any(|deviation| deviation == why), "{:?}", image.deviations);
        assert_eq!((first.unit_symbol(2), first.axes.len()), (None, 4));
        assert!(image.to_string().ends_with(" levels"), "{image}");
    }
    // The transformations of each level are known.
    let image = of(old(), &format!("{all}/type"), json!("affine"));
    assert_eq!(image.first().unwrap().levels[1].scale, [1.0, 1.0, 2.0, 2.0]);
}

#[test]
fn transformations_have_an_order() {
    let level = |transformations: &Value| {
        let mut members = old().as_object().unwrap().clone();
        members.set_pointer("/multiscales/0/datasets/0/coordinateTransformations", transformations.clone()).unwrap();
        read(&Value::Object(members)).unwrap().unwrap().deviations
    };
    let scale = || json!({"type": "scale", "scale": [1, 1, 1, 1]});
    let shift = || json!({"type": "translation", "translation": [0, 0, 1, 1]});
    assert_eq!(level(&json!([(scale()), (shift())])), [""; 0]);
    for (list, expected) in [
        (json!([(shift()), (scale())]), "scales before the translation"),
        (json!([(scale()), (shift()), (shift())]), "one translation"),
        (json!([(scale()), {"type": "identity"}]), "a scale or a translation"),
    ] {
        let found = level(&list);
        assert!(found.len() == 1 && found[0].ends_with(expected), "{list}: {found:?}");
    }
    let mut members = old().as_object().unwrap().clone();
    members.set_pointer("/multiscales/0/coordinateTransformations", json!([(shift())])).unwrap();
    let found = read(&Value::Object(members)).unwrap().unwrap().deviations;
    assert!(found.len() == 1 && found[0].ends_with("exactly one transformation scale"), "{found:?}");
}

/// Checks that `multiscales` of other conventions are not read as images.
#[test]
fn images_are_known_by_their_form() {
    let geo_zarr = json!({"layout": [{"asset": "r10m"}, {"asset": "r20m", "derived_from": "r10m"}]});
    let map_pyramid =
        json!([{"datasets": [{"path": "0", "crs": "EPSG:3857"}], "type": "reduce", "metadata": {"version": "0.1"}}]);
    for other in [geo_zarr, map_pyramid, json!([1]), json!("x"), Value::Null] {
        assert_eq!(read(&json!({"multiscales": (other.clone())})).unwrap(), None, "{other}");
        // The attribute `ome` is of OME-Zarr alone.
        assert!(read(&json!({"ome": {"version": "0.5", "multiscales": (other)}})).is_err());
    }
    for own in [
        json!([{"axes": []}]),
        json!([{"version": "0.1", "datasets": [{"path": "0"}]}]),
        json!([{"datasets": [{"path": "0", "coordinateTransformations": []}]}]),
    ] {
        assert!(read(&json!({"multiscales": (own.clone())})).is_err(), "{own}");
    }
}

#[test]
fn members_are_known_by_their_form() {
    let members = |attributes: &Value, name| {
        let attributes = attributes.as_object().unwrap();
        Metadata::find(attributes, name).map(|metadata| metadata.names().collect::<Vec<_>>()).unwrap_or_default()
    };
    let others = json!({
        "plate": "steel", "well": {"depth": 3}, "labels": ["a"], "series": ["b"], "omero": {"channels": []}, "image-label": 1,
        "ome": {"rest": 1}
    });
    assert_eq!(members(&others, Some("x")), [""; 0]);
    assert_eq!(members(&others, Some("labels")), ["labels"]);
    assert_eq!(members(&others, Some("OME")), ["series"]);
    assert_eq!(members(&old(), None), ["multiscales", "omero"]);
    assert_eq!(members(&json!({"bioformats2raw.layout": 3}), None), ["bioformats2raw.layout"]);
    assert_eq!(members(&json!({"ome": {"labels": [], "well": 3}}), None), ["labels", "well"]);
}

#[test]
fn deviations_are_kept() {
    let Value::Object(mut members) = old() else { panic!("an object") };
    members.set_pointer("/multiscales/0/axes/3/type", json!("channel")).unwrap();
    members.set_pointer("/omero/channels/0/color", json!("blue")).unwrap();
    let image = read(&Value::Object(members)).unwrap().unwrap();
    let deviations = image.deviations.join("\n");
    assert_eq!(image.deviations.len(), 4, "{deviations}");
    assert!(deviations.contains("at most one axis of type time, and one of channels or another type"), "{deviations}");
    assert!(deviations.contains("/attributes/multiscales/0/axes/3: found "), "{deviations}");
    assert!(deviations.contains("2 or 3 axes of type space"), "{deviations}");
    assert!(deviations.contains("/attributes/omero/channels/0/color: found \"blue\""), "{deviations}");
    assert!(image.channels.is_empty());
}

fn group() -> (Arc<dyn Store>, Group) {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    let Value::Object(attributes) = newest() else { panic!("an object") };
    let group = Group::create(&store, "/i", NewGroup::new().attributes(attributes), &Arc::new(registry)).unwrap();
    for (path, len) in [("s0", 100), ("s1", 50), ("s2", 25)] {
        group.create_array(path, NewArray::new(&[1, 2, len, 2 * len], "uint8").codecs("bytes").unwrap()).unwrap();
    }
    (store, group)
}

#[test]
fn levels_are_chosen_by_their_size() {
    let (_, group) = group();
    let image = Image::open(&group).unwrap().unwrap();
    assert_eq!(image.level_count(), 3);
    let level = |rows: u64, columns: u64| image.level_of(&[(2, rows), (3, columns)]).unwrap().0;
    assert_eq!((level(1, 1), level(25, 50), level(26, 50), level(25, 51)), (2, 2, 1, 1));
    assert_eq!((level(50, 100), level(51, 1), level(1000, 1000)), (1, 0, 0));
    assert_eq!(image.level(1).unwrap().shape(), [1, 2, 50, 100]);
    assert!(image.level(3).unwrap_err().to_string().contains("found level 3, expected 0 to 2"));
    assert_eq!(image.named("none").unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn levels_have_the_axes_of_the_image() {
    let (store, group) = group();
    group.array("s1").unwrap().erase().unwrap();
    group.create_array("s1", NewArray::new(&[50, 100], "uint8").codecs("bytes").unwrap()).unwrap();
    let image = Image::open(&group).unwrap().unwrap();
    let error = image.level(1).unwrap_err();
    assert_eq!(error.to_string(), format!("{store}: /i/s1: found 2 dimensions, expected 4 as the image /i has"));
    group.array("s2").unwrap().erase().unwrap();
    assert_eq!(image.level(2).unwrap_err().kind(), ErrorKind::NotFound);
    let plain = Group::create(&store, "/plain", NewGroup::new(), group.registry()).unwrap();
    assert!(Image::open(&plain).unwrap().is_none());
}

/// The time that a plate takes is that of its document, not that of each well with each row.
#[test]
fn many_wells_of_many_rows_are_found_by_name() {
    const COUNT: usize = 60_000;
    let names =
        |prefix: &str| Value::Array((0..COUNT).map(|number| json!({"name": (format!("{prefix}{number}"))})).collect());
    let wells = (0..COUNT).map(|number| json!({"path": (format!("r{number}/c{}", COUNT - 1 - number))}));
    let plate = json!({"rows": (names("r")), "columns": (names("c")), "wells": (Value::Array(wells.collect()))});
    let attributes = json!({"ome": {"version": "0.5", "plate": plate}});
    let metadata = Metadata::find(attributes.as_object().unwrap(), None).unwrap();
    let plate = Plate::read(&metadata).unwrap();
    assert!(
        plate
            .wells
            .iter()
            .enumerate()
            .all(|(number, well)| { (well.row, well.column) == (Some(number), Some(COUNT - 1 - number)) })
    );
}

/// A long name of a row is repeated neither for each well nor in each fault.
#[test]
fn faults_of_wells_do_not_repeat_long_names() {
    let long = "a".repeat(1 << 16);
    let well = || json!({"path": "a/1", "rowIndex": 0, "columnIndex": 0});
    let wells = Value::Array((0..20).map(|_| well()).collect());
    let attributes = json!({"ome": {"version": "0.5", "plate": {
        "rows": [{"name": (long.as_str())}], "columns": [{"name": "1"}], "wells": wells
    }}});
    let metadata = Metadata::find(attributes.as_object().unwrap(), None).unwrap();
    let faults = Plate::read(&metadata).unwrap().faults;
    assert!(faults.len() >= 20 && faults.iter().all(|fault| fault.to_string().len() < 400), "{}", faults.len());
}
