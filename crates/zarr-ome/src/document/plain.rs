//! Images in version 0.4 and 0.5: axes of the image, scales and translations of the levels.

use super::axes::ImageAxis;
use super::image::{ImageDocument, LevelDocument};
use super::members::{Members, items, list, object, text};
use super::placement::Placement;
use super::transformation::{Numbers, SystemReference, Transformation, TransformationKind};
use crate::version::Version;
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

pub(super) fn read(at: &At<'_>) -> Result<ImageDocument, ValueError> {
    let mut members = Members::of(at)?;
    let axes = items(&members.need("axes")?, ImageAxis::read)?;
    let datasets = members.need("datasets")?;
    let levels = items(&datasets, |at| level(at, axes.len()))?;
    if levels.is_empty() {
        return Err(datasets.invalid("at least one level"));
    }
    let all = members.get("coordinateTransformations").map(|list| Placement::of_list(&list, axes.len()));
    Ok(ImageDocument {
        name: members.text("name")?,
        levels,
        all: all.transpose()?,
        downscaling: members.text("type")?,
        metadata: members.get("metadata").map(|at| at.value().clone()),
        axes,
        other: members.rest(),
        ..ImageDocument::default()
    })
}

fn level(at: &At<'_>, rank: usize) -> Result<LevelDocument, ValueError> {
    let mut members = Members::of(at)?;
    let path = members.need_text("path")?;
    let placement = Placement::of_list(&members.need("coordinateTransformations")?, rank)?;
    Ok(LevelDocument { path, placement, other: members.rest(), ..LevelDocument::default() })
}

/// Writes an image. Coordinate systems beside that of the levels are left out, unless they lie at a scale and a translation from it.
/// `pointer` is the place of the image in a document of version 0.6.
pub(super) fn write(image: &ImageDocument, pointer: &str, version: Version, left_out: &mut Vec<ValueError>) -> Value {
    let rank = image.axes.len();
    // Coordinate systems beside a placement of all levels are never those that it leads to.
    let placed = if image.all.is_none() { of_systems(image) } else { None };
    match placed {
        Some(_) => further(image, pointer, version, left_out),
        None => others(image, pointer, version, left_out),
    }
    let lost = |at: String, members: &Map, left_out: &mut Vec<ValueError>| {
        if !members.is_empty() {
            let expected = format!("version 0.6: {version} has no place for further members of it");
            left_out.push(At::new(&Value::Object(members.clone()), &at).invalid(expected));
        }
    };
    lost(format!("{pointer}/coordinateSystems/{}", image.place), &image.of_system, left_out);
    for (number, level) in image.levels.iter().enumerate() {
        let at = format!("{pointer}/datasets/{number}/coordinateTransformations/0");
        lost(at, &level.of_transformation, left_out);
    }
    let all = image.all.clone().or(placed);
    let level = |level: &LevelDocument| {
        let members = [
            ("path", Some(level.path.as_str().into())),
            ("coordinateTransformations", Some(level.placement.to_list(rank))),
        ];
        object(members, &level.other)
    };
    let members = [
        ("name", text(&image.name)),
        ("axes", Some(list(&image.axes, ImageAxis::write))),
        ("datasets", Some(list(&image.levels, level))),
        ("coordinateTransformations", all.map(|all| all.to_list(rank))),
        ("type", text(&image.downscaling)),
        ("metadata", image.metadata.clone()),
    ];
    object(members, &image.other)
}

/// Returns the placement of the one further coordinate system in that of the levels: a scale, or a scale and a translation between the same
/// axes. `None` for other coordinate systems and transformations.
fn of_systems(image: &ImageDocument) -> Option<Placement> {
    let ([system], [transformation]) = (image.systems.as_slice(), image.transformations.as_slice()) else {
        return None;
    };
    let is = |end: &Option<SystemReference>, name: Option<&str>| {
        end.as_ref().is_some_and(|end| end.path.is_none() && end.name.as_deref() == name)
    };
    let is_from_levels = is(&transformation.input, image.system.as_deref());
    if !is_from_levels || !is(&transformation.output, Some(&system.name)) || system.axes != image.axes {
        return None;
    }
    let rank = image.axes.len();
    let here = |kind: &TransformationKind| match kind {
        TransformationKind::Scale(Numbers::Here(scale)) => {
            let is_scale = scale.len() == rank && scale.iter().all(|&factor| factor > 0.0);
            is_scale.then(|| (Some(scale.clone()), None))
        }
        TransformationKind::Translation(Numbers::Here(offsets)) => {
            (offsets.len() == rank).then(|| (None, Some(offsets.clone())))
        }
        _ => None,
    };
    let kinds = match &transformation.kind {
        TransformationKind::Sequence(items) => items.iter().map(|item: &Transformation| here(&item.kind)).collect(),
        kind => vec![here(kind)],
    };
    let placement = |scale: &Option<Vec<f64>>, translation: &Option<Vec<f64>>| Placement {
        scale: scale.clone(),
        translation: translation.clone(),
        ..Placement::default()
    };
    match kinds.as_slice() {
        [Some((scale, translation))] => Some(placement(scale, translation)),
        [Some((Some(scale), None)), Some((None, Some(translation)))] => {
            Some(placement(&Some(scale.clone()), &Some(translation.clone())))
        }
        _ => None,
    }
}

/// Adds the further members of the coordinate system and the transformation that become the placement of all levels.
fn further(image: &ImageDocument, pointer: &str, version: Version, left_out: &mut Vec<ValueError>) {
    let expected = format!("version 0.6: {version} has no place for further members of it");
    for (number, one) in image.transformations.iter().enumerate() {
        let inner: &[Transformation] = match &one.kind {
            TransformationKind::Sequence(items) => items,
            _ => &[],
        };
        let ends = [&one.input, &one.output].into_iter().flatten().map(|end| &end.other);
        let mut all = inner.iter().chain([one]).map(|item| &item.other).chain(ends);
        if all.any(|other| !other.is_empty()) {
            let pointer = format!("{pointer}/coordinateTransformations/{number}");
            left_out.push(At::new(&one.write(), &pointer).invalid(expected.clone()));
        }
    }
    for (number, system) in image.systems.iter().enumerate().filter(|(_, system)| !system.other.is_empty()) {
        let pointer = format!("{pointer}/coordinateSystems/{}", number + usize::from(number >= image.place));
        left_out.push(At::new(&system.write(), &pointer).invalid(expected.clone()));
    }
}

/// Adds the coordinate systems and transformations that the version cannot hold.
fn others(image: &ImageDocument, pointer: &str, version: Version, left_out: &mut Vec<ValueError>) {
    let expected = format!(
        "version 0.6: {version} has scales and translations of the levels, and one scale and translation of all levels"
    );
    for (number, transformation) in image.transformations.iter().enumerate() {
        let pointer = format!("{pointer}/coordinateTransformations/{number}");
        left_out.push(At::new(&transformation.write(), &pointer).invalid(expected.clone()));
    }
    if image.transformations.is_empty() {
        for (number, system) in image.systems.iter().enumerate() {
            let pointer = format!("{pointer}/coordinateSystems/{}", number + usize::from(number >= image.place));
            left_out.push(At::new(&system.write(), &pointer).invalid(expected.clone()));
        }
    }
}
