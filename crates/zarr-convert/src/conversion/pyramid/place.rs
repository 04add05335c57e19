//! Attributes of GeoZarr of levels, whose pixels are larger than those of the source.

use super::super::place::{OF_PLACE, closest_dimensions};
use super::{Level, Method};
use zarr_array::{Array, Group};
use zarr_geo::{Convention, Georeference, Registration};
use zarr_hierarchy::{Error, Result};
use zarr_json::Value;
use zarr_meta::Node;

/// Moves the place in the attributes of a level, which are those of the source, to the level. Pixels that are areas keep the corner of the
/// first one; those that are points get the coordinates of the centres of their blocks, or of the elements that are picked. What cannot be
/// moved is left out. `names` are those of the dimensions of y and x, which the level gets as well, since it may be in another group than
/// the source.
pub(super) fn scale(level: &mut Level, source: &Array, names: Option<&[String; 2]>, method: Method) -> Result<()> {
    let Node::Array(array) = &mut level.node.target else { return Ok(()) };
    let Some(mut read) = Georeference::read(&array.attributes) else { return Ok(()) };
    let is_whole = level.factors.iter().all(|&factor| factor == 1);
    let known = source.dimension_names().unwrap_or_default();
    let axis_of = |name: &str| known.iter().position(|known| known.as_deref() == Some(name));
    let axes = names.and_then(|[y, x]| Some([axis_of(y)?, axis_of(x)?]));
    let Some((names, axes)) = names.zip(axes) else {
        if !is_whole {
            OF_PLACE.iter().for_each(|name| drop(array.attributes.remove(name)));
        }
        return Ok(());
    };
    if read.dimensions.is_none() && OF_PLACE.iter().any(|name| array.attributes.contains_key(name)) {
        read.dimensions = Some(names.clone());
        array.attributes.insert("spatial:dimensions", Value::from(names.to_vec()));
        Convention::Spatial.register(&mut array.attributes);
    }
    let factors = axes.map(|axis| level.factors[axis]);
    if is_whole || factors == [1, 1] {
        return Ok(());
    }
    let shape = axes.map(|axis| level.shape[axis]);
    // The last block may have fewer elements than others.
    let is_even = axes.iter().all(|&axis| source.shape()[axis].is_multiple_of(level.factors[axis]));
    let [row, column] = match read.registration {
        Registration::Node => {
            axes.map(|axis| offset(method, source.shape()[axis], level.factors[axis], level.step[axis]))
        }
        _ => [0.0, 0.0],
    };
    let [down, across] = factors.map(|factor| factor as f64);
    let transform = read.transform.map(|transform| transform.shifted(column, row).scaled(across, down));
    let bbox = match transform {
        Some(transform) => read.bbox.and_then(|_| {
            let whole = Georeference::new().transform(transform).registration(read.registration);
            whole.shape(shape[0], shape[1]).computed_extent()
        }),
        None => read.bbox.filter(|_| is_even && read.registration == Registration::Pixel),
    };
    let shape = read.shape.map(|_| shape);
    let mut place = read.levels(Vec::new());
    (place.transform, place.transform_type, place.bbox, place.shape) = (transform, None, bbox, shape);
    place.write(&mut array.attributes).map_err(|error| Error::from(zarr_meta::Error::from(error)))
}

/// Returns the names of the dimensions of y and x of an array with a place: its own, or those of the closest group above that has some.
pub(super) fn dimensions(source: &Array) -> Result<Option<[String; 2]>> {
    let Some(read) = Georeference::read(source.attributes()?) else { return Ok(None) };
    if read.dimensions.is_some() {
        return Ok(read.dimensions);
    }
    closest_dimensions(source.path(), |path| {
        let group = match Group::open(source.store(), &path.to_string(), source.registry()) {
            Err(error) if error.is_not_found() => return Ok(None),
            group => group?,
        };
        Ok(Georeference::read(group.attributes()?).and_then(|read| read.dimensions))
    })
}

/// Returns the position of the first element of a level along an axis, in elements of the source, which has `len` of them. `factor` is that
/// of the level to the source, `step` that of a level to the one before it.
pub(super) fn offset(method: Method, len: u64, factor: u64, step: u64) -> f64 {
    if method != Method::Nearest {
        return (factor as f64 - 1.0) / 2.0;
    }
    let finer = std::iter::successors(Some(1), |finer: &u64| finer.checked_mul(step).filter(|_| step > 1));
    let steps = finer.take_while(|finer| *finer < factor).map(|_| step);
    zarr_grid::first_picked(len, steps) as f64
}
