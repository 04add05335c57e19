//! Metadata of OME-Zarr of a group as one model of all versions, to read, to change and to write.
//!
//! The versions differ at the edge alone: `plain.rs` has the images of 0.4 and 0.5, `systems.rs` those of 0.6, and
//! [`to_version`](crate::to_version) the places of members. Members that the specification does not define are kept where they are.

mod axes;
mod display;
mod image;
mod members;
mod placement;
mod plain;
mod screen;
mod segments;
mod systems;
mod transformation;
mod windows;

pub use axes::ImageAxis;
pub use display::{Display, DisplayedChannel, Window};
pub use image::{CoordinateSystem, ImageDocument, LevelDocument, Scene};
pub use placement::Placement;
pub use screen::{NamedPart, PlateAcquisition, PlateDocument, PlateWell, WellDocument, WellImage};
pub use segments::{LabelColor, LabelDocument, LabelProperties};
pub use transformation::{Numbers, PartialTransformation, SystemReference, Transformation, TransformationKind};
pub use windows::with_windows;

use crate::Result;
use crate::attributes;
use crate::metadata::{MEMBERS, Metadata, OME, SCENE};
use crate::version::{self, Version};
use members::{extended, items, texts};
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

/// Metadata of OME-Zarr of a group: images, labels, plates, wells, scenes.
///
/// ```
/// use zarr_json::json;
/// use zarr_ome::{Version, document::Document};
///
/// let level = json!({"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [0.5, 0.5]}]});
/// let axis = |name: &str| json!({"name": (name), "type": "space", "unit": "micrometer"});
/// let attributes = json!({"ome": {"version": "0.5", "multiscales": [{"axes": [(axis("y")), (axis("x"))], "datasets": [(level)]}]}});
/// let mut document = Document::read(attributes.as_object().unwrap(), None)?.unwrap();
/// document.images[0].name = Some("cells".to_owned());
///
/// let newest = zarr_json::Value::Object(document.attributes(Version::V06)?);
/// assert_eq!(newest.pointer("/ome/multiscales/0/coordinateSystems/0/axes/1/name").unwrap().as_str(), Some("x"));
/// # Ok::<(), zarr_ome::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Document {
    /// Images of the group (`multiscales`); empty if it is no image.
    pub images: Vec<ImageDocument>,
    /// Display of the channels of the images (`omero`).
    pub display: Option<Display>,
    /// Meanings and colours of values, for an image of labels (`image-label`).
    pub label: Option<LabelDocument>,
    /// Paths of label images below this group (`labels`).
    pub labels: Option<Vec<String>>,
    /// Wells of a plate (`plate`).
    pub plate: Option<PlateDocument>,
    /// Images of a well (`well`).
    pub well: Option<WellDocument>,
    /// Layout of groups of images as bioformats2raw writes them (`bioformats2raw.layout`), which is 3.
    pub layout: Option<i128>,
    /// Paths of the images in that layout, in order (`series`).
    pub series: Option<Vec<String>>,
    /// Transformations between images below the group (`scene`), since version 0.6.
    pub scene: Option<Scene>,
    /// Members of the attribute `ome` that the specification does not define.
    pub other: Map,
    /// Version as it was read, with its suffix, such as `0.6rc0`; `None` for new metadata.
    stated: Option<(Version, String)>,
}

/// Attributes of a group in a version, and the parts of the metadata that the version cannot hold.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Written {
    /// Attributes of the group: the attribute `ome` since version 0.5, several before.
    pub attributes: Map,
    /// Parts that the version cannot hold and that are left out, each with a JSON pointer.
    pub left_out: Vec<ValueError>,
}

