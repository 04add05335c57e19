//! Labels of maps: coordinates by a georeference.

use crate::Result;
use crate::labels::{AxisLabels, Positions};
use crate::samples::Samples;
use zarr_array::{Array, StoredNode};
use zarr_dataset::{Dataset, georeference_of, inherited_georeference};
use zarr_geo::{Georeference, Registration};
use zarr_json::Value;

/// Returns where the elements of an array of two or more axes are, by its attributes of GeoZarr, by those of its group, by the grid mapping
/// of the variable that it is of a data set, and by those of a group above whose level it is; `None` if none of these says anything.
/// Coordinates are read only where there is a grid mapping, and groups above only where the place or the reference system is not known.
///
/// # Errors
/// The errors of [`Dataset::georeference`], of [`inherited_georeference`], and of reading attributes.
pub fn place_of(array: &Array, node: &StoredNode, variable: Option<(&Dataset, &str)>) -> Result<Option<Georeference>> {
    if array.shape().len() < 2 {
        return Ok(None);
    }
    let says = |place: &Georeference| place.crs.is_some() || place.transform.is_some() || place.bbox.is_some();
    match own_place(array, variable)?.filter(says) {
        Some(place) if place.crs.is_some() && place.transform.is_some() => Ok(Some(place)),
        found => Ok(inherited_georeference(&**array.store(), node)?.filter(says).or(found)),
    }
}

/// Returns where the elements of an array are, by its attributes, those of the group of its data set, and its grid mapping.
fn own_place(array: &Array, variable: Option<(&Dataset, &str)>) -> Result<Option<Georeference>> {
    let found = georeference_of(array)?;
    let Some((dataset, name)) = variable else { return Ok(found) };
    let has_mapping = array.attributes()?.get("grid_mapping").and_then(Value::as_str).is_some()
        || dataset.variable(name)?.encoding().contains_key("grid_mapping");
    if has_mapping {
        return dataset.georeference(name);
    }
    let of_group = Georeference::read(dataset.group().attributes()?);
    Ok(match (found, of_group) {
        (Some(own), Some(group)) => Some(own.inheriting(&group, name)),
        (found, _) => found,
    })
}

impl AxisLabels {
    /// Returns the labels of samples along a dimension of a map: coordinates of the centres of pixels by the transformation of the
    /// georeference, in the unit of its reference system. `None` for a dimension that is neither y nor x, and for a map without a
    /// transformation or with a rotated one.
    pub fn of_place(place: &Georeference, dimension: &str, samples: &Samples) -> Option<Self> {
        let [a, b, c, d, e, f] = place.transform?.0;
        let [y, x] = place.dimensions.as_ref()?;
        let (step, first) = match dimension {
            name if name == x => (a, c),
            name if name == y => (e, f),
            _ => return None,
        };
        if b != 0.0 || d != 0.0 {
            return None;
        }
        let middle = if place.registration == Registration::Pixel { 0.5 } else { 0.0 };
        let position = |number: u64| first + step * (samples.index(number) as f64 + middle);
        Some(Self {
            name: Some(dimension.to_owned()),
            units: place.crs.as_ref().and_then(|crs| crs.unit()).map(str::to_owned),
            positions: Positions::Numbers((0..samples.count).map(position).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use zarr_geo::{Crs, Transform};

    fn scene(registration: Registration) -> Georeference {
        let transform = Transform([10.0, 0.0, 500_000.0, 0.0, -20.0, 5_000_000.0]);
        Georeference::new().crs(Crs::epsg(32633)).dimensions("y", "x").transform(transform).registration(registration)
    }

    proptest! {
        /// Labels are the coordinates of the middles of pixels, or of points.
        #[test]
        fn labels_are_those_of_the_transformation(start in 0_u64..1000, step in 1_i64..9, count in 1_u64..20, is_point in any::<bool>()) {
            let place = scene(if is_point { Registration::Node } else { Registration::Pixel });
            let samples = Samples::all(start, step, count);
            let middle = if is_point { 0.0 } else { 0.5 };
            let numbers = |dimension: &str| match AxisLabels::of_place(&place, dimension, &samples).unwrap().positions {
                Positions::Numbers(numbers) => numbers,
                _ => Vec::new(),
            };
            let (x, y) = (numbers("x"), numbers("y"));
            prop_assert_eq!((x.len() as u64, y.len() as u64), (count, count));
            for (number, (x, y)) in (0..count).zip(x.into_iter().zip(y)) {
                let index = samples.index(number) as f64 + middle;
                prop_assert_eq!((x, y), place.transform.unwrap().at(index, index));
            }
        }
    }

    #[test]
    fn what_is_no_map_has_no_labels() {
        let samples = Samples::all(0, 1, 4);
        let place = scene(Registration::Pixel);
        assert_eq!(AxisLabels::of_place(&place, "x", &samples).unwrap().units.as_deref(), Some("m"));
        assert_eq!(AxisLabels::of_place(&place, "band", &samples), None);
        let rotated = place.clone().transform(Transform([1.0, 0.5, 0.0, 0.5, 1.0, 0.0]));
        assert_eq!(AxisLabels::of_place(&rotated, "x", &samples), None);
        assert_eq!(AxisLabels::of_place(&place.transform(None), "x", &samples), None);
    }
}
