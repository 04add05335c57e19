//! Georeferences written to attributes.

use crate::read::crs;
use crate::rules::ATTRIBUTES;
use crate::{Convention, Georeference, Level, Registration, ValueError};
use zarr_json::pointer::At;
use zarr_json::{Map, Value};

/// Attributes of `proj` that are written.
const OF_PROJ: [&str; 3] = ["proj:code", "proj:wkt2", "proj:projjson"];

impl Georeference {
    /// Writes the georeference to attributes, and registers its conventions. What it says of the place and the reference system replaces
    /// what is there. Everything else stays: other attributes, members of `multiscales` and its levels that are not known, and
    /// descriptions of the reference system beside the one that is there already. The bounding box is written if it is known or follows
    /// from the transformation and the shape. Beside levels neither a transformation nor a shape is written: each level has its own.
    ///
    /// # Errors
    /// An error if there are levels, and the attribute `multiscales` is no object: a list is that of OME-Zarr. Then nothing is changed.
    pub fn write(&self, attributes: &mut Map) -> Result<(), ValueError> {
        if !self.levels.is_empty() {
            let pyramid = match attributes.get("multiscales") {
                None => Map::new(),
                Some(Value::Object(pyramid)) => pyramid.clone(),
                Some(other) => {
                    let at = At::new(other, "/attributes/multiscales");
                    return Err(at.invalid("an object or no such attribute, since OME-Zarr has a list"));
                }
            };
            Convention::Multiscales.register(attributes);
            attributes.insert("multiscales", self.pyramid_in(pyramid));
        }
        if self.crs.is_none() || crs(|name| attributes.get(name).filter(|value| !value.is_null())) != self.crs {
            for name in OF_PROJ {
                attributes.remove(name);
            }
            if let Some(crs) = &self.crs {
                attributes.insert(crs.attribute(), crs.to_value());
            }
        }
        if self.crs.is_some() {
            Convention::Proj.register(attributes);
        }
        for (name, _) in ATTRIBUTES.iter().filter(|(name, _)| name.starts_with("spatial:")) {
            attributes.remove(name);
        }
        let has_levels = attributes.get("multiscales").is_some_and(|pyramid| pyramid.get("layout").is_some());
        let spatial = self.spatial(has_levels);
        if !spatial.is_empty() {
            Convention::Spatial.register(attributes);
            for (name, value) in spatial {
                attributes.insert(name, value);
            }
        }
        Ok(())
    }

    /// Returns `multiscales` with the levels of the georeference, and the members that it has beside them.
    fn pyramid_in(&self, mut pyramid: Map) -> Map {
        let old = pyramid.get("layout").and_then(Value::as_array).unwrap_or_default().to_vec();
        let level = |level: &Level| {
            let is_it = |item: &&Value| item.get("asset").and_then(Value::as_str) == Some(&level.asset);
            let before = old.iter().find(is_it).and_then(Value::as_object).cloned();
            Value::Object(of_level(level, before.unwrap_or_default()))
        };
        let layout: Vec<Value> = self.levels.iter().map(level).collect();
        pyramid.insert("layout", Value::Array(layout));
        pyramid
    }

    /// Attributes of the convention `spatial`, in the order of its specification. Levels have transformations and shapes of their own.
    fn spatial(&self, has_levels: bool) -> Vec<(&'static str, Value)> {
        let mut spatial = Vec::new();
        if let Some(names) = &self.dimensions {
            spatial.push(("spatial:dimensions", Value::from(names.to_vec())));
        }
        if let Some(bbox) = self.computed_extent().or(self.bbox) {
            spatial.push(("spatial:bbox", Value::from(bbox.to_vec())));
        }
        if let Some(kind) = &self.transform_type {
            spatial.push(("spatial:transform_type", Value::from(kind.as_str())));
        }
        let transform = self.transform.filter(|_| !has_levels);
        if let Some(transform) = transform {
            spatial.push(("spatial:transform", Value::from(transform.0.to_vec())));
        }
        if let Some(shape) = self.shape.filter(|shape| !has_levels && shape.iter().all(|&len| len > 0)) {
            spatial.push(("spatial:shape", Value::from(shape.to_vec())));
        }
        // The default is not written alone.
        if self.registration == Registration::Node || transform.is_some() {
            spatial.push(("spatial:registration", Value::from(self.registration.name())));
        }
        spatial
    }
}

/// Returns the members of a level, with those that are not known.
fn of_level(level: &Level, mut members: Map) -> Map {
    let list = |list: &[f64]| (!list.is_empty()).then(|| Value::from(list.to_vec()));
    let mut transform = members.get("transform").and_then(Value::as_object).cloned().unwrap_or_default();
    set(&mut transform, "scale", list(&level.scale));
    set(&mut transform, "translation", list(&level.translation));
    let has_transform = !transform.is_empty() || level.derived_from.is_some();
    set(&mut members, "asset", Some(Value::from(level.asset.as_str())));
    set(&mut members, "derived_from", level.derived_from.as_deref().map(Value::from));
    set(&mut members, "transform", has_transform.then_some(Value::Object(transform)));
    set(&mut members, "spatial:shape", level.shape.map(|shape| Value::from(shape.to_vec())));
    set(&mut members, "spatial:transform", level.transform.map(|transform| Value::from(transform.0.to_vec())));
    members
}

/// Sets a member, or removes it.
fn set(members: &mut Map, name: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(members.insert(name, value)),
        None => drop(members.remove(name)),
    }
}