impl Document {
    /// Reads the metadata in the attributes of a group; `None` if there is none. `name` is the last name in the path of the group, as for
    /// [`Metadata::find`].
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) with the JSON pointer of a member that has not the form of the specification;
    /// [`ErrorKind::UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion) for versions before 0.4 and after 0.6.
    pub fn read(attributes: &Map, name: Option<&str>) -> Result<Option<Self>> {
        let Some(metadata) = Metadata::find(attributes, name) else { return Ok(None) };
        let version = metadata.version()?;
        let read = Self::of(&metadata, version, attributes);
        read.map(Some).map_err(|error| version::invalid(&format!(" {version}"), &error))
    }

    fn of(metadata: &Metadata<'_>, version: Version, attributes: &Map) -> Result<Self, ValueError> {
        let member = |name: &str| metadata.member(name).filter(|at| !at.value().is_null());
        let list = |name: &str| member(name).map(|at| texts(&at)).transpose();
        let image = |at: &At<'_>| match version {
            Version::V06 => systems::read(at),
            _ => plain::read(at),
        };
        if let Some(list) = member("multiscales").filter(|list| list.value().as_array().is_some_and(<[_]>::is_empty)) {
            return Err(list.invalid("at least one image"));
        }
        let mut other = attributes.get(OME).and_then(Value::as_object).cloned().unwrap_or_default();
        if metadata.is_in_ome() {
            ["version", SCENE].iter().chain(&MEMBERS).for_each(|name| drop(other.remove(name)));
        }
        let mut document = Self {
            images: member("multiscales").map(|at| items(&at, image)).transpose()?.unwrap_or_default(),
            display: member("omero").map(|at| Display::read(&at)).transpose()?,
            label: member("image-label").map(|at| LabelDocument::read(&at)).transpose()?,
            labels: list("labels")?,
            plate: member("plate").map(|at| PlateDocument::read(&at)).transpose()?,
            well: member("well").map(|at| WellDocument::read(&at)).transpose()?,
            layout: member("bioformats2raw.layout").map(|at| crate::faults::integer(&at, 0)).transpose()?,
            series: list("series")?,
            scene: member(SCENE).map(|at| Scene::read(&at)).transpose()?,
            other,
            stated: metadata.stated_text().map(|text| (version, text.to_owned())),
        };
        if version == Version::V04 {
            document.others().for_each(|other| drop(other.remove("version")));
        }
        Ok(document)
    }

    /// Returns the further members of each member that names the version itself in version 0.4.
    fn others(&mut self) -> impl Iterator<Item = &mut Map> {
        let images = self.images.iter_mut().map(|image| &mut image.other);
        let display = self.display.iter_mut().map(|display| &mut display.other);
        let label = self.label.iter_mut().map(|label| &mut label.other);
        let plate = self.plate.iter_mut().map(|plate| &mut plate.other);
        images.chain(display).chain(label).chain(plate).chain(self.well.iter_mut().map(|well| &mut well.other))
    }

    /// Returns the attributes of the group in a version.
    ///
    /// # Errors
    /// [`ErrorKind::NotExpressible`](crate::ErrorKind::NotExpressible) with the JSON pointer of a part that the version cannot hold.
    pub fn attributes(&self, version: Version) -> Result<Map> {
        let Written { attributes, left_out } = self.attributes_without(version);
        match left_out.first() {
            None => Ok(attributes),
            Some(part) => Err(attributes::not_expressible(version, part)),
        }
    }

    /// Returns the attributes of the group in a version, without the parts that the version cannot hold, and these parts.
    pub fn attributes_without(&self, version: Version) -> Written {
        let mut left_out = Vec::new();
        let newest = version == Version::V06;
        let images = self.images.iter().enumerate().map(|(number, image)| {
            let pointer = format!("/attributes/ome/multiscales/{number}");
            match newest {
                true => systems::write(image, &pointer, &mut left_out),
                false => plain::write(image, &pointer, version, &mut left_out),
            }
        });
        let images: Vec<Value> = images.collect();
        let list = |list: &Option<Vec<String>>| list.as_ref().map(|list| Value::from(list.clone()));
        let scene = self.scene.as_ref().map(Scene::write);
        if let Some(scene) = scene.as_ref().filter(|_| !newest) {
            left_out.push(
                At::new(scene, "/attributes/ome/scene").invalid(format!("version 0.6, since {version} has no scenes")),
            );
        }
        let members = [
            ("version", Some(Value::from(self.version_in(version)))),
            ("bioformats2raw.layout", self.layout.map(Value::from)),
            ("multiscales", (!images.is_empty()).then_some(Value::Array(images))),
            ("omero", self.display.as_ref().map(Display::write)),
            ("image-label", self.label.as_ref().map(LabelDocument::write)),
            ("labels", list(&self.labels)),
            ("plate", self.plate.as_ref().map(PlateDocument::write)),
            ("well", self.well.as_ref().map(WellDocument::write)),
            ("series", list(&self.series)),
            (SCENE, scene.filter(|_| newest)),
        ];
        let ome = extended(members, &self.other);
        let attributes = match version {
            Version::V04 => attributes::spread(&ome, &self.version_in(version)),
            _ => Map::from([(OME, Value::Object(ome))]),
        };
        Written { attributes, left_out }
    }

    /// Returns the name of the version to write: as it was read if it is the same version, and with the suffix of versions that others
    /// derive (`-dev-spatialdata`).
    fn version_in(&self, version: Version) -> String {
        match &self.stated {
            Some((own, text)) if *own == version => text.clone(),
            Some((own, text)) => {
                let rest = text.strip_prefix(&own.to_string()).filter(|rest| rest.starts_with('-'));
                format!("{version}{}", rest.unwrap_or_default())
            }
            None => version.to_string(),
        }
    }
}
