//! Places on Earth of joined files.

use super::*;
use zarr_array::{Group, NewArray, NewGroup};
use zarr_geo::{Crs, Georeference, Registration, Transform};
use zarr_json::Map;
use zarr_virtualize::join;

/// Georeference of 3 rows and 2 columns, of which the first begins at a place.
fn scene(x: f64, y: f64) -> Georeference {
    let transform = Transform([10.0, 0.0, x, 0.0, -10.0, y]);
    Georeference::new().crs(Crs::epsg(32633)).dimensions("y", "x").transform(transform).shape(3, 2)
}

/// Georeference of the group of a scene: all but the transformation and the shape.
fn of_group(scene: &Georeference) -> Georeference {
    let mut group = scene.clone();
    (group.bbox, group.transform, group.shape) = (scene.extent(), None, None);
    group
}

/// Input with an array `a(y, x)` in a group, each with its place.
fn file(name: &str, group: &Georeference, array: &Georeference) -> Input {
    let written = |place: &Georeference| {
        let mut attributes = Map::new();
        place.write(&mut attributes).expect("attributes");
        attributes
    };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    Group::create(&store, "/", NewGroup::new().attributes(written(group)), &registry()).expect("a group");
    let new = NewArray::new(&[3, 2], "uint8").codecs("bytes").expect("codecs").dimension_names(&["y", "x"]);
    let array = Array::create(&store, "/a", new.attributes(written(array)), &registry()).expect("an array");
    array.write(.., &[1_u8; 6]).expect("elements");
    Input::of_store(name, &store, &|_| Ok(None)).expect("an input")
}

/// Joins scenes along a dimension. Returns the places of the group and the array, and the notes.
fn joined(scenes: &[Georeference], along: &str) -> ([Georeference; 2], Vec<String>) {
    let files: Vec<Input> = scenes.iter().map(|scene| file("x", &of_group(scene), scene)).collect();
    joined_files(&files, along)
}

fn joined_files(files: &[Input], along: &str) -> ([Georeference; 2], Vec<String>) {
    let joined = join(files, &registry(), &JoinOptions::default().concat(Some(along.to_owned()))).expect("joined");
    let store: Arc<dyn Store> = Arc::new(joined.store);
    let group = Group::open(&store, "/", &registry()).expect("a group");
    let array = Array::open(&store, "/a", &registry()).expect("an array");
    let all = [group.attributes().expect("attributes"), array.attributes().expect("attributes")];
    let read = all.map(|attributes| Georeference::read(attributes).expect("a place"));
    for (read, attributes) in read.iter().zip(all) {
        assert!(read.faults.is_empty() && read.contradiction().is_none(), "{attributes:?}");
    }
    (read, joined.notes)
}

#[test]
fn files_that_adjoin_have_the_place_of_all() {
    for (x, y, along, shape, bbox) in
        [(0.0, -30.0, "y", [6, 2], [0.0, -60.0, 20.0, 0.0]), (20.0, 0.0, "x", [3, 4], [0.0, -30.0, 40.0, 0.0])]
    {
        for registration in [Registration::Pixel, Registration::Node] {
            let scene = |x, y| scene(x, y).registration(registration);
            let ([group, array], notes) = joined(&[scene(0.0, 0.0), scene(x, y)], along);
            assert_eq!((array.transform, array.shape), (scene(0.0, 0.0).transform, Some(shape)));
            assert_eq!((array.extent(), group.bbox), (array.bbox, array.bbox));
            assert_eq!(notes, Vec::<String>::new());
            assert!(registration == Registration::Node || array.bbox == Some(bbox), "{array:?}");
        }
    }
}

#[test]
fn files_that_do_not_adjoin_lose_their_places() {
    for (second, along, bbox) in [
        // In another order, and with a gap.
        (scene(0.0, 30.0), "y", Some([0.0, -30.0, 20.0, 30.0])),
        (scene(0.0, -40.0), "y", Some([0.0, -70.0, 20.0, 0.0])),
        (scene(0.0, -30.0), "x", Some([0.0, -60.0, 20.0, 0.0])),
        (scene(0.0, -30.0).crs(Crs::epsg(32634)), "y", None),
        // A new dimension, along which places are to be the same.
        (scene(20.0, 0.0), "month", Some([0.0, -30.0, 40.0, 0.0])),
    ] {
        let is_one_crs = second.crs == scene(0.0, 0.0).crs;
        let ([group, array], notes) = joined(&[scene(0.0, 0.0), second], along);
        assert_eq!((array.transform, array.shape, array.bbox), (None, None, None), "{along}");
        assert_eq!((group.bbox, group.crs.is_some(), array.crs.is_some()), (bbox, is_one_crs, is_one_crs));
        assert!(notes.iter().any(|note| note.starts_with("/a: its place on Earth is left out: ")), "{notes:?}");
        assert!(notes.iter().all(|note| !note.contains("spatial:")), "{notes:?}");
    }
}

#[test]
fn groups_give_names_to_arrays_and_lose_their_transformation() {
    let names = Georeference::new().dimensions("y", "x");
    let [mut nameless, mut below] = [scene(0.0, 0.0), scene(0.0, -30.0)];
    (nameless.dimensions, below.dimensions) = (None, None);
    let ([_, array], notes) = joined_files(&[file("a", &names, &nameless), file("b", &names, &below)], "y");
    assert_eq!((array.shape, array.transform, notes.len()), (Some([6, 2]), nameless.transform, 0));
    // An array that has the place of its group: the transformation is one of the first file alone.
    let named = Georeference::new().crs(Crs::epsg(32633));
    let files = [scene(0.0, 0.0), scene(0.0, -30.0)].map(|scene| file("x", &scene, &named));
    let ([group, _], notes) = joined_files(&files, "y");
    assert_eq!((group.transform, group.shape, group.bbox), (None, None, Some([0.0, -60.0, 20.0, 0.0])));
    assert!(notes[0].starts_with("/: its place on Earth is left out: "), "{notes:?}");
    // The same places stay.
    let (read, _) = joined(&[scene(0.0, 0.0), scene(0.0, 0.0)], "month");
    assert_eq!((read[1].transform, read[0].bbox), (scene(0.0, 0.0).transform, scene(0.0, 0.0).extent()));
}
