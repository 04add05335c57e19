//! Conversion of metadata between versions 0.4 and 0.5, which differ in the places of members and of the version.

use crate::metadata::{MEMBERS, Metadata, OME};
use crate::version::Version;
use crate::{Error, ErrorKind, Result};
use zarr_json::{Map, Value};

/// Members that name the version themselves up to 0.4: the text of the specification says so (SHOULD), or, for `omero`, its example.
const WITH_VERSION: [&str; 5] = ["multiscales", "omero", "image-label", "plate", "well"];

/// Converts the attributes of a group from version 0.4 to 0.5, for Zarr v3: moves the members of OME-Zarr into the attribute `ome`, which
/// names the version. `None` if the attributes have no metadata of version 0.4. `name` is the name of the group, as for [`Metadata::find`].
/// Other attributes are unchanged.
///
/// ```
/// use zarr_json::json;
///
/// let old = json!({"note": 1, "well": {"version": "0.4", "images": [{"path": "0"}]}});
/// let new = zarr_ome::to_v05(old.as_object().unwrap(), None)?.unwrap();
/// let expected = json!({"note": 1, "ome": {"version": "0.5", "well": {"images": [{"path": "0"}]}}});
/// assert_eq!(zarr_json::Value::Object(new.clone()), expected);
/// assert_eq!(zarr_ome::to_v04(&new, None)?.as_ref(), old.as_object());
/// # Ok::<(), zarr_ome::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Metadata::version`]; [`ErrorKind::NotExpressible`] if the attribute `ome` is no object.
pub fn to_v05(attributes: &Map, name: Option<&str>) -> Result<Option<Map>> {
    let Some(metadata) = Metadata::find(attributes, name).filter(|metadata| !metadata.is_in_ome()) else {
        return Ok(None);
    };
    metadata.version()?;
    let mut ome = Map::new();
    ome.insert("version", metadata.version_in(Version::V05));
    let names: Vec<&str> = metadata.names().collect();
    for name in &names {
        if let Some(value) = attributes.get(name) {
            ome.insert(*name, without_version(value.clone()));
        }
    }
    // A conversion from 0.5 may have left unknown members in the attribute `ome`.
    match attributes.get(OME) {
        None => {}
        Some(Value::Object(rest)) => rest.iter().for_each(|(name, value)| drop(ome.insert(name, value.clone()))),
        Some(other) => return Err(in_the_way(OME, other)),
    }
    let mut ome = Some(ome);
    let mut converted = Map::new();
    for (name, value) in attributes.iter() {
        if name != OME && !names.contains(&name) {
            converted.insert(name, value.clone());
        } else if let Some(ome) = ome.take() {
            // The attribute `ome` takes the place of the first converted one.
            converted.insert(OME, ome);
        }
    }
    Ok(Some(converted))
}

/// Converts the attributes of a group from version 0.5 to 0.4, for Zarr v2: makes each member of `ome` an attribute that names the version.
/// `None` if the attributes have no metadata of version 0.5. Unknown members of `ome` remain in `ome`.
///
/// # Errors
/// The errors of [`Metadata::version`]; [`ErrorKind::NotExpressible`] for version 0.6, which 0.4 cannot express, and if attributes with the
/// names of members of `ome` exist.
pub fn to_v04(attributes: &Map, name: Option<&str>) -> Result<Option<Map>> {
    let metadata = Metadata::find(attributes, name).filter(Metadata::is_in_ome);
    let (Some(metadata), Some(Value::Object(ome))) = (metadata, attributes.get(OME)) else { return Ok(None) };
    let version = metadata.version()?;
    if version != Version::V05 {
        let message = format!("OME-Zarr {version} cannot be said by 0.4, which is that of Zarr v2");
        return Err(Error::new(ErrorKind::NotExpressible, message));
    }
    let version = metadata.version_in(Version::V04);
    let mut converted = Map::new();
    for (name, value) in attributes.iter() {
        if name != OME {
            converted.insert(name, value.clone());
            continue;
        }
        let mut rest = Map::new();
        for (member, value) in ome.iter() {
            match (member, MEMBERS.contains(&member)) {
                ("version", _) => {}
                (_, false) => drop(rest.insert(member, value.clone())),
                (_, true) => match attributes.get(member) {
                    Some(other) => return Err(in_the_way(member, other)),
                    None => drop(converted.insert(member, with_version(member, value.clone(), &version))),
                },
            }
        }
        if !rest.is_empty() {
            converted.insert(OME, rest);
        }
    }
    Ok(Some(converted))
}

fn in_the_way(name: &str, value: &Value) -> Error {
    let message = format!("OME-Zarr: found an attribute {name} already, {}", value.excerpt());
    let pointer = format!("/attributes/{}", zarr_json::pointer::escaped(name));
    Error::new(ErrorKind::NotExpressible, message).at(|location| location.pointer = Some(pointer))
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

fn without_version(value: Value) -> Value {
    each_object(value, |map| drop(map.remove("version")))
}

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
