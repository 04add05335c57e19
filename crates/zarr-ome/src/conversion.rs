//! Conversion of metadata between versions. 0.4 and 0.5 differ in the places of members and of the version, so nothing in the members is
//! read; 0.6 has other images, which are read and written as a [`Document`].

use crate::attributes::{not_expressible, spread, without_version};
use crate::document::{Document, Written};
use crate::metadata::{Metadata, OME};
use crate::version::Version;
use crate::{Error, ErrorKind, Result};
use zarr_json::{Map, Value};

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
        for (member, value) in spread(ome, &version).iter() {
            match attributes.get(member).filter(|_| member != OME) {
                Some(other) => return Err(in_the_way(member, other)),
                None => drop(converted.insert(member, value.clone())),
            }
        }
    }
    Ok(Some(converted))
}

/// Converts the attributes of a group to another version of OME-Zarr; `None` if the attributes have no metadata, or have that of `version`
/// already. Attributes that are not of OME-Zarr are unchanged. `name` is the name of the group, as for [`Metadata::find`].
///
/// A conversion from 0.4 to 0.5, to 0.6 and back keeps everything but explicit identities. From 0.6 to older versions, names of coordinate
/// systems and of transformations are dropped.
///
/// ```
/// use zarr_json::json;
/// use zarr_ome::{Version, to_version};
///
/// let axis = |name: &str| json!({"name": (name), "type": "space"});
/// let level = json!({"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [2, 2]}]});
/// let old = json!({"multiscales": [{"version": "0.4", "axes": [(axis("y")), (axis("x"))], "datasets": [(level)]}]});
/// let new = to_version(old.as_object().unwrap(), None, Version::V06)?.unwrap();
/// let level = new.get("ome").unwrap().pointer("/multiscales/0/datasets/0/coordinateTransformations/0").unwrap();
/// assert_eq!(level.to_string(), r#"{"type":"scale","scale":[2,2],"input":{"path":"0"},"output":{"name":"physical"}}"#);
/// assert_eq!(to_version(&new, None, Version::V04)?.as_ref(), old.as_object());
/// # Ok::<(), zarr_ome::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Metadata::version`], [`to_v05`] and [`Document::read`]; [`ErrorKind::NotExpressible`] with the JSON pointer of a part that
/// `version` cannot hold.
pub fn to_version(attributes: &Map, name: Option<&str>, version: Version) -> Result<Option<Map>> {
    let Some(written) = to_version_without(attributes, name, version)? else { return Ok(None) };
    match written.left_out.first() {
        None => Ok(Some(written.attributes)),
        Some(part) => Err(not_expressible(version, part)),
    }
}

/// Converts as [`to_version`] does, and leaves out the parts that `version` cannot hold.
///
/// # Errors
/// As [`to_version`], but for these parts.
pub fn to_version_without(attributes: &Map, name: Option<&str>, version: Version) -> Result<Option<Written>> {
    let Some(metadata) = Metadata::find(attributes, name) else { return Ok(None) };
    let from = metadata.version()?;
    let whole = |attributes: Option<Map>| attributes.map(|attributes| Written { attributes, left_out: Vec::new() });
    match (from, version) {
        (from, to) if from == to => return Ok(None),
        (Version::V04, Version::V05) => return to_v05(attributes, name).map(whole),
        (Version::V05, Version::V04) => return to_v04(attributes, name).map(whole),
        _ => {}
    }
    let Some(document) = Document::read(attributes, name)? else { return Ok(None) };
    let in_ome = if version == Version::V04 { Version::V05 } else { version };
    let written = document.attributes_without(in_ome);
    let mut converted = match metadata.is_in_ome() {
        true => attributes.clone(),
        false => to_v05(attributes, name)?.unwrap_or_default(),
    };
    for (name, value) in written.attributes.iter() {
        converted.insert(name, value.clone());
    }
    if version == Version::V04 {
        converted = to_v04(&converted, name)?.unwrap_or(converted);
    }
    Ok(Some(Written { attributes: converted, left_out: written.left_out }))
}

fn in_the_way(name: &str, value: &Value) -> Error {
    let message = format!("OME-Zarr: found an attribute {name} already, {}", value.excerpt());
    let pointer = format!("/attributes/{}", zarr_json::pointer::escaped(name));
    Error::new(ErrorKind::NotExpressible, message).at(|location| location.pointer = Some(pointer))
}
