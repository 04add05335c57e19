//! Images in version 0.6: coordinate systems, and transformations between them.

use super::axes::ImageAxis;
use super::image::{CoordinateSystem, ImageDocument, LevelDocument};
use super::members::{Members, items, list, object, text};
use super::placement::{ENDS, Placement};
use super::transformation::Transformation;
use crate::multiscales::intrinsic;
use crate::transform::only;
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

/// Name of the coordinate system of an image of an older version, which has none.
const PHYSICAL: &str = "physical";
/// Name of the coordinate system of its levels, if the placement of all levels leads to the other one.
const INTRINSIC: &str = "intrinsic";

pub(super) fn read(at: &At<'_>) -> Result<ImageDocument, ValueError> {
    let mut members = Members::of(at)?;
    let (datasets, all) = (members.need("datasets")?, members.need("coordinateSystems")?);
    let own = intrinsic(at, &datasets.items()?)?;
    let own = own.member("name")?.text()?;
    let mut systems = items(&all, CoordinateSystem::read)?;
    let place = systems.iter().position(|system| system.name == own).unwrap_or_default();
    let CoordinateSystem { axes, name, other: of_system } = systems.remove(place);
    let levels = items(&datasets, |at| level(at, axes.len()))?;
    Ok(ImageDocument {
        name: members.text("name")?,
        system: Some(name),
        of_system,
        place,
        levels,
        downscaling: members.text("type")?,
        metadata: members.get("metadata").map(|at| at.value().clone()),
        transformations: members.list("coordinateTransformations", Transformation::read)?,
        systems,
        axes,
        other: members.rest(),
        ..ImageDocument::default()
    })
}

fn level(at: &At<'_>, rank: usize) -> Result<LevelDocument, ValueError> {
    let mut members = Members::of(at)?;
    let path = members.need_text("path")?;
    let list = members.need("coordinateTransformations")?;
    let placement = Placement::of_level(&list, rank)?;
    let mut one = Members::of(&only(&list)?)?;
    let transformation = one.text("name")?;
    // Those of a scale belong to the placement.
    let is_scale = one.text("type")?.as_deref() == Some("scale");
    ENDS.iter().chain(&["transformations"]).for_each(|name| drop(one.get(name)));
    let of_transformation = if is_scale { Map::new() } else { one.rest() };
    Ok(LevelDocument { path, placement, transformation, of_transformation, other: members.rest() })
}

/// Writes an image. A placement of all levels becomes a transformation from the coordinate system of the levels to another one; it is left out
/// beside other coordinate systems. `pointer` is the place of the image.
pub(super) fn write(image: &ImageDocument, pointer: &str, left_out: &mut Vec<ValueError>) -> Value {
    let rank = image.axes.len();
    let all = image.all.as_ref().filter(|_| image.systems.is_empty() && image.transformations.is_empty());
    if let Some(lost) = image.all.as_ref().filter(|_| all.is_none()) {
        let expected = "no placement of all levels beside coordinate systems, which say where the levels lie";
        left_out.push(At::new(&lost.to_list(rank), &format!("{pointer}/coordinateTransformations")).invalid(expected));
    }
    let default = if all.is_some() { INTRINSIC } else { PHYSICAL };
    let own = image.system.as_deref().unwrap_or(default);
    let mut systems: Vec<Value> = image.systems.iter().map(CoordinateSystem::write).collect();
    let axes = || Some(list(&image.axes, ImageAxis::write));
    let system = object([("name", Some(own.into())), ("axes", axes())], &image.of_system);
    systems.insert(image.place.min(systems.len()), system);
    let mut transformations: Vec<Value> = image.transformations.iter().map(Transformation::write).collect();
    if let Some(all) = all {
        // The name differs from that of the coordinate system of the levels.
        let name = if own == PHYSICAL { "world" } else { PHYSICAL };
        systems.push(object([("name", Some(name.into())), ("axes", axes())], &Map::new()));
        let ends = [("input", named(own)), ("output", named(name))];
        transformations.push(with_ends(all.to_one(rank), ends, None));
    }
    let level = |level: &LevelDocument| {
        let input = Value::Object(Map::from([("path", level.path.as_str().into())]));
        let ends = [("input", input), ("output", named(own))];
        let mut one = level.placement.to_one(rank);
        level.of_transformation.iter().for_each(|(name, value)| drop(one.insert(name, value.clone())));
        let one = with_ends(one, ends, level.transformation.as_deref());
        let members =
            [("path", Some(level.path.as_str().into())), ("coordinateTransformations", Some(Value::Array(vec![one])))];
        object(members, &level.other)
    };
    let members = [
        ("name", text(&image.name)),
        ("coordinateSystems", Some(Value::Array(systems))),
        ("datasets", Some(list(&image.levels, level))),
        ("coordinateTransformations", (!transformations.is_empty()).then_some(Value::Array(transformations))),
        ("type", text(&image.downscaling)),
        ("metadata", image.metadata.clone()),
    ];
    object(members, &image.other)
}

fn named(name: &str) -> Value {
    Value::Object(Map::from([("name", name.into())]))
}

fn with_ends(mut one: Map, ends: [(&str, Value); 2], name: Option<&str>) -> Value {
    name.into_iter().for_each(|name| drop(one.insert("name", name)));
    ends.into_iter().for_each(|(end, value)| drop(one.insert(end, value)));
    Value::Object(one)
}
