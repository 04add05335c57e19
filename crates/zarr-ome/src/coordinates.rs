//! Coordinate systems, and transformations between them, since version 0.6. They are checked, and not applied.

use crate::faults::{Faults, Unique, integer};
use crate::metadata::Metadata;
use std::collections::HashMap;
use zarr_json::pointer::{At, ValueError};

/// Greatest depth of nested transformations.
const MOST_DEEP: usize = 16;

/// Returns the places in the metadata `scene` of a group that break a rule of the specification.
pub fn scene_faults(metadata: &Metadata<'_>) -> Vec<ValueError> {
    let mut faults = Faults::default();
    if let Some(scene) = metadata.member("scene") {
        let axes = systems(&scene, &mut faults);
        for item in faults.items_of(&scene, "coordinateTransformations") {
            between(&item, &axes, &mut faults);
        }
    }
    faults.0
}

/// Returns the places in the coordinate systems and transformations of an image that break a rule of the specification.
pub(crate) fn faults(image: &At<'_>) -> Vec<ValueError> {
    let mut faults = Faults::default();
    let axes = systems(image, &mut faults);
    for dataset in faults.keep(image.member("datasets").and_then(|list| list.items())).unwrap_or_default() {
        let list = dataset.get("coordinateTransformations").and_then(|list| list.items().ok()).unwrap_or_default();
        for transformation in list {
            of_level(&dataset, &transformation, &mut faults);
        }
    }
    if let Some(list) = image.get("coordinateTransformations") {
        for item in faults.items(&list) {
            between(&item, &axes, &mut faults);
        }
    }
    faults.0
}

/// Returns the coordinate systems by name, each with the number of its axes.
fn systems<'v>(at: &At<'v>, faults: &mut Faults) -> HashMap<&'v str, usize> {
    let (mut known, mut names) = (HashMap::new(), Unique::new());
    let list = at.get("coordinateSystems").and_then(|list| faults.keep(list.items()));
    for system in list.unwrap_or_default() {
        let axes = faults.items_of(&system, "axes");
        let mut of_axes = Unique::new();
        for axis in &axes {
            if let (Some(name), Some(at)) = (faults.text(axis, "name"), axis.get("name")) {
                of_axes.take(name, &at, "a name that no other axis has", faults);
            }
        }
        if let (Some(name), Some(at)) = (faults.text(&system, "name"), system.get("name")) {
            if name.is_empty() {
                faults.add(&at, "a name");
            }
            names.take(name, &at, "a name that no other coordinate system has", faults);
            known.insert(name, axes.len());
        }
    }
    known
}

/// Checks a transformation of a level, from its array to a coordinate system.
fn of_level(dataset: &At<'_>, transformation: &At<'_>, faults: &mut Faults) {
    let path = dataset.get("path").and_then(|path| path.value().as_str());
    if let Some(input) = faults.keep(transformation.member("input"))
        && let (Some(found), Some(at)) = (faults.text(&input, "path"), input.get("path"))
        && path.is_some_and(|path| path != found)
    {
        faults.add(&at, "the path of the level");
    }
    if let Some(output) = faults.keep(transformation.member("output")) {
        faults.text(&output, "name");
    }
    let kind = |item: &At<'_>| item.get("type").and_then(|kind| kind.value().as_str().map(str::to_owned));
    if kind(transformation).as_deref() == Some("sequence") {
        let items = faults.items_of(transformation, "transformations");
        let kinds: Vec<_> = items.iter().map(|item| kind(item).unwrap_or_default()).collect();
        if kinds != ["scale", "translation"] {
            faults.add(transformation, "a sequence of a scale and a translation");
        }
    }
}

/// Checks a transformation between two named coordinate systems.
fn between(at: &At<'_>, axes: &HashMap<&str, usize>, faults: &mut Faults) {
    let mut end = |member: &str| {
        let end = faults.keep(at.member(member))?;
        let name = faults.text(&end, "name")?;
        // With a path, the coordinate system is that of another image.
        axes.get(name).copied().filter(|_| end.get_non_null("path").is_none())
    };
    let [rank, _] = ["input", "output"].map(&mut end);
    parameters(at, rank, MOST_DEEP, faults);
}

