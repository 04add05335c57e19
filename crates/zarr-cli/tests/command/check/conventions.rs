//! Kinds of damage to what conventions ask for: times, and images of OME-Zarr.

use super::damage::{Damage, Expected, edit, expect, found, named, put};
use super::samples::Sample;
use zarr::check::Code;
use zarr::meta::Dialect;
use zarr::meta::json::{Map, Value, json};
use zarr::store::Store;

/// The images of the group `/img` of each store that is made.
pub(super) const MULTISCALES: &str = r#"[{"axes":[{"name":"y","type":"space"},{"name":"x","type":"space"}],"datasets":[
    {"path":"fine","coordinateTransformations":[{"type":"scale","scale":[1,1]}]},
    {"path":"coarse","coordinateTransformations":[{"type":"scale","scale":[2,2]}]}]}]"#;

/// Attributes with images: in version 0.4 for documents of version 2, and else in 0.5.
pub(super) fn attributes(images: &str, version: Option<&str>, is_old: bool) -> Map {
    let images = Value::from_json(images).unwrap();
    let attributes = if is_old {
        json!({"multiscales": (images)})
    } else {
        json!({"ome": {"version": (version.unwrap_or("0.5")), "multiscales": (images)}})
    };
    attributes.as_object().unwrap().clone()
}

/// Further groups of OME-Zarr: a list of labels in the image, and a plate of one well.
pub(super) fn groups(is_old: bool) -> Vec<(&'static str, Map)> {
    let image = || {
        Value::from_json(
            r#"[{"axes":[{"name":"y","type":"space"},{"name":"x","type":"space"}],
                "datasets":[{"path":"0","coordinateTransformations":[{"type":"scale","scale":[1,1]}]}]}]"#,
        )
        .unwrap()
    };
    let plate = json!({
        "rows": [{"name": "A"}, {"name": "B"}], "columns": [{"name": "1"}, {"name": "2"}], "field_count": 1,
        "wells": [{"path": "A/1", "rowIndex": 0, "columnIndex": 0}]
    });
    let colors = json!({"colors": [{"label-value": 1}, {"label-value": 2}]});
    let groups = [
        ("/img/labels", json!({"labels": ["cells"]})),
        ("/img/labels/cells", json!({"multiscales": (image()), "image-label": colors})),
        ("/plate", json!({"plate": plate})),
        ("/plate/A", json!({})),
        ("/plate/A/1", json!({"well": {"images": [{"path": "0"}]}})),
        ("/plate/A/1/0", json!({"multiscales": (image())})),
    ];
    let of_version = |(path, members): (&'static str, Value)| {
        let members = members.as_object().unwrap().clone();
        (path, if is_old { members } else { as_new(members, path) })
    };
    groups.into_iter().map(of_version).collect()
}

fn as_new(members: Map, path: &str) -> Map {
    zarr::ome::to_v05(&members, path.rsplit('/').next()).unwrap().unwrap_or(members)
}

/// Changes a member of OME-Zarr in the attributes of a group; `at` is a pointer from them in version 0.4.
fn member(
    sample: &Sample,
    store: &dyn Store,
    path: &str,
    at: &str,
    value: &str,
    codes: &'static [Code],
) -> Option<Expected> {
    edit_attributes(sample, store, path, |map| {
        let prefix = if map.contains_key("ome") { "/ome" } else { "" };
        map.set_pointer(&format!("{prefix}{at}"), Value::from_json(value).unwrap()).unwrap();
    })?;
    expect(codes, path.to_owned())
}

/// Changes the attributes of a node of [`made`](super::samples::made), and gives the key of the document that has them.
fn edit_attributes(sample: &Sample, store: &dyn Store, path: &str, change: impl FnOnce(&mut Map)) -> Option<String> {
    let node = named(sample, path).filter(|_| sample.name.starts_with("made"))?;
    let mut attributes = node.node.attributes().clone();
    change(&mut attributes);
    match node.dialect {
        Dialect::V2 => Some(put(
            store,
            &format!("{}.zattrs", node.path.key_prefix()),
            Value::from(attributes).to_string().as_bytes(),
        )),
        _ => edit(node, store, |map| drop(map.insert("attributes", attributes))),
    }
}

/// Adds attributes to a node, and gives the place of its attributes: the key of the document, and the pointer to them.
fn attribute(sample: &Sample, store: &dyn Store, path: &str, added: &[(&str, Value)]) -> Option<String> {
    let key = edit_attributes(sample, store, path, |map| {
        added.iter().for_each(|(name, value)| drop(map.insert(*name, value.clone())));
    })?;
    Some(format!("{key}#{}", if key.ends_with(".json") { "/attributes" } else { "" }))
}

/// Replaces a text in the metadata of the image.
fn replace(sample: &Sample, store: &dyn Store, from: &str, to: &str, code: &'static [Code]) -> Option<Expected> {
    let changed = MULTISCALES.replacen(from, to, 1);
    assert_ne!(changed, MULTISCALES, "{from}");
    edit_attributes(sample, store, "/img", |map| *map = attributes(&changed, None, !map.contains_key("ome")))?;
    expect(code, "/img".to_owned())
}

