//! The conventions of OME-Zarr: metadata that can be read, levels that are there and fit the image.

use crate::attributes::AttributeDocuments;
use crate::hierarchy::Hierarchy;
use crate::sink::Sink;
use crate::{Code, Finding};
use zarr_hierarchy::{ErrorKind, Result};
use zarr_json::{Map, Value};
use zarr_meta::{ArrayMetadata, Node, NodePath, StoredNode};
use zarr_ome::{Multiscale, Multiscales, Version};

/// Looks at all groups that are images.
pub(crate) fn check(hierarchy: &Hierarchy, sink: &Sink<'_>) -> Result<()> {
    for group in &hierarchy.nodes {
        let Node::Group(metadata) = &group.node else { continue };
        match Multiscales::read(&metadata.attributes) {
            Ok(None) => {}
            Ok(Some(read)) => image(hierarchy, group, &metadata.attributes, &read, sink)?,
            Err(error) => {
                let code = match error.kind() {
                    ErrorKind::UnsupportedVersion => Code::UnknownImage,
                    _ => Code::BadImage,
                };
                let pointer = error.location().pointer.clone().unwrap_or_else(|| "/attributes".to_owned());
                sink.find(AttributeDocuments::new(group).at(Finding::of(code, &error), &pointer));
            }
        }
    }
    Ok(())
}

/// Whether a group is an image, whose arrays are of different resolutions.
pub(crate) fn is_image(attributes: &Map) -> bool {
    attributes.contains_key("multiscales") || attributes.contains_key("ome")
}

fn image(
    hierarchy: &Hierarchy,
    group: &StoredNode,
    attributes: &Map,
    read: &Multiscales,
    sink: &Sink<'_>,
) -> Result<()> {
    let places = AttributeDocuments::new(group);
    for deviation in &read.deviations {
        // Each begins with its pointer.
        let (pointer, what) = deviation.split_once(": ").unwrap_or(("/attributes", deviation));
        let is_unplaced = read.images.iter().any(|image| image.unplaced.as_ref() == Some(deviation));
        let code = if is_unplaced { Code::BadImage } else { Code::ImageDeviation };
        sink.find(places.at(Finding::new(code, what), pointer));
        sink.go_on()?;
    }
    let (of, list) = match attributes.get("ome").and_then(|ome| ome.get("multiscales")) {
        Some(list) => ("/attributes/ome", Some(list)),
        None => ("/attributes", attributes.get("multiscales")),
    };
    let stored = list.and_then(Value::as_array).unwrap_or_default();
    for (number, (image, stored)) in read.images.iter().zip(stored).enumerate() {
        let pointer = format!("{of}/multiscales/{number}/datasets");
        levels(
            hierarchy,
            &group.path,
            image,
            |finding, below| places.at(finding, &format!("{pointer}/{below}")),
            sink,
        )?;
        let datasets = stored.get("datasets").and_then(Value::as_array).unwrap_or_default();
        for (level, dataset) in datasets.iter().enumerate() {
            let count = scales(dataset.get("coordinateTransformations"), read.version);
            if count != 1 {
                let message = format!("found {count} transformations of type scale, expected one");
                let pointer = format!("{pointer}/{level}/coordinateTransformations");
                sink.find(places.at(Finding::new(Code::LevelScale, message), &pointer));
                sink.go_on()?;
            }
        }
    }
    Ok(())
}

/// How many scales a level has by its own transformations. From 0.6 on it has one transformation, which may be the identity or a sequence.
fn scales(list: Option<&Value>, version: Version) -> usize {
    let items = |list: Option<&Value>| list.and_then(Value::as_array).unwrap_or_default().to_vec();
    let kind = |item: &Value| item.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_scale = |item: &Value| kind(item) == "scale" || (version == Version::V06 && kind(item) == "identity");
    let within = |item: &Value| match kind(item).as_str() {
        "sequence" if version == Version::V06 => items(item.get("transformations")),
        _ => vec![item.clone()],
    };
    items(list).iter().flat_map(within).filter(is_scale).count()
}

/// The arrays of the levels.
fn levels(
    hierarchy: &Hierarchy,
    group: &NodePath,
    image: &Multiscale,
    at: impl Fn(Finding, &str) -> Finding,
    sink: &Sink<'_>,
) -> Result<()> {
    let (mut first, mut before): (Option<&ArrayMetadata>, Option<&ArrayMetadata>) = (None, None);
    for (number, level) in image.levels.iter().enumerate() {
        sink.go_on()?;
        let find = |code, message: String| sink.find(at(Finding::new(code, message), &format!("{number}/path")));
        let path = group.join(level.path.trim_end_matches('/')).ok();
        if path.as_ref().is_some_and(|path| hierarchy.is_broken(path)) {
            continue;
        }
        let array = path.and_then(|path| hierarchy.node(&path)).and_then(|node| node.node.as_array());
        let Some(array) = array else {
            find(Code::MissingLevel, format!("found no array {:?} in the group", level.path));
            continue;
        };
        if array.shape.len() != image.axes.len() {
            let (found, expected) = (array.shape.len(), image.axes.len());
            find(
                Code::LevelRank,
                format!("found an array of {found} dimensions, expected {expected}, one for each axis"),
            );
        }
        if let Some(before) = before.filter(|before| before.shape.len() == array.shape.len())
            && array.shape.iter().zip(&before.shape).any(|(len, before)| len > before)
        {
            find(Code::LevelOrder, format!("found shape {:?} after {:?}", array.shape, before.shape));
        }
        if let Some(first) = first.filter(|first| first.data_type != array.data_type) {
            let [found, expected] = [array, first].map(|array| array.data_type.to_value().to_string());
            find(Code::LevelType, format!("found data type {found}, expected {expected}, that of the first level"));
        }
        first = first.or(Some(array));
        before = Some(array);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    #[test]
    fn scales_are_counted_as_each_version_has_them() {
        let scale = || json!({"type": "scale", "scale": [1]});
        let shift = || json!({"type": "translation", "translation": [1]});
        let of = |list: Value, version| scales(Some(&list), version);
        assert_eq!(of(json!([(scale()), (shift())]), Version::V05), 1);
        assert_eq!(of(json!([(shift())]), Version::V05), 0);
        assert_eq!(of(json!([(scale()), (scale())]), Version::V04), 2);
        assert_eq!(of(json!([{"type": "identity"}]), Version::V05), 0);
        assert_eq!(of(json!([{"type": "identity"}]), Version::V06), 1);
        let sequence = |list: Value| json!([{"type": "sequence", "transformations": (list)}]);
        assert_eq!(of(sequence(json!([(scale()), (shift())])), Version::V06), 1);
        assert_eq!(of(sequence(json!([(shift())])), Version::V06), 0);
    }
}
