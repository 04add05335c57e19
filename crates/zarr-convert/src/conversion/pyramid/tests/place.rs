//! Levels of arrays whose attributes say where they lie.

use super::{memory, plan, registry};
use crate::{Method, Pyramid, PyramidOptions};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zarr_array::{Array, Group, NewArray, NewGroup, Store};
use zarr_geo::{Crs, Georeference, Registration, Transform};
use zarr_json::Map;
use zarr_meta::NodePath;
use zarr_store::Call;
use zarr_store::testing::Intercepted;

/// Place of an array of 9 rows and 6 columns.
fn scene() -> Georeference {
    let transform = Transform([10.0, 0.0, 500.0, 0.0, -10.0, 900.0]);
    Georeference::new().crs(Crs::epsg(32633)).dimensions("y", "x").transform(transform).shape(9, 6)
}

/// Attributes of the levels of an array `(t, y, x)` of shape `[2, 9, 6]` with a place.
fn levels(place: &Georeference, options: PyramidOptions) -> Vec<Map> {
    let store: Arc<dyn Store> = memory();
    let mut attributes = Map::new();
    place.write(&mut attributes).unwrap();
    let new = NewArray::new(&[2, 9, 6], "uint16").codecs("bytes").unwrap().dimension_names(&["t", "y", "x"]);
    let array = Array::create(&store, "/0", new.attributes(attributes), &registry()).unwrap();
    let pyramid = plan(&array, options);
    pyramid.run(|_| {}).unwrap();
    let open = |path: String| Array::open(&store, &path, &registry()).unwrap().attributes().unwrap().clone();
    pyramid.levels().iter().map(|level| open(level.path.to_string())).collect()
}

fn places(place: &Georeference, options: PyramidOptions) -> Vec<Georeference> {
    levels(place, options).iter().map(|attributes| Georeference::read(attributes).unwrap()).collect()
}

#[test]
fn levels_have_larger_pixels_at_the_place_of_the_array() {
    let read = places(&scene(), PyramidOptions::default().levels(2));
    let transforms: Vec<[f64; 6]> = read.iter().map(|level| level.transform.unwrap().0).collect();
    assert_eq!(transforms, [[20.0, 0.0, 500.0, 0.0, -20.0, 900.0], [40.0, 0.0, 500.0, 0.0, -40.0, 900.0]]);
    assert_eq!((read[0].shape, read[1].shape), (Some([5, 3]), Some([3, 2])));
    // The last row of blocks has one row of elements alone.
    assert_eq!(read[0].bbox, Some([500.0, 800.0, 560.0, 900.0]));
    assert!(read.iter().all(|level| level.crs == scene().crs && level.contradiction().is_none()), "{read:?}");
    // Other axes do not matter.
    let t = PyramidOptions::default().factor("t", 2).levels(1);
    assert_eq!(places(&scene(), t)[0].transform, scene().transform);
}

#[test]
fn dimensions_of_the_group_are_those_of_levels() {
    let store: Arc<dyn Store> = memory();
    let written = |place: &Georeference| {
        let mut attributes = Map::new();
        place.write(&mut attributes).unwrap();
        attributes
    };
    let names = NewGroup::new().attributes(written(&Georeference::new().dimensions("y", "x")));
    Group::create(&store, "/", names, &registry()).unwrap();
    let nameless = {
        let mut nameless = scene();
        nameless.dimensions = None;
        nameless
    };
    let new = NewArray::new(&[9, 6], "uint16").codecs("bytes").unwrap().dimension_names(&["y", "x"]);
    let array = Array::create(&store, "/0", new.attributes(written(&nameless)), &registry()).unwrap();
    plan(&array, PyramidOptions::default().levels(1)).run(|_| {}).unwrap();
    let elsewhere: Arc<dyn Store> = memory();
    let target = Some((&elsewhere, NodePath::root()));
    Pyramid::plan(&array, target, PyramidOptions::default().levels(1)).unwrap().run(|_| {}).unwrap();
    // Levels name them, since they may be in another group.
    let extent = Some([500.0, 800.0, 560.0, 900.0]);
    for (store, path, extent) in
        [(&store, "/1", extent), (&elsewhere, "/1", extent), (&elsewhere, "/0", scene().extent())]
    {
        let level = Array::open(store, path, &registry()).unwrap();
        let read = Georeference::read(level.attributes().unwrap()).unwrap();
        assert_eq!((read.computed_extent(), read.dimensions), (extent, scene().dimensions), "{path}");
    }
}

