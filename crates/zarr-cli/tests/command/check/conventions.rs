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
];
