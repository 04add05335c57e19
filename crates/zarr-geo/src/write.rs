//! Georeferences written to attributes.

use crate::{Convention, Georeference, Level, Registration};
use zarr_json::{Map, Value};

impl Georeference {
    /// Writes the georeference to attributes, and registers its conventions. Attributes of GeoZarr that are there already are replaced,
    /// others stay. The bounding box is written if it is known or follows from the transformation and the shape.
    pub fn write(&self, attributes: &mut Map) {
        let is_own = |name: &str| name.starts_with("proj:") || name.starts_with("spatial:");
        let old: Vec<String> = attributes.keys().filter(|name| is_own(name)).map(|name| (*name).to_owned()).collect();
        for name in old {
            attributes.remove(&name);
        }
        if !self.levels.is_empty() {
            Convention::Multiscales.register(attributes);
            let mut layout = Map::new();
            layout.insert(
                "layout",
                Value::Array(self.levels.iter().map(|level| Value::Object(of_level(level))).collect()),
            );
            attributes.insert("multiscales", layout);
        }
        if let Some(crs) = &self.crs {
            Convention::Proj.register(attributes);
            attributes.insert(crs.attribute(), crs.to_value());
        }
        let spatial = self.spatial();
        if !spatial.is_empty() {
            Convention::Spatial.register(attributes);
            for (name, value) in spatial {
                attributes.insert(name, value);
            }
        }
    }

    /// Attributes of the convention `spatial`, in the order of its specification.
    fn spatial(&self) -> Vec<(&'static str, Value)> {
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
        if let Some(transform) = self.transform {
            spatial.push(("spatial:transform", Value::from(transform.0.to_vec())));
        }
        if let Some(shape) = self.shape {
            spatial.push(("spatial:shape", Value::from(shape.to_vec())));
        }
        // The default is not written alone.
        if self.registration == Registration::Node || self.transform.is_some() {
            spatial.push(("spatial:registration", Value::from(self.registration.name())));
        }
        spatial
    }
}

fn of_level(level: &Level) -> Map {
    let mut members = Map::new();
    members.insert("asset", level.asset.as_str());
    if let Some(source) = &level.derived_from {
        members.insert("derived_from", source.as_str());
    }
    let mut transform = Map::new();
    for (name, list) in [("scale", &level.scale), ("translation", &level.translation)] {
        if !list.is_empty() {
            transform.insert(name, list.clone());
        }
    }
    if !transform.is_empty() || level.derived_from.is_some() {
        members.insert("transform", transform);
    }
    if let Some(shape) = level.shape {
        members.insert("spatial:shape", shape.to_vec());
    }
    if let Some(transform) = level.transform {
        members.insert("spatial:transform", transform.0.to_vec());
    }
    members
}