#[test]
fn groups_above_are_read_once_and_their_errors_told() {
    let plain = memory();
    let mut nameless = scene();
    nameless.dimensions = None;
    let mut attributes = Map::new();
    nameless.write(&mut attributes).unwrap();
    let new = NewArray::new(&[64, 64], "uint16").chunks(&[4, 4]).codecs("bytes").unwrap().dimension_names(&["y", "x"]);
    Array::create(&plain, "/g/0", new.attributes(attributes), &registry()).unwrap();
    let reads = |fails: bool| {
        let gets = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&gets);
        let store: Arc<dyn Store> = Arc::new(Intercepted::new(Arc::clone(&plain), move |_, call| {
            if let Call::Get { key, .. } = &call
                && key.as_str() == "g/zarr.json"
            {
                counted.fetch_add(1, Ordering::Relaxed);
                if fails {
                    return Err(zarr_store::Error::Job("no answer"));
                }
            }
            Ok(ControlFlow::Continue(call))
        }));
        let array = Array::open(&store, "/g/0", &registry()).unwrap();
        let before = gets.load(Ordering::Relaxed);
        let target = memory();
        let options = PyramidOptions::default().levels(4);
        let planned = Pyramid::plan(&array, Some((&target, NodePath::root())), options);
        (planned.map(drop), gets.load(Ordering::Relaxed) - before)
    };
    let (planned, gets) = reads(false);
    assert_eq!((planned.is_ok(), gets), (true, 1));
    let (planned, _) = reads(true);
    assert!(planned.unwrap_err().to_string().contains("no answer"));
}

#[test]
fn points_are_where_the_elements_of_levels_are() {
    let points = scene().registration(Registration::Node);
    let corner = |method| {
        let [_, _, x, _, _, y] =
            places(&points, PyramidOptions::default().levels(1).method(method))[0].transform.unwrap().0;
        (x, y)
    };
    assert_eq!((corner(Method::Mean), corner(Method::Nearest)), ((505.0, 895.0), (500.0, 900.0)));
    // 9 rows become 2 by blocks of 8, and 1 by their first block of 2: row 3 of the array. Of 6 columns that is column 2.
    let options = PyramidOptions::default().factor("y", 8).factor("x", 8).levels(2).method(Method::Nearest);
    let found: Vec<[f64; 6]> = places(&points, options).iter().map(|level| level.transform.unwrap().0).collect();
    assert_eq!(found, [[80.0, 0.0, 520.0, 0.0, -80.0, 870.0], [640.0, 0.0, 520.0, 0.0, -640.0, 870.0]]);
}

#[test]
fn places_that_levels_cannot_have_are_left_out() {
    let rows = |factor: u64| PyramidOptions::default().factor("y", factor).levels(1);
    let bbox = [500.0, 810.0, 560.0, 900.0];
    let boxed = Georeference::new().dimensions("y", "x").bbox(bbox);
    assert_eq!(places(&boxed, rows(3))[0].bbox, Some(bbox));
    assert_eq!(places(&boxed, rows(2))[0].bbox, None);
    let unnamed = scene().dimensions("north", "east");
    let attributes = &levels(&unnamed, rows(3))[0];
    assert!(["transform", "shape", "bbox"].iter().all(|name| attributes.get(&format!("spatial:{name}")).is_none()));
    assert_eq!(Georeference::read(attributes).unwrap().crs, scene().crs);
}

