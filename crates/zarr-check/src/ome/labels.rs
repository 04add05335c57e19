//! Checks of labels of OME-Zarr, and of series of images.

use super::{faults, is_image};
use crate::attributes::AttributeDocuments;
use crate::hierarchy::Hierarchy;
use crate::sink::Sink;
use crate::{Code, Finding};
use zarr_hierarchy::Result;
use zarr_meta::{NodePath, StoredNode};
use zarr_ome::{ImageLabel, Listed, Metadata};

/// Checks the lists of labels and of a series in a group, and the metadata of a label image.
pub(super) fn check(
    hierarchy: &Hierarchy,
    group: &StoredNode,
    metadata: &Metadata<'_>,
    places: &AttributeDocuments<'_>,
    sink: &Sink<'_>,
) -> Result<()> {
    if let Some(label) = ImageLabel::read(metadata) {
        faults(&label.faults, Code::BadLabels, places, sink)?;
    }
    let above = group.path.parent();
    let lists = [(Listed::labels(metadata), Some(&group.path)), (Listed::series(metadata), above.as_ref())];
    for (list, above) in lists {
        let Some(list) = list else { continue };
        faults(&list.faults, Code::BadLabels, places, sink)?;
        // A group that is looked at alone may be the one that lists images beside it.
        let Some(above) = above.filter(|above| hierarchy.node(above).is_some()) else { continue };
        missing(hierarchy, &list, above, places, sink)?;
    }
    Ok(())
}

fn missing(
    hierarchy: &Hierarchy,
    list: &Listed,
    above: &NodePath,
    places: &AttributeDocuments<'_>,
    sink: &Sink<'_>,
) -> Result<()> {
    for (path, pointer) in list.paths.iter().filter(|(path, _)| !is_image(hierarchy, above, path)) {
        let message = format!("found no image {path:?} in {above}");
        sink.find(places.at(Finding::new(Code::MissingImage, message), pointer));
        sink.go_on()?;
    }
    Ok(())
}
