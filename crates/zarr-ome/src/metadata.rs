//! The members of OME-Zarr among the attributes of a group, known by their form.

use crate::Result;
use crate::version::{self, Version};
use zarr_json::pointer::{At, ValueError, escaped};
use zarr_json::{Map, Value};

/// The attribute that has the members from version 0.5 on.
pub(crate) const OME: &str = "ome";

/// The members that are attributes themselves up to version 0.4.
pub(crate) const MEMBERS: [&str; 8] =
    ["multiscales", "omero", "image-label", "labels", "plate", "well", "bioformats2raw.layout", "series"];

/// The metadata of OME-Zarr in the attributes of a group: up to version 0.4 in several of them, later in the attribute `ome`.
///
/// Attributes belong to it by their form. `multiscales` does not where it is of another convention: an object (GeoZarr), or a list whose
/// items have neither axes nor a version, nor datasets with transformations (map pyramids).
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
    /// The name of the group.
    name: Option<&'a str>,
}

impl<'a> Metadata<'a> {
    /// The metadata in the attributes of a group; `None` if it has none. `name` is the last name in the path of the group: `labels` and
    /// `series` are attributes of the groups `labels` and `OME` alone.
    pub fn find(attributes: &'a Map, name: Option<&'a str>) -> Option<Self> {
        let ome = attributes.get(OME).and_then(Value::as_object);
        let is_ome = |ome: &&Map| ome.contains_key("version") || MEMBERS.iter().any(|name| ome.contains_key(name));
        if let Some(members) = ome.filter(is_ome) {
            return Some(Self { members, is_in_ome: true, name });
        }
        let plain = Self { members: attributes, is_in_ome: false, name };
        plain.names().next().map(|_| plain)
    }

    /// Whether it is in the attribute `ome`, as from version 0.5 on.
    pub fn is_in_ome(&self) -> bool {
        self.is_in_ome
    }

    /// The names of the members that it has.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        MEMBERS.into_iter().filter(move |name| self.value(name).is_some())
    }

    /// A member such as `plate`, with its place in the attributes.
    pub fn member(&self, name: &str) -> Option<At<'a>> {
        let above = if self.is_in_ome { "/attributes/ome" } else { "/attributes" };
        self.value(name).map(|value| At::new(value, &format!("{above}/{}", escaped(name))))
    }

    /// The value of a member that is there and has the form that makes it one.
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

    /// The version of the metadata. Up to 0.4 each member may say it; one that is not said is 0.4, and in the attribute `ome` 0.5.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion) for versions before 0.4, whose levels have no scales, after
    /// 0.6, and for one in the place of the other; [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) if it is no text.
    pub fn version(&self) -> Result<Version> {
        match self.stated().map_err(|error| version::invalid("", &error))? {
            Some(stated) => version::parse(&stated, self.is_in_ome),
            None => Ok(if self.is_in_ome { Version::V05 } else { Version::V04 }),
        }
    }

    /// Whether the version is a draft, of whose rules some are others.
    pub(crate) fn is_draft(&self) -> bool {
        self.stated().ok().flatten().and_then(|stated| stated.value().as_str()).is_some_and(|text| text.contains("dev"))
    }

    /// The version that `version` in the other form has: of those that others derive from one, as SpatialData writes `0.4-dev-spatialdata`
    /// in Zarr v2 and `0.5-dev-spatialdata` in v3, the rest of the text stays.
    pub(crate) fn version_in(&self, version: Version) -> String {
        let stated = self.stated().ok().flatten().and_then(|stated| stated.value().as_str());
        let own = self.version().ok().map(|version| version.to_string());
        let rest = stated.zip(own.as_deref()).and_then(|(stated, own)| stated.strip_prefix(own));
        format!("{version}{}", rest.filter(|rest| rest.starts_with('-')).unwrap_or_default())
    }

    /// Whether no version is said.
    pub fn is_without_version(&self) -> bool {
        matches!(self.stated(), Ok(None))
    }

    /// The version as it is written; `None` if it is not.
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

/// Whether a list has the form of images. An empty one is a list of none.
fn is_multiscales(value: &Value) -> bool {
    let is_level =
        |dataset: &Value| dataset.get("path").is_some() && dataset.get("coordinateTransformations").is_some();
    let is_image = |image: &Value| {
        let datasets = image.get("datasets").and_then(Value::as_array).unwrap_or_default();
        image.get("axes").is_some() || image.get("version").is_some() || datasets.iter().any(is_level)
    };
    value.as_array().is_some_and(|images| images.is_empty() || images.iter().any(is_image))
}
