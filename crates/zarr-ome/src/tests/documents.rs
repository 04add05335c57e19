//! Documents: read and written, and converted between versions.

use crate::document::{Document, Numbers, SystemReference, Transformation, TransformationKind};
use crate::{ErrorKind, NewImage, Reduction, Version, to_version, to_version_without};
use proptest::prelude::*;
use zarr_json::{Map, Value, json};

fn members(value: &Value) -> &Map {
    value.as_object().unwrap()
}

/// Checks that attributes are the same after reading and writing.
fn check_kept(attributes: &Value, version: Version) {
    let document = Document::read(members(attributes), Some("labels")).unwrap().unwrap();
    let written = Value::Object(document.attributes(version).unwrap());
    assert!(by_default(&written).semantically_eq(&by_default(attributes)), "{written}\n{attributes}");
}

/// Returns metadata without the version that members of 0.4 may have, with colours in capitals and no empty lists of acquisitions.
fn by_default(value: &Value) -> Value {
    let is_default = |name: &str, value: &Value| match name {
        "version" => value.as_str() == Some("0.4"),
        "acquisitions" => value.as_array().is_some_and(<[_]>::is_empty),
        _ => value.is_null(),
    };
    let member = |(name, value): (&str, &Value)| match value.as_str().filter(|_| name == "color") {
        Some(color) => (name.to_owned(), color.trim_start_matches('#').to_uppercase().into()),
        None => (name.to_owned(), by_default(value)),
    };
    match value {
        Value::Object(map) => {
            map.iter().filter(|(name, value)| !is_default(name, value)).map(member).collect::<Map>().into()
        }
        Value::Array(items) => Value::Array(items.iter().map(by_default).collect()),
        other => other.clone(),
    }
}

#[test]
fn all_members_are_kept() {
    let plate = json!({"version": "0.4", "name": "p", "rows": [{"name": "A", "x": 1}], "columns": [{"name": "1"}],
        "wells": [{"path": "A/1", "rowIndex": 0, "columnIndex": 0}],
        "acquisitions": [{"id": 0, "name": "a", "starttime": 3}], "field_count": 2, "more": true});
    let well = json!({"version": "0.4", "images": [{"path": "0", "acquisition": 0}, {"path": "1", "of": "x"}]});
    let label = json!({"version": "0.4", "colors": [{"label-value": 1, "rgba": [1, 2, 3, 255]}, {"label-value": (-4)}],
        "properties": [{"label-value": 1, "area": 1.5}], "source": {"image": "../../"}});
    check_kept(&json!({"plate": (plate)}), Version::V04);
    check_kept(&json!({"well": (well)}), Version::V04);
    check_kept(&json!({"image-label": (label)}), Version::V04);
    check_kept(&json!({"labels": ["a", "b"]}), Version::V04);
    check_kept(
        &json!({"ome": {"version": "0.5", "series": ["0", "1"], "bioformats2raw.layout": 3, "mine": [1]}}),
        Version::V05,
    );
    check_kept(&super::old(), Version::V04);
    check_kept(&scene(), Version::V06);
}

