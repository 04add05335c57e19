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
/// opened is left out, with a warning. If it has to be known since the arguments choose a level, or elements, by their numbers, that is an error.
pub(super) fn of_group(
    context: &Context,
    location: &NodeLocation,
    group: &Group,
    [has_level, has_elements]: [bool; 2],
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
    let (mut levels, mut broken) = (Vec::new(), None);
    for level in &place.levels {
        match open(&level.asset) {
            Ok(Some(found)) => levels.push(found),
            // The levels are groups, each with arrays.
            Ok(None) => return Ok(None),
            Err(failure) if failure.is_of_store() => return Err(failure),
            // Without it, numbers of levels would be those of others, and of elements too without the finest.
            Err(failure) if has_level || has_elements && levels.is_empty() => return Err(failure),
            Err(failure) => {
                context.warnings(&[format!("level {} is left out: {}", level.asset, failure.line)]);
                broken.get_or_insert(failure);
            }
        }
    }
    match (levels.is_empty(), broken) {
        (true, Some(failure)) => return Err(failure),
        (true, None) => return Ok(None),
        (false, _) => {}
    }
    // The convention does not order levels. Those of as many elements stay in the order of the document.
    levels.sort_by_key(|(shape, ..)| {
        std::cmp::Reverse(shape.iter().map(|&len| u128::from(len)).fold(1, u128::saturating_mul))
    });
    let names = |found: &StoredNode| found.node.as_array().and_then(|array| array.dimension_names.clone());
    let finest = levels.first().map(|(shape, _, found)| (shape.len(), names(found)));
    // Parts are those along the axes of the finest level.
    let fits = |(shape, _, found): &(Vec<u64>, NodeLocation, StoredNode)| {
        let is_named_alike = |finest: &Vec<_>| names(found).is_none_or(|names| names == *finest);
        finest.as_ref().is_none_or(|(rank, finest)| shape.len() == *rank && finest.as_ref().is_none_or(is_named_alike))
    };
    let mut fitting = Vec::new();
    for level in levels {
        if fits(&level) {
            fitting.push(level);
            continue;
        }
        let reason = format!("{}: the level's dimensions are not those of the finest", level.1);
        if has_level {
            return Err(Failure::usage(reason));
        }
        context.warnings(&[format!("{reason}; it is left out")]);
    }
    let levels = fitting;
    Ok(Some(levels.into_iter().map(|(_, location, found)| (location, found)).collect()))
}

/// Parses the axes of `--plane`.
pub(super) fn plane(text: &str, names: &[Option<String>]) -> Result<Vec<usize>> {
    text.split(',').map(|part| axis_of("--plane", part, names, names.len())).collect()
}
