//! Labels of segments: the lists of groups, and the metadata about the values of a label image.

use crate::faults::{Faults, Unique, integer};
use crate::metadata::Metadata;
use zarr_json::pointer::{At, ValueError};

/// Paths that a group lists: its label images, or the images of a series.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Listed {
    /// Paths, each with the place of the string as a JSON pointer.
    pub paths: Vec<(String, String)>,
    /// Places that break a rule of the specification.
    pub faults: Vec<ValueError>,
}

impl Listed {
    /// Reads the paths of label images that a group lists in `labels`, relative to the group; `None` if the group has no list.
    pub fn labels(metadata: &Metadata<'_>) -> Option<Self> {
        Self::read(metadata, "labels")
    }

    /// Reads the paths of images that a group lists in `series`, relative to the group above; `None` if the group has no list.
    pub fn series(metadata: &Metadata<'_>) -> Option<Self> {
        Self::read(metadata, "series")
    }

    fn read(metadata: &Metadata<'_>, member: &str) -> Option<Self> {
        let list = metadata.member(member)?;
        let mut faults = Faults::default();
        let items = faults.keep(list.items()).unwrap_or_default();
        let path = |item: &At<'_>| Some((faults.keep(item.text())?.to_owned(), item.pointer()));
        let paths = items.iter().filter_map(path).collect();
        Some(Self { paths, faults: faults.0 })
    }
}

/// Metadata `image-label` of a group: meanings and colours of the values of a label image.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImageLabel {
    /// Colours of values: red, green, blue and alpha. Colours that break a rule are left out.
    pub colors: Vec<(i128, [u8; 4])>,
    /// Places that break a rule of the specification.
    pub faults: Vec<ValueError>,
}

impl ImageLabel {
    /// Reads and checks the metadata `image-label` of a group; `None` if the group has no such metadata.
    pub fn read(metadata: &Metadata<'_>) -> Option<Self> {
        let at = metadata.member("image-label")?;
        let mut faults = Faults::default();
        faults.keep(at.object());
        let mut colors = Vec::new();
        for color in values(&at, "colors", &mut faults) {
            let rgba = color.get("rgba").and_then(|rgba| rgba_of(&rgba, &mut faults));
            let value = color.get("label-value").and_then(|value| integer(&value, i128::MIN).ok());
            colors.extend(value.zip(rgba));
        }
        values(&at, "properties", &mut faults);
        if let Some(source) = at.get("source").filter(|source| faults.keep(source.object()).is_some()) {
            faults.text_if_any(&source, "image");
        }
        Some(Self { colors, faults: faults.0 })
    }
}

/// Returns the items of the list `member`, each of which is about one value. Two items about the same value are a fault.
fn values<'v>(at: &At<'v>, member: &str, faults: &mut Faults) -> Vec<At<'v>> {
    let Some(list) = at.get(member) else { return Vec::new() };
    let mut taken = Unique::new();
    let items = faults.items(&list);
    for item in &items {
        let value = faults.integer(item, "label-value", i128::MIN);
        if let (Some(value), Some(at)) = (value, item.get("label-value")) {
            taken.take(value, &at, &format!("a value that no other of {member} has"), faults);
        }
    }
    items
}

/// Reads a colour: red, green, blue and alpha. `None` with a fault if it is none.
fn rgba_of(rgba: &At<'_>, faults: &mut Faults) -> Option<[u8; 4]> {
    let items = faults.keep(rgba.items())?;
    if items.len() != 4 {
        faults.add(rgba, "4 integers: red, green, blue and alpha");
    }
    let mut parts = Vec::new();
    for item in items {
        match integer(&item, 0).ok().and_then(|number| u8::try_from(number).ok()) {
            Some(part) => parts.push(part),
            None => faults.add(&item, "an integer from 0 to 255"),
        }
    }
    parts.try_into().ok()
}
