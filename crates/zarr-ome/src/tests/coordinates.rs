//! Tests of coordinate systems of version 0.6.

use crate::{Metadata, Multiscales, scene_faults};
use zarr_json::{Map, Value, json};

fn systems() -> Value {
    let axes = || json!([{"name": "y", "type": "space"}, {"name": "x", "type": "space"}]);
    json!([{"name": "physical", "axes": (axes())}, {"name": "other", "axes": (axes())}])
}

fn image(version: &str, transformation: Value) -> Map {
    let level = json!({"type": "scale", "scale": [1, 1], "input": {"path": "0"}, "output": {"name": "physical"}});
    let multiscale = json!({
        "coordinateSystems": (systems()),
        "datasets": [{"path": "0", "coordinateTransformations": [level]}],
        "coordinateTransformations": [transformation]
    });
    json!({"ome": {"version": version, "multiscales": [multiscale]}}).as_object().unwrap().clone()
}

/// Returns a transformation between two coordinate systems, with these further members.
fn transformation(members: Value) -> Value {
    let mut all = Map::new();
    all.insert("input", json!({"name": "physical"}));
    all.insert("output", json!({"name": "other"}));
    members.as_object().unwrap().iter().for_each(|(name, value)| drop(all.insert(name, value.clone())));
    Value::Object(all)
}

fn deviations(attributes: &Map) -> Vec<String> {
    Multiscales::read(attributes).unwrap().unwrap().deviations
}

#[test]
fn transformations_between_coordinate_systems_are_judged() {
    let one = || json!({"type": "scale", "scale": [2]});
    for sound in [
        json!({"type": "identity"}),
        json!({"type": "translation", "translation": [(json!(-1)), 0.5]}),
        json!({"type": "affine", "affine": [[1, 0, 2], [0, 1, 3]]}),
        json!({"type": "affine", "path": "a"}),
        json!({"type": "rotation", "rotation": [[0, 1], [(json!(-1)), 0]]}),
        json!({"type": "mapAxis", "mapAxis": [1, 0]}),
        json!({"type": "projectAxis", "droppedInputs": [0], "createdOutputs": [1]}),
        json!({"type": "displacements", "path": "d"}),
        json!({"type": "sequence", "transformations": [{"type": "scale", "scale": [1, 2]}, {"type": "identity"}]}),
        json!({"type": "bijection", "forward": (one()), "inverse": (one())}),
        json!({"type": "byDimension", "transformations": [{"inputAxes": [0], "outputAxes": [1], "transformation": (one())}]}),
    ] {
        assert_eq!(deviations(&image("0.6", transformation(sound.clone()))), [""; 0], "{sound}");
    }
    for (faulty, expected) in [
        (json!({}), "/type: found nothing, expected this member"),
        (json!({"type": "shear"}), "/type: found \"shear\", expected a type of transformation"),
        (json!({"type": "identity", "input": "physical"}), "/input: found \"physical\", expected an object"),
        (json!({"type": "identity", "output": {}}), "/output/name: found nothing, expected this member"),
        (json!({"type": "scale", "scale": [1, 1, 1]}), "expected 2 numbers, one for each axis"),
        (json!({"type": "scale", "scale": [1, 0]}), "/scale/1: found 0, expected a positive number"),
        (json!({"type": "scale", "path": "s"}), "/scale: found nothing, expected this member"),
        (json!({"type": "affine"}), "/affine: found nothing, expected this member"),
        (json!({"type": "affine", "affine": [[1, 0], [0, 1]]}), "/affine/0: found [1,0], expected 3 numbers"),
        (json!({"type": "rotation", "rotation": [0, 1]}), "/rotation/0: found 0, expected an array"),
        (json!({"type": "rotation", "rotation": [[1, 0, 0], [0, 1, 0]]}), "expected 2 numbers"),
        (json!({"type": "mapAxis", "mapAxis": [0, 0]}), "/mapAxis/1: found 0, expected an index that is not there yet"),
        (json!({"type": "mapAxis", "mapAxis": [0, 2]}), "expected each of the indices 0 to 1 once"),
        (json!({"type": "projectAxis"}), "expected droppedInputs or createdOutputs"),
        (json!({"type": "projectAxis", "createdOutputs": [5]}), "expected indices of 2 axes before, and of 3 after"),
        (json!({"type": "projectAxis", "droppedInputs": [0, 1]}), "expected 1 to 5 axes after it"),
        (json!({"type": "displacements"}), "/path: found nothing, expected this member"),
        (json!({"type": "sequence", "transformations": []}), "expected at least one item"),
        (json!({"type": "bijection", "forward": (one())}), "/inverse: found nothing, expected this member"),
        (
            json!({"type": "byDimension", "transformations": [(one())]}),
            "/inputAxes: found nothing, expected this member",
        ),
    ] {
        let found = deviations(&image("0.6", transformation(faulty.clone())));
        let is_due = |fault: &String| {
            fault.starts_with("/attributes/ome/multiscales/0/coordinateTransformations/0") && fault.ends_with(expected)
        };
        assert!(found.iter().any(is_due), "{faulty}: {found:?}");
        // Drafts have rules of their own.
        assert_eq!(deviations(&image("0.6.dev3", transformation(faulty))), [""; 0]);
    }
    let deep =
        (0..100).fold(json!({"type": "identity"}), |inner, _| json!({"type": "sequence", "transformations": [inner]}));
    let found = deviations(&image("0.6", transformation(deep)));
    assert!(found[0].ends_with("expected transformations at most 16 deep"), "{found:?}");
}

