//! Metadata of a new image among the attributes that its group has.

use super::NewImage;
use crate::metadata::{MEMBERS, Metadata, OME, SCENE};
use crate::multiscales::Multiscales;
use crate::version::Version;
use crate::{Error, ErrorKind, Result};
use zarr_json::pointer::escaped;
use zarr_json::{Map, Value};

/// Members that an image has, and that those of another one replace.
const OF_IMAGE: [&str; 2] = ["multiscales", "omero"];

impl NewImage {
    /// Returns the attributes of a group that has `attributes`, with those of the image. `name` is the last name in the path of the group, as
    /// for [`Metadata::find`].
    ///
    /// Metadata of an image whose levels are all levels of this one is replaced, with its channels. Other attributes stay.
    ///
    /// ```
    /// use zarr_json::json;
    /// use zarr_ome::{NewImage, Version};
    ///
    /// let image = NewImage::new("yx")?.level("0", &[1.0, 1.0])?;
    /// let group = image.written_into(json!({"note": 1}).as_object().unwrap(), None, Version::V05)?;
    /// assert!(group.contains_key("note") && group.contains_key("ome"));
    /// // Level 1 of an image that is there would be lost.
    /// let more = image.clone().level("1", &[2.0, 2.0])?.attributes(Version::V05)?;
    /// assert!(image.written_into(&more, None, Version::V05).is_err());
    /// # Ok::<(), zarr_ome::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`attributes`](Self::attributes); [`ErrorKind::Exists`] if metadata would be lost: of an image of other levels, of labels, a plate, a
    /// well or a scene, faulty metadata, and attributes of the same names of other conventions, such as `multiscales` of GeoZarr.
    pub fn written_into(&self, attributes: &Map, name: Option<&str>, version: Version) -> Result<Map> {
        let own = self.attributes(version)?;
        let mut merged = attributes.clone();
        if let Some(metadata) = Metadata::find(attributes, name) {
            self.check_replaced(&metadata, attributes)?;
            match attributes.get(OME).and_then(Value::as_object).filter(|_| metadata.is_in_ome()) {
                Some(ome) => {
                    let mut rest = ome.clone();
                    ["version"].iter().chain(&MEMBERS).for_each(|name| drop(rest.remove(name)));
                    merged.remove(OME);
                    if !rest.is_empty() {
                        merged.insert(OME, rest);
                    }
                }
                None => {
                    let is_own = |name: &&&str| metadata.member(name).is_some();
                    OF_IMAGE.iter().filter(is_own).for_each(|name| drop(merged.remove(name)));
                }
            }
        }
        for (name, value) in own.iter() {
            let value = match (merged.get(name), value) {
                (None, value) => value.clone(),
                // Members that the specification does not define stay.
                (Some(Value::Object(rest)), Value::Object(own)) if name == OME => {
                    let mut whole = own.clone();
                    rest.iter().for_each(|(name, value)| drop(whole.insert(name, value.clone())));
                    Value::Object(whole)
                }
                (Some(other), _) => {
                    let message = format!("found an attribute {name} of another convention, {}", other.excerpt());
                    return Err(exists(&format!("/attributes/{}", escaped(name)), message));
                }
            };
            merged.insert(name, value);
        }
        Ok(merged)
    }

    /// Checks that the metadata is that of one image whose levels are all levels of this one.
    fn check_replaced(&self, metadata: &Metadata<'_>, attributes: &Map) -> Result<()> {
        let members = MEMBERS.iter().chain([&SCENE]).filter(|name| !OF_IMAGE.contains(name));
        let mut members = members.filter_map(|name| Some((name, metadata.member(name)?)));
        if let Some((name, at)) = members.find(|(_, at)| !at.value().is_null()) {
            return Err(exists(&at.pointer(), format!("found {name} of OME-Zarr, expected no metadata or an image")));
        }
        let read = Multiscales::read(attributes).map_err(|error| {
            let pointer = error.location().pointer.clone().unwrap_or_default();
            exists(&pointer, format!("found faulty metadata of an image, which would be replaced: {}", error.message()))
        })?;
        let Some(read) = read else { return Ok(()) };
        let there: Vec<&str> = read.level_names().map(|(path, _)| path).collect();
        match read.images.len() == 1 && there.iter().all(|path| self.paths().any(|own| own == *path)) {
            true => Ok(()),
            false => {
                let message = format!("found an image of the levels {}, expected no image", there.join(", "));
                Err(exists("/attributes", message))
            }
        }
    }
}

fn exists(pointer: &str, message: String) -> Error {
    Error::new(ErrorKind::Exists, message).at(|location| location.pointer = Some(pointer.to_owned()))
}
