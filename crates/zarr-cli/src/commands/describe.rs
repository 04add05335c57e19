//! Description of a node as JSON.

use super::geozarr;
use crate::object::object;
use zarr::geo::Georeference;
use zarr::meta::StoredNode;
use zarr::meta::json::Map;
pub(crate) use zarr::meta::kind;
use zarr::ome::Multiscales;

/// Returns the facts about a node that `info`, `ls` and `tree` print as JSON.
pub(crate) fn facts(found: &StoredNode) -> Map {
    let facts = zarr::meta::facts(found);
    let facts = with_georeference(facts, geozarr::georeference(found).as_ref());
    match image(found) {
        None => facts,
        Some(Ok(image)) => object! { ..facts, "ome": image.facts() },
        Some(Err(error)) => object! { ..facts, "ome": object! { "error": error.to_string() } },
    }
}

/// Adds the georeference of a node to the facts about it, or replaces it.
pub(super) fn with_georeference(facts: Map, georeference: Option<&Georeference>) -> Map {
    match georeference {
        Some(georeference) => object! { ..facts, "geo": georeference.facts() },
        None => facts,
    }
}

/// Reads the image metadata of a group; `None` if the node is not an OME-Zarr image.
pub(crate) fn image(found: &StoredNode) -> Option<zarr::Result<Multiscales>> {
    found.node.as_group()?;
    Multiscales::read(found.node.attributes()).transpose()
}
