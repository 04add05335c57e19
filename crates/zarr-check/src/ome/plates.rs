//! Checks of plates and wells of OME-Zarr.

use super::{faults, is_image, metadata};
use crate::attributes::AttributeDocuments;
use crate::hierarchy::Hierarchy;
use crate::sink::Sink;
use crate::{Code, Finding};
use zarr_hierarchy::Result;
use zarr_meta::StoredNode;
use zarr_ome::{Metadata, Plate, Well};

/// Checks a group that is a plate or a well.
pub(super) fn check(
    hierarchy: &Hierarchy,
    group: &StoredNode,
    of_group: &Metadata<'_>,
    places: &AttributeDocuments<'_>,
    sink: &Sink<'_>,
) -> Result<()> {
    if let Some(plate) = Plate::read(of_group) {
        faults(&plate.faults, Code::BadPlate, places, sink)?;
        faults(&plate.deviations, Code::WellOrder, places, sink)?;
        for place in &plate.wells {
            sink.go_on()?;
            // Others are faults of the plate.
            let Ok(path) = group.path.join(&place.path) else { continue };
            if hierarchy.is_broken(&path) {
                continue;
            }
            let node = hierarchy.node(&path);
            match node.and_then(|node| Some((node, Well::read(&metadata(node)?)?))) {
                Some((node, well)) => in_plate(&plate, node, &well, sink),
                None => {
                    let what = if node.is_some() { "a group that is no well" } else { "no group" };
                    let message = format!("found {what} at {:?}", place.path);
                    sink.find(places.at(Finding::new(Code::MissingWell, message), &place.pointer));
                }
            }
        }
    }
    if let Some(well) = Well::read(of_group) {
        faults(&well.faults, Code::BadPlate, places, sink)?;
        for field in well.fields.iter().filter(|field| !is_image(hierarchy, &group.path, &field.path)) {
            let message = format!("found no image {:?} in the well", field.path);
            sink.find(places.at(Finding::new(Code::MissingImage, message), &field.pointer));
            sink.go_on()?;
        }
    }
    Ok(())
}

/// Checks a well against the metadata of its plate: the acquisitions and the number of images.
fn in_plate(plate: &Plate, node: &StoredNode, well: &Well, sink: &Sink<'_>) {
    let places = AttributeDocuments::new(node);
    let find = |code, message: String, pointer: &str| sink.find(places.at(Finding::new(code, message), pointer));
    for field in &well.fields {
        match field.acquisition {
            None if plate.acquisitions.len() > 1 => {
                let message = "found no acquisition, expected that of one of several of the plate".to_owned();
                find(Code::BadPlate, message, &field.pointer);
            }
            Some(id) if !plate.acquisitions.is_empty() && plate.acquisitions.iter().all(|known| known.id != id) => {
                find(Code::BadPlate, format!("found acquisition {id}, expected one of the plate"), &field.pointer);
            }
            _ => {}
        }
    }
    let Some(first) = well.fields.first() else { return };
    let more = |count: usize, most: Option<i128>, of: &str| {
        if let Some(most) = most.filter(|&most| count as i128 > most) {
            let message = format!("found {count} images{of} in the well, expected {most} at most, as the plate says");
            find(Code::FieldCount, message, &first.pointer);
        }
    };
    more(well.fields.len(), plate.field_count, "");
    for acquisition in &plate.acquisitions {
        let count = well.fields.iter().filter(|field| field.acquisition == Some(acquisition.id)).count();
        more(count, acquisition.field_count, &format!(" of acquisition {}", acquisition.id));
    }
}
