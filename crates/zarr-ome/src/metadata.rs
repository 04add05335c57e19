//! Members of OME-Zarr among the attributes of a group, identified by their form.

use crate::Result;
use crate::version::{self, Version};
use zarr_json::pointer::{At, ValueError, escaped};
use zarr_json::{Map, Value};

/// Attribute that has the members since version 0.5.
pub(crate) const OME: &str = "ome";

/// Members that are attributes themselves up to version 0.4.
pub(crate) const MEMBERS: [&str; 8] =
    ["multiscales", "omero", "image-label", "labels", "plate", "well", "bioformats2raw.layout", "series"];

/// Member of scenes, since version 0.6, only in the attribute [`OME`].
pub(crate) const SCENE: &str = "scene";

/// Metadata of OME-Zarr in the attributes of a group: up to version 0.4 in several attributes, later in the attribute `ome`.
///
/// Attributes are metadata of OME-Zarr by their form. `multiscales` may belong to other conventions: as an object (GeoZarr), or as a list
/// whose items have neither axes nor a version, nor datasets with transformations (map pyramids).
///
/// ```
/// use zarr_json::json;
/// use zarr_ome::Metadata;
///
/// let plate = json!({"plate": {"rows": [], "columns": [], "wells": []}});
/// let metadata = Metadata::find(plate.as_object().unwrap(), None).unwrap();
/// assert!(!metadata.is_in_ome() && metadata.member("plate").is_some());
/// let pyramid = json!({"multiscales": [{"datasets": [{"path": "0", "pixels_per_tile": 128}], "type": "reduce"}]});
/// assert!(Metadata::find(pyramid.as_object().unwrap(), None).is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Metadata<'a> {
    members: &'a Map,
    is_in_ome: bool,
    /// Last name in the path of the group; `None` if it is unknown.
    name: Option<&'a str>,
}

impl<'a> Metadata<'a> {
    /// Finds the metadata in the attributes of a group; `None` if there is none. `name` is the last name in the path of the group: only in
    /// groups called `labels` and `OME` are the attributes `labels` and `series` metadata of OME-Zarr.
    pub fn find(attributes: &'a Map, name: Option<&'a str>) -> Option<Self> {
        let ome = attributes.get(OME).and_then(Value::as_object);
        let is_ome = |ome: &&Map| ome.contains_key("version") || MEMBERS.iter().any(|name| ome.contains_key(name));
        if let Some(members) = ome.filter(is_ome) {
            return Some(Self { members, is_in_ome: true, name });
        }
        let plain = Self { members: attributes, is_in_ome: false, name };
        plain.names().next().map(|_| plain)
    }

    /// Returns whether the metadata is in the attribute `ome`, as since version 0.5.
    pub fn is_in_ome(&self) -> bool {
        self.is_in_ome
    }

    /// Returns the names of the members of OME-Zarr that the metadata has.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        MEMBERS.into_iter().filter(move |name| self.value(name).is_some())
    }

    /// Returns a member such as `plate`, with its place in the attributes; `None` if there is none of the right form.
    pub fn member(&self, name: &str) -> Option<At<'a>> {
        let above = if self.is_in_ome { "/attributes/ome" } else { "/attributes" };
        self.value(name).map(|value| At::new(value, &format!("{above}/{}", escaped(name))))
    }

    /// Returns the value of a member if it has the form of metadata of OME-Zarr; `None` otherwise.
    fn value(&self, name: &str) -> Option<&'a Value> {
        let value = self.members.get(name)?;
        let has = |members: &[&str]| members.iter().any(|name| value.get(name).is_some());
        let is_text = |value: &Value| value.as_str().is_some();
        let is_list = || value.as_array().is_some_and(|items| items.is_empty() || items.iter().any(is_text));
        let is_list_in = |group: &str| self.name == Some(group) && is_list();
        let is_own = match name {
            _ if self.is_in_ome => true,
            "multiscales" => is_multiscales(value),
            "omero" => value.as_object().is_some() && self.value("multiscales").is_some(),
            "image-label" => value.as_object().is_some(),
            "plate" => has(&["rows", "columns", "wells"]),
            "well" => has(&["images"]),
            "labels" => is_list_in("labels"),
            "series" => is_list_in("OME"),
            other => MEMBERS.contains(&other),
        };
        is_own.then_some(value)
    }

    /// Returns the version of the metadata. Up to 0.4 each member may name the version. Without a named version it is 0.5 in the attribute
    /// `ome`, and 0.4 elsewhere.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion) for versions before 0.4, whose levels have no scales, for
    /// versions after 0.6, and for a version in the wrong place; [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) if the
    /// version is no string.
    pub fn version(&self) -> Result<Version> {
        match self.stated().map_err(|error| version::invalid("", &error))? {
            Some(stated) => version::parse(&stated, self.is_in_ome),
            None => Ok(if self.is_in_ome { Version::V05 } else { Version::V04 }),
        }
    }

    /// Returns whether the version is a draft, some rules of which differ from those of the final version.
    pub(crate) fn is_draft(&self) -> bool {
        self.stated().ok().flatten().and_then(|stated| stated.value().as_str()).is_some_and(|text| text.contains("dev"))
    }

    /// Returns the name of `version` for converted metadata. A suffix of the named version is preserved, for example of versions that
    /// others derive: SpatialData writes `0.4-dev-spatialdata` in Zarr v2 and `0.5-dev-spatialdata` in v3.
    pub(crate) fn version_in(&self, version: Version) -> String {
        let stated = self.stated_text();
        let own = self.version().ok().map(|version| version.to_string());
        let rest = stated.zip(own.as_deref()).and_then(|(stated, own)| stated.strip_prefix(own));
        format!("{version}{}", rest.filter(|rest| rest.starts_with('-')).unwrap_or_default())
    }

    /// Returns whether the metadata names no version.
    pub fn is_without_version(&self) -> bool {
        matches!(self.stated(), Ok(None))
    }

    /// Returns the text of the named version; `None` if the metadata names none.
    pub(crate) fn stated_text(&self) -> Option<&'a str> {
        self.stated().ok().flatten().and_then(|stated| stated.value().as_str())
    }

    /// Returns the version as it is written; `None` if the metadata names none.
    fn stated(&self) -> Result<Option<At<'a>>, ValueError> {
        if self.is_in_ome {
            let stated = self.members.get("version").filter(|version| !version.is_null());
            return Ok(stated.map(|version| At::new(version, "/attributes/ome/version")));
        }
        if let Some(list) = self.member("multiscales") {
            return Ok(list.items()?.first().and_then(|image| image.get_non_null("version")));
        }
        let of_member = |name: &str| self.member(name)?.get_non_null("version");
        Ok(["plate", "well", "image-label"].into_iter().find_map(of_member))
    }
}

/// Returns whether a list has the form of the metadata `multiscales`. An empty list does.
fn is_multiscales(value: &Value) -> bool {
    let is_level =
        |dataset: &Value| dataset.get("path").is_some() && dataset.get("coordinateTransformations").is_some();
    let is_image = |image: &Value| {
        let datasets = image.get("datasets").and_then(Value::as_array).unwrap_or_default();
        image.get("axes").is_some() || image.get("version").is_some() || datasets.iter().any(is_level)
    };
    value.as_array().is_some_and(|images| images.is_empty() || images.iter().any(is_image))
}
