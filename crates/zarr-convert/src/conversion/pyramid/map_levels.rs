//! Levels listed in the attributes of GeoZarr of the group that they lie in.

use super::{Level, Pyramid};
use zarr_array::Group;
use zarr_geo::{Convention, Georeference, Registration, Transform};
use zarr_hierarchy::{Error, Result};
use zarr_meta::NodePath;

/// Lists the levels in the attribute `multiscales` of their group by the convention of GeoZarr, if the source is a map: it has attributes
/// of GeoZarr, or its group has some, and the dimensions of y and x are known. Levels that are written follow the source, in the place of
/// those behind it.
///
/// Nothing is changed if the attribute is that of another convention, such as OME-Zarr, or lists other arrays, and if there is no list and
/// the name of the source is more than a number: the group may have several pyramids. Nor is it if the group has a place itself that
/// other nodes may have from it, or attributes that cannot be read, and if pixels are points.
pub(super) fn extend(pyramid: &Pyramid) -> Result<()> {
    let mut group = match Group::open(&pyramid.target, &pyramid.group.to_string(), pyramid.source.registry()) {
        Err(error) if error.is_not_found() => return Ok(()),
        group => group?,
    };
    let mut attributes = group.attributes()?.clone();
    if let Some(map) = extended(pyramid, &group)? {
        map.write(&mut attributes).map_err(|error| Error::from(zarr_meta::Error::from(error)))?;
        if map.levels.iter().any(|level| level.transform.is_some()) {
            Convention::Spatial.register(&mut attributes);
        }
        group.set_attributes(attributes)?;
    }
    Ok(())
}

/// Returns the georeference of the group `of_levels`, with the levels; `None` if they are not listed.
fn extended(pyramid: &Pyramid, of_levels: &Group) -> Result<Option<Georeference>> {
    let (source, attributes) = (&pyramid.source, of_levels.attributes()?);
    let mut group = Georeference::read(attributes).unwrap_or_default();
    // What cannot be read would be lost.
    if !group.faults.is_empty() || group.transform_type.is_some() {
        return Ok(None);
    }
    let mut own = Georeference::read(source.attributes()?).unwrap_or_default();
    let name = source.path().name().unwrap_or_default();
    let of_group = if pyramid.is_beside { group.dimensions.clone() } else { None };
    let Some(dimensions) = super::place::dimensions(source)?.or(of_group) else { return Ok(None) };
    let names = source.dimension_names().unwrap_or_default();
    let axis_of = |name: &String| names.iter().position(|known| known.as_ref() == Some(name));
    let [Some(y), Some(x)] = dimensions.each_ref().map(axis_of) else { return Ok(None) };
    if pyramid.is_beside {
        own = own.inheriting(&group, name);
    }
    // The list has no place for the offsets of points.
    if (own.crs.is_none() && own.transform.is_none()) || own.registration == Registration::Node {
        return Ok(None);
    }
    let written = |asset: &str| pyramid.levels.iter().any(|level| level.path.name() == Some(asset));
    let listed = |is_it: &dyn Fn(&str) -> bool| group.levels.iter().any(|level| is_it(&level.asset));
    let is_free = group.levels.is_empty()
        && !attributes.contains_key("multiscales")
        && !attributes.contains_key("ome")
        && pyramid.options.level.is_none();
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let is_extended = match pyramid.is_beside {
        true => listed(&|asset| asset == name) || (is_free && is_number),
        false => is_free || listed(&written),
    };
    if !is_extended {
        return Ok(None);
    }
    // Beside levels a group has no place of its own, which other nodes may have from it.
    let has_place = group.transform.is_some() || group.shape.is_some();
    let is_level = |path: &NodePath| {
        let name = path.name().unwrap_or_default();
        written(name) || (pyramid.is_beside && path == source.path())
    };
    if has_place && !of_levels.children()?.nodes.iter().all(|node| is_level(&node.path)) {
        return Ok(None);
    }
    let is_listed = pyramid.is_beside && listed(&|asset| asset == name);
    let first = match pyramid.is_beside {
        true => name.to_owned(),
        false => pyramid.levels.first().and_then(|level| level.path.name()).unwrap_or_default().to_owned(),
    };
    let new_level = |level: &Level| {
        let asset = level.path.name().unwrap_or_default();
        let shape = [level.shape[y], level.shape[x]];
        let new = zarr_geo::Level::new(asset);
        let new = match asset == first {
            true => new,
            false => new.derived_from(&first, level.factors[y] as f64, level.factors[x] as f64),
        };
        let of_level = Georeference::read(level.node.target.attributes()).and_then(|read| read.transform);
        let scaled = || Some(own.transform?.scaled(level.factors[x] as f64, level.factors[y] as f64));
        placed(new, of_level.or_else(scaled), shape)
    };
    let mut levels: Vec<zarr_geo::Level> = Vec::new();
    if pyramid.is_beside && !is_listed {
        let shape = [source.shape()[y], source.shape()[x]];
        levels.push(placed(zarr_geo::Level::new(name), own.transform, shape));
    }
    // Elsewhere all levels but a single one are written, so that others are those of an earlier array.
    let stays = |asset: &str| match (pyramid.is_beside, pyramid.options.level) {
        (_, Some(_)) => !written(asset),
        (true, None) => !written(asset) && !super::image::is_behind(asset, name),
        (false, None) => false,
    };
    levels.extend(group.levels.iter().filter(|level| stays(&level.asset)).cloned());
    let finer = |level: &zarr_geo::Level| pyramid.is_beside && level.asset == name;
    let at = levels.iter().position(finer).map_or(levels.len(), |at| at + 1);
    levels.splice(at..at, pyramid.levels.iter().map(new_level));
    group.levels = levels;
    Ok(Some(group))
}

fn placed(mut level: zarr_geo::Level, transform: Option<Transform>, [rows, columns]: [u64; 2]) -> zarr_geo::Level {
    (level.transform, level.shape) = (transform, Some([rows, columns]));
    level
}