#[test]
fn coordinate_systems_and_levels_are_judged() {
    for (at, value, expected) in [
        ("coordinateSystems/1/name", json!("physical"), "a name that no other coordinate system has"),
        ("coordinateSystems/1/name", json!(""), "a name"),
        ("coordinateSystems/1/axes", json!([]), "at least one item"),
        ("coordinateSystems/1/axes/1/name", json!("y"), "a name that no other axis has"),
        ("datasets/0/coordinateTransformations/0/input", json!({"name": "0"}), "this member"),
        ("datasets/0/coordinateTransformations/0/input/path", json!("1"), "the path of the level"),
    ] {
        let mut members = image("0.6rc0", transformation(json!({"type": "identity"})));
        members.set_pointer(&format!("/ome/multiscales/0/{at}"), value).unwrap();
        let found = deviations(&members);
        let is_due = |fault: &String| {
            fault.starts_with(&format!("/attributes/ome/multiscales/0/{at}")) && fault.ends_with(expected)
        };
        assert!(found.iter().any(is_due), "{at}: {found:?}");
    }
    let order = json!([{"type": "translation", "translation": [1, 1]}, {"type": "scale", "scale": [1, 1]}]);
    let level =
        json!({"type": "sequence", "transformations": order, "input": {"path": "0"}, "output": {"name": "physical"}});
    let mut members = image("0.6", transformation(json!({"type": "identity"})));
    members.set_pointer("/ome/multiscales/0/datasets/0/coordinateTransformations/0", level).unwrap();
    assert!(deviations(&members)[0].ends_with("expected a sequence of a scale and a translation"));
}

/// Checks axes of type `array`, which are no directions in space.
#[test]
fn axes_may_be_those_of_an_array() {
    let axes = || json!([{"name": "dim_0", "type": "array"}, {"name": "dim_1", "type": "array"}]);
    let mut members = image("0.6", transformation(json!({"type": "identity"})));
    members.set_pointer("/ome/multiscales/0/coordinateSystems/0/axes", axes()).unwrap();
    assert_eq!(deviations(&members), [""; 0]);
    let old = json!({"multiscales": [{"axes": (axes()), "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1, 1]}]}]}]});
    assert_eq!(deviations(old.as_object().unwrap()).len(), 2);
}

#[test]
fn scenes_are_judged() {
    let scene = |transformations: Value| {
        let attributes = json!({"ome": {"version": "0.6", "scene": {"coordinateSystems": (systems()), "coordinateTransformations": transformations}}});
        let attributes = attributes.as_object().unwrap();
        scene_faults(&Metadata::find(attributes, None).unwrap()).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let place = |input: Value| json!([{"type": "translation", "translation": [1, 2], "input": input, "output": {"name": "other"}}]);
    assert_eq!(scene(place(json!({"name": "physical", "path": "tile"}))), [""; 0]);
    assert_eq!(scene(json!([])).len(), 1);
    let found = scene(place(json!("tile")));
    assert_eq!(found, ["/attributes/ome/scene/coordinateTransformations/0/input: found \"tile\", expected an object"]);
}