/// Checks that further members of all objects stay in their version, and are named where another version has no place for them.
#[test]
fn further_members_are_kept_or_named() {
    let axes = json!([{"name": "y", "type": "space"}, {"name": "x", "type": "space"}]);
    let scale = json!({"type": "scale", "scale": [2, 2], "a": 1});
    let moved = json!({"type": "translation", "translation": [1, 2], "b": 1});
    let levels = json!([{"path": "0", "coordinateTransformations": [(scale.clone()), (moved.clone())], "c": 1}]);
    let old = json!({"multiscales": [{"axes": (axes.clone()), "datasets": (levels)}],
        "image-label": {"source": {"image": "..", "d": 1}}});
    check_kept(&old, Version::V04);
    let to = |from: &str, name: &str| json!({"name": (name), "from": from});
    let level = |kind: Value| {
        let Value::Object(mut kind) = kind else { panic!("an object") };
        kind.insert("input", json!({"path": "0"}));
        kind.insert("output", json!({"name": "own"}));
        json!({"path": "0", "coordinateTransformations": [(Value::Object(kind))]})
    };
    let image = |kind: Value, own: Value, more: Value, transformations: Value| {
        json!({"ome": {"version": "0.6", "multiscales": [{"coordinateSystems": [(own), (more)], "datasets": [(level(kind))],
            "coordinateTransformations": (transformations)}]}})
    };
    let system = |name: &str| json!({"name": (name), "axes": (axes.clone())});
    let with = |mut value: Value| {
        if let Value::Object(map) = &mut value {
            map.insert("mine", 1);
        }
        value
    };
    let sequence = json!({"type": "sequence", "transformations": [(scale.clone()), (moved)]});
    let plain = json!({"type": "scale", "scale": [3, 3], "input": {"name": "own"}, "output": {"name": "world"}});
    let ends = json!([{"type": "scale", "scale": [3, 3], "input": (to("x", "own")), "output": {"name": "world"}}]);
    let listed = |value: &Value| Value::Array(vec![value.clone()]);
    let identity = json!({"type": "identity"});
    let at = "/attributes/ome/multiscales/0";
    let cases = [
        (image(scale.clone(), system("own"), system("world"), listed(&plain)), ""),
        (image(sequence.clone(), system("own"), system("world"), listed(&plain)), ""),
        (
            image(with(sequence), system("own"), system("world"), listed(&plain)),
            "/datasets/0/coordinateTransformations/0",
        ),
        (
            image(with(identity), system("own"), system("world"), listed(&plain)),
            "/datasets/0/coordinateTransformations/0",
        ),
        (image(scale.clone(), with(system("own")), system("world"), listed(&plain)), "/coordinateSystems/0"),
        (image(scale.clone(), system("own"), with(system("world")), listed(&plain)), "/coordinateSystems/1"),
        (image(scale.clone(), system("own"), system("world"), listed(&with(plain))), "/coordinateTransformations/0"),
        (image(scale, system("own"), system("world"), ends), "/coordinateTransformations/0"),
    ];
    for (image, expected) in cases {
        check_kept(&image, Version::V06);
        let read = Document::read(members(&image), None).unwrap().unwrap();
        let left_out = read.attributes_without(Version::V05).left_out;
        let found: Vec<&str> = left_out.iter().map(|part| part.pointer().trim_start_matches(at)).collect();
        assert_eq!(found, Some(expected).filter(|text| !text.is_empty()).into_iter().collect::<Vec<_>>(), "{image}");
    }
    // A placement of all levels beside coordinate systems.
    let mut document = NewImage::new("yx").unwrap().level("0", &[1.0, 1.0]).unwrap().document();
    document.images[0].all = Some(Default::default());
    document.images[0].transformations = vec![Transformation::new(TransformationKind::Identity)];
    for version in [Version::V05, Version::V06] {
        assert_eq!(document.attributes_without(version).left_out.len(), 1, "{version}");
    }
}

fn scene() -> Value {
    let end = |name: &str| json!({"name": (name)});
    let kinds = r#"[
        {"type": "identity"},
        {"type": "scale", "path": "a/scale"},
        {"type": "affine", "affine": [[1, 0, 0.5], [0, 1, 2]]},
        {"type": "rotation", "rotation": [[0, 1], [-1, 0]]},
        {"type": "mapAxis", "mapAxis": [1, 0]},
        {"type": "projectAxis", "createdOutputs": [0]},
        {"type": "displacements", "path": "d", "interpolation": "linear"},
        {"type": "coordinates", "path": "c"},
        {"type": "bijection", "forward": {"type": "identity", "name": ""}, "inverse": {"type": "identity"}},
        {"type": "sequence", "transformations": [{"type": "translation", "translation": [1, 2]}]},
        {"type": "byDimension", "transformations": [
            {"transformation": {"type": "scale", "scale": [2]}, "inputAxes": [1], "outputAxes": [0], "mine": 1}]}
    ]"#;
    let kinds = zarr_json::parse(kinds.as_bytes(), zarr_json::ParseOptions::ALL).unwrap().value;
    let ends = |kind: &Value| {
        let mut kind = kind.clone();
        let Value::Object(map) = &mut kind else { panic!("an object") };
        map.insert("input", json!({"path": "a", "name": "physical", "mine": 1}));
        map.insert("output", end("world"));
        kind
    };
    let kinds: Vec<Value> = kinds.as_array().unwrap().iter().map(ends).collect();
    let axes = json!([{"name": "y", "type": "space", "discrete": false}, {"name": "x", "type": "space"}]);
    json!({"ome": {"version": "0.6rc0", "scene": {
        "coordinateSystems": [{"name": "world", "axes": (axes)}], "coordinateTransformations": (Value::Array(kinds))}}})
}