/// Checks the parameters of a transformation. `rank` is the number of axes of its input, if that is known; `depth` is the number of levels
/// of nesting that are still allowed.
fn parameters(at: &At<'_>, rank: Option<usize>, depth: usize, faults: &mut Faults) {
    let Some(kind) = faults.text(at, "type") else { return };
    if depth == 0 {
        return faults.add(at, format!("transformations at most {MOST_DEEP} deep"));
    }
    match kind {
        "identity" => {}
        "scale" | "translation" => vector(at, kind, rank, faults),
        "affine" => matrix(at, kind, rank, 1, faults),
        "rotation" => matrix(at, kind, rank, 0, faults),
        "displacements" | "coordinates" => {
            faults.text(at, "path");
        }
        "mapAxis" => {
            let indices = indices(at, kind, faults);
            let len = rank.unwrap_or(indices.len());
            if indices.len() != len || indices.iter().any(|&index| index >= len as i128) {
                faults.add(at, format!("each of the indices 0 to {} once", len.saturating_sub(1)));
            }
        }
        "projectAxis" => {
            let [dropped, created] =
                ["droppedInputs", "createdOutputs"].map(|name| at.get(name).map(|_| indices(at, name, faults)));
            if dropped.is_none() && created.is_none() {
                faults.add(at, "droppedInputs or createdOutputs");
            }
            let Some(rank) = rank else { return };
            let dropped = dropped.unwrap_or_default();
            let created = created.unwrap_or_default();
            let left = (rank + created.len()).saturating_sub(dropped.len());
            if dropped.iter().any(|&index| index >= rank as i128) || created.iter().any(|&index| index >= left as i128)
            {
                faults.add(at, format!("indices of {rank} axes before, and of {left} after"));
            }
            if !(1..=5).contains(&left) {
                faults.add(at, "1 to 5 axes after it");
            }
        }
        "bijection" => {
            for name in ["forward", "inverse"] {
                if let Some(one) = faults.keep(at.member(name)) {
                    parameters(&one, None, depth - 1, faults);
                }
            }
        }
        "sequence" => {
            let items = faults.items_of(at, "transformations");
            for (number, item) in items.iter().enumerate() {
                parameters(item, rank.filter(|_| number == 0), depth - 1, faults);
            }
        }
        "byDimension" => {
            for item in faults.items_of(at, "transformations") {
                let [input, _] = ["inputAxes", "outputAxes"].map(|name| indices(&item, name, faults).len());
                if let Some(one) = faults.keep(item.member("transformation")) {
                    parameters(&one, Some(input), depth - 1, faults);
                }
            }
        }
        _ => {
            if let Some(at) = at.get("type") {
                faults.add(&at, "a type of transformation");
            }
        }
    }
}

fn number(at: &At<'_>) -> Result<f64, ValueError> {
    at.value().as_f64().filter(|number| number.is_finite()).ok_or_else(|| at.invalid("a number"))
}

/// Checks that the member `name` is a list with a number for each axis.
fn vector(at: &At<'_>, name: &str, rank: Option<usize>, faults: &mut Faults) {
    let Some(list) = faults.keep(at.member(name)) else { return };
    let items = faults.items(&list);
    if rank.is_some_and(|rank| rank != items.len()) && !items.is_empty() {
        faults.add(&list, format!("{} numbers, one for each axis", rank.unwrap_or_default()));
    }
    for item in items {
        let number = faults.keep(number(&item));
        if name == "scale" && number.is_some_and(|number| number <= 0.0) {
            faults.add(&item, "a positive number");
        }
    }
}

/// Checks that the member `name` is a list of rows of numbers, or that there is the path of an array instead. Each row must have `more`
/// numbers in addition to one for each axis.
fn matrix(at: &At<'_>, name: &str, rank: Option<usize>, more: usize, faults: &mut Faults) {
    if at.get(name).is_none() && at.get("path").is_some() {
        faults.text(at, "path");
        return;
    }
    let Some(list) = faults.keep(at.member(name)) else { return };
    let rows = faults.items(&list);
    // A rotation has as many rows as columns.
    let columns = rank.map(|rank| rank + more).or((more == 0).then_some(rows.len()));
    if more == 0 && rank.is_some_and(|rank| rank != rows.len()) && !rows.is_empty() {
        faults.add(&list, format!("{} rows", rank.unwrap_or_default()));
    }
    for row in rows {
        let Some(numbers) = faults.keep(row.items()) else { continue };
        if columns.is_some_and(|columns| columns != numbers.len()) {
            faults.add(&row, format!("{} numbers", columns.unwrap_or_default()));
        }
        for item in numbers {
            faults.keep(number(&item));
        }
    }
}

/// Returns the indices of axes in the member `name`. An index that occurs twice is a fault.
fn indices(at: &At<'_>, name: &str, faults: &mut Faults) -> Vec<i128> {
    let mut taken = Unique::new();
    let mut indices = Vec::new();
    for item in faults.items_of(at, name) {
        if let Some(index) = faults.keep(integer(&item, 0)) {
            taken.take(index, &item, "an index that is not there yet", faults);
            indices.push(index);
        }
    }
    indices
}
