//! Checks of the conventions of OME-Zarr: whether the metadata of groups is valid, and fits the nodes in the store.

mod advice;
mod images;
mod labels;
mod plates;
#[cfg(test)]
mod tests;

pub(crate) use images::is_pyramid;

use crate::attributes::AttributeDocuments;
use crate::hierarchy::Hierarchy;
use crate::sink::Sink;
use crate::{Code, Finding};
use zarr_hierarchy::{ErrorKind, Result};
use zarr_meta::{Node, NodePath, StoredNode};
use zarr_ome::{Metadata, ValueError};

/// Checks all groups that have metadata of OME-Zarr, and with `is_named` also what is only recommended. Returns whether there are any.
pub(crate) fn check(hierarchy: &Hierarchy, is_named: bool, sink: &Sink<'_>) -> Result<bool> {
    let mut is_any = false;
    for group in hierarchy.nodes.iter().filter(|node| node.node.as_array().is_none()) {
        let places = AttributeDocuments::new(group);
        advice::outside_of_scene(group, &places, sink);
        sink.go_on()?;
        let Some(metadata) = metadata(group) else { continue };
        is_any = true;
        if let Err(error) = metadata.version() {
            let code = match error.kind() {
                ErrorKind::UnsupportedVersion => Code::UnknownImage,
                _ => Code::BadImage,
            };
            let pointer = error.location().pointer.clone().unwrap_or_else(|| "/attributes".to_owned());
            sink.find(places.at(Finding::of(code, &error), &pointer));
            continue;
        }
        version(group, &metadata, &places, sink);
        if let Some(layout) = metadata.member("bioformats2raw.layout").filter(|it| it.value().as_f64() != Some(3.0)) {
            let message = format!("found {}, expected 3", layout.value().excerpt());
            sink.find(places.at(Finding::new(Code::BadImage, message), &layout.pointer()));
        }
        faults(&zarr_ome::scene_faults(&metadata), Code::BadImage, &places, sink)?;
        images::check(hierarchy, group, &metadata, &places, sink)?;
        plates::check(hierarchy, group, &metadata, &places, sink)?;
        labels::check(hierarchy, group, &metadata, &places, sink)?;
        if is_named {
            advice::check(&metadata, &places, sink)?;
        }
    }
    Ok(is_any)
}

/// Metadata of OME-Zarr of a group; `None` for an array, and for a group without such metadata.
fn metadata(node: &StoredNode) -> Option<Metadata<'_>> {
    match &node.node {
        Node::Group(group) => Metadata::find(&group.attributes, node.path.name()),
        Node::Array(_) => None,
    }
}

/// Checks that the version of the metadata fits the format of the store, and is present.
fn version(group: &StoredNode, metadata: &Metadata<'_>, places: &AttributeDocuments<'_>, sink: &Sink<'_>) {
    let find = |code, message: &str, pointer: &str| sink.find(places.at(Finding::new(code, message), pointer));
    match metadata.is_in_ome() {
        true if group.dialect.is_v2() => {
            let message =
                "found metadata of OME-Zarr in the attribute ome, expected those of 0.4, which is that of Zarr v2";
            find(Code::ImageVersion, message, "/attributes/ome");
        }
        true if metadata.is_without_version() => {
            find(Code::BadImage, "found no version, expected one such as 0.5", "/attributes/ome");
        }
        false if group.dialect.is_v3() => {
            let message =
                "found metadata of OME-Zarr 0.4, which is that of Zarr v2, expected them in the attribute ome";
            find(Code::ImageVersion, message, "/attributes");
        }
        _ => {}
    }
}

/// Reports faults as findings with the code `code`, each at its place.
fn faults(faults: &[ValueError], code: Code, places: &AttributeDocuments<'_>, sink: &Sink<'_>) -> Result<()> {
    for fault in faults {
        let message = format!("found {}, expected {}", fault.found(), fault.expected());
        sink.find(places.at(Finding::new(code, message), fault.pointer()));
        sink.go_on()?;
    }
    Ok(())
}

/// Whether `path`, relative to `above`, leads to an image or to a broken node.
fn is_image(hierarchy: &Hierarchy, above: &NodePath, path: &str) -> bool {
    let Ok(path) = above.join(path.trim_end_matches('/')) else { return false };
    let has_images = |node| metadata(node).is_some_and(|metadata| metadata.member("multiscales").is_some());
    hierarchy.is_broken(&path) || hierarchy.node(&path).is_some_and(has_images)
}
