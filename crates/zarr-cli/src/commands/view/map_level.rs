//! Levels of a map, by the convention `multiscales` of GeoZarr: which one is drawn.

use super::View;
use crate::args::axis_of;
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use std::sync::Arc;
use zarr::geo::Georeference;
use zarr::hierarchy::StoredNode;
use zarr::meta::NodePath;
use zarr::view::{Cut, Room};
use zarr::{Group, Selection};

/// Level of a map that is drawn.
pub(super) struct MapLevel {
    /// Number of the level; 0 is the finest.
    pub(super) number: usize,
    /// Number of levels.
    count: usize,
    /// Whether the arguments choose the level.
    is_chosen: bool,
}

impl MapLevel {
    /// Returns a note on the level; `None` if the arguments choose it, or there is only one.
    pub(super) fn note(&self) -> Option<String> {
        let is_told = !self.is_chosen && self.count > 1;
        is_told.then(|| format!("level {} of 0 to {}", self.number, self.count - 1))
    }
}

/// Returns the array of the level of a map that is drawn: that of `--level`, the finest one if indices are selected, or else the coarsest one
/// that fills the room. `None` if the group lists no levels that are arrays. A level that cannot be opened is left out, with a warning.
pub(super) fn of_group(
    context: &Context,
    args: &View,
    room: Room,
    location: &NodeLocation,
    group: &Group,
) -> Result<Option<(MapLevel, NodeLocation, StoredNode)>> {
    let Some(place) = Georeference::read(group.attributes()?).filter(|place| !place.levels.is_empty()) else {
        return Ok(None);
    };
    let open = |asset: &str| {
        let path = format!("{}/{asset}", group.path().to_string().trim_end_matches('/'));
        let path = NodePath::parse(&path).map_err(zarr::Error::from)?;
        let location = NodeLocation {
            store: Arc::clone(&location.store),
            address: location.address.clone(),
            path,
            dialect: location.dialect,
        };
        let found = context.node(&location)?;
        let shape = found.node.as_array().map(|array| array.shape.clone());
        Ok::<_, Failure>(shape.map(|shape| (shape, location, found)))
    };
    let mut levels = Vec::new();
    for level in &place.levels {
        match open(&level.asset) {
            Ok(Some(found)) => levels.push(found),
            // The levels are groups, each with arrays.
            Ok(None) => return Ok(None),
            Err(failure) => context.warnings(&[format!("level {} is left out: {}", level.asset, failure.line)]),
        }
    }
    if levels.is_empty() {
        return Ok(None);
    }
    // The convention does not order levels. Those of as many elements stay in the order of the document.
    levels.sort_by_key(|(shape, ..)| {
        std::cmp::Reverse(shape.iter().map(|&len| u128::from(len)).fold(1, u128::saturating_mul))
    });
    let count = levels.len();
    let number = match args.level {
        Some(number) if number < count => number,
        Some(number) => {
            let message = format!("{location}: --level: found {number}, expected 0 to {}", count - 1);
            return Err(Failure::usage(message));
        }
        None if !args.chosen.is_empty() => 0,
        None => {
            let shapes: Vec<&[u64]> = levels.iter().map(|(shape, ..)| shape.as_slice()).collect();
            let finest = shapes.first().copied().unwrap_or_default();
            let names = levels.first().and_then(|(.., found)| found.node.as_array()?.dimension_names.clone());
            let names = names.unwrap_or_else(|| vec![None; finest.len()]);
            let plane = args.plane.as_deref().map(|text| plane(text, &names)).transpose()?;
            room.coarsest(&Cut::new(finest, &Selection::all(), plane.as_deref())?, &shapes)
        }
    };
    let level = MapLevel { number, count, is_chosen: args.level.is_some() };
    Ok(levels.into_iter().nth(number).map(|(_, location, found)| (level, location, found)))
}

/// Parses the axes of `--plane`.
pub(super) fn plane(text: &str, names: &[Option<String>]) -> Result<Vec<usize>> {
    text.split(',').map(|part| axis_of("--plane", part, names, names.len())).collect()
}
