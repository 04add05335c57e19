//! Plates and wells: the members `plate` and `well`.

use super::members::{Members, list, list_if_any, object, text};
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

/// Wells of a plate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlateDocument {
    /// Name of the plate.
    pub name: Option<String>,
    /// Rows of the plate.
    pub rows: Vec<NamedPart>,
    /// Columns of the plate.
    pub columns: Vec<NamedPart>,
    /// Wells that are there.
    pub wells: Vec<PlateWell>,
    /// Acquisitions of images.
    pub acquisitions: Vec<PlateAcquisition>,
    /// Greatest number of images of a well (`field_count`).
    pub field_count: Option<i128>,
    /// Further members.
    pub other: Map,
}

/// Row or column of a plate.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPart {
    /// Name, of letters and digits.
    pub name: String,
    /// Further members.
    pub other: Map,
}

/// Well of a plate.
#[derive(Clone, Debug, PartialEq)]
pub struct PlateWell {
    /// Path of the group of the well, relative to the plate: `A/1`.
    pub path: String,
    /// Index of its row.
    pub row: i128,
    /// Index of its column.
    pub column: i128,
    /// Further members.
    pub other: Map,
}

/// Acquisition of images of a plate.
#[derive(Clone, Debug, PartialEq)]
pub struct PlateAcquisition {
    /// Id of the acquisition, which wells refer to.
    pub id: i128,
    /// Further members, such as `name`, `starttime` or `maximumfieldcount`.
    pub other: Map,
}

/// Images of a well.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WellDocument {
    /// Images of the well, which are its fields of view.
    pub images: Vec<WellImage>,
    /// Further members.
    pub other: Map,
}

/// Image of a well.
#[derive(Clone, Debug, PartialEq)]
pub struct WellImage {
    /// Path of the group of the image, relative to the well.
    pub path: String,
    /// Id of the acquisition of the image.
    pub acquisition: Option<i128>,
    /// Further members.
    pub other: Map,
}

impl PlateDocument {
    pub(super) fn read(at: &At<'_>) -> Result<Self, ValueError> {
        let mut members = Members::of(at)?;
        let mut part = |name: &str| {
            let list = members.need(name)?;
            super::members::items(&list, NamedPart::read)
        };
        let (rows, columns) = (part("rows")?, part("columns")?);
        let wells = members.need("wells")?;
        Ok(Self {
            name: members.text("name")?,
            rows,
            columns,
            wells: super::members::items(&wells, PlateWell::read)?,
            acquisitions: members.list("acquisitions", PlateAcquisition::read)?,
            field_count: members.integer("field_count", 1)?,
            other: members.rest(),
        })
    }

    pub(super) fn write(&self) -> Value {
        let part = |part: &NamedPart| object([("name", Some(part.name.as_str().into()))], &part.other);
        let acquisition = |one: &PlateAcquisition| object([("id", Some(one.id.into()))], &one.other);
        let members = [
            ("name", text(&self.name)),
            ("rows", Some(list(&self.rows, part))),
            ("columns", Some(list(&self.columns, part))),
            ("wells", Some(list(&self.wells, PlateWell::write))),
            ("acquisitions", list_if_any(&self.acquisitions, acquisition)),
            ("field_count", self.field_count.map(Value::from)),
        ];
        object(members, &self.other)
    }
}

impl NamedPart {
    fn read(at: &At<'_>) -> Result<Self, ValueError> {
        let mut members = Members::of(at)?;
        Ok(Self { name: members.need_text("name")?, other: members.rest() })
    }
}

impl PlateWell {
    fn read(at: &At<'_>) -> Result<Self, ValueError> {
        let mut members = Members::of(at)?;
        Ok(Self {
            path: members.need_text("path")?,
            row: members.need_integer("rowIndex", 0)?,
            column: members.need_integer("columnIndex", 0)?,
            other: members.rest(),
        })
    }

    fn write(&self) -> Value {
        let members = [
            ("path", Some(self.path.as_str().into())),
            ("rowIndex", Some(self.row.into())),
            ("columnIndex", Some(self.column.into())),
        ];
        object(members, &self.other)
    }
}

impl PlateAcquisition {
    fn read(at: &At<'_>) -> Result<Self, ValueError> {
        let mut members = Members::of(at)?;
        Ok(Self { id: members.need_integer("id", 0)?, other: members.rest() })
    }
}

impl WellDocument {
    pub(super) fn read(at: &At<'_>) -> Result<Self, ValueError> {
        let mut members = Members::of(at)?;
        let images = members.need("images")?;
        let images = super::members::items(&images, |at| {
            let mut members = Members::of(at)?;
            let path = members.need_text("path")?;
            Ok(WellImage { path, acquisition: members.integer("acquisition", i128::MIN)?, other: members.rest() })
        })?;
        Ok(Self { images, other: members.rest() })
    }

    pub(super) fn write(&self) -> Value {
        let image = |image: &WellImage| {
            let members =
                [("path", Some(image.path.as_str().into())), ("acquisition", image.acquisition.map(Value::from))];
            object(members, &image.other)
        };
        object([("images", Some(list(&self.images, image)))], &self.other)
    }
}
