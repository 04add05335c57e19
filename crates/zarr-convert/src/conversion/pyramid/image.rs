//! Levels added to the OME-Zarr image that the source is a level of.

use super::{Level, Method, Pyramid};
use zarr_array::Group;
use zarr_hierarchy::Result;
use zarr_json::{Map, Value};

/// Sets the levels in the metadata `multiscales` of the group above the source, if the levels are written there and it is an image with the
/// source among its levels. They follow the source; those that the image has already get new transformations. Unless one level alone is
/// written, the image loses coarser levels beside them that are not written, since their elements and factors may be others; the arrays
/// stay.
///
/// Each gets the transformations of the source, with scales multiplied by the factors, and a translation to the centres of the blocks, or
/// to the elements that are picked.
pub(super) fn extend(pyramid: &Pyramid) -> Result<()> {
    let source = &pyramid.source;
    if !pyramid.is_beside {
        return Ok(());
    }
    let mut group = match Group::open(&pyramid.target, &pyramid.group.to_string(), source.registry()) {
        Err(error) if error.is_not_found() => return Ok(()),
        group => group?,
    };
    let mut attributes = group.attributes()?.clone();
    if extended(&mut attributes, pyramid).is_changed {
        group.set_attributes(attributes)?;
    }
    Ok(())
}

/// Returns a warning if the source is a level of an image that the levels cannot be added to.
pub(super) fn warning(pyramid: &Pyramid) -> Result<Option<String>> {
    if !pyramid.is_beside || pyramid.options.region.is_some() {
        return Ok(None);
    }
    // A run refuses a group that cannot be opened.
    let group = Group::open(&pyramid.target, &pyramid.group.to_string(), pyramid.source.registry());
    let Ok(group) = group else { return Ok(None) };
    let Extended { unknown, .. } = extended(&mut group.attributes()?.clone(), pyramid);
    Ok(unknown.then(|| {
        format!(
            "{}: the levels are not added to the image, whose coordinateTransformations of {} have an unknown form",
            pyramid.group,
            pyramid.source.path()
        )
    }))
}

/// Outcome of the addition of levels to attributes.
#[derive(Default)]
struct Extended {
    is_changed: bool,
    /// Whether an image has the source, with transformations of an unknown form.
    unknown: bool,
}

/// Adds levels to the attributes of a group.
fn extended(attributes: &mut Map, pyramid: &Pyramid) -> Extended {
    let mut done = Extended::default();
    let (levels, method) = (&pyramid.levels, pyramid.options.method);
    let Some(source) = pyramid.source.path().name() else { return done };
    let coarser = |other: &str| pyramid.options.level.is_none() && is_behind(other, source);
    let is_new_form = attributes.get("ome").is_some_and(|ome| ome.as_object().is_some());
    let metadata = match is_new_form {
        true => match attributes.get_mut("ome") {
            Some(Value::Object(ome)) => Some(ome),
            _ => None,
        },
        false => Some(attributes),
    };
    let Some(Value::Array(images)) = metadata.and_then(|metadata| metadata.get_mut("multiscales")) else {
        return done;
    };
    for image in images {
        let Value::Object(image) = image else { continue };
        let Some(Value::Array(datasets)) = image.get_mut("datasets") else { continue };
        let path_of =
            |dataset: &Value| Some(dataset.as_object()?.get("path")?.as_str()?.trim_end_matches('/').to_owned());
        let Some(own) = datasets.iter().find(|dataset| path_of(dataset).as_deref() == Some(source)).cloned() else {
            continue;
        };
        let new = levels.iter().map(|level| dataset(&own, level.path.name()?, level, method));
        let Some(new) = new.collect::<Option<Vec<Value>>>() else {
            done.unknown = true;
            continue;
        };
        let before = datasets.clone();
        let is_kept = |path: Option<String>| {
            let is_written = |path: &str| levels.iter().any(|level| level.path.name() == Some(path));
            path.is_none_or(|path| !is_written(&path) && !coarser(&path))
        };
        datasets.retain(|dataset| is_kept(path_of(dataset)));
        let at = datasets.iter().position(|dataset| path_of(dataset).as_deref() == Some(source));
        let behind = at.map_or(datasets.len(), |at| at + 1);
        datasets.splice(behind..behind, new);
        done.is_changed |= !before.iter().eq(datasets.iter());
    }
    done
}

