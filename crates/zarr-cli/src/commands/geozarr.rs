//! GeoZarr attributes that a conversion writes, and lines about those that a node has.

use crate::context::Context;
use crate::failure::{Failure, Result};
use clap::Args;
use std::sync::Arc;
use zarr::dataset::{Dataset, DatasetOptions, georeference_of};
use zarr::geo::{Crs, Georeference, Transform};
use zarr::meta::{Node, NodePath, StoredNode};
use zarr::{Array, Group, Store};

/// Where the elements of the result are.
#[derive(Clone, Debug, Args)]
pub(crate) struct Place {
    /// With --convention geozarr: the coordinate reference system, such as EPSG:4326, as a code, WKT2 or PROJJSON; by default that of the
    /// grid mapping of CF.
    #[arg(long, value_name = "CRS", help_heading = super::convert::RESULT, hide_short_help = true)]
    crs: Option<Crs>,
    /// With --convention geozarr: x = a column + b row + c, y = d column + e row + f, where (0, 0) is the corner of the first pixel; by
    /// default what follows from evenly spaced coordinates.
    #[arg(long, value_name = "A,B,C,D,E,F", value_parser = transform, allow_hyphen_values = true, help_heading = super::convert::RESULT, hide_short_help = true)]
    transform: Option<Transform>,
}

/// Parses the six numbers of a transformation.
fn transform(text: &str) -> Result<Transform, String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    let numbers: Option<[f64; 6]> = numbers.and_then(|numbers| numbers.try_into().ok());
    let is_finite = |numbers: &[f64; 6]| numbers.iter().all(|number| number.is_finite());
    numbers
        .filter(is_finite)
        .map(Transform)
        .ok_or_else(|| "expected six numbers such as 10,0,500000,0,-10,5000000".to_owned())
}

/// Arrays of which the place is known.
enum Placed {
    /// Variables of a data set, each with its georeference.
    Variables(Box<Dataset>, Vec<(String, Georeference)>),
    /// Array of no data set, with its georeference.
    Array(Box<(Array, Georeference)>),
}

impl Place {
    /// Whether an option is given.
    pub(crate) fn is_given(&self) -> bool {
        self.crs.is_some() || self.transform.is_some()
    }

    /// Refuses a store of whose arrays no place is known.
    pub(crate) fn check(&self, context: &Context, store: &Arc<dyn Store>, path: &NodePath) -> Result<()> {
        self.placed(context, store, path).map(drop)
    }

    /// Writes the attributes to the node at a path, and to all below it.
    pub(crate) fn write(&self, context: &Context, store: &Arc<dyn Store>, path: &NodePath) -> Result<()> {
        for placed in self.placed(context, store, path)? {
            match placed {
                Placed::Variables(dataset, all) => {
                    let all = all.iter().map(|(name, found)| Ok((dataset.variable(name)?, found.clone())));
                    dataset.write_georeferences(&all.collect::<zarr::Result<Vec<_>>>()?)?;
                }
                Placed::Array(alone) => {
                    let (mut array, found) = *alone;
                    let mut attributes = array.attributes()?.clone();
                    found.write(&mut attributes);
                    array.set_attributes(attributes)?;
                }
            }
        }
        Ok(())
    }

    /// Finds the arrays of which the place is known. None is a failure.
    fn placed(&self, context: &Context, store: &Arc<dyn Store>, path: &NodePath) -> Result<Vec<Placed>> {
        let walk = zarr::hierarchy::walk_stored(&**store, &path.to_string(), None)?;
        let (mut all, mut is_without_crs, mut is_without_transform) = (Vec::new(), false, false);
        let mut take = |found: &Georeference| {
            is_without_crs |= found.crs.is_none();
            is_without_transform |= found.transform.is_none();
            found.crs.is_some() && found.transform.is_some()
        };
        let ignore = store.capabilities().list;
        let options = DatasetOptions::default().arrays(context.options()).ignore_consolidated(ignore);
        for node in walk.nodes {
            let is_alone = node.path == *path && node.node.as_array().is_some();
            if is_alone {
                let array = Array::from_found(store, node, &context.registry, context.options())?;
                let found = georeference_of(&array)?.map(|found| self.over(found));
                all.extend(found.filter(|found| take(found)).map(|found| Placed::Array(Box::new((array, found)))));
                continue;
            }
            let Node::Group(_) = node.node else { continue };
            let group = Group::from_found(store, node, &context.registry)?;
            // Groups of levels or of arrays without named dimensions are no data sets.
            let Ok(dataset) = Dataset::open_with(&group, &options) else { continue };
            let mut placed = Vec::new();
            for variable in dataset.data_variables() {
                let found = dataset.georeference(variable.name())?.map(|found| self.over(found));
                placed.extend(found.filter(|found| take(found)).map(|found| (variable.name().to_owned(), found)));
            }
            if !placed.is_empty() {
                all.push(Placed::Variables(Box::new(dataset), placed));
            }
        }
        if !all.is_empty() {
            return Ok(all);
        }
        Err(match (is_without_crs, is_without_transform) {
            (true, _) => Failure::usage(format!("{path}: the coordinate reference system of no array is known"))
                .with_hint("--crs EPSG:4326 says that it is latitude and longitude"),
            (false, true) => Failure::usage(format!("{path}: no array has evenly spaced coordinates of y and x"))
                .with_hint("--transform says where the pixels are"),
            (false, false) => Failure::usage(format!("{path}: no array has dimensions of y and x by their names"))
                .with_hint("`zarr rename-dims` names dimensions: y and x, or lat and lon"),
        })
    }

    /// Replaces what the arguments say.
    fn over(&self, mut found: Georeference) -> Georeference {
        found.crs = self.crs.clone().or(found.crs);
        if let Some(transform) = self.transform {
            (found.transform, found.transform_type, found.bbox) = (Some(transform), None, None);
        }
        found
    }
}

/// Reads the georeference of a node; `None` if it has no attributes of GeoZarr.
pub(crate) fn georeference(found: &StoredNode) -> Option<Georeference> {
    Georeference::read(found.node.attributes())
}

/// Georeference of an array with what it inherits from its group, which is read if the array says nothing of its own place or reference
/// system and has other attributes of GeoZarr.
pub(crate) fn whole(store: &Arc<dyn Store>, found: &StoredNode) -> Option<Georeference> {
    let own = georeference(found)?;
    if found.node.as_array().is_none() || (own.crs.is_some() && own.transform.is_some()) {
        return Some(own);
    }
    let above = found.path.parent().and_then(|path| zarr::hierarchy::open_node(&**store, &path.to_string(), None).ok());
    let of_group = above.as_ref().and_then(georeference).unwrap_or_default();
    Some(own.inheriting(&of_group))
}
