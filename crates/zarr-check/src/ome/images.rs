//! Checks of images of OME-Zarr: valid metadata, and levels that exist and fit the image.

use crate::attributes::AttributeDocuments;
use crate::hierarchy::Hierarchy;
use crate::sink::Sink;
use crate::{Code, Finding};
use zarr_hierarchy::Result;
use zarr_json::{Map, Value};
use zarr_meta::{ArrayMetadata, StoredNode};
use zarr_ome::{Metadata, Multiscale, Multiscales, Version};

/// Whether the arrays of a group with these attributes are of different resolutions, by OME-Zarr or another convention.
pub(crate) fn is_pyramid(attributes: &Map) -> bool {
    attributes.contains_key("multiscales") || attributes.contains_key("ome")
}

/// Checks the images of a group.
pub(super) fn check(
    hierarchy: &Hierarchy,
    group: &StoredNode,
    metadata: &Metadata<'_>,
    places: &AttributeDocuments<'_>,
    sink: &Sink<'_>,
) -> Result<()> {
    let Some(stored) = metadata.member("multiscales") else { return Ok(()) };
    let read = match Multiscales::read(group.node.attributes()) {
        Ok(Some(read)) => read,
        Ok(None) => return Ok(()),
        Err(error) => {
            let pointer = error.location().pointer.clone().unwrap_or_else(|| stored.pointer());
            sink.find(places.at(Finding::of(Code::BadImage, &error), &pointer));
            return Ok(());
        }
    };
    for deviation in &read.deviations {
        // Each begins with its pointer.
        let (pointer, what) = deviation.split_once(": ").unwrap_or(("/attributes", deviation));
        let is_unplaced = read.images.iter().any(|image| image.unplaced.as_ref() == Some(deviation));
        let code = if is_unplaced { Code::BadImage } else { Code::ImageDeviation };
        sink.find(places.at(Finding::new(code, what), pointer));
        sink.go_on()?;
    }
    let images = stored.value().as_array().unwrap_or_default();
    for (number, (image, of)) in read.images.iter().zip(images).enumerate() {
        let pointer = format!("{}/{number}/datasets", stored.pointer());
        let at = |finding, below: &str| places.at(finding, &format!("{pointer}/{below}"));
        Levels { hierarchy, group, image, is_labels: read.is_labels, has_names: metadata.is_in_ome() }
            .check(at, sink)?;
        let datasets = of.get("datasets").and_then(Value::as_array).unwrap_or_default();
        for (level, dataset) in datasets.iter().enumerate() {
            let count = scales(dataset.get("coordinateTransformations"), read.version);
            if count != 1 {
                let message = format!("found {count} transformations of type scale, expected one");
                sink.find(at(Finding::new(Code::LevelScale, message), &format!("{level}/coordinateTransformations")));
                sink.go_on()?;
            }
        }
    }
    Ok(())
}

/// Returns the number of transformations of type `scale` in `list`, the `coordinateTransformations` of a level. In version 0.6 the members
/// of a `sequence` are counted, and an `identity` counts as a scale.
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

/// Data types that labels may have.
const OF_LABELS: [&str; 8] = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"];

/// Check of the arrays of an image's levels.
struct Levels<'c> {
    hierarchy: &'c Hierarchy,
    group: &'c StoredNode,
    image: &'c Multiscale,
    /// Whether the elements of the image are labels.
    is_labels: bool,
    /// Whether the arrays must have the names of the image's axes as dimension names, if they have any.
    has_names: bool,
}

impl Levels<'_> {
    fn check(&self, at: impl Fn(Finding, &str) -> Finding, sink: &Sink<'_>) -> Result<()> {
        let (mut first, mut before): (Option<&ArrayMetadata>, Option<&ArrayMetadata>) = (None, None);
        for (number, level) in self.image.levels.iter().enumerate() {
            sink.go_on()?;
            let find = |code, message: String| sink.find(at(Finding::new(code, message), &format!("{number}/path")));
            let path = self.group.path.join(level.path.trim_end_matches('/')).ok();
            if path.as_ref().is_some_and(|path| self.hierarchy.is_broken(path)) {
                continue;
            }
            let array = path.and_then(|path| self.hierarchy.node(&path)).and_then(|node| node.node.as_array());
            let Some(array) = array else {
                find(Code::MissingLevel, format!("found no array {:?} in the group", level.path));
                continue;
            };
            self.axes(array, &find);
            let data_type = array.data_type.to_value().to_string();
            if self.is_labels && !OF_LABELS.contains(&array.data_type.name.as_str()) {
                find(Code::LabelType, format!("found labels of data type {data_type}, expected integers"));
            }
            if let Some(before) = before.filter(|before| before.shape.len() == array.shape.len())
                && array.shape.iter().zip(&before.shape).any(|(len, before)| len > before)
            {
                find(Code::LevelOrder, format!("found shape {:?} after {:?}", array.shape, before.shape));
            }
            if let Some(first) = first.filter(|first| first.data_type != array.data_type) {
                let expected = first.data_type.to_value();
                find(
                    Code::LevelType,
                    format!("found data type {data_type}, expected {expected}, that of the first level"),
                );
            }
            first = first.or(Some(array));
            before = Some(array);
        }
        Ok(())
    }

    /// Compares the dimensions of an array with the axes of the image.
    fn axes(&self, array: &ArrayMetadata, find: &impl Fn(Code, String)) {
        let axes: Vec<&str> = self.image.axes.iter().map(|axis| axis.name.as_str()).collect();
        if array.shape.len() != axes.len() {
            let (found, expected) = (array.shape.len(), axes.len());
            let message = format!("found an array of {found} dimensions, expected {expected}, one for each axis");
            return find(Code::LevelRank, message);
        }
        let Some(names) = array.dimension_names.as_ref().filter(|_| self.has_names) else { return };
        if !names.iter().map(Option::as_deref).eq(axes.iter().map(|axis| Some(*axis))) {
            let names: Vec<&str> = names.iter().map(|name| name.as_deref().unwrap_or("null")).collect();
            let message = format!("found an array of dimensions {}, expected {}", names.join(", "), axes.join(", "));
            find(Code::LevelNames, message);
        }
    }
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
