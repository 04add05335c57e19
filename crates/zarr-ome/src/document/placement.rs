//! Positions of the elements of a level: a scale, and a translation after it.

use super::members::{extended, numbers};
use crate::transform::{Transform, only};
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

/// Members of the transformation of a level that are no parameters of it.
pub(super) const ENDS: [&str; 3] = ["name", "input", "output"];

/// Scale and translation: an index is at position `scale * index + translation`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// Factor for each axis; `None` for 1.
    pub scale: Option<Vec<f64>>,
    /// Offset for each axis; `None` for 0.
    pub translation: Option<Vec<f64>>,
    /// Further members of the scale in the document.
    pub of_scale: Map,
    /// Further members of the translation in the document.
    pub of_translation: Map,
}

/// Returns the further members of the transformations of a kind; `None` if there are none of the kind, so that explicit offsets of 0 are kept.
fn further(items: &[At<'_>], kind: &str) -> Option<Map> {
    let is_it = |item: &&At<'_>| item.get("type").is_some_and(|at| at.value().as_str() == Some(kind));
    items.iter().filter(is_it).filter_map(|item| item.value().as_object()).fold(None, |found, item| {
        let others = item.iter().filter(|(name, _)| *name != "type" && *name != kind);
        let mut found = found.unwrap_or_default();
        others.for_each(|(name, value)| drop(found.insert(name, value.clone())));
        Some(found)
    })
}

impl Placement {
    /// Reads a list of transformations of version 0.4 or 0.5.
    pub(super) fn of_list(list: &At<'_>, rank: usize) -> Result<Self, ValueError> {
        let items = list.items()?;
        let Transform { scale, translation } = Transform::identity(rank).then_all(list)?;
        let (of_scale, of_translation) = (further(&items, "scale"), further(&items, "translation"));
        Ok(Self {
            scale: of_scale.is_some().then_some(scale),
            translation: of_translation.is_some().then_some(translation),
            of_scale: of_scale.unwrap_or_default(),
            of_translation: of_translation.unwrap_or_default(),
        })
    }

    /// Reads the one transformation of a level of version 0.6.
    pub(super) fn of_level(list: &At<'_>, rank: usize) -> Result<Self, ValueError> {
        let one = only(list)?;
        let kind = one.member("type")?;
        match kind.text()? {
            "sequence" => Self::of_list(&one.member("transformations")?, rank),
            "identity" => Ok(Self::default()),
            "scale" => {
                let mut own = Self::of_list(list, rank)?;
                ENDS.iter().for_each(|name| drop(own.of_scale.remove(name)));
                Ok(own)
            }
            _ => Err(kind.invalid("identity, scale or sequence")),
        }
    }

    fn items(&self, rank: usize, needs_scale: bool) -> Vec<Map> {
        let item = |kind: &str, list: &[f64], other: &Map| {
            extended([("type", Some(Value::from(kind))), (kind, Some(numbers(list)))], other)
        };
        let scale = match &self.scale {
            Some(scale) => Some(scale.clone()),
            None => needs_scale.then(|| vec![1.0; rank]),
        };
        let scale = scale.map(|scale| item("scale", &scale, &self.of_scale));
        let translation = self.translation.as_deref().map(|offsets| item("translation", offsets, &self.of_translation));
        scale.into_iter().chain(translation).collect()
    }

    /// Returns the list of transformations of version 0.4 and 0.5.
    pub(super) fn to_list(&self, rank: usize) -> Value {
        Value::Array(self.items(rank, true).into_iter().map(Value::Object).collect())
    }

    /// Returns the members of one transformation of version 0.6, without its ends.
    pub(super) fn to_one(&self, rank: usize) -> Map {
        let mut items = self.items(rank, self.translation.is_some());
        match items.len() {
            0 => Map::from([("type", Value::from("identity"))]),
            1 => items.remove(0),
            _ => {
                let items = items.into_iter().map(Value::Object).collect();
                Map::from([("type", Value::from("sequence")), ("transformations", Value::Array(items))])
            }
        }
    }
}