/// All kinds.
pub(super) const ALL: &[Damage] = &[
    found("a calendar is not known", |sample, store| {
        let key = edit_attributes(sample, store, "/g/time", |map| drop(map.insert("calendar", "maya")))?;
        expect(&[Code::BadUnits], format!("{key}#{}/calendar", if key.ends_with(".json") { "/attributes" } else { "" }))
    }),
    found("an image has no axes", |sample, store| replace(sample, store, "axes", "axis", &[Code::BadImage])),
    found("an image is of a version that is not known", |sample, store| {
        let of_old = MULTISCALES.replacen("[{", r#"[{"version":"0.1","#, 1);
        edit_attributes(sample, store, "/img", |map| {
            *map = match map.contains_key("ome") {
                true => attributes(MULTISCALES, Some("0.9"), false),
                false => attributes(&of_old, None, true),
            };
        })?;
        expect(&[Code::UnknownImage], "/img".to_owned())
    }),
    found("an image has one axis of space", |sample, store| {
        replace(sample, store, r#""y","type":"space""#, r#""y","type":"time""#, &[Code::ImageDeviation])
    }),
    found("a level of an image is gone", |sample, store| {
        replace(sample, store, "coarse", "gone", &[Code::MissingLevel])
    }),
    found("a level of an image has another number of dimensions", |sample, store| {
        replace(sample, store, "coarse", "line", &[Code::LevelRank])
    }),
    found("the levels of an image are in another order", |sample, store| {
        replace(sample, store, "\"fine\"", "\"coarser\"", &[Code::LevelOrder])
    }),
    found("a level of an image has no scale", |sample, store| {
        let shift = r#""translation","translation":[2,2]"#;
        replace(sample, store, r#""scale","scale":[2,2]"#, shift, &[Code::LevelScale])
    }),
    found("a level of an image has another data type", |sample, store| {
        replace(sample, store, "coarse", "wide", &[Code::LevelType])
    }),
    found("a level of an image names its dimensions otherwise than the axes", |sample, store| {
        let node = named(sample, "/img/fine").filter(|node| node.dialect == Dialect::V3)?;
        edit(node, store, |map| drop(map.insert("dimension_names", vec!["a", "b"])))?;
        expect(&[Code::LevelNames], "/img".to_owned())
    }),
    found("the version of an image is that of another format", |sample, store| {
        edit_attributes(sample, store, "/img", |map| *map = attributes(MULTISCALES, None, map.contains_key("ome")))?;
        expect(&[Code::ImageVersion], "/img".to_owned())
    }),
    found("a plate has two rows of one name", |sample, store| {
        member(sample, store, "/plate", "/plate/rows/1/name", "\"A\"", &[Code::BadPlate])
    }),
    found("a well has two images of one path", |sample, store| {
        let images = r#"[{"path":"0"},{"path":"0"}]"#;
        member(sample, store, "/plate/A/1", "/well/images", images, &[Code::BadPlate])
    }),
    found("the path of a well has the column before the row", |sample, store| {
        // From 0.5 on that is a fault like any other.
        named(sample, "/plate").filter(|node| node.dialect == Dialect::V2)?;
        member(sample, store, "/plate", "/plate/wells/0/path", "\"1/A\"", &[Code::WellOrder])
    }),
    found("a well of a plate is gone", |sample, store| {
        let well = r#"{"path":"B/2","rowIndex":1,"columnIndex":1}"#;
        member(sample, store, "/plate", "/plate/wells/0", well, &[Code::MissingWell])
    }),
    found("a well has more images than its plate says", |sample, store| {
        let images = r#"[{"path":"0"},{"path":"1"}]"#;
        member(sample, store, "/plate/A/1", "/well/images", images, &[Code::FieldCount])
    }),
    found("an image of a well is gone", |sample, store| {
        member(sample, store, "/plate/A/1", "/well/images/0/path", "\"7\"", &[Code::MissingImage])
    }),
    found("labels have two colours for one value", |sample, store| {
        member(sample, store, "/img/labels/cells", "/image-label/colors/1/label-value", "1", &[Code::BadLabels])
    }),
    found("labels are floats", |sample, store| {
        let at = "/multiscales/0/datasets/0/path";
        member(sample, store, "/img/labels/cells", at, "\"float\"", &[Code::LabelType])
    }),
    found("labels in a list are gone", |sample, store| {
        member(sample, store, "/img/labels", "/labels/0", "\"nuclei\"", &[Code::MissingImage])
    }),
    found("bounds of a coordinate are gone", |sample, store| {
        let place = attribute(sample, store, "/g/time", &[("bounds", json!("time_bounds"))])?;
        expect(&[Code::MissingVariable], format!("{place}/bounds"))
    }),
    found("bounds of a coordinate have another shape", |sample, store| {
        let place = attribute(sample, store, "/g/time", &[("bounds", json!("time"))])?;
        expect(&[Code::BadBounds], format!("{place}/bounds"))
    }),
    found("a grid mapping does not say which it is", |sample, store| {
        let place = attribute(sample, store, "/g/time", &[("grid_mapping", json!("time"))])?;
        expect(&[Code::BadGridMapping], format!("{place}/grid_mapping"))
    }),
    found("a scale factor is no number", |sample, store| {
        let place = attribute(sample, store, "/g/time", &[("scale_factor", json!("ten"))])?;
        expect(&[Code::BadEncoding], format!("{place}/scale_factor"))
    }),
    found("a scale factor is 0", |sample, store| {
        let place = attribute(sample, store, "/g/time", &[("scale_factor", json!(0.0))])?;
        expect(&[Code::BadEncoding], format!("{place}/scale_factor"))
    }),
    found("a mark of missing data is not of the data type", |sample, store| {
        let place = attribute(sample, store, "/g/time", &[("missing_value", json!({"a": 1}))])?;
        expect(&[Code::BadEncoding], format!("{place}/missing_value"))
    }),
    found("flags have fewer meanings than values", |sample, store| {
        let flags = [("flag_values", json!([0, 1, 2])), ("flag_meanings", json!("good bad"))];
        let place = attribute(sample, store, "/g/time", &flags)?;
        expect(&[Code::BadFlags], format!("{place}/flag_values"))
    }),
];
