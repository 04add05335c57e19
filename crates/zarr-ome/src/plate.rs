//! Plates of wells, and wells of images: high-content screening.

use crate::faults::{Faults, Unique};
use crate::metadata::Metadata;
use crate::version::Version;
use std::collections::HashMap;
use zarr_json::pointer::{At, ValueError};

/// Greatest length of the names of a row and a column that are quoted for each well, in bytes.
const MOST_QUOTED: usize = 100;

/// Metadata `plate` of a group: the parts that can be read.
///
/// ```
/// use zarr_json::json;
/// use zarr_ome::{Metadata, Plate};
///
/// let attributes = json!({"ome": {"version": "0.5", "plate": {
///     "rows": [{"name": "A"}], "columns": [{"name": "1"}, {"name": "1"}],
///     "wells": [{"path": "A/1", "rowIndex": 0, "columnIndex": 0}]
/// }}});
/// let metadata = Metadata::find(attributes.as_object().unwrap(), None).unwrap();
/// let plate = Plate::read(&metadata).unwrap();
/// assert_eq!((plate.wells[0].path.as_str(), plate.wells[0].row, plate.wells[0].column), ("A/1", Some(0), Some(0)));
/// assert_eq!(plate.faults[0].pointer(), "/attributes/ome/plate/columns/1/name");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plate {
    /// Names of the rows of the plate.
    pub rows: Vec<String>,
    /// Names of the columns of the plate.
    pub columns: Vec<String>,
    /// Wells of the plate.
    pub wells: Vec<WellPlace>,
    /// Acquisitions of the plate.
    pub acquisitions: Vec<Acquisition>,
    /// Greatest number of images of a well; `None` if the plate does not name it.
    pub field_count: Option<i128>,
    /// Places that break a rule of the specification.
    pub faults: Vec<ValueError>,
    /// Places that break a rule of the specification that examples of the specification break too.
    pub deviations: Vec<ValueError>,
}

/// Acquisition of a plate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Acquisition {
    /// Id of the acquisition.
    pub id: i128,
    /// Greatest number of images of the acquisition in a well; `None` if the plate does not name it.
    pub field_count: Option<i128>,
}

/// Well of a plate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WellPlace {
    /// Path of the group of the well, relative to the plate: `A/1`.
    pub path: String,
    /// Index of the row of the plate, by the metadata or else by the path; `None` if there is no such row.
    pub row: Option<usize>,
    /// Index of the column of the plate, by the metadata or else by the path; `None` if there is no such column.
    pub column: Option<usize>,
    /// Place of the path in the metadata of the plate, as a JSON pointer.
    pub pointer: String,
}

/// Metadata `well` of a group: the parts that can be read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Well {
    /// Images of the well, which are its fields of view.
    pub fields: Vec<Field>,
    /// Places that break a rule of the specification.
    pub faults: Vec<ValueError>,
}

/// Image of a well.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// Path of the group of the image, relative to the well.
    pub path: String,
    /// Id of the acquisition of the image; `None` if the well names none.
    pub acquisition: Option<i128>,
    /// Place of the image in the metadata of the well, as a JSON pointer.
    pub pointer: String,
}

impl Plate {
    /// Reads the metadata `plate` of a group; `None` if there is none.
    pub fn read(metadata: &Metadata<'_>) -> Option<Self> {
        let at = metadata.member("plate")?;
        let mut faults = Faults::default();
        let (rows, columns) = (names(&at, "rows", &mut faults), names(&at, "columns", &mut faults));
        let mut deviations = Faults::default();
        // Examples of valid plates have the column first in 0.4 and 0.6; those of 0.5 were corrected.
        let is_strict = metadata.version().is_ok_and(|version| version == Version::V05);
        let (rows_by_name, columns_by_name) = (by_name(&rows), by_name(&columns));
        let mut wells = Vec::new();
        let mut paths = Unique::new();
        for item in faults.items_of(&at, "wells") {
            let places = [("rowIndex", &rows), ("columnIndex", &columns)].map(|(name, names)| {
                let index = usize::try_from(faults.integer(&item, name, 0)?).ok()?;
                if index >= names.len() && !names.is_empty() {
                    faults.add(&item.get(name)?, format!("an index below {}", names.len()));
                }
                Some(index).filter(|index| *index < names.len())
            });
            let indices = [name(&rows, places[0]), name(&columns, places[1])];
            let Some(path) = faults.text(&item, "path") else { continue };
            let Some(place) = item.get("path") else { continue };
            paths.take(path, &place, "a path that no other well has", &mut faults);
            match (path.split_once('/'), indices) {
                (Some((row, column)), _) if !(is_name(row) && is_name(column)) => {
                    faults.add(&place, "the name of a row, / and the name of a column");
                }
                (None, _) => faults.add(&place, "the name of a row, / and the name of a column"),
                (Some(found), [Some(row), Some(column)]) if found != (row, column) => {
                    let expected = match row.len() + column.len() {
                        0..=MOST_QUOTED => format!("\"{row}/{column}\", the row and the column of its indices"),
                        _ => "the row and the column of its indices".to_owned(),
                    };
                    let is_swapped = found == (column, row) && !is_strict;
                    (if is_swapped { &mut deviations } else { &mut faults }).add(&place, expected);
                }
                _ => {}
            }
            let (of_row, of_column) = path.split_once('/').unwrap_or((path, ""));
            let row = places[0].or_else(|| rows_by_name.get(of_row).copied());
            let column = places[1].or_else(|| columns_by_name.get(of_column).copied());
            wells.push(WellPlace { path: path.to_owned(), row, column, pointer: place.pointer() });
        }
        let acquisitions = acquisitions(&at, &mut faults);
        let field_count = faults.integer_if_any(&at, "field_count", 1);
        faults.text_if_any(&at, "name");
        Some(Self { rows, columns, wells, acquisitions, field_count, faults: faults.0, deviations: deviations.0 })
    }
}

