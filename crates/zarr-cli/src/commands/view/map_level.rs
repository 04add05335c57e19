//! Levels of a map, by the convention `multiscales` of GeoZarr: which one is drawn.

use crate::args::axis_of;
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use std::sync::Arc;
use zarr::Group;
use zarr::geo::Georeference;
use zarr::hierarchy::StoredNode;
use zarr::meta::NodePath;

/// Level of a map that is drawn.
pub(super) struct MapLevel {
    /// Number of the level; 0 is the finest.
    pub(super) number: usize,
    /// Number of levels.
    pub(super) count: usize,
    /// Whether the arguments choose the level.
    pub(super) is_chosen: bool,
}

impl MapLevel {
    /// Returns a note on the level; `None` if the arguments choose it, or there is only one.
    pub(super) fn note(&self) -> Option<String> {
        let is_told = !self.is_chosen && self.count > 1;
        is_told.then(|| format!("level {} of 0 to {}", self.number, self.count - 1))
    }
}

/// Returns the arrays of the levels of a map, the finest first. `None` if the group lists no levels that are arrays. A level that cannot be
/// opened is left out, with a warning.
pub(super) fn of_group(
    context: &Context,
    location: &NodeLocation,
    group: &Group,
) -> Result<Option<Vec<(NodeLocation, StoredNode)>>> {
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
    Ok(Some(levels.into_iter().map(|(_, location, found)| (location, found)).collect()))
}

/// Parses the axes of `--plane`.
pub(super) fn plane(text: &str, names: &[Option<String>]) -> Result<Vec<usize>> {
    text.split(',').map(|part| axis_of("--plane", part, names, names.len())).collect()
}
