//! OME-Zarr images in several resolutions.

use super::picture::add_layers;
use zarr_array::Array;
use zarr_json::{Map, Value};
use zarr_ome::Image;

/// Greatest number of levels whose arrays are opened for their shapes.
const OPENED: usize = 16;

/// Adds the metadata of an image (`ome`, as `zarr info --json` prints them) and what the page shows (`image`): lines of facts, the shapes
/// of levels, and the shape and data type of the finest level.
pub(super) fn add_image(image: &Image, facts: &mut Map) {
    facts.insert("ome", Value::from(image.metadata().facts()));
    let arrays: Vec<zarr_ome::Result<Array>> =
        (0..image.level_count().min(OPENED)).map(|number| image.level(number)).collect();
    let lines = image.metadata().lines().into_iter().map(|(label, text)| Value::from(vec![label, text]));
    let multiscale = image.multiscale();
    let units = (0..multiscale.axes.len()).map(|axis| multiscale.unit_symbol(axis).map_or(Value::Null, Value::from));
    let shapes = arrays.iter().map(|array| match array {
        Ok(array) => Value::from(array.shape().to_vec()),
        Err(_) => Value::Null,
    });
    let mut shown = Map::new();
    shown.insert("summary", multiscale.to_string());
    shown.insert("lines", Value::Array(lines.collect()));
    shown.insert("units", Value::Array(units.collect()));
    shown.insert("shapes", Value::Array(shapes.collect()));
    add_layers(image, &mut shown);
    match arrays.first() {
        Some(Ok(finest)) => {
            shown.insert("data_type", finest.data_type().to_config().short_value());
            shown.insert("is_numeric", zarr_view::Numbers::of(finest.data_type()).is_some());
        }
        Some(Err(error)) => {
            shown.insert("error", error.with_causes());
        }
        None => {}
    }
    facts.insert("image", shown);
}
