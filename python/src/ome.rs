//! Metadata of OME-Zarr.

use crate::errors::OrException;
use pyo3::prelude::*;
use zarr::meta::json::{Map, Value};
use zarr::ome::document::{DisplayedChannel, Window};
use zarr::ome::{NewImage, Reduction, Version, to_version, to_version_without};
use zarr::{Error, Result};

/// An image, a `dict`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ImageSettings {
    axes: String,
    /// Distances of elements as a text.
    scales: String,
    /// Axis, distance of elements, unit.
    scale: Vec<(String, f64, String)>,
    /// Axis, position of the first element.
    translation: Vec<(String, f64)>,
    /// Path, shape.
    levels: Vec<(String, Vec<u64>)>,
    /// Factors of each level; none to find them by the shapes.
    factors: Option<Vec<Vec<f64>>>,
    method: String,
    name: Option<String>,
    channels: Vec<Channel>,
    version: String,
}

/// Name, colour, and start, end, least and greatest value of the window of a channel.
type Channel = (Option<String>, Option<[u8; 3]>, [f64; 4]);

/// Returns the attributes of a group, as JSON, with those of an image. `attributes` are those that the group has, as JSON, `name` is the last name
/// in its path.
///
/// # Errors
/// `ValueError` if the image is none that the version can hold, or if metadata of others would be lost.
#[pyfunction]
pub(crate) fn image_attributes(
    py: Python<'_>,
    settings: ImageSettings,
    attributes: &str,
    name: Option<&str>,
) -> PyResult<String> {
    image(settings, attributes, name).or_exception(py)
}

fn image(settings: ImageSettings, attributes: &str, group: Option<&str>) -> Result<String> {
    let there = object(attributes)?;
    let mut image = NewImage::new(&settings.axes)?.scales(&settings.scales)?;
    for (axis, distance, unit) in &settings.scale {
        image = image.scale(axis, *distance, unit)?;
    }
    for (axis, position) in &settings.translation {
        image = image.translation(axis, *position)?;
    }
    let levels: Vec<(&str, &[u64])> =
        settings.levels.iter().map(|(path, shape)| (path.as_str(), shape.as_slice())).collect();
    image = match &settings.factors {
        Some(factors) => {
            let finest = levels.first().map_or(&[][..], |(_, shape)| *shape);
            image
                .finest_shape(finest)
                .levels(levels.iter().zip(factors).map(|((path, _), factors)| (*path, factors.as_slice())))?
        }
        None => image.levels_of_shapes(&levels)?,
    };
    let methods = ["mean", "min", "max", "mode", "median", "sum", "gaussian"];
    let reduction = match methods.into_iter().find(|method| *method == settings.method) {
        Some(method) => Reduction::OfBlocks(method),
        None if settings.method == "nearest" => Reduction::Nearest,
        None => {
            let expected = methods.join(", ");
            return Err(Error::argument(format!("method {:?}: expected nearest, {expected}", settings.method)));
        }
    };
    let image = match settings.name {
        Some(name) => image.name(name),
        None => image,
    };
    let channel = |(label, color, [start, end, min, max]): Channel| {
        let mut window = Window::new(min, max);
        (window.start, window.end) = (start, end);
        DisplayedChannel { label, color, window: Some(window), ..DisplayedChannel::default() }
    };
    let image = image.reduction(reduction).channels(settings.channels.into_iter().map(channel));
    let attributes = image.written_into(&there, group, settings.version.parse()?)?;
    Ok(Value::Object(attributes).to_string())
}

/// Returns attributes that are JSON.
fn object(text: &str) -> Result<Map> {
    match Value::from_json(text).map_err(|error| Error::argument(format!("attributes: {error}")))? {
        Value::Object(attributes) => Ok(attributes),
        _ => Err(Error::argument("attributes: expected an object")),
    }
}

/// Converts attributes, as JSON, to a version of OME-Zarr. Returns them, and the parts that are left out if `losses` allows it.
///
/// # Errors
/// `ValueError` if the attributes are no JSON object, are invalid, or have parts that the version cannot hold.
#[pyfunction]
pub(crate) fn ome_to_version(
    py: Python<'_>,
    attributes: &str,
    name: Option<&str>,
    version: &str,
    losses: bool,
) -> PyResult<(String, Vec<String>)> {
    converted(attributes, name, version, losses).or_exception(py)
}

fn converted(text: &str, name: Option<&str>, version: &str, losses: bool) -> Result<(String, Vec<String>)> {
    let attributes = &object(text)?;
    let version: Version = version.parse()?;
    let (changed, left_out) = match losses {
        true => match to_version_without(attributes, name, version)? {
            Some(written) => {
                let left_out = written.left_out.iter().map(ToString::to_string).collect();
                (Some(written.attributes), left_out)
            }
            None => (None, Vec::new()),
        },
        false => (to_version(attributes, name, version)?, Vec::new()),
    };
    Ok((Value::Object(changed.unwrap_or_else(|| attributes.clone())).to_string(), left_out))
}
