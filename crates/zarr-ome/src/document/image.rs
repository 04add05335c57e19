//! Images, coordinate systems and scenes in documents.

use super::axes::ImageAxis;
use super::members::{Members, list, list_if_any, object};
use super::placement::Placement;
use super::transformation::Transformation;
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

/// Image in several resolutions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageDocument {
    /// Name of the image.
    pub name: Option<String>,
    /// Axes of the image, in the order of the axes of each level's array.
    pub axes: Vec<ImageAxis>,
    /// Name of the coordinate system of the axes; `None` up to version 0.5, which has no names.
    pub system: Option<String>,
    /// Further members of that coordinate system.
    pub of_system: Map,
    /// Index of that coordinate system in the list of coordinate systems of the document.
    pub place: usize,
    /// Levels, from the finest to the coarsest.
    pub levels: Vec<LevelDocument>,
    /// Placement that follows that of each level: of version 0.4 and 0.5.
    pub all: Option<Placement>,
    /// Method by which coarser levels were computed (`type`), such as `mean`.
    pub downscaling: Option<String>,
    /// Parameters of that method.
    pub metadata: Option<Value>,
    /// Further coordinate systems, since version 0.6.
    pub systems: Vec<CoordinateSystem>,
    /// Transformations between coordinate systems, since version 0.6.
    pub transformations: Vec<Transformation>,
    /// Further members.
    pub other: Map,
}

/// Level of an image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelDocument {
    /// Path of the array, relative to the group.
    pub path: String,
    /// Positions of the elements.
    pub placement: Placement,
    /// Name of the transformation to positions, since version 0.6.
    pub transformation: Option<String>,
    /// Further members of that transformation.
    pub of_transformation: Map,
    /// Further members.
    pub other: Map,
}

/// Coordinate system, since version 0.6.
#[derive(Clone, Debug, PartialEq)]
pub struct CoordinateSystem {
    /// Name of the coordinate system.
    pub name: String,
    /// Axes of the coordinate system.
    pub axes: Vec<ImageAxis>,
    /// Further members.
    pub other: Map,
}

/// Transformations between images below a group, since version 0.6.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Coordinate systems of the scene.
    pub systems: Vec<CoordinateSystem>,
    /// Transformations between coordinate systems of the scene and of images.
    pub transformations: Vec<Transformation>,
    /// Further members.
    pub other: Map,
}

impl CoordinateSystem {
    pub(super) fn read(at: &At<'_>) -> Result<Self, ValueError> {
        let mut members = Members::of(at)?;
        let name = members.need_text("name")?;
        let axes = members.need("axes")?;
        Ok(Self { name, axes: super::members::items(&axes, ImageAxis::read)?, other: members.rest() })
    }

    pub(super) fn write(&self) -> Value {
        let members = [("name", Some(self.name.as_str().into())), ("axes", Some(list(&self.axes, ImageAxis::write)))];
        object(members, &self.other)
    }
}

impl Scene {
    pub(super) fn read(at: &At<'_>) -> Result<Self, ValueError> {
        let mut members = Members::of(at)?;
        let systems = members.list("coordinateSystems", CoordinateSystem::read)?;
        let transformations = members.list("coordinateTransformations", Transformation::read)?;
        Ok(Self { systems, transformations, other: members.rest() })
    }

    pub(super) fn write(&self) -> Value {
        let members = [
            ("coordinateSystems", list_if_any(&self.systems, CoordinateSystem::write)),
            ("coordinateTransformations", Some(list(&self.transformations, Transformation::write))),
        ];
        object(members, &self.other)
    }
}
