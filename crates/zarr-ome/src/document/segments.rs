//! Label images: the member `image-label`.

use super::members::{Members, items, list_if_any, object, text};
use crate::faults::integer;
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

/// Meanings and colours of the values of a label image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelDocument {
    /// Colours of values.
    pub colors: Vec<LabelColor>,
    /// Properties of values.
    pub properties: Vec<LabelProperties>,
    /// Path of the image that the labels belong to, relative to the group; `None` if the document names none.
    pub source: Option<String>,
    /// Further members of the object that names it.
    pub of_source: Map,
    /// Further members.
    pub other: Map,
}

/// Colour of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelColor {
    /// Value of the elements.
    pub value: i128,
    /// Red, green, blue and alpha; `None` if the document has none.
    pub rgba: Option<[u8; 4]>,
    /// Further members.
    pub other: Map,
}

/// Properties of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelProperties {
    /// Value of the elements.
    pub value: i128,
    /// Properties by name.
    pub properties: Map,
}

const VALUE: &str = "label-value";

impl LabelDocument {
    pub(super) fn read(at: &At<'_>) -> Result<Self, ValueError> {
        let mut members = Members::of(at)?;
        let colors = members.list("colors", LabelColor::read)?;
        let properties = members.list("properties", |at| {
            let mut members = Members::of(at)?;
            Ok(LabelProperties { value: members.need_integer(VALUE, i128::MIN)?, properties: members.rest() })
        })?;
        let (source, of_source) = match members.get("source") {
            None => (None, Map::new()),
            Some(source) => {
                let mut source = Members::of(&source)?;
                (source.text("image")?, source.rest())
            }
        };
        Ok(Self { colors, properties, source, of_source, other: members.rest() })
    }

    pub(super) fn write(&self) -> Value {
        let properties = |one: &LabelProperties| object([(VALUE, Some(one.value.into()))], &one.properties);
        let has_source = self.source.is_some() || !self.of_source.is_empty();
        let source = has_source.then(|| object([("image", text(&self.source))], &self.of_source));
        let members = [
            ("colors", list_if_any(&self.colors, LabelColor::write)),
            ("properties", list_if_any(&self.properties, properties)),
            ("source", source),
        ];
        object(members, &self.other)
    }
}

impl LabelColor {
    fn read(at: &At<'_>) -> Result<Self, ValueError> {
        let mut members = Members::of(at)?;
        let value = members.need_integer(VALUE, i128::MIN)?;
        let rgba = members.get("rgba").map(|at| rgba(&at)).transpose()?;
        Ok(Self { value, rgba, other: members.rest() })
    }

    fn write(&self) -> Value {
        let rgba = self.rgba.map(|rgba| Value::from(rgba.to_vec()));
        object([(VALUE, Some(self.value.into())), ("rgba", rgba)], &self.other)
    }
}

fn rgba(at: &At<'_>) -> Result<[u8; 4], ValueError> {
    let part = |item: &At<'_>| integer(item, 0)?.try_into().map_err(|_| item.invalid("an integer from 0 to 255"));
    items(at, part)?.try_into().map_err(|_| at.invalid("4 integers: red, green, blue and alpha"))
}
