//! Levels of OME-Zarr images, of all versions.

use super::existing::{default, failing};
use super::{memory, plan, ramp, registry};
use crate::{Method, PyramidOptions};
use std::sync::Arc;
use zarr_array::{Array, Group, NewArray, NewGroup, Store};
use zarr_json::{Map, Value, json};
use zarr_meta::Dialect;

/// Store whose root is an image of the datasets, with arrays of 16 x 16 elements.
fn image(datasets: &Value, paths: &[&str]) -> Arc<dyn Store> {
    let axis = |name: &str| json!({"name": name, "type": "space"});
    let datasets = datasets.clone();
    let multiscales = json!([{"axes": [(axis("y")), (axis("x"))], "datasets": datasets, "version": "0.4"}]);
    let attributes = json!({ "multiscales": multiscales });
    let store = memory();
    let group = NewGroup::new().dialect(Dialect::V2).attributes(attributes.as_object().unwrap().clone());
    Group::create(&store, "/", group, &registry()).unwrap();
    for path in paths {
        let new = NewArray::new(&[16, 16], "uint16").chunks(&[4, 4]).codecs("bytes").unwrap().dialect(Dialect::V2);
        Array::create(&store, path, new, &registry()).unwrap().write(.., &ramp(&[16, 16])).unwrap();
    }
    store
}

/// Paths of the datasets of the image with their first scale.
fn datasets(store: &Arc<dyn Store>) -> Vec<(String, f64)> {
    let group = Group::open(store, "/", &registry()).unwrap();
    let image = zarr_ome::Image::open(&group).unwrap().unwrap();
    image.multiscale().levels.iter().map(|level| (level.path.clone(), level.scale[0])).collect()
}

#[test]
fn levels_of_an_image_are_those_that_were_written_last() {
    let own = json!([{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1.0, 1.0]}]}]);
    let store = image(&own, &["/0"]);
    let array = Array::open(&store, "/0", &registry()).unwrap();
    let of = |list: &[(&str, f64)]| list.iter().map(|(path, scale)| ((*path).to_owned(), *scale)).collect::<Vec<_>>();
    plan(&array, default().levels(3)).run(|_| {}).unwrap();
    assert_eq!(datasets(&store), of(&[("0", 1.0), ("1", 2.0), ("2", 4.0), ("3", 8.0)]));
    let four = || default().factor("0", 4).factor("1", 4).levels(1);
    plan(&array, four().overwrite(true)).run(|_| {}).unwrap();
    assert_eq!(datasets(&store), of(&[("0", 1.0), ("1", 4.0)]));
    // A coarser level and a finer one, each alone.
    plan(&array, four().levels(2).level(2).overwrite(true)).run(|_| {}).unwrap();
    assert_eq!(datasets(&store), of(&[("0", 1.0), ("1", 4.0), ("2", 16.0)]));
    plan(&array, four().levels(2).level(1).method(Method::Max)).run(|_| {}).unwrap();
    assert_eq!(datasets(&store), of(&[("0", 1.0), ("1", 4.0), ("2", 16.0)]));
}

#[test]
fn an_image_of_an_unknown_form_is_told_of() {
    let own = json!([{"path": "0", "coordinateTransformations": [{"type": "affine", "affine": [1.0, 1.0]}]}]);
    let store = image(&own, &["/0"]);
    let array = Array::open(&store, "/0", &registry()).unwrap();
    let pyramid = plan(&array, default());
    assert!(
        pyramid.warning().is_some_and(|warning| warning.contains("the levels are not added")),
        "{:?}",
        pyramid.warning()
    );
    pyramid.run(|_| {}).unwrap();
    // A group that cannot be read is an error, after which the run goes on.
    let known = json!([{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1.0, 1.0]}]}]);
    let store = image(&known, &["/0"]);
    let array = Array::open(&store, "/0", &registry()).unwrap();
    assert_eq!(plan(&array, default()).warning(), None);
    let failing = failing(&store, "none", ".zattrs", "1/.zarray");
    let array = Array::open(&failing, "/0", &registry()).unwrap();
    plan(&array, default()).run(|_| {}).unwrap_err();
    let array = Array::open(&store, "/0", &registry()).unwrap();
    plan(&array, default().resume(true)).run(|_| {}).unwrap();
    assert_eq!(datasets(&store).len(), 3);
}

