//! Axes in documents.

use super::members::{Members, object, text};
use crate::axis::{Axis, AxisKind};
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

/// Axis of an image or a coordinate system, with members that the model has not, such as `discrete` or `orientation`.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageAxis {
    /// Name, kind and unit of the axis.
    pub axis: Axis,
    /// Further members of the axis.
    pub other: Map,
}

impl From<Axis> for ImageAxis {
    fn from(axis: Axis) -> Self {
        Self { axis, other: Map::new() }
    }
}

impl ImageAxis {
    pub(super) fn read(at: &At<'_>) -> Result<Self, ValueError> {
        let mut members = Members::of(at)?;
        let name = members.need_text("name")?;
        let (kind, unit) = (AxisKind::of(members.text("type")?.as_deref()), members.text("unit")?);
        Ok(Self { axis: Axis { name, kind, unit }, other: members.rest() })
    }

    pub(super) fn write(&self) -> Value {
        let Axis { name, kind, unit } = &self.axis;
        let members =
            [("name", Some(name.as_str().into())), ("type", kind.name().map(Value::from)), ("unit", text(unit))];
        object(members, &self.other)
    }
}
