//! Windows of channels, replaced in the metadata of an image that has them already.

use super::display::{DisplayedChannel, Window};
use super::members::numeral;
use crate::Result;
use crate::channel::Channel;
use crate::metadata::{Metadata, OME};
use crate::version;
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

/// Member that describes the display of channels.
const OMERO: &str = "omero";

/// Gives the channels of an image other windows, in the attributes of its group; `None` if the group is no image. All other members stay as
/// they are, of `omero` and of its channels. A window without a least and a greatest value keeps those of the channel, made wider where the
/// window is. Channels that `omero` does not describe get a window and a colour if it describes none at all, and stay without otherwise.
///
/// ```
/// use zarr_json::json;
/// use zarr_ome::document::{Window, with_windows};
///
/// let image = json!({"ome": {"version": "0.5", "multiscales": [], "omero": {"rdefs": {"model": "color"}, "channels": [
///     {"label": "DAPI", "window": {"min": 0, "max": 65535, "start": 0, "end": 65535}}
/// ]}}});
/// let mut window = Window::new(120.0, 900.0);
/// (window.min, window.max) = (None, None);
/// let renewed = with_windows(image.as_object().unwrap(), &[window])?.unwrap();
/// let expected = json!({"rdefs": {"model": "color"}, "channels": [
///     {"label": "DAPI", "window": {"min": 0, "max": 65535, "start": 120, "end": 900}}
/// ]});
/// assert_eq!(renewed.get("ome").unwrap().get("omero"), Some(&expected));
/// # Ok::<(), zarr_ome::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Metadata::version`]; [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) with the JSON pointer of a member that
/// has not the form of the specification, or if more channels are described than there are windows.
pub fn with_windows(attributes: &Map, windows: &[Window]) -> Result<Option<Map>> {
    let Some(metadata) = Metadata::find(attributes, None) else { return Ok(None) };
    if metadata.member("multiscales").is_none() {
        return Ok(None);
    }
    let stated = metadata.version()?;
    let omero = metadata.member(OMERO);
    let renewed = renewed(omero.as_ref(), windows).map_err(|error| version::invalid(&format!(" {stated}"), &error))?;
    let mut attributes = attributes.clone();
    match attributes.get_mut(OME) {
        Some(Value::Object(ome)) if metadata.is_in_ome() => drop(ome.insert(OMERO, renewed)),
        _ => {
            let mut named = Map::new();
            if omero.is_none() {
                named.insert("version", metadata.version_in(stated));
            }
            renewed.iter().for_each(|(name, value)| drop(named.insert(name, value.clone())));
            attributes.insert(OMERO, named);
        }
    }
    Ok(Some(attributes))
}

/// Returns `omero` with other windows.
fn renewed(omero: Option<&At<'_>>, windows: &[Window]) -> Result<Map, ValueError> {
    let mut members = omero.map(|at| at.object().cloned()).transpose()?.unwrap_or_default();
    let found = omero.and_then(|at| at.get_non_null("channels"));
    let items = found.as_ref().map(At::items).transpose()?.unwrap_or_default();
    if let (Some(found), true) = (&found, items.len() > windows.len()) {
        return Err(found.invalid(format!("at most {} channels, as the image has", windows.len())));
    }
    let count = windows.len();
    let channels: Vec<Value> = match items.is_empty() {
        true => {
            let new = |(number, window): (usize, &Window)| {
                let (color, active) = (Some(Channel::default_color(number, count)), Some(true));
                let window = Some(of_channel(window, None, None));
                DisplayedChannel { color, active, window, ..DisplayedChannel::default() }.write()
            };
            windows.iter().enumerate().map(new).collect()
        }
        false => items.iter().zip(windows).map(|(item, window)| channel(item, window)).collect::<Result<_, _>>()?,
    };
    members.insert("channels", Value::Array(channels));
    Ok(members)
}

/// Returns a channel with another window.
fn channel(at: &At<'_>, window: &Window) -> Result<Value, ValueError> {
    let mut members = at.object()?.clone();
    let found = at.get_non_null("window");
    let mut own = found.as_ref().map(|at| at.object().cloned()).transpose()?.unwrap_or_default();
    let number = |name: &str| {
        let found = found.as_ref().and_then(|at| at.get_non_null(name));
        found.map(|at| super::members::number(&at)).transpose()
    };
    let window = of_channel(window, number("min")?, number("max")?);
    let ends = [("min", window.min), ("max", window.max), ("start", Some(window.start)), ("end", Some(window.end))];
    for (name, number) in ends {
        own.insert(name, number.map(numeral).unwrap_or_default());
    }
    members.insert("window", own);
    Ok(members.into())
}

/// Returns the window with its least and greatest value, by those that a channel has.
fn of_channel(window: &Window, min: Option<f64>, max: Option<f64>) -> Window {
    let (least, greatest) = (window.start.min(window.end), window.start.max(window.end));
    Window {
        min: window.min.or(Some(min.map_or(least, |min| min.min(least)))),
        max: window.max.or(Some(max.map_or(greatest, |max| max.max(greatest)))),
        ..window.clone()
    }
}