#[test]
fn levels_are_added_to_an_image() {
    let scale = |scale: [f64; 2]| json!({"type": "scale", "scale": [(scale[0]), (scale[1])]});
    let shift = |by: [f64; 2]| json!({"type": "translation", "translation": [(by[0]), (by[1])]});
    let image = |datasets: Value| {
        let axis = |name: &str| json!({"name": name, "type": "space"});
        json!([{"axes": [(axis("y")), (axis("x"))], "datasets": datasets, "version": "0.4"}])
    };
    let store = memory();
    let own = json!([{"path": "s0", "coordinateTransformations": [(scale([0.5, 0.25])), (shift([10.0, 0.0]))]}]);
    let attributes = json!({"note": 1, "multiscales": (image(own))});
    let group = NewGroup::new().dialect(Dialect::V2).attributes(attributes.as_object().unwrap().clone());
    Group::create(&store, "/", group, &registry()).unwrap();
    let new = NewArray::new(&[16, 16], "uint16").chunks(&[4, 4]).codecs("bytes").unwrap().dialect(Dialect::V2);
    let array = Array::create(&store, "/s0", new, &registry()).unwrap();
    array.write(.., &ramp(&[16, 16])).unwrap();
    plan(&array, PyramidOptions::default()).run(|_| {}).unwrap();
    let group = Group::open(&store, "/", &registry()).unwrap();
    let image = zarr_ome::Image::open(&group).unwrap().unwrap();
    assert_eq!(image.level_count(), 3);
    let levels = &image.multiscale().levels;
    assert_eq!((levels[1].scale.clone(), levels[1].translation.clone()), (vec![1.0, 0.5], vec![10.25, 0.125]));
    assert_eq!((levels[2].scale.clone(), levels[2].translation.clone()), (vec![2.0, 1.0], vec![10.75, 0.375]));
    assert_eq!(image.level(2).unwrap().shape(), [4, 4]);
    // Once more they get other transformations.
    plan(&array, PyramidOptions::default().overwrite(true).method(Method::Nearest)).run(|_| {}).unwrap();
    let group = Group::open(&store, "/", &registry()).unwrap();
    let image = zarr_ome::Image::open(&group).unwrap().unwrap();
    let levels = &image.multiscale().levels;
    assert_eq!((image.level_count(), &levels[1].translation, &levels[2].scale), (3, &vec![10.0, 0.0], &vec![2.0, 1.0]));
}

/// Attributes of the root after levels were added to an image of 16 x 16 elements by `nearest`.
fn with_levels(attributes: &Value, dialect: Dialect, options: PyramidOptions) -> Map {
    let store = memory();
    let group = NewGroup::new().dialect(dialect).attributes(attributes.as_object().unwrap().clone());
    Group::create(&store, "/", group, &registry()).unwrap();
    let new = NewArray::new(&[16, 16], "uint16").chunks(&[4, 4]).codecs("bytes").unwrap().dialect(dialect);
    let array = Array::create(&store, "/0", new, &registry()).unwrap();
    let pyramid = plan(&array, options.method(Method::Nearest));
    assert_eq!(pyramid.warning(), None);
    pyramid.run(|_| {}).unwrap();
    Group::open(&store, "/", &registry()).unwrap().attributes().unwrap().clone()
}

#[test]
fn levels_are_added_to_an_image_of_version_06() {
    let axis = |name: &str| json!({"name": name, "type": "space"});
    let ends = |mut one: Value, path: &str| {
        let Value::Object(map) = &mut one else { panic!() };
        map.insert("input", json!({"path": path}));
        map.insert("output", json!({"name": "world"}));
        one
    };
    let scale = |by: u64| json!({"type": "scale", "scale": [(by), (by)]});
    let shift = json!({"type": "translation", "translation": [5, 7]});
    let shift = || shift.clone();
    let moved = |by: u64| {
        let both = Value::from(vec![scale(by), shift()]);
        json!({"type": "sequence", "transformations": both})
    };
    let dataset = |path: &str, one: Value| {
        let one = ends(one, path);
        json!({"path": path, "coordinateTransformations": [(one)], "note": 1})
    };
    let attributes = |datasets: Vec<Value>| {
        let datasets = Value::from(datasets);
        let system = json!({"name": "world", "axes": [(axis("y")), (axis("x"))]});
        let image = json!({"coordinateSystems": [(system)], "datasets": datasets, "note": 2});
        json!({"other": 3, "ome": {"version": "0.6", "multiscales": [(image)], "further": 4}})
    };
    let forms: [&dyn Fn(u64) -> Value; 2] = [&scale, &moved];
    for form in forms {
        let before = attributes(vec![dataset("0", form(1))]);
        let after = [("0", 1), ("1", 2), ("2", 4)].map(|(path, by)| dataset(path, form(by))).to_vec();
        let options = default().factor("0", 2).factor("1", 2).levels(2);
        assert_eq!(Value::Object(with_levels(&before, Dialect::V3, options)), attributes(after));
    }
}

#[test]
fn unknown_members_do_not_hide_an_image_of_version_04() {
    let dataset = |path: &str, by: u64| {
        let scale = json!({"type": "scale", "scale": [(by), (by)]});
        json!({"path": path, "coordinateTransformations": [(scale)]})
    };
    let attributes = |datasets: Vec<Value>| {
        let axis = |name: &str| json!({"name": name, "type": "space"});
        let datasets = Value::from(datasets);
        let image = json!({"version": "0.4", "axes": [(axis("y")), (axis("x"))], "datasets": datasets});
        // Rendering settings that cannot be read do not matter.
        json!({"multiscales": [(image)], "ome": {"further": 1}, "omero": {"channels": 5}})
    };
    let found = with_levels(&attributes(vec![dataset("0", 1)]), Dialect::V2, default().levels(1));
    assert_eq!(Value::Object(found), attributes(vec![dataset("0", 1), dataset("1", 2)]));
}
