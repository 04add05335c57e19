//! Positions of the elements of a level: a scale, and a translation after it.

use super::members::numbers;
use crate::transform::{Transform, only};
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

/// Scale and translation: an index is at position `scale * index + translation`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// Factor for each axis; `None` for 1.
    pub scale: Option<Vec<f64>>,
    /// Offset for each axis; `None` for 0.
    pub translation: Option<Vec<f64>>,
}

/// Kinds of transformations that were found, so that explicit offsets of 0 are kept.
fn has(items: &[At<'_>], kind: &str) -> bool {
    items.iter().any(|item| item.get("type").is_some_and(|at| at.value().as_str() == Some(kind)))
}

impl Placement {
    /// Reads a list of transformations of version 0.4 or 0.5.
    pub(super) fn of_list(list: &At<'_>, rank: usize) -> Result<Self, ValueError> {
        let items = list.items()?;
        let Transform { scale, translation } = Transform::identity(rank).then_all(list)?;
        Ok(Self {
            scale: has(&items, "scale").then_some(scale),
            translation: has(&items, "translation").then_some(translation),
        })
    }

    /// Reads the one transformation of a level of version 0.6.
    pub(super) fn of_level(list: &At<'_>, rank: usize) -> Result<Self, ValueError> {
        let one = only(list)?;
        let kind = one.member("type")?;
        match kind.text()? {
            "sequence" => Self::of_list(&one.member("transformations")?, rank),
            "identity" => Ok(Self::default()),
            "scale" => Self::of_list(list, rank),
            _ => Err(kind.invalid("identity, scale or sequence")),
        }
    }

    fn items(&self, rank: usize, needs_scale: bool) -> Vec<Map> {
        let item = |kind: &str, list: &[f64]| Map::from([("type", Value::from(kind)), (kind, numbers(list))]);
        let scale = match &self.scale {
            Some(scale) => Some(scale.clone()),
            None => needs_scale.then(|| vec![1.0; rank]),
        };
        let scale = scale.map(|scale| item("scale", &scale));
        scale.into_iter().chain(self.translation.as_deref().map(|offsets| item("translation", offsets))).collect()
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
