//! The description of a node as JSON.

use crate::object::{object, or_null};
use zarr::meta::StoredNode;
use zarr::meta::json::Map;
pub(crate) use zarr::meta::kind;
use zarr::ome::Multiscales;

/// The facts about a node that `info`, `ls` and `tree` print as JSON.
pub(crate) fn facts(found: &StoredNode) -> Map {
    let facts = zarr::meta::facts(found);
    match image(found) {
        None => facts,
        Some(Ok(image)) => object! { ..facts, "ome": ome(&image) },
        Some(Err(error)) => object! { ..facts, "ome": object! { "error": error.to_string() } },
    }
}

/// The metadata of the image that a group is; `None` if it is none.
pub(crate) fn image(found: &StoredNode) -> Option<zarr::Result<Multiscales>> {
    found.node.as_group()?;
    Multiscales::read(found.node.attributes()).transpose()
}

/// The metadata of an image.
fn ome(image: &Multiscales) -> Map {
    let axis = |axis: &zarr::ome::Axis| {
        object! {
            "name": axis.name.as_str(), "type": or_null(axis.kind.name()), "unit": or_null(axis.unit.as_deref()),
        }
    };
    let level = |level: &zarr::ome::Level| {
        object! {
            "path": level.path.as_str(), "scale": level.scale.clone(), "translation": level.translation.clone(),
        }
    };
    let of_image = |image: &zarr::ome::Multiscale| {
        object! {
            "name": or_null(image.name.as_deref()),
            "axes": image.axes.iter().map(axis).collect::<Vec<_>>(),
            "levels": image.levels.iter().map(level).collect::<Vec<_>>(),
        }
    };
    let channels = image.channels.iter().map(|channel| or_null(channel.label.as_deref()));
    object! {
        "version": image.version.to_string(),
        "labels": image.is_labels,
        "images": image.images.iter().map(of_image).collect::<Vec<_>>(),
        "channels": channels.collect::<Vec<_>>(),
        "deviations": image.deviations.clone(),
    }
}
