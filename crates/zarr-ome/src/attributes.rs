//! Attributes of version 0.4, made of the members of the attribute `ome`.

use crate::metadata::{MEMBERS, OME};
use crate::version::Version;
use crate::{Error, ErrorKind};
use zarr_json::pointer::ValueError;
use zarr_json::{Map, Value};

/// Members that name the version themselves up to 0.4: the text of the specification says so (SHOULD), or, for `omero`, its example.
const WITH_VERSION: [&str; 5] = ["multiscales", "omero", "image-label", "plate", "well"];

/// Returns the error about a part of metadata that a version cannot hold.
pub(crate) fn not_expressible(version: Version, part: &ValueError) -> Error {
    let message = format!("OME-Zarr {version} cannot hold it: found {}, expected {}", part.found(), part.expected());
    Error::new(ErrorKind::NotExpressible, message).at(|location| location.pointer = Some(part.pointer().to_owned()))
}

/// Makes attributes of version 0.4 of the members of the attribute `ome`. Unknown members remain in `ome`.
pub(crate) fn spread(ome: &Map, version: &str) -> Map {
    let (mut converted, mut rest) = (Map::new(), Map::new());
    for (member, value) in ome.iter() {
        match MEMBERS.contains(&member) {
            true => drop(converted.insert(member, with_version(member, value.clone(), version))),
            false if member == "version" => {}
            false => drop(rest.insert(member, value.clone())),
        }
    }
    if !rest.is_empty() {
        converted.insert(OME, rest);
    }
    converted
}

/// Calls `change` with each object of a member that may name the version: the object itself, or those in the list.
fn each_object(mut value: Value, change: impl Fn(&mut Map)) -> Value {
    match &mut value {
        Value::Object(map) => change(map),
        Value::Array(items) => items.iter_mut().for_each(|item| {
            if let Value::Object(map) = item {
                change(map);
            }
        }),
        _ => {}
    }
    value
}

/// Returns a member without the version in its objects.
pub(crate) fn without_version(value: Value) -> Value {
    each_object(value, |map| drop(map.remove("version")))
}

/// Returns the member `name` with the version in its objects, if the objects of the member have one.
fn with_version(name: &str, value: Value, version: &str) -> Value {
    match WITH_VERSION.contains(&name) {
        true => each_object(value, |map| {
            let mut versioned = Map::new();
            versioned.insert("version", version);
            map.iter()
                .filter(|(name, _)| *name != "version")
                .for_each(|(name, value)| drop(versioned.insert(name, value.clone())));
            *map = versioned;
        }),
        false => value,
    }
}
