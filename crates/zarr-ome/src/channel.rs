//! Channels, as the member `omero` describes them.

use zarr_json::pointer::{At, ValueError};

/// Name and default display of a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Name of the channel; `None` if the document has none.
    pub label: Option<String>,
    /// Colour of the channel: red, green and blue; `None` if the document has none.
    pub color: Option<[u8; 3]>,
    /// Value that is displayed as black, and value that is displayed in the full colour; `None` if the document has none.
    pub window: Option<(f64, f64)>,
    /// Whether the channel is displayed by default.
    pub is_active: bool,
    /// Whether the start of the window has the full colour, and its end is black.
    pub is_inverted: bool,
}

impl Channel {
    /// Returns the colour of channel `number` of `count` that have none: white for a single channel, otherwise blue, green, red,
    /// cyan, magenta and yellow in turn.
    ///
    /// ```
    /// assert_eq!(zarr_ome::Channel::default_color(1, 2), [0, 255, 0]);
    /// ```
    pub fn default_color(number: usize, count: usize) -> [u8; 3] {
        const COLORS: [[u8; 3]; 6] =
            [[0, 0, 255], [0, 255, 0], [255, 0, 0], [0, 255, 255], [255, 0, 255], [255, 255, 0]];
        match count {
            1 => [255; 3],
            _ => COLORS.get(number % COLORS.len()).copied().unwrap_or([255; 3]),
        }
    }
}

/// Reads the channels of the member `omero`. Adds a deviation for each member that a channel should have and lacks.
pub(crate) fn channels(omero: &At<'_>, deviations: &mut Vec<ValueError>) -> Result<Vec<Channel>, ValueError> {
    omero.member("channels")?.items()?.iter().map(|item| channel(item, deviations)).collect()
}

fn channel(at: &At<'_>, deviations: &mut Vec<ValueError>) -> Result<Channel, ValueError> {
    let label = at.get_non_null("label").map(|label| label.text().map(str::to_owned)).transpose()?;
    let mut lacks = |at: &At<'_>, names: &[&str]| {
        let lacking = names.iter().filter(|name| at.get(name).is_none());
        deviations.extend(lacking.filter_map(|name| at.member(name).err()));
    };
    lacks(at, &["color", "window"]);
    let color = at.get_non_null("color").map(|at| color(&at)).transpose()?;
    let window = match at.get_non_null("window") {
        None => None,
        Some(window) => {
            lacks(&window, &["min", "max"]);
            let number = |name: &str| {
                let at = window.member(name)?;
                at.value().as_f64().filter(|number| number.is_finite()).ok_or_else(|| at.invalid("a number"))
            };
            Some((number("start")?, number("end")?))
        }
    };
    let is_active = at.get_non_null("active").map(|active| active.bool()).transpose()?.unwrap_or(true);
    // The specification does not name the member, which viewers know.
    let inverted = at.get_non_null("inverted").map(|inverted| inverted.bool()).transpose();
    let is_inverted = inverted.map_err(|error| deviations.push(error)).ok().flatten().unwrap_or(false);
    Ok(Channel { label, color, window, is_active, is_inverted })
}

/// Parses a colour in hexadecimal digits, such as `FF8000`; some writers put a `#` in front.
pub(crate) fn color(at: &At<'_>) -> Result<[u8; 3], ValueError> {
    let text = at.text()?;
    let digits = text.strip_prefix('#').unwrap_or(text);
    let is_hex = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = if is_hex { u32::from_str_radix(digits, 16).ok() } else { None };
    let [_, r, g, b] = number.ok_or_else(|| at.invalid("a colour of 6 hexadecimal digits"))?.to_be_bytes();
    Ok([r, g, b])
}