#[test]
fn what_a_version_cannot_hold_is_named() {
    for version in [Version::V04, Version::V05] {
        let error = to_version(members(&scene()), None, version).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotExpressible);
        assert_eq!(error.location().pointer.as_deref(), Some("/attributes/ome/scene"));
        assert!(error.to_string().contains("has no scenes"), "{error}");
        let written = to_version_without(members(&scene()), None, version).unwrap().unwrap();
        assert_eq!(written.left_out.len(), 1);
    }
    let mut document = NewImage::new("yx").unwrap().level("0", &[1.0, 1.0]).unwrap().document();
    let turn = TransformationKind::Rotation(Numbers::Here(vec![vec![0.0, 1.0], vec![-1.0, 0.0]]));
    let ends = [SystemReference::named("physical"), SystemReference::named("stage")];
    let [input, output] = ends;
    document.images[0].transformations = vec![Transformation::new(turn).between(input, output)];
    let error = document.attributes(Version::V05).unwrap_err();
    assert_eq!(error.location().pointer.as_deref(), Some("/attributes/ome/multiscales/0/coordinateTransformations/0"));
    assert!(error.to_string().contains("rotation"), "{error}");
    assert!(document.attributes(Version::V06).is_ok());
}

#[test]
fn faults_have_places() {
    let check = |attributes: Value, expected: &str| {
        let error = Document::read(members(&attributes), None).unwrap_err();
        assert_eq!(error.location().pointer.as_deref(), Some(expected), "{error}");
    };
    check(json!({"ome": {"version": "0.5", "plate": {"rows": [], "columns": []}}}), "/attributes/ome/plate/wells");
    check(
        json!({"image-label": {"colors": [{"label-value": 1, "rgba": [1, 2]}]}}),
        "/attributes/image-label/colors/0/rgba",
    );
    check(
        json!({"image-label": {"colors": [{"label-value": 1, "rgba": [1, 2, 3, 256]}]}}),
        "/attributes/image-label/colors/0/rgba/3",
    );
    let deep =
        (0..20).fold(json!({"type": "identity"}), |inner, _| json!({"type": "sequence", "transformations": [(inner)]}));
    let scene = json!({"ome": {"version": "0.6", "scene": {"coordinateTransformations": [(deep)]}}});
    let error = Document::read(members(&scene), None).unwrap_err();
    assert!(error.to_string().contains("at most 16 deep"), "{error}");
}

