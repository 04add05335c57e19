//! Members that OME-Zarr recommends and does not require, and metadata without any member that OME-Zarr defines.

use crate::attributes::AttributeDocuments;
use crate::sink::Sink;
use crate::{Code, Finding};
use zarr_hierarchy::Result;
use zarr_json::Value;
use zarr_json::pointer::At;
use zarr_meta::StoredNode;
use zarr_ome::{Metadata, Version};

/// Members that objects should have. The first item is the path from the metadata to the objects, where `*` stands for each item of a list.
const RECOMMENDED: [(&str, &[&str]); 4] = [
    ("multiscales/*", &["name", "type", "metadata"]),
    ("image-label", &["colors"]),
    ("plate", &["name"]),
    ("plate/acquisitions/*", &["name", "maximumfieldcount"]),
];

/// Objects that should name the version, as up to 0.4 each has its own.
const WITH_VERSION: [&str; 4] = ["multiscales/*", "image-label", "plate", "well"];

/// Reports the members that the metadata of a group should have, and has not.
pub(super) fn check(metadata: &Metadata<'_>, places: &AttributeDocuments<'_>, sink: &Sink<'_>) -> Result<()> {
    let is_old = metadata.version().is_ok_and(|version| version == Version::V04);
    let versions = WITH_VERSION.iter().filter(|_| is_old).map(|path| (*path, &["version"][..]));
    for (path, members) in RECOMMENDED.into_iter().chain(versions) {
        let mut names = path.split('/');
        let first = names.next().and_then(|name| metadata.member(name));
        let objects = names.fold(first.into_iter().collect::<Vec<_>>(), |objects, name| match name {
            "*" => objects.iter().flat_map(|list| list.items().unwrap_or_default()).collect(),
            name => objects.iter().filter_map(|object| object.get(name)).collect(),
        });
        for object in objects.iter().filter(|object| object.object().is_ok()) {
            for member in members.iter().filter(|member| object.get(member).is_none()) {
                let finding = Finding::new(Code::ImageAdvice, format!("found no {member}, which is recommended"));
                sink.find(places.at(finding, &object.pointer()));
                sink.go_on()?;
            }
        }
    }
    Ok(())
}

/// Members of a scene that stand in the attribute `ome` itself by mistake.
const OF_SCENES: [&str; 2] = ["coordinateSystems", "coordinateTransformations"];

/// Reports members of a scene that are not within the member `scene`.
pub(super) fn outside_of_scene(group: &StoredNode, places: &AttributeDocuments<'_>, sink: &Sink<'_>) {
    let Some(ome) = group.node.attributes().get("ome").map(|ome| At::new(ome, "/attributes/ome")) else { return };
    for (name, found) in OF_SCENES.into_iter().filter_map(|name| Some((name, ome.get(name)?))) {
        if ome.get("scene").is_none() && matches!(found.value(), Value::Array(_)) {
            let message = format!("found {name} outside of a scene, expected them in the member scene");
            sink.find(places.at(Finding::new(Code::BadImage, message), &found.pointer()));
        }
    }
}
