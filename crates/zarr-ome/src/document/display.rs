//! Display of channels: the member `omero`.

use super::members::{Members, list, number, numeral, object, text};
use crate::channel;
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value};

/// Display of the channels of an image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Display {
    /// Channels, in the order of their axis.
    pub channels: Vec<DisplayedChannel>,
    /// Further members, such as `rdefs`.
    pub other: Map,
}

/// Name, colour and contrast of a channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DisplayedChannel {
    /// Name of the channel.
    pub label: Option<String>,
    /// Colour of the channel: red, green and blue.
    pub color: Option<[u8; 3]>,
    /// Values that are displayed as black and in the full colour.
    pub window: Option<Window>,
    /// Whether the channel is displayed by default.
    pub active: Option<bool>,
    /// Further members, such as `coefficient` or `family`.
    pub other: Map,
}

/// Contrast of a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Value that is displayed as black.
    pub start: f64,
    /// Value that is displayed in the full colour.
    pub end: f64,
    /// Least value that can be chosen; `None` if the document has none, which the specification requires.
    pub min: Option<f64>,
    /// Greatest value that can be chosen; `None` if the document has none, which the specification requires.
    pub max: Option<f64>,
    /// Further members.
    pub other: Map,
}

impl Window {
    /// Makes a window that shows all of its range.
    pub fn new(min: f64, max: f64) -> Self {
        Self { start: min, end: max, min: Some(min), max: Some(max), other: Map::new() }
    }
}

impl Display {
    pub(super) fn read(at: &At<'_>) -> Result<Self, ValueError> {
        let mut members = Members::of(at)?;
        let channels = members.need("channels")?;
        let channels = super::members::items(&channels, DisplayedChannel::read)?;
        Ok(Self { channels, other: members.rest() })
    }

    pub(super) fn write(&self) -> Value {
        object([("channels", Some(list(&self.channels, DisplayedChannel::write)))], &self.other)
    }
}

impl DisplayedChannel {
    fn read(at: &At<'_>) -> Result<Self, ValueError> {
        let mut members = Members::of(at)?;
        Ok(Self {
            label: members.text("label")?,
            color: members.get("color").map(|at| channel::color(&at)).transpose()?,
            window: members.get("window").map(|at| Window::read(&at)).transpose()?,
            active: members.get("active").map(|at| at.bool()).transpose()?,
            other: members.rest(),
        })
    }

    pub(super) fn write(&self) -> Value {
        let color = self.color.map(|[r, g, b]| Value::from(format!("{r:02X}{g:02X}{b:02X}")));
        let members = [
            ("label", text(&self.label)),
            ("color", color),
            ("window", self.window.as_ref().map(Window::write)),
            ("active", self.active.map(Value::from)),
        ];
        object(members, &self.other)
    }
}

impl Window {
    fn read(at: &At<'_>) -> Result<Self, ValueError> {
        let mut members = Members::of(at)?;
        Ok(Self {
            start: number(&members.need("start")?)?,
            end: number(&members.need("end")?)?,
            min: members.get("min").map(|at| number(&at)).transpose()?,
            max: members.get("max").map(|at| number(&at)).transpose()?,
            other: members.rest(),
        })
    }

    fn write(&self) -> Value {
        let members = [
            ("start", Some(numeral(self.start))),
            ("end", Some(numeral(self.end))),
            ("min", self.min.map(numeral)),
            ("max", self.max.map(numeral)),
        ];
        object(members, &self.other)
    }
}