#[test]
fn a_placement_of_all_levels_becomes_a_coordinate_system() {
    let axis = |name: &str| json!({"name": (name), "type": "space", "unit": "micrometer"});
    let level = json!({"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [2, 2]}]});
    let all = json!([{"type": "scale", "scale": [0.1, 1]}, {"type": "translation", "translation": [0, 3]}]);
    let old = json!({"ome": {"version": "0.5", "multiscales": [{
        "axes": [(axis("y")), (axis("x"))], "datasets": [(level)], "coordinateTransformations": (all)}]}});
    let new = to_version(members(&old), None, Version::V06).unwrap().unwrap();
    let image = new.get("ome").unwrap().pointer("/multiscales/0").unwrap();
    let output = image.pointer("/coordinateTransformations/0/output/name").unwrap();
    assert_eq!(output.as_str(), Some("physical"));
    assert_eq!(
        image.pointer("/datasets/0/coordinateTransformations/0/output/name").unwrap().as_str(),
        Some("intrinsic")
    );
    assert_eq!(crate::Multiscales::read(&new).unwrap().unwrap().deviations, [""; 0]);
    let back = Value::Object(to_version(&new, None, Version::V05).unwrap().unwrap());
    assert!(back.semantically_eq(&old), "{back}");
}

#[test]
fn elements_of_levels_lie_at_the_centres_of_blocks() {
    let image = NewImage::new("zyx").unwrap().scale("x", 0.5, "µm").unwrap().translation("x", 10.0).unwrap();
    let image = image.level("0", &[1.0; 3]).unwrap().level("1", &[1.0, 2.0, 3.0]).unwrap();
    let positions = |image: &NewImage| {
        let read = crate::Multiscales::read(&image.attributes(Version::V06).unwrap()).unwrap().unwrap();
        assert_eq!(read.deviations, [""; 0]);
        read.images[0].levels.iter().map(|level| (level.scale.clone(), level.translation.clone())).collect::<Vec<_>>()
    };
    let first = (vec![1.0, 1.0, 0.5], vec![0.0, 0.0, 10.0]);
    // The mean of the elements at 10, 10.5 and 11.
    assert_eq!(positions(&image), [first.clone(), (vec![1.0, 2.0, 1.5], vec![0.0, 0.5, 10.5])]);
    let image = image.reduction(Reduction::Nearest);
    // The first of two elements is picked, and the middle one of three.
    assert_eq!(positions(&image), [first.clone(), (vec![1.0, 2.0, 1.5], vec![0.0, 0.0, 10.5])]);
    // The element in the middle of elements that are each in the middle.
    let coarser = image.clone().level("2", &[1.0, 4.0, 9.0]).unwrap();
    assert_eq!(positions(&coarser)[2], (vec![1.0, 4.0, 4.5], vec![0.0, 0.0, 12.0]));
    // Fewer elements than a block has are left for the second level: of 5 elements the one at 1 and, of 8, that at 3.
    let shapes: [(&str, &[u64]); 3] = [("0", &[1, 5, 8]), ("1", &[1, 2, 1]), ("2", &[1, 1, 1])];
    let factors = [[1.0; 3], [1.0, 3.0, 9.0], [1.0, 9.0, 81.0]];
    let levels = shapes.iter().zip(&factors).map(|((path, _), factors)| (*path, &factors[..]));
    let short =
        NewImage::new("zyx").unwrap().finest_shape(shapes[0].1).levels(levels).unwrap().reduction(Reduction::Nearest);
    assert_eq!(positions(&short)[1].1, [0.0, 1.0, 3.0]);
    assert_eq!(positions(&short)[2].1, [0.0, 1.0, 3.0]);
    // Blocks of no whole number of elements.
    let halves = NewImage::new("zyx").unwrap().level("0", &[1.0; 3]).unwrap().level("1", &[1.0, 2.5, 3.0]).unwrap();
    assert_eq!(positions(&halves.reduction(Reduction::Nearest))[1].1, [0.0, 0.75, 1.0]);
    let text = image.multiscales(Version::V04).unwrap().to_string();
    assert!(text.contains(r#""version":"0.4""#) && text.contains(r#""type":"nearest""#), "{text}");
}

#[test]
fn wrong_images_are_refused() {
    let message = |image: crate::Result<NewImage>| image.unwrap_err().message().to_owned();
    assert!(message(NewImage::new("x")).contains("2 or 3 axes of type space"));
    assert!(message(NewImage::new("xyt")).contains("in the order time, channel, space"));
    assert!(message(NewImage::new("yyx")).contains("a name that no other axis has"));
    let image = || NewImage::new("cyx").unwrap();
    assert!(message(image().scale("z", 1.0, "um")).contains("no axis \"z\", expected one of c, y, x"));
    assert!(message(image().scale("x", 0.0, "um")).contains("a number above 0"));
    assert!(message(image().scale("x", 1.0, "pixel")).contains("the unit \"pixel\", expected one of angstrom"));
    assert!(message(image().level("0", &[1.0])).contains("expected 3 numbers of at least 1"));
    for path in ["", "/", "/0", "a//b", "..", "../x", "a/.", "a/"] {
        assert!(message(image().level(path, &[1.0; 3])).contains("of a level, expected one of its own"), "{path:?}");
    }
    assert_eq!("0.6".parse::<Version>().unwrap(), Version::V06);
    assert!("0.60".parse::<Version>().unwrap_err().message().contains("expected 0.4, 0.5 or 0.6"));
    assert!(message(image().region(&[(0, 1); 2])).contains("of 3 axes"));
    assert!(message(image().level("0", &[1.0; 3]).unwrap().level("0", &[1.0; 3])).contains("one of its own"));
    assert!(image().attributes(Version::V05).unwrap_err().message().contains("without levels"));
}

#[test]
fn scales_are_read_from_texts() {
    let image = NewImage::new("tyx").unwrap().scales("t=1.5e2ms, y=0.1um,x=2").unwrap();
    let image = image.level("0", &[1.0; 3]).unwrap().document().images.remove(0);
    assert_eq!(image.levels[0].placement.scale.as_deref(), Some(&[150.0, 0.1, 2.0][..]));
    let units: Vec<_> = image.axes.iter().map(|axis| axis.axis.unit.as_deref()).collect();
    assert_eq!(units, [Some("millisecond"), Some("micrometer"), None]);
    for wrong in ["x", "x=", "x=um", "x=1e", "x=nan", "x=-1um"] {
        assert_eq!(NewImage::new("yx").unwrap().scales(wrong).unwrap_err().kind(), ErrorKind::Argument, "{wrong}");
    }
}

/// Strategy of images in the form of version 0.5, with what all versions share.
fn image() -> impl Strategy<Value = Value> {
    let numbers = |rank: usize| prop::collection::vec(1_u32..1000, rank);
    let level = move |rank| (numbers(rank), prop::option::of(numbers(rank)));
    let parts = move |rank: usize| {
        let axes = prop::collection::vec(prop::option::of("[a-z]{3,6}"), rank);
        (axes, prop::collection::vec(level(rank), 1..4), prop::option::of(level(rank)), any::<[bool; 4]>())
    };
    (2_usize..6).prop_flat_map(parts).prop_map(|(units, levels, all, has)| {
        let listed = |numbers: &[u32]| Value::from(numbers.iter().map(|&n| f64::from(n) / 8.0).collect::<Vec<f64>>());
        let placed = |(scale, moved): &(Vec<u32>, Option<Vec<u32>>)| {
            let scale = json!({"type": "scale", "scale": (listed(scale))});
            let moved = moved.iter().map(|moved| json!({"type": "translation", "translation": (listed(moved))}));
            Value::Array(std::iter::once(scale).chain(moved).collect())
        };
        let names = &"tczyx"[5 - units.len()..];
        let axis = |(name, unit): (char, Option<String>)| {
            let kind = match name {
                't' => "time",
                'c' => "channel",
                _ => "space",
            };
            let members = [("name", Some(Value::from(name.to_string()))), ("type", Some(kind.into())), ("unit", unit.map(Value::from))];
            Value::Object(Map::from_some(members))
        };
        let axes: Vec<Value> = names.chars().zip(units).map(axis).collect();
        let dataset = |(number, level): (usize, &(Vec<u32>, Option<Vec<u32>>))| {
            json!({"path": (number.to_string()), "coordinateTransformations": (placed(level))})
        };
        let datasets: Vec<Value> = levels.iter().enumerate().map(dataset).collect();
        let image = Map::from_some([
            ("name", has[0].then(|| "n".into())),
            ("axes", Some(axes.into())),
            ("datasets", Some(datasets.into())),
            ("coordinateTransformations", all.as_ref().map(placed)),
            ("type", has[1].then(|| "mean".into())),
            ("metadata", has[1].then(|| json!({"method": "x", "n": [1, 2]}))),
            ("mine", has[2].then(|| 1.into())),
        ]);
        let channel = json!({"label": "a", "color": "00FF7F", "active": true, "family": "linear",
            "window": {"start": 1, "end": 2.5, "min": 0, "max": 255}});
        let ome = Map::from_some([
            ("version", Some("0.5".into())),
            ("multiscales", Some(vec![Value::Object(image)].into())),
            ("omero", has[3].then(|| json!({"channels": [(channel)], "rdefs": {"model": "color"}}))),
            ("image-label", has[2].then(|| json!({"colors": [{"label-value": 1}]}))),
        ]);
        json!({"note": 1, "ome": (Value::Object(ome))})
    })
}

proptest! {
    #[test]
    fn versions_keep_what_they_share(old in image()) {
        let to = |map: &Map, version| to_version(map, None, version).unwrap().unwrap();
        let newest = to(members(&old), Version::V06);
        let oldest = to(&newest, Version::V04);
        prop_assert!(Value::Object(to(&oldest, Version::V05)).semantically_eq(&old));
        // The same from 0.4.
        let again = to(&to(&to(&oldest, Version::V05), Version::V06), Version::V04);
        prop_assert!(Value::Object(again).semantically_eq(&Value::Object(oldest.clone())));
        prop_assert!(Value::Object(to(&oldest, Version::V06)).semantically_eq(&Value::Object(newest.clone())));
        let read = |map: &Map| crate::Multiscales::read(map).unwrap().unwrap();
        prop_assert_eq!(&read(&oldest).images[0].levels.len(), &read(&newest).images[0].levels.len());
        if old.pointer("/ome/multiscales/0/coordinateTransformations").is_none() {
            prop_assert_eq!(&read(&oldest).images, &read(&newest).images);
        }
        prop_assert_eq!(read(&newest).deviations.len(), 0);
    }
}

/// Returns the JSON pointers of all values in a document, below that of `value`.
fn pointers(value: &Value, above: &str) -> Vec<String> {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(name, value)| (zarr_json::pointer::escaped(name), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(number, value)| (number.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    let below = |(name, value): (String, &Value)| {
        let pointer = format!("{above}/{name}");
        std::iter::once(pointer.clone()).chain(pointers(value, &pointer)).collect::<Vec<_>>()
    };
    members.into_iter().flat_map(below).collect()
}

/// Checks that any value in the place of another one is read, or refused with its place, and that what is read is written and read again.
#[test]
fn wrong_values_are_refused_or_kept() {
    let others = r#"[null, -1, 1e300, "", "x", true, [], [1], {}, {"name": "a"}]"#;
    let others = zarr_json::parse(others.as_bytes(), zarr_json::ParseOptions::ALL).unwrap().value;
    let newest = to_version(members(&super::old()), None, Version::V06).unwrap().unwrap();
    let mut read = 0;
    for document in [super::old(), Value::Object(newest), scene()] {
        for pointer in pointers(&document, "") {
            for other in others.as_array().unwrap() {
                let mut changed = members(&document).clone();
                changed.set_pointer(&pointer, other.clone()).unwrap();
                let Ok(Some(found)) = Document::read(&changed, None) else { continue };
                read += 1;
                for version in [Version::V04, Version::V05, Version::V06] {
                    let written = found.attributes_without(version).attributes;
                    let again =
                        Document::read(&written, None).map(|again| again.map(|again| again.attributes(version)));
                    assert!(again.is_ok(), "{pointer} {other}: {again:?}");
                }
            }
        }
    }
    assert!(read > 100, "{read}");
}

/// Returns the files in a folder and the folders in it.
fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns whether a sample breaks a rule of the text: scales of other ranks, coordinate systems without their form.
fn is_contrary(attributes: &Map) -> bool {
    let Some(metadata) = crate::Metadata::find(attributes, None) else { return false };
    let is_faulty =
        crate::Multiscales::read(attributes).is_ok_and(|read| read.is_some_and(|read| !read.deviations.is_empty()));
    is_faulty || crate::Multiscales::read(attributes).is_err() || !crate::scene_faults(&metadata).is_empty()
}

/// Reads and writes valid samples of the specification: `ZARR_NGFF_SAMPLES` is a folder with folders 0.4, 0.5 and 0.6 of JSON files of
/// attributes. Their licence is another one than that of this repository.
#[test]
fn samples_of_the_specification_are_kept() {
    let Ok(folder) = std::env::var("ZARR_NGFF_SAMPLES") else { return };
    let (mut count, mut wrong) = (0, Vec::new());
    for version in [Version::V04, Version::V05, Version::V06] {
        for path in files(&std::path::Path::new(&folder).join(version.to_string())) {
            let text = std::fs::read(&path).unwrap();
            let parsed = zarr_json::parse(&text, zarr_json::ParseOptions::ALL).unwrap().value;
            let name = if parsed.get("series").is_some() { "OME" } else { "labels" };
            if is_contrary(members(&parsed)) {
                continue;
            }
            count += 1;
            let read = Document::read(members(&parsed), Some(name));
            let Ok(Some(document)) = &read else {
                wrong.push(format!("{}: {:?}", path.display(), read.err()));
                continue;
            };
            // Other attributes are none of OME-Zarr.
            let is_own = |name: &str| name == "ome" || crate::metadata::MEMBERS.contains(&name);
            let own = members(&parsed).iter().filter(|(name, _)| is_own(name));
            let own: Map = own.map(|(name, value)| (name.to_owned(), value.clone())).collect();
            let (own, written) = (by_default(&own.into()), by_default(&document.attributes(version).unwrap().into()));
            if !written.semantically_eq(&own) {
                wrong.push(format!("{}:\n{written}\n{own}", path.display()));
            }
        }
    }
    println!("{count} samples");
    assert!(count > 0 && wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