#[test]
fn levels_of_maps_are_listed_in_their_group() {
    let store: Arc<dyn Store> = memory();
    let written = |place: &Georeference| {
        let mut attributes = Map::new();
        place.write(&mut attributes).unwrap();
        attributes
    };
    Group::create(&store, "/", NewGroup::new(), &registry()).unwrap();
    let create = |path: &str| {
        let new = NewArray::new(&[9, 6], "uint16").codecs("bytes").unwrap().dimension_names(&["y", "x"]);
        Array::create(&store, path, new.attributes(written(&scene())), &registry()).unwrap()
    };
    let read = |store: &Arc<dyn Store>| {
        let group = Group::open(store, "/", &registry()).unwrap();
        Georeference::read(group.attributes().unwrap())
    };
    // The group may have several pyramids.
    plan(&create("/red0"), PyramidOptions::default().levels(1)).run(|_| {}).unwrap();
    assert_eq!(read(&store), None);
    let array = create("/0");
    plan(&array, PyramidOptions::default().levels(3)).run(|_| {}).unwrap();
    let expected = |levels: &[(&str, [u64; 2], [f64; 2])]| scene().pyramid_by(levels).levels;
    let all =
        [("0", [9, 6], [1.0, 1.0]), ("1", [5, 3], [2.0, 2.0]), ("2", [3, 2], [4.0, 4.0]), ("3", [2, 1], [8.0, 8.0])];
    let found = read(&store).unwrap();
    // The levels say their reference system themselves; of the group other arrays would have it, too.
    assert_eq!((found.levels, found.crs, found.dimensions), (expected(&all), None, None));
    // Levels behind those that are written go, and one alone is replaced.
    plan(&array, PyramidOptions::default().levels(2).overwrite(true)).run(|_| {}).unwrap();
    assert_eq!(read(&store).unwrap().levels, expected(&all[..3]));
    plan(&array, PyramidOptions::default().levels(2).level(2)).run(|_| {}).unwrap();
    let mut derived = expected(&all[..3]);
    derived[2] = derived[2].clone().derived_from("1", 2.0, 2.0);
    assert_eq!(read(&store).unwrap().levels, derived);
    // Elsewhere the first one is a copy.
    let elsewhere: Arc<dyn Store> = memory();
    let target = Some((&elsewhere, NodePath::root()));
    Pyramid::plan(&array, target, PyramidOptions::default().levels(2)).unwrap().run(|_| {}).unwrap();
    assert_eq!(read(&elsewhere).unwrap().levels, expected(&all[..3]));
    let again = PyramidOptions::default().levels(1).factor("y", 3).factor("x", 1).overwrite(true);
    let target = Some((&elsewhere, NodePath::root()));
    Pyramid::plan(&array, target, again).unwrap().run(|_| {}).unwrap();
    assert_eq!(read(&elsewhere).unwrap().levels, expected(&[("0", [9, 6], [1.0, 1.0]), ("1", [3, 6], [3.0, 1.0])]));
    // One level alone makes no list.
    let unlisted: Arc<dyn Store> = memory();
    Group::create(&unlisted, "/", NewGroup::new(), &registry()).unwrap();
    let create_in = |store: &Arc<dyn Store>, path: &str, place: &Georeference| {
        let new = NewArray::new(&[9, 6], "uint16").codecs("bytes").unwrap().dimension_names(&["y", "x"]);
        Array::create(store, path, new.attributes(written(place)), &registry()).unwrap()
    };
    let array = create_in(&unlisted, "/0", &scene());
    plan(&array, PyramidOptions::default().levels(2).overwrite(true)).run(|_| {}).unwrap();
    let mut group = Group::open(&unlisted, "/", &registry()).unwrap();
    group.set_attributes(Map::new()).unwrap();
    plan(&array, PyramidOptions::default().levels(2).level(2)).run(|_| {}).unwrap();
    assert_eq!(read(&unlisted), None);
    // A group whose place other arrays have, attributes that cannot be read, and points.
    let placed_group = written(&scene());
    let mut broken = Map::new();
    broken.insert("proj:code", 32633);
    for (of_group, of_array) in [
        (placed_group, Georeference::new().crs(Crs::epsg(32633)).dimensions("y", "x")),
        (broken, scene()),
        (Map::new(), scene().registration(Registration::Node)),
    ] {
        let store: Arc<dyn Store> = memory();
        Group::create(&store, "/", NewGroup::new().attributes(of_group.clone()), &registry()).unwrap();
        create_in(&store, "/mask", &Georeference::new().dimensions("y", "x"));
        plan(&create_in(&store, "/0", &of_array), PyramidOptions::default().levels(1)).run(|_| {}).unwrap();
        assert_eq!(*Group::open(&store, "/", &registry()).unwrap().attributes().unwrap(), of_group);
    }
    // A place of the group that the levels alone have from it.
    let store: Arc<dyn Store> = memory();
    Group::create(&store, "/", NewGroup::new().attributes(written(&scene())), &registry()).unwrap();
    plan(&create_in(&store, "/0", &Georeference::new()), PyramidOptions::default().levels(2)).run(|_| {}).unwrap();
    assert_eq!(read(&store).unwrap().levels, expected(&all[..3]));
    // An array that is the root.
    let root: Arc<dyn Store> = memory();
    let (array, levels): (_, Arc<dyn Store>) = (create_in(&root, "/", &scene()), memory());
    let target = Some((&levels, NodePath::root()));
    Pyramid::plan(&array, target, PyramidOptions::default().levels(1)).unwrap().run(|_| {}).unwrap();
    assert_eq!(read(&levels).unwrap().levels, expected(&all[..2]));
    // A list of another convention stays.
    let other: Arc<dyn Store> = memory();
    let group = NewGroup::new().attribute("multiscales", zarr_json::json!({"levels": 3}));
    Group::create(&other, "/", group, &registry()).unwrap();
    let target = Some((&other, NodePath::root()));
    Pyramid::plan(&array, target, PyramidOptions::default().levels(1)).unwrap().run(|_| {}).unwrap();
    let group = Group::open(&other, "/", &registry()).unwrap();
    assert_eq!(group.attributes().unwrap().len(), 1);
}