/// Returns the names of rows or columns, each at its index.
fn names(plate: &At<'_>, member: &str, faults: &mut Faults) -> Vec<String> {
    let mut taken = Unique::new();
    let mut names = Vec::new();
    for item in faults.items_of(plate, member) {
        let name = faults.text(&item, "name").unwrap_or_default();
        if let Some(at) = item.get("name").filter(|at| at.value().as_str().is_some()) {
            if !is_name(name) {
                faults.add(&at, "a name of letters and digits");
            }
            taken.take(name, &at, &format!("a name that no other of {member} has"), faults);
        }
        names.push(name.to_owned());
    }
    names
}

/// Returns the name at an index.
fn name(names: &[String], index: Option<usize>) -> Option<&str> {
    names.get(index?).map(String::as_str)
}

/// Returns the index of each name; of equal names, that of the first.
fn by_name(names: &[String]) -> HashMap<&str, usize> {
    names.iter().enumerate().rev().map(|(index, name)| (name.as_str(), index)).collect()
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn acquisitions(plate: &At<'_>, faults: &mut Faults) -> Vec<Acquisition> {
    let Some(list) = plate.get("acquisitions") else { return Vec::new() };
    let mut taken = Unique::new();
    let mut found = Vec::new();
    for item in faults.keep(list.items()).unwrap_or_default() {
        let id = faults.integer(&item, "id", 0);
        let field_count = faults.integer_if_any(&item, "maximumfieldcount", 1);
        if let (Some(id), Some(at)) = (id, item.get("id")) {
            taken.take(id, &at, "an id that no other acquisition has", faults);
            found.push(Acquisition { id, field_count });
        }
        for time in ["starttime", "endtime"] {
            faults.integer_if_any(&item, time, 0);
        }
        for text in ["name", "description"] {
            faults.text_if_any(&item, text);
        }
    }
    found
}

impl Well {
    /// Reads the metadata `well` of a group; `None` if there is none.
    pub fn read(metadata: &Metadata<'_>) -> Option<Self> {
        let at = metadata.member("well")?;
        let mut faults = Faults::default();
        // Since 0.6 names are restricted.
        let is_free = metadata.version().is_ok_and(|version| version >= Version::V06);
        let (is_path, expected): (fn(&str) -> bool, _) = match is_free {
            true => (is_free_name, "a name of letters, digits and _.- that is not reserved"),
            false => (is_name, "a name of letters and digits"),
        };
        let mut fields = Vec::new();
        let mut paths = Unique::new();
        for item in faults.items_of(&at, "images") {
            let acquisition = faults.integer_if_any(&item, "acquisition", i128::MIN);
            let Some(path) = faults.text(&item, "path") else { continue };
            let Some(place) = item.get("path") else { continue };
            if !is_path(path) {
                faults.add(&place, expected);
            }
            paths.take(path, &place, "a path that no other image of the well has", &mut faults);
            fields.push(Field { path: path.to_owned(), acquisition, pointer: place.pointer() });
        }
        Some(Self { fields, faults: faults.0 })
    }
}

/// Returns whether a name of a row, a column or a well is one that Zarr permits for a node.
fn is_free_name(name: &str) -> bool {
    let is_permitted = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    name.bytes().all(is_permitted) && !name.bytes().all(|byte| byte == b'.') && !name.starts_with("__")
}
