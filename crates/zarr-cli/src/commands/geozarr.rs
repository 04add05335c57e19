//! GeoZarr attributes that a conversion writes, and lines about those that a node has.

use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use clap::Args;
use std::collections::BTreeMap;
use zarr::convert::ConvertOptions;
use zarr::dataset::{Dataset, DatasetOptions, georeference_of};
use zarr::geo::{Crs, Georeference, Transform};
use zarr::grid::Region;
use zarr::meta::{Node, NodePath, StoredNode};
use zarr::{Array, ErrorKind, Group};

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

impl Place {
    /// Whether an option is given.
    pub(crate) fn is_given(&self) -> bool {
        self.crs.is_some() || self.transform.is_some()
    }

    /// Adds the georeferences of all arrays that are converted, of the regions that are taken, and of groups whose arrays all have the same.
    /// A source of whose arrays no place is known is refused.
    pub(crate) fn taken(
        &self,
        context: &Context,
        source: &NodeLocation,
        options: ConvertOptions,
    ) -> Result<ConvertOptions> {
        let path = &source.path;
        let is_left = |found: &NodePath| {
            let is_chosen = options.arrays.as_ref().is_none_or(|chosen| chosen.contains(found));
            !is_chosen || options.exclude.iter().any(|left| found.is_within(left))
        };
        let (mut all, mut is_without_crs, mut is_without_transform) = (Vec::new(), false, false);
        for (array, found) in self.found(context, source)?.into_iter().filter(|(array, _)| !is_left(array.path())) {
            is_without_crs |= found.crs.is_none();
            is_without_transform |= found.transform.is_none();
            if found.crs.is_some() && found.transform.is_some() {
                all.push((array, found));
            }
        }
        if all.is_empty() {
            return Err(match (is_without_crs, is_without_transform) {
                (true, _) => Failure::usage(format!("{path}: the coordinate reference system of no array is known"))
                    .with_hint("--crs EPSG:4326 says that it is latitude and longitude"),
                (false, true) => Failure::usage(format!("{path}: no array has evenly spaced coordinates of y and x"))
                    .with_hint("--transform says where the pixels are"),
                (false, false) => Failure::usage(format!("{path}: no array has dimensions of y and x by their names"))
                    .with_hint("`zarr rename-dims` names dimensions: y and x, or lat and lon"),
            });
        }
        self.refuse_shapes(&all)?;
        let mut places = BTreeMap::new();
        for (array, found) in all {
            let place = in_region(&array, found, options.regions.get(array.path()))?;
            places.insert(array.path().clone(), place);
        }
        // A group has the place that all its arrays have.
        let mut groups: BTreeMap<NodePath, Option<Georeference>> = BTreeMap::new();
        for (array, place) in &places {
            let Some(group) = array.parent().filter(|_| array != path) else { continue };
            let same = groups.entry(group).or_insert_with(|| Some(place.clone()));
            *same = same.take().filter(|known| known == place);
        }
        places.extend(groups.into_iter().filter_map(|(group, place)| Some((group, place?))));
        Ok(options.georeferences(places))
    }

    /// Refuses a transformation of arrays that have not all the same number of rows and columns: it would be wrong for some.
    fn refuse_shapes(&self, all: &[(Array, Georeference)]) -> Result<()> {
        let Some(((first, place), others)) = all.split_first().filter(|_| self.transform.is_some()) else {
            return Ok(());
        };
        let Some((other, found)) = others.iter().find(|(_, found)| found.shape != place.shape) else { return Ok(()) };
        let [one, two] = [place, found].map(|found| found.shape.map_or_else(String::new, |shape| format!("{shape:?}")));
        let message = format!(
            "--transform: {} has {one} rows and columns, and {} has {two}, expected the same of all arrays",
            first.path(),
            other.path()
        );
        Err(Failure::usage(message)
            .with_hint("--node converts one group or array, with the transformation of its pixels"))
    }

    /// Finds the arrays with dimensions of y and x, each with what is known of its place.
    fn found(&self, context: &Context, source: &NodeLocation) -> Result<Vec<(Array, Georeference)>> {
        let (store, path) = (&source.store, &source.path);
        let walk = zarr::hierarchy::walk_stored(&**store, &path.to_string(), None)?;
        let mut all = Vec::new();
        let ignore = store.capabilities().list;
        let options = DatasetOptions::default().arrays(context.options()).ignore_consolidated(ignore);
        for node in walk.nodes {
            if node.path == *path && node.node.as_array().is_some() {
                let array = Array::from_found(store, node, &context.registry, context.options())?;
                let found = georeference_of(&array)?;
                all.extend(found.map(|found| (array, self.over(found))));
                continue;
            }
            let Node::Group(_) = node.node else { continue };
            let group = Group::from_found(store, node, &context.registry)?;
            match Dataset::open_with(&group, &options) {
                Ok(dataset) => {
                    if self.crs.is_none() {
                        self.warn_of_mappings(context, &dataset)?;
                    }
                    let found = dataset.georeferences()?.into_iter();
                    all.extend(found.map(|(variable, found)| (variable.stored().clone(), self.over(found))));
                }
                // Groups of levels or of arrays without named dimensions are no data sets.
                Err(error) if error.kind() == ErrorKind::InvalidMetadata => {
                    context.warnings(&[format!("{}: no places are written: {error}", group.path())]);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(all)
    }

    /// Warns of grid mappings whose coordinate reference systems are not known, once for each.
    fn warn_of_mappings(&self, context: &Context, dataset: &Dataset) -> Result<()> {
        let mut told: Vec<String> = Vec::new();
        for variable in dataset.data_variables() {
            let fault = dataset.grid_mapping_fault(variable.name())?;
            told.extend(fault.filter(|fault| !told.contains(fault)));
        }
        let path = dataset.group().path();
        told.iter_mut().for_each(|fault| *fault = format!("{path}: the grid mapping is left out: {fault}"));
        context.warnings(&told);
        Ok(())
    }

    /// Replaces what the arguments say.
    fn over(&self, found: Georeference) -> Georeference {
        let crs = self.crs.clone().or_else(|| found.crs.clone());
        let found = found.crs(crs);
        match self.transform {
            Some(transform) => found.placed_by(transform),
            None => found,
        }
    }
}

/// Georeference of the region of an array.
fn in_region(array: &Array, found: Georeference, region: Option<&Region>) -> Result<Georeference> {
    let (Some(region), Some(names)) = (region, found.dimensions.clone()) else { return Ok(found) };
    let known = array.dimension_names().unwrap_or_default();
    let range = |name: &String| {
        let axis = known.iter().position(|known| known.as_ref() == Some(name))?;
        region.axes().get(axis).copied()
    };
    let [y, x] = &names;
    let Some((y, x)) = range(y).zip(range(x)) else {
        let message = format!("{}: found no names of dimensions, by which its region is placed", array.path());
        return Err(Failure::usage(message));
    };
    Ok(found.region([y.start, x.start], [y.step, x.step], [y.len, x.len]))
}

/// Reads the georeference of a node; `None` if it has no attributes of GeoZarr.
pub(crate) fn georeference(found: &StoredNode) -> Option<Georeference> {
    Georeference::read(found.node.attributes())
}
