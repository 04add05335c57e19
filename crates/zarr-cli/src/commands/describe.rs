//! The description of a node as JSON. It needs only metadata, so that nodes of unknown data types or
//! codecs have one, too.

use crate::object::{object, or_null};
use zarr::meta::json::Map;
use zarr::meta::text::ChunkShapes;
use zarr::meta::{Node, StoredNode};
use zarr::ome::Multiscales;

/// The facts about a node that `info`, `ls` and `tree` print as JSON.
pub(crate) fn facts(found: &StoredNode) -> Map {
    let mut facts = object! {
        "path": found.path.to_string(),
        "kind": kind(found),
        "dialect": found.dialect.name(),
        "implicit": found.implicit,
    };
    if let Node::Array(array) = &found.node {
        let shapes = ChunkShapes::new(array);
        let names = array.dimension_names.as_ref();
        facts = object! {
            ..facts,
            "shape": array.shape.clone(),
            "data_type": array.data_type.short_value(),
            "fill_value": or_null(array.fill_value.clone()),
            "chunk_shape": shapes.chunk,
            "shard_shape": or_null(shapes.shard),
            "codecs": array.codecs.iter().map(|codec| codec.name.clone()).collect::<Vec<_>>(),
            "dimension_names": or_null(names.map(|names| names.iter().map(|name| or_null(name.as_deref())).collect::<Vec<_>>())),
        };
    }
    let facts = object! { ..facts, "attributes": found.node.attributes().clone() };
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

pub(crate) fn kind(found: &StoredNode) -> &'static str {
    if found.node.as_array().is_some() { "array" } else { "group" }
}
