//! Levels added to the OME-Zarr image that the source is a level of.

use super::{Level, Method, Pyramid, place};
use zarr_array::Group;
use zarr_json::{Map, Value};
use zarr_ome::Metadata;
use zarr_ome::document::{Document, LevelDocument, Placement};

/// Attribute that holds the metadata since version 0.5.
const OME: &str = "ome";
/// Member that lists the images.
const IMAGES: &str = "multiscales";

/// Sets the levels in the metadata `multiscales` of the group above the source, if the levels are written there and it is an image with the
/// source among its levels. They follow the source; those that the image has already get new transformations. Unless one level alone is
/// written, the image loses coarser levels beside them that are not written, since their elements and factors may be others; the arrays
/// stay.
///
/// Each gets the transformations of the source, with scales multiplied by the factors, and a translation to the centres of the blocks, or
/// to the elements that are picked.
pub(super) fn extend(pyramid: &Pyramid) -> zarr_hierarchy::Result<()> {
    let source = &pyramid.source;
    if !pyramid.is_beside {
        return Ok(());
    }
    let mut group = match Group::open(&pyramid.target, &pyramid.group.to_string(), source.registry()) {
        Err(error) if error.is_not_found() => return Ok(()),
        group => group?,
    };
    let mut attributes = group.attributes()?.clone();
    if let Ok(Some(images)) = extended(&attributes, pyramid) {
        replace(&mut attributes, images);
        group.set_attributes(attributes)?;
    }
    Ok(())
}

/// Returns a warning if the group above the source has images that cannot be read, so that the levels are not added to them.
pub(super) fn warning(pyramid: &Pyramid) -> zarr_hierarchy::Result<Option<String>> {
    if !pyramid.is_beside || pyramid.options.region.is_some() {
        return Ok(None);
    }
    // A run refuses a group that cannot be opened.
    let group = Group::open(&pyramid.target, &pyramid.group.to_string(), pyramid.source.registry());
    let Ok(group) = group else { return Ok(None) };
    let unknown = extended(group.attributes()?, pyramid).err();
    Ok(unknown.map(|error| format!("{}: the levels are not added to the images: {error}", pyramid.group)))
}

/// Returns the images of attributes with the levels added, as they are written in the attributes; `None` if nothing changes. Other
/// members are not read, so their faults do not matter.
fn extended(attributes: &Map, pyramid: &Pyramid) -> Result<Option<Map>, String> {
    let (levels, method) = (&pyramid.levels, pyramid.options.method);
    let Some(source) = pyramid.source.path().name() else { return Ok(None) };
    let Some(metadata) = Metadata::find(attributes, None) else { return Ok(None) };
    let images = metadata.member(IMAGES).map(|images| images.value().clone());
    let Some(images) = images else { return Ok(None) };
    let mut of_images = Map::from([(IMAGES, images)]);
    if metadata.is_in_ome() {
        let version = attributes.get(OME).and_then(|ome| ome.get("version"));
        version.into_iter().for_each(|version| drop(of_images.insert("version", version.clone())));
        of_images = Map::from([(OME, Value::Object(of_images))]);
    }
    let read = metadata.version().and_then(|version| Ok((version, Document::read(&of_images, None)?)));
    let (version, document) = read.map_err(|error| error.to_string())?;
    let Some(mut document) = document else { return Ok(None) };
    let before = document.clone();
    let coarser = |other: &str| pyramid.options.level.is_none() && is_behind(other, source);
    for image in &mut document.images {
        let path_of = |level: &LevelDocument| level.path.trim_end_matches('/').to_owned();
        let Some(own) = image.levels.iter().find(|level| path_of(level) == source).cloned() else { continue };
        let named = |name: &str| image.levels.iter().find(|level| path_of(level) == name);
        let mut new = Vec::new();
        for level in levels {
            let Some(name) = level.path.name() else { continue };
            if level.factors.len() != image.axes.len() {
                return Err(format!("found {} axes, expected {}", image.axes.len(), level.factors.len()));
            }
            let transformation = named(name).and_then(|level| level.transformation.clone());
            let placement = placed(&own.placement, pyramid.source.shape(), level, method);
            new.push(LevelDocument { path: name.to_owned(), placement, transformation, ..own.clone() });
        }
        let is_written = |path: &str| levels.iter().any(|level| level.path.name() == Some(path));
        image.levels.retain(|level| !is_written(&path_of(level)) && !coarser(&path_of(level)));
        let at = image.levels.iter().position(|level| path_of(level) == source);
        let behind = at.map_or(image.levels.len(), |at| at + 1);
        image.levels.splice(behind..behind, new);
    }
    match document == before {
        true => Ok(None),
        false => document.attributes(version).map(Some).map_err(|error| error.to_string()),
    }
}

/// Replaces the images in attributes by those that [`extended`] returns.
fn replace(attributes: &mut Map, mut images: Map) {
    if let (Some(Value::Object(ome)), Some(Value::Object(new))) = (attributes.get_mut(OME), images.get_mut(OME)) {
        new.remove(IMAGES).into_iter().for_each(|images| drop(ome.insert(IMAGES, images)));
    }
    images.remove(IMAGES).into_iter().for_each(|images| drop(attributes.insert(IMAGES, images)));
}

/// Returns the positions of the elements of a level, from those of the elements of the source, which has the shape `shape`.
fn placed(own: &Placement, shape: &[u64], level: &Level, method: Method) -> Placement {
    let mut placement = own.clone();
    let rank = level.factors.len();
    let mut scale = own.scale.clone().unwrap_or_else(|| vec![1.0; rank]);
    let mut translation = own.translation.clone().unwrap_or_else(|| vec![0.0; rank]);
    for (axis, &factor) in level.factors.iter().enumerate() {
        translation[axis] += scale[axis] * place::offset(method, shape[axis], factor, level.step[axis]);
        scale[axis] *= factor as f64;
    }
    let is_moved = own.translation.is_some() || translation.iter().any(|offset| *offset != 0.0);
    (placement.scale, placement.translation) = (Some(scale), is_moved.then_some(translation));
    placement
}

/// Returns whether a name differs from that of the source by a greater number at its end alone.
pub(super) fn is_behind(name: &str, source: &str) -> bool {
    let apart = |name: &str| {
        let stem = name.trim_end_matches(|symbol: char| symbol.is_ascii_digit()).len();
        Some((name[..stem].to_owned(), name[stem..].parse::<usize>().ok()?))
    };
    match (apart(name), apart(source)) {
        (Some((stem, number)), Some((own, first))) => stem == own && number > first,
        _ => false,
    }
}