/// Returns whether a name differs from that of the source by a greater number at its end alone.
fn is_behind(name: &str, source: &str) -> bool {
    let apart = |name: &str| {
        let stem = name.trim_end_matches(|symbol: char| symbol.is_ascii_digit()).len();
        Some((name[..stem].to_owned(), name[stem..].parse::<usize>().ok()?))
    };
    match (apart(name), apart(source)) {
        (Some((stem, number)), Some((own, first))) => stem == own && number > first,
        _ => false,
    }
}

/// Returns the entry of a level, from that of the source; `None` if that has no transformations of a known form.
fn dataset(own: &Value, path: &str, level: &Level, method: Method) -> Option<Value> {
    let mut dataset = own.as_object()?.clone();
    dataset.insert("path", path);
    let transformations = dataset.get("coordinateTransformations")?.as_array()?;
    let list: Vec<Value> =
        transformations.iter().map(|each| moved(each, path, level, method)).collect::<Option<_>>()?;
    let list = if list.iter().any(|each| kind(each) == Some("sequence")) { list } else { merged(list, level, method)? };
    dataset.insert("coordinateTransformations", Value::Array(list));
    Some(Value::Object(dataset))
}

fn kind(transformation: &Value) -> Option<&str> {
    transformation.as_object()?.get("type")?.as_str()
}

/// Returns a transformation with the array at `path` as its input. That of a level of version 0.6 is a sequence with the transformations of
/// other versions, or one of them.
fn moved(transformation: &Value, path: &str, level: &Level, method: Method) -> Option<Value> {
    let mut map = transformation.as_object()?.clone();
    let Some(mut input) = map.get("input").cloned() else { return Some(transformation.clone()) };
    match &mut input {
        Value::Object(input) if input.contains_key("path") => _ = input.insert("path", path),
        Value::String(_) => input = Value::from(path),
        _ => {}
    }
    let list = match map.get("transformations") {
        Some(list) => list.as_array()?.to_vec(),
        None => {
            let mut own = map.clone();
            ["input", "output", "name"].iter().for_each(|name| _ = own.remove(name));
            vec![Value::Object(own)]
        }
    };
    let mut merged = merged(list, level, method)?;
    let mut new = Map::new();
    if merged.len() == 1 {
        new = merged.pop()?.as_object()?.clone();
    } else {
        new.insert("type", "sequence");
        new.insert("transformations", Value::Array(merged));
    }
    new.insert("input", input);
    for name in ["output", "name"] {
        if let Some(value) = map.remove(name) {
            new.insert(name, value);
        }
    }
    Some(Value::Object(new))
}

/// Returns a scale and a translation for a level, from those of the source.
fn merged(list: Vec<Value>, level: &Level, method: Method) -> Option<Vec<Value>> {
    let rank = level.factors.len();
    let numbers = |value: &Value, name: &str| -> Option<Vec<f64>> {
        let list: Vec<f64> =
            value.as_object()?.get(name)?.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
        (list.len() == rank).then_some(list)
    };
    let (mut scale, mut translation) = (vec![1.0; rank], vec![0.0; rank]);
    for transformation in &list {
        match kind(transformation)? {
            "identity" => {}
            "scale" => {
                let factors = numbers(transformation, "scale")?;
                scale.iter_mut().zip(&factors).for_each(|(scale, factor)| *scale *= factor);
                translation.iter_mut().zip(&factors).for_each(|(translation, factor)| *translation *= factor);
            }
            "translation" => {
                let offsets = numbers(transformation, "translation")?;
                translation.iter_mut().zip(&offsets).for_each(|(translation, offset)| *translation += offset);
            }
            _ => return None,
        }
    }
    for (axis, &factor) in level.factors.iter().enumerate() {
        translation[axis] += scale[axis] * offset(factor, level.step[axis], method);
        scale[axis] *= factor as f64;
    }
    let list = |name: &str, numbers: Vec<f64>| {
        let mut map = Map::new();
        map.insert("type", name);
        map.insert(name, Value::Array(numbers.into_iter().map(Value::from).collect()));
        Value::Object(map)
    };
    let is_moved = translation.iter().any(|offset| *offset != 0.0);
    let mut both = vec![list("scale", scale)];
    if is_moved {
        both.push(list("translation", translation));
    }
    Some(both)
}

/// Returns the position of the first element of a level, in elements of the source along an axis.
fn offset(factor: u64, step: u64, method: Method) -> f64 {
    if method != Method::Nearest {
        return (factor as f64 - 1.0) / 2.0;
    }
    // Each level picks the element at the centre of a block of the one before it.
    let (mut offset, mut finer) = (0, 1);
    while step > 1 && finer < factor {
        offset += finer * ((step - 1) / 2);
        finer *= step;
    }
    offset as f64
}
